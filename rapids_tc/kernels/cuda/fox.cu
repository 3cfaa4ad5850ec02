// fox.cu - Fox, Green, Gabert, An and Bader ("Fast and adaptive list intersections on the GPU",
// HPEC'18): edges are binned by an estimate of their work, and each of the six bins has its own number
// of threads per edge, from one to a warp, so that neighboring threads have similar work.
//
// - fox_bin lists the in-edges of a bin: its estimated steps are least to most, and neither list is
//   empty. It runs twice per bin, to count and to write.
// - fox intersects the two lists of an edge, of a and b ids, in the way of fewer estimated steps. A merge
//   takes a + b; its path is cut in equal parts for the threads (merge_path.cuh). A binary search of each
//   id of the shorter list in the longer takes min(a, b) times the bits of max(a, b).
//
// Input of fox_bin: any oriented Csr and its m in-edges; offsets and columns alone are read of the Csr.
// Input of fox: the same. Item = tasks[i] = number of an in-edge, kWarp / width of them per ticket. width =
// threads per edge, a power of two up to kWarp; depth is unused. No shared memory. Probes: the steps of
// merges, each id of either list up to the end of the list that ends first, and the ids searched for.
//
// Written: by fox_bin items and count, each place reserved by an atomic; by fox out, by the visitor's
// atomics.
#include "device.cuh"
#include "in_edge.cuh"
#include "merge_path.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "fox counts totals");

// The two lists of an edge: few has no more ids than many.
struct Lists {
  const u32 *few, *many;
  u32 n_few, n_many;
};

__device__ __forceinline__ Lists lists(const Graph& g, u64 edge) {
  const InEdge e = in_edge(g, edge);
  const u32 *const a = g.columns + e.start, *const b = g.columns + e.row;
  return e.below <= e.length ? Lists{a, b, e.below, e.length} : Lists{b, a, e.length, e.below};
}

struct Work { u64 merge, search; };

__device__ __forceinline__ Work estimate(const Lists& l) {
  return {u64(l.n_few) + l.n_many, u64(l.n_few) * (32 - __clz(int(l.n_many)))};
}

// List the in-edges whose estimated steps are least to most, in no order to be relied on; count them. With
// room for fewer, only count. As list_rows in prepare.cu.
extern "C" __global__ void __launch_bounds__(kThreads)
fox_bin(const i64* offsets, const u32* columns, const u64* in_edges, u32 m, u32 least, u32 most, u32 room,
        u32* count, u32* items) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  bool listed = false;
  if (i < m) {
    const Lists l = lists(Graph{offsets, columns, nullptr, in_edges, nullptr}, in_edges[i]);
    const Work work = estimate(l);
    const u64 steps = work.merge < work.search ? work.merge : work.search;
    listed = l.n_few && steps >= least && steps <= most;
  }
  const u32 at = reserve(count, listed);
  if (listed && at < room) items[at] = i;
}

extern "C" __global__ void __launch_bounds__(kThreads) fox(RTC_METHOD_ARGS) {
  const u32 lane = threadIdx.x % kWarp, part = lane & (width - 1);
  RTC_VISIT visit(input);
  for (;;) {
    const u32 drawn = first + warp_ticket(ticket) * (kWarp / width), item = drawn + lane / width;
    if (drawn >= last) break;
    if (item >= last) continue;
    const Lists l = lists(RTC_GRAPH, in_edges[tasks[item]]);
    const Work work = estimate(l);
    u32 hits = 0;
    if (work.merge <= work.search) {
      hits = merge_part(l.few, l.n_few, l.many, l.n_many, part, width);
    } else {
      for (u32 i = part; i < l.n_few; i += width) {
        RTC_PROBE(1);
        hits += find(l.many, l.n_many, l.few[i]) != kNone;
      }
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
