// wedges.cu - count the squares of the graph, of its vertices, or of its edges, by wedges: engines/wedges.py.
//
// A block takes a task: a vertex u, and windows of the ends w of its wedges. Squares whose opposite vertices are u
// and w need no other task. Counters are a table (count_tables) or, if wedges are few, a hash table (count_hashed).
// Options: RTC_VERTEX or RTC_EDGE, for which wedges are walked twice; RTC_COUNT, the type of entries; and those of
// wedges.cuh. All sums are of integers, so that any order of atomics gives the same.
#include "counters.cuh"
#include "wedges.cuh"

#ifdef RTC_VERTEX
constexpr bool kVertex = true;
#else
constexpr bool kVertex = false;
#endif
#ifdef RTC_EDGE
constexpr bool kEdge = true;
#else
constexpr bool kEdge = false;
#endif
constexpr bool kTwice = kVertex || kEdge;
#ifndef RTC_COUNT
#define RTC_COUNT u64
#endif
typedef RTC_COUNT Count;

struct Sums {
  u64* total;
  u64* vertex;
  Count* entries;  // of all rows: an edge has one in the row of each end
};

// Add what each thread has to a sum, once per warp.
__device__ __forceinline__ void add_warp(u64* sum, u64 value) {
  const u64 all = warp_sum(value);
  if (threadIdx.x % kWarp == 0 && all) atomicAdd(sum, all);
}

// Count the squares of a task; each thread returns a part. The counters are clear before, and after a barrier.
template <class Counters>
__device__ __forceinline__ u64 count_task(const WedgeRows& g, const Task& task, const Counters& counters,
                                          const Sums& sums, u32* longs, u32* n_longs) {
  walk<false>(
      g, task, longs, n_longs,
      [&](u32 w, u32) -> u64 {
        RTC_PROBE(1);
        counters.add(w);
        return 0;
      },
      [](u32, u32, u64) {});
  __syncthreads();  // all wedges are counted
  u64 found = 0;
  counters.each(!kTwice, [&](u32 w, u64 squares) {
    found += squares;
    if (kVertex) atomicAdd(sums.vertex + w, squares);
  });
  if constexpr (kTwice) {
    if (kVertex) add_warp(sums.vertex + task.u, found);
    walk<true>(
        g, task, longs, n_longs,
        [&](u32 w, u32 entry) -> u64 {
          const u32 others = counters.count(w) - 1;
          if (kEdge && others) atomicAdd(sums.entries + entry, Count(others));
          return others;
        },
        [&](u32 entry, u32 v, u64 of_v) {
          if (kVertex) atomicAdd(sums.vertex + v, of_v);
          if (kEdge) atomicAdd(sums.entries + entry, Count(of_v));
        });
    __syncthreads();  // all counters were read
    counters.clear();
  }
  return found;
}

// tasks[3 * i ..]: a vertex, its first window and the one behind its last; the words of these fit `words`.
extern "C" __global__ void __launch_bounds__(kMost, kTogether)
count_tables(WedgeRows g, Packing packing, const u32* tasks, u32 first, u32 last, u32 words, u32* ticket,
             Sums sums) {
  RTC_DYNAMIC_SHARED(u32, table);
  RTC_SHARED(u32, longs, kMost);
  RTC_SHARED(u32, n_longs, 1);
  RTC_SHARED(u32, drawn, 1);
  for (u32 t = threadIdx.x; t < words; t += blockDim.x) table[t] = 0;
  u64 found = 0;
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = first + RTC_TICKET(ticket);
    __syncthreads();  // the task is drawn, and the table is clear
    if (drawn[0] >= last) break;
    const u32* const item = tasks + 3 * u64(drawn[0]);
    const Task task{item[0], item[1], item[2]};
    const u32 low = packing.place(g.cuts[task.first]).word;
    const TableCounters counters{packing, table, low, packing.place(g.cuts[task.last]).word - low};
    found += count_task(g, task, counters, sums, longs, n_longs);
  }
  add_warp(sums.total, found);
}

// tasks[2 * i ..]: a vertex, all of whose wedges are counted, and the log2 of the slots that it uses of all.
extern "C" __global__ void __launch_bounds__(kMost, kTogether)
count_hashed(WedgeRows g, const u32* tasks, u32 first, u32 last, u32 slots, u32* ticket, Sums sums) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_SHARED(u32, longs, kMost);
  RTC_SHARED(u32, n_longs, 1);
  RTC_SHARED(u32, drawn, 1);
  for (u32 t = threadIdx.x; t < slots; t += blockDim.x) memory[t] = kNone, memory[slots + t] = 0;
  u64 found = 0;
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = first + RTC_TICKET(ticket);
    __syncthreads();  // the task is drawn, and the table is clear
    if (drawn[0] >= last) break;
    const u32* const item = tasks + 2 * u64(drawn[0]);
    const HashCounters counters{memory, memory + slots, item[1]};
    found += count_task(g, {item[0], 0, g.windows}, counters, sums, longs, n_longs);
  }
  add_warp(sums.total, found);
}
