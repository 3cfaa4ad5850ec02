// similar.cu - the vertices that are most like a vertex u, by what their neighbors have in common.
//
// A block adds all wedges u - v - w up by w (ends.cuh, middles.cuh), and keeps the best w (best.cuh). Tables of
// dense counters are as large as shared memory, and a block walks the wedges once for each window of ranks that
// fits; if u has few wedges, a hash table holds all of their ends. Blocks draw vertices, those with most wedges
// first.
//
// Of vertex asked[i], work[i] wedges begin there, and its answer is best[starts[i] ..], sums[starts[i] ..], up
// to starts[i + 1]. The best 32 come first, then those behind the last one that was found: `done` of them are
// there. With RTC_SUMS middles add values, else they are counted.
#include "best.cuh"
#include "block.cuh"
#include "ends.cuh"
#include "middles.cuh"

#ifdef RTC_SUMS
typedef Wide Dense;
#else
typedef Packed Dense;
#endif
typedef Dense::Sum Sum;

constexpr u32 kMostDense = 1024, kMostHashed = 256;  // threads of a block

struct Query {
  const u32 *asked, *tasks;
  const i64 *work, *starts;
  const u32* places;
  u32 kind, apart, done;
  u32* best;
  i64* sums;
};

#define RTC_QUERY_ARGS                                                                                      \
  const u32 *asked, const u32 *tasks, u32 first, u32 last, u32 *ticket, const i64 *work, const i64 *starts, \
      const u32 *places, u32 kind, u32 apart, u32 done, u32 *best, i64 *sums
#define RTC_QUERY \
  Query { asked, tasks, work, starts, places, kind, apart, done, best, sums }

// What the block of a vertex shares, and what its warps have kept.
template <u32 kMost>
struct Shared {
  Kept<Sum, kMost> kept;
  u64 floor;  // bits of a double that is not negative: they have the same order
  u32 longs[kMost], n_longs, drawn;
};

// A vertex of a query, and the candidates that a warp looks at.
struct Search {
  const Rows& rows;
  const Query& query;
  u64* floor;
  u32 i, u, k, degree;
  double above;  // similarity and place of the last one that was found: only those behind it are taken
  u32 above_place;
  Best<Sum> mine = no_best<Sum>();

  __device__ Search(const Rows& rows, const Query& query, u64* floor, u32 i)
      : rows(rows), query(query), floor(floor), i(i), u(query.asked[i]), degree(rows.degree(u)) {
    const i64 at = query.starts[i] + query.done, room = query.starts[i + 1] - at;
    k = room <= 0 ? 0 : room < kWarp ? u32(room) : kWarp;
    above = 2e19, above_place = 0;  // more than any similarity
    if (k && query.done) {
      const u32 rank = query.best[at - 1];
      if (rank == kNone) {
        k = 0;
      } else {
        above = similarity(query.kind, double(query.sums[at - 1]), degree, rows.degree(rank));
        above_place = query.places[rank];
      }
    }
  }
  // Consider the ends of a table. All lanes of the warp.
  template <class Table>
  __device__ __forceinline__ void take(const Table& table) {
    table.take([&](bool there, u32 w, Sum common) {
      const double lowest = __longlong_as_double(i64(RTC_PEEK(floor)));
      bool wanted = there && w != u && double(common) >= least_common(query.kind, lowest, degree);
      if (!__any_sync(kFullMask, wanted)) return;
      Best<Sum> next = no_best<Sum>();
      if (wanted) {
        const double value = similarity(query.kind, double(common), degree, rows.degree(w));
        if (value >= lowest && value <= above) next = {value, common, query.places[w], w};
        if (value == above && next.place <= above_place) next = no_best<Sum>();
      }
      keep(mine, k, next);
      if (threadIdx.x % kWarp == k - 1 && mine.value > lowest)
        atomicMax(floor, u64(__double_as_longlong(mine.value)));
    });
  }
};

// Draw vertices, and call search(task, vertex) for each. All threads of the block.
template <u32 kMost, class Each>
__device__ __forceinline__ void search_all(const Rows& rows, const Query& query, u32 first, u32 last,
                                           u32* ticket, Shared<kMost>& shared, const Each& each) {
  for (;;) {
    if (threadIdx.x == 0) shared.drawn = first + RTC_TICKET(ticket), shared.floor = 0;
    __syncthreads();  // the vertex is drawn, and all counters are zero
    if (shared.drawn >= last) return;
    Search search(rows, query, &shared.floor, query.tasks[shared.drawn]);
    if (search.k) {  // the same in all threads
      each(search);
      const i64 at = query.starts[search.i] + query.done;
      merge<Sum, kMost>(search.mine, search.k, shared.kept, query.best + at, query.sums + at);
    }
    __syncthreads();  // the drawn number was read, and the best are written
  }
}

// Count the wedges of some windows, and consider their ends. All threads of the block.
template <u32 kMost, class Table>
__device__ __forceinline__ void
search_windows(Search& search, const Table& table, u32 k0, u32 k1, Shared<kMost>& shared) {
  add_wedges(search.rows, table, search.u, k0, k1, shared.longs, &shared.n_longs);
  if (search.query.apart) {
    __syncthreads();  // all wedges are added
    drop_neighbors(search.rows, table, search.u, k0, k1);
  }
  __syncthreads();  // the counters are final
  search.take(table);
  __syncthreads();  // all counters are zero
}

// The counters of each of the windows fit in a table of `words` words.
extern "C" __global__ void __launch_bounds__(kMostDense)
similar_dense(RTC_ROWS_ARGS, const u32* cuts, RTC_PACKING_ARGS, u32 windows, u32 words, RTC_QUERY_ARGS) {
  RTC_DYNAMIC_SHARED(Sum, table);
  RTC_SHARED(Shared<kMostDense>, shared, 1);
  const Rows rows = RTC_ROWS;
  const Packing packing = RTC_PACKING;
  for (u32 t = threadIdx.x; t < words; t += blockDim.x) table[t] = 0;
  search_all<kMostDense>(rows, RTC_QUERY, first, last, ticket, shared[0], [&](Search& search) {
    for (u32 k = 0; k < windows; k++)
      search_windows(search, Dense(table, packing, cuts[k], cuts[k + 1]), k, k + 1, shared[0]);
  });
}

template <u32 kMost>
__device__ __forceinline__ void
search_hashed(const Rows& rows, const Query& query, u32 first, u32 last, u32* ticket, u32 slots, Sum* sums) {
  RTC_SHARED(Shared<kMost>, shared, 1);
  u32* const keys = reinterpret_cast<u32*>(sums + slots);
  for (u32 t = threadIdx.x; t < slots; t += blockDim.x) keys[t] = kNone, sums[t] = 0;
  search_all<kMost>(rows, query, first, last, ticket, shared[0], [&](Search& search) {
    const u32 log2 = slots_log2(u64(query.work[search.i]));
    search_windows(search, Hashed<Sum>{sums, keys, log2}, 0, rows.stride - 1, shared[0]);
  });
}

extern "C" __global__ void __launch_bounds__(kMostHashed)
similar_hashed(RTC_ROWS_ARGS, u32 slots, RTC_QUERY_ARGS) {
  RTC_DYNAMIC_SHARED(Sum, memory);
  search_hashed<kMostHashed>(RTC_ROWS, RTC_QUERY, first, last, ticket, slots, memory);
}

// The same by one warp.
extern "C" __global__ void __launch_bounds__(kWarp) similar_brief(RTC_ROWS_ARGS, u32 slots, RTC_QUERY_ARGS) {
  RTC_DYNAMIC_SHARED(Sum, memory);
  search_hashed<kWarp>(RTC_ROWS, RTC_QUERY, first, last, ticket, slots, memory);
}

// counts[i]: the wedges that begin at asked[i], a warp each.
extern "C" __global__ void __launch_bounds__(kThreads)
wedge_counts(const i64* offsets, const u32* columns, const u32* asked, u64 size, u32 most_degree,
             i64* counts) {
  const u64 i = element() / kWarp;
  i64 sum = 0;
  if (i < size) {
    const u32 u = asked[i];
    for (i64 p = offsets[u] + threadIdx.x % kWarp; p < offsets[u + 1]; p += kWarp) {
      const u32 v = columns[p], degree = u32(offsets[v + 1] - offsets[v]);
      if (degree <= most_degree) sum += degree - 1;
    }
  }
  sum = warp_sum(sum);
  if (i < size && threadIdx.x % kWarp == 0) counts[i] = sum;
}
