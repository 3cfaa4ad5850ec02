// ends.cuh - tables in shared memory in which the wedges u - v - w of one vertex u are added up by w.
//
// - Packed: counters of a window of ranks, of 4 to 32 bits: counters.cuh. There are no more wedges to w than w
//   has neighbors. Bounds of windows are multiples of 256 ranks.
// - Wide: a sum of 64 bits for each rank of a window.
// - Hashed: counters or sums of the ranks that are met, with open addressing.
//
// Each has add(w, value); drop(w), which sets a counter to 0; and take(visit), which calls
// visit(is one there?, w, its counter) with all lanes of a warp together, and leaves all counters at 0.
// Between these the block waits at a barrier.
#pragma once
#include "counters.cuh"

#define RTC_PACKING_ARGS u32 start1, u32 start2, u32 start3, u32 base1, u32 base2, u32 base3
#define RTC_PACKING \
  Packing { start1, start2, start3, base1, base2, base3 }

struct Packed {
  typedef u32 Sum;
  u32* words;
  const Packing& packing;
  u32 low, size;  // the first word of the window, and how many it has

  __device__ Packed(u32* words, const Packing& packing, u32 first, u32 last)
      : words(words),
        packing(packing),
        low(packing.place(first).word),
        size(packing.place(last).word - low) {}
  __device__ __forceinline__ void add(u32 w, u32) const {
    const Place at = packing.place(w);
    atomicAdd(words + (at.word - low), 1u << at.shift);
  }
  __device__ __forceinline__ void drop(u32 w) const {
    const Place at = packing.place(w);
    atomicAnd(words + (at.word - low), ~(at.mask << at.shift));
  }
  template <class Visit>
  __device__ __forceinline__ void take(const Visit& visit) const {
    for (u32 level = 0; level < 4; level++) {
      const u32 bits = 32u >> level, mask = kFullMask >> (32 - bits), base = packing.base(level);
      const u32 from = larger(low, base), to = smaller(low + size, packing.base(level + 1));
      for (u32 t = from + threadIdx.x; t - threadIdx.x % kWarp < to && from < to; t += blockDim.x) {
        const u32 counters = words[t - low];  // 32 words are of one level
        if (!__any_sync(kFullMask, counters != 0)) continue;
        words[t - low] = 0;
        const u32 x = t - base, first = packing.start(level) + (x >> 5 << (5 + level)) + (x & 31);
        for (u32 j = 0; j < 1u << level; j++) {
          const u32 count = counters >> (j * bits) & mask;
          visit(count != 0, first + 32 * j, count);
        }
      }
    }
  }
};

struct Wide {
  typedef u64 Sum;
  u64* sums;
  u32 first, size;

  __device__ Wide(u64* sums, const Packing&, u32 first, u32 last)
      : sums(sums), first(first), size(last - first) {}
  __device__ __forceinline__ void add(u32 w, u64 value) const { atomicAdd(sums + (w - first), value); }
  __device__ __forceinline__ void drop(u32 w) const { sums[w - first] = 0; }
  template <class Visit>
  __device__ __forceinline__ void take(const Visit& visit) const {
    for (u32 t = threadIdx.x; t - threadIdx.x % kWarp < size; t += blockDim.x) {
      const u64 sum = sums[t];
      sums[t] = 0;
      visit(sum != 0, first + t, sum);
    }
  }
};

// The logarithm of the slots of a table for u and the ends of so many wedges, which fill three quarters at most.
__device__ __forceinline__ u32 slots_log2(u64 wedges) {
  u32 log2 = 1;
  while (3ull << log2 < 4 * (wedges + 1)) log2++;
  return log2;
}

template <class T>
struct Hashed {
  typedef T Sum;
  T* sums;
  u32* keys;
  u32 log2;  // of the slots, more than there are keys

  __device__ __forceinline__ u32 slot(u32 w) const { return w * 2654435761u >> (32 - log2); }
  __device__ __forceinline__ u32 next(u32 h) const { return (h + 1) & ((1u << log2) - 1); }
  __device__ __forceinline__ void add(u32 w, T value) const {
    for (u32 h = slot(w);; h = next(h)) {
      u32 key = RTC_PEEK(keys + h);
      if (key == kNone) key = atomicCAS(keys + h, kNone, w);
      if (key != kNone && key != w) continue;
      atomicAdd(sums + h, value);
      return;
    }
  }
  __device__ __forceinline__ void drop(u32 w) const {
    u32 h = slot(w);
    while (keys[h] != kNone && keys[h] != w) h = next(h);
    if (keys[h] == w) sums[h] = 0;
  }
  template <class Visit>
  __device__ __forceinline__ void take(const Visit& visit) const {
    for (u32 t = threadIdx.x; t - threadIdx.x % kWarp < 1u << log2; t += blockDim.x) {
      const bool inside = t < 1u << log2;
      const T sum = inside ? sums[t] : T(0);
      const u32 w = inside ? keys[t] : kNone;
      if (inside) keys[t] = kNone, sums[t] = 0;
      visit(sum != 0, w, sum);
    }
  }
};
