// blocks.cu - makes the in-edges that bitmap.cu reads, from the blocks of a graph, or from a range of its
// pivot vertices. A block is a Csr whose row numbers and columns are local ids: see
// rapids_tc/blocks/grid.py. In the order in which the kernels run:
//
//   raw rows:      split_rows, to count and to write; then prepare.cu's, from keys
//   whole graph:   pack_middles, to count and to write; then prepare.cu's
//   block uv:      pack_rows, (a sort), prepare.cu's find_in_edges
//   uw and vw:     write_codes
//   uv and uw:     describe_rows
//   edge counts:   unpack_counts, sum_counts, sum_wide_counts
//   edge values:   locate_packed
//
// A thread owns an element and writes the element's results, unless a kernel says otherwise.
#include "block.cuh"
#include "device.cuh"

// Write the rows of a frame, ends in numbers, to the blocks of their edges: the key row << 32 | column of
// each row that is no loop and lies in one of the blocks first .. last - 1 of n x n. Rows with an end of
// `numbers` or more are skipped; if `numbers` is 0, the ends are ranks. free[i] is the index of the next key of
// block i: a block of threads reserves the places of all its keys of block i by one atomic, so that the order
// of keys is undefined. Keys past room are only counted. Dynamic shared memory: 3 words per block of the graph.
extern "C" __global__ void __launch_bounds__(kThreads)
split_rows(const u32* src, const u32* dst, u64 size, const u32* rank, u64 numbers, u32 n, u32 first, u32 last,
           u64 room, u64* free, u64* keys) {
  RTC_DYNAMIC_SHARED(u64, at);                       // index of the first key of each block
  u32* const found = reinterpret_cast<u32*>(at + (last - first));
  for (u32 i = threadIdx.x; i < last - first; i += kThreads) found[i] = 0;
  __syncthreads();            // the counts are zero
  u64 key[kTileEach];
  u32 block[kTileEach], place[kTileEach];
#pragma unroll
  for (u32 t = 0; t < kTileEach; t++) {
    const u64 p = u64(blockIdx.x) * kTile + t * kThreads + threadIdx.x;
    block[t] = kNone;
    if (p >= size) continue;
    const u32 source = src[p], destination = dst[p];
    if (numbers && (source >= numbers || destination >= numbers))
      continue;   // the ends may be written meanwhile
    const u32 a = numbers ? rank[source] : source, b = numbers ? rank[destination] : destination;
    const u32 u = a > b ? a : b, v = a > b ? b : a;
    const u32 i = u % n, j = v % n, number = i * n + j;
    if (u == v || number < first || number >= last) continue;
    block[t] = number - first;
    key[t] = u64(u / n + (i > j)) << 32 | v / n;
    place[t] = atomicAdd(found + block[t], 1u);
  }
  __syncthreads();            // the keys of all blocks are counted
  for (u32 i = threadIdx.x; i < last - first; i += kThreads)
    at[i] = found[i] ? atomicAdd(free + first + i, u64(found[i])) : 0;
  __syncthreads();            // and their places are reserved
#pragma unroll
  for (u32 t = 0; t < kTileEach; t++)
    if (block[t] != kNone && at[block[t]] + place[t] < room) keys[at[block[t]] + place[t]] = key[t];
}

// Pack the edges whose column v is one of first .. last - 1, at position p: v << 32 | p. They are in no
// order to be relied on; count is their number.
extern "C" __global__ void __launch_bounds__(kThreads)
pack_middles(const u32* columns, u64 m, u32 first, u32 last, u32 room, u32* count, u64* packed) {
  const u64 p = element();
  const u32 v = p < m ? columns[p] : 0, listed = p < m && v >= first && v < last;
  const u32 at = reserve(count, listed);
  if (listed && at < room) packed[at] = u64(v) << 32 | p;
}

// Pack an edge in row r, of column v: v << 32 | r. Sorting groups these by v.
extern "C" __global__ void __launch_bounds__(kThreads)
pack_rows(const i64* offsets, const u32* columns, u64 n, u64 m, u64* packed) {
  RTC_SHARED(u64, rows, 2);
  const EdgeTile tile(offsets, n, m, rows);
  for (u64 p = tile.begin + threadIdx.x; p < tile.end; p += kThreads)
    packed[p] = u64(columns[p]) << 32 | tile.row(p);
}

// Write bitmap.cu's codes of columns in a map of `bits` bits, kTileEach per thread.
extern "C" __global__ void __launch_bounds__(kThreads)
write_codes(const u32* columns, u64 m, u32 bits, u16* codes) {
#pragma unroll
  for (u32 t = 0; t < kTileEach; t++) {
    const u64 p = u64(blockIdx.x) * kTile + t * kThreads + threadIdx.x;
    if (p < m) codes[p] = u16(code_of(columns[p], bits));
  }
}

// For each v << 32 | r of uv, write the in-edge: start of u's row << 32 | its entries below v. uw begins at
// position `at` of the columns. Row r of uv is row r + to_row of uw; below v means below v + shift in uw,
// and v + shift is also v's row in vw, whose probes are the sum of these lengths.
extern "C" __global__ void __launch_bounds__(kThreads)
describe_rows(const u64* packed, u64 m, const i64* offsets, const u32* columns, i64 to_row, u32 shift, u32 at,
              u64* in_edges, u64* probes) {
  const u64 i = element(), edge = i < m ? packed[i] : ~0ull;
  const u32 v = u32(edge >> 32) + shift;
  const i64 row = i64(u32(edge)) + to_row;
  u32 start = 0, length = 0;
  if (i < m && row >= 0) {    // the row before the first is empty
    start = u32(offsets[row]);
    length = lower_bound(columns + start, u32(offsets[row + 1]) - start, v);
  }
  if (i < m) in_edges[i] = u64(at + start) << 32 | length;
  add_by_run(probes, v, u64(length));
}

// The position in the columns of uv of the edge v << 32 | r.
__device__ __forceinline__ u64 position_of(u64 packed, const i64* offsets, const u32* columns) {
  const u64 start = u64(offsets[u32(packed)]), end = u64(offsets[u32(packed) + 1]);
  return start + lower_bound(columns + start, u32(end - start), u32(packed >> 32));
}

// Write counts[i] to the position in the columns of uv of the edge packed[i].
extern "C" __global__ void __launch_bounds__(kThreads)
unpack_counts(const u64* packed, u64 m, const i64* offsets, const u32* columns, const u32* counts,
              u32* by_edge) {
  const u64 i = element();
  if (i < m) by_edge[position_of(packed[i], offsets, columns)] = counts[i];
}

// Write the position in the columns of uv of the edge packed[i].
extern "C" __global__ void __launch_bounds__(kThreads)
locate_packed(const u64* packed, u64 m, const i64* offsets, const u32* columns, u32* positions) {
  const u64 i = element();
  if (i < m) positions[i] = u32(position_of(packed[i], offsets, columns));
}

// Sum edge counts by row and by column, with one atomic per run of the same row in a warp.
template <class Count>
__device__ __forceinline__ void sum_at_ends(const i64* offsets, const u32* columns, u64 n, u64 m,
                                            const Count* counts, u64* by_row, u64* by_column, u64* rows) {
  const EdgeTile tile(offsets, n, m, rows);
  for (u64 p = tile.begin + threadIdx.x; p < tile.begin + kTile; p += kThreads) {
    const u64 count = p < tile.end ? u64(counts[p]) : 0;
    add_by_run(by_row, p < tile.end ? tile.row(p) : kNone, count);
    if (count) atomicAdd(by_column + columns[p], count);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
sum_counts(const i64* offsets, const u32* columns, u64 n, u64 m, const u32* counts, u64* by_row,
           u64* by_column) {
  RTC_SHARED(u64, rows, 2);
  sum_at_ends(offsets, columns, n, m, counts, by_row, by_column, rows);
}

extern "C" __global__ void __launch_bounds__(kThreads)
sum_wide_counts(const i64* offsets, const u32* columns, u64 n, u64 m, const i64* counts, u64* by_row,
                u64* by_column) {
  RTC_SHARED(u64, rows, 2);
  sum_at_ends(offsets, columns, n, m, counts, by_row, by_column, rows);
}
