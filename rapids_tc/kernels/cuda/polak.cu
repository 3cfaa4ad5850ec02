// polak.cu - Polak ("Counting triangles in large graphs on GPU", IPDPSW'16): a thread takes an edge (u, v),
// and merges N+(u) and N+(v) with two pointers.
//
// The paper's points: neighboring threads draw edges that share a list (v's in this kernel, so that a warp
// reads N+(v) once); one load gives both ends of an edge; lists are read through the read-only cache; a
// step reloads only the side that moved, and both ids stay in registers.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, kWarp of them per ticket. width and depth
// are unused. N+(u) is merged up to v, past which N+(v) has no ids. Probes: steps, one per different id of
// the two lists up to the end of the list that ends first.
//
// Written: out, by the visitor's atomics. No shared memory, and no barrier.
#include "device.cuh"
#include "in_edge.cuh"
#include "merge.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "polak counts totals");

extern "C" __global__ void __launch_bounds__(kThreads) polak(RTC_METHOD_ARGS) {
  RTC_VISIT visit(input);
  for (;;) {
    const u32 drawn = first + warp_ticket(ticket) * kWarp, item = drawn + threadIdx.x % kWarp;
    if (drawn >= last) break;
    const InEdge e = in_edge(RTC_GRAPH, item < last ? in_edges[item] : 0);
    if (e.length == 0) continue;
    const u32 *const a = columns + e.start, *const b = columns + e.row;
    visit.edge(kNone, merge(a, a + e.below, b, b + e.length));
  }
  visit.finish();
}
