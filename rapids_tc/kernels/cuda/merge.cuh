// merge.cuh - the merge of two ascending lists by one thread.
#pragma once
#include "device.cuh"

// Count the ids in both of two ascending lists of at least one id. A step loads only the side that moved, by
// the read-only cache, and both ids stay in registers.
__device__ __forceinline__ u32 merge(const u32* a, const u32* a_end, const u32* b, const u32* b_end) {
  u32 hits = 0, x = __ldg(a), y = __ldg(b);
  for (;;) {
    RTC_PROBE(1);
    const bool move_a = x <= y, move_b = y <= x;
    hits += move_a && move_b;
    a += move_a;
    b += move_b;
    if (a == a_end || b == b_end) return hits;
    if (move_a) x = __ldg(a);
    if (move_b) y = __ldg(b);
  }
}
