// wedges.cuh - the lists of wedges u - v - w from which the squares of u are counted: engines/wedges.py.
//
// List p of u is the part of row v behind u, if entry p of row u is v, a higher rank. A task walks the parts of all
// lists of u that lie in some windows: window k has the ranks from cuts[k] on, below cuts[k + 1].
#pragma once
#include "lists.cuh"

struct WedgeRows {
  const i64* __restrict__ offsets;  // of the graph: as many entries of a row are lower ranks
  const i64* __restrict__ all_offsets;
  const u32* __restrict__ columns;  // all neighbors
  const u32* __restrict__ places;  // of list p of u: places[p - offsets[u + 1]]
  const u32* __restrict__ ends;  // where every row is walked to: further ranks have one neighbor
  const u32* __restrict__ cuts;
  const u32* __restrict__ bounds;  // of the first rows, at each cut between windows
  u32 windows;
  u32 bounded;  // so many rows have bounds
  u32 long_from;  // entries from which all warps of a block share a list

  // The position in row v of its first entry in window k or a later one.
  __device__ __forceinline__ u32 bound(u32 v, u32 k) const {
    if (k == windows) return ends[v];
    if (v < bounded) return bounds[u64(v) * (windows - 1) + k - 1];
    const u32 begin = u32(all_offsets[v]);
    return begin + lower_bound(columns + begin, ends[v] - begin, cuts[k]);
  }
};

struct Task {
  u32 u, first, last;  // windows first .. last - 1

  // List p, and its middle v.
  __device__ __forceinline__ List<u32> list(const WedgeRows& g, u32 p) const {
    const u32 v = g.columns[p], place = g.places[p - u32(g.offsets[u + 1])];
    const u32 begin = first ? larger(place, g.bound(v, first)) : place, end = g.bound(v, last);
    return {begin, larger(begin, end), v};
  }
  // Walk all lists: see lists.cuh.
  template <bool kSums, class Entry, class Done>
  __device__ __forceinline__ void
  walk(const WedgeRows& g, u32* longs, u32* n_longs, const Entry& entry, const Done& done) const {
    const u32 lists = u32(g.all_offsets[u] + g.offsets[u + 1] - g.offsets[u]);
    walk_lists<kSums>(
        g.columns, lists, g.ends[u], g.long_from, [&](u32 p) { return list(g, p); }, longs, n_longs,
        [&](u32 w, u32 at, u32) -> u64 { return entry(w, at); }, done);
  }
};
