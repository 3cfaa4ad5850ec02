// wedge_lists.cuh - the lists of wedges, and the wedges of an edge: engines/blooms.py says which these are.
#pragma once
#include "device.cuh"

struct WedgeLists {
  const i64* __restrict__ offsets;  // of the graph
  const i64* __restrict__ all_offsets;  // of the rows of all neighbors
  const u32* __restrict__ columns;  // all neighbors
  const u32* __restrict__ places;  // of edge (u, v): the position behind the entry u of row v
  const u32* __restrict__ lower;  // u of each edge
  const u32* __restrict__ numbers;  // of edges, by position in the columns of the graph
  const i64* __restrict__ bases;  // the wedge of list i that ends at position q of a row is bases[i] + q

  __device__ __forceinline__ u32 higher(u32 edge, u32 u) const { return columns[edge + u64(offsets[u + 1])]; }

  // The number of the edge at position q of row v of all neighbors.
  __device__ __forceinline__ u32 number_at(u32 v, u64 q) const {
    const u64 lower_ones = u64(offsets[v + 1]), at = q - u64(all_offsets[v]) + u64(offsets[v]);
    return at < lower_ones ? numbers[at] : u32(q - lower_ones);
  }
};

struct Wedge {
  u64 number;
  u32 twin;  // its other edge
};

// The wedges of an edge (u, v): first those of its own list, then those that end at u, then those that end at v.
struct EdgeWedges {
  const WedgeLists& lists;
  u32 edge, v, place, own, to_u, size;
  u64 lower_of_u, end_at_v;

  __device__ __forceinline__ EdgeWedges(const WedgeLists& lists, u32 edge) : lists(lists), edge(edge) {
    const u32 u = lists.lower[edge];
    v = lists.higher(edge, u);
    place = lists.places[edge];
    own = u32(u64(lists.all_offsets[v + 1]) - place);
    to_u = own + u32(place - 1 - u64(lists.all_offsets[v]));
    lower_of_u = u64(lists.offsets[u]);
    size = to_u + u32(u64(lists.offsets[u + 1]) - lower_of_u);
    end_at_v = edge + u64(lists.offsets[u + 1]);
  }

  __device__ __forceinline__ Wedge wedge(u32 k) const {
    if (k < own) return {u64(lists.bases[edge]) + place + k, lists.number_at(v, u64(place) + k)};
    const bool at_u = k < to_u;
    const u64 at = at_u ? u64(lists.offsets[v]) + (k - own) : lower_of_u + (k - to_u);
    const u32 twin = lists.numbers[at];
    return {u64(lists.bases[twin]) + (at_u ? place - 1 : end_at_v), twin};
  }
};
