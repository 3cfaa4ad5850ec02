// Threads without work return before the block's barrier.
#include "device.cuh"

template <bool kFault>
__global__ void barrier_after_return(const u32* in, u32 n, u32* out) {
  if (kFault && threadIdx.x >= n) return;
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];
}
