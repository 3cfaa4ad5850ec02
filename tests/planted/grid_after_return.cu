// A barrier of the grid that a block does not come to.
#include "device.cuh"

template <bool kFault>
__global__ void grid_after_return(const u32* in, u32* arrived, u32* out) {
  u32 goal = 0;
  if (kFault && blockIdx.x == 2) return;
  RTC_GRID_BARRIER(arrived, goal);
  if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x];
}
