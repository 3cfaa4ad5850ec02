// similar.cuh - a search of wedge_ends.cu: the vertices that are most like a vertex u, by what their neighbors have
// in common. The best 32 come first, then those behind the last one that was found.
//
// Each warp keeps the best of those it sees, lane l the one in place l; in the end the first warp merges them. The
// worst that a warp keeps, once it has as many as are asked for, is a floor for the whole block: what is less
// is not among the best. Of equal similarity, the lower place comes first, so that the best are the same in
// whatever order candidates come.
#pragma once
#include "middles.cuh"

enum Kind : u32 { kSum, kJaccard, kCosine, kSorensen, kOverlap };  // as in engines/similarity_formulas.py

// How alike two vertices of degrees a and b are. It does not become more if b does.
__device__ __forceinline__ double similarity(u32 kind, double common, double a, double b) {
  if (kind == kSum) return common;
  if (kind == kJaccard) return common / (a + b - common);
  if (kind == kCosine) return sqrt(common * common / (a * b));
  if (kind == kSorensen) return 2 * common / (a + b);
  return common / (a < b ? a : b);
}

// The least that two vertices may have in common and be as alike as `floor`, less what rounding may take. The other
// vertex has as many neighbors at least, and is most alike if it has no more.
__device__ __forceinline__ double least_common(u32 kind, double floor, double a) {
  const double enough = kind == kSum        ? floor
                        : kind == kJaccard  ? floor * a
                        : kind == kCosine   ? floor * floor * a
                        : kind == kSorensen ? floor * a / (2 - floor)
                                            : 0;
  return enough * (1 - 1e-12);
}

template <class Sum>
struct Best {
  double value;  // less than 0 if there is none
  Sum sum;
  u32 place, rank;

  __device__ __forceinline__ bool before(double other, u32 other_place) const {
    return value > other || (value == other && place < other_place);
  }
};

template <class Sum>
__device__ __forceinline__ Best<Sum> no_best() {
  return {-1.0, 0, kNone, kNone};
}

// Put the candidate of every lane that has one in its place among the k best. All lanes of the warp.
template <class Sum>
__device__ __forceinline__ void keep(Best<Sum>& mine, u32 k, const Best<Sum>& candidate) {
  const u32 lane = threadIdx.x % kWarp;
  const double worst = __shfl_sync(kFullMask, mine.value, k - 1);
  const u32 worst_place = __shfl_sync(kFullMask, mine.place, k - 1);
  const bool better = candidate.value >= 0 && candidate.before(worst, worst_place);
  for (u32 left = __ballot_sync(kFullMask, better); left; left &= left - 1) {
    const u32 owner = u32(__ffs(int(left))) - 1;
    const Best<Sum> next{
        __shfl_sync(kFullMask, candidate.value, owner), __shfl_sync(kFullMask, candidate.sum, owner),
        __shfl_sync(kFullMask, candidate.place, owner), __shfl_sync(kFullMask, candidate.rank, owner)};
    const u32 at = u32(__popc(__ballot_sync(kFullMask, lane < k && mine.before(next.value, next.place))));
    const Best<Sum> before{__shfl_up_sync(kFullMask, mine.value, 1), __shfl_up_sync(kFullMask, mine.sum, 1),
                           __shfl_up_sync(kFullMask, mine.place, 1), __shfl_up_sync(kFullMask, mine.rank, 1)};
    if (lane > at) mine = before;
    if (lane == at) mine = next;
  }
}

// Memory of a block of at most kMost threads for the best of its warps.
template <class Sum, u32 kMost>
struct Kept {
  double values[kMost];
  Sum sums[kMost];
  u32 places[kMost], ranks[kMost];
};

// Merge the k best of all warps of the block, and write them. All threads of the block.
template <class Sum, u32 kMost>
__device__ __forceinline__ void
merge(const Best<Sum>& mine, u32 k, Kept<Sum, kMost>& kept, u32* ranks, i64* sums) {
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, size = blockDim.x / kWarp * k;
  if (lane < k) {
    const u32 i = warp * k + lane;
    kept.values[i] = mine.value;
    kept.sums[i] = mine.sum;
    kept.places[i] = mine.place;
    kept.ranks[i] = mine.rank;
  }
  __syncthreads();  // the best of all warps are there
  if (warp) return;
  Best<Sum> best = no_best<Sum>();
  for (u32 t = lane; t - lane < size; t += kWarp) {
    Best<Sum> next = no_best<Sum>();
    if (t < size) next = {kept.values[t], kept.sums[t], kept.places[t], kept.ranks[t]};
    keep(best, k, next);
  }
  if (lane < k && best.value >= 0) {
    ranks[lane] = best.rank;
    sums[lane] = i64(best.sum);
  }
}

template <class T>
struct Similar {
  typedef T Sum;  // of wedges, or of the values of their middles
  // The answer of asked[i] is best[starts[i] ..], sums[starts[i] ..], up to starts[i + 1]; `done` are there.
  struct Query {
    const i64* starts;
    const u32* places;
    u32 kind, apart, done;
    u32* best;
    i64* sums;
  };
  // What the block of a vertex has found.
  template <u32 kMost>
  struct Found {
    Kept<Sum, kMost> kept;
    u64 floor;  // bits of a double that is not negative: they have the same order

    __device__ __forceinline__ void clear() { floor = 0; }
  };

  const Middles& rows;
  const Query& query;
  i64 at;  // where the best of this search are written
  u32 u, k, degree;
  double above;  // similarity and place of the last one that was found: only those behind it are taken
  u32 above_place;
  Best<Sum> mine = no_best<Sum>();

  __device__ __forceinline__ Similar(const Middles& rows, const Query& query, u32 i, u32 u)
      : rows(rows), query(query), at(query.starts[i] + query.done), u(u), degree(rows.degree(u)) {
    const i64 room = query.starts[i + 1] - at;
    k = room <= 0 ? 0 : room < kWarp ? u32(room) : kWarp;
    above = 2e19, above_place = 0;  // more than any similarity
    if (k && query.done) {
      const u32 rank = query.best[at - 1];
      if (rank == kNone) {
        k = 0;
      } else {
        above = similarity(query.kind, double(query.sums[at - 1]), degree, rows.degree(rank));
        above_place = query.places[rank];
      }
    }
  }
  __device__ __forceinline__ bool wanted() const { return k; }
  __device__ __forceinline__ bool apart() const { return query.apart; }

  // Consider an end of wedges, if there is one in this lane. All lanes of the warp.
  template <u32 kMost>
  __device__ __forceinline__ void end(bool there, u32 w, Sum common, Found<kMost>& found) {
    const double lowest = __longlong_as_double(i64(RTC_PEEK(&found.floor)));
    bool wanted = there && w != u && double(common) >= least_common(query.kind, lowest, degree);
    if (!__any_sync(kFullMask, wanted)) return;
    Best<Sum> next = no_best<Sum>();
    if (wanted) {
      const double value = similarity(query.kind, double(common), degree, rows.degree(w));
      if (value >= lowest && value <= above) next = {value, common, query.places[w], w};
      if (value == above && next.place <= above_place) next = no_best<Sum>();
    }
    keep(mine, k, next);
    if (threadIdx.x % kWarp == k - 1 && mine.value > lowest)
      atomicMax(&found.floor, u64(__double_as_longlong(mine.value)));
  }
  // All threads of the block.
  template <u32 kMost>
  __device__ __forceinline__ void finish(Found<kMost>& found) {
    if (threadIdx.x == 0) found.clear();
    merge<Sum, kMost>(mine, k, found.kept, query.best + at, query.sums + at);
  }
};
