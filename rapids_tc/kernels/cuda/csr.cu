// csr.cu - makes the CSR from sorted packed keys, larger rank << 32 | smaller rank: count_kept, scan_counts,
// write_rows. Then count_keys counts the triangles of a small graph, and count_sides the triangles of its
// edges, which takes less time than to make a layout. Of very few keys, count_tile does all of it.
#include "block.cuh"
#include "device.cuh"

constexpr u32 kScanThreads = 1024, kScanEach = 8;
constexpr u32 kShortRun = 8;          // rows without a key that one thread writes the offsets of

// A key is kept unless it is a loop, equal to the key before, or of a row that is n or more.
__device__ __forceinline__ bool is_kept(u64 key, u64 previous, u64 i, u64 n) {
  return u32(key >> 32) != u32(key) && (i == 0 || previous != key) && key >> 32 < n;
}

// Count the keys kept of every kTile keys, which scan_counts turns into the number before them; outside
// counts the keys whose row is n or more.
extern "C" __global__ void __launch_bounds__(kThreads)
count_kept(const u64* keys, u64 n_keys, u64 n, u32* counts, u32* outside) {
  RTC_SHARED(u32, sum, 1);
  if (threadIdx.x == 0) sum[0] = 0;
  __syncthreads();   // the sum is zero
  u32 own = 0;
#pragma unroll
  for (u32 t = 0; t < kTileEach; t++) {
    const u64 i = u64(blockIdx.x) * kTile + t * kThreads + threadIdx.x;
    if (i >= n_keys) break;
    const u64 key = keys[i];
    own += is_kept(key, i ? keys[i - 1] : 0, i, n);
    if (key >> 32 >= n) atomicAdd(outside, 1u);
  }
  own = warp_sum(own);
  if (threadIdx.x % kWarp == 0) atomicAdd(sum, own);
  __syncthreads();   // every warp has added
  if (threadIdx.x == 0) counts[blockIdx.x] = sum[0];
}

// counts[i] becomes the sum of the counts before it, counts[n] the sum of all. One block, kScanEach per
// thread.
extern "C" __global__ void __launch_bounds__(kScanThreads) scan_counts(u32* counts, u32 n) {
  RTC_SHARED(u32, sums, kScanThreads / kWarp);
  u32 carry = 0, all;
  for (u64 tile = 0; tile < n; tile += kScanThreads * kScanEach) {
    const u64 begin = tile + threadIdx.x * kScanEach;
    u32 own = 0;
    for (u64 i = begin; i < begin + kScanEach && i < n; i++) own += counts[i];
    u32 before = carry + block_scan<kScanThreads / kWarp>(own, sums, all);
    carry += all;
    __syncthreads();   // all threads have read them
    for (u64 i = begin; i < begin + kScanEach && i < n; i++) {
      const u32 count = counts[i];
      counts[i] = before;
      before += count;
    }
  }
  if (threadIdx.x == 0) counts[n] = carry;
}

// Write the columns of kTile keys, and the offsets of the rows that begin with one of them: a key's thread
// writes the row of the key and the rows without a key before it. The block shares long runs of such rows.
// The last block writes the rows past the last key. Keys whose row is n or more come last: none is kept.
extern "C" __global__ void __launch_bounds__(kThreads)
write_rows(const u64* keys, u64 n_keys, const u32* counts, u64 n, u32* columns, i64* offsets) {
  constexpr u32 kSlots = kTileEach * kWarps;
  RTC_SHARED(u32, before, kSlots);          // keys kept before each kWarp keys
  RTC_SHARED(u32, runs, 2 * kTile);  // long runs: the key after the rows, and the keys kept before it
  RTC_SHARED(u32, n_runs, 1);
  static_assert(kSlots == 2 * kWarp, "a warp scans two slots per lane");
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const u64 begin = u64(blockIdx.x) * kTile;
  u64 key[kTileEach], previous[kTileEach];
  u32 votes[kTileEach];
  if (threadIdx.x == 0) n_runs[0] = 0;
#pragma unroll
  for (u32 t = 0; t < kTileEach; t++) {
    const u64 i = begin + t * kThreads + threadIdx.x;
    key[t] = i < n_keys ? keys[i] : 0;
    previous[t] = i && i < n_keys ? keys[i - 1] : 0;
    const bool keep = i < n_keys && is_kept(key[t], previous[t], i, n);
    votes[t] = __ballot_sync(kFullMask, keep);
    if (lane == 0) before[t * kWarps + warp] = __popc(votes[t]);
  }
  __syncthreads();  // every warp has counted
  if (warp == 0) {
    const u32 first = before[2 * lane], second = before[2 * lane + 1];
    const u32 through = warp_scan(first + second);
    before[2 * lane] = through - first - second;
    before[2 * lane + 1] = through - second;
  }
  __syncthreads();  // the sums are there
#pragma unroll
  for (u32 t = 0; t < kTileEach; t++) {
    const u64 i = begin + t * kThreads + threadIdx.x;
    if (i >= n_keys) continue;
    const u32 place = counts[blockIdx.x] + before[t * kWarps + warp] + __popc(votes[t] & ((1u << lane) - 1));
    if (votes[t] >> lane & 1) columns[place] = u32(key[t]);
    const u64 row = key[t] >> 32 < n ? key[t] >> 32 : n, first = i ? (previous[t] >> 32) + 1 : 0;
    if (first > row) continue;
    if (row - first < kShortRun) {
      for (u64 r = first; r <= row; r++) offsets[r] = place;
    } else {
      const u32 run = atomicAdd(n_runs, 1u);
      runs[2 * run] = u32(i - begin);
      runs[2 * run + 1] = place;
    }
  }
  __syncthreads();  // all long runs are listed
  for (u32 run = 0; run < n_runs[0]; run++) {
    const u64 i = begin + runs[2 * run], first = i ? (keys[i - 1] >> 32) + 1 : 0;
    const u64 row = keys[i] >> 32 < n ? keys[i] >> 32 : n;
    for (u64 r = first + threadIdx.x; r <= row; r += kThreads) offsets[r] = runs[2 * run + 1];
  }
  if (begin + kTile >= n_keys)
    for (u64 r = (keys[n_keys - 1] >> 32) + 1 + threadIdx.x; r <= n; r += kThreads)
      offsets[r] = counts[gridDim.x];
}

// Count the triangles of a small graph from its sorted keys and its CSR: a thread takes a key (u, v), and
// merges N+(u), up to v, with N+(v).
// total, zeros: the triangles, and the keys whose row is n or more. columns has room for every key.
extern "C" __global__ void __launch_bounds__(kThreads)
count_keys(const u64* keys, u64 n_keys, u64 n, const i64* offsets, const u32* columns, u64* total) {
  RTC_SHARED(u32, sum, 1);
  if (threadIdx.x == 0) sum[0] = 0;
  __syncthreads();  // the sum is zero
  const u64 i = element(), key = i < n_keys ? keys[i] : 0;
  const u32 u = u32(key >> 32), v = u32(key);
  u32 hits = 0;
  if (u >= n && i < n_keys) {
    atomicAdd(total + 1, 1ull);
  } else if (u != v && (i == 0 || keys[i - 1] != key)) {  // neither past the end, a loop nor a repeat
    const u32 *x = columns + offsets[u], *y = columns + offsets[v], *const end = columns + offsets[v + 1];
    while (y < end && *x < v) {  // v itself ends N+(u)
      const u32 p = *x, q = *y;
      hits += p == q;
      x += p <= q;
      y += q <= p;
    }
  }
  hits = warp_sum(hits);
  if (threadIdx.x % kWarp == 0 && hits) atomicAdd(sum, hits);
  __syncthreads();  // every warp has added
  if (threadIdx.x == 0 && sum[0]) atomicAdd(total, u64(sum[0]));
}

// Count the triangles of at most kTile keys, in any order, in one block and without a CSR: the keys are sorted
// in shared memory. total as for count_keys.
extern "C" __global__ void __launch_bounds__(kThreads)
count_tile(const u64* keys, u32 n_keys, u64 n, u64* total) {
  RTC_SHARED(u64, sorted, kTile);
  RTC_SHARED(u32, sums, kWarps);
  u32 size = 2;  // of a bitonic sort
  while (size < n_keys) size *= 2;
  for (u32 i = threadIdx.x; i < size; i += kThreads) sorted[i] = i < n_keys ? keys[i] : ~0ull;
  for (u32 width = 2; width <= size; width *= 2) {
    for (u32 step = width / 2; step; step /= 2) {
      __syncthreads();  // the step before is done
      for (u32 t = threadIdx.x; t < size / 2; t += kThreads) {
        const u32 low = 2 * t - t % step, high = low + step;
        const u64 a = sorted[low], b = sorted[high];
        const bool ascending = !(low & width);
        if ((a > b) != ascending) continue;
        sorted[low] = b;
        sorted[high] = a;
      }
    }
  }
  __syncthreads();  // all are sorted
  const u32 begin = threadIdx.x * kTileEach;
  u64 own[kTileEach], previous = begin && begin < n_keys ? sorted[begin - 1] : 0;
  u32 kept = 0, m;
  for (u32 i = begin; i < begin + kTileEach && i < n_keys; i++) {
    const u64 key = sorted[i];
    if (is_kept(key, previous, i, n)) own[kept++] = key;
    if (key >> 32 >= n) atomicAdd(total + 1, 1ull);
    previous = key;
  }
  const u32 first = block_scan<kWarps>(kept, sums, m);  // behind whose barrier all have read
  for (u32 t = 0; t < kept; t++) sorted[first + t] = own[t];
  __syncthreads();   // the edges are there, each once
  u32 hits = 0;
  for (u32 e = threadIdx.x; e < m; e += kThreads) {
    const u64 u = sorted[e] >> 32, v = u32(sorted[e]);
    u32 x = lower_bound(sorted, m, u << 32), y = lower_bound(sorted, m, v << 32);
    while (x < e && y < m && sorted[y] >> 32 == v) {  // at e, N+(u) has v
      const u32 a = u32(sorted[x]), b = u32(sorted[y]);
      hits += a == b;
      x += a <= b;
      y += b <= a;
    }
  }
  hits = warp_sum(hits);
  if (threadIdx.x % kWarp == 0 && hits) atomicAdd(total, u64(hits));
}

// Add to counts, zeros, the triangles of each edge of a small graph: a thread takes the edge at a position.
extern "C" __global__ void __launch_bounds__(kThreads)
count_sides(const i64* offsets, const u32* columns, u64 n, u64 m, u32* counts) {
  const u64 p = element();
  if (p >= m) return;
  const u32 v = columns[p];
  u64 x = offsets[lower_bound(offsets, n + 1, i64(p) + 1) - 1], y = offsets[v];
  const u64 end = offsets[v + 1];
  u32 hits = 0;
  while (x < p && y < end) {  // at p, N+(u) has v, past which N+(v) has no entries
    const u32 a = columns[x], b = columns[y];
    if (a == b) {
      hits++;
      atomicAdd(counts + x, 1u);
      atomicAdd(counts + y, 1u);
    }
    x += a <= b;
    y += b <= a;
  }
  if (hits) atomicAdd(counts + p, hits);
}
