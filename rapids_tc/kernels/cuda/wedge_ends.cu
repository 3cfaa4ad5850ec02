// wedge_ends.cu - search the ends of the wedges of vertices: for those that are most like a vertex (similar.cuh), or
// for pairs with enough neighbors in common (common_pairs.cuh). RTC_SEARCH names which.
//
// A block adds all wedges u - v - w of a vertex u up by w (counters.cuh, middles.cuh), and then looks at all w.
// Dense tables are as large as shared memory, and a block walks the wedges once for each window of ranks that fits;
// if u has few wedges, a hash table holds all of their ends.
#include "common_pairs.cuh"
#include "counters.cuh"
#include "middles.cuh"
#include "similar.cuh"

typedef RTC_SEARCH::Sum Sum;
typedef Dense<Sum>::Table Table;

constexpr u32 kMostDense = 1024, kMostHashed = 256;  // threads of a block

// The vertices that are searched: asked[order[i]] of i from first to last - 1, those with most wedges first.
struct Asked {
  const u32 *asked, *order;
  const i64* work;  // of asked[i]: the wedges that begin there
  u32 first, last;
  u32* ticket;
};

// What a block shares, beside its table.
template <u32 kMost>
struct Shared {
  RTC_SEARCH::Found<kMost> found;
  u32 longs[kMost], n_longs, drawn;
};

// Draw vertices, and call each(search, i) for the search of asked[i]. All threads of the block.
template <u32 kMost, class Each>
__device__ __forceinline__ void
search_all(const Middles& rows, const Asked& asked, const RTC_SEARCH::Query& query, Shared<kMost>& shared,
           const Each& each) {
  if (threadIdx.x == 0) shared.found.clear();
  draw_tasks(asked.first, asked.last, asked.ticket, &shared.drawn, [&](u32 drawn) {
    const u32 i = asked.order[drawn];
    RTC_SEARCH search(rows, query, i, asked.asked[i]);
    if (search.wanted()) each(search, i);  // the same in all threads
    __syncthreads();  // all ends were looked at, and the drawn number was read
    if (search.wanted()) search.finish(shared.found);
  });
}

// Add the wedges of some windows up, and look at their ends. All threads of the block.
template <u32 kMost, class Table>
__device__ __forceinline__ void search_windows(const Middles& rows, RTC_SEARCH& search, const Table& table,
                                               u32 k0, u32 k1, Shared<kMost>& shared) {
  add_wedges(rows, table, search.u, k0, k1, shared.longs, &shared.n_longs);
  if (search.apart()) {
    __syncthreads();  // all wedges are added
    drop_neighbors(rows, table, search.u, k0, k1);
  }
  __syncthreads();  // the counters are final
  table.take([&](bool there, u32 w, Sum common) { search.end(there, w, common, shared.found); });
  __syncthreads();  // all counters are zero
}

// The counters of each of the windows fit in a table of `words` words.
extern "C" __global__ void __launch_bounds__(kMostDense)
search_dense(Middles rows, Asked asked, RTC_SEARCH::Query query, const u32* cuts, Packing packing,
             u32 words) {
  RTC_DYNAMIC_SHARED(Sum, table);
  RTC_SHARED(Shared<kMostDense>, shared, 1);
  for (u32 t = threadIdx.x; t < words; t += blockDim.x) table[t] = 0;
  search_all(rows, asked, query, shared[0], [&](RTC_SEARCH& search, u32) {
    for (u32 k = 0; k < rows.windows(); k++)
      search_windows(rows, search, Table(table, packing, cuts[k], cuts[k + 1]), k, k + 1, shared[0]);
  });
}

template <u32 kMost>
__device__ __forceinline__ void search_slots(const Middles& rows, const Asked& asked,
                                             const RTC_SEARCH::Query& query, u32 slots, Sum* memory) {
  RTC_SHARED(Shared<kMost>, shared, 1);
  clear_slots(memory, slots);
  search_all(rows, asked, query, shared[0], [&](RTC_SEARCH& search, u32 i) {
    const Hashed<Sum> table(memory, slots, slots_log2(u64(asked.work[i])));
    search_windows(rows, search, table, 0, rows.windows(), shared[0]);
  });
}

extern "C" __global__ void __launch_bounds__(kMostHashed)
search_hashed(Middles rows, Asked asked, RTC_SEARCH::Query query, u32 slots) {
  RTC_DYNAMIC_SHARED(Sum, memory);
  search_slots<kMostHashed>(rows, asked, query, slots, memory);
}

// The same by one warp.
extern "C" __global__ void __launch_bounds__(kWarp)
search_brief(Middles rows, Asked asked, RTC_SEARCH::Query query, u32 slots) {
  RTC_DYNAMIC_SHARED(Sum, memory);
  search_slots<kWarp>(rows, asked, query, slots, memory);
}
