// The next round's write may overtake this round's reads: a loop needs a barrier at both ends.
#include "device.cuh"

template <bool kFault>
__global__ void race_of_rounds(const u32* in, u32* out) {
  RTC_SHARED(u32, chosen, 1);
  for (u32 round = 0; round < 8; round++) {
    if (threadIdx.x == round) chosen[0] = in[round];
    __syncthreads();
    out[threadIdx.x] += chosen[0];
    if (!kFault) __syncthreads();
  }
}
