// bitmap.cu - the triangles of every pivot vertex v: a block keeps a bitmap of N+(v) in shared memory and
// streams, for every u with v in N+(u), the entries of N+(u) below v. An entry w whose bit is set closes
// the triangle (u, v, w), w < v < u. Work: the sum over u of C(|N+(u)|, 2), the least of all list schemes;
// each unit is one 16-bit load and one bit test.
//
// Input: any oriented Csr, and prepare.cu's layout of it: codes[p] is the code of columns[p] in a map of as
// many bits as a block's (device.cuh). A hit on a code of one id is a triangle. The bits of codes that ids
// share stay clear; in an ascending list these ids come last, and a second, shorter pass tests them by full
// id.
//
// bitmap_block: item = tasks[4 i ..] = {v, first in-edge, one past the last, log2 of the lanes per list},
//   for a block. Lists are taken in chunks, whose hits are looked up together, if triangles are visited; for a
//   total; and for counts of edges behind the hubs, where few entries hit. Else counts of edges give each list
//   lanes of its own. width = bits of the map, depth = shared counters for edges (v, w). Dynamic shared memory:
//   width / 32 + kTailWords words; for visitors that are told of sides or triangles, width / 32 more; then depth
//   words for counts of edges, or for half as many sums of edges (pivot.cuh), or the visitor's own.
//   With RTC_HUBS, the hubs among the entries are first counted by bit rows, where N+(u) has one (hubs.cuh),
//   and only the entries behind them are walked. Counts of edges only leave them out: hubs.cu has counted
//   them.
// bitmap_run: vertices of few probes, see bitmap_run.cuh.
//
// Written: out, by the visitor's atomics. Shared words are set by atomicOr and atomicAdd; every other
// shared word has one owner, which leads() names for the map and its bases: the thread of the word's first
// entry.
#include "bitmap_run.cuh"
#include "device.cuh"
#include "pivot.cuh"
#ifdef RTC_HUBS
#include "hubs.cuh"
#endif

constexpr bool kIndexed = RTC_VISIT::kSides || RTC_VISIT::kTriangles;  // positions in N+(v) are asked for
#ifdef RTC_HUBS
constexpr bool kChunks = !RTC_VISIT::kEdges || RTC_VISIT::kSides;  // behind the hubs, few entries hit
#else
constexpr bool kChunks = !RTC_VISIT::kEdges || RTC_VISIT::kTriangles;  // whose triangles are looked up after
#endif
constexpr u32 kBlockThreads = 128, kMostBlocks = kResident / kBlockThreads;
constexpr u32 kBlocksPerSm = RTC_VISIT::kEdges || kIndexed ? 8 : kMostBlocks;
constexpr int kLists = 8;  // lists in flight in each group of lanes
constexpr u32 kTailWords = 64;  // words of the filter of the ids of N+(v) without a bit
constexpr u32 kTailLanes = 8;

// Return 1 if N+(v) has the entry of N+(u) at position, of this code, and the triangle counts; else 0.
// exists: the entry belongs to the prefix, and is not v.
__device__ __forceinline__ u32 probe(const Middle& m, u32 code, u32 uv, u32 position, bool exists,
                                     RTC_VISIT& visit) {
  RTC_PROBE(exists);
  const u32 word = m.map[code / 32], hit = word >> code % 32 & 1;
  if (kIndexed && hit && !report(m, uv, position, index_of(m, code, word), visit)) return 0;
  return hit;
}

// Stream the in-edges that the lanes hold, from number `first` on, in chunks, by one warp, which only reads
// the map.
__device__ __forceinline__ void
scan_chunks(const Graph& g, const Middle& m, u32 first, u64 in_edge, RTC_VISIT& visit) {
  each_chunk(g.codes, in_edge, [&](const Chunk& c) {
    RTC_PROBE(__popc(c.wanted));
    const u32 pairs[] = {c.codes.x, c.codes.y, c.codes.z, c.codes.w};
    u32 hits = 0;
#pragma unroll
    for (int i = kChunk - 1; i >= 0; i--) {
      const u32 code = i % 2 ? pairs[i / 2] >> 16 : pairs[i / 2] & 0xffff;
      hits = hits << 1 | (m.map[code / 32] >> code % 32 & 1);
    }
    hits &= c.wanted;
    const u32 uv = kIndexed ? edge_at(g, first + c.owner, c.edge) : kNone;
    for (u32 left = kIndexed ? hits : 0; left; left &= left - 1) {
      const u32 position = c.position + __ffs(int(left)) - 1, code = g.codes[position];
      const bool counts = report(m, uv, position, index_of(m, code, m.map[code / 32]), visit);
      if (!counts) hits &= ~(left & -left);
    }
    visit.edge(uv, __popc(hits));
  });
}

// Stream n in-edges, which the first n lanes hold, for the hits of each edge: 2^shift lanes share a list,
// with kLists lists in flight and two ids per load. The second id of a load may lie past the
// prefix: it is v itself, at the position of the edge (u, v); on blocks, it is replaced by v. The map is
// only read, and lanes exchange values by shuffles alone.
__device__ __forceinline__ void
scan(const Graph& g, const Middle& m, u32 first, u64 mine, u32 n, u32 shift, RTC_VISIT& visit) {
  const u32 lane = threadIdx.x % kWarp, lanes = 1u << shift, groups = kWarp >> shift, group = lane >> shift;
  if ((mine >> 32 & 1) && u32(mine)) {  // an odd start: the lane takes the entry before the first pair
    const u32 start = u32(mine >> 32), length = u32(mine);
    const u32 uv = edge_at(g, first + lane, start + length);
    visit.edge(uv, probe(m, g.codes[start], uv, start, true, visit));
    mine += (1ull << 32) - 1;  // start + 1, length - 1
  }
  for (u32 round = 0; round < n; round += groups * kLists) {
    u32 start[kLists], length[kLists], hits[kLists] = {}, longest = 0;
    u32 pair[kLists];  // the lane's next two entries of each list, as one index
#pragma unroll
    for (int t = 0; t < kLists; t++) {
      const u64 edge = __shfl_sync(kFullMask, mine, round + t * groups + group);
      start[t] = u32(edge >> 32);
      length[t] = u32(edge);
      pair[t] = start[t] / 2 + (lane & (lanes - 1));
      longest = length[t] > longest ? length[t] : longest;
    }
    for (u32 k = 2 * (lane & (lanes - 1)); k < longest; k += 2 * lanes) {
      u32 ids[kLists];
#pragma unroll
      for (int t = 0; t < kLists; t++) {
        ids[t] = k < length[t] ? __ldg(reinterpret_cast<const u32*>(g.codes) + pair[t]) : m.self * 0x10001u;
        if (kBlocks && k + 1 == length[t]) ids[t] = (ids[t] & 0xffff) | m.self << 16;
        pair[t] += lanes;
      }
#pragma unroll
      for (int t = 0; t < kLists; t++) {
        const u32 uv = edge_at(g, first + round + t * groups + group, start[t] + length[t]);
        hits[t] += probe(m, ids[t] & 0xffff, uv, start[t] + k, k < length[t], visit);
        hits[t] += probe(m, ids[t] >> 16, uv, start[t] + k + 1, k + 1 < length[t], visit);
      }
    }
#pragma unroll
    for (int t = 0; t < kLists; t++)
      visit.list(edge_at(g, first + round + t * groups + group, start[t] + length[t]), hits[t], lanes);
  }
}

// Test the entries without a bit, which are the last of a prefix: each lane walks toward the front until
// it meets an exact id. tail is a filter of ids modulo its bits.
__device__ __forceinline__ void
scan_tail(const Graph& g, const Middle& m, const u32* tail, u32 first, u32 last, RTC_VISIT& visit) {
  const u32 lane = threadIdx.x % kWarp, group = lane / kTailLanes;
  const u64 mine = first + lane < last ? g.in_edges[first + lane] : 0;
  const u32 end = u32(mine >> 32) + u32(mine);
  u32 left = __ballot_sync(kFullMask, u32(mine) && g.codes[end - 1] >= m.exact);  // such lists
  while (left) {
    u32 pick = left;  // one list for each group of lanes
    for (u32 i = 0; i < kWarp / kTailLanes; i++) {
      if (i < group) pick &= pick - 1;
      left &= left - 1;
    }
    const u32 owner = pick ? __ffs(int(pick)) - 1 : 0;
    u64 edge = __shfl_sync(kFullMask, mine, owner);
    if (!pick) edge = 0;
    const u32 start = u32(edge >> 32), length = u32(edge);
    u32 hits = 0;
    for (u32 k = lane % kTailLanes + 1; k <= length; k += kTailLanes) {
      const u32 position = start + length - k, id = g.columns[position];
      if (id < m.exact) break;
      if (!(tail[id / 32 % kTailWords] >> id % 32 & 1)) continue;
      const u32 index = find(g.columns + m.start, m.length, id);
      if (index == kNone) continue;
      if (report(m, edge_at(g, first + owner, start + length), position, index, visit)) hits++;
    }
    visit.list(edge_at(g, first + owner, start + length), hits, kTailLanes);
  }
}

// Return whether entry i of N+(v) is the first in its word of the map: it owns the word, and its base.
__device__ __forceinline__ bool leads(const u16* row, u32 i, u32 exact) {
  return row[i] < exact && (i == 0 || row[i - 1] / 32 != row[i] / 32);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads, kBlocksPerSm) bitmap_block(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  RTC_SHARED(u32, drawn, 1);
  const Graph g = RTC_GRAPH;
  const u32 words = width / 32;
  u32 *const tail = memory + words, *const base = tail + kTailWords, *const counters = base + words;
  for (u32 i = threadIdx.x; i < words + kTailWords; i += blockDim.x) memory[i] = 0;
  for (u32 i = threadIdx.x; kCounted && i < depth; i += blockDim.x) counters[i] = 0;
  RTC_VISIT visit(input, counters);
  const u32 lane = threadIdx.x % kWarp;
#ifdef RTC_HUBS
  const HubRows hubs = RTC_HUB_ROWS;
#endif
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();  // the ticket is there, and the maps and counters are all zero
    const u32 item = first + drawn[0];
    if (item >= last) break;
    const u32* const task = tasks + 4 * u64(item);
    const u32 begin = task[1], end = task[2];
    const u32 v = task[0], start = u32(offsets[v]), length = u32(offsets[v + 1]) - start;
    const u32 room = RTC_VISIT::kMiddles ? depth / 2 : kCounted ? depth : 0;
    const Middle m{start,    length,          memory,           exact_ids(width), base, smaller(length, room),
                   counters, counters + room, code_of(v, width)};
    const u16* const row = codes + m.start;
    for (u32 i = threadIdx.x; i < m.length; i += blockDim.x) {
      if (row[i] < m.exact) atomicOr(memory + row[i] / 32, 1u << row[i] % 32);
      else atomicOr(tail + columns[m.start + i] / 32 % kTailWords, 1u << columns[m.start + i] % 32);
      if (kIndexed && leads(row, i, m.exact)) base[row[i] / 32] = i;
    }
    __syncthreads();  // the maps and bases are whole
#ifdef RTC_HUBS
    const HubMap hub_map(hubs, v, memory);
#endif
    for (u32 i = begin + threadIdx.x / kWarp * kWarp; i < end; i += blockDim.x) {
      u64 in_edge = i + lane < end ? in_edges[i + lane] : 0;
      u32 n = end - i < kWarp ? end - i : kWarp;
#ifdef RTC_HUBS
      const u32 bit_row = hub_map.row_of(hubs, in_edge);
      if (!RTC_VISIT::kSides) hub_map.count(hubs, in_edge, bit_row, visit);
      in_edge = hubs.past_hubs(in_edge, bit_row);
      if (!kChunks) n = pack_lanes(in_edge);
#endif
      if (kChunks) scan_chunks(g, m, i, in_edge, visit);
      else scan(g, m, i, in_edge, n, task[3], visit);
    }
    const bool has_tail = row[m.length - 1] >= m.exact;
    for (u32 i = begin + threadIdx.x / kWarp * kWarp; has_tail && i < end; i += blockDim.x)
      scan_tail(g, m, tail, i, end, visit);
    __syncthreads();  // all probes and counts of this task are done
    for (u32 i = threadIdx.x; i < m.length; i += blockDim.x) {
      if (leads(row, i, m.exact)) memory[row[i] / 32] = 0;
      if (kCounted && i < m.counted) {
        if (RTC_VISIT::kSides) visit.edge(m.start + i, m.counters[i]);
        else if (const u64 sum = u64(m.uppers[i]) << 32 | m.counters[i]) visit.middle(m.start + i, sum);
        m.counters[i] = 0;
        if (RTC_VISIT::kMiddles) m.uppers[i] = 0;
      }
    }
    if (has_tail && threadIdx.x < kTailWords) tail[threadIdx.x] = 0;
  }
  visit.finish();
}
