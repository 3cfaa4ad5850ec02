// changes.cu - the triangles that changed edges close.
//
// A slot names an edge: a position in columns, or a later number for an edge that was added. The first word
// of its state says when it changes, 0 of an edge that is not there, and a triangle belongs to its edge of the
// least such word: only changed edges have one below the greatest. The second word is the change.
//
// find_slots names the edges of rows. Edges come and go alike: claim takes each edge that changes once, and
// cuts the neighbors of its end of fewer neighbors in chunks. In add_changes, a warp takes a chunk, and each
// lane looks a neighbor up among those of the other end. A hub has many chunks, so that no warp takes long.
// The edges are then there, or not: end_changes. settle and settle_vertices move changes to counts.
#include "block.cuh"
#include "device.cuh"

constexpr u32 kChunk = 256;  // neighbors that a warp walks
constexpr u32 kWords = 4;  // of the state of a slot
constexpr u32 kEdgeWords = 7;  // of a ChangedEdge
constexpr u32 kHubs = 2048;  // vertices whose changes a block adds up
constexpr i64 kNoSlot = -(i64(1) << 62);  // of a pair without an edge that has a slot

// All neighbors of every vertex. Row v of columns holds those below v, in_rows those above v, whose slots are
// positions; vertices from n on have none there. keys are the edges that were added, both ways, ascending.
struct Near {
  const i64* offsets;
  const u32* columns;
  const i64* in_offsets;
  const u32* in_rows;
  const u32* positions;
  const u64* keys;
  const u32* slots;
  u32 n, n_keys;
};

// An edge that changes: the neighbors of one end are walked, and looked up among those of the other, the hub.
struct ChangedEdge {
  u32 slot, walked, hub;
  u32 length;  // neighbors of the walked end
  u32 walked_keys, hub_keys, hub_end;  // where keys begin: those of both ends, and those behind the hub's
};
static_assert(sizeof(ChangedEdge) == kEdgeWords * sizeof(u32), "an edge has no gaps");

// The slot of the edge between v and w, kNone if there is none; the keys of v are first .. last - 1.
__device__ __forceinline__ u32 slot_of(const Near& g, u32 v, u32 w, u32 first, u32 last) {
  if (v < g.n && w < g.n) {
    const i64* const offsets = w < v ? g.offsets : g.in_offsets;
    const i64 begin = offsets[v];
    const u32 i = find((w < v ? g.columns : g.in_rows) + begin, u32(offsets[v + 1] - begin), w);
    if (i != kNone) return w < v ? u32(begin) + i : g.positions[begin + i];
  }
  const u32 i = find(g.keys + first, last - first, u64(v) << 32 | w);
  return i == kNone ? kNone : g.slots[first + i];
}

// Neighbor k of v and the slot of the edge; the keys of v are from `first` on.
__device__ __forceinline__ u32 neighbor(const Near& g, u32 v, u32 k, u32 first, u32& slot) {
  if (v < g.n) {
    const u32 below = u32(g.offsets[v + 1] - g.offsets[v]);
    if (k < below) {
      slot = u32(g.offsets[v]) + k;
      return g.columns[slot];
    }
    k -= below;
    const u32 above = u32(g.in_offsets[v + 1] - g.in_offsets[v]);
    if (k < above) {
      const i64 at = g.in_offsets[v] + k;
      slot = g.positions[at];
      return g.in_rows[at];
    }
    k -= above;
  }
  slot = g.slots[first + k];
  return u32(g.keys[first + k]);
}

// The neighbors of v, those of edges that left included; its keys are first .. last - 1.
__device__ __forceinline__ u32 degree(const Near& g, u32 v, u32 first, u32 last) {
  u32 size = last - first;
  if (v < g.n) size += u32(g.offsets[v + 1] - g.offsets[v] + g.in_offsets[v + 1] - g.in_offsets[v]);
  return size;
}

// The first key of the vertices from v on.
__device__ __forceinline__ u32 first_key(const Near& g, u64 v) {
  return lower_bound(g.keys, g.n_keys, v << 32);
}

// Add to a counter the lanes that have something. All lanes of the warp.
__device__ __forceinline__ void count_lanes(bool has, u64* counter) {
  const u32 lanes = __ballot_sync(kFullMask, has);
  if (threadIdx.x % kWarp == 0 && lanes) atomicAdd(counter, u64(__popc(lanes)));
}

// ------------------------------------------------------------------------------- rows
// Find the slot of the edge between a[i] and b[i], of which one that is not known is kNone: kNoSlot if it has
// none, and of a loop of v -1 - v. Count in found the loops, the pairs without a slot, and those whose edge is
// not there.
extern "C" __global__ void __launch_bounds__(kThreads)
find_slots(Near g, const u32* a, const u32* b, u64 n_pairs, const u32* states, i64* slots, u64* found) {
  const u64 i = element();
  bool is_loop = false, is_unknown = false, is_absent = false;
  if (i < n_pairs) {
    const u32 u = larger(a[i], b[i]), v = smaller(a[i], b[i]);
    i64 slot = kNoSlot;
    if (u != kNone && u == v) {
      slot = -1 - i64(u);
    } else if (u != kNone) {
      const u32 known = slot_of(g, u, v, 0, g.n_keys);
      if (known != kNone) slot = known;
    }
    is_loop = slot < 0 && slot != kNoSlot;
    is_unknown = slot == kNoSlot;
    is_absent = slot >= 0 && states[u64(slot) * kWords] == 0;
    slots[i] = slot;
  }
  count_lanes(is_loop, found);
  count_lanes(is_unknown, found + 1);
  count_lanes(is_absent, found + 2);
}

// ------------------------------------------------------------------------------- changes
// Claim each slot of the rows whose state begins with `from`, once: list its edge, of m edges in columns and
// more in added, and the chunks of the edge.
extern "C" __global__ void __launch_bounds__(kThreads)
claim(Near g, const i64* slots, u64 n_rows, u32 from, u64 m, const u32* added, u32* states,
      ChangedEdge* edges, i64* chunks, u32* n_edges) {
  const u64 i = element();
  const i64 slot = i < n_rows ? slots[i] : -1;
  const bool is_new = slot >= 0 && atomicCAS(states + slot * kWords, from, u32(i) + 1) == from;
  const u32 place = reserve(n_edges, is_new);
  if (!is_new) return;
  const u32 u = states[slot * kWords + 3], v = u64(slot) < m ? g.columns[slot] : added[u64(slot) - m];
  const u32 u_keys = first_key(g, u), u_end = first_key(g, u64(u) + 1);
  const u32 v_keys = first_key(g, v), v_end = first_key(g, u64(v) + 1);
  const u32 of_u = degree(g, u, u_keys, u_end), of_v = degree(g, v, v_keys, v_end);
  edges[place] = of_u < of_v ? ChangedEdge{u32(slot), u, v, of_u, u_keys, v_keys, v_end}
                             : ChangedEdge{u32(slot), v, u, of_v, v_keys, u_keys, u_end};
  chunks[place] = (smaller(of_u, of_v) + kChunk - 1) / kChunk;
}

// Add `sign`, 1 or -1 modulo 2^32, to the change of every side of the triangles of up to n_rows edges that
// claim has listed. The first chunk of edge i is starts[i], and there are starts[n_rows]. Count in found the
// slots whose change was 0, and the triangles.
extern "C" __global__ void __launch_bounds__(kThreads)
add_changes(Near g, const ChangedEdge* edges, const i64* starts, u64 n_rows, u32* states, u32 sign,
            u64* found) {
  const u64 n_chunks = u64(starts[n_rows]), warps = u64(gridDim.x) * kWarps;
  const u32 lane = threadIdx.x % kWarp;
  u64 changed = 0, triangles = 0;
  for (u64 chunk = element() / kWarp; chunk < n_chunks; chunk += warps) {
    const u64 i = lower_bound(starts, n_rows, i64(chunk) + 1) - 1;
    const ChangedEdge e = edges[i];
    u32* const of_edge = states + u64(e.slot) * kWords;
    const u32 after = of_edge[0], begin = u32(chunk - u64(starts[i])) * kChunk;
    const u32 end = e.length - begin < kChunk ? e.length : begin + kChunk;
    u32 hits = 0;
    for (u32 k = begin + lane; k < end; k += kWarp) {
      u32 near = 0;
      const u32 w = neighbor(g, e.walked, k, e.walked_keys, near);
      u32* const of_near = states + u64(near) * kWords;
      if (of_near[0] <= after) continue;
      const u32 far = slot_of(g, e.hub, w, e.hub_keys, e.hub_end);
      if (far == kNone) continue;
      u32* const of_far = states + u64(far) * kWords;
      if (of_far[0] <= after) continue;
      changed += atomicAdd(of_near + 1, sign) == 0;
      changed += atomicAdd(of_far + 1, sign) == 0;
      hits++;
    }
    hits = warp_sum(hits);
    if (lane == 0 && hits) {
      changed += atomicAdd(of_edge + 1, sign * hits) == 0;
      triangles += hits;
    }
  }
  changed = warp_sum(changed);
  if (lane == 0 && changed) atomicAdd(found, changed);
  if (lane == 0 && triangles) atomicAdd(found + 1, triangles);
}

// The edges that claim has listed are there, or not: their states begin with `when`.
extern "C" __global__ void __launch_bounds__(kThreads)
end_changes(const ChangedEdge* edges, const u32* n_edges, u32 when, u32* states) {
  const u64 i = element();
  if (i < n_edges[0]) states[u64(edges[i].slot) * kWords] = when;
}

// ------------------------------------------------------------------------------- counts
// Move the changes of n_slots slots to the counts behind them; list the edges with a change, of m edges in
// columns and more in added: the larger and the smaller end, the count and the change. Add the changes to both
// ends in of_vertex, first in shared memory for ends below kHubs. Positions in columns are grouped by
// their larger end.
extern "C" __global__ void __launch_bounds__(kThreads)
settle(uint4* states, u64 n_slots, u64 m, const u32* columns, const u32* added, u64* of_vertex, u32* us,
       u32* vs, i64* triangles, i64* deltas, u32* n_changed) {
  RTC_SHARED(u64, hubs, kHubs);
  RTC_SHARED(u32, sums, kWarps);
  RTC_SHARED(u32, start, 1);
  for (u32 h = threadIdx.x; h < kHubs; h += kThreads) hubs[h] = 0;
  for (u64 tile = u64(blockIdx.x) * kTile; tile < n_slots; tile += u64(gridDim.x) * kTile) {
    uint4 state[kTileEach];
    u32 own = 0, all;
#pragma unroll
    for (u32 t = 0; t < kTileEach; t++) {
      const u64 i = tile + t * kThreads + threadIdx.x;
      state[t] = i < n_slots ? states[i] : uint4{0, 0, 0, 0};
      own += state[t].y != 0;
    }
    const u32 before = block_scan<kWarps>(own, sums, all);
    if (threadIdx.x == 0) start[0] = all ? atomicAdd(n_changed, all) : 0;
    __syncthreads();  // the place of the tile is known, and the hubs are zero
    u32 place = start[0] + before;
#pragma unroll
    for (u32 t = 0; t < kTileEach; t++) {
      if (all == 0) break;
      const u64 i = tile + t * kThreads + threadIdx.x;
      const u32 u = state[t].w;
      const i64 delta = int(state[t].y), count = i64(state[t].z) + delta;
      add_by_run(of_vertex, u, i < m ? u64(delta) : 0);  // ends of added edges are in no order
      if (delta == 0) continue;
      if (i >= m) atomicAdd(of_vertex + u, u64(delta));
      const u32 v = i < m ? columns[i] : added[i - m];
      if (v < kHubs) atomicAdd(hubs + v, u64(delta));
      else atomicAdd(of_vertex + v, u64(delta));
      states[i] = uint4{state[t].x, 0, u32(count), u};
      us[place] = u;
      vs[place] = v;
      triangles[place] = count;
      deltas[place++] = delta;
    }
    __syncthreads();  // all have read the place
  }
  __syncthreads();  // the hubs are complete
  for (u32 h = threadIdx.x; h < kHubs; h += kThreads)
    if (hubs[h]) atomicAdd(of_vertex + h, hubs[h]);
}

// Move the changes of n vertices, twice those of their triangles, to the counts; list the vertices with a
// change, the count and the change.
extern "C" __global__ void __launch_bounds__(kThreads)
settle_vertices(u64* of_vertex, i64* at_vertex, u64 n, u32* vertices, i64* triangles, i64* deltas,
                u32* n_changed) {
  const u64 v = element();
  const i64 delta = v < n ? i64(of_vertex[v]) / 2 : 0;
  const u32 place = reserve(n_changed, delta != 0);
  if (delta == 0) return;
  of_vertex[v] = 0;
  at_vertex[v] += delta;
  vertices[place] = u32(v);
  triangles[place] = at_vertex[v];
  deltas[place] = delta;
}
