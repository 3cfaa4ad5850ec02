// Threads of one block at two different barriers.
#include "device.cuh"

template <bool kFault>
__global__ void divergent_barrier(const u32* in, u32* out) {
  const u32 value = in[threadIdx.x];
  if (kFault && value % 2) {
    __syncthreads();
    out[threadIdx.x] = value;
  } else {
    __syncthreads();
    out[threadIdx.x] = value;
  }
}
