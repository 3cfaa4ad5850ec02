// green.cu - Green, Yalamanchili and Munguia ("Fast triangle counting on the GPU", IA3'14): several threads
// take an edge (u, v). The merge of N+(u) below v and N+(v) is cut in equal parts; each thread finds the
// beginning of its part by binary search on a diagonal, and merges it.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, kWarp of them per ticket. width = threads
// per edge, a power of two up to kWarp; depth is unused. No shared memory: lanes exchange values by
// shuffles. Probes: steps of the merges, each an id of either list, up to the end of the list that ends
// first.
//
// Written: out, by the visitor's atomics.
#include "device.cuh"
#include "in_edge.cuh"
#include "merge_path.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "green counts totals");

extern "C" __global__ void __launch_bounds__(kThreads) green(RTC_METHOD_ARGS) {
  const u32 lane = threadIdx.x % kWarp, part = lane & (width - 1), groups = kWarp / width;
  RTC_VISIT visit(input);
  for (;;) {
    const u32 item = first + warp_ticket(ticket) * kWarp;
    if (item >= last) break;
    const InEdge mine = in_edge(RTC_GRAPH, item + lane < last ? in_edges[item + lane] : 0);
    u32 hits = 0;
    for (u32 round = 0; round < kWarp; round += groups) {   // an edge for each group of width threads
      const u32 owner = round + lane / width;
      const u32* const a = columns + __shfl_sync(kFullMask, mine.start, owner);
      const u32* const b = columns + __shfl_sync(kFullMask, mine.row, owner);
      const u32 n_a = __shfl_sync(kFullMask, mine.below, owner),
                n_b = __shfl_sync(kFullMask, mine.length, owner);
      hits += merge_part(a, n_a, b, n_b, part, width);
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
