// list.cu - every triangle u > v > w in turn: written to an array, or summed over with values of its sides.
//
// A warp takes an in-edge (u, v) of the pivot vertex v, and each of its lanes an entry of N+(u) below v
// per step; a lane searches N+(v) for its entry. Work: log |N+(v)| times bitmap.cu's. This needs no shared
// memory, and finds the triangles of an in-edge in ascending w, so that one ballot gives the place of a
// hit. The rest costs more: a sort of the list, an atomic per term of a sum.
//
// Input: any oriented Csr and prepare.cu's in_edges: start of N+(u) << 32 | entries below v, so that v
// itself is columns[start + entries].
#include "block.cuh"
#include "device.cuh"

// The vertex whose row begins at start: the last such vertex, since the rows of the others are empty.
__device__ __forceinline__ u32 row_at(const i64* offsets, u64 n, u32 start) {
  return u32(lower_bound(offsets, n, i64(start) + 1)) - 1;
}

// Write the ranks of triangles first .. last - 1, all of which in-edges first_edge .. last_edge - 1 have:
// of triangle t, u to ranks[t - first], v `last - first` further, and w as far again. In-edge i has the
// triangles starts[i] .. starts[i + 1] - 1: one lane writes each. The walk of an in-edge ends at its last
// triangle. On blocks, in-edge i is the edge packed[i], v << 32 | row of u, and row v + shift of offsets is
// N+(v).
extern "C" __global__ void __launch_bounds__(kThreads)
list_triangles(const i64* offsets, u64 n, const u32* columns, const u64* in_edges, const i64* starts,
               u64 first_edge, u64 last_edge, i64 first, i64 last, u32* ranks, const u64* packed, u32 shift) {
  const u32 lane = threadIdx.x % kWarp;
  const u64 warps = u64(gridDim.x) * blockDim.x / kWarp, size = u64(last - first);
  for (u64 i = first_edge + element() / kWarp; i < last_edge; i += warps) {
    i64 t = starts[i];
    const i64 end = starts[i + 1] < last ? starts[i + 1] : last;
    if (t >= end) continue;
    const u32 start = u32(in_edges[i] >> 32), below = u32(in_edges[i]);
    const u32 v = packed ? u32(packed[i] >> 32) : columns[start + below];
    const u32 u = packed ? u32(packed[i]) : row_at(offsets, n, start);
    const u32 row = u32(offsets[v + shift]), length = u32(offsets[v + shift + 1]) - row;
    for (u32 step = 0; t < end && step < below; step += kWarp) {   // the same t in all lanes
      const u32 k = step + lane, w = k < below ? columns[start + k] : kNone;
      const u32 hits = __ballot_sync(kFullMask, find(columns + row, length, w) != kNone);
      const i64 mine = t + __popc(hits & ((1u << lane) - 1));
      if ((hits >> lane & 1) && mine >= first && mine < end) {
        u32* const out = ranks + (mine - first);
        out[0] = u;
        out[size] = v;
        out[2 * size] = w;
      }
      t += __popc(hits);
    }
  }
}

// Add to each corner of every triangle the product of the values of its sides, by 64-bit atomics on sums in
// any order, so that the last digits may differ between runs. Of a corner u, sums[u]; of v, of_v[v]; of w,
// of_w[w]: on a whole graph, the three are one array. On blocks, in-edge i is the edge packed[i], v << 32 |
// row of u, whose value is sides[edges_at + i], and row v + shift of offsets is N+(v).
extern "C" __global__ void __launch_bounds__(kThreads)
vertex_sums(const i64* offsets, u64 n, const u32* columns, const u64* in_edges, u64 first_edge, u64 last_edge,
            const double* sides, double* sums, double* of_v, double* of_w, const u64* packed, u64 edges_at,
            u32 shift) {
  const u32 lane = threadIdx.x % kWarp;
  const u64 warps = u64(gridDim.x) * blockDim.x / kWarp;
  for (u64 i = first_edge + element() / kWarp; i < last_edge; i += warps) {
    const u32 start = u32(in_edges[i] >> 32), below = u32(in_edges[i]);
    if (!below) continue;
    const u32 v = packed ? u32(packed[i] >> 32) : columns[start + below];
    const u32 row = u32(offsets[v + shift]), length = u32(offsets[v + shift + 1]) - row;
    if (length == 0) continue;
    const double side = sides[packed ? edges_at + i : start + below];
    double sum = 0;
    for (u32 k = lane; k < below; k += kWarp) {
      const u32 w = columns[start + k], index = find(columns + row, length, w);
      if (index == kNone) continue;
      const double product = side * sides[start + k] * sides[row + index];
      atomicAdd(of_w + w, product);
      sum += product;
    }
    sum = warp_sum(sum);
    if (lane == 0 && sum != 0) {
      atomicAdd(of_v + v, sum);
      atomicAdd(sums + (packed ? u32(packed[i]) : row_at(offsets, n, start)), sum);
    }
  }
}
