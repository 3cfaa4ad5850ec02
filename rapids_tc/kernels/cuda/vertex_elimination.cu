// vertex_elimination.cu - Low, Rao, Lee, Popovici, Franchetti and McMillan ("First look: linear
// algebra-based triangle counting without matrix multiplication", HPEC'17): a loop over vertices i that
// partitions the adjacency matrix at i,
//
//       ( A00  a01  A02 )        and adds    delta += a12' A20 a01,
//       ( a10   0   a12 )
//       ( A20  a21  A22 )        the edges between the neighbors after i and those before it.
//
// a01 is N+(i), and the rows of A20 that a12 picks are, for every u with i in N+(u), the entries of N+(u)
// below i. So a step is a sum of sparse dot products, one per row: no product matrix, nor even the vector
// A20 a01, is ever formed. A thread takes a row. a01 is kept in shared memory; all threads of a team read
// the same entry of a01, and each thread walks its own row up to that entry.
//
// Input: any oriented Csr, its in-edges and the tasks of bitmap.cu. elimination_block: item = tasks[4 j ..]
// = {i, first in-edge, one past the last, unused}, for a block. elimination_warp: item = tasks[2 j ..] =
// {first i, how many}, for a warp. width = entries of a01 that a team keeps; depth is unused. Dynamic
// shared memory: width words per team. Probes: entries of a01 that a thread reads before its row ends.
//
// Written: out, by the visitor's atomics; kept entry k by thread k modulo the team.
#include "device.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "vertex-elimination counts totals");

// The dot product of a row of A20 and a01, whose first n_kept entries are kept.
__device__ __forceinline__ u32 dot(const u32* row, const u32* row_end, const u32* kept, u32 n_kept,
                                   const u32* a01, u32 n) {
  u32 sum = 0;
  for (u32 k = 0; k < n && row != row_end; k++) {
    RTC_PROBE(1);
    const u32 w = k < n_kept ? kept[k] : a01[k];
    while (row != row_end && *row < w) row++;
    if (row != row_end && *row == w) sum++, row++;
  }
  return sum;
}

// This thread's part of a12' A20 a01 over the in-edges begin .. end - 1 of i, by a team of `threads`
// threads, of which this is number `thread`. All of them meet in barrier(), and are done with the vertex
// before.
template <class Barrier>
__device__ __forceinline__ u32 eliminate(const Graph& g, u32 i, u32 begin, u32 end, u32* kept, u32 width,
                                         u32 thread, u32 threads, Barrier barrier) {
  const u32* const a01 = g.columns + g.offsets[i];
  const u32 n = u32(g.offsets[i + 1] - g.offsets[i]), n_kept = n < width ? n : width;
  for (u32 k = thread; k < n_kept; k += threads) kept[k] = a01[k];
  barrier();                            // a01 is kept
  u32 sum = 0;
  for (u32 at = begin + thread; at < end; at += threads) {
    const u64 edge = g.in_edges[at];
    const u32* const row = g.columns + u32(edge >> 32);
    sum += dot(row, row + u32(edge), kept, n_kept, a01, n);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(kThreads) elimination_block(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, kept);
  RTC_SHARED(u32, drawn, 1);
  RTC_VISIT visit(input);
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();                    // the ticket is there, and everyone is done with the last vertex
    const u32 item = first + drawn[0];
    if (item >= last) break;
    const u32* const task = tasks + 4 * u64(item);
    visit.edge(kNone, eliminate(RTC_GRAPH, task[0], task[1], task[2], kept, width, threadIdx.x, kThreads,
                                [] { __syncthreads(); }));
  }
  visit.finish();
}

extern "C" __global__ void __launch_bounds__(kThreads) elimination_warp(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_VISIT visit(input);
  for (;;) {
    const u32 item = first + warp_ticket(ticket);
    if (item >= last) break;
    const u32 from = tasks[2 * u64(item)], to = from + tasks[2 * u64(item) + 1];
    for (u32 i = from; i < to; i++) {
      __syncwarp();                     // all lanes are done with the last vertex
      visit.edge(kNone, eliminate(RTC_GRAPH, i, in_offsets[i], in_offsets[i + 1],
                                  memory + threadIdx.x / kWarp * width, width, threadIdx.x % kWarp, kWarp,
                                  [] { __syncwarp(); }));
    }
  }
  visit.finish();
}
