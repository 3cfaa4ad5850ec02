// buckets.cu - makes the CSR of a large graph from buckets of packed keys, larger rank << 32 | smaller rank,
// to which partition.cu has moved them. A bucket has all keys of its rows. In the order in which the kernels
// run:
//
//   sort_narrow, sort_wide, (a running sum), write_buckets; if asked for, part_positions, put_positions
//
// A block sorts a bucket in shared memory, and drops repeats and loops. As a bucket has few rows, a key is
// packed again: its row in the bucket, and the bits that its column may have. Most buckets are sorted as 32
// bits.
//
// The last two kernels say at which position of the columns the edge of each raw row is. The numbers of these
// rows have come with the keys. To put each position at once where it belongs would take a write of its own
// to memory; therefore pairs of number and position first move to parts of rows, which stay in the cache
// while they are filled.
#include "parts.cuh"

#ifndef RTC_SORT_THREADS
#define RTC_SORT_THREADS 512
#endif
constexpr u32 kSortThreads = RTC_SORT_THREADS, kSortEach = 17, kSortWarps = kSortThreads / kWarp;
constexpr u32 kSorted = kSortThreads * kSortEach;  // items that a block sorts
constexpr u32 kDigitBits = 6 + 2 * (kSortThreads >= 256), kDigits = 1u << kDigitBits;
constexpr u32 kPutEach = 4;
static_assert(kDigits <= kSortThreads, "a thread per digit");

__device__ __forceinline__ u32 bits_of(u32 x) { return x ? 32 - __clz(int(x)) : 0; }

// The keys of a bucket packed again as K: those of `n_rows` rows from `first` on.
template <class K>
struct Packing {
  u32 first, n_rows, column_bits;

  __device__ Packing(u32 first, u32 n_rows)
      : first(first),
        n_rows(n_rows),
        column_bits(bits_of(first + n_rows - 1)) {}  // a column is below its row
  __device__ u32 bits() const { return column_bits + bits_of(n_rows); }
  __device__ K none() const { return K(n_rows) << column_bits; }  // above all others
  __device__ K pack(u64 key) const {
    const u32 row = u32(key >> 32), column = u32(key);
    return row == column ? none() : K(row - first) << column_bits | column;
  }
  __device__ u32 row(K item) const { return u32(item >> column_bits); }
  __device__ u32 column(K item) const { return u32(item) & u32((1ull << column_bits) - 1); }
};

// The item that this thread holds at t, before and after each pass of a sort.
__device__ __forceinline__ u32 slot(u32 t) {
  return (threadIdx.x / kWarp * kSortEach + t) * kWarp + threadIdx.x % kWarp;
}

// Sort the items of all threads to `sorted`: by one digit after another, the last first, items of one digit
// in the order of their slots. counts: a word per warp and digit. All threads of the block.
template <class K>
__device__ __forceinline__ void
sort_items(K (&item)[kSortEach], u32 bits, K* sorted, u32* counts, u32* sums) {
  const u32 lane = threadIdx.x % kWarp;
  u32* const own = counts + threadIdx.x / kWarp * kDigits;
  u32 rank[kSortEach];  // among the items of the warp with the same digit
  for (u32 shift = 0; shift < bits; shift += kDigitBits) {
    for (u32 d = lane; d < kDigits; d += kWarp) own[d] = 0;
    __syncwarp(kFullMask);
#pragma unroll
    for (u32 t = 0; t < kSortEach; t++) {
      const u32 digit = u32(item[t] >> shift) & (kDigits - 1);
      u32 peers = kFullMask;  // lanes of the same digit
#pragma unroll
      for (u32 b = 0; b < kDigitBits; b++) {
        const u32 votes = __ballot_sync(kFullMask, digit >> b & 1);
        peers &= digit >> b & 1 ? votes : ~votes;
      }
      const u32 before = own[digit], lower = __popc(peers & ((1u << lane) - 1));
      __syncwarp(kFullMask);  // all lanes have read
      if (lower == 0) own[digit] = before + __popc(peers);
      __syncwarp(kFullMask);  // one lane per digit has written
      rank[t] = before + lower;
    }
    __syncthreads();  // all are counted, and the items of the pass before are read
    u32 total = 0, all;
    if (threadIdx.x < kDigits)
      for (u32 w = 0; w < kSortWarps; w++) total += counts[w * kDigits + threadIdx.x];
    u32 place = block_scan<kSortWarps>(total, sums, all);
    if (threadIdx.x < kDigits)
      for (u32 w = 0; w < kSortWarps; w++) {  // counts become the place of the first item of each
        const u32 count = counts[w * kDigits + threadIdx.x];
        counts[w * kDigits + threadIdx.x] = place;
        place += count;
      }
    __syncthreads();  // the places are there
#pragma unroll
    for (u32 t = 0; t < kSortEach; t++)
      sorted[own[u32(item[t] >> shift) & (kDigits - 1)] + rank[t]] = item[t];
    __syncthreads();  // the items are in the order of this digit
    if (shift + kDigitBits < bits) {
#pragma unroll
      for (u32 t = 0; t < kSortEach; t++) item[t] = sorted[slot(t)];
    }
  }
}

// Keep each edge once, which `sorted` has in order, repeats and `none` last. Return the number of edges. All
// threads of the block.
template <class K>
__device__ __forceinline__ u32 drop_repeats(K* sorted, K none, u32* sums) {
  K item[kSortEach];
  const u32 begin = threadIdx.x * kSortEach;
  u32 kept = 0, all;
  K previous = begin ? sorted[begin - 1] : none;  // which is no edge
#pragma unroll
  for (u32 t = 0; t < kSortEach; t++) {
    item[t] = sorted[begin + t];
    kept += item[t] < none && item[t] != previous;
    previous = item[t];
  }
  previous = begin ? sorted[begin - 1] : none;
  u32 place = block_scan<kSortWarps>(kept, sums, all);  // behind whose barrier all have read
#pragma unroll
  for (u32 t = 0; t < kSortEach; t++) {
    if (item[t] < none && item[t] != previous) sorted[place++] = item[t];
    previous = item[t];
  }
  __syncthreads();  // the edges are there
  return all;
}

// A block per bucket b: keys from begins[b] on, of the rows from rows[b] on. The columns of its edges go to
// `found`, from begins[b] on, and their number to kept[b]; offsets become places among them. With `numbers`,
// each key becomes its number << 32 | the place of its edge, which is kNone for loops. Nothing is done if a
// bucket is too_large.
template <class K>
__device__ __forceinline__ void sort_bucket(u64* keys, const u32* begins, const u32* rows, const u32* numbers,
                                            u32* found, u32* kept, i64* offsets, const u32* too_large) {
  RTC_DYNAMIC_SHARED(u64, memory);
  RTC_SHARED(u32, sums, kSortWarps);
  const u32 b = blockIdx.x, begin = begins[b], size = begins[b + 1] - begin, first = rows[b];
  const Packing<K> packing(first, rows[b + 1] - first);
  const bool narrow = packing.bits() <= 32;
  if (*too_large || rows[b + 1] == first || narrow != (sizeof(K) == sizeof(u32))) return;
  K* const sorted = reinterpret_cast<K*>(memory);
  u32* const counts = reinterpret_cast<u32*>(sorted + kSorted);
  K item[kSortEach];
#pragma unroll
  for (u32 t = 0; t < kSortEach; t++)
    item[t] = slot(t) < size ? packing.pack(keys[u64(begin) + slot(t)]) : packing.none();
  sort_items(item, packing.bits(), sorted, counts, sums);
  const u32 edges = drop_repeats(sorted, packing.none(), sums);
  for (u32 i = threadIdx.x; i < edges; i += kSortThreads) {
    found[u64(begin) + i] = packing.column(sorted[i]);
    const u32 row = packing.row(sorted[i]);
    for (u32 r = i ? packing.row(sorted[i - 1]) + 1 : 0; r <= row; r++) offsets[u64(first) + r] = i;
  }
  const u32 after = edges ? packing.row(sorted[edges - 1]) + 1 : 0;
  for (u32 r = after + threadIdx.x; r < packing.n_rows; r += kSortThreads) offsets[u64(first) + r] = edges;
  if (threadIdx.x == 0) kept[b] = edges;
  if (!numbers) return;
  for (u64 i = begin + threadIdx.x; i < u64(begin) + size; i += kSortThreads) {
    const K own = packing.pack(keys[i]);
    keys[i] = u64(numbers[i]) << 32 | (own < packing.none() ? lower_bound(sorted, edges, own) : kNone);
  }
}

extern "C" __global__ void __launch_bounds__(kSortThreads, 2)
sort_narrow(u64* keys, const u32* begins, const u32* rows, const u32* numbers, u32* found, u32* kept,
            i64* offsets, const u32* too_large) {
  sort_bucket<u32>(keys, begins, rows, numbers, found, kept, offsets, too_large);
}

extern "C" __global__ void __launch_bounds__(kSortThreads)
sort_wide(u64* keys, const u32* begins, const u32* rows, const u32* numbers, u32* found, u32* kept,
          i64* offsets, const u32* too_large) {
  sort_bucket<u64>(keys, begins, rows, numbers, found, kept, offsets, too_large);
}

// Write the columns of each bucket behind those of the buckets before it, bases[b] in all, and offsets.
extern "C" __global__ void __launch_bounds__(kThreads)
write_buckets(const u32* found, const u32* begins, const u32* rows, const u32* bases, u32* columns,
              i64* offsets) {
  const u32 b = blockIdx.x, base = bases[b], size = bases[b + 1] - base;
  const u64 begin = begins[b], first = rows[b], end = rows[b + 1];
  for (u32 i = threadIdx.x; i < size; i += kThreads) columns[base + i] = found[begin + i];
  for (u64 r = first + threadIdx.x; r < end; r += kThreads) offsets[r] += base;
  if (b + 1 == gridDim.x && threadIdx.x == 0) offsets[end] = base + size;
}

// Move the pairs of each bucket to parts of 2^bits rows, and make their places positions.
extern "C" __global__ void __launch_bounds__(kThreads)
part_positions(const u64* pairs, const u32* begins, const u32* bases, u32 bits, u32* free, u64* parted) {
  const u64 end = begins[blockIdx.x + 1];
  const u32 base = bases[blockIdx.x];
  for (u64 begin = begins[blockIdx.x]; begin < end; begin += kPartTile)
    move_tile(
        begin, smaller(begin + kPartTile, end),
        [&](u64 i) { return u32(pairs[i]) == kNone ? pairs[i] : pairs[i] + base; },
        [&](u64 pair) { return u32(pair >> 32) >> bits; }, free, parted, [](u64) { return 0u; }, nullptr);
}

// Put the position of each pair at its row: -1 for loops.
extern "C" __global__ void __launch_bounds__(kThreads)
put_positions(const u64* pairs, u64 n_pairs, int* positions) {
#pragma unroll
  for (u32 t = 0; t < kPutEach; t++) {
    const u64 i = (u64(blockIdx.x) * kPutEach + t) * kThreads + threadIdx.x;
    if (i < n_pairs) positions[pairs[i] >> 32] = int(u32(pairs[i]));
  }
}
