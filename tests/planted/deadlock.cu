// A ring of three lanes, each in a barrier that waits for the next one.
#include "device.cuh"

template <bool kFault>
__global__ void deadlock(const u32* in, u32* out) {
  if (threadIdx.x >= 3) return;
  const u32 pair = 1u << threadIdx.x | 1u << (threadIdx.x + 1) % 3;
  __syncwarp(kFault ? pair : 0b111u);
  out[threadIdx.x] = in[threadIdx.x];
}
