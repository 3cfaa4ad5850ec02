// cliques.cu - cliques of k = 3, 4 or 5 vertices, each at its last vertex u: engines/local_graphs.py.
//
// The local graph of u, the edges among the d entries of N+(u), is d rows of bits: bit j < i of row i is set
// if entries i and j are neighbors, and bit i of row j too if sides are counted. For each such pair, t is the
// number of cliques of u, i and j: 1 for k = 3, the common bits of rows i and j for k = 4, and the edges
// among these common neighbors for k = 5. Without sides, common bits are below j, so that each clique is
// counted once. With sides, all are counted, and t is added for the edges (u, i), (u, j) and (i, j): C(k - 1, 2)
// times a clique for u, and k - 2 times for (u, i), which `divide` takes back.
//
// A row is as many words as the longest row of its d bits, plus one if that is even: lanes that read one word
// of different rows then read different banks. A block takes a short row, with the bits in shared memory. Bits
// of longer rows are in global memory: first all are set, then counted, and many blocks take a part of a row.
#include "block.cuh"
#include "device.cuh"

constexpr u32 kFilterBits = 32768, kFilterWords = kFilterBits / 32;  // of N+(u), by the last bits of an entry
constexpr u32 kListed = 256;  // entries that a warp lists at once: a byte of bits per lane
constexpr u32 kListWords = kListed / 2 * 2 * kWarps;  // two lists of 16 bits per warp
constexpr u32 kPartRows = 64;  // rows of a long row that a block takes
constexpr u32 kSearchFrom = 8;  // times as long as the row, a list is searched, not walked

__device__ __forceinline__ u32 stride_of(u32 d) { return (d + 31) / 32 | 1; }

struct LocalGraph {
  const i64* __restrict__ offsets;
  const u32* __restrict__ columns;
  u32 begin;  // of N+(u) in columns
  u32 d, stride;
  u32* bits;

  __device__ __forceinline__ u32 entry(u32 i) const { return columns[begin + i]; }
  __device__ __forceinline__ u32* row(u32 i) const { return bits + u64(i) * stride; }
};

__device__ __forceinline__ LocalGraph local_graph(const i64* offsets, const u32* columns, u32 u, u32* bits) {
  const u32 begin = u32(offsets[u]), d = u32(offsets[u + 1]) - begin;
  return {offsets, columns, begin, d, stride_of(d), bits};
}

__device__ __forceinline__ void set_bit(u32* row, u32 i) { atomicOr(row + i / 32, 1u << i % 32); }

// Set the bits of rows first .. last - 1, and with `both` of what they mirror. All threads of the block; the
// bits are zero before, and whole after a barrier.
__device__ void set_bits(const LocalGraph& g, u32 first, u32 last, bool both, u32* filter) {
  const u32 lane = threadIdx.x % kWarp;
  for (u32 t = threadIdx.x; t < kFilterWords; t += blockDim.x) filter[t] = 0;
  __syncthreads();
  for (u32 t = threadIdx.x; t < last; t += blockDim.x) {
    const u32 w = g.entry(t);
    set_bit(filter, w % kFilterBits);
  }
  __syncthreads();
  for (u32 i = first + threadIdx.x / kWarp; i < last; i += kWarps) {
    const u32 v = g.entry(i), start = u32(g.offsets[v]), length = u32(g.offsets[v + 1]) - start;
    const bool walks = length < kSearchFrom * i;
    for (u32 t = lane; t < (walks ? length : i); t += kWarp) {
      u32 j = t;
      if (walks) {
        const u32 w = g.columns[start + t];
        if (!(filter[w % kFilterBits / 32] >> w % 32 & 1)) continue;
        j = find(g.columns + g.begin, i, w);
        if (j == kNone) continue;
      } else if (find(g.columns + start, length, g.entry(t)) == kNone) {
        continue;
      }
      set_bit(g.row(i), j);
      if (both) set_bit(g.row(j), i);
    }
  }
}

// List the bits below `limit` that are set in words at .. at + 7 of a, and of b unless it is null; return how
// many. All lanes of the warp; the list is whole after a barrier.
__device__ __forceinline__ u32 list_bits(u16* list, const u32* a, const u32* b, u32 at, u32 limit) {
  const u32 lane = threadIdx.x % kWarp, first = at * 32 + lane * 8;
  u32 byte = 0;
  if (first < limit) {
    const u32 word = first / 32;
    byte = (b ? a[word] & b[word] : a[word]) >> first % 32 & 0xff;
    if (limit - first < 8) byte &= (1u << (limit - first)) - 1;
  }
  const u32 size = __popc(byte), through = warp_scan(size);
  for (u32 i = through - size; byte; byte &= byte - 1) list[i++] = u16(first + __ffs(byte) - 1);
  return __shfl_sync(kFullMask, through, kWarp - 1);
}

// The bits that rows a and b have in common below `limit`; and those of row c, too.
__device__ __forceinline__ u32 common(const u32* a, const u32* b, u32 limit) {
  u32 ones = 0;
  for (u32 word = 0; word * 32 < limit; ++word) ones += __popc(a[word] & b[word]);
  return ones;
}

__device__ __forceinline__ u32 common(const u32* a, const u32* b, const u32* c, u32 limit) {
  u32 ones = 0;
  for (u32 word = 0; word < limit / 32; ++word) ones += __popc(a[word] & b[word] & c[word]);
  const u32 word = limit / 32, below = (1u << limit % 32) - 1;
  return below ? ones + __popc(a[word] & b[word] & c[word] & below) : ones;
}

// Where cliques are added: of_u, and if sides are counted, at entries of N+(u), and if there are counts, at
// positions of edges.
struct Sums {
  u64* of_u;
  u64* spokes;
  u64* counts;
};

__device__ __forceinline__ void add_side(const LocalGraph& g, const Sums& sums, u32 i, u32 j, u32 cliques) {
  atomicAdd(sums.spokes + j, u64(cliques));
  if (sums.counts) {
    const u32 v = g.entry(i), start = u32(g.offsets[v]), length = u32(g.offsets[v + 1]) - start;
    atomicAdd(sums.counts + start + find(g.columns + start, length, g.entry(j)), u64(cliques));
  }
}

// Count the edges among the common neighbors of rows i and j below `limit`; each lane returns a part.
__device__ __forceinline__ u32 common_edges(const LocalGraph& g, u32 i, u32 j, u32 limit, u16* list) {
  const u32 *const a = g.row(i), *const b = g.row(j);
  u32 edges = 0;
  for (u32 at = 0; at * 32 < limit; at += kListed / 32) {
    const u32 size = list_bits(list, a, b, at, limit);
    __syncwarp();
    for (u32 t = threadIdx.x % kWarp; t < size; t += kWarp) edges += common(a, b, g.row(list[t]), list[t]);
    __syncwarp();
  }
  return edges;
}

// Count the cliques of u and of pairs i, j < i for rows first .. last - 1, a warp per row.
__device__ void count_rows(const LocalGraph& g, u32 first, u32 last, u32 k, const Sums& sums, u16* lists) {
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  u16 *const list = lists + warp * 2 * kListed, *const inner = list + kListed;
  u64 of_u = 0;
  for (u32 i = first + warp; i < last; i += kWarps) {
    u64 of_i = 0;
    for (u32 at = 0; at * 32 < i; at += kListed / 32) {
      const u32 size = list_bits(list, g.row(i), nullptr, at, i);
      __syncwarp();
      if (k < 5) {
        for (u32 t = lane; t < size; t += kWarp) {
          const u32 j = list[t];
          const u32 cliques = k == 3 ? 1 : common(g.row(i), g.row(j), sums.spokes ? g.d : j);
          if (sums.spokes && cliques) add_side(g, sums, i, j, cliques);
          of_i += cliques;
        }
      } else {
        for (u32 t = 0; t < size; ++t) {
          const u32 j = list[t];
          u32 cliques = common_edges(g, i, j, sums.spokes ? g.d : j, inner);
          if (sums.spokes) {
            cliques = warp_sum(cliques);
            if (lane) cliques = 0;
            if (cliques) add_side(g, sums, i, j, cliques);
          }
          of_i += cliques;
        }
      }
      __syncwarp();
    }
    of_i = warp_sum(of_i);
    if (lane == 0 && sums.spokes && of_i) atomicAdd(sums.spokes + i, of_i);
    of_u += of_i;
  }
  if (lane == 0 && of_u) atomicAdd(sums.of_u, of_u);
}

// Count the cliques of the vertices `rows`, whose rows have at most `most` entries: a block draws one. Shared
// memory: `most` sums of 8 bytes if sides are counted, kListWords words, and the bits.
extern "C" __global__ void __launch_bounds__(kThreads)
clique_rows(const i64* offsets, const u32* columns, const u32* rows, u32 first, u32 last, u32 k, u32 most,
            u64* at_last, u64* spokes, u64* counts, u32* ticket) {
  RTC_DYNAMIC_SHARED(u64, memory);
  RTC_SHARED(u32, drawn, 1);
  u64* const own = spokes ? memory : nullptr;
  u32 *const words = reinterpret_cast<u32*>(memory + (spokes ? most : 0)), *const bits = words + kListWords;
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = first + RTC_TICKET(ticket);
    __syncthreads();
    if (drawn[0] >= last) return;
    const u32 u = rows[drawn[0]];
    const LocalGraph g = local_graph(offsets, columns, u, bits);
    for (u32 t = threadIdx.x; t < g.d * g.stride; t += blockDim.x) bits[t] = 0;
    if (own)
      for (u32 t = threadIdx.x; t < g.d; t += blockDim.x) own[t] = 0;
    set_bits(g, 0, g.d, spokes, words);
    __syncthreads();
    count_rows(g, 0, g.d, k, {at_last + u, own, counts}, reinterpret_cast<u16*>(words));
    __syncthreads();
    if (own)
      for (u32 t = threadIdx.x; t < g.d; t += blockDim.x) spokes[g.begin + t] = own[t];
  }
}

// Of part p of a long row: parts[2 * p] is the index of its vertex in `rows`, parts[2 * p + 1] the first of
// its kPartRows rows. The bits of vertex r, zeros before, begin at bits[starts[r]].
extern "C" __global__ void __launch_bounds__(kThreads)
clique_bits(const i64* offsets, const u32* columns, const u32* rows, const u64* starts, const u32* parts,
            u32* bits, u32 both) {
  RTC_SHARED(u32, filter, kFilterWords);
  const u32 r = parts[2 * blockIdx.x], first = parts[2 * blockIdx.x + 1];
  const LocalGraph g = local_graph(offsets, columns, rows[r], bits + starts[r]);
  set_bits(g, first, first + kPartRows < g.d ? first + kPartRows : g.d, both, filter);
}

extern "C" __global__ void __launch_bounds__(kThreads)
clique_parts(const i64* offsets, const u32* columns, const u32* rows, const u64* starts, const u32* parts,
             u32* bits, u32 k, u64* at_last, u64* spokes, u64* counts) {
  RTC_SHARED(u16, lists, 2 * kListWords);
  const u32 r = parts[2 * blockIdx.x], first = parts[2 * blockIdx.x + 1], u = rows[r];
  const LocalGraph g = local_graph(offsets, columns, u, bits + starts[r]);
  const Sums sums{at_last + u, spokes ? spokes + g.begin : nullptr, counts};
  count_rows(g, first, first + kPartRows < g.d ? first + kPartRows : g.d, k, sums, lists);
}

// Divide values; add each to the sum of its column too, if there are sums.
extern "C" __global__ void __launch_bounds__(kThreads)
divide(u64* values, u64 size, u32 divisor, const u32* columns, u64* sums) {
  const u64 p = element();
  if (p >= size) return;
  values[p] /= divisor;
  if (sums && values[p]) atomicAdd(sums + columns[p], values[p]);
}
