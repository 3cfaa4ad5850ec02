// counters.cuh - in shared memory, how many wedges lead from u to each w: as a table, or as a hash table.
//
// A counter is no larger than the degree of w, so that it has 32, 16, 8 or 4 bits by the rank of w: level 0, 1, 2 or
// 3. Ranks from start[level] on, but not of a later level, have degrees below 2 to the power of these bits. Of any
// 32 ranks that follow one another, each has a word of its own, so that lanes use different banks.
#pragma once
#include "block.cuh"

__device__ __forceinline__ u64 pairs(u32 c) { return c < 2 ? 0 : u64(c) * (c - 1) / 2; }

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

// A table of the ranks of some windows, whose words are low .. low + size - 1. It is zero before.
struct TableCounters {
  Packing packing;
  u32* table;
  u32 low, size;

  __device__ __forceinline__ void add(u32 w) const {
    const Place at = packing.place(w);
    atomicAdd(table + (at.word - low), 1u << at.shift);
  }
  __device__ __forceinline__ u32 count(u32 w) const {
    const Place at = packing.place(w);
    return table[at.word - low] >> at.shift & at.mask;
  }
  __device__ __forceinline__ void clear() const {
    for (u32 t = threadIdx.x; t < size; t += blockDim.x) table[t] = 0;
  }
  // Call use(w, squares) for every w with squares; clear the table if asked to.
  template <class Use>
  __device__ __forceinline__ void each(bool clears, const Use& use) const {
    for (u32 level = 0; level < 4; level++) {
      const u32 bits = 32u >> level, mask = kFullMask >> (32 - bits), base = packing.base(level);
      const u32 ones = level == 0 ? 1u : level == 1 ? 0x10001u : level == 2 ? 0x1010101u : 0x11111111u;
      const u32 from = larger(low, base), to = smaller(low + size, packing.base(level + 1));
      for (u32 t = from + threadIdx.x; t < to; t += blockDim.x) {
        const u32 counts = table[t - low];
        if (clears) table[t - low] = 0;
        if (!(counts & ~ones)) continue;  // no counter passes one
        const u32 x = t - base, first = packing.start(level) + (x >> 5 << (5 + level)) + (x & 31);
        for (u32 rest = counts; rest;) {
          const u32 shift = u32(__ffs(int(rest)) - 1) & ~(bits - 1);
          const u64 squares = pairs(rest >> shift & mask);
          rest &= ~(mask << shift);
          if (squares) use(first + (shift << level), squares);
        }
      }
    }
  }
};

// A hash table of 1 << log2 keys, all kNone before, and as many counts, of which more than one stays free.
struct HashCounters {
  u32 *keys, *counts, log2;

  __device__ __forceinline__ u32 slots() const { return 1u << log2; }
  __device__ __forceinline__ u32 slot(u32 w) const { return w * 2654435761u >> (32 - log2); }
  __device__ __forceinline__ void add(u32 w) const {
    for (u32 h = slot(w);; h = (h + 1) & (slots() - 1)) {
      u32 key = RTC_PEEK(keys + h);
      if (key == kNone) key = atomicCAS(keys + h, kNone, w);
      if (key != kNone && key != w) continue;
      atomicAdd(counts + h, 1u);
      return;
    }
  }
  __device__ __forceinline__ u32 count(u32 w) const {
    u32 h = slot(w);
    while (keys[h] != w) h = (h + 1) & (slots() - 1);
    return counts[h];
  }
  __device__ __forceinline__ void clear() const {
    for (u32 t = threadIdx.x; t < slots(); t += blockDim.x) keys[t] = kNone, counts[t] = 0;
  }
  template <class Use>
  __device__ __forceinline__ void each(bool clears, const Use& use) const {
    for (u32 t = threadIdx.x; t < slots(); t += blockDim.x) {
      const u64 squares = pairs(counts[t]);
      if (squares) use(keys[t], squares);
      if (clears) keys[t] = kNone, counts[t] = 0;
    }
  }
};
