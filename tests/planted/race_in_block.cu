// A thread reads what another wrote, without a barrier between them.
#include "device.cuh"

template <bool kFault>
__global__ void race_in_block(const u32* in, u32* out) {
  RTC_SHARED(u32, mail, 64);
  mail[threadIdx.x] = in[threadIdx.x];
  if (!kFault) __syncthreads();
  out[threadIdx.x] = mail[blockDim.x - 1 - threadIdx.x];
}
