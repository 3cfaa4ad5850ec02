// prepare.cu - makes the arrays that kernels read besides a CSR, one short kernel per step. In the order in
// which the kernels run:
//
//   raw rows -> degrees: count_ends, count_present
//   CSR -> in-edges:     row_words; group.cu or pack_in_edges, (a sort), find_in_edges, describe_in_edges
//   CSR -> bitmap.cu:    heavy_tasks and light_tasks twice: to count and to write
//   CSR -> trust.cu, hu.cu, bisson.cu: list_rows twice
//
// A thread owns an element and writes the element's results, unless a kernel says otherwise. A kernel whose
// result has a size that the host cannot know runs without room first, to count.
#include "block.cuh"
#include "device.cuh"
#include "row_words.cuh"

constexpr u64 kLeastLists = 64;       // lists of a piece of a vertex: setting up costs more than fewer do

// ------------------------------------------------------------------------------- raw rows
// Add to degree how often each number occurs among the ends, and to outside how many ends lie past degree:
// the ends may be the user's memory, which another stream may write.
extern "C" __global__ void __launch_bounds__(kThreads)
count_ends(const u32* ends, u64 n_ends, u32* degree, u64 size, u32* outside) {
  const u64 i = element();
  if (i >= n_ends) return;
  const u32 end = ends[i];
  atomicAdd(end < size ? degree + end : outside, 1u);
}

// Add to count how many of n numbers have a degree, by one atomic per warp.
extern "C" __global__ void __launch_bounds__(kThreads) count_present(const u32* degree, u64 n, u32* count) {
  const u64 i = element();
  const u32 votes = __ballot_sync(kFullMask, i < n && degree[i]);
  if (threadIdx.x % kWarp == 0 && votes) atomicAdd(count, u32(__popc(votes)));
}

// ------------------------------------------------------------------------------- CSR -> in-edges
// Write the words of row_words.cuh, which are zeros: a thread has a row.
extern "C" __global__ void __launch_bounds__(kThreads) row_words(const i64* offsets, u64 n, u32* words) {
  const u64 row = element();
  if (row >= n) return;
  const u32 start = u32(offsets[row]), end = u32(offsets[row + 1]);
  if (start == end) return;
  atomicOr(words + 2 * u64(start / kWarp), 1u << start % kWarp);
  for (u64 i = start / kWarp + 1; kWarp * i < end; i++) words[2 * i + 1] = start;
}

// Pack an edge at position p, of column v: v << 32 | p. Sorting groups these by v.
extern "C" __global__ void __launch_bounds__(kThreads) pack_in_edges(const u32* columns, u64 m, u64* packed) {
  const u64 p = element();
  if (p < m) packed[p] = u64(columns[p]) << 32 | p;
}

// Find where the in-edges of each v begin among the sorted edges.
extern "C" __global__ void __launch_bounds__(kThreads)
find_in_edges(const u64* packed, u64 m, u64 n, u32* in_offsets) {
  const u64 v = element();
  if (v <= n) in_offsets[v] = u32(lower_bound(packed, m, v << 32));
}

// Turn the sorted v << 32 | p, in place, into start of p's row << 32 | entries before p. The probes of v
// are the sum of these numbers of entries.
extern "C" __global__ void __launch_bounds__(kThreads)
describe_in_edges(u64* packed, const u32* words, u64 m, u64* probes) {
  const u64 i = element(), edge = i < m ? packed[i] : ~0ull;
  const u32 p = u32(edge), start = i < m ? row_start(words, p) : 0;
  if (i < m) packed[i] = u64(start) << 32 | (p - start);
  add_by_run(probes, u32(edge >> 32), i < m ? p - start : 0);
}

// ------------------------------------------------------------------------------- work lists
// The cost of v in bitmap.cu: its probes, and list_cost more per list, as hubs have many lists of a few
// entries. It is 0 if no triangle has v in the middle.
__device__ __forceinline__ u64 cost_of(const i64* offsets, const u32* in_offsets, const u64* probes, u64 v,
                                       u64 list_cost) {
  const u64 work = offsets[v + 1] > offsets[v] ? probes[v] : 0;
  return work ? work + list_cost * (in_offsets[v + 1] - in_offsets[v]) : 0;
}

// List vertices that cost at least heavy_from, in pieces that cost about piece: bitmap_block's items, with
// lanes by the mean length of a list. They are in no order to be relied on; count is their number.
extern "C" __global__ void __launch_bounds__(kThreads)
heavy_tasks(const i64* offsets, const u32* in_offsets, const u64* probes, u64 n, u64 list_cost,
            u64 heavy_from, u64 piece, u32 room, u32* count, u32* tasks) {
  const u64 v = element(), cost = v < n ? cost_of(offsets, in_offsets, probes, v, list_cost) : 0;
  u64 begin = 0, end = 0, each = 1, mean = 0;
  if (cost && cost >= heavy_from) {
    begin = in_offsets[v];
    end = in_offsets[v + 1];
    mean = probes[v] / (end - begin) + 1;
    each = piece / (mean + list_cost) / kWarp * kWarp;
    if (each < kLeastLists) each = kLeastLists;
  }
  const u32 pieces = u32((end - begin + each - 1) / each), at = reserve(count, pieces);
  for (u32 i = 0; i < pieces && at + i < room; i++) {
    u32* const task = tasks + 4 * u64(at + i);
    task[0] = u32(v);
    task[1] = u32(begin + i * each);
    task[2] = u32(begin + (i + 1) * each < end ? begin + (i + 1) * each : end);
    task[3] = mean < 64 ? 3 : mean < 256 ? 4 : 5;
  }
}

// List the other vertices in runs that cost about `run`, with entry_cost more per entry of a row:
// bitmap_run's items. The kWarp vertices of a warp are cut where their running cost passes a multiple of
// `run`, and at vertices that cost at least heavy_from, which are in no run; a run neither begins nor ends
// with a vertex that costs nothing. They are in no order to be relied on; count is their number.
extern "C" __global__ void __launch_bounds__(kThreads)
light_tasks(const i64* offsets, const u32* in_offsets, const u64* probes, u64 n, u64 list_cost,
            u64 heavy_from, u64 entry_cost, u64 run, u32 room, u32* count, u32* tasks) {
  const u64 v = element(), cost = v < n ? cost_of(offsets, in_offsets, probes, v, list_cost) : 0;
  const u32 lane = threadIdx.x % kWarp;
  const bool heavy = cost && cost >= heavy_from, light = cost && !heavy;
  const u64 own = light ? cost + entry_cost * u64(offsets[v + 1] - offsets[v]) : 0;
  const u64 before = (warp_scan(own) - own) / run, last_before = __shfl_up_sync(kFullMask, before, 1);
  const bool after_heavy = __shfl_up_sync(kFullMask, heavy, 1);
  const u32 begins = __ballot_sync(kFullMask, lane == 0 || heavy || after_heavy || before != last_before);
  const u32 later = begins & ~((2u << lane) - 1), past = later ? later & (~later + 1) : 0;  // the next run
  const u32 mine = __ballot_sync(kFullMask, light) & (past - 1) & ~((1u << lane) - 1);
  const bool is_task = (begins >> lane & 1) && mine;
  const u32 at = reserve(count, is_task), first = __ffs(int(mine)) - 1;
  if (!is_task || at >= room) return;
  tasks[2 * u64(at)] = u32(v - lane + first);
  tasks[2 * u64(at) + 1] = kWarp - __clz(int(mine)) - first;
}

// List the rows of least to most entries, in no order to be relied on; count is their number.
extern "C" __global__ void __launch_bounds__(kThreads)
list_rows(const i64* offsets, u64 n, i64 least, i64 most, u32 room, u32* count, u32* rows) {
  const u64 row = element();
  const i64 length = row < n ? offsets[row + 1] - offsets[row] : -1;
  const u32 listed = length >= least && length <= most, at = reserve(count, listed);
  if (listed && at < room) rows[at] = u32(row);
}
