// levels.cu - triangles of all levels joined from the highest level down: engines/protocol.py says into what.
//
// Three launches a level. The edges of the level are added to the rows and tables of their ends, as truss.cu
// has them. Then a warp per edge walks the shorter of the two rows, and joins the edge with the other sides
// of its triangles: each triangle is found at its lowest sides, when all that is joined above is one set. At
// last each set of the level gets a head, one of the level's edges, which is the parent of all others.
//
// A set is found by its root. The oldest root stays, so that most edges of a large set name it, whatever joins
// the set; threads halve the paths of the others. A set of a higher level hangs in the forest by its head.
#include "truss.cuh"

constexpr u32 kRoot = 0x80000000;  // the bit of a word that is the head of a root's set: edges are fewer
constexpr u32 kHeadless = kNone;  // a root of this level, which has no head yet

// The words of edges, each an edge on the way to the root of its set, or the head of a root; and the forest.
struct Sets {
  u32 *words, *parents;
  const u32* levels;

  __device__ __forceinline__ u32 root(u32 x) const {
    for (;;) {
      const u32 above = RTC_PEEK(words + x);
      if (above & kRoot) return x;
      const u32 further = RTC_PEEK(words + above);
      if (further & kRoot) return above;
      atomicExch(words + x, further);
      x = further;
    }
  }

  // Join the sets of two edges as edge e says, of the level that is joined; return the root.
  __device__ __forceinline__ u32 join(u32 x, u32 y, u32 e) const {
    for (;;) {
      x = root(x);
      y = root(y);
      if (x == y) return x;
      const u32 of_x = levels[x], of_y = levels[y];
      const bool stays = of_x > of_y || (of_x == of_y && x < y);
      const u32 hung = stays ? y : x, on = stays ? x : y, head = RTC_PEEK(words + hung);
      if (!(head & kRoot) || atomicCAS(words + hung, head, on) != head) continue;
      if (head != kHeadless) parents[head & ~kRoot] = e;  // which will hang on the head of the new set
      return on;
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

// Join edges of the list with the other sides of their triangles. What a side names is read for all of a lane's
// triangles at once: most are in the edge's set already.
extern "C" __global__ void __launch_bounds__(kThreads)
join_edges(const u32* rows, const u32* columns, const u32* list, u32 edges_of_level, u32* begin, u32* size,
           uint2* tables, u32* keys, u32* edges, u64* adjacency, u32* words, u32* parents,
           const u32* levels) {
  const u64 i = element() / kWarp;
  if (i >= edges_of_level) return;
  const Peeled g{rows, columns, nullptr, begin, size, tables, keys, edges, nullptr, nullptr, adjacency};
  const Sets sets{words, parents, levels};
  const u32 e = list[i];
  const Walk walk = walk_of(g, e);
  u32 root = sets.root(e);
  for (u32 first = threadIdx.x % kWarp; first < walk.size; first += kEach * kWarp) {
    Sides sides;
    look_up_sides(g, walk.b, walk.at, walk.size, first, sides);
    u32 above[2 * kEach], side[2 * kEach];
#pragma unroll
    for (u32 k = 0; k < 2 * kEach; k++) {
      side[k] = sides.h[k / 2] == kNone ? e : k % 2 ? sides.h[k / 2] : sides.f[k / 2];
      above[k] = side[k] == e ? root : RTC_PEEK(words + side[k]);
    }
#pragma unroll
    for (u32 k = 0; k < 2 * kEach; k++)
      if (above[k] != root && side[k] != root) root = sets.join(root, side[k], e);
  }
}

// Make one of the edges of the list in each set its head, and the parent of the others, and of the head that the
// set had at higher levels.
extern "C" __global__ void __launch_bounds__(kThreads)
hang_edges(const u32* list, u32 edges_of_level, u32* words, u32* parents, const u32* levels) {
  const u64 i = element();
  if (i >= edges_of_level) return;
  const u32 e = list[i], root = Sets{words, parents, levels}.root(e);
  u32 head = RTC_PEEK(words + root);
  while (head == kHeadless || levels[head & ~kRoot] != levels[e]) {
    const u32 found = atomicCAS(words + root, head, kRoot | e);
    if (found == head) {
      if (head != kHeadless) parents[head & ~kRoot] = e;
      return;
    }
    head = found;
  }
  parents[e] = head & ~kRoot;
}
