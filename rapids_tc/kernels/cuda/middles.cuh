// middles.cuh - the walk of all wedges u - v - w of one vertex u, by all threads of a block.
//
// Rows are all neighbors of every rank, ascending. bounds[v * stride + k] is the first position of row v whose
// entry is cuts[k] or more; the last cut is behind all ranks. So the entries of a window of ranks are found
// without a search. A row of at least kLong entries in the window is shared by all warps of the block, one of
// at least kMedium is taken by a warp, and shorter ones by kGroup lanes each.
#pragma once
#include "device.cuh"

constexpr u32 kLong = 1024, kMedium = 64, kGroup = 8;
constexpr u32 kPiece = 256;  // entries of a long row that a warp takes at once
constexpr u32 kFlight = 4;  // loads of a lane in flight

struct Rows {
  const i64* __restrict__ offsets;
  const u32* __restrict__ columns;
  const u32* __restrict__ bounds;
  const i64* __restrict__ values;  // what a middle adds, by rank; null if it counts one
  u32 stride, most_degree;

  __device__ __forceinline__ u32 degree(u32 v) const { return u32(offsets[v + 1] - offsets[v]); }
};

#define RTC_ROWS_ARGS \
  const i64 *offsets, const u32 *columns, const u32 *bounds, const i64 *values, u32 stride, u32 most_degree
#define RTC_ROWS \
  Rows { offsets, columns, bounds, values, stride, most_degree }

// The entries begin .. end - 1 of a row of which each adds `value`.
template <class Sum>
struct Part {
  u32 begin, end;
  Sum value;
};

// The entries of the row of neighbor i of u, in windows k0 .. k1 - 1; none if it has too many neighbors.
template <class Sum>
__device__ __forceinline__ Part<Sum> part_of(const Rows& rows, u32 i, u32 k0, u32 k1) {
  const u32 v = rows.columns[i];
  const u32* const bounds = rows.bounds + u64(v) * rows.stride;
  if (bounds[rows.stride - 1] - bounds[0] > rows.most_degree) return {0, 0, 0};
  return {bounds[k0], bounds[k1], rows.values ? Sum(rows.values[v]) : Sum(1)};
}

// The part that lane `owner` has. All lanes of the warp.
template <class Sum>
__device__ __forceinline__ Part<Sum> of_lane(const Part<Sum>& part, u32 owner) {
  return {__shfl_sync(kFullMask, part.begin, owner), __shfl_sync(kFullMask, part.end, owner),
          __shfl_sync(kFullMask, part.value, owner)};
}

// Add entries begin, begin + kStep, ... below end to a table, kFlight loads in flight.
template <u32 kStep, class Table, class Sum>
__device__ __forceinline__ void
add_entries(const u32* columns, const Table& table, u32 begin, u32 end, Sum value) {
  for (u32 p = begin; p < end; p += kFlight * kStep) {
    u32 w[kFlight];
#pragma unroll
    for (u32 t = 0; t < kFlight; t++) w[t] = p + t * kStep < end ? __ldg(columns + p + t * kStep) : kNone;
#pragma unroll
    for (u32 t = 0; t < kFlight; t++)
      if (w[t] != kNone) table.add(w[t], value);
  }
}

// Add the wedges of u to a table that holds the ranks of windows k0 .. k1 - 1. All threads of the block; `longs`
// has a shared word per thread, n_longs is one. All are added behind the next barrier.
template <class Table>
__device__ __forceinline__ void
add_wedges(const Rows& rows, const Table& table, u32 u, u32 k0, u32 k1, u32* longs, u32* n_longs) {
  typedef typename Table::Sum Sum;
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const u32 first = u32(rows.offsets[u]), last = u32(rows.offsets[u + 1]);
  for (u32 base = first; base < last; base += blockDim.x) {
    if (threadIdx.x == 0) n_longs[0] = 0;
    __syncthreads();  // no long row is listed yet
    const u32 i = base + lane * warps + warp;  // rows become shorter: each warp takes some of every length
    Part<Sum> part{0, 0, 0};
    if (i < last) part = part_of<Sum>(rows, i, k0, k1);
    const u32 length = part.end - part.begin;
    if (length >= kLong) {
      const u32 place = atomicAdd(n_longs, 1u);
      longs[place] = i;
    }
    for (u32 left = __ballot_sync(kFullMask, length >= kMedium && length < kLong); left; left &= left - 1) {
      const Part<Sum> medium = of_lane(part, u32(__ffs(int(left))) - 1);
      add_entries<kWarp>(rows.columns, table, medium.begin + lane, medium.end, medium.value);
    }
    const u32 some = __ballot_sync(kFullMask, length > 0 && length < kMedium);
    for (u32 round = 0; round < kWarp; round += kWarp / kGroup) {  // as many rows at once as there are groups
      if (!(some >> round & ((1u << (kWarp / kGroup)) - 1))) continue;
      const u32 owner = round + lane / kGroup;
      const Part<Sum> brief = of_lane(part, owner);
      const u32 end = some >> owner & 1 ? brief.end : brief.begin;
      add_entries<kGroup>(rows.columns, table, brief.begin + lane % kGroup, end, brief.value);
    }
    __syncthreads();  // all long rows are listed
    u32 piece = warp;  // the pieces of all long rows go round by warp
    for (u32 t = 0; t < n_longs[0]; t++) {
      const Part<Sum> row = part_of<Sum>(rows, longs[t], k0, k1);
      const u32 pieces = (row.end - row.begin + kPiece - 1) / kPiece;
      for (; piece < pieces; piece += warps) {
        const u32 at = row.begin + piece * kPiece;
        add_entries<kWarp>(rows.columns, table, at + lane, row.end - at < kPiece ? row.end : at + kPiece,
                           row.value);
      }
      piece -= pieces;
    }
    __syncthreads();  // long rows are added
  }
}

// Set the counters of the neighbors of u in windows k0 .. k1 - 1 to 0. All threads of the block.
template <class Table>
__device__ __forceinline__ void drop_neighbors(const Rows& rows, const Table& table, u32 u, u32 k0, u32 k1) {
  const u32* const bounds = rows.bounds + u64(u) * rows.stride;
  for (u32 p = bounds[k0] + threadIdx.x; p < bounds[k1]; p += blockDim.x) table.drop(rows.columns[p]);
}
