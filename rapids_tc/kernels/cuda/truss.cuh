// truss.cuh - the arrays of the peel, the word of an edge, and the tables in which edges are looked up.
//
// Edges are numbered by their positions in the CSR: m of them (< 2^31), of which those in a triangle are
// active in the beginning. All that follows is of active edges.
//
//   rows, columns           the larger and the smaller rank of each edge
//   support                 the word of each edge
//   begin, size, adjacency  the neighbors of x are adjacency[begin[x] .. + size[x]), edge << 32 | neighbor,
//                           in any order: rounds walk these
//   tables, keys, edges     of the neighbors below x, a hash table: its first bucket, and how many there
//                           are. A bucket is kBucket ids in keys, their edges at the same places in edges
//   list, lengths           the edges, of which each warp of the grid has its own: groups of 32 are dealt to
//                           the warps in turn. A warp keeps its edges in the first lengths[warp] places
//
// The word of an edge is the number of its triangles, until it falls: then it is kFallen | stamp | that
// number, which is at most the level, and levels are below 2^16, since a clique of k vertices has fewer
// than 2^31 edges. The stamp names the round in which the edge is in the frontier. So the threads of a
// round tell the frontier from edges that are dead, and from edges that fall meanwhile, which count as
// active; they subtract triangles from those, too, and nothing has to be marked between two rounds. A
// search for the next level buries dead edges, with kFallen | level for their word, before a stamp comes up
// again.
//
// If RTC_KIND is one of the structs of kinds.cuh or spans.cuh, only triangles of this kind count.
#pragma once
#include "kinds.cuh"
#include "peel.cuh"

#ifndef RTC_KIND
#define RTC_KIND AnyTriangle
#endif

constexpr u32 kFallen = 0x80000000u, kCount = 0xffff;
#ifdef RTC_PEEL_TINY                           // for tests on the emulator
constexpr u32 kStamps = 4, kQueue = 5;
#else
constexpr u32 kStamps = 0x7fff;               // of 15 bits; buried edges have none, 0
constexpr u32 kQueue = 1024;  // fallen edges that a block keeps before it makes their tasks
#endif
constexpr u32 kBucket = 8;                    // ids of a bucket, which is a sector of memory

// What comes next, and what the host reads of it. Zeros before the first launch.
constexpr u32 kBegin = 0, kPause = 1, kDone = 2;

struct State {
  u32 stage, level, rounds, edges, dead;      // edges: in the beginning; dead: of these
  u32 clock, buried;  // the round that stamps name; when dead edges were buried last
  u32 phase, packed, seeds, empty, long_rows;  // see truss.cu
  u32 goal, arrived;  // of the barrier of the grid
  u32 least[3], fallen[3];  // by phase, modulo 3
  u64 tasks[3];
};

struct Peeled {
  const u32 *rows, *columns;
  u32 *support, *begin, *size;
  uint2* tables;
  u32 *keys, *edges, *list, *lengths;
  u64* adjacency;
  RTC_KIND kind;
};

// Where the warp has edge i of its own in the list.
__device__ __forceinline__ u64 list_place(u32 i) {
  return (u64(i / kWarp) * grid_warps() + grid_warp()) * kWarp + i % kWarp;
}

// ------------------------------------------------------------------------------- words
__device__ __forceinline__ u32 stamp_of_round(u32 clock) { return kFallen | (1 + clock % kStamps) << 16; }
__device__ __forceinline__ u32 stamp_of(u32 word) { return word & ~kCount; }
__device__ __forceinline__ bool is_active(u32 word) { return word < kFallen; }

// The trussness of an edge, when all levels are done: k, if it is still active.
__device__ __forceinline__ u32 trussness(u32 word, u32 level, u32 k) {
  if (word == 0) return 2;
  if (is_active(word)) return k;
  return (stamp_of(word) == kFallen ? word & kCount : level) + 2;
}

// ------------------------------------------------------------------------------- tables
// Room for half as many ids again.
__device__ __forceinline__ u32 buckets_of(u32 ids) { return (ids + ids / 2 + kBucket - 1) / kBucket; }

__device__ __forceinline__ u32 spread(u32 id) { return (id ^ id >> 15) * 0x9E3779B1u; }

// The ids of a bucket.
struct Bucket {
  uint4 a, b;

  __device__ __forceinline__ bool full() const { return b.w != kNone; }  // it is filled from its front
  __device__ __forceinline__ u32 find(u32 id) const {
    u32 slot = kNone;
    if (a.x == id) slot = 0;
    if (a.y == id) slot = 1;
    if (a.z == id) slot = 2;
    if (a.w == id) slot = 3;
    if (b.x == id) slot = 4;
    if (b.y == id) slot = 5;
    if (b.z == id) slot = 6;
    if (b.w == id) slot = 7;
    return slot;
  }
};

__device__ __forceinline__ Bucket bucket_of(const Peeled& g, u32 i) {
  RTC_PROBE(1);
  const uint4* const ids = reinterpret_cast<const uint4*>(g.keys) + kBucket / 4 * u64(i);
  return Bucket{ids[0], ids[1]};
}

// Look up id in a table, whose bucket number i is known already: its edge, or kNone.
__device__ __forceinline__ u32 look_up(const Peeled& g, uint2 table, u32 id, u32 i, Bucket bucket) {
  for (;;) {
    const u32 slot = bucket.find(id);
    if (slot != kNone) return g.edges[u64(kBucket) * i + slot];
    if (!bucket.full()) return kNone;
    i = i + 1 == table.x + table.y ? table.x : i + 1;
    bucket = bucket_of(g, i);
  }
}

__device__ __forceinline__ void insert(const Peeled& g, uint2 table, u32 id, u32 edge) {
  for (u32 bucket = __umulhi(spread(id), table.y);; bucket = bucket + 1 == table.y ? 0 : bucket + 1) {
    const u64 at = u64(kBucket) * (table.x + bucket);
    u32 filled = 0;  // slots, from the front
#pragma unroll
    for (u32 slot = 0; slot < kBucket; slot++) filled += RTC_PEEK(g.keys + at + slot) != kNone;
    for (u32 slot = filled; slot < kBucket; slot++) {
      if (atomicCAS(g.keys + at + slot, kNone, id) != kNone) continue;
      g.edges[at + slot] = edge;
      return;
    }
  }
}

// ------------------------------------------------------------------------------- walks
constexpr u32 kEach = 2;                      // entries of a lane whose look-ups are on their way together
constexpr u32 kShort = kWarp, kLong = kEach * kWarp;   // entries of a task, which a warp walks at once

// The row that is walked for an edge, which is the shorter one, and the other end.
struct Walk { u32 b, at, size; };

__device__ __forceinline__ Walk walk_of(const Peeled& g, u32 e) {
  const u32 u = g.rows[e], v = g.columns[e], of_u = g.size[u], of_v = g.size[v];
  return of_v < of_u ? Walk{u, g.begin[v], of_v} : Walk{v, g.begin[u], of_u};
}

// Of some triangles of an edge {a, b}, the sides {a, w} and {b, w}.
struct Sides { u32 f[kEach], h[kEach]; };

// Look up the neighbors w of a at places i, i + kWarp ... of its row, which begins at `at`, among those of
// b. A side h is kNone if there is none, or no such place.
__device__ __forceinline__ void look_up_sides(const Peeled& g, u32 b, u32 at, u32 size, u32 i, Sides& sides) {
  u64 entries[kEach];
  uint2 tables[kEach];
  u32 ids[kEach], places[kEach];
  Bucket buckets[kEach];
#pragma unroll
  for (u32 k = 0; k < kEach; k++) entries[k] = i + k * kWarp < size ? g.adjacency[at + i + k * kWarp] : b;
#pragma unroll
  for (u32 k = 0; k < kEach; k++) {
    const u32 w = u32(entries[k]);
    ids[k] = w < b ? w : b;
    tables[k] = w == b ? make_uint2(0, 0) : g.tables[w < b ? b : w];   // b is no neighbor of its own
  }
#pragma unroll
  for (u32 k = 0; k < kEach; k++) {
    places[k] = tables[k].x + __umulhi(spread(ids[k]), tables[k].y);
    if (tables[k].y) buckets[k] = bucket_of(g, places[k]);
  }
#pragma unroll
  for (u32 k = 0; k < kEach; k++) {
    sides.f[k] = u32(entries[k] >> 32);
    sides.h[k] = kNone;
    if (tables[k].y) sides.h[k] = look_up(g, tables[k], ids[k], places[k], buckets[k]);
  }
}
