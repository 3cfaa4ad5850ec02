// list.cu - every triangle u > v > w in turn: written down, or summed over with values of its sides.
//
// A warp takes an in-edge (u, v) of the middle vertex v, its lanes the entries of N+(u) below v, one
// each a step; each is looked for in N+(v) by binary search. Work: log |N+(v)| times bitmap.cu's. It
// needs no shared memory and meets the triangles of an in-edge in ascending w, so that a hit's place
// among them is known from one ballot. What follows is dearer: a sort of what is listed, an atomic
// for each term of a sum.
//
// Input: any oriented Csr and prepare.cu's in_edges: start of N+(u) << 32 | entries below v, so that
// v itself is columns[start + entries].
#include "device.cuh"
#include "in_edge.cuh"

constexpr u32 kListThreads = 256;

// The vertex whose row is at start: the last one that starts there, those before it being empty.
__device__ __forceinline__ u32 row_at(const i64* offsets, u64 n, u32 start) {
  return u32(lower_bound(offsets, n, i64(start) + 1)) - 1;
}

__device__ __forceinline__ u64 warp_of_grid() {
  return (u64(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
}

// Triangles first .. last - 1 as ranks: u to ranks[t - first], v to it `last - first` further, then w.
// Those of in-edge i are starts[i] .. starts[i + 1] - 1: each has one place, and one lane writes it.
// In-edges first_edge .. last_edge - 1 have them all. The walk of an in-edge ends at its last one.
extern "C" __global__ void __launch_bounds__(kListThreads)
list_triangles(const i64* offsets, u64 n, const u32* columns, const u64* in_edges, const i64* starts,
               u64 first_edge, u64 last_edge, i64 first, i64 last, u32* ranks) {
  const u32 lane = threadIdx.x % kWarp;
  const u64 warps = u64(gridDim.x) * blockDim.x / kWarp, size = u64(last - first);
  for (u64 i = first_edge + warp_of_grid(); i < last_edge; i += warps) {
    i64 t = starts[i];
    const i64 end = starts[i + 1] < last ? starts[i + 1] : last;
    if (t >= end) continue;
    const InEdge e = in_edge(offsets, columns, in_edges[i]);
    const u32 u = row_at(offsets, n, e.start);
    for (u32 k = lane; t < end; k += kWarp) {   // the same t in all lanes
      const u32 w = k < e.below ? columns[e.start + k] : kNone;
      const u32 hits = __ballot_sync(kFullMask, find(columns + e.row, e.length, w) != kNone);
      const i64 mine = t + __popc(hits & ((1u << lane) - 1));
      if ((hits >> lane & 1) && mine >= first && mine < end) {
        u32* const out = ranks + (mine - first);
        out[0] = u;
        out[size] = e.v;
        out[2 * size] = w;
      }
      t += __popc(hits);
    }
  }
}

// To each corner of every triangle, the product of the values of its sides. sums: 64-bit atomics, in
// any order, so that the last digits are not the same on every run.
extern "C" __global__ void __launch_bounds__(kListThreads)
vertex_sums(const i64* offsets, u64 n, const u32* columns, const u64* in_edges, u64 first_edge,
            u64 last_edge, const double* sides, double* sums) {
  const u32 lane = threadIdx.x % kWarp;
  const u64 warps = u64(gridDim.x) * blockDim.x / kWarp;
  for (u64 i = first_edge + warp_of_grid(); i < last_edge; i += warps) {
    const InEdge e = in_edge(offsets, columns, in_edges[i]);
    if (e.length == 0) continue;
    const double side = sides[e.start + e.below];
    double sum = 0;
    for (u32 k = lane; k < e.below; k += kWarp) {
      const u32 w = columns[e.start + k], index = find(columns + e.row, e.length, w);
      if (index == kNone) continue;
      const double product = side * sides[e.start + k] * sides[e.row + index];
      atomicAdd(sums + w, product);
      sum += product;
    }
    for (u32 step = kWarp / 2; step; step /= 2) sum += __shfl_xor_sync(kFullMask, sum, step);
    if (lane == 0 && sum != 0) {
      atomicAdd(sums + e.v, sum);
      atomicAdd(sums + row_at(offsets, n, e.start), sum);
    }
  }
}
