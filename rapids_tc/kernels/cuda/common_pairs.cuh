// common_pairs.cuh - a search of wedge_ends.cu: the pairs of vertices with enough neighbors in common, counted or
// listed. A pair belongs to its vertex u of the lower place: its other end is w, of a higher place.
#pragma once
#include "middles.cuh"

struct CommonPairs {
  typedef u32 Sum;
  // Without `ranks`, counts[i] becomes the number of pairs of asked[i]. Else they are written from counts[i] on, in
  // any order: ranks, the other ends, and common, the wedges to each.
  struct Query {
    const u32* places;
    u32 at_least;
    i64* counts;
    u32* ranks;
    i64* common;
  };
  // The pairs of the vertex of a block that are found so far.
  template <u32 kMost>
  struct Found {
    u64 pairs;

    __device__ __forceinline__ void clear() { pairs = 0; }
  };

  const Query& query;
  u32 i, u, place;

  __device__ __forceinline__ CommonPairs(const Middles&, const Query& query, u32 i, u32 u)
      : query(query), i(i), u(u), place(query.places[u]) {}
  __device__ __forceinline__ bool wanted() const { return true; }
  __device__ __forceinline__ bool apart() const { return false; }

  // Take the pair of u and w, if there is one in this lane. All lanes of the warp.
  template <u32 kMost>
  __device__ __forceinline__ void end(bool there, u32 w, u32 wedges, Found<kMost>& found) const {
    const bool wanted = there && wedges >= query.at_least && query.places[w] > place;
    const u32 all = __ballot_sync(kFullMask, wanted), lane = threadIdx.x % kWarp;
    if (!all) return;
    u64 at = 0;
    if (lane == 0) at = atomicAdd(&found.pairs, u64(__popc(all)));
    at = __shfl_sync(kFullMask, at, 0) + u32(__popc(all & ((1u << lane) - 1)));
    if (wanted && query.ranks) {
      query.ranks[query.counts[i] + i64(at)] = w;
      query.common[query.counts[i] + i64(at)] = wedges;
    }
  }
  // All threads of the block.
  template <u32 kMost>
  __device__ __forceinline__ void finish(Found<kMost>& found) const {
    if (threadIdx.x) return;
    if (!query.ranks) query.counts[i] = i64(found.pairs);
    found.clear();
  }
};
