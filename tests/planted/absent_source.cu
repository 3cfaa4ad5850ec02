// A lane reads another that takes no part in the shuffle.
#include "device.cuh"

template <bool kFault>
__global__ void absent_source(const u32* in, u32* out) {
  if (threadIdx.x >= 8) return;
  out[threadIdx.x] = __shfl_sync(0xffu, in[threadIdx.x], kFault ? threadIdx.x + 1 : 7);
}
