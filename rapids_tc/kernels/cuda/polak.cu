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
    const u64 edge = item < last ? in_edges[item] : 0;
    const u32 start = u32(edge >> 32), length = u32(edge);
    if (length == 0) continue;           // v is the first of N+(u)
    const u32 v = columns[start + length];
    const i64 row = offsets[v], row_end = offsets[v + 1];
    if (row == row_end) continue;
    visit.edge(start + length, merge(columns + start, columns + start + length, columns + row, columns + row_end));
  }
  visit.finish();
}
