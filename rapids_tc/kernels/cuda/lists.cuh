// lists.cuh - all threads of a block walk the lists of wedges of one vertex, and count by the ends of these.
//
// A list is a part of the row of a neighbor: the ends of wedges by way of it. Neighbors come in the order of their
// ranks, so that lists become shorter. A list of at least `long_from` entries is shared by all warps of the block,
// one of at least kMedium is taken by a warp, and shorter ones by kGroup lanes each.
#pragma once
#include "block.cuh"

constexpr u32 kMedium = 64, kGroup = 8, kGroups = kWarp / kGroup;
constexpr u32 kPiece = 256;  // entries of a long list that a warp takes at once
constexpr u32 kFlight = 4;  // entries that a lane loads at once

// Entries begin .. end - 1 of all columns, and what is known of them.
template <class Value>
struct List {
  u32 begin, end;
  Value value;
};

// The list that lane `owner` has. All lanes of the warp.
template <class Value>
__device__ __forceinline__ List<Value> of_lane(const List<Value>& list, u32 owner) {
  return {__shfl_sync(kFullMask, list.begin, owner), __shfl_sync(kFullMask, list.end, owner),
          __shfl_sync(kFullMask, list.value, owner)};
}

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

// Call entry(w, position, value) for the entries of lists first .. last - 1, each list_of(p); if sums are asked for,
// one lane calls done(p, value, sum) for each part of list p, with the sum of what entry returned. All threads of
// the block. Shared: a word per thread for long lists, and their number.
template <bool kSums, class ListOf, class Entry, class Done>
__device__ __forceinline__ void
walk_lists(const u32* columns, u32 first, u32 last, u32 long_from, const ListOf& list_of, u32* longs,
           u32* n_longs, const Entry& entry, const Done& done) {
  typedef decltype(list_of(first)) Part;
  const u32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const u32 medium_from = smaller(kMedium, long_from / 2);
  for (u32 base = first; base < last; base += blockDim.x) {
    if (threadIdx.x == 0) n_longs[0] = 0;
    __syncthreads();  // there is no long list yet
    const u32 p = base + lane * warps + warp;  // lists become shorter: each warp takes some of every length
    Part own{0, 0, 0};
    if (p < last) own = list_of(p);
    const u32 length = own.end - own.begin;
    if (length >= long_from) longs[atomicAdd(n_longs, 1u)] = p;
    for (u32 left = __ballot_sync(kFullMask, length >= medium_from && length < long_from); left;
         left &= left - 1) {
      const u32 owner = u32(__ffs(int(left))) - 1;
      const Part list = of_lane(own, owner);
      const u64 part = walk_list<kWarp>(columns, list.begin + lane, list.end,
                                        [&](u32 w, u32 at) { return entry(w, at, list.value); });
      if constexpr (kSums) {
        const u64 sum = warp_sum(part);
        if (lane == owner && sum) done(p, own.value, sum);
      }
    }
    const u32 some = __ballot_sync(kFullMask, length > 0 && length < medium_from);
    for (u32 round = 0; round < kGroup; round++) {  // kGroups lists at once
      if (!(some >> (round * kGroups) & ((1u << kGroups) - 1))) continue;
      const u32 owner = round * kGroups + lane / kGroup;
      const Part list = of_lane(own, owner);
      const u64 part =
          walk_list<kGroup>(columns, list.begin + lane % kGroup, some >> owner & 1 ? list.end : 0,
                            [&](u32 w, u32 at) { return entry(w, at, list.value); });
      __syncwarp();
      if constexpr (kSums) {
        const u64 sum = warp_sum(part, kGroup);
        if (lane % kGroup == 0 && sum) done(base + owner * warps + warp, list.value, sum);
      }
    }
    __syncthreads();  // all long lists are there
    u32 piece = warp;  // pieces of all long lists go round by warp
    for (u32 t = 0; t < n_longs[0]; t++) {
      const Part list = list_of(longs[t]);
      const u32 pieces = (list.end - list.begin + kPiece - 1) / kPiece;
      u64 part = 0;
      for (; piece < pieces; piece += warps) {
        const u32 at = list.begin + piece * kPiece;
        part += walk_list<kWarp>(columns, at + lane, list.end - at < kPiece ? list.end : at + kPiece,
                                 [&](u32 w, u32 at) { return entry(w, at, list.value); });
      }
      piece -= pieces;
      __syncwarp();
      if constexpr (kSums) {
        const u64 sum = warp_sum(part);
        if (lane == 0 && sum) done(longs[t], list.value, sum);
      }
    }
    __syncthreads();  // long lists are done
  }
}
