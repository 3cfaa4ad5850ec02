// changes.cu - the triangles that changed edges close.
//
// A warp takes a chunk of the neighbors of one end of a changed edge, the end of lower degree, and each lane
// looks a neighbor up among those of the other end. A hub has many chunks, so that no warp takes long.
//
// A slot names an edge: a position in columns, or a later number for an edge that was added. The first word
// of its state says when it changes, 0 of an edge that is not there, and a triangle belongs to its edge of the
// least such word: only changed edges have one below the greatest. The second word is the change.
#include "block.cuh"
#include "device.cuh"

constexpr u32 kChunk = 256;  // neighbors that a warp walks
constexpr u32 kWords = 4;  // of the state of a slot

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
  u32 n;
};

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

// Add `sign`, 1 or -1 modulo 2^32, to the change of every side of the triangles of n_edges changed edges, and
// the number of triangles to `total`. Edge i has the ends walked[i] and hubs[i], the neighbors and the keys
// of the former are lengths[i] and from walked_keys[i] on, and the keys of the hub are from hub_keys[i] to
// hub_ends[i] - 1. chunks[i] is the first chunk of edge i.
extern "C" __global__ void __launch_bounds__(kThreads)
add_changes(const i64* offsets, const u32* columns, const i64* in_offsets, const u32* in_rows,
            const u32* positions, const u64* keys, const u32* key_slots, u32 n, const u32* walked,
            const u32* hubs, const u32* slots, u64 n_edges, const i64* lengths, const i64* walked_keys,
            const i64* hub_keys, const i64* hub_ends, const i64* chunks, u64 n_chunks, u32* states, u32 sign,
            u64* total) {
  const Near g{offsets, columns, in_offsets, in_rows, positions, keys, key_slots, n};
  const u64 chunk = element() / kWarp;
  if (chunk >= n_chunks) return;
  const u64 i = lower_bound(chunks, n_edges, i64(chunk) + 1) - 1;
  const u32 lane = threadIdx.x % kWarp, v = walked[i], hub = hubs[i], slot = slots[i];
  const u32 after = states[u64(slot) * kWords];
  const u32 begin = u32(chunk - u64(chunks[i])) * kChunk;
  const u32 length = u32(lengths[i]), end = length - begin < kChunk ? length : begin + kChunk;
  u32 hits = 0;
  for (u32 k = begin + lane; k < end; k += kWarp) {
    u32 near = 0;
    const u32 w = neighbor(g, v, k, u32(walked_keys[i]), near);
    u32* const of_near = states + u64(near) * kWords;
    if (of_near[0] <= after) continue;
    const u32 far = slot_of(g, hub, w, u32(hub_keys[i]), u32(hub_ends[i]));
    if (far == kNone) continue;
    u32* const of_far = states + u64(far) * kWords;
    if (of_far[0] <= after) continue;
    atomicAdd(of_near + 1, sign);
    atomicAdd(of_far + 1, sign);
    hits++;
  }
  hits = warp_sum(hits);
  if (lane == 0 && hits) {
    atomicAdd(states + u64(slot) * kWords + 1, sign * hits);
    atomicAdd(total, u64(hits));
  }
}
