// partition.cu - moves the packed keys of a large graph, larger rank << 32 | smaller rank, to buckets of rows
// that follow one another, which buckets.cu sorts in shared memory. In the order in which the kernels run:
//
//   count_groups, plan_parts, part_groups, then count_ranges, plan_buckets, part_ranges
//
// The same is done twice: the keys of rows are counted, the rows are cut where enough keys have come
// together, and keys move to where their rows are. First, rows are counted in groups that grow with the rank,
// as the values of a float of few bits do, since rows of low ranks are the longest: they are cut in parts.
// Then the rows of each part are counted in ranges of one size, and cut in buckets.
//
// Rows are cut by weight, the number of their keys and their own, so that neither many keys nor many rows
// without a key are in one bucket. The number of each key, its place before, may travel with it.
//
// A plan sets too_large to 1 if a part is heavier than its buckets, or a bucket has more keys than a block
// sorts. All later kernels then leave at once, so that the host need not wait for the plans: it sorts the
// keys, which are as they were.
#include "parts.cuh"

constexpr u32 kGroupBits = 9;  // of a row that tell its group, the leading one aside
constexpr u32 kCountThreads = 1024, kCutThreads = 256;
static_assert(kCutThreads == kParts, "a thread per part");

// The group of a row: the row itself, or its leading bits, above those of shorter rows.
__device__ __forceinline__ u32 group_of(u32 row) {
  if (row >> kGroupBits == 0) return row;
  const u32 shift = 31 - __clz(int(row)) - kGroupBits;
  return (shift << kGroupBits) + (row >> shift);
}

__device__ __forceinline__ u64 first_of_group(u32 group) {
  const u32 bits = group >> kGroupBits;
  return bits == 0 ? group : u64(group - ((bits - 1) << kGroupBits)) << (bits - 1);
}

// A part of so many rows has 2^range_bits ranges: how many bits of a row's number in its part its range
// lacks.
__device__ __forceinline__ u32 range_shift(u32 rows, u32 range_bits) {
  const u32 bits = rows > 1 ? 32 - __clz(int(rows - 1)) : 0;
  return bits > range_bits ? bits - range_bits : 0;
}

// Count keys by class_of(key), which is below size, or kNone: those of a block in shared memory first.
template <class Class>
__device__ __forceinline__ void
count_classes(const u64* keys, u64 begin, u64 end, u32 size, u32* counts, const Class& class_of) {
  RTC_DYNAMIC_SHARED(u32, found);
  for (u32 g = threadIdx.x; g < size; g += kCountThreads) found[g] = 0;
  __syncthreads();  // the counts are zero
  const u64 step = u64(gridDim.x) * kCountThreads;
  for (u64 i = begin + u64(blockIdx.x) * kCountThreads + threadIdx.x; i < end; i += step) {
    const u32 own = class_of(keys[i]);
    if (own != kNone) atomicAdd(found + own, 1u);
  }
  __syncthreads();  // all are counted
  for (u32 g = threadIdx.x; g < size; g += kCountThreads)
    if (found[g]) atomicAdd(counts + g, found[g]);
}

// Cut the rows of `size` classes, groups or ranges of counts[i] keys, into n_sets sets: a class is of set
// weight / window, by the weight of the rows before it. A set s has the keys from begins[s] on, of the rows
// from rows[s] on; the first begins with `key`. free becomes the place of the next key of each set. Return
// the keys of the largest set that this thread has seen. All threads of the block.
template <class FirstRow>
__device__ __forceinline__ u32 cut(const u32* counts, u32 size, const FirstRow& first_row, u32 end_row,
                                   u32 window, u32 n_sets, u32 key, u8* set_of, u32* begins, u32* rows,
                                   u32* free) {
  RTC_SHARED(u32, sums, kCutThreads / kWarp);
  const auto set = [&](u32 i, u32 keys_before) {
    const u32 s = u32((keys_before + first_row(i) - first_row(0)) / window);
    return s < n_sets ? s : n_sets - 1;
  };
  u32 carry = 0, all;
  for (u32 tile = 0; tile < size; tile += kCutThreads) {
    const u32 i = tile + threadIdx.x, own = i < size ? counts[i] : 0;
    const u32 before = carry + block_scan<kCutThreads / kWarp>(own, sums, all);
    carry += all;
    __syncthreads();  // all threads have read the sums
    if (i >= size) continue;
    const u32 s = set(i, before);
    set_of[i] = u8(s);
    for (u32 r = i ? set(i - 1, before - counts[i - 1]) + 1 : 0; r <= s; r++) {  // those that begin here
      begins[r] = key + before;
      rows[r] = u32(first_row(i));
    }
    if (i + 1 < size) continue;
    for (u32 r = s + 1; r < n_sets; r++) {  // those that remain are empty
      begins[r] = key + before + own;
      rows[r] = end_row;
    }
  }
  __syncthreads();  // all sets are there
  u32 largest = 0;
  for (u32 s = threadIdx.x; s < n_sets; s += kCutThreads) {
    free[s] = begins[s];
    largest = larger(largest, (s + 1 < n_sets ? begins[s + 1] : key + carry) - begins[s]);
  }
  return largest;
}

// --------------------------------------------------------------------------- parts of all rows
// outside: the keys whose row is n or more.
extern "C" __global__ void __launch_bounds__(kCountThreads)
count_groups(const u64* keys, u64 n_keys, u64 n, u32 n_groups, u32* counts, u32* outside) {
  count_classes(keys, 0, n_keys, n_groups, counts, [&](u64 key) {
    if (key >> 32 < n) return group_of(u32(key >> 32));
    atomicAdd(outside, 1u);
    return kNone;
  });
}

// One block. begins, rows: kParts + 1. tiles: the number of tiles of the parts before each, and of all.
// most_weight: what the buckets of a part hold.
extern "C" __global__ void __launch_bounds__(kCutThreads)
plan_parts(const u32* counts, u32 n_groups, u64 n, u32 window, u64 most_weight, u8* part_of, u32* begins,
           u32* rows, u32* free, u32* tiles, u32* too_large) {
  RTC_SHARED(u32, sums, kCutThreads / kWarp);
  const auto first_row = [&](u32 group) { return first_of_group(group); };
  cut(counts, n_groups, first_row, u32(n), window, kParts, 0, part_of, begins, rows, free);
  u32 own = 0, all;
  for (u32 g = threadIdx.x; g < n_groups; g += kCutThreads) own += counts[g];
  block_scan<kCutThreads / kWarp>(own, sums, all);
  if (threadIdx.x == 0) {
    begins[kParts] = all;
    rows[kParts] = u32(n);
  }
  __syncthreads();  // the end of the last part is there
  const u32 c = threadIdx.x, size = begins[c + 1] - begins[c];
  tiles[c] = block_scan<kCutThreads / kWarp>((size + kPartTile - 1) / kPartTile, sums, all);
  if (c == 0) tiles[kParts] = all;
  if (u64(size) + rows[c + 1] - rows[c] > most_weight) atomicMax(too_large, 1u);
}

// Keys whose row is n or more are left out.
extern "C" __global__ void __launch_bounds__(kThreads)
part_groups(const u64* keys, u64 n_keys, u64 n, const u8* part_of, u32* free, u64* parted, u32* numbers,
            const u32* too_large) {
  if (*too_large) return;
  const u64 begin = u64(blockIdx.x) * kPartTile;
  move_tile(
      begin, smaller(begin + kPartTile, n_keys), [&](u64 i) { return keys[i]; },
      [&](u64 key) { return key >> 32 < n ? u32(part_of[group_of(u32(key >> 32))]) : kNone; }, free, parted,
      [&](u64 i) { return u32(i); }, numbers);
}

// --------------------------------------------------------------------------- buckets of each part
// blockIdx.y: the part.
extern "C" __global__ void __launch_bounds__(kCountThreads)
count_ranges(const u64* parted, const u32* begins, const u32* rows, u32 range_bits, u32* counts,
             const u32* too_large) {
  if (*too_large) return;
  const u32 c = blockIdx.y, first = rows[c], shift = range_shift(rows[c + 1] - first, range_bits);
  if (begins[c] == begins[c + 1]) return;
  count_classes(parted, begins[c], begins[c + 1], 1u << range_bits, counts + (c << range_bits),
                [&](u64 key) { return (u32(key >> 32) - first) >> shift; });
}

// A block per part. Each has n_sets buckets, empty ones last; most: the keys that a bucket may have.
extern "C" __global__ void __launch_bounds__(kCutThreads)
plan_buckets(const u32* begins, const u32* rows, const u32* counts, u32 range_bits, u32 window, u32 n_sets,
             u32 most, u8* bucket_of, u32* bucket_begins, u32* bucket_rows, u32* free, u32* too_large) {
  const u32 c = blockIdx.x, at = c * n_sets, first = rows[c], n_rows = rows[c + 1] - first;
  const u32 shift = range_shift(n_rows, range_bits);
  const auto first_row = [&](u32 range) { return first + smaller(u64(range) << shift, u64(n_rows)); };
  const u32 own =
      cut(counts + (c << range_bits), 1u << range_bits, first_row, first + n_rows, window, n_sets, begins[c],
          bucket_of + (c << range_bits), bucket_begins + at, bucket_rows + at, free + at);
  if (own > most) atomicMax(too_large, 1u);
  if (c + 1 < kParts || threadIdx.x) return;
  bucket_begins[kParts * n_sets] = begins[kParts];
  bucket_rows[kParts * n_sets] = rows[kParts];
}

// A block per tile of a part. The keys go to `keys`, and their numbers, if any, to `moved`.
extern "C" __global__ void __launch_bounds__(kThreads)
part_ranges(const u64* parted, const u32* numbers, const u32* begins, const u32* rows, const u32* tiles,
            const u8* bucket_of, u32 range_bits, u32 n_sets, u32* free, u64* keys, u32* moved,
            const u32* too_large) {
  if (*too_large || blockIdx.x >= tiles[kParts]) return;
  const u32 c = lower_bound(tiles, kParts + 1, blockIdx.x + 1) - 1;
  const u32 first = rows[c], shift = range_shift(rows[c + 1] - first, range_bits);
  const u64 begin = begins[c] + u64(blockIdx.x - tiles[c]) * kPartTile;
  move_tile(
      begin, smaller(begin + kPartTile, u64(begins[c + 1])), [&](u64 i) { return parted[i]; },
      [&](u64 key) { return u32(bucket_of[(c << range_bits) + ((u32(key >> 32) - first) >> shift)]); },
      free + c * n_sets, keys, [&](u64 i) { return numbers[i]; }, moved);
}
