// hubs.cuh - bit rows. In degree order most triangles have their lowest vertex w among the first ranks, the
// hubs. Where a row N+(u) holds at least `least` hubs, these are also kept as kHubs bits: bit w is set if w
// is in N+(u). The hubs that N+(u) and N+(v) have in common are then an AND and a POPC of words, four words
// per load, where a walk tests a bit per entry. The words of N+(v) stay in registers for all in-edges of v.
//
// An in-edge holds the start of N+(u), not u. As rows with bits have at least `least` entries, at most one of
// them starts among any `least` positions, and `places` needs no more than a word for these: the number of
// the bit row, and which of the positions it is.
#pragma once
#include "chunks.cuh"
#include "device.cuh"

#ifndef RTC_HUBS
#error "RTC_HUBS is the number of hubs"
#endif
constexpr u32 kHubs = RTC_HUBS, kHubWords = kHubs / 32;
constexpr u32 kHubLanes = kHubs / 128;  // lanes that share a bit row, four words each
static_assert(kHubLanes >= 8 && kHubLanes <= kWarp, "a bit row is for 8 to 32 lanes");

#define RTC_HUB_ROWS \
  HubRows { bits, places, covered, n_rows, grain }

struct HubRows {
  const uint4* __restrict__ bits;  // n_rows rows of kHubs bits, and a row of zeros behind them
  const u32* __restrict__ places;  // by start >> grain: bit row << grain | last bits of start; or kNone
  const u32* __restrict__ covered;  // by bit row: entries of the row below kHubs
  u32 n_rows, grain;  // grain: log2 of `least`

  // The bit row of the row that starts at a position, or kNone.
  __device__ __forceinline__ u32 find_row(u32 start) const {
    const u32 place = places[start >> grain];
    return place != kNone && ((place ^ start) & ((1u << grain) - 1)) == 0 ? place >> grain : kNone;
  }

  // log2 of the lanes that share an in-edge of v: no id of N+(v) is v or more.
  __device__ static u32 lanes_of(u32 v) {
    u32 shift = 2;
    while ((1u << shift) < kHubLanes && (128u << shift) < v) shift++;
    return shift;
  }

  // The entries of N+(u) below v from which an in-edge of v counts by bits: fewer if it takes fewer lanes.
  __device__ u32 enough(u32 v) const {
    const u32 few = (1u << grain << lanes_of(v)) / kHubLanes, least = grain < 2 ? 1u << grain : 4;
    return few < least ? least : few;
  }

  // The part of an in-edge that its bit row does not count: the entries from kHubs on. A row with bits has
  // at least `least` entries below, so that shorter prefixes need not look it up.
  __device__ __forceinline__ u64 past_hubs(u64 in_edge, u32 row) const {
    if (row == kNone) return in_edge;
    const u32 start = u32(in_edge >> 32), length = u32(in_edge);
    const u32 below = length >> grain ? covered[row] : length, done = below < length ? below : length;
    return u64(start + done) << 32 | (length - done);
  }
};

// Of the lanes in mask, the one that has as many of them before it as this lane's number; the last lane, if
// there are fewer. All lanes of the warp.
__device__ __forceinline__ u32 nth_lane(u32 mask) {
  const u32 lane = threadIdx.x % kWarp;
  return last_at_most(__popc(mask & ((1u << lane) - 1)), lane);
}

// Move in-edges that are not empty to the first lanes; return how many there are. All lanes of the warp.
__device__ __forceinline__ u32 pack_lanes(u64& in_edge) {
  const u32 mask = __ballot_sync(kFullMask, u32(in_edge) != 0), n = __popc(mask);
  const u64 packed = __shfl_sync(kFullMask, in_edge, nth_lane(mask));
  in_edge = threadIdx.x % kWarp < n ? packed : 0;
  return n;
}

__device__ __forceinline__ u32 common_bits(const uint4& a, const uint4& b) {
  return __popc(a.x & b.x) + __popc(a.y & b.y) + __popc(a.z & b.z) + __popc(a.w & b.w);
}

// How a pivot vertex v meets bit rows.
struct HubMap {
  u32 shift;  // log2 of the lanes that share an in-edge
  u32 enough;  // entries from which an in-edge counts by bits
  uint4 words;  // the lane's words of N+(v)

  // By all lanes of a block whose shared map of N+(v) is whole.
  __device__ HubMap(const HubRows& hubs, u32 v, const u32* map)
      : shift(HubRows::lanes_of(v)),
        enough(hubs.enough(v)),
        words(reinterpret_cast<const uint4*>(map)[threadIdx.x & ((1u << HubRows::lanes_of(v)) - 1)]) {}

  // The bit row by which an in-edge counts, or kNone.
  __device__ __forceinline__ u32 row_of(const HubRows& hubs, u64 in_edge) const {
    return u32(in_edge) >= enough ? hubs.find_row(u32(in_edge >> 32)) : kNone;
  }

  // Count the hubs in common of v and the rows of the in-edges that the lanes hold, by the lanes that share
  // one, two of them in flight; row: of the lane's in-edge. All lanes of the warp.
  template <class Visit>
  __device__ __forceinline__ void count(const HubRows& hubs, u64 in_edge, u32 row, Visit& visit) const {
    const u32 lane = threadIdx.x % kWarp, groups = kWarp >> shift, group = lane >> shift;
    const u32 mask = __ballot_sync(kFullMask, row != kNone), n = __popc(mask), owner = nth_lane(mask);
    const uint4* const own = hubs.bits + (lane & ((1u << shift) - 1));
    const u32 listed = __shfl_sync(kFullMask, row, owner), at = (lane < n ? listed : hubs.n_rows) * kHubLanes;
    u32 edge = kNone;
    if constexpr (Visit::kEdges) edge = __shfl_sync(kFullMask, u32(in_edge >> 32) + u32(in_edge), owner);
    for (u32 i = group; i - group < n; i += 2 * groups) {
      const uint4 x = __ldg(own + __shfl_sync(kFullMask, at, i));
      const uint4 y = __ldg(own + __shfl_sync(kFullMask, at, i + groups));
      if constexpr (Visit::kEdges) {
        visit.list(__shfl_sync(kFullMask, edge, i), common_bits(x, words), 1u << shift);
        visit.list(__shfl_sync(kFullMask, edge, i + groups), common_bits(y, words), 1u << shift);
      } else {
        visit.edge(kNone, common_bits(x, words) + common_bits(y, words));
      }
    }
  }
};
