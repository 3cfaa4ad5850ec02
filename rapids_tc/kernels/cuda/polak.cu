// polak.cu - Polak ("Counting triangles in large graphs on GPU", IPDPSW'16): a thread an edge (u, v),
// which merges N+(u) and N+(v) with two pointers.
//
// The paper's points: edges are drawn in an order in which neighbouring threads share a list (here v,
// so that N+(v) is read once a warp); an edge's two ends take one load; lists are read through the
// read-only cache; a step reloads only the side that moved, and both ids stay in registers.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, kWarp of them a ticket. N+(u) is merged
// up to v, past which N+(v) has nothing. Probes: steps, one for each different id of the two lists up
// to the end of the one that ends first.
//
// Written: out, by the visitor's atomics. Nothing is shared, so there is no barrier.
#include "device.cuh"
#include "in_edge.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "polak counts totals");

constexpr u32 kThreads = 256;

// The ids in both of two ascending lists of at least one id.
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
