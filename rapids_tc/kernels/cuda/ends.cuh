// ends.cuh - tables in shared memory in which the wedges u - v - w of one vertex u are added up by w.
//
// - Packed: counters of a window of ranks. There are no more wedges to w than w has neighbors. So a counter of
//   w takes 32, 16, 8 or 4 bits by the degree of w, and cannot wrap. Ranks follow degrees: those from start[1]
//   on have 16 bits (less than 65,536 neighbors), from start[2] on 8, and from start[3] on 4. Counters of 32
//   consecutive ranks lie in 32 words. All starts, and all bounds of windows, are multiples of 256 ranks.
// - Wide: a sum of 64 bits for each rank of a window.
// - Hashed: counters or sums of the ranks that are met, with open addressing.
//
// Each has add(w, value); drop(w), which sets a counter to 0; and take(visit), which calls
// visit(is one there?, w, its counter) with all lanes of a warp together, and leaves all counters at 0.
// Between these the block waits at a barrier.
#pragma once
#include "device.cuh"

struct Packing {
  u32 start[4], base[4];  // by level: the first rank, and the first word; a counter has 32 >> level bits

  __device__ __forceinline__ u32 level(u32 w) const {
    return (w >= start[1] ? 1u : 0u) + (w >= start[2] ? 1u : 0u) + (w >= start[3] ? 1u : 0u);
  }
  __device__ __forceinline__ u32 word(u32 w, u32 level) const {
    const u32 x = w - start[level];
    return base[level] + (x >> (5 + level) << 5 | (x & 31));
  }
  __device__ __forceinline__ u32 word(u32 w) const { return word(w, level(w)); }
  __device__ __forceinline__ u32 shift(u32 w, u32 level) const {
    return ((w - start[level]) & (((1u << level) - 1) << 5)) >> level;
  }
  __device__ __forceinline__ u32 level_of_word(u32 word) const {
    return (word >= base[1] ? 1u : 0u) + (word >= base[2] ? 1u : 0u) + (word >= base[3] ? 1u : 0u);
  }
};

#define RTC_PACKING_ARGS u32 start1, u32 start2, u32 start3, u32 base1, u32 base2, u32 base3
#define RTC_PACKING                                         \
  Packing {                                                 \
    {0, start1, start2, start3}, { 0, base1, base2, base3 } \
  }

struct Packed {
  typedef u32 Sum;
  static constexpr u32 kBytes = 4;  // of a word
  u32* words;
  const Packing& packing;
  u32 low, size;  // the first word of the window, and how many it has

  __device__ Packed(u32* words, const Packing& packing, u32 first, u32 last)
      : words(words), packing(packing), low(packing.word(first)), size(packing.word(last) - low) {}
  __device__ __forceinline__ void add(u32 w, u32) const {
    const u32 level = packing.level(w);
    atomicAdd(words + (packing.word(w, level) - low), 1u << packing.shift(w, level));
  }
  __device__ __forceinline__ void drop(u32 w) const {
    const u32 level = packing.level(w), mask = kFullMask >> (32 - (32u >> level));
    atomicAnd(words + (packing.word(w, level) - low), ~(mask << packing.shift(w, level)));
  }
  template <class Visit>
  __device__ __forceinline__ void take(const Visit& visit) const {
    for (u32 t = threadIdx.x; t - threadIdx.x % kWarp < size; t += blockDim.x) {
      const u32 counters = words[t];
      if (!__any_sync(kFullMask, counters != 0)) continue;
      words[t] = 0;
      const u32 level = packing.level_of_word(low + t), bits = 32u >> level, mask = kFullMask >> (32 - bits);
      const u32 x = low + t - packing.base[level];
      const u32 first = packing.start[level] + (x >> 5 << (5 + level)) + (x & 31);
      for (u32 j = 0; j < 1u << level; j++) {
        const u32 count = counters >> (j * bits) & mask;
        visit(count != 0, first + 32 * j, count);
      }
    }
  }
};

struct Wide {
  typedef u64 Sum;
  static constexpr u32 kBytes = 8;
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
