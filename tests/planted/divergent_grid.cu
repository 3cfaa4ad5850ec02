// Blocks of one grid at two different barriers of the grid.
#include "device.cuh"

template <bool kFault>
__global__ void divergent_grid(const u32* in, u32* arrived, u32* out) {
  u32 goal = 0;
  if (kFault && blockIdx.x == 1) {
    RTC_GRID_BARRIER(arrived, goal);
  } else {
    RTC_GRID_BARRIER(arrived, goal);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x];
}
