// A shared counter that nobody sets to zero.
#include "device.cuh"

template <bool kFault>
__global__ void uninitialised(const u32* in, u32* out) {
  RTC_SHARED(u32, sum, 1);
  if (!kFault && threadIdx.x == 0) sum[0] = 0;
  __syncthreads();
  atomicAdd(sum, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum[0];
}
