// hubs.cu - makes the bit rows of hubs.cuh, and counts the triangles of edges by them, without an atomic per
// triangle.
//
// bit rows:     list_hub_rows twice, to count and to write; write_hub_rows
// edge counts:  mark_middles, count_middles, count_rows; then bitmap.cu, which walks what has no bits
//
// A triangle (u, v, w) with w among the hubs, u with a bit row and v heavy adds to three edges. (u, v) gets
// the POPC of both rows. (v, w) is the number of rows u whose AND with N+(v) has bit w, and (u, w) the number
// of rows v whose AND with N+(u) has it: sums by bit, over many words (bit_counts.cuh). count_middles is by v
// and serves the first two, count_rows is by u and serves the third.
//
// Written: out, by atomics, once per edge and task, or row. In shared memory, a warp's queue has its warp for
// owner; the map and the counters of a block are set by atomics, and cleared by the thread of the id.
#ifndef RTC_HUBS
#define RTC_HUBS 2048
#endif
#include "bit_counts.cuh"
#include "block.cuh"
#include "device.cuh"
#include "hubs.cuh"

constexpr u32 kHubThreads = 128, kHubBlocksPerSm = 5;
constexpr u32 kHubWarps = kHubThreads / kWarp;
constexpr u32 kUnlisted = 0x7fffffffu;  // a pivot vertex without a bit row

// ------------------------------------------------------------------------------- bit rows
// List the rows that have at least `least` entries below kHubs, in no order to be relied on; count is their
// number.
extern "C" __global__ void __launch_bounds__(kThreads)
list_hub_rows(const i64* offsets, const u32* columns, u64 n, u32 least, u32 room, u32* count, u32* rows) {
  const u64 u = element();
  const i64 start = u < n ? offsets[u] : 0;
  const u32 length = u < n ? u32(offsets[u + 1] - start) : 0;
  const u32 listed = length >= least && columns[start + least - 1] < kHubs, at = reserve(count, listed);
  if (listed && at < room) rows[at] = u32(u);
}

// Write the bit rows of listed rows, and what finds them: a warp per row. The row past the last is zero.
extern "C" __global__ void __launch_bounds__(kThreads)
write_hub_rows(const i64* offsets, const u32* columns, const u32* rows, u32 n_rows, u32 grain, u32* places,
               u32* covered, u32* bits) {
  RTC_SHARED(u32, memory, kThreads / kWarp * kHubWords);
  const u32 lane = threadIdx.x % kWarp, row = u32(element() / kWarp);
  u32* const words = memory + threadIdx.x / kWarp * kHubWords;
  for (u32 i = lane; i < kHubWords; i += kWarp) words[i] = 0;
  __syncwarp();  // the words are zero
  if (row < n_rows) {
    const u32 u = rows[row], start = u32(offsets[u]), length = u32(offsets[u + 1]) - start;
    const u32 below = lower_bound(columns + start, length, kHubs);
    if (lane == 0) {
      covered[row] = below;
      places[start >> grain] = row << grain | (start & ((1u << grain) - 1));
    }
    for (u32 i = lane; i < below; i += kWarp)
      atomicOr(words + columns[start + i] / 32, 1u << columns[start + i] % 32);
  }
  __syncwarp();  // the words are whole
  for (u32 i = lane; row <= n_rows && i < kHubWords; i += kWarp) bits[u64(row) * kHubWords + i] = words[i];
}

// ------------------------------------------------------------------------------- edge counts
// Write for each pivot vertex of bitmap.cu's heavy tasks its bit row, or kUnlisted. Others keep kNone.
extern "C" __global__ void __launch_bounds__(kThreads)
mark_middles(const i64* offsets, const u32* tasks, u64 n_tasks, RTC_HUBS_ARGS, u32* middles) {
  const u64 t = element();
  if (t >= n_tasks) return;
  const u32 v = tasks[4 * t], start = u32(offsets[v]), length = u32(offsets[v + 1]) - start;
  const u32 row = length >> grain ? RTC_HUB_ROWS.find_row(start) : kNone;
  atomicExch(middles + v, row == kNone ? kUnlisted : row);  // several tasks may have v
}

// Count the triangles of (u, v) and (v, w): a block per heavy task of v, by those of its in-edges that count
// by bits. Dynamic shared memory: the map and the counters of v, and a queue per warp.
extern "C" __global__ void __launch_bounds__(kHubThreads, kHubBlocksPerSm)
count_middles(const i64* offsets, const u32* columns, const u64* in_edges, const u32* tasks, u32 n_tasks,
              RTC_HUBS_ARGS, u32* ticket, u32* out) {
  RTC_DYNAMIC_SHARED(u64, queues);
  RTC_SHARED(u32, drawn, 1);
  const HubRows hubs = RTC_HUB_ROWS;
  u32 *const map = reinterpret_cast<u32*>(queues + kHubWarps * kQueue), *const counters = map + kHubWords;
  for (u32 i = threadIdx.x; i < kHubWords + kHubs; i += blockDim.x) map[i] = 0;
  HubSums sums(hubs, queues + threadIdx.x / kWarp * kQueue, counters);
  for (;;) {
    if (threadIdx.x == 0) drawn[0] = RTC_TICKET(ticket);
    __syncthreads();  // the ticket is there, the map and the counters are zero
    const u32 item = drawn[0];
    if (item >= n_tasks) break;
    const u32* const task = tasks + 4 * u64(item);
    const u32 v = task[0], end = task[2], start = u32(offsets[v]), length = u32(offsets[v + 1]) - start;
    for (u32 i = threadIdx.x; i < length && columns[start + i] < kHubs; i += blockDim.x)
      atomicOr(map + columns[start + i] / 32, 1u << columns[start + i] % 32);
    __syncthreads();  // the map is whole
    const uint4 words = reinterpret_cast<const uint4*>(map)[threadIdx.x % kHubLanes];
    const u32 enough = hubs.enough(v);
    for (u32 i = task[1] + threadIdx.x; i - threadIdx.x % kWarp < end; i += blockDim.x) {
      const u64 edge = i < end ? in_edges[i] : 0;
      const u32 row = i < end && u32(edge) >= enough ? hubs.find_row(u32(edge >> 32)) : kNone;
      const bool are_last = i - threadIdx.x % kWarp + blockDim.x >= end;
      sums.push<true>(row, u32(edge >> 32) + u32(edge), are_last, words, out);
    }
    __syncthreads();  // all counts of this task are in the counters
    for (u32 i = threadIdx.x; i < length && columns[start + i] < kHubs; i += blockDim.x) {
      const u32 w = columns[start + i], count = counters[BitCounts::place(w)];
      if (count) atomicAdd(out + start + i, count);
      counters[BitCounts::place(w)] = 0;
      atomicAnd(map + w / 32, ~(1u << w % 32));
    }
  }
}

// Count the triangles of (u, w): a warp per bit row of u, over the v that count_middles counted with it. A v
// without a bit row has few hubs, which a lane tests one by one. Dynamic shared memory: the queue and the
// counters of each warp.
extern "C" __global__ void __launch_bounds__(kHubThreads, kHubBlocksPerSm)
count_rows(const i64* offsets, const u32* columns, const u32* rows, const u32* middles, RTC_HUBS_ARGS,
           u32* ticket, u32* out) {
  RTC_DYNAMIC_SHARED(u64, memory);
  const HubRows hubs = RTC_HUB_ROWS;
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  u32* const counters = reinterpret_cast<u32*>(memory + warps * kQueue) + warp * kHubs;
  for (u32 i = lane; i < kHubs; i += kWarp) counters[i] = 0;
  HubSums sums(hubs, memory + warp * kQueue, counters);
  for (;;) {
    const u32 item = warp_ticket(ticket);
    if (item >= n_rows) break;
    const u32 u = rows[item], start = u32(offsets[u]), length = u32(offsets[u + 1]) - start;
    const u32* const own = reinterpret_cast<const u32*>(bits) + u64(item) * kHubWords;
    const uint4 words = bits[u64(item) * kHubLanes + lane % kHubLanes];
    __syncwarp();  // the counters are zero
    for (u32 k = lane; k - lane < length; k += kWarp) {
      const u32 v = k < length ? columns[start + k] : kNone;
      const u32 row = k < length && k >= hubs.enough(v) ? middles[v] : kNone;
      sums.push<false>(row == kUnlisted ? kNone : row, 0, k - lane + kWarp >= length, words, out);
      if (row != kUnlisted) continue;
      for (u32 p = u32(offsets[v]); p < u32(offsets[v + 1]) && columns[p] < kHubs; p++) {
        const u32 w = columns[p];
        if (own[w / 32] >> w % 32 & 1) atomicAdd(counters + BitCounts::place(w), 1u);
      }
    }
    __syncwarp();  // the counters are whole
    for (u32 i = lane; i < covered[item]; i += kWarp) {
      const u32 place = BitCounts::place(columns[start + i]), count = counters[place];
      if (count) atomicAdd(out + start + i, count);
      counters[place] = 0;
    }
  }
}
