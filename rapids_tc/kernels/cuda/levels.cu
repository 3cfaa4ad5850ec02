// levels.cu - triangles of all levels joined from the highest level down: engines/protocol.py says into what.
//
// Two launches a level. The edges of the level are added to the rows and tables of their ends, as truss.cu
// has them; then a warp per edge walks the shorter of the two rows, and joins the edge with the other sides
// of its triangles. So each triangle is found at its lowest sides, when all that is joined above is one tree
// for each set: a set is found by its root. Threads halve the paths to roots, and hang one root on another
// by a compare-and-swap. Where a tree hangs at first is what the forest tells.
#include "truss.cuh"

// Sets of edges: where each was hung first, the way to its root, and its level.
struct Sets {
  u32 *parents, *up;
  const u32* levels;

  __device__ __forceinline__ u32 root(u32 x) const {
    for (;;) {
      const u32 above = RTC_PEEK(up + x);
      if (above == x) return x;
      const u32 further = RTC_PEEK(up + above);
      if (further == above) return above;
      atomicExch(up + x, further);
      x = further;
    }
  }

  // The root of a set has the lowest level, and the smallest number of these.
  __device__ __forceinline__ void join(u32 x, u32 y) const {
    for (;;) {
      x = root(x);
      y = root(y);
      if (x == y) return;
      const u32 of_x = levels[x], of_y = levels[y];
      const bool keeps = of_x < of_y || (of_x == of_y && x < y);
      const u32 hung = keeps ? y : x, on = keeps ? x : y;
      if (atomicCAS(up + hung, hung, on) != hung) continue;
      parents[hung] = on;
      return;
    }
  }
};

// Add edges of the list to the graph.
extern "C" __global__ void __launch_bounds__(kThreads)
add_edges(const u32* rows, const u32* columns, const u32* list, u32 edges_of_level, const u32* begin,
          u32* size, uint2* tables, u32* keys, u32* edges, u64* adjacency) {
  const u64 i = element();
  if (i >= edges_of_level) return;
  const u32 e = list[i], u = rows[e], v = columns[e];
  adjacency[begin[u] + atomicAdd(size + u, 1u)] = u64(e) << 32 | v;
  adjacency[begin[v] + atomicAdd(size + v, 1u)] = u64(e) << 32 | u;
  const Peeled g{rows, columns, nullptr, nullptr, nullptr, tables, keys, edges, nullptr, nullptr, nullptr};
  insert(g, tables[u], v, e);
}

// Join edges of the list with the other sides of their triangles.
extern "C" __global__ void __launch_bounds__(kThreads)
join_edges(const u32* rows, const u32* columns, const u32* list, u32 edges_of_level, u32* begin, u32* size,
           uint2* tables, u32* keys, u32* edges, u64* adjacency, u32* parents, u32* up, const u32* levels) {
  const u64 i = element() / kWarp;
  if (i >= edges_of_level) return;
  const Peeled g{rows, columns, nullptr, begin, size, tables, keys, edges, nullptr, nullptr, adjacency};
  const Sets sets{parents, up, levels};
  const u32 e = list[i];
  const Walk walk = walk_of(g, e);
  for (u32 first = threadIdx.x % kWarp; first < walk.size; first += kEach * kWarp) {
    Sides sides;
    look_up_sides(g, walk.b, walk.at, walk.size, first, sides);
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      if (sides.h[k] == kNone) continue;
      sets.join(e, sides.f[k]);
      sets.join(e, sides.h[k]);
    }
  }
}
