// blocks.cu - from the blocks of a graph, or a range of its middle vertices, to the in-edges that
// bitmap.cu reads. See rapids_tc/scale/blocks.py for what a block is: a Csr whose row numbers and
// columns are local ids. In the order in which they run:
//
//   whole graph:  pack_middles twice: to count and to write; then prepare.cu's
//   block uv:     pack_rows, (a sort), prepare.cu's find_in_edges
//   uv and uw:    describe_rows
//
// A thread owns an element and writes what belongs to it.
#include "device.cuh"

constexpr u32 kThreads = 256;         // of every block
constexpr u32 kEach = 8;              // edges a thread of pack_rows

__device__ __forceinline__ u64 element() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// The edges whose column v is one of first .. last - 1, at position p: v << 32 | p. In no order that could
// be relied on; count: how many.
extern "C" __global__ void __launch_bounds__(kThreads)
pack_middles(const u32* columns, u64 m, u32 first, u32 last, u32 room, u32* count, u64* packed) {
  const u64 p = element();
  const u32 v = p < m ? columns[p] : 0, listed = p < m && v >= first && v < last;
  const u32 at = reserve(count, listed);
  if (listed && at < room) packed[at] = u64(v) << 32 | p;
}

// An edge in row r and its column v: v << 32 | r. Sorted, they group by v. A block finds the rows of its
// kThreads * kEach edges first, so that its threads search few.
extern "C" __global__ void __launch_bounds__(kThreads)
pack_rows(const i64* offsets, const u32* columns, u64 n, u64 m, u64* packed) {
  RTC_SHARED(u64, rows, 2);   // one past the row of the block's first edge, and of its last
  const u64 begin = u64(blockIdx.x) * kThreads * kEach;
  const u64 end = begin + kThreads * kEach < m ? begin + kThreads * kEach : m;
  if (threadIdx.x % kWarp == 0 && threadIdx.x / kWarp < 2)
    rows[threadIdx.x / kWarp] = lower_bound(offsets, n + 1, i64(threadIdx.x ? end : begin + 1));
  __syncthreads();            // the range of rows is known
  for (u64 p = begin + threadIdx.x; p < end; p += blockDim.x) {
    const u64 past = rows[0] + lower_bound(offsets + rows[0], rows[1] - rows[0], i64(p + 1));
    packed[p] = u64(columns[p]) << 32 | (past - 1);
  }
}

// For each v << 32 | r of uv: where u's row begins in uw, which stands at `at` in the columns, << 32 | its
// entries below v. Row r of uv is row r + to_row of uw; below v is below v + shift there, which is v's row
// in vw too: its probes are the sum of those lengths.
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
