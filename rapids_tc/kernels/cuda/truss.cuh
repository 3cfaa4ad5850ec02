// truss.cuh - a round of the peel, and the search for the next level: the steps that truss.cu's large
// launches and its one small block have in common. Each thread does a part of a step.
//
// Input, m edges (< 2^31) by ascending (row, column), row > column, no repeats:
//   rows, columns     the ends of each edge; a look-up searches columns[offsets[row] ..]
//   offsets           n + 1: the edges of each row
//   starts, adjacency n + 1, 2 m: the neighbours of each vertex, edge << 32 | neighbour, which a round
//   walks support           triangles of each edge; once the edge is removed, kDead | its trussness
//
// The queue holds removed edges in the order in which they fall: an edge enters it once, so m entries are
// enough, and a frontier is a piece of it. Positions in the queue:
//
//   0 .. buried .. head .. end .. tail      (State)
//   dead    removed   frontier   fallen since: the next frontier
//
// status has two bits per edge: 0 active, kFront in the frontier, kFront | kBuried dead. A round is
//   mark    bury the edges that the round before removed, and mark the frontier, by atomicOr on status;
//           support becomes the trussness, written by the owner of the entry of the queue
//   peel    count the frontier's triangles off, by atomicSub on support and atomicAdd on tail. Nothing
//           writes status meanwhile, so threads read the same status in any order, and the result does not
//           depend on the order
// with a barrier after each.
#pragma once
#include "device.cuh"

constexpr u32 kDead = 0x80000000u;            // in support: more than the triangles of any edge
constexpr u32 kBuried = 1, kFront = 2;        // in status
constexpr u32 kStatusEdges = 16;              // edges of a word of status

// The step that is due, or was done last. truss_small leaves some of them to the host.
constexpr u32 kBegin = 0, kSmall = 1, kLarge = 2, kScan = 3, kPause = 4, kShrink = 5, kDone = 6;

struct State {
  u32 stage, level, least;      // least: the least support of an active edge, by a scan
  u32 buried, head, end, tail;
  u32 rounds;                   // since the beginning
};

// The arrays and sizes that stay the same while a graph is peeled.
struct Edges {
  const u32 *rows, *columns;
  const i64 *offsets, *starts;
  const u64* adjacency;
  u32 *support, *status, *queue;
  u32 m, lanes;                 // lanes that walk a row together, a power of two up to 32
};
#define RTC_TRUSS_ARGS                                                                              \
  const u32 *rows, const u32 *columns, const i64 *offsets, const i64 *starts, const u64 *adjacency, \
      u32 *support, u32 *status, u32 *queue, u32 m, u32 lanes, State *state
#define RTC_TRUSS_EDGES \
  Edges { rows, columns, offsets, starts, adjacency, support, status, queue, m, lanes }

// ------------------------------------------------------------------------------- a round
__device__ __forceinline__ u32 status_of(const Edges& g, u32 e) {
  return g.status[e / kStatusEdges] >> e % kStatusEdges * 2 & 3;
}

__device__ __forceinline__ void set_status(const Edges& g, u32 e, u32 bit) {
  atomicOr(g.status + e / kStatusEdges, bit << e % kStatusEdges * 2);
}

__device__ __forceinline__ u32 length(const Edges& g, u32 vertex) {
  return u32(g.starts[vertex + 1] - g.starts[vertex]);
}

// Mark a part of the queue, the entries first, first + stride, ... of buried .. end; return the steps that
// their walks will take.
__device__ __forceinline__ u64 mark(const Edges& g, u32 buried, u32 head, u32 end, u32 level, u32 first,
                                    u32 stride) {
  u64 steps = 0;
  for (u32 i = buried + first; i < end; i += stride) {
    const u32 e = g.queue[i];
    set_status(g, e, i < head ? kBuried : kFront);
    if (i < head) continue;
    g.support[e] = kDead | (level + 2);
    const u32 a = length(g, g.rows[e]), b = length(g, g.columns[e]);
    steps += a < b ? a : b;
  }
  return steps;
}

// For the edge e = {a, b} of the frontier and an entry of a's row, find f and h, the other two edges of
// their triangle. Either stays kNone if e does not count the triangle off it: there is no triangle, or an
// edge of it is dead, or an edge of it in the frontier has a smaller number than e, or f, or h, is in the
// frontier itself.
__device__ __forceinline__ void triangle(const Edges& g, u32 e, u32 b, u64 entry, u32& f, u32& h) {
  const u32 w = u32(entry), at_f = u32(entry >> 32), status_f = status_of(g, at_f);
  if (status_f & kBuried) return;
  const u32 larger = w > b ? w : b, smaller = w > b ? b : w;   // w = b: N+(b) has no b
  const i64 begin = g.offsets[larger];
  RTC_PROBE(1);
  const u32 index = find(g.columns + begin, u32(g.offsets[larger + 1] - begin), smaller);
  if (index == kNone) return;
  const u32 at_h = u32(begin) + index, status_h = status_of(g, at_h);
  if (status_h & kBuried || (status_f && at_f < e) || (status_h && at_h < e)) return;
  if (!status_f) f = at_f;
  if (!status_h) h = at_h;
}

// Append the edges that fall to the queue. All lanes of the warp.
__device__ __forceinline__ void fall(const Edges& g, u32 e, bool falls, u32* tail) {
  const u32 votes = __ballot_sync(kFullMask, falls);
  if (!votes) return;
  const u32 lane = threadIdx.x % kWarp;
  u32 base = 0;
  if (lane == 0) base = atomicAdd(tail, u32(__popc(votes)));
  base = __shfl_sync(kFullMask, base, 0);
  if (falls) g.queue[base + __popc(votes & ((1u << lane) - 1))] = e;
}

// Count a triangle off an edge, unless e is kNone. Only the loss that takes the edge to the level reads
// level + 1 before, so an edge falls once. All lanes of the warp.
__device__ __forceinline__ void count_off(const Edges& g, u32 e, u32 level, u32* tail) {
  fall(g, e, e != kNone && atomicSub(g.support + e, 1u) == level + 1, tail);
}

// Peel a part of the frontier: each group of g.lanes lanes walks for one edge; if there are fewer edges
// than groups, several groups share the walk of an edge.
__device__ __forceinline__ void
peel(const Edges& g, u32 head, u32 end, u32 level, u32* tail, u32 thread, u32 threads) {
  const u32 size = end - head, group = thread / g.lanes, groups = threads / g.lanes;
  const u32 sharing = groups > size ? groups / size : 1, step = sharing * g.lanes;
  for (u32 i = group / sharing; __any_sync(kFullMask, i < size); i += groups / sharing) {
    u32 e = 0, b = 0;
    i64 at = 0, stop = 0;
    if (i < size) {
      e = g.queue[head + i];
      b = g.columns[e];
      u32 a = g.rows[e];
      if (length(g, b) < length(g, a)) {
        const u32 other = a;
        a = b;
        b = other;
      }
      at = g.starts[a] + group % sharing * g.lanes + thread % g.lanes;
      stop = g.starts[a + 1];
    }
    for (; __any_sync(kFullMask, at < stop); at += step) {
      u32 f = kNone, h = kNone;
      if (at < stop) triangle(g, e, b, g.adjacency[at], f, h);
      count_off(g, f, level, tail);
      count_off(g, h, level, tail);
    }
  }
}

// ------------------------------------------------------------------------------- the next level
// Search a part of the edges for the least support of an active edge, and join the parts by atomicMin.
__device__ __forceinline__ void scan(const Edges& g, u32 first, u32 stride, u32* least) {
  u32 mine = kDead;
  for (u32 e = first; e < g.m; e += stride) mine = g.support[e] < mine ? g.support[e] : mine;
  for (u32 step = kWarp / 2; step; step /= 2) {
    const u32 other = __shfl_xor_sync(kFullMask, mine, step);
    mine = other < mine ? other : mine;
  }
  if (threadIdx.x % kWarp == 0) atomicMin(least, mine);
}

__device__ __forceinline__ u32 next_level(u32 level, u32 least, u32 first) {
  return max(max(level, least), first);
}

// Collect a part of the level's first frontier, the active edges of no more support.
__device__ __forceinline__ void collect(const Edges& g, u32 level, u32 first, u32 stride, u32* tail) {
  for (u32 e = first; __any_sync(kFullMask, e < g.m); e += stride)
    fall(g, e, e < g.m && g.support[e] <= level, tail);
}
