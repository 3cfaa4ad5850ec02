// A mask names lanes that have gone past: they wait at the block's barrier.
#include "device.cuh"

template <bool kFault>
__global__ void absent_lane(const u32* in, u32* out) {
  const u32 lane = threadIdx.x % kWarp;
  const u32 mask = kFault ? kFullMask : kFullMask >> 12;
  u32 first = 0;
  if (lane < 20) first = __shfl_sync(mask, in[threadIdx.x], 0);
  __syncthreads();
  out[threadIdx.x] = first;
}
