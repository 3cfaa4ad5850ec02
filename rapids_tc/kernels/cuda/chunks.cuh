// chunks.cuh - the prefixes of up to 32 in-edges, cut into chunks of eight codes. A chunk is one aligned
// load, and the lanes of a warp take chunks in turn, so that all lanes have the same work however the
// lengths differ.
#pragma once
#include "block.cuh"
#include "device.cuh"

constexpr u32 kChunk = 8;             // codes

// Every lane holds a value no less than the lane before it, and an x of its own. Return the last lane whose
// value is at most x; lane 0 if there is none. All lanes of the warp.
__device__ __forceinline__ u32 last_at_most(u32 value, u32 x) {
  u32 lane = 0;
  for (u32 step = kWarp / 2; step; step /= 2)
    if (__shfl_sync(kFullMask, value, lane + step) <= x) lane += step;
  return lane;
}

struct Chunk {
  u32 owner;         // the lane that holds the in-edge
  u32 edge;          // position in columns where its prefix ends
  u32 position;      // of code 0
  u32 wanted;        // bit i: code i belongs to the prefix
  uint4 codes;       // code 0 in the least bits
};

// Call take(chunk), by all lanes of the warp together, for every chunk of the in-edges that the lanes hold:
// start of N+(u) << 32 | length of the prefix, or 0. For a lane without a chunk wanted is 0.
template <class Take>
__device__ __forceinline__ void each_chunk(const u16* codes, u64 in_edge, Take take) {
  const u32 start = u32(in_edge >> 32), length = u32(in_edge);
  const u32 size = length ? (start % kChunk + length + kChunk - 1) / kChunk : 0, through = warp_scan(size);
  const u32 all = __shfl_sync(kFullMask, through, kWarp - 1);
  for (u32 i = threadIdx.x % kWarp; i / kWarp * kWarp < all; i += kWarp) {   // as often in every lane
    Chunk c;
    c.owner = last_at_most(through - size, i);
    const u32 row = __shfl_sync(kFullMask, start, c.owner);
    c.edge = row + __shfl_sync(kFullMask, length, c.owner);
    c.position = (row / kChunk + i - __shfl_sync(kFullMask, through - size, c.owner)) * kChunk;
    c.wanted = 0;
    c.codes = {};
    if (i < all) {
      c.codes = __ldg(reinterpret_cast<const uint4*>(codes + c.position));
      const u32 first = row > c.position ? row - c.position : 0, left = c.edge - c.position;
      c.wanted = (0xffu << first) & (0xffu >> (left < kChunk ? kChunk - left : 0));
    }
    take(c);
  }
}
