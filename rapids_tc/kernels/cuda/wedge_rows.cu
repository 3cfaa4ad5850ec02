// wedge_rows.cu - what squares are counted from, and the squares of edges from those of entries:
// engines/wedges.py. The higher neighbors of u are its edges in the CSC of the graph, from in_offsets[u] on, and
// row u of all neighbors begins at offsets[u] + in_offsets[u].
#include "block.cuh"

// Write the edges to the rows of both ends, and the place of each behind its lower end, from the CSC: the higher
// end of every edge, and its position in the columns of the graph.
extern "C" __global__ void __launch_bounds__(kThreads)
join_rows(const i64* offsets, const i64* in_offsets, const u32* in_rows, const u32* positions, u64 n, u64 m,
          u32* columns, u32* places) {
  RTC_SHARED(u64, rows, 2);
  const EdgeTile tile(in_offsets, n, m, rows);
  for (u64 i = tile.begin + threadIdx.x; i < tile.end; i += kThreads) {
    const u32 u = tile.row(i), v = in_rows[i];
    const u64 entry = positions[i] + u64(in_offsets[v]);
    columns[entry] = u;
    columns[i + u64(offsets[u + 1])] = v;
    places[i] = u32(entry) + 1;
  }
}

// For every row of n, the position of its first entry not below each of the cuts; where it ends, if there is none.
extern "C" __global__ void __launch_bounds__(kThreads)
find_bounds(const i64* offsets, const u32* columns, const u32* cuts, u32 n_cuts, u64 n, u32* bounds) {
  const u64 i = element();
  if (i >= n * n_cuts) return;
  const u64 v = i / n_cuts;
  const u32 begin = u32(offsets[v]), length = u32(offsets[v + 1]) - begin;
  bounds[i] = begin + lower_bound(columns + begin, length, cuts[i % n_cuts]);
}

// Count the wedges of every vertex. A row is walked up to its end in `ends`.
extern "C" __global__ void __launch_bounds__(kThreads)
count_wedges(const i64* offsets, const i64* in_offsets, const u32* columns, const u32* places,
             const u32* ends, u64 n, u64 m, u64* wedges) {
  RTC_SHARED(u64, rows, 2);
  const EdgeTile tile(in_offsets, n, m, rows);
  for (u64 i = tile.begin + threadIdx.x; i < tile.begin + kTile; i += kThreads) {
    u32 u = kNone, end = 0;
    if (i < tile.end) {
      u = tile.row(i);
      end = ends[columns[i + u64(offsets[u + 1])]];
    }
    add_by_run(wedges, u, i < tile.end && end > places[i] ? end - places[i] : 0);
  }
}

// counts[i]: the wedges of asked[i] by way of middles that have no more neighbors than most_degree, a warp each.
// Rows are all neighbors.
extern "C" __global__ void __launch_bounds__(kThreads)
wedge_counts(const i64* offsets, const u32* columns, const u32* asked, u64 size, u32 most_degree,
             i64* counts) {
  const u64 i = element() / kWarp;
  i64 sum = 0;
  if (i < size) {
    const u32 u = asked[i];
    for (i64 p = offsets[u] + threadIdx.x % kWarp; p < offsets[u + 1]; p += kWarp) {
      const u32 v = columns[p], degree = u32(offsets[v + 1] - offsets[v]);
      if (degree <= most_degree) sum += degree - 1;
    }
  }
  sum = warp_sum(sum);
  if (i < size && threadIdx.x % kWarp == 0) counts[i] = sum;
}

// Add what the two entries of every edge have.
template <class Count>
__device__ __forceinline__ void
add_at_edges(const i64* offsets, const i64* in_offsets, const u32* columns, const u32* places, u64 n, u64 m,
             const Count* entries, u64* sums, u64* rows) {
  const EdgeTile tile(in_offsets, n, m, rows);
  for (u64 i = tile.begin + threadIdx.x; i < tile.end; i += kThreads) {
    const u64 entry = i + u64(offsets[tile.row(i) + 1]), other = places[i] - 1;
    sums[other - u64(in_offsets[columns[entry]])] = u64(entries[entry]) + entries[other];
  }
}

#define RTC_ENTRIES_ARGS \
  const i64 *offsets, const i64 *in_offsets, const u32 *columns, const u32 *places, u64 n, u64 m

extern "C" __global__ void __launch_bounds__(kThreads)
add_entries(RTC_ENTRIES_ARGS, const u32* entries, u64* sums) {
  RTC_SHARED(u64, rows, 2);
  add_at_edges(offsets, in_offsets, columns, places, n, m, entries, sums, rows);
}

extern "C" __global__ void __launch_bounds__(kThreads)
add_wide_entries(RTC_ENTRIES_ARGS, const u64* entries, u64* sums) {
  RTC_SHARED(u64, rows, 2);
  add_at_edges(offsets, in_offsets, columns, places, n, m, entries, sums, rows);
}
