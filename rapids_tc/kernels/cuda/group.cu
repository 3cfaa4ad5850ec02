// group.cu - groups the in-edges of a whole graph by pivot vertex without a sort: counts the in-edges of
// each vertex, and moves each in-edge to its place in two steps. In the order in which the kernels run:
//
//   count_columns, (a running sum), group_starts, part_columns, place_rows
//
// Ranks below `hot` are in kGroups groups of kGroups ranks: part_columns moves in-edges to their group, and
// place_rows, in a group, to their rank. A block of threads first collects what goes to one place, so that it
// writes runs of entries. Ranks from `hot` on have few in-edges in graphs with hubs: part_columns lists these
// as v << 32 | position, for a sort. The in-edges of a rank below `hot` are in no order to be relied on.
#include "block.cuh"
#include "device.cuh"
#include "row_words.cuh"

constexpr u32 kGroups = 256;  // groups, and ranks of a group
constexpr u32 kGroupEach = 12, kGroupTile = kThreads * kGroupEach;
constexpr u32 kCountThreads = 1024;
static_assert(kGroups == kThreads, "a thread per group, and per rank of a group");

// Count the entries of each column; the columns below `hot` first in the memory that the block shares.
extern "C" __global__ void __launch_bounds__(kCountThreads)
count_columns(const u32* columns, u64 m, u32 hot, u32* counts) {
  RTC_DYNAMIC_SHARED(u32, found);
  for (u32 v = threadIdx.x; v < hot; v += kCountThreads) found[v] = 0;
  __syncthreads();  // the counts are zero
  const u64 step = u64(gridDim.x) * kCountThreads;
  for (u64 p = u64(blockIdx.x) * kCountThreads + threadIdx.x; p < m; p += step) {
    const u32 v = columns[p];
    atomicAdd(v < hot ? found + v : counts + v, 1u);
  }
  __syncthreads();  // all are counted
  for (u32 v = threadIdx.x; v < hot; v += kCountThreads)
    if (found[v]) atomicAdd(counts + v, found[v]);
}

// One block. free becomes the place of the next in-edge of each group, and 0 for the ranks from `hot` on;
// tiles the number of tiles of the groups before each, and of all groups.
extern "C" __global__ void __launch_bounds__(kThreads)
group_starts(const u32* in_offsets, u64 n, u32 hot, u32* free, u32* tiles) {
  RTC_SHARED(u32, sums, kWarps);
  const u64 v = u64(threadIdx.x) * kGroups, end = v < hot ? v + kGroups : v;
  const u32 begin = in_offsets[v < n ? v : n], size = in_offsets[end < n ? end : n] - begin;
  u32 all;
  tiles[threadIdx.x] = block_scan<kWarps>((size + kGroupTile - 1) / kGroupTile, sums, all);
  free[threadIdx.x] = begin;
  if (threadIdx.x == 0) {
    free[kGroups] = 0;
    tiles[kGroups] = all;
  }
}

// The next place at counters[key], unless key is kNone. Neighboring lanes of one key share an atomic: the
// columns of a row ascend, so that many are of one group. All lanes of the warp.
__device__ __forceinline__ u32 place_by_run(u32* counters, u32 key) {
  const u32 lane = threadIdx.x % kWarp, previous = __shfl_up_sync(kFullMask, key, 1);
  const u32 starts = __ballot_sync(kFullMask, lane == 0 || previous != key), through = (2u << lane) - 1;
  const u32 first = kWarp - 1 - __clz(int(starts & through)), later = starts & ~through;
  u32 base = 0;
  if (lane == first && key != kNone) {
    const u32 end = later ? __ffs(int(later)) - 1 : kWarp;
    base = atomicAdd(counters + key, end - lane);
  }
  return __shfl_sync(kFullMask, base, first) + lane - first;
}

// Move the in-edges of kGroupTile positions to their groups, as rank << 48 | entries before << 32 | start of
// the row: a row has fewer entries below a rank than the rank. The others go to `cold`.
extern "C" __global__ void __launch_bounds__(kThreads)
part_columns(const u32* columns, const u32* row_words, u64 m, u32 hot, u32* free, u64* parted, u64* cold) {
  RTC_SHARED(u32, found, kGroups + 1);
  RTC_SHARED(u32, start, kGroups + 1);  // of a group in `items`
  RTC_SHARED(u32, target, kGroups + 1);  // from a place in `items` to one in the group
  RTC_SHARED(u32, sums, kWarps);
  RTC_SHARED(u64, items, kGroupTile);
  const u64 begin = u64(blockIdx.x) * kGroupTile;
  found[threadIdx.x] = 0;
  if (threadIdx.x == 0) found[kGroups] = 0;
  __syncthreads();  // the counts are zero
  u32 v[kGroupEach], place[kGroupEach];
#pragma unroll
  for (u32 t = 0; t < kGroupEach; t++) {
    const u64 p = begin + t * kThreads + threadIdx.x;
    v[t] = p < m ? columns[p] : kNone;
  }
#pragma unroll
  for (u32 t = 0; t < kGroupEach; t++)
    place[t] = place_by_run(found, v[t] < hot ? v[t] / kGroups : v[t] == kNone ? kNone : kGroups);
  __syncthreads();  // all are counted
  const u32 first = place_keys<kWarps>(found, free + threadIdx.x, start, target, sums);
  if (threadIdx.x == kThreads - 1) {
    const u32 hots = first + found[threadIdx.x], rest = found[kGroups];
    start[kGroups] = hots;
    target[kGroups] = (rest ? atomicAdd(free + kGroups, rest) : 0u) - hots;
  }
  __syncthreads();  // every group has its places
#pragma unroll
  for (u32 t = 0; t < kGroupEach; t++) {
    if (v[t] == kNone) continue;
    const u32 p = u32(begin + t * kThreads + threadIdx.x);
    if (v[t] < hot) {
      const u32 row = row_start(row_words, p);
      items[start[v[t] / kGroups] + place[t]] = u64(v[t]) << 48 | u64(p - row) << 32 | row;
    } else {
      items[start[kGroups] + place[t]] = u64(v[t]) << 32 | p;
    }
  }
  __syncthreads();  // all are collected
  const u32 hots = start[kGroups], all = hots + found[kGroups];
  for (u32 i = threadIdx.x; i < all; i += kThreads) {
    const u64 item = items[i];
    if (i < hots) parted[target[u32(item >> 56)] + i] = item;
    else cold[target[kGroups] + i] = item;
  }
}

// Move the in-edges of a tile of a group to their ranks; add up the entries before them. free is the place of
// the next in-edge of each rank.
extern "C" __global__ void __launch_bounds__(kThreads)
place_rows(const u64* parted, const u32* in_offsets, u64 n, const u32* tiles, u32* free, u64* in_edges,
           u64* probes) {
  RTC_SHARED(u32, found, kGroups);
  RTC_SHARED(u32, entries, kGroups);
  RTC_SHARED(u32, start, kGroups);
  RTC_SHARED(u32, target, kGroups);
  RTC_SHARED(u32, sums, kWarps);
  RTC_SHARED(u64, items, kGroupTile);
  if (blockIdx.x >= tiles[kGroups]) return;
  const u32 group = lower_bound(tiles, kGroups + 1, blockIdx.x + 1) - 1;
  const u64 end = u64(group + 1) * kGroups;
  const u32 begin = in_offsets[group * kGroups] + (blockIdx.x - tiles[group]) * kGroupTile;
  const u32 rest = in_offsets[end < n ? end : n] - begin, size = rest < kGroupTile ? rest : kGroupTile;
  found[threadIdx.x] = entries[threadIdx.x] = 0;
  __syncthreads();  // the counts are zero
  u64 item[kGroupEach];
  u32 place[kGroupEach];
#pragma unroll
  for (u32 t = 0; t < kGroupEach; t++) {
    const u32 i = t * kThreads + threadIdx.x;
    item[t] = i < size ? parted[begin + i] : 0;
  }
#pragma unroll
  for (u32 t = 0; t < kGroupEach; t++) {
    if (t * kThreads + threadIdx.x >= size) continue;
    const u32 v = u32(item[t] >> 48) % kGroups, before = u32(item[t] >> 32) & 0xffff;
    place[t] = atomicAdd(found + v, 1u);
    if (before) atomicAdd(entries + v, before);
  }
  __syncthreads();  // all are counted
  const u64 v = u64(group) * kGroups + threadIdx.x;
  place_keys<kWarps>(found, free + v, start, target, sums);
  if (entries[threadIdx.x]) atomicAdd(probes + v, u64(entries[threadIdx.x]));
  __syncthreads();  // every rank has its places
#pragma unroll
  for (u32 t = 0; t < kGroupEach; t++)
    if (t * kThreads + threadIdx.x < size) items[start[u32(item[t] >> 48) % kGroups] + place[t]] = item[t];
  __syncthreads();  // all are collected
  for (u32 i = threadIdx.x; i < size; i += kThreads) {
    const u64 next = items[i];
    in_edges[target[u32(next >> 48) % kGroups] + i] = next << 32 | (u32(next >> 32) & 0xffff);
  }
}
