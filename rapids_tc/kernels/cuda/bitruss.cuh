// bitruss.cuh - what the bitruss peel knows of edges and blooms, and a round of it: engines/blooms.py.
//
// The word of an edge is round << 32 | support. The round is that in which the edge is in the frontier, from 1 on;
// 0 while it is in none. Edges that fall meanwhile are in the frontier of the next round, and count as active until
// then, so that their support is counted down to what is left.
#pragma once
#include "peel.cuh"
#include "wedge_lists.cuh"

struct Blooms {
  const u32* bloom_of;  // of each wedge; kNone if it is in no square
  const i64* begins;  // where the pairs of each bloom begin; those of wedges that are left come first
  uint2* pairs;  // both edges of each wedge
  u32* sizes;  // wedges that are left
  u32* taken;  // wedges that this round takes out
  u32* touched;  // blooms that this round takes wedges out of
};

struct EdgeQueues {
  u64* words;
  u32* result;  // bitruss numbers
  u32* queue;  // edges that have fallen, in the order of rounds
  u32 *near, *far;  // two lists of size m each, which take turns
};

// What a phase adds up for the next one. `nearest` is kNone less the least support.
struct Counts { u32 fallen, touched, near, far, nearest; };

// Where the peel is. All threads have the same values, and change them together behind a barrier.
struct Peel {
  u32 level, beyond;  // near edges have supports below `beyond`
  u32 round, head, fallen;  // the frontier is queue[head .. fallen)
  u32 near, far;  // sizes of the lists
  u32 near_turn, far_turn;  // which of the two lists it is
  u32 phase;
};

__device__ __forceinline__ u32 round_of(u64 word) { return u32(word >> 32); }
__device__ __forceinline__ u64 fallen_in(u32 round) { return u64(round) << 32; }

// Append the values of lanes that push to a list, behind `counter`. All lanes of the warp.
__device__ __forceinline__ void append(u32* list, u32* counter, bool pushes, u32 value) {
  const u32 votes = __ballot_sync(kFullMask, pushes);
  if (!votes) return;
  const u32 lane = threadIdx.x % kWarp;
  u32 base = 0;
  if (lane == 0) base = atomicAdd(counter, u32(__popc(votes)));
  base = __shfl_sync(kFullMask, base, 0);
  if (pushes) list[base + u32(__popc(votes & ((1u << lane) - 1)))] = value;
}

struct Round {
  const WedgeLists& lists;
  const Blooms& blooms;
  const EdgeQueues& edges;
  const Peel& peel;
  u32 m;
  Counts* counts;  // of this phase

  // Take squares off the edges of lanes that lose some; note those that fall, and those that come near. All lanes
  // of the warp.
  __device__ __forceinline__ void count_off(bool loses, u32 edge, u32 squares) const {
    bool falls = false, comes = false;
    if (loses) {
      const u64 before = atomicAdd(edges.words + edge, u64(0) - squares), after = before - squares;
      if (round_of(before) == 0) {
        falls = before > peel.level && after <= peel.level;
        comes = before >= peel.beyond && after < peel.beyond && after > peel.level;
      }
      if (falls) atomicAdd(edges.words + edge, fallen_in(peel.round + 1));
    }
    append(edges.queue + peel.fallen, &counts->fallen, falls, edge);
    append(edges.near + u64(peel.near_turn) * m + peel.near, &counts->near, comes, edge);
  }

  // Take out the wedges of an edge of the frontier which are left. All threads of the team.
  template <class Team>
  __device__ __forceinline__ void take_out(u32 edge, const Team& team) const {
    const u32 support = u32(RTC_PEEK(edges.words + edge));
    if (team.lane == 0) edges.result[edge] = peel.level;
    if (support == 0) return;
    const EdgeWedges of(lists, edge);
    for (u32 first = 0; first < of.size; first += team.lanes) {
      const u32 k = first + team.lane;
      bool touches = false, loses = false;
      u32 bloom = kNone, twin = 0, size = 0;
      if (k < of.size) {
        const Wedge wedge = of.wedge(k);
        twin = wedge.twin;
        bloom = blooms.bloom_of[wedge.number];
        size = bloom == kNone ? 0 : blooms.sizes[bloom];
      }
      if (size > 1) {
        const u32 fell = round_of(RTC_PEEK(edges.words + twin));
        const bool left = fell == 0 || fell >= peel.round;
        if (left && (fell != peel.round || edge < twin)) touches = atomicAdd(blooms.taken + bloom, 1u) == 0;
        loses = left && fell != peel.round;
      }
      append(blooms.touched, &counts->touched, touches, bloom);
      count_off(loses, twin, size - 1);
    }
  }

  __device__ __forceinline__ bool stays(u32 edge) const {
    const u32 fell = round_of(RTC_PEEK(edges.words + edge));
    return fell == 0 || fell > peel.round;
  }

  // Count the wedges that were taken out of a bloom off the edges of those that are left, and close the gaps
  // between these. All threads of the team.
  template <class Team>
  __device__ __forceinline__ void lose(u32 bloom, const Team& team) const {
    const u32 size = blooms.sizes[bloom], taken = blooms.taken[bloom];
    uint2* const pairs = blooms.pairs + blooms.begins[bloom];
    team.sync();  // both are read
    if (team.lane == 0) {
      blooms.sizes[bloom] = size - taken;
      blooms.taken[bloom] = 0;
    }
    if (size == taken) return;
    u32 kept = 0, total;
    for (u32 first = 0; first < size; first += team.lanes) {
      const u32 i = first + team.lane;
      uint2 pair = make_uint2(0, 0);
      if (i < size) pair = pairs[i];
      const bool left = i < size && stays(pair.x) && stays(pair.y);
      team.sync();  // these pairs are read
      const u32 place = kept + team.scan(left, total);
      if (left && place != i) pairs[place] = pair;
      kept += total;
      count_off(left, pair.x, taken);
      count_off(left, pair.y, taken);
    }
  }
};
