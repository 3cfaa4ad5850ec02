// Blocks share tasks by tickets and one word of the result: without an atomic, sums are lost.
#include "device.cuh"

template <bool kFault>
__global__ void race_of_blocks(const u32* in, u32 n, u32* ticket, u32* out) {
  if (threadIdx.x) return;
  for (u32 task = RTC_TICKET(ticket); task < n; task = RTC_TICKET(ticket)) {
    if (kFault) out[0] += in[task];
    else atomicAdd(out, in[task]);
  }
}
