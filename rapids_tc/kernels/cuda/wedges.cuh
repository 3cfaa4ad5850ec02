// wedges.cuh - a block walks the wedges u - v - w of a vertex u: engines/wedges.py.
//
// List p of u is the part of row v behind u, if entry p of row u is v, a higher rank. A task walks the parts of all
// lists of u that lie in some windows: window k has the ranks from cuts[k] on, below cuts[k + 1].
#pragma once
#include "block.cuh"

#ifndef RTC_THREADS
#define RTC_THREADS 1024
#endif
#ifndef RTC_RESIDENT
#define RTC_RESIDENT 1
#endif
#ifndef RTC_LONG
#define RTC_LONG 4096
#endif
constexpr u32 kMost = RTC_THREADS, kTogether = RTC_RESIDENT;  // threads of a block; blocks per multiprocessor
constexpr u32 kLong = RTC_LONG;  // entries from which all warps of the block share a list
constexpr u32 kMedium = kLong < 64 ? 4 : 64;  // entries from which a warp takes a list, else kGroup lanes do
constexpr u32 kGroup = 8, kGroups = kWarp / kGroup;
constexpr u32 kPiece = 256;  // entries of a long list that a warp takes at once
constexpr u32 kFlight = 4;  // entries that a lane loads at once

struct WedgeRows {
  const i64* __restrict__ offsets;  // of the graph: as many entries of a row are lower ranks
  const i64* __restrict__ all_offsets;
  const u32* __restrict__ columns;  // all neighbors
  const u32* __restrict__ places;  // of list p of u: places[p - offsets[u + 1]]
  const u32* __restrict__ ends;  // where every row is walked to: further ranks have one neighbor
  const u32* __restrict__ cuts;
  const u32* __restrict__ bounds;  // of the first rows, at each cut between windows
  u32 windows;
  u32 bounded;  // so many rows have bounds

  // The position in row v of its first entry in window k or a later one.
  __device__ __forceinline__ u32 bound(u32 v, u32 k) const {
    if (k == windows) return ends[v];
    if (v < bounded) return bounds[u64(v) * (windows - 1) + k - 1];
    const u32 begin = u32(all_offsets[v]);
    return begin + lower_bound(columns + begin, ends[v] - begin, cuts[k]);
  }
};

struct List { u32 v, begin, end; };

struct Task {
  u32 u, first, last;  // windows first .. last - 1

  __device__ __forceinline__ u32 lists_begin(const WedgeRows& g) const {
    return u32(g.all_offsets[u] + g.offsets[u + 1] - g.offsets[u]);
  }
  __device__ __forceinline__ List list(const WedgeRows& g, u32 p) const {
    const u32 v = g.columns[p], place = g.places[p - u32(g.offsets[u + 1])];
    const u32 begin = first ? larger(place, g.bound(v, first)) : place, end = g.bound(v, last);
    return {v, begin, larger(begin, end)};
  }
};

// Call entry(w, position) for entries at, at + kStep, ... below end; return the sum of what it returns.
template <u32 kStep, class Entry>
__device__ __forceinline__ u64 walk_list(const u32* columns, u32 at, u32 end, const Entry& entry) {
  u64 sum = 0;
  for (; at < end; at += kFlight * kStep) {
    u32 w[kFlight];
#pragma unroll
    for (u32 t = 0; t < kFlight; t++) w[t] = at + t * kStep < end ? __ldg(columns + at + t * kStep) : kNone;
#pragma unroll
    for (u32 t = 0; t < kFlight; t++)
      if (w[t] != kNone) sum += entry(w[t], at + t * kStep);
  }
  return sum;
}

// Call entry(w, position) for every wedge of a task; if sums are asked for, one lane calls done(p, v, sum) for each
// part of list p. All threads of the block. Shared: a word per thread for long lists, and their number.
template <bool kSums, class Entry, class Done>
__device__ __forceinline__ void
walk(const WedgeRows& g, const Task& task, u32* longs, u32* n_longs, const Entry& entry, const Done& done) {
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const u32 last = g.ends[task.u];
  for (u32 base = task.lists_begin(g); base < last; base += blockDim.x) {
    if (threadIdx.x == 0) n_longs[0] = 0;
    __syncthreads();  // there is no long list yet
    const u32 p = base + lane * warps + warp;  // lists become shorter: each warp takes some of every length
    List own{0, 0, 0};
    if (p < last) own = task.list(g, p);
    const u32 length = own.end - own.begin;
    if (length >= kLong) longs[atomicAdd(n_longs, 1u)] = p;
    for (u32 left = __ballot_sync(kFullMask, length >= kMedium && length < kLong); left; left &= left - 1) {
      const u32 owner = u32(__ffs(int(left))) - 1;
      const u32 begin = __shfl_sync(kFullMask, own.begin, owner),
                end = __shfl_sync(kFullMask, own.end, owner);
      const u64 part = walk_list<kWarp>(g.columns, begin + lane, end, entry);
      if constexpr (kSums) {
        const u64 sum = warp_sum(part);
        if (lane == owner && sum) done(p, own.v, sum);
      }
    }
    const u32 some = __ballot_sync(kFullMask, length > 0 && length < kMedium);
    for (u32 round = 0; round < kGroup; round++) {  // kGroups lists at once
      if (!(some >> (round * kGroups) & ((1u << kGroups) - 1))) continue;
      const u32 owner = round * kGroups + lane / kGroup;
      const u32 begin = __shfl_sync(kFullMask, own.begin, owner),
                end = __shfl_sync(kFullMask, own.end, owner);
      const u32 v = __shfl_sync(kFullMask, own.v, owner);
      const u64 part =
          walk_list<kGroup>(g.columns, begin + lane % kGroup, some >> owner & 1 ? end : 0, entry);
      __syncwarp();
      if constexpr (kSums) {
        const u64 sum = warp_sum(part, kGroup);
        if (lane % kGroup == 0 && sum) done(base + owner * warps + warp, v, sum);
      }
    }
    __syncthreads();  // all long lists are there
    u32 piece = warp;  // pieces of all long lists go round by warp
    for (u32 t = 0; t < n_longs[0]; t++) {
      const List list = task.list(g, longs[t]);
      const u32 pieces = (list.end - list.begin + kPiece - 1) / kPiece;
      u64 part = 0;
      for (; piece < pieces; piece += warps) {
        const u32 at = list.begin + piece * kPiece;
        part +=
            walk_list<kWarp>(g.columns, at + lane, list.end - at < kPiece ? list.end : at + kPiece, entry);
      }
      piece -= pieces;
      __syncwarp();
      if constexpr (kSums) {
        const u64 sum = warp_sum(part);
        if (lane == 0 && sum) done(longs[t], list.v, sum);
      }
    }
    __syncthreads();  // long lists are done
  }
}
