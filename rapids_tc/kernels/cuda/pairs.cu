// pairs.cu - what the neighbors of the two vertices of a pair have in common, counted or summed.
//
// kLanes lanes take a pair: each takes entries of the shorter row in turn, and searches the longer one. Rows
// are ascending, so that a lane searches only behind its last place. Ranks are by degree: the shorter row is
// the row of the higher rank. Work: the length of the shorter row times log of the longer.
//
// Input: offsets and columns of the rows of all neighbors; the ranks u and v of the pairs, each of a row.
// weighted: values[w] is added up for each common neighbor w, by integers in any order; else 1.
//
// Written: sums[i] of pair i, by its first lane.
#include "block.cuh"
#include "device.cuh"

constexpr u32 kLanes = 8;

extern "C" __global__ void __launch_bounds__(kThreads)
common_sums(const i64* offsets, const u32* columns, const u32* u, const u32* v, u64 n_pairs,
            const i64* values, u32 weighted, i64* sums) {
  const u64 pair = element() / kLanes;
  const u32 lane = threadIdx.x % kLanes;
  i64 sum = 0;
  if (pair < n_pairs) {
    const u32 a = u[pair], b = v[pair], hub = a < b ? a : b, other = a < b ? b : a;
    const i64 last = offsets[other + 1], end = offsets[hub + 1];
    i64 begin = offsets[hub];
    for (i64 p = offsets[other] + lane; p < last && begin < end; p += kLanes) {
      const u32 w = columns[p];
      begin += lower_bound(columns + begin, end - begin, w);
      if (begin < end && columns[begin] == w) sum += weighted ? values[w] : 1;
    }
  }
  sum = warp_sum(sum, kLanes);
  if (pair < n_pairs && lane == 0) sums[pair] = sum;
}
