// best.cuh - the best candidates of a vertex: those that are most like it, up to 32, a lane each.
//
// Each warp keeps the best of those it sees, lane l the one in place l; in the end the first warp merges them. The
// worst that a warp keeps, once it has as many as are asked for, is a floor for the whole block: what is less
// is not among the best. Of equal similarity, the lower place comes first, so that the best are the same in
// whatever order candidates come.
#pragma once
#include "device.cuh"

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
