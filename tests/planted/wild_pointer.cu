// An index out of nowhere: no sanitizer can go on after that.
#include "device.cuh"

template <bool kFault>
__global__ void wild_pointer(const u32* in, u32* out) {
  const u64 index = kFault ? u64(in[0]) << 40 : threadIdx.x;
  out[threadIdx.x] = in[index];
}
