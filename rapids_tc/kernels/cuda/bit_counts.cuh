// bit_counts.cuh - for each hub, how many of many bit rows have its bit. The counts are held in bit planes:
// bit b of plane k is bit k of the count of bit b, so that full adders, two instructions each, add a word to
// 32 counts at once. A warp first waits until it has enough rows, then adds eight words at a time.
#pragma once
#include "device.cuh"
#include "hubs.cuh"

constexpr u32 kGroups = kWarp / kHubLanes;   // groups of lanes, a bit row each
constexpr u32 kPlanes = 8, kFlush = 31;   // counts of 8 bits hold 31 times eight words
constexpr u32 kAtOnce = 8 * kGroups;      // bit rows that a warp adds at once, eight per group of lanes
constexpr u32 kQueue = kAtOnce + kWarp;   // rows that wait: fewer than are added at once, and new ones

struct BitCounts {
  u32 planes[kPlanes][4];
  u32 added;           // times that eight words were added since the counts were zero

  __device__ BitCounts() { clear(); }
  __device__ void clear() {
#pragma unroll
    for (u32 k = 0; k < kPlanes; k++)
#pragma unroll
      for (u32 j = 0; j < 4; j++) planes[k][j] = 0;
    added = 0;
  }

  // Add two bits to each bit of sum; return the carries.
  __device__ static u32 add(u32& sum, u32 a, u32 b) {
    const u32 carry = (sum & a) | (sum & b) | (a & b);
    sum ^= a ^ b;
    return carry;
  }

  // Add eight words to the counts of each of the lane's four words.
  __device__ void add_eight(const u32 (&x)[8][4]) {
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32(&p)[kPlanes][4] = planes;
      const u32 a = add(p[0][j], x[0][j], x[1][j]), b = add(p[0][j], x[2][j], x[3][j]);
      const u32 c = add(p[0][j], x[4][j], x[5][j]), d = add(p[0][j], x[6][j], x[7][j]);
      const u32 e = add(p[1][j], a, b), f = add(p[1][j], c, d);
      u32 carry = add(p[2][j], e, f);
#pragma unroll
      for (u32 k = 3; k < kPlanes; k++) {
        const u32 next = p[k][j] & carry;
        p[k][j] ^= carry;
        carry = next;
      }
    }
    added++;
  }

  // The index of the counter of hub w: lanes that add together reach neighboring words.
  __device__ static u32 place(u32 w) { return w % 32 * kHubWords + w / 32 % 4 * kHubLanes + w / 128; }

  // Add the counts to shared counters, and clear them.
  __device__ void flush(u32* counters) {
    const u32 sub = threadIdx.x % kHubLanes;
#pragma unroll
    for (u32 j = 0; j < 4; j++)
#pragma unroll 1
      for (u32 b = 0; b < 8; b++) {   // of bits b, b + 8, b + 16 and b + 24, a byte each
        u32 four = 0;
#pragma unroll
        for (u32 k = 0; k < kPlanes; k++) four += (planes[k][j] >> b & 0x01010101u) << k;
        for (u32 y = 0; four; y++, four >>= 8)
          if (four & 0xff) atomicAdd(counters + (b + 8 * y) * kHubWords + j * kHubLanes + sub, four & 0xff);
      }
    clear();
  }
};

// What a warp adds up: the AND of bit rows with the words of one row, which its lanes hold.
struct HubSums {
  const HubRows& hubs;
  u64* queue;          // edge << 32 | bit row, kQueue of them
  u32* counters;       // kHubs shared ones
  u32 waiting;         // rows in the queue
  BitCounts counts;

  __device__ HubSums(const HubRows& hubs, u64* queue, u32* counters)
      : hubs(hubs), queue(queue), counters(counters), waiting(0) {}

  // Queue the lane's row unless it is kNone, and add rows while the queue has as many as are added at once;
  // all of them, if these are the last. kEdges: each row's bits are also added to out[edge].
  template <bool kEdges>
  __device__ void push(u32 row, u32 edge, bool are_last, const uint4& words, u32* out) {
    const u32 rows = __ballot_sync(kFullMask, row != kNone);
    const u32 before = __popc(rows & ((1u << threadIdx.x % kWarp) - 1));
    if (row != kNone) queue[waiting + before] = u64(edge) << 32 | row;
    waiting += __popc(rows);
    while (waiting >= kAtOnce || (are_last && waiting))
      add<kEdges>(waiting < kAtOnce ? waiting : kAtOnce, words, out);
    if (are_last && counts.added) counts.flush(counters);
  }

  // Add the last n rows of the queue, at most kAtOnce.
  template <bool kEdges>
  __device__ void add(u32 n, const uint4& words, u32* out) {
    const u32 lane = threadIdx.x % kWarp, sub = lane % kHubLanes, group = lane / kHubLanes;
    __syncwarp();        // the queue is written
    const u64 last = lane < n ? queue[waiting - n + lane] : u64(hubs.n_rows);
    __syncwarp();        // and read, before it is written again
    waiting -= n;
    u32 x[8][4], hits[8];
#pragma unroll
    for (u32 t = 0; t < 8; t++) {
      const u32 row = __shfl_sync(kFullMask, u32(last), t * kGroups + group);
      const uint4 q = __ldg(hubs.bits + row * kHubLanes + sub);
      x[t][0] = q.x & words.x, x[t][1] = q.y & words.y, x[t][2] = q.z & words.z, x[t][3] = q.w & words.w;
      hits[t] = __popc(x[t][0]) + __popc(x[t][1]) + __popc(x[t][2]) + __popc(x[t][3]);
    }
    if constexpr (kEdges) add_to_edges(hits, u32(last >> 32), out);
    counts.add_eight(x);
    if (counts.added == kFlush) counts.flush(counters);
  }

  // Add the sums over the lanes of a group of eight hits to out: those of row t of a group to the edge that
  // lane t * kGroups + group holds.
  __device__ static void add_to_edges(u32 (&hits)[8], u32 edges, u32* out) {
    const u32 lane = threadIdx.x % kWarp, sub = lane % kHubLanes, group = lane / kHubLanes;
#pragma unroll
    for (u32 step = 1; step < 8; step *= 2)   // a lane gives away half of its sums, until it has one
#pragma unroll
      for (u32 t = 0; t < 8; t += 2 * step) {
        const bool odd = sub & step;
        const u32 other = __shfl_xor_sync(kFullMask, odd ? hits[t] : hits[t + step], step);
        hits[t] = (odd ? hits[t + step] : hits[t]) + other;
      }
    for (u32 step = 8; step < kHubLanes; step *= 2) hits[0] += __shfl_xor_sync(kFullMask, hits[0], step);
    const u32 edge = __shfl_sync(kFullMask, edges, sub % 8 * kGroups + group);
    if (sub < 8 && hits[0]) atomicAdd(out + edge, hits[0]);
  }
};
