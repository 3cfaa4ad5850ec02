// trust.cu - TRUST (Pandey et al., TPDS 2021): for every vertex u, N+(u) becomes a hash table in shared
// memory, in which every id of every N+(v), v in N+(u), is looked up. Work: the sum over v of |N+(v)| times
// the in-edges of v.
//
// - Interleaved buckets: see hash.cuh.
// - Degree classes: trust_wide takes a block per vertex, trust_narrow a warp.
// - Virtual combination: the lists N+(v) are one long list, whose ids the threads take in turn, so that all
//   have the same work however the lengths differ.
//
// Input: any oriented Csr. Item = tasks[i] = u, kNarrowChunk of them per ticket in trust_narrow. width =
// buckets, a power of two; depth = entries that a bucket keeps. Dynamic shared memory: a table of
// width * (1 + depth) words per block, or per warp in trust_narrow. Probes: look-ups.
//
// Written: out, by the visitor's atomics; in shared memory the sizes of the buckets by atomicAdd, whose
// result gives each entry its owner.
#include "device.cuh"
#include "hash.cuh"
#include "visit.cuh"

constexpr u32 kWideThreads = 1024;
constexpr u32 kNarrowThreads = 256, kNarrowBlocksPerSm = 6;
constexpr u32 kNarrowChunk = 4;       // vertices per ticket

// Build, probe and clear the table of u by `threads` threads, of which this is number `thread`. All of them
// meet in barrier(). The sizes are zero before and after.
template <class Barrier>
__device__ __forceinline__ void count_at(const Graph& g, u32 u, u32* memory, u32 buckets, u32 depth,
                                         u32 thread, u32 threads, Barrier barrier, RTC_VISIT& visit) {
  const u32 start = u32(g.offsets[u]), lists = u32(g.offsets[u + 1]) - start;
  const HashTable table{memory, buckets, depth, g.columns + start, lists};
  for (u32 i = thread; i < lists; i += threads) table.insert(table.ids[i]);
  barrier();                            // the table is whole
  u32 at = thread, hits = 0;            // in list i, or past its end
  for (u32 i = 0; i < lists; i++) {
    const u32 v = table.ids[i], begin = u32(g.offsets[v]), length = u32(g.offsets[v + 1]) - begin;
    for (; at < length; at += threads) {
      RTC_PROBE(1);
      const u32 id = g.columns[begin + at];
      if (!table.contains(id)) continue;
      hits++;
      if (RTC_VISIT::kSides) {
        visit.side(start + find(table.ids, lists, id));
        visit.side(begin + at);
      }
    }
    visit.edge(start + i, hits);
    hits = 0;
    at -= length;
  }
  barrier();                            // all probes are done
  for (u32 i = thread; i < buckets; i += threads) table.sizes[i] = 0;
  barrier();                            // the sizes are zero
}

extern "C" __global__ void __launch_bounds__(kWideThreads) trust_wide(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_SHARED(u32, drawn, 1);
  for (u32 i = threadIdx.x; i < width; i += blockDim.x) memory[i] = 0;
  RTC_VISIT visit(out);
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();                    // the ticket is there, and the sizes are zero
    const u32 item = first + drawn[0];
    if (item >= last) break;
    const auto barrier = [] { __syncthreads(); };
    count_at(RTC_GRAPH, tasks[item], memory, width, depth, threadIdx.x, blockDim.x, barrier, visit);
  }
  visit.finish();
}

extern "C" __global__ void __launch_bounds__(kNarrowThreads, kNarrowBlocksPerSm)
trust_narrow(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  const u32 lane = threadIdx.x % kWarp;
  u32* const table = memory + threadIdx.x / kWarp * HashTable::words(width, depth);
  for (u32 i = lane; i < width; i += kWarp) table[i] = 0;
  __syncwarp();                         // the sizes are zero
  RTC_VISIT visit(out);
  for (;;) {
    const u32 item = first + warp_ticket(ticket) * kNarrowChunk;
    if (item >= last) break;
    const auto barrier = [] { __syncwarp(); };
    for (u32 i = item; i < last && i < item + kNarrowChunk; i++)
      count_at(RTC_GRAPH, tasks[i], table, width, depth, lane, kWarp, barrier, visit);
  }
  visit.finish();
}
