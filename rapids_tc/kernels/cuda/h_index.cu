// h_index.cu - H-INDEX (Pandey, Li, Buluc, Xu and Liu, HPEC'19): a warp takes an edge (u, v). The shorter
// of N+(u) below v and N+(v) is hashed into buckets in shared memory, and each id of the longer is looked
// up.
//
// - Interleaved buckets: see hash.cuh.
// - The order of the lists only matters if a bucket is full.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, kWarp of them per ticket. width = buckets, a
// power of two; depth = ids that a bucket keeps. Dynamic shared memory: width * (1 + depth) words per warp,
// used by the lanes of the warp alone. Probes: look-ups.
//
// Written: out, by the visitor's atomics; in shared memory the buckets' sizes by atomicAdd, whose
// result gives each id its place.
#include "device.cuh"
#include "hash.cuh"
#include "in_edge.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "h-index counts totals");

// Count the common ids of few, which is hashed, and many, by one warp. The sizes of the buckets are zero
// before and after.
__device__ __forceinline__ u32 intersect(const HashTable& few, const u32* many, u32 n_many) {
  const u32 lane = threadIdx.x % kWarp;
  for (u32 i = lane; i < few.n; i += kWarp) few.insert(few.ids[i]);
  __syncwarp();                         // the table is whole
  u32 hits = 0;
  for (u32 i = lane; i < n_many; i += kWarp) {
    RTC_PROBE(1);
    hits += few.contains(many[i]);
  }
  __syncwarp();                         // all look-ups are done
  for (u32 i = lane; i < few.buckets; i += kWarp) few.sizes[i] = 0;
  __syncwarp();                         // the sizes are zero
  return hits;
}

extern "C" __global__ void __launch_bounds__(kThreads) h_index(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  const Graph g = RTC_GRAPH;
  const u32 lane = threadIdx.x % kWarp;
  u32* const table = memory + threadIdx.x / kWarp * HashTable::words(width, depth);
  for (u32 i = lane; i < width; i += kWarp) table[i] = 0;
  __syncwarp();                         // the sizes are zero
  RTC_VISIT visit(input);
  for (;;) {
    const u32 item = first + warp_ticket(ticket) * kWarp;
    if (item >= last) break;
    const InEdge mine = in_edge(g, item + lane < last ? in_edges[item + lane] : 0);
    u32 left = __ballot_sync(kFullMask, mine.length), hits = 0;
    for (; left; left &= left - 1) {    // the warp takes the lanes' edges in turn
      const int owner = __ffs(int(left)) - 1;
      const u32* const a = columns + __shfl_sync(kFullMask, mine.start, owner);
      const u32* const b = columns + __shfl_sync(kFullMask, mine.row, owner);
      const u32 n_a = __shfl_sync(kFullMask, mine.below, owner),
                n_b = __shfl_sync(kFullMask, mine.length, owner);
      hits += n_a <= n_b ? intersect({table, width, depth, a, n_a}, b, n_b)
                         : intersect({table, width, depth, b, n_b}, a, n_a);
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
