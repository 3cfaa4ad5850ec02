// A shuffle taken for a barrier: lanes meet there, but their writes need not be seen.
#include "device.cuh"

template <bool kFault>
__global__ void race_after_shuffle(const u32* in, u32* out) {
  RTC_SHARED(u32, mail, kWarp);
  mail[threadIdx.x] = in[threadIdx.x];
  if (kFault) __shfl_sync(kFullMask, 0u, 0);
  else __syncwarp();
  out[threadIdx.x] = mail[kWarp - 1 - threadIdx.x];
}
