// hu.cu - Hu, Guan and Zou ("Triangle counting on GPU using fine-grained task distribution", ICDEW'19): a
// block takes a vertex u. The lists N+(v), v in N+(u), are one long row of two-hop neighbors; the threads
// of the block walk the row in fixed strides, whatever list they are in, and search N+(u) for each id.
//
// - The first width ids of N+(u) are kept in shared memory; a longer row is searched in two parts.
// - A thread steps from list to list by itself, so a block has no barrier until its row is done.
// - The search takes the same number of steps for every id of a row, so that a warp does not diverge.
//
// Input: any oriented Csr. Item = tasks[i] = u with two or more neighbors. width = ids that are kept;
// depth is unused. Dynamic shared memory: width words; thread i modulo kThreads writes word i. Probes:
// comparisons, floor(log2(|N+(u)|)) + 1 per id if all of N+(u) is kept.
//
// Written: out, by the visitor's atomics.
#include "device.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "hu counts totals");

// Return whether id is in the ascending list a[0 .. n), in as many steps as n has bits.
__device__ __forceinline__ bool contains(const u32* a, u32 n, u32 id) {
  u32 past = 0;                         // a[past - 1] <= id
  for (u32 step = n ? 1u << (31 - __clz(int(n))) : 0; step; step /= 2) {
    RTC_PROBE(1);
    if (past + step <= n && a[past + step - 1] <= id) past += step;
  }
  return past && a[past - 1] == id;
}

extern "C" __global__ void __launch_bounds__(kThreads) hu(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, kept);
  RTC_SHARED(u32, drawn, 1);
  RTC_VISIT visit(input);
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();                    // the ticket is there, and everyone is done with kept
    const u32 item = first + drawn[0];
    if (item >= last) break;
    const u32* const row = columns + offsets[tasks[item]];
    const u32 lists = u32(offsets[tasks[item] + 1] - offsets[tasks[item]]),
              n_kept = lists < width ? lists : width;
    for (u32 i = threadIdx.x; i < n_kept; i += kThreads) kept[i] = row[i];
    __syncthreads();                    // the row is kept
    u32 at = threadIdx.x, hits = 0;     // in list i, or past its end
    for (u32 i = 0; i < lists; i++) {
      const u32 v = i < n_kept ? kept[i] : row[i];
      const u32* const list = columns + offsets[v];
      const u32 length = u32(offsets[v + 1] - offsets[v]);
      for (; at < length; at += kThreads) {
        const u32 id = list[at];
        const bool early = n_kept == lists || id <= kept[n_kept - 1];
        hits += early ? contains(kept, n_kept, id) : contains(row + n_kept, lists - n_kept, id);
      }
      at -= length;
    }
    visit.edge(kNone, hits);
  }
  visit.finish();
}
