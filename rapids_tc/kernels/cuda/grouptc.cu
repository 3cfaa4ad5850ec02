// grouptc.cu - GroupTC (Li, Xu, Pham, Tu and Zhou, "A comparative study of intersection-based triangle
// counting algorithms on GPUs", IPDPS'24): a block takes a chunk of consecutive edges, joins the lists that
// it must look up end to end, and deals them to its threads id by id.
//
// - Edge chunks: many short lists or one long list make the same work for each thread.
// - Partial lists: only the ids of N+(u) below v, the other end, can close a triangle.
// - Side choice: the ids of the shorter list are searched for in the longer.
// - Remembered offset: a thread's next id of the same edge is larger, so its binary search starts where the
//   search before ended.
//
// Input: any oriented Csr and its in-edges. Item = an in-edge, width of them per ticket, at most kThreads:
// each thread unpacks one. depth is unused. Dynamic shared memory: 4 * width words; thread i owns entry i
// of each of the four arrays until the barrier, and all threads read them afterwards. Probes: ids that
// threads are dealt, and the idle threads of a chunk's last round.
//
// Written: out, by the visitor's atomics.
#include "device.cuh"
#include "in_edge.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "grouptc counts totals");

// The edges of a chunk: the ids of few are searched for in many. Both are positions in columns.
struct Chunk {
  u32 *few, *many, *many_length;
  u32* ends;                            // where each of the few lists ends, laid end to end
};

// Unpack edge i of the chunk; returns the length of its few list.
__device__ __forceinline__ u32 unpack(const Graph& g, u64 edge, const Chunk& c, u32 i) {
  const InEdge e = in_edge(g, edge);
  const bool turn = e.below > e.length;
  c.few[i] = turn ? e.row : e.start;
  c.many[i] = turn ? e.start : e.row;
  c.many_length[i] = turn ? e.below : e.length;
  return turn ? e.length : e.below;
}

extern "C" __global__ void __launch_bounds__(kThreads) grouptc(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_SHARED(u32, drawn, 1);
  RTC_SHARED(u32, sums, kWarps);
  const Graph g = RTC_GRAPH;
  const Chunk c{memory, memory + width, memory + 2 * width, memory + 3 * width};
  const u32 i = threadIdx.x;
  RTC_VISIT visit(input);
  for (;;) {
    if (i == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();                    // the ticket is there, and everyone is done with the last chunk
    const u32 begin = first + drawn[0] * width;
    if (begin >= last) break;
    const u32 few = i < width ? unpack(g, begin + i < last ? in_edges[begin + i] : 0, c, i) : 0;
    u32 all;                            // ids of the few lists
    const u32 before = block_scan<kWarps>(few, sums, all);
    if (i < width) c.ends[i] = before + few;
    __syncthreads();                    // the chunk is unpacked
    u32 edge = 0, from = 0, hits = 0;   // this thread's edge, and the end of its last search in many
    for (u32 at = i; at < (all + kThreads - 1) / kThreads * kThreads; at += kThreads) {
      RTC_PROBE(1);
      if (at >= all) break;
      while (c.ends[edge] <= at) edge++, from = 0;
      const u32 begin_edge = edge ? c.ends[edge - 1] : 0, length = c.many_length[edge];
      const u32 id = g.columns[c.few[edge] + at - begin_edge];
      const u32* const many = g.columns + c.many[edge];
      from += lower_bound(many + from, length - from, id);
      hits += from < length && many[from] == id;
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
