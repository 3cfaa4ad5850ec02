// Blocks read what other blocks wrote in the phase before: a barrier of the block is not enough.
#include "device.cuh"

template <bool kFault>
__global__ void race_of_phases(const u32* in, u32* words, u32* arrived, u32* out) {
  u32 goal = 0;
  for (u32 phase = 1; phase <= 3; phase++) {
    words[blockIdx.x * blockDim.x + threadIdx.x] = phase * in[blockIdx.x];
    if (kFault) __syncthreads();
    else RTC_GRID_BARRIER(arrived, goal);   // the words of the phase are written
    const u32* const next = words + (blockIdx.x + 1) % gridDim.x * blockDim.x;
    for (u32 i = 0; threadIdx.x == 0 && i < blockDim.x; i++) out[blockIdx.x] += next[i];
    RTC_GRID_BARRIER(arrived, goal);   // they are read
  }
}
