// radix.cu - closes wedges by stable radix binning. A wedge of u, with v < u and w < v in N+(u), is a
// triangle if there is an edge (v, w): Cohen ("Graph twiddling in a MapReduce world", CiSE'09) joins the
// list of such candidates with the list of edges. In these kernels the join is a radix sort that stops
// early.
//
// Candidates and edges are binned alike, first by v, then by the digits of w from the highest on. Both are
// ordered by v from the start: in-edges give wedges in the order of v, and the edges (v, w) are the row
// N+(v), ascending, so that a bin of edges is a range of positions. A round takes one digit of each
// candidate:
//
// - a candidate whose bin has no edge is dropped;
// - a candidate whose bin has one edge is compared with this edge: it is counted or dropped;
// - the other candidates are ordered, stably, for the next digit. Few get far, and after the last digit a
//   bin has one edge, so no candidate is left.
//
// kernels/radix.py calls the steps of a round in a loop over digits, for one batch of wedges after another,
// so that memory is bounded and no kernel launches another:
//
//   radix_wedges   writes the candidates of a batch, a thread each: w alone, since the bin has v
//   radix_split    finds where the edges of a digit begin, a thread per bin and digit
//   radix_count    decides some candidates and counts the others by digit, a warp per tile of up to width
//                  candidates of one bin
//   (a prefix sum over bins, digits and tiles, in that order, gives the places)
//   radix_place    moves the others to their places, a warp per tile, in their order
//
// Input: any oriented Csr and its in-edges. A thread, lane or warp owns what it writes, except the counters
// in shared memory, which count by atomicAdd. Probes: candidates that a round tests.
//
// Written: out, by the visitor's atomics.
#include "device.cuh"
#include "visit.cuh"

static_assert(!RTC_VISIT::kEdges, "radix counts totals");

constexpr u32 kDigit = 4, kDigits = 1u << kDigit;   // bits of a digit, and its values

// before[i] is the number of wedges of all in-edges before i; the wedges of the batch, begin .. begin +
// size - 1, belong to in-edges first_edge .. first_edge + edges - 1.
extern "C" __global__ void __launch_bounds__(kThreads)
radix_wedges(const u32* columns, const u64* in_edges, const i64* before, u64 first_edge, u64 edges, i64 begin,
             u32 size, u32* keys) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const u64 edge = first_edge + lower_bound(before + first_edge, edges, begin + i + 1) - 1;
  keys[i] = columns[u32(in_edges[edge] >> 32) + u32(begin + i - before[edge])];
}

// The bins of a round. Bin b has the candidates bins[b] .. bins[b + 1] - 1, in tiles from tiles[b] on, and
// the edges at positions lows[b] .. highs[b] - 1, whose columns have the same digits so far.
struct Bins {
  const u32 *bins, *tiles, *lows, *highs;
  u32 n, shift;                         // how many bins; the shift of this round's digit
  const u32* splits;                    // radix_split's, for bin b and digit d at [b * kDigits + d]
};
#define RTC_BINS_ARGS \
  const u32 *bins, const u32 *tiles, const u32 *lows, const u32 *highs, u32 n_bins, u32 shift
#define RTC_BINS(splits) \
  Bins { bins, tiles, lows, highs, n_bins, shift, splits }

extern "C" __global__ void __launch_bounds__(kThreads)
radix_split(const u32* columns, RTC_BINS_ARGS, u32* splits) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, b = i / kDigits;
  if (b >= n_bins) return;
  const u32 low = lows[b];
  const u64 higher = u64(columns[low]) >> (shift + kDigit) << kDigit;
  splits[i] = low + lower_bound(columns + low, highs[b] - low, u32((higher | i % kDigits) << shift));
}

// A tile: its bin, its number there, the bin's tiles, and its candidates.
struct Tile { u32 bin, index, tiles, begin, end; };

__device__ __forceinline__ Tile tile_of(const Bins& s, u32 tile, u32 width) {
  const u32 b = lower_bound(s.tiles, s.n + 1, tile + 1) - 1, index = tile - s.tiles[b];
  const u32 begin = s.bins[b] + index * width, end = s.bins[b + 1];
  return {b, index, s.tiles[b + 1] - s.tiles[b], begin, end - begin < width ? end : begin + width};
}

// Where the count of a tile and digit lies: by bin, digit, tile.
__device__ __forceinline__ u32 place(const Bins& s, const Tile& t, u32 digit) {
  return kDigits * s.tiles[t.bin] + digit * t.tiles + t.index;
}

// The digit of a candidate, and the edges of the same digit.
struct Met { u32 digit, low, edges; };

__device__ __forceinline__ Met meet(const Bins& s, const Tile& t, u32 key) {
  const u32 digit = key >> s.shift & (kDigits - 1), *const split = s.splits + t.bin * kDigits + digit;
  const u32 high = digit + 1 < kDigits ? split[1] : s.highs[t.bin];
  return {digit, split[0], high - split[0]};
}

extern "C" __global__ void __launch_bounds__(kThreads)
radix_count(const u32* columns, RTC_BINS_ARGS, const u32* splits, u32 n_tiles, u32 width, const u32* keys,
            u32* counts, RTC_VISIT::Input input) {
  RTC_SHARED(u32, memory, kWarps * kDigits);
  const u32 warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, tile = blockIdx.x * kWarps + warp;
  u32* const counters = memory + warp * kDigits;
  if (lane < kDigits) counters[lane] = 0;
  __syncwarp();                         // the counters are zero
  RTC_VISIT visit(input);
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

// sums: for each count, the sum of all counts before it.
extern "C" __global__ void __launch_bounds__(kThreads)
radix_place(RTC_BINS_ARGS, const u32* splits, u32 n_tiles, u32 width, const u32* keys, const u32* sums,
            u32* placed) {
  RTC_SHARED(u32, memory, kWarps * kDigits);
  const u32 warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, tile = blockIdx.x * kWarps + warp;
  if (tile >= n_tiles) return;          // the whole warp
  u32* const next = memory + warp * kDigits;   // the place of the next candidate of each digit
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
    __syncwarp();                       // all lanes have read their places
    if (moves && earlier == 0) next[met.digit] += __popc(alike);
    __syncwarp();                       // the places are advanced
  }
}
