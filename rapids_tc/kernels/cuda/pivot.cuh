// pivot.cuh - what a block of bitmap.cu knows of its pivot vertex v, and how it tells the visitor of a triangle.
//
// Sums at the edges (v, w) are kept in shared memory until all in-edges of the task are done. Sums of 64 bits lie
// in two words, since shared atomics of 64 bits are loops.
#pragma once
#include "device.cuh"
#include "kinds.cuh"
#include "windows.cuh"

constexpr bool kCounted = RTC_VISIT::kSides || RTC_VISIT::kMiddles;  // edges (v, w) have counters

// The pivot vertex of a task.
struct Middle {
  u32 start, length;  // N+(v) is columns[start ..], length ids
  u32* map;  // bit i: N+(v) has id i
  u32 exact;  // ids from here on have no bit
  u32* base;  // for a word of the map, the index in N+(v) of its first id
  u32 counted;  // entries of N+(v) that have counters: the first
  u32* counters;  // of (v, columns[start + i]): the block's triangles, or the lower halves of its sums
  u32* uppers;  // the upper halves, if kMiddles
  u32 self;  // the code of v, which never hits: a lane without work tests it
};

// Add to a sum of 64 bits in two words of shared memory, whose atomics have 32 bits: the addition that makes
// the lower half pass over carries.
__device__ __forceinline__ void add_halves(u32* lower, u32* upper, u64 amount) {
  const u32 low = u32(amount), carry = atomicAdd(lower, low) > ~low, high = u32(amount >> 32) + carry;
  if (high) atomicAdd(upper, high);
}

// Report a triangle whose edge (u, v) is at uv, and w at position in N+(u), at index in N+(v). Return whether
// the triangle counts.
__device__ __forceinline__ bool report(const Middle& m, u32 uv, u32 position, u32 index, RTC_VISIT& visit) {
  if (!visit.triangle(uv, position, m.start + index)) return false;
  if (RTC_VISIT::kMiddles) {
    if (index < m.counted) add_halves(m.counters + index, m.uppers + index, visit.at_vw);
    else visit.middle(m.start + index, visit.at_vw);
  }
  if (!RTC_VISIT::kSides) return true;
  visit.side(position);
  if (index < m.counted) atomicAdd(m.counters + index, 1u);
  else visit.side(m.start + index);
  return true;
}

// The index in N+(v) of the id of a code whose bit is set in this word of the map.
__device__ __forceinline__ u32 index_of(const Middle& m, u32 code, u32 word) {
  return m.base[code / 32] + __popc(word & ((1u << code % 32) - 1));
}
