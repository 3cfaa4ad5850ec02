// bisson.cu - Bisson and Fatica ("Static graph challenge on GPU", HPEC'17): every vertex u sets N+(u) in a
// bitmap in global memory, with a bit per vertex of the graph, and every id of every N+(v), v in N+(u), is
// a test of one bit. The mean degree of the graph decides whether a block, a warp or a thread takes a
// vertex.
//
// - The row that set the bitmap clears it, word by word, so that the work follows the row.
// - A coarse filter in shared memory, with a bit per kSpan ids, spares most tests that would miss.
// - Bitmaps of all vertices for all threads would fit no memory, and the rows of threads are short: so
//   bisson_thread keeps ids modulo 64 in a register, and confirms hits in the row.
//
// Input: any oriented Csr. Item = tasks[i] = u with two or more neighbors. width = words of a bitmap,
// depth = words of a filter; bisson_thread uses neither. scratch: zeros, left zero, width words per block,
// or per warp in bisson_warp. Dynamic shared memory: depth words per block, or per warp in bisson_warp.
// Both maps are set by atomicOr, and each word is cleared by its owner: in the bitmap the thread of the
// word's first id, in the filter thread i of word i, modulo the number of threads. Probes: ids tested, all
// of N+(v) except for the first v of a row, below which the row has no id.
//
// Written: out, by the visitor's atomics.
#include "device.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "bisson counts totals");

constexpr u32 kSpan = 2048;             // ids that share a bit of the filter

struct Maps {
  u32 *bits, *filter;
  u32 depth;
};

__device__ __forceinline__ bool has(const Maps& m, u32 id) {
  const u32 span = id / kSpan;
  return (m.filter[span / 32 % m.depth] >> span % 32 & 1) && (m.bits[id / 32] >> id % 32 & 1);
}

// Set, test and clear the maps of u by `threads` threads, of which this is number `thread`: each warp takes
// a list, each lane an id of the list. All of them meet in barrier(). Returns this thread's hits.
template <class Barrier>
__device__ __forceinline__ u32 count_at(const Graph& g, u32 u, const Maps& m, u32 thread, u32 threads,
                                        Barrier barrier) {
  const u32* const row = g.columns + g.offsets[u];
  const u32 lists = u32(g.offsets[u + 1] - g.offsets[u]);
  for (u32 i = thread; i < lists; i += threads) {
    atomicOr(m.bits + row[i] / 32, 1u << row[i] % 32);
    atomicOr(m.filter + row[i] / kSpan / 32 % m.depth, 1u << row[i] / kSpan % 32);
  }
  barrier();                            // the maps are whole
  u32 hits = 0;
  for (u32 i = 1 + thread / kWarp; i < lists; i += threads / kWarp) {
    const u32* const list = g.columns + g.offsets[row[i]];
    const u32 length = u32(g.offsets[row[i] + 1] - g.offsets[row[i]]);
    for (u32 k = thread % kWarp; k < length; k += kWarp) {
      RTC_PROBE(1);
      hits += has(m, list[k]);
    }
  }
  barrier();                            // all tests are done
  for (u32 i = thread; i < lists; i += threads)
    if (i == 0 || row[i - 1] / 32 != row[i] / 32) m.bits[row[i] / 32] = 0;
  for (u32 i = thread; i < m.depth; i += threads) m.filter[i] = 0;
  barrier();                            // the maps are zero
  return hits;
}

extern "C" __global__ void __launch_bounds__(kThreads) bisson_block(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, filter);
  RTC_SHARED(u32, drawn, 1);
  const Maps maps{scratch + u64(blockIdx.x) * width, filter, depth};
  for (u32 i = threadIdx.x; i < depth; i += kThreads) filter[i] = 0;
  RTC_VISIT visit(input);
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();                    // the ticket is there, and the maps are zero
    const u32 item = first + drawn[0];
    if (item >= last) break;
    visit.edge(kNone, count_at(RTC_GRAPH, tasks[item], maps, threadIdx.x, kThreads, [] { __syncthreads(); }));
  }
  visit.finish();
}

extern "C" __global__ void __launch_bounds__(kThreads) bisson_warp(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, filters);
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const u64 map = u64(blockIdx.x) * (kThreads / kWarp) + warp;
  const Maps maps{scratch + map * width, filters + warp * depth, depth};
  for (u32 i = lane; i < depth; i += kWarp) maps.filter[i] = 0;
  __syncwarp();                         // the filter is zero
  RTC_VISIT visit(input);
  for (;;) {
    const u32 item = first + warp_ticket(ticket);
    if (item >= last) break;
    visit.edge(kNone, count_at(RTC_GRAPH, tasks[item], maps, lane, kWarp, [] { __syncwarp(); }));
  }
  visit.finish();
}

extern "C" __global__ void __launch_bounds__(kThreads) bisson_thread(RTC_METHOD_ARGS) {
  RTC_VISIT visit(input);
  for (;;) {
    const u32 drawn = first + warp_ticket(ticket) * kWarp, item = drawn + threadIdx.x % kWarp;
    if (drawn >= last) break;
    if (item >= last) continue;
    const u32* const row = columns + offsets[tasks[item]];
    const u32 lists = u32(offsets[tasks[item] + 1] - offsets[tasks[item]]);
    u64 map = 0;
    for (u32 i = 0; i < lists; i++) map |= 1ull << row[i] % 64;
    u32 hits = 0;
    for (u32 i = 1; i < lists; i++) {
      const i64 end = offsets[row[i] + 1];
      for (i64 k = offsets[row[i]]; k < end; k++) {
        RTC_PROBE(1);
        hits += (map >> columns[k] % 64 & 1) && find(row, i, columns[k]) != kNone;
      }
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
