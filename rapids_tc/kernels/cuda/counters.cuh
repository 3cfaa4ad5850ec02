// counters.cuh - tables in shared memory in which the wedges u - v - w of one vertex u are added up by w.
//
// - Packed: counters of a window of ranks, of 4 to 32 bits. There are no more wedges to w than w has neighbors, so
//   that a counter has 32, 16, 8 or 4 bits by the rank of w: level 0, 1, 2 or 3. Ranks from start[level] on, but not
//   of a later level, have degrees below 2 to the power of these bits. Of any 32 ranks that follow one another, each
//   has a word of its own, so that lanes use different banks. Bounds of windows are multiples of 256 ranks.
// - Wide: a sum of 64 bits for each rank of a window.
// - Hashed: counters or sums of the ranks that are met, with open addressing.
//
// Each has add(w, value); drop(w), which sets a counter to 0; and take(visit), which calls
// visit(is one there?, w, its counter) with all lanes of a warp together, and leaves all counters at 0.
// Those that squares are counted in have repeated(use), which calls use(w, count) for each w of two wedges or more;
// clear(); and count(w) of a w that was added. Between these the block waits at a barrier.
#pragma once
#include "block.cuh"

struct Place { u32 word, shift, mask; };

struct Packing {
  u32 start1, start2, start3;  // multiples of 256 ranks
  u32 base1, base2, base3;  // the words where these levels begin

  __device__ __forceinline__ Place place(u32 w) const {
    u32 level = 0, start = 0, base = 0;
    if (w >= start1) level = 1, start = start1, base = base1;
    if (w >= start2) level = 2, start = start2, base = base2;
    if (w >= start3) level = 3, start = start3, base = base3;
    const u32 x = w - start;
    return {base + ((x >> (5 + level)) << 5 | (x & 31)), (x & (((1u << level) - 1) << 5)) >> level,
            kFullMask >> (32 - (32u >> level))};
  }
  __device__ __forceinline__ u32 start(u32 level) const {
    return level == 0 ? 0 : level == 1 ? start1 : level == 2 ? start2 : start3;
  }
  __device__ __forceinline__ u32 base(u32 level) const {
    return level == 0 ? 0 : level == 1 ? base1 : level == 2 ? base2 : level == 3 ? base3 : kNone;
  }
};

struct Packed {
  typedef u32 Sum;
  u32* words;
  const Packing& packing;
  u32 low, size;  // the first word of the windows, and how many they have

  __device__ __forceinline__ Packed(u32* words, const Packing& packing, u32 first, u32 last)
      : words(words),
        packing(packing),
        low(packing.place(first).word),
        size(packing.place(last).word - low) {}
  __device__ __forceinline__ void add(u32 w, u32) const {
    const Place at = packing.place(w);
    atomicAdd(words + (at.word - low), 1u << at.shift);
  }
  __device__ __forceinline__ u32 count(u32 w) const {
    const Place at = packing.place(w);
    return words[at.word - low] >> at.shift & at.mask;
  }
  __device__ __forceinline__ void drop(u32 w) const {
    const Place at = packing.place(w);
    atomicAnd(words + (at.word - low), ~(at.mask << at.shift));
  }
  __device__ __forceinline__ void clear() const {
    for (u32 t = threadIdx.x; t < size; t += blockDim.x) words[t] = 0;
  }
  template <class Use>
  __device__ __forceinline__ void repeated(bool clears, const Use& use) const {
    for (u32 level = 0; level < 4; level++) {
      const u32 bits = 32u >> level, mask = kFullMask >> (32 - bits), base = packing.base(level);
      const u32 ones = level == 0 ? 1u : level == 1 ? 0x10001u : level == 2 ? 0x1010101u : 0x11111111u;
      const u32 from = larger(low, base), to = smaller(low + size, packing.base(level + 1));
      for (u32 t = from + threadIdx.x; t < to; t += blockDim.x) {
        const u32 counters = words[t - low];
        if (clears) words[t - low] = 0;
        if (!(counters & ~ones)) continue;  // no counter passes one
        const u32 x = t - base, first = packing.start(level) + (x >> 5 << (5 + level)) + (x & 31);
        for (u32 rest = counters; rest;) {
          const u32 shift = u32(__ffs(int(rest)) - 1) & ~(bits - 1);
          const u32 count = rest >> shift & mask;
          rest &= ~(mask << shift);
          if (count > 1) use(first + (shift << level), count);
        }
      }
    }
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

  __device__ __forceinline__ Wide(u64* sums, const Packing&, u32 first, u32 last)
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

// Tables of counters, or of sums of 64 bits, for the ranks of a window.
template <class Sum>
struct Dense;
template <>
struct Dense<u32> {
  typedef Packed Table;
};
template <>
struct Dense<u64> {
  typedef Wide Table;
};

template <class T>
struct Hashed {
  typedef T Sum;
  T* sums;
  u32* keys;
  u32 log2;  // of the slots, more than there are keys

  // A table in memory for so many slots, of which it uses 1 << log2.
  __device__ __forceinline__ Hashed(T* memory, u32 slots, u32 log2)
      : sums(memory), keys(reinterpret_cast<u32*>(memory + slots)), log2(log2) {}
  __device__ __forceinline__ u32 slots() const { return 1u << log2; }
  __device__ __forceinline__ u32 slot(u32 w) const { return w * 2654435761u >> (32 - log2); }
  __device__ __forceinline__ u32 next(u32 h) const { return (h + 1) & (slots() - 1); }
  __device__ __forceinline__ void add(u32 w, T value) const {
    for (u32 h = slot(w);; h = next(h)) {
      u32 key = RTC_PEEK(keys + h);
      if (key == kNone) key = atomicCAS(keys + h, kNone, w);
      if (key != kNone && key != w) continue;
      atomicAdd(sums + h, value);
      return;
    }
  }
  __device__ __forceinline__ T count(u32 w) const {
    u32 h = slot(w);
    while (keys[h] != w) h = next(h);
    return sums[h];
  }
  __device__ __forceinline__ void drop(u32 w) const {
    u32 h = slot(w);
    while (keys[h] != kNone && keys[h] != w) h = next(h);
    if (keys[h] == w) sums[h] = 0;
  }
  __device__ __forceinline__ void clear() const {
    for (u32 t = threadIdx.x; t < slots(); t += blockDim.x) keys[t] = kNone, sums[t] = 0;
  }
  template <class Use>
  __device__ __forceinline__ void repeated(bool clears, const Use& use) const {
    for (u32 t = threadIdx.x; t < slots(); t += blockDim.x) {
      const T sum = sums[t];
      if (sum > 1) use(keys[t], sum);
      if (clears) keys[t] = kNone, sums[t] = 0;
    }
  }
  template <class Visit>
  __device__ __forceinline__ void take(const Visit& visit) const {
    for (u32 t = threadIdx.x; t - threadIdx.x % kWarp < slots(); t += blockDim.x) {
      const bool inside = t < slots();
      const T sum = inside ? sums[t] : T(0);
      const u32 w = inside ? keys[t] : kNone;
      if (inside) keys[t] = kNone, sums[t] = 0;
      visit(sum != 0, w, sum);
    }
  }
};

// The logarithm of the slots of a table for u and the ends of so many wedges, which fill three quarters at most.
__device__ __forceinline__ u32 slots_log2(u64 wedges) {
  u32 log2 = 1;
  while (3ull << log2 < 4 * (wedges + 1)) log2++;
  return log2;
}

// Clear all slots of a hash table. All threads of the block.
template <class T>
__device__ __forceinline__ void clear_slots(T* memory, u32 slots) {
  u32* const keys = reinterpret_cast<u32*>(memory + slots);
  for (u32 t = threadIdx.x; t < slots; t += blockDim.x) keys[t] = kNone, memory[t] = 0;
}
