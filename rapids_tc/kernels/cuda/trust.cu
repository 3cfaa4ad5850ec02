// trust.cu - TRUST (Pandey et al., TPDS 2021): for every vertex u, N+(u) becomes a hash table in shared
// memory, in which every id of every N+(v), v in N+(u), is looked up. Work: the sum over v of |N+(v)| times
// the in-edges of v.
//
// - Interleaved buckets: the i-th entries of all buckets lie side by side, so that lanes that read the i-th
//   entry of different buckets use different banks.
// - Degree classes: trust_wide takes a block per vertex, trust_narrow a warp.
// - Virtual combination: the lists N+(v) are one long list, whose ids the lanes take in turn, so that all
//   have the same work however the lengths differ. A scan of the lengths gives each list its place in the
//   long one; the warps of a block take equal parts of it. A bit per id of a window of kWarp ids says where
//   lists begin, and a population count which list an id belongs to.
//
// Input: any oriented Csr. Item = tasks[i] = u, kNarrowChunk of them per ticket in trust_narrow. width =
// buckets, a power of two; depth = entries that a bucket keeps. Dynamic shared memory: a table of
// width * depth words per block, or per warp in trust_narrow; and kTileWords words per block in trust_wide.
// Probes: look-ups.
//
// Written: out, by the visitor's atomics; in shared memory the entries by atomicCAS, whose result gives
// each its owner. Every other shared word has one owner: the thread of a list, for the list's place.
#include "device.cuh"
#include "visit.cuh"

constexpr u32 kWideBlocksPerSm = 6, kNarrowBlocksPerSm = kResident / kThreads;
constexpr u32 kNarrowChunk = 2;       // vertices per ticket
constexpr u32 kTileWords = 3 * kThreads;
constexpr int kWindows = 4;           // ids of a lane in flight

// A hash table of ids, with the ascending list that it is made of behind it: ids that do not fit their
// bucket are found by binary search. Unlike that of hash.cuh, it has no sizes of buckets, which look-ups
// would read first: an empty entry ends a bucket. That pays if most buckets are empty.
struct HashTable {
  u32* entries;           // entry i of bucket b at [i * buckets + b]: kNone, which no id is, is empty
  u32 buckets, depth;     // buckets: a power of two; depth: entries that a bucket keeps
  const u32* ids;         // the list that the table is made of
  u32 n;

  // Words of shared memory.
  __device__ static u32 words(u32 buckets, u32 depth) { return buckets * depth; }

  // Make the table empty, whatever the words hold, by `threads` threads, of which this is number `thread`.
  __device__ void reset(u32 thread, u32 threads) const {
    for (u32 i = thread; i < words(buckets, depth); i += threads) entries[i] = kNone;
  }

  // Empty a table again: no entry follows an empty one.
  __device__ void clear(u32 thread, u32 threads) const {
    for (u32 bucket = thread; bucket < buckets; bucket += threads)
      for (u32 i = bucket; i < words(buckets, depth) && entries[i] != kNone; i += buckets) entries[i] = kNone;
  }

  __device__ void insert(u32 id) const {
    for (u32 i = id & (buckets - 1); i < words(buckets, depth); i += buckets)
      if (atomicCAS(entries + i, kNone, id) == kNone) return;
  }

  __device__ bool contains(u32 id) const {
    for (u32 i = id & (buckets - 1); i < words(buckets, depth); i += buckets) {
      const u32 entry = entries[i];
      if (entry == id) return true;
      if (entry == kNone) return false;
    }
    return find(ids, n, id) != kNone;   // the bucket is full
  }
};

// A lane's list, of at least one id.
struct List {
  u32 place;    // of its first id in the long list; kNone if the lane has no list
  u32 shift;    // from a place in the long list to a position in columns, modulo 2^32
  u32 number;   // its index in N+(u)
};

// A lane's id in a window of kWarp ids of the long list.
struct Window {
  u32 begins;      // a bit per id, set if a list begins there
  u32 owner;       // the lane that holds the id's list
  u32 position;    // of the id in columns
  u32 id;          // kNone past the end
};

// Look up the ids at places begin .. end - 1, by one warp, whose lanes hold the lists of these places, in
// order. The ids of kWindows windows are in flight together. Return the lane's hits, unless the visitor has
// been told of them edge by edge.
__device__ __forceinline__ u32 look_up(const Graph& g, const HashTable& table, u32 row, const List& list,
                                       u32 begin, u32 end, RTC_VISIT& visit) {
  const u32 lane = threadIdx.x % kWarp, through = (2u << lane) - 1;   // this lane and those before it
  u32 hits = 0, before = __popc(__ballot_sync(kFullMask, list.place < begin));
  for (; begin < end; begin += kWindows * kWarp) {
    Window windows[kWindows];
#pragma unroll
    for (int i = 0; i < kWindows; i++) {
      const u32 place = begin + i * kWarp, offset = list.place - place;   // offset: or at least kWarp
      Window& w = windows[i];
      w.begins = warp_or(offset < kWarp ? 1u << offset : 0);
      w.owner = before + __popc(w.begins & through) - 1;
      w.position = __shfl_sync(kFullMask, list.shift, w.owner) + place + lane;
      w.id = place + lane < end ? g.columns[w.position] : kNone;
      before += __popc(w.begins);
    }
#pragma unroll
    for (int i = 0; i < kWindows; i++) {
      const Window& w = windows[i];
      RTC_PROBE(w.id != kNone);
      const bool hit = w.id != kNone && table.contains(w.id);
      hits += hit;
      if (!RTC_VISIT::kEdges) continue;
      if (RTC_VISIT::kSides && hit) {
        visit.side(row + find(table.ids, table.n, w.id));
        visit.side(w.position);
      }
      const u32 all = __ballot_sync(kFullMask, hit), later = w.begins & ~through;
      const u32 number = __shfl_sync(kFullMask, list.number, w.owner);
      const u32 own = (later ? (later & (~later + 1)) - 1 : kFullMask) & ~(through >> 1);
      if (lane == 0 || (w.begins >> lane & 1)) visit.edge(row + number, __popc(all & own));
    }
  }
  return RTC_VISIT::kEdges ? 0 : hits;
}

extern "C" __global__ void __launch_bounds__(kThreads, kWideBlocksPerSm) trust_wide(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_SHARED(u32, drawn, 1);
  RTC_SHARED(u64, sums, kWarps);
  const Graph g = RTC_GRAPH;
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  u32* const places = memory;           // of the lists of a tile, whose ids are in the long list
  u32* const shifts = places + kThreads;
  u32* const numbers = shifts + kThreads;
  HashTable table{memory + kTileWords, width, depth, nullptr, 0};
  table.reset(threadIdx.x, kThreads);
  RTC_VISIT visit(input);
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();                    // the ticket is there, and the table is empty
    const u32 item = first + drawn[0];
    if (item >= last) break;
    const u32 u = tasks[item], row = u32(offsets[u]);
    table.ids = columns + row;
    table.n = u32(offsets[u + 1]) - row;
    u32 hits = 0;
    for (u32 tile = 0; tile < table.n; tile += kThreads) {   // of lists
      const u32 i = tile + threadIdx.x;
      u32 begin = 0, length = 0;
      if (i < table.n) {
        const u32 v = table.ids[i];
        begin = u32(offsets[v]);
        length = u32(offsets[v + 1]) - begin;
        if (tile == 0) table.insert(v);
      }
      if (tile == 0)
        for (u32 k = kThreads + threadIdx.x; k < table.n; k += kThreads) table.insert(table.ids[k]);
      u64 all = 0;                      // lists of at least one id, << 32 | their ids
      const u64 before = block_scan<kWarps>(length ? 1ull << 32 | length : 0, sums, all);
      const u32 lists = u32(all >> 32), ids = u32(all), place = u32(before);
      if (length) {
        places[before >> 32] = place;
        shifts[before >> 32] = begin - place;
        numbers[before >> 32] = i;
      }
      __syncthreads();                  // the lists' places are there, and the table is whole
      u32 at = u32(u64(ids) * warp / kWarps);
      const u32 end = u32(u64(ids) * (warp + 1) / kWarps);
      u32 list = at < end ? lower_bound(places, lists, at + 1) - 1 : 0;
      while (at < end) {                // the lanes take the next kWarp lists
        const u32 own = list + lane;
        const List mine = own < lists ? List{places[own], shifts[own], numbers[own]} : List{kNone, 0, 0};
        list += kWarp;
        const u32 stop = list < lists && places[list] < end ? places[list] : end;
        hits += look_up(g, table, row, mine, at, stop, visit);
        at = stop;
      }
      __syncthreads();                  // all have read the places and looked up
    }
    if (!RTC_VISIT::kEdges) visit.edge(kNone, hits);
    table.clear(threadIdx.x, kThreads);
  }
  visit.finish();
}

extern "C" __global__ void __launch_bounds__(kThreads, kNarrowBlocksPerSm) trust_narrow(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_SHARED(u32, lanes, kThreads);
  const Graph g = RTC_GRAPH;
  const u32 lane = threadIdx.x % kWarp;
  u32* const filled = lanes + threadIdx.x / kWarp * kWarp;   // the lanes whose lists have ids
  HashTable table{memory + threadIdx.x / kWarp * HashTable::words(width, depth), width, depth, nullptr, 0};
  table.reset(lane, kWarp);
  __syncwarp();                         // the table is empty
  RTC_VISIT visit(input);
  for (;;) {
    const u32 chunk = first + warp_ticket(ticket) * kNarrowChunk;
    if (chunk >= last) break;
    for (u32 item = chunk; item < last && item < chunk + kNarrowChunk; item++) {
      const u32 u = tasks[item], row = u32(offsets[u]);
      table.ids = columns + row;
      table.n = u32(offsets[u + 1]) - row;
      for (u32 i = lane; i < table.n; i += kWarp) table.insert(table.ids[i]);
      __syncwarp();                     // the table is whole
      u32 hits = 0;
      for (u32 i = lane; i - lane < table.n; i += kWarp) {
        const u32 v = i < table.n ? table.ids[i] : 0, begin = u32(offsets[v]);
        const u32 length = i < table.n ? u32(offsets[v + 1]) - begin : 0;
        const u32 through = warp_scan(length), ids = __shfl_sync(kFullMask, through, kWarp - 1);
        List mine{length ? through - length : kNone, begin + length - through, i};
        const u32 some = __ballot_sync(kFullMask, length);
        if (some & (some + 1)) {        // a list without ids before one with some: close up
          if (length) filled[__popc(some & ((1u << lane) - 1))] = lane;
          __syncwarp();                 // the lanes are there
          const u32 from = lane < __popc(some) ? filled[lane] : lane;
          __syncwarp();                 // and have been read
          mine.place = __shfl_sync(kFullMask, mine.place, from);
          mine.shift = __shfl_sync(kFullMask, mine.shift, from);
          mine.number = __shfl_sync(kFullMask, mine.number, from);
          if (lane >= __popc(some)) mine.place = kNone;
        }
        hits += look_up(g, table, row, mine, 0, ids, visit);
      }
      if (!RTC_VISIT::kEdges) visit.edge(kNone, hits);
      __syncwarp();                     // all look-ups are done
      table.clear(lane, kWarp);
      __syncwarp();                     // the table is empty
    }
  }
  visit.finish();
}
