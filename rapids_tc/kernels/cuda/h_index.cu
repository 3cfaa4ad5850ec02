// h_index.cu - H-INDEX (Pandey, Li, Buluc, Xu and Liu, HPEC'19): a warp an edge (u, v). The shorter of
// N+(u) below v and N+(v) is hashed into buckets in shared memory, each id of the longer is looked up.
//
// - Interleaved buckets: the i-th ids of all buckets lie side by side, so that lanes that look at the
//   i-th id of different buckets meet different banks.
// - The lists need no order: it only helps where a bucket is full. Then what did not fit is found by
//   binary search in the list itself, so nothing is lost.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, kWarp of them a ticket. width = buckets,
// a power of two; depth = ids of a bucket kept. Dynamic shared memory: width * (1 + depth) words a warp,
// owned by its lanes. Probes: look-ups.
//
// Written: out, by the visitor's atomics; in shared memory the buckets' sizes by atomicAdd, whose
// result gives each id its place.
#include "device.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "h-index counts totals");

constexpr u32 kThreads = 256;

// The ids common to few, hashed, and many, by one warp. The sizes of the buckets are zero before and
// after.
__device__ __forceinline__ u32 intersect(const u32* few, u32 n_few, const u32* many, u32 n_many, u32* sizes,
                                         u32 buckets, u32 depth) {
  const u32 lane = threadIdx.x % kWarp;
  u32* const ids = sizes + buckets;     // the i-th of bucket b at [i * buckets + b]
  for (u32 i = lane; i < n_few; i += kWarp) {
    const u32 bucket = few[i] & (buckets - 1), place = atomicAdd(sizes + bucket, 1u);
    if (place < depth) ids[place * buckets + bucket] = few[i];
  }
  __syncwarp();                         // the table is whole
  u32 hits = 0;
  for (u32 i = lane; i < n_many; i += kWarp) {
    RTC_PROBE(1);
    const u32 id = many[i], bucket = id & (buckets - 1), size = sizes[bucket], kept = size < depth ? size : depth;
    u32 place = 0;
    while (place < kept && ids[place * buckets + bucket] != id) place++;
    hits += place < kept || (size > depth && find(few, n_few, id) != kNone);
  }
  __syncwarp();                         // all look-ups are done
  for (u32 i = lane; i < buckets; i += kWarp) sizes[i] = 0;
  __syncwarp();                         // the sizes are zero
  return hits;
}

extern "C" __global__ void __launch_bounds__(kThreads) h_index(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  const u32 lane = threadIdx.x % kWarp;
  u32* const table = memory + threadIdx.x / kWarp * width * (1 + depth);
  for (u32 i = lane; i < width; i += kWarp) table[i] = 0;
  __syncwarp();                         // the sizes are zero
  RTC_VISIT visit(out);
  for (;;) {
    const u32 item = first + warp_ticket(ticket) * kWarp;
    if (item >= last) break;
    const u64 mine = item + lane < last ? in_edges[item + lane] : 0;
    const u32 my_start = u32(mine >> 32), my_length = u32(mine);
    u32 my_row = 0, my_row_length = 0;
    if (my_length) {                    // each lane fetches the other list of its own edge
      const u32 v = columns[my_start + my_length];
      my_row = u32(offsets[v]);
      my_row_length = u32(offsets[v + 1]) - my_row;
    }
    u32 left = __ballot_sync(kFullMask, my_length && my_row_length), hits = 0;
    for (; left; left &= left - 1) {    // the warp takes those edges in turn
      const int owner = __ffs(int(left)) - 1;
      const u32 *const a = columns + __shfl_sync(kFullMask, my_start, owner);
      const u32 *const b = columns + __shfl_sync(kFullMask, my_row, owner);
      const u32 n_a = __shfl_sync(kFullMask, my_length, owner), n_b = __shfl_sync(kFullMask, my_row_length, owner);
      hits += n_a <= n_b ? intersect(a, n_a, b, n_b, table, width, depth) : intersect(b, n_b, a, n_a, table, width, depth);
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
