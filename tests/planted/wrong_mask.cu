// Lanes shuffle under a mask that does not name them.
#include "device.cuh"

template <bool kFault>
__global__ void wrong_mask(const u32* in, u32* out) {
  const u32 mask = kFault ? kFullMask >> 16 : kFullMask;
  out[threadIdx.x] = __shfl_xor_sync(mask, in[threadIdx.x], 1);
}
