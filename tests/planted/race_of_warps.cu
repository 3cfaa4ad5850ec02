// A barrier of the warp where one of the block is needed.
#include "device.cuh"

template <bool kFault>
__global__ void race_of_warps(const u32* in, u32* out) {
  RTC_SHARED(u32, mail, 64);
  mail[threadIdx.x] = in[threadIdx.x];
  if (kFault) __syncwarp();
  else __syncthreads();
  out[threadIdx.x] = mail[blockDim.x - 1 - threadIdx.x];
}
