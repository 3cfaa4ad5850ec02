// middles.cuh - the lists of all wedges u - v - w of one vertex u: engines/wedge_ends.py.
//
// Rows are all neighbors of every rank, ascending. bounds[v * stride + k] is the first position of row v whose
// entry is cuts[k] or more; the last cut is behind all ranks. So the entries of a window of ranks are found
// without a search.
#pragma once
#include "lists.cuh"

constexpr u32 kLongFrom = 1024;  // entries from which all warps of a block share a list

struct Middles {
  const i64* __restrict__ offsets;
  const u32* __restrict__ columns;
  const u32* __restrict__ bounds;
  const i64* __restrict__ values;  // what a middle adds, by rank; null if it counts one
  u32 stride, most_degree;

  __device__ __forceinline__ u32 degree(u32 v) const { return u32(offsets[v + 1] - offsets[v]); }
  __device__ __forceinline__ u32 windows() const { return stride - 1; }

  // The entries of the row of neighbor p in windows k0 .. k1 - 1, and what each adds; none if v has too many.
  template <class Sum>
  __device__ __forceinline__ List<Sum> list(u32 p, u32 k0, u32 k1) const {
    const u32 v = columns[p];
    const u32* const at = bounds + u64(v) * stride;
    if (at[stride - 1] - at[0] > most_degree) return {0, 0, 0};
    return {at[k0], at[k1], values ? Sum(values[v]) : Sum(1)};
  }
};

// Add the wedges of u to a table that holds the ranks of windows k0 .. k1 - 1. All threads of the block; `longs`
// has a shared word per thread, n_longs is one. All are added behind the next barrier.
template <class Table>
__device__ __forceinline__ void
add_wedges(const Middles& rows, const Table& table, u32 u, u32 k0, u32 k1, u32* longs, u32* n_longs) {
  typedef typename Table::Sum Sum;
  walk_lists<false>(
      rows.columns, u32(rows.offsets[u]), u32(rows.offsets[u + 1]), kLongFrom,
      [&](u32 p) { return rows.list<Sum>(p, k0, k1); }, longs, n_longs,
      [&](u32 w, u32, Sum value) -> u64 {
        table.add(w, value);
        return 0;
      },
      [](u32, Sum, u64) {});
}

// Set the counters of the neighbors of u in windows k0 .. k1 - 1 to 0. All threads of the block.
template <class Table>
__device__ __forceinline__ void
drop_neighbors(const Middles& rows, const Table& table, u32 u, u32 k0, u32 k1) {
  const u32* const bounds = rows.bounds + u64(u) * rows.stride;
  for (u32 p = bounds[k0] + threadIdx.x; p < bounds[k1]; p += blockDim.x) table.drop(rows.columns[p]);
}
