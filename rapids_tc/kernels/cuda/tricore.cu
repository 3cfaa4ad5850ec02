// tricore.cu - TriCore (Hu, Liu and Huang, SC'18): a warp takes an edge (u, v). The longer of N+(u) below v
// and N+(v) is searched for each id of the shorter by binary search; the top levels of the search tree,
// which every search visits, are kept in shared memory.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, kWarp of them per ticket: the in-edges of
// one v lie together, so the tree of N+(v) often serves the next edge, too. width = nodes of the tree that
// a warp keeps; depth is unused. Dynamic shared memory: width words per warp, used by the lanes of the warp
// alone. Probes: ids searched for.
//
// Written: out, by the visitor's atomics.
#include "device.cuh"
#include "in_edge.cuh"
#include "visit.cuh"

constexpr u32 kBlocksPerSm = 6;

// The index in a list of node i of the tree that is kept.
__device__ __forceinline__ u32 node(u32 i, u32 length, u32 width) { return u32(u64(i) * length / width); }

extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerSm) tricore(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  const u32 lane = threadIdx.x % kWarp;
  u32* const tree = memory + threadIdx.x / kWarp * width;
  u32 in_tree = 0, in_tree_length = 0;   // the list whose nodes are kept
  RTC_VISIT visit(input);
  for (;;) {
    const u32 item = first + warp_ticket(ticket) * kWarp;
    if (item >= last) break;
    const InEdge mine = in_edge(RTC_GRAPH, item + lane < last ? in_edges[item + lane] : 0);
    u32 left = __ballot_sync(kFullMask, mine.length);
    for (; left; left &= left - 1) {     // the warp takes the lanes' edges in turn
      const int owner = __ffs(int(left)) - 1;
      u32 few = __shfl_sync(kFullMask, mine.start, owner);
      u32 few_length = __shfl_sync(kFullMask, mine.below, owner);
      u32 many = __shfl_sync(kFullMask, mine.row, owner);
      u32 many_length = __shfl_sync(kFullMask, mine.length, owner);
      const u32 edge = few + few_length;
      if (few_length > many_length) {
        const u32 start = few, length = few_length;
        few = many, few_length = many_length;
        many = start, many_length = length;
      }
      if (in_tree != many || in_tree_length != many_length) {   // prefixes of one row differ in length
        __syncwarp();                    // the last searches are done
        for (u32 i = lane; i < width; i += kWarp) tree[i] = columns[many + node(i, many_length, width)];
        __syncwarp();                    // the tree is whole
        in_tree = many, in_tree_length = many_length;
      }
      u32 hits = 0;
      for (u32 i = lane; i < few_length; i += kWarp) {
        RTC_PROBE(1);
        const u32 id = columns[few + i], past = lower_bound(tree, width, id + 1);   // tree[past - 1] <= id
        if (past == 0) continue;
        const u32 begin = node(past - 1, many_length, width), end = node(past, many_length, width);
        const u32 index = find(columns + many + begin, end - begin, id);
        if (index == kNone) continue;
        hits++;
        if (RTC_VISIT::kSides) {
          visit.side(few + i);
          visit.side(many + begin + index);
        }
      }
      visit.list(edge, hits, kWarp);
    }
  }
  visit.finish();
}
