// wedges.cu - count the squares of the graph, of its vertices, or of its edges, by wedges: engines/wedges.py.
//
// A block takes a task: a vertex u, and windows of the ends w of its wedges. Squares whose opposite vertices are u
// and w need no other task. Counters are a table or, if wedges are few, a hash table: counters.cuh.
// RTC_SQUARES names what is done with the squares that are found, which says whether wedges are walked twice. All
// sums are of integers, so that any order of atomics gives the same.
#include "counters.cuh"
#include "wedges.cuh"

constexpr u32 kTableThreads = 1024, kHalfThreads = 512, kFewThreads = 256;  // of a block
constexpr u32 kTableBlocks = 1, kHalfBlocks = 2;  // per multiprocessor

// Add what each thread has to a sum, once per warp.
__device__ __forceinline__ void add_warp(u64* sum, u64 value) {
  const u64 all = warp_sum(value);
  if (threadIdx.x % kWarp == 0 && all) atomicAdd(sum, all);
}

// Squares of the graph alone. Other structs have the same functions:
//   end(w, squares)          a thread has found squares whose vertex opposite to u is w
//   start(u, squares)        all that a thread has found of a task; all lanes of the warp
//   wedge(entry, squares)    a wedge whose end is at this position of a row, and its squares
//   middle(entry, v, squares)  all squares of wedges by way of v, which is at this position of row u
struct OfGraph {
  static constexpr bool kTwice = false;
  u64* total;

  __device__ __forceinline__ void end(u32, u64) const {}
  __device__ __forceinline__ void start(u32, u64) const {}
  __device__ __forceinline__ void wedge(u32, u32) const {}
  __device__ __forceinline__ void middle(u32, u32, u64) const {}
};

struct OfVertices {
  static constexpr bool kTwice = true;
  u64 *total, *sums;

  __device__ __forceinline__ void end(u32 w, u64 squares) const { atomicAdd(sums + w, squares); }
  __device__ __forceinline__ void start(u32 u, u64 squares) const { add_warp(sums + u, squares); }
  __device__ __forceinline__ void wedge(u32, u32) const {}
  __device__ __forceinline__ void middle(u32, u32 v, u64 squares) const { atomicAdd(sums + v, squares); }
};

// An edge has an entry in the row of each of its ends.
template <class Count>
struct OfEntries {
  static constexpr bool kTwice = true;
  u64* total;
  Count* entries;

  __device__ __forceinline__ void end(u32, u64) const {}
  __device__ __forceinline__ void start(u32, u64) const {}
  __device__ __forceinline__ void wedge(u32 entry, u32 squares) const {
    if (squares) atomicAdd(entries + entry, Count(squares));
  }
  __device__ __forceinline__ void middle(u32 entry, u32, u64 squares) const {
    atomicAdd(entries + entry, Count(squares));
  }
};

// What a block shares, beside its counters.
template <u32 kMost>
struct Shared {
  u32 longs[kMost], n_longs, drawn;
};

// Count the squares of a task; each thread returns a part. The counters are clear before, and after a barrier.
template <u32 kMost, class Counters>
__device__ __forceinline__ u64 count_task(const WedgeRows& g, const Task& task, const Counters& counters,
                                          const RTC_SQUARES& squares, Shared<kMost>& shared) {
  task.walk<false>(
      g, shared.longs, &shared.n_longs,
      [&](u32 w, u32) -> u64 {
        RTC_PROBE(1);
        counters.add(w, 1);
        return 0;
      },
      [](u32, u32, u64) {});
  __syncthreads();  // all wedges are counted
  u64 found = 0;
  counters.repeated(!RTC_SQUARES::kTwice, [&](u32 w, u32 wedges) {
    const u64 of_w = u64(wedges) * (wedges - 1) / 2;
    found += of_w;
    squares.end(w, of_w);
  });
  if constexpr (RTC_SQUARES::kTwice) {
    squares.start(task.u, found);
    task.walk<true>(
        g, shared.longs, &shared.n_longs,
        [&](u32 w, u32 entry) -> u64 {
          const u32 others = counters.count(w) - 1;
          squares.wedge(entry, others);
          return others;
        },
        [&](u32 entry, u32 v, u64 of_v) { squares.middle(entry, v, of_v); });
    __syncthreads();  // all counters were read
    counters.clear();
  }
  return found;
}

// Tasks first .. last - 1, which blocks draw from the ticket, the heaviest first.
struct Drawn {
  const u32* tasks;
  u32 first, last;
  u32* ticket;
};
#define RTC_DRAWN_ARGS const u32 *tasks, u32 first, u32 last, u32 *ticket
#define RTC_DRAWN \
  Drawn { tasks, first, last, ticket }

// tasks[3 * i ..]: a vertex, its first window and the one behind its last; the words of these fit `words`.
template <u32 kMost>
__device__ __forceinline__ void count_tables(const WedgeRows& g, const Packing& packing, const Drawn& drawn,
                                             u32 words, const RTC_SQUARES& squares, u32* table) {
  RTC_SHARED(Shared<kMost>, shared, 1);
  for (u32 t = threadIdx.x; t < words; t += blockDim.x) table[t] = 0;
  u64 found = 0;
  draw_tasks(drawn.first, drawn.last, drawn.ticket, &shared[0].drawn, [&](u32 i) {
    const u32* const item = drawn.tasks + 3 * u64(i);
    const Task task{item[0], item[1], item[2]};
    const Packed counters(table, packing, g.cuts[task.first], g.cuts[task.last]);
    found += count_task(g, task, counters, squares, shared[0]);
  });
  add_warp(squares.total, found);
}

extern "C" __global__ void __launch_bounds__(kTableThreads, kTableBlocks)
count_whole(WedgeRows g, Packing packing, RTC_DRAWN_ARGS, u32 words, RTC_SQUARES squares) {
  RTC_DYNAMIC_SHARED(u32, table);
  count_tables<kTableThreads>(g, packing, RTC_DRAWN, words, squares, table);
}

// The same, of tables of which a multiprocessor holds two.
extern "C" __global__ void __launch_bounds__(kHalfThreads, kHalfBlocks)
count_half(WedgeRows g, Packing packing, RTC_DRAWN_ARGS, u32 words, RTC_SQUARES squares) {
  RTC_DYNAMIC_SHARED(u32, table);
  count_tables<kHalfThreads>(g, packing, RTC_DRAWN, words, squares, table);
}

// The same, of a small graph.
extern "C" __global__ void __launch_bounds__(kFewThreads)
count_small(WedgeRows g, Packing packing, RTC_DRAWN_ARGS, u32 words, RTC_SQUARES squares) {
  RTC_DYNAMIC_SHARED(u32, table);
  count_tables<kFewThreads>(g, packing, RTC_DRAWN, words, squares, table);
}

// tasks[2 * i ..]: a vertex, all of whose wedges are counted, and the log2 of the slots that it uses of all.
template <u32 kMost>
__device__ __forceinline__ void
count_slots(const WedgeRows& g, const Drawn& drawn, u32 slots, const RTC_SQUARES& squares, u32* memory) {
  RTC_SHARED(Shared<kMost>, shared, 1);
  clear_slots(memory, slots);
  u64 found = 0;
  draw_tasks(drawn.first, drawn.last, drawn.ticket, &shared[0].drawn, [&](u32 i) {
    const u32* const item = drawn.tasks + 2 * u64(i);
    const Hashed<u32> counters(memory, slots, item[1]);
    found += count_task(g, Task{item[0], 0, g.windows}, counters, squares, shared[0]);
  });
  add_warp(squares.total, found);
}

extern "C" __global__ void __launch_bounds__(kFewThreads)
count_hashed(WedgeRows g, RTC_DRAWN_ARGS, u32 slots, RTC_SQUARES squares) {
  RTC_DYNAMIC_SHARED(u32, memory);
  count_slots<kFewThreads>(g, RTC_DRAWN, slots, squares, memory);
}

// The same by one warp.
extern "C" __global__ void __launch_bounds__(kWarp)
count_brief(WedgeRows g, RTC_DRAWN_ARGS, u32 slots, RTC_SQUARES squares) {
  RTC_DYNAMIC_SHARED(u32, memory);
  count_slots<kWarp>(g, RTC_DRAWN, slots, squares, memory);
}
