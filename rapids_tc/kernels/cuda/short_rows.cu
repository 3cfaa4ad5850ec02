// short_rows.cu - totals from the CSR alone, for graphs of low degree and for graphs so small that a layout
// costs more than the count: neither in-edges nor codes nor tasks are read.
//
// In a graph of low degree there is little to intersect, and the time goes into waiting for short loads that
// depend on each other. So a lane takes a row u of at most `width` ids and keeps N+(u) in registers: its ids
// are loaded at once, then the ends of all their rows at once, and each N+(v) is read once, in order, each
// id compared with the ids of N+(u) before v. A longer row is for the whole warp: its lanes take the ids v of
// the row in turn, and merge N+(u) before v with N+(v).
//
// Input: any oriented Csr. Item = a row. A warp takes `depth` rows at a time, at most kWarp; the host spreads
// the rows of a small graph over more warps, and lets them share rows sooner, by less depth and width. Rows
// go to warps by their place in the grid: a row is too little work to draw a ticket for. Probes: ids of N+(v)
// that a lane reads, or the steps of a merge.
//
// Written: out, by the visitor's atomics. No shared memory, and no barrier of a block.
#include "device.cuh"
#include "merge.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "short-rows counts totals");

constexpr u32 kRowThreads = 256, kRowBlocksPerSm = 6;
constexpr u32 kInLane = 6;  // ids of a row that a lane keeps

// Count the triangles of a row of 2 to kInLane ids, by one lane.
__device__ __forceinline__ u32 count_short(const i64* offsets, const u32* columns, u32 start, u32 length) {
  u32 own[kInLane], from[kInLane], to[kInLane], hits = 0;
#pragma unroll
  for (u32 k = 0; k < kInLane; k++) own[k] = k < length ? __ldg(columns + start + k) : kNone;
#pragma unroll
  for (u32 k = 1; k < kInLane; k++) {  // the first id has none before it
    from[k] = k < length ? u32(offsets[own[k]]) : 0;
    to[k] = k < length ? u32(offsets[own[k] + 1]) : 0;
  }
#pragma unroll
  for (u32 k = 1; k < kInLane; k++)
    for (u32 p = from[k]; p < to[k]; p++) {
      RTC_PROBE(1);
      const u32 w = __ldg(columns + p);
#pragma unroll
      for (u32 j = 0; j < k; j++) hits += own[j] == w;
      if (w >= own[k - 1]) break;
    }
  return hits;
}

// Count this lane's share of the triangles of a row, by the whole warp.
__device__ __forceinline__ u32 count_long(const i64* offsets, const u32* columns, u32 start, u32 length) {
  const u32* const row = columns + start;
  u32 hits = 0;
  for (u32 k = 1 + threadIdx.x % kWarp; k < length; k += kWarp) {
    const u32 v = __ldg(row + k), from = u32(offsets[v]), to = u32(offsets[v + 1]);
    if (from < to) hits += merge(row, row + k, columns + from, columns + to);
  }
  return hits;
}

extern "C" __global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm) short_rows(RTC_METHOD_ARGS) {
  RTC_VISIT visit(input);
  const u32 lane = threadIdx.x % kWarp, warps = gridDim.x * (blockDim.x / kWarp);
  const u32 warp = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  for (u64 item = first + u64(warp) * depth; item < last; item += u64(warps) * depth) {
    const u64 row = item + lane;
    const bool has_row = lane < depth && row < last;
    const u32 start = has_row ? u32(offsets[row]) : 0;
    const u32 length = has_row ? u32(offsets[row + 1]) - start : 0;
    if (length > 1 && length <= width) visit.edge(kNone, count_short(offsets, columns, start, length));
    for (u32 left = __ballot_sync(kFullMask, length > 1 && length > width); left; left &= left - 1) {
      const u32 owner = __ffs(int(left)) - 1;
      const u32 long_start = __shfl_sync(kFullMask, start, owner);
      const u32 long_length = __shfl_sync(kFullMask, length, owner);
      visit.edge(kNone, count_long(offsets, columns, long_start, long_length));
    }
  }
  visit.finish();
}
