// rows.cu - reads raw rows, and makes keys of them. In the order in which the kernels run:
//
//   ids -> range:            id_range32 or id_range64
//   ids -> numbers, degrees: read_ends32 or read_ends64; of many rows bucket_ends32 or bucket_ends64,
//                            scan_counts of csr.cu, part_numbers, part_degrees
//   order -> ranks:          write_ranks
//   ranks of ends -> keys:   pack_pairs
//
// Ids may be the user's memory, which another stream may write: the kernels that number ids read each once,
// and write numbers that later kernels may trust. Ids may begin at any address. Names end in the bits of an
// id; a signed id is read as an unsigned one. A launch reads two columns of one dtype: blockIdx.y says which.
#include "block.cuh"
#include "device.cuh"

constexpr u32 kReads = 4;  // ids that a thread reads at once
constexpr u32 kRangeBlocks = 2048;  // most blocks that look for the range
constexpr u32 kBuckets = 512, kPartThreads = 512, kPartEach = 16, kPartTile = kPartThreads * kPartEach;
constexpr u32 kBucketThreads = 1024;  // of a block that counts in one bucket
static_assert(kBuckets == kPartThreads, "a thread per bucket");

// ------------------------------------------------------------------------------- the range of ids
// The range of a column, zeros, becomes the largest complement and the largest of the ids with the bits of
// `flip` inverted, which orders signed ids as unsigned ones.
template <class T>
__device__ __forceinline__ void find_range(const T* ids, u64 n, T flip, u64* range) {
  T low = 0, high = 0;
  const u64 step = u64(gridDim.x) * kThreads * kReads;
  for (u64 begin = u64(blockIdx.x) * kThreads * kReads; begin < n; begin += step) {
#pragma unroll
    for (u32 t = 0; t < kReads; t++) {
      const u64 i = begin + t * kThreads + threadIdx.x;
      if (i >= n) break;
      const T id = ids[i] ^ flip, complement = ~id;
      if (id > high) high = id;
      if (complement > low) low = complement;
    }
  }
  low = warp_reduce(low, larger<T>);
  high = warp_reduce(high, larger<T>);
  if (threadIdx.x % kWarp == 0) {
    atomicMax(range, u64(low));
    atomicMax(range + 1, u64(high));
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
id_range32(const u32* ids, const u32* others, u64 n, u64 flip, u64* ranges) {
  find_range(blockIdx.y ? others : ids, n, u32(flip), ranges + 2 * blockIdx.y);
}

extern "C" __global__ void __launch_bounds__(kThreads)
id_range64(const u64* ids, const u64* others, u64 n, u64 flip, u64* ranges) {
  find_range(blockIdx.y ? others : ids, n, flip, ranges + 2 * blockIdx.y);
}

// ------------------------------------------------------------------------------- numbers and degrees
// The number of an id: the id itself, or 0 for one that is not below size, which outside counts.
template <class T>
__device__ __forceinline__ u32 number_of(T id, u64 size, u32* outside) {
  if (id < size) return u32(id);
  atomicAdd(outside, 1u);
  return 0;
}

// Write the numbers of kThreads * kReads ids; add to degree, unless it is null, how often each occurs.
template <class T>
__device__ __forceinline__ void
read_ends(const T* ids, u64 n, u64 size, u32* numbers, u32* degree, u32* outside) {
#pragma unroll
  for (u32 t = 0; t < kReads; t++) {
    const u64 i = (u64(blockIdx.x) * kReads + t) * kThreads + threadIdx.x;
    if (i >= n) return;
    const u32 number = number_of(ids[i], size, outside);
    numbers[i] = number;
    if (degree) atomicAdd(degree + number, 1u);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
read_ends32(const u32* ids, const u32* others, u64 n, u64 size, u32* numbers, u32* degree, u32* outside) {
  read_ends(blockIdx.y ? others : ids, n, size, numbers + blockIdx.y * n, degree, outside);
}

extern "C" __global__ void __launch_bounds__(kThreads)
read_ends64(const u64* ids, const u64* others, u64 n, u64 size, u32* numbers, u32* degree, u32* outside) {
  read_ends(blockIdx.y ? others : ids, n, size, numbers + blockIdx.y * n, degree, outside);
}

// Write the numbers of ids; add to counts how many are in each bucket of 2^shift numbers.
template <class T>
__device__ __forceinline__ void
bucket_ends(const T* ids, u64 n, u64 size, u32 shift, u32* numbers, u32* counts, u32* outside, u32* found) {
  found[threadIdx.x] = 0;
  __syncthreads();  // the counts are zero
  const u64 step = u64(gridDim.x) * kPartThreads * kReads;
  for (u64 begin = u64(blockIdx.x) * kPartThreads * kReads; begin < n; begin += step) {
#pragma unroll
    for (u32 t = 0; t < kReads; t++) {
      const u64 i = begin + t * kPartThreads + threadIdx.x;
      if (i >= n) break;
      const u32 number = number_of(ids[i], size, outside);
      numbers[i] = number;
      atomicAdd(found + (number >> shift), 1u);
    }
  }
  __syncthreads();  // all are counted
  if (found[threadIdx.x]) atomicAdd(counts + threadIdx.x, found[threadIdx.x]);
}

extern "C" __global__ void __launch_bounds__(kPartThreads)
bucket_ends32(const u32* ids, const u32* others, u64 n, u64 size, u32 shift, u32* numbers, u32* counts,
              u32* outside) {
  RTC_SHARED(u32, found, kBuckets);
  const u32* const own = blockIdx.y ? others : ids;
  bucket_ends(own, n, size, shift, numbers + blockIdx.y * n, counts, outside, found);
}

extern "C" __global__ void __launch_bounds__(kPartThreads)
bucket_ends64(const u64* ids, const u64* others, u64 n, u64 size, u32 shift, u32* numbers, u32* counts,
              u32* outside) {
  RTC_SHARED(u32, found, kBuckets);
  const u64* const own = blockIdx.y ? others : ids;
  bucket_ends(own, n, size, shift, numbers + blockIdx.y * n, counts, outside, found);
}

// Move the last bits of kPartTile numbers to their buckets: a block collects what goes to one bucket, so that
// it writes runs. free is the place of the next number of each bucket.
extern "C" __global__ void __launch_bounds__(kPartThreads)
part_numbers(const u32* numbers, u64 n, u32 shift, u32* free, u16* parted) {
  RTC_SHARED(u32, found, kBuckets);
  RTC_SHARED(u32, start, kBuckets);  // of a bucket in `items`
  RTC_SHARED(u32, target, kBuckets);  // from a place in `items` to one in the bucket
  RTC_SHARED(u32, sums, kPartThreads / kWarp);
  RTC_SHARED(u16, items, kPartTile);
  RTC_SHARED(u16, buckets, kPartTile);
  const u64 begin = u64(blockIdx.x) * kPartTile;
  const u32 size = n - begin < kPartTile ? u32(n - begin) : kPartTile;
  found[threadIdx.x] = 0;
  __syncthreads();  // the counts are zero
  u32 number[kPartEach], place[kPartEach];
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++) {
    const u32 i = t * kPartThreads + threadIdx.x;
    number[t] = i < size ? numbers[begin + i] : 0;
  }
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++)
    if (t * kPartThreads + threadIdx.x < size) place[t] = atomicAdd(found + (number[t] >> shift), 1u);
  __syncthreads();  // all are counted
  place_keys<kPartThreads / kWarp>(found, free + threadIdx.x, start, target, sums);
  __syncthreads();  // every bucket has its places
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++) {
    if (t * kPartThreads + threadIdx.x >= size) continue;
    const u32 bucket = number[t] >> shift, i = start[bucket] + place[t];
    items[i] = u16(number[t] & ((1u << shift) - 1));
    buckets[i] = u16(bucket);
  }
  __syncthreads();  // all are collected
  for (u32 i = threadIdx.x; i < size; i += kPartThreads) parted[target[buckets[i]] + i] = items[i];
}

// Add to degree how often each number of a bucket occurs: grid (blocks of a bucket, buckets). starts has
// where each bucket begins, and the end. A thread reads kWord numbers at once where it may.
extern "C" __global__ void __launch_bounds__(kBucketThreads)
part_degrees(const u16* parted, const u32* starts, u32 shift, u32* degree) {
  RTC_DYNAMIC_SHARED(u32, found);
  constexpr u32 kWord = 8;
  const u32 width = 1u << shift, begin = starts[blockIdx.y], end = starts[blockIdx.y + 1];
  if (begin == end) return;
  for (u32 i = threadIdx.x; i < width; i += kBucketThreads) found[i] = 0;
  __syncthreads();  // the counts are zero
  const u32 step = gridDim.x * kBucketThreads, own = blockIdx.x * kBucketThreads + threadIdx.x;
  for (u64 word = begin / kWord + own; word * kWord < end; word += step) {
    const u64 first = word * kWord;
    if (first >= begin && first + kWord <= end) {
      const uint4 four = reinterpret_cast<const uint4*>(parted)[word];
      const u32 pairs[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (u32 t = 0; t < kWord / 2; t++) {
        atomicAdd(found + (pairs[t] & 0xffff), 1u);
        atomicAdd(found + (pairs[t] >> 16), 1u);
      }
    } else {
      for (u64 i = first; i < first + kWord; i++)
        if (i >= begin && i < end) atomicAdd(found + parted[i], 1u);
    }
  }
  __syncthreads();  // all are counted
  for (u32 i = threadIdx.x; i < width; i += kBucketThreads)
    if (found[i]) atomicAdd(degree + (u64(blockIdx.y) << shift) + i, found[i]);
}

// ------------------------------------------------------------------------------- ranks and keys
// Write the rank of every number: the place of the number in the order.
extern "C" __global__ void __launch_bounds__(kThreads) write_ranks(const int* order, u64 n, u32* rank) {
  const u64 i = element();
  if (i < n) rank[order[i]] = u32(i);
}

// Write the keys of pairs, larger << 32 | smaller: less says whether the first of a pair is the smaller.
extern "C" __global__ void __launch_bounds__(kThreads)
pack_pairs(const u32* first, const u32* second, const bool* less, u64 n, u64* keys) {
#pragma unroll
  for (u32 t = 0; t < kReads; t++) {
    const u64 i = (u64(blockIdx.x) * kReads + t) * kThreads + threadIdx.x;
    if (i >= n) return;
    const u32 a = first[i], b = second[i];
    keys[i] = less[i] ? u64(b) << 32 | a : u64(a) << 32 | b;
  }
}

// ------------------------------------------------------------------------------- values of edges
// Add the bits of each row's code to those of its edge, four edges to a word. Most bits are there after a few rows.
extern "C" __global__ void __launch_bounds__(kThreads)
unite_codes(const i64* edge, const u8* codes, u64 n, u32* words) {
  const u64 i = element();
  if (i >= n) return;
  const u32 bits = u32(codes[i]) << edge[i] % 4 * 8;
  u32* const word = words + edge[i] / 4;
  if (bits & ~RTC_PEEK(word)) atomicOr(word, bits);
}
