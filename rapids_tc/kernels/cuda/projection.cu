// projection.cu - the pairs of vertices with enough neighbors in common: counted, or listed.
//
// A block adds all wedges u - v - w up by w (ends.cuh, middles.cuh), as in similar.cu. A pair belongs to its vertex
// of the lower place: its other end is w, of a higher place than u, with at least `at_least` wedges to it.
//
// Of vertex asked[i], work[i] wedges begin there. Without `ranks`, found[i] becomes its number of pairs. Else they
// are written from found[i] on, in any order: ranks, the other ends, and common, the wedges to each.
#include "block.cuh"
#include "ends.cuh"
#include "middles.cuh"

constexpr u32 kMostDense = 1024, kMostHashed = 256;  // threads of a block

struct Query {
  const u32 *asked, *tasks;
  const i64* work;
  const u32* places;
  u32 at_least;
  i64* found;
  u32* ranks;
  i64* common;
};

#define RTC_QUERY_ARGS                                                                                      \
  const u32 *asked, const u32 *tasks, u32 first, u32 last, u32 *ticket, const i64 *work, const u32 *places, \
      u32 at_least, i64 *found, u32 *ranks, i64 *common
#define RTC_QUERY \
  Query { asked, tasks, work, places, at_least, found, ranks, common }

// What a block shares: the pairs of its vertex that are found so far, and long rows of middles.
template <u32 kMost>
struct Shared {
  u64 pairs;
  u32 longs[kMost], n_longs, drawn;
};

// Count the pairs among the ends of a table, and list them if they are asked for. All lanes of the warp together.
template <class Table>
__device__ __forceinline__ void take_pairs(const Query& query, const Table& table, u32 i, u32 u, u64* pairs) {
  const u32 place = query.places[u], lane = threadIdx.x % kWarp;
  table.take([&](bool there, u32 w, u32 wedges) {
    const bool wanted = there && wedges >= query.at_least && query.places[w] > place;
    const u32 all = __ballot_sync(kFullMask, wanted);
    if (!all) return;
    u64 at = 0;
    if (lane == 0) at = atomicAdd(pairs, u64(__popc(all)));
    at = __shfl_sync(kFullMask, at, 0) + u32(__popc(all & ((1u << lane) - 1)));
    if (wanted && query.ranks) {
      query.ranks[query.found[i] + i64(at)] = w;
      query.common[query.found[i] + i64(at)] = wedges;
    }
  });
}

// Draw vertices, and call each(i, u) for asked[i], which is u. All threads of the block.
template <u32 kMost, class Each>
__device__ __forceinline__ void
find_pairs(const Query& query, u32 first, u32 last, u32* ticket, Shared<kMost>& shared, const Each& each) {
  for (;;) {
    if (threadIdx.x == 0) shared.drawn = first + RTC_TICKET(ticket), shared.pairs = 0;
    __syncthreads();  // the vertex is drawn, and all counters are zero
    if (shared.drawn >= last) return;
    const u32 i = query.tasks[shared.drawn], u = query.asked[i];
    each(i, u);
    if (threadIdx.x == 0 && !query.ranks) query.found[i] = i64(shared.pairs);
    __syncthreads();  // what is shared was read
  }
}

// Count the wedges of some windows, and take the pairs among their ends. All threads of the block.
template <u32 kMost, class Table>
__device__ __forceinline__ void search_windows(const Rows& rows, const Query& query, const Table& table,
                                               u32 i, u32 u, u32 k0, u32 k1, Shared<kMost>& shared) {
  add_wedges(rows, table, u, k0, k1, shared.longs, &shared.n_longs);
  __syncthreads();  // the counters are final
  take_pairs(query, table, i, u, &shared.pairs);
  __syncthreads();  // all counters are zero, and all pairs are found
}

// The counters of each of the windows fit in a table of `words` words.
extern "C" __global__ void __launch_bounds__(kMostDense)
pairs_dense(RTC_ROWS_ARGS, const u32* cuts, RTC_PACKING_ARGS, u32 windows, u32 words, RTC_QUERY_ARGS) {
  RTC_DYNAMIC_SHARED(u32, table);
  RTC_SHARED(Shared<kMostDense>, shared, 1);
  const Rows rows = RTC_ROWS;
  const Query query = RTC_QUERY;
  const Packing packing = RTC_PACKING;
  for (u32 t = threadIdx.x; t < words; t += blockDim.x) table[t] = 0;
  find_pairs<kMostDense>(query, first, last, ticket, shared[0], [&](u32 i, u32 u) {
    for (u32 k = 0; k < windows; k++) {
      const Packed counters(table, packing, cuts[k], cuts[k + 1]);
      search_windows<kMostDense>(rows, query, counters, i, u, k, k + 1, shared[0]);
    }
  });
}

template <u32 kMost>
__device__ __forceinline__ void
find_hashed(const Rows& rows, const Query& query, u32 first, u32 last, u32* ticket, u32 slots, u32* sums) {
  RTC_SHARED(Shared<kMost>, shared, 1);
  u32* const keys = sums + slots;
  for (u32 t = threadIdx.x; t < slots; t += blockDim.x) keys[t] = kNone, sums[t] = 0;
  find_pairs<kMost>(query, first, last, ticket, shared[0], [&](u32 i, u32 u) {
    const Hashed<u32> counters{sums, keys, slots_log2(u64(query.work[i]))};
    search_windows<kMost>(rows, query, counters, i, u, 0, rows.stride - 1, shared[0]);
  });
}

extern "C" __global__ void __launch_bounds__(kMostHashed)
pairs_hashed(RTC_ROWS_ARGS, u32 slots, RTC_QUERY_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  find_hashed<kMostHashed>(RTC_ROWS, RTC_QUERY, first, last, ticket, slots, memory);
}

// The same by one warp.
extern "C" __global__ void __launch_bounds__(kWarp) pairs_brief(RTC_ROWS_ARGS, u32 slots, RTC_QUERY_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  find_hashed<kWarp>(RTC_ROWS, RTC_QUERY, first, last, ticket, slots, memory);
}
