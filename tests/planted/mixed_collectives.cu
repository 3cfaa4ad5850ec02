// Lanes of one mask in two different collectives.
#include "device.cuh"

template <bool kFault>
__global__ void mixed_collectives(const u32* in, u32* out) {
  const bool odd = in[threadIdx.x] % 2;
  if (kFault && odd) out[threadIdx.x] = __any_sync(kFullMask, odd);
  else out[threadIdx.x] = __ballot_sync(kFullMask, odd);
}
