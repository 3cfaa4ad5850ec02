// polak.cu - Polak ("Counting triangles in large graphs on GPU", IPDPSW'16): a thread takes an edge (u, v),
// and merges N+(u) and N+(v) with two pointers.
//
// The paper's points: neighbouring threads draw edges that share a list (v's in this kernel, so that a warp
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
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "polak counts totals");

constexpr u32 kThreads = 256;

// Count the ids in both of two ascending lists of at least one id.
__device__ __forceinline__ u32 merge(const u32* a, const u32* a_end, const u32* b, const u32* b_end) {
  u32 hits = 0, x = __ldg(a), y = __ldg(b);
  for (;;) {
    RTC_PROBE(1);
    const bool move_a = x <= y, move_b = y <= x;
    hits += move_a && move_b;
    a += move_a;
    b += move_b;
    if (a == a_end || b == b_end) return hits;
    if (move_a) x = __ldg(a);
    if (move_b) y = __ldg(b);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) polak(RTC_METHOD_ARGS) {
  RTC_VISIT visit(out);
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
