// The last thread writes past the end of a shared array, where the next one may begin.
#include "device.cuh"

template <bool kFault>
__global__ void overrun_shared(const u32* in, u32* out) {
  RTC_SHARED(u32, first, 64);
  RTC_DYNAMIC_SHARED(u32, second);
  u32* const both[] = {first, second};
  for (u32 k = 0; k < 2; k++) {
    both[k][threadIdx.x] = in[threadIdx.x];
    if (kFault && threadIdx.x == blockDim.x - 1) both[k][threadIdx.x + 1] = 0;
    out[threadIdx.x] = both[k][threadIdx.x];
  }
}
