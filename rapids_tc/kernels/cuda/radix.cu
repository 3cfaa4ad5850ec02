// radix.cu - closing wedges by stable radix binning. A wedge of u, v < u and w < v, both in N+(u), is
// a triangle if the edge (v, w) is there: Cohen ("Graph twiddling in a MapReduce world", CiSE'09) joins
// the list of such candidates with the list of edges. Here the join is a radix sort that stops early.
//
// Candidates and edges are binned alike, first by v, then by the digits of w from the highest on. Both
// are there by v already: in-edges give wedges in the order of v, and the edges (v, w) are the row
// N+(v), in order, so that a bin of edges is a range of positions. Of the candidates a digit at a time:
//
// - a candidate whose bin has no edge is dropped;
// - one whose bin has one edge is that edge or none: it is counted or dropped;
// - the others are put in order, stably, and meet the next digit. Few get far, and after the last
//   digit a bin has one edge, so nobody is left.
//
// kernels/radix.py calls the steps of a round in a plain loop over digits, and that for batches of
// wedges, so that memory is bounded and no kernel launches another:
//
//   radix_wedges   the candidates of a batch, a thread each: only w is kept, v is that of the bin
//   radix_split    a thread each bin and digit: where the edges of that digit begin
//   radix_count    a warp a tile, width candidates of one bin: decides some, counts the others by digit
//   (a prefix sum over bins, digits and tiles in that order: where each goes)
//   radix_place    a warp a tile: moves the others, in the order in which they were
//
// Input: any oriented Csr and its in-edges. A thread, lane or warp owns what it writes, but for the
// counters in shared memory, which are counted by atomicAdd. Probes: candidates met by a round.
#include "device.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "radix counts totals");

constexpr u32 kThreads = 256, kWarps = kThreads / kWarp;
constexpr u32 kDigit = 4, kDigits = 1u << kDigit;   // bits of a digit, values of one

// before: of each in-edge, the wedges of those before it; the batch's wedges, begin .. begin + size,
// belong to in-edges first_edge .. first_edge + edges.
extern "C" __global__ void __launch_bounds__(kThreads)
radix_wedges(const u32* columns, const u64* in_edges, const i64* before, u64 first_edge, u64 edges, i64 begin,
             u32 size, u32* keys) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const u64 edge = first_edge + lower_bound(before + first_edge, edges, begin + i + 1) - 1;
  keys[i] = columns[u32(in_edges[edge] >> 32) + u32(begin + i - before[edge])];
}

// The bins of a round. Those of its candidates are bins[b] .. bins[b + 1], and have tiles from
// tiles[b] on; of its edges, the positions lows[b] .. highs[b], whose columns share all digits so far.
struct Bins {
  const u32 *bins, *tiles, *lows, *highs;
  u32 n, shift;                         // how many; of this round's digit
  const u32* splits;                    // of bin b and digit d at [b * kDigits + d], set by radix_split
};
#define RTC_BINS_ARGS \
  const u32 *bins, const u32 *tiles, const u32 *lows, const u32 *highs, u32 n_bins, u32 shift
#define RTC_BINS(splits) Bins{bins, tiles, lows, highs, n_bins, shift, splits}

extern "C" __global__ void __launch_bounds__(kThreads) radix_split(const u32* columns, RTC_BINS_ARGS, u32* splits) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, b = i / kDigits;
  if (b >= n_bins) return;
  const u32 low = lows[b];
  const u64 higher = u64(columns[low]) >> (shift + kDigit) << kDigit;
  splits[i] = low + lower_bound(columns + low, highs[b] - low, u32((higher | i % kDigits) << shift));
}

// A tile: which bin's, and its candidates.
struct Tile { u32 bin, index, tiles, begin, end; };

__device__ __forceinline__ Tile tile_of(const Bins& s, u32 tile, u32 width) {
  const u32 b = lower_bound(s.tiles, s.n + 1, tile + 1) - 1, index = tile - s.tiles[b];
  const u32 begin = s.bins[b] + index * width, end = s.bins[b + 1];
  return {b, index, s.tiles[b + 1] - s.tiles[b], begin, end - begin < width ? end : begin + width};
}

// Where the sums of a tile lie: by bin, digit, tile.
__device__ __forceinline__ u32 place(const Bins& s, const Tile& t, u32 digit) {
  return kDigits * s.tiles[t.bin] + digit * t.tiles + t.index;
}

// Of a candidate: its digit, and the edges that share it.
struct Met { u32 digit, low, edges; };

__device__ __forceinline__ Met meet(const Bins& s, const Tile& t, u32 key) {
  const u32 digit = key >> s.shift & (kDigits - 1), *const split = s.splits + t.bin * kDigits + digit;
  const u32 high = digit + 1 < kDigits ? split[1] : s.highs[t.bin];
  return {digit, split[0], high - split[0]};
}

extern "C" __global__ void __launch_bounds__(kThreads)
radix_count(const u32* columns, RTC_BINS_ARGS, const u32* splits, u32 n_tiles, u32 width, const u32* keys,
            u32* counts, RTC_VISIT::Out* out) {
  RTC_SHARED(u32, memory, kWarps * kDigits);
  const u32 warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, tile = blockIdx.x * kWarps + warp;
  u32* const counters = memory + warp * kDigits;
  if (lane < kDigits) counters[lane] = 0;
  __syncwarp();                         // the counters are zero
  RTC_VISIT visit(out);
  if (tile < n_tiles) {
    const Bins s = RTC_BINS(splits);
    const Tile t = tile_of(s, tile, width);
    u32 hits = 0;
    for (u32 i = t.begin + lane; i < t.end; i += kWarp) {
      RTC_PROBE(1);
      const Met met = meet(s, t, keys[i]);
      if (met.edges > 1) atomicAdd(counters + met.digit, 1u);
      else hits += met.edges && columns[met.low] == keys[i];
    }
    visit.edge(kNone, hits);
    __syncwarp();                       // all are counted
    if (lane < kDigits) counts[place(s, t, lane)] = counters[lane];
  }
  visit.finish();
}

// sums: before each count, those of all before it.
extern "C" __global__ void __launch_bounds__(kThreads)
radix_place(RTC_BINS_ARGS, const u32* splits, u32 n_tiles, u32 width, const u32* keys, const u32* sums, u32* placed) {
  RTC_SHARED(u32, memory, kWarps * kDigits);
  const u32 warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, tile = blockIdx.x * kWarps + warp;
  if (tile >= n_tiles) return;          // the whole warp
  u32* const next = memory + warp * kDigits;   // where the next candidate of a digit goes
  const Bins s = RTC_BINS(splits);
  const Tile t = tile_of(s, tile, width);
  if (lane < kDigits) next[lane] = sums[place(s, t, lane)];
  __syncwarp();                         // the places are there
  for (u32 begin = t.begin; begin < t.end; begin += kWarp) {
    const u32 i = begin + lane, key = i < t.end ? keys[i] : 0;
    const Met met = i < t.end ? meet(s, t, key) : Met{0, 0, 0};
    const bool moves = met.edges > 1;
    const u32 alike = __match_any_sync(kFullMask, moves ? met.digit : kDigits);
    const u32 earlier = __popc(alike & ((1u << lane) - 1));
    if (moves) placed[next[met.digit] + earlier] = key;
    __syncwarp();                       // all have read where theirs go
    if (moves && earlier == 0) next[met.digit] += __popc(alike);
    __syncwarp();                       // the places are the next round's
  }
}
