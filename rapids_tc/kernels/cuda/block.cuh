// block.cuh - what the lanes of a warp, or the threads of a block, do together: sums, places, and the tiles of
// edges that blocks take.
#pragma once
#include "device.cuh"

// ------------------------------------------------------------------------------- warps
// Combine the values of `lanes` neighboring lanes, a power of two; all of them get the result. All lanes of
// the warp.
template <class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine, u32 lanes = kWarp) {
  for (u32 step = lanes / 2; step; step /= 2) value = combine(value, __shfl_xor_sync(kFullMask, value, step));
  return value;
}

template <class T>
__device__ __forceinline__ T warp_sum(T value, u32 lanes = kWarp) {
  return warp_reduce(value, [](T a, T b) { return a + b; }, lanes);
}

// All bits that some lane's value has. All lanes of the warp.
__device__ __forceinline__ u32 warp_or(u32 value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return warp_reduce(value, [](u32 a, u32 b) { return a | b; });
#else
  return __reduce_or_sync(kFullMask, value);
#endif
}

// Sum of the values of this lane and of all lanes before it. All lanes of the warp.
template <class T>
__device__ __forceinline__ T warp_scan(T value) {
  for (u32 step = 1; step < kWarp; step *= 2) {
    const T before = __shfl_up_sync(kFullMask, value, step);
    if (threadIdx.x % kWarp >= step) value += before;
  }
  return value;
}

// Reserve size more entries behind counter; return the index of the first. All lanes of the warp.
__device__ __forceinline__ u32 reserve(u32* counter, u32 size) {
  const u32 through = warp_scan(size);
  u32 base = 0;
  if (threadIdx.x % kWarp == kWarp - 1 && through) base = atomicAdd(counter, through);
  return __shfl_sync(kFullMask, base, kWarp - 1) + through - size;
}

// Add each lane's value to sums[key], with one atomic per run of the same key in neighboring lanes. All
// lanes of the warp.
__device__ __forceinline__ void add_by_run(u64* sums, u32 key, u64 value) {
  const u32 lane = threadIdx.x % kWarp;
  for (u32 step = 1; step < kWarp; step *= 2) {  // sums of the next 2, 4, ... of the same key
    const u64 next = __shfl_down_sync(kFullMask, value, step);
    const u32 next_key = __shfl_down_sync(kFullMask, key, step);
    if (lane + step < kWarp && next_key == key) value += next;
  }
  const u32 last_key = __shfl_up_sync(kFullMask, key, 1);
  if (value && (lane == 0 || last_key != key)) atomicAdd(sums + key, value);
}

// Draw a number from the ticket for the warp; all its lanes get the same.
__device__ __forceinline__ u32 warp_ticket(u32* ticket) {
  u32 drawn = 0;
  if (threadIdx.x % kWarp == 0) drawn = RTC_TICKET(ticket);
  return __shfl_sync(kFullMask, drawn, 0);
}

// ------------------------------------------------------------------------------- blocks
// The sum of the values of the threads before this one; all becomes the sum of the values of all. All threads
// of the block, which has n_warps warps; sums, a shared word per warp, may be written again behind the next
// barrier.
template <u32 n_warps, class T>
__device__ __forceinline__ T block_scan(T own, T* sums, T& all) {
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const T through = warp_scan(own);
  if (lane == kWarp - 1) sums[warp] = through;
  __syncthreads();  // the sums of all warps are there
  const T warps = warp_scan(lane < n_warps ? sums[lane] : T(0));
  const T before = __shfl_sync(kFullMask, warps, warp ? warp - 1 : 0);
  all = __shfl_sync(kFullMask, warps, n_warps - 1);
  return (warp ? before : 0) + through - own;
}

// The items of a tile that a block sorts by key, so that it writes runs of items. A thread per key knows how
// many items have it, found[key], and where the next of them goes, *free. They are collected from start[key]
// on, and the item at i goes to target[key] + i. Return start[key]. All threads of the block.
template <u32 n_warps>
__device__ __forceinline__ u32 place_keys(const u32* found, u32* free, u32* start, u32* target, u32* sums) {
  const u32 key = threadIdx.x, own = found[key];
  u32 all;
  const u32 first = block_scan<n_warps>(own, sums, all);
  start[key] = first;
  target[key] = (own ? atomicAdd(free, own) : 0u) - first;
  return first;
}

// Draw numbers from the ticket, and call each(first + number) while this is below last. All threads of the block.
// `drawn` is a shared word; each() waits for all threads after it began.
template <class Each>
__device__ __forceinline__ void draw_tasks(u32 first, u32 last, u32* ticket, u32* drawn, const Each& each) {
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = first + RTC_TICKET(ticket);
    __syncthreads();  // the number is drawn, and what is shared is as the task before left it
    const u32 task = drawn[0];
    if (task >= last) return;
    each(task);
  }
}

// ------------------------------------------------------------------------------- tiles of edges
constexpr u32 kTileEach = 8;  // edges or rows per thread, if blocks take kTile of them
constexpr u32 kTile = kThreads * kTileEach;

// The edges begin .. end - 1 of a block of threads, and the rows that hold them: the block finds the ends
// of this range of rows once, so that its threads search few rows.
struct EdgeTile {
  const i64* offsets;
  u64 begin, end;
  const u64* rows;  // shared: one past the row of the first edge, and of the last

  __device__ EdgeTile(const i64* offsets, u64 n, u64 m, u64* shared)
      : offsets(offsets),
        begin(u64(blockIdx.x) * kTile),
        end(begin + kTile < m ? begin + kTile : m),
        rows(shared) {
    if (threadIdx.x % kWarp == 0 && threadIdx.x / kWarp < 2)
      shared[threadIdx.x / kWarp] = lower_bound(offsets, n + 1, i64(threadIdx.x ? end : begin + 1));
    __syncthreads();  // the range of rows is known
  }
  __device__ u32 row(u64 p) const {
    return u32(rows[0] + lower_bound(offsets + rows[0], rows[1] - rows[0], i64(p + 1)) - 1);
  }
};
