// in_edge.cuh - the two lists of an in-edge (u, v): N+(u) below v, and N+(v).
#pragma once
#include "device.cuh"

struct InEdge {
  u32 start, below;       // N+(u) is columns[start ..]: `below` ids below v, then v
  u32 v, row, length;     // N+(v) is columns[row ..], length ids
};

// Unpack an in-edge, by one thread. If no id is below v, N+(v) is not loaded: both lists are empty, v is
// kNone.
__device__ __forceinline__ InEdge in_edge(const i64* offsets, const u32* columns, u64 packed) {
  const u32 start = u32(packed >> 32), below = u32(packed);
  if (!below) return {start, 0, kNone, 0, 0};
  const u32 v = columns[start + below], row = u32(offsets[v]);
  return {start, below, v, row, u32(offsets[v + 1]) - row};
}

__device__ __forceinline__ InEdge in_edge(const Graph& g, u64 packed) {
  return in_edge(g.offsets, g.columns, packed);
}
