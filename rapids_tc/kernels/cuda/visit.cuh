// visit.cuh - visitors, which say what is done with the triangles that a method finds. A method finds w in
// both N+(u) and N+(v) while it works on the edge (u, v), and names edges by their positions in the CSR's
// columns.
//
//   side(position)             one side at w, (u, w) or (v, w), is in one more triangle. The position need
//                              be right only if kSides.
//   edge(position, hits)       one lane has found hits triangles on the edge (u, v) at position. The
//                              position need be right only if kEdges.
//   list(position, hits, l)    the same for l = 2^k neighboring lanes together, each with its own hits.
//                              All 32 lanes of the warp must call it.
//   triangle(uv, uw, vw)       a triangle is found, by the positions of its sides; return whether it counts.
//                              Only those that count are passed to the above. Called only if kTriangles.
//   middle(vw, amount)         the sum of what `at_vw` was for some of the triangles with (v, w) at vw: blocks
//                              add it up for all their edges (u, v). Called only if kMiddles.
//   finish()                   the kernel ends; all 32 lanes of the warp must call it.
//
// A kernel is compiled for one of them, named by the macro RTC_VISIT, and makes it of its Input, the argument
// that the host gives. Those with kTriangles are in triangles.cuh, windows.cuh and kinds.cuh; the kernels that make them
// pass them all positions, and the shared memory of their counters.
#pragma once
#include "block.cuh"
#include "device.cuh"

// A visitor that is not asked about triangles.
struct EveryTriangle {
  static constexpr bool kTriangles = false, kMiddles = false;
  static constexpr u64 at_vw = 0;
  __device__ bool triangle(u32, u32, u32) { return true; }
  __device__ void middle(u32, u64) {}
};

// The number of triangles: a sum per lane until finish, then one 64-bit atomic per warp.
struct Total : EveryTriangle {
  using Input = u64*;
  static constexpr bool kEdges = false, kSides = false;
  u64* out;
  u64 found;

  __device__ explicit Total(u64* out, u32* = nullptr) : out(out), found(0) {}
  __device__ void side(u32) {}
  __device__ void edge(u32, u32 hits) { found += hits; }
  __device__ void list(u32, u32 hits, u32) { found += hits; }
  __device__ void finish() {
    found = warp_sum(found);
    if (threadIdx.x % kWarp == 0 && found) atomicAdd(out, found);
  }
};

// The triangles of every edge: 32-bit atomics on out[position], of integers, so that the result does not
// depend on their order.
struct EdgeCounts : EveryTriangle {
  using Input = u32*;
  static constexpr bool kEdges = true, kSides = true;
  u32* out;

  __device__ explicit EdgeCounts(u32* out, u32* = nullptr) : out(out) {}
  __device__ void side(u32 position) { atomicAdd(out + position, 1u); }
  __device__ void edge(u32 position, u32 hits) {
    if (hits) atomicAdd(out + position, hits);
  }
  __device__ void list(u32 position, u32 hits, u32 lanes) {
    hits = warp_sum(hits, lanes);
    if (threadIdx.x % lanes == 0) edge(position, hits);
  }
  __device__ void finish() {}
};

// The triangles u > v > w of every edge (u, v): as EdgeCounts, but without the other two sides.
struct InEdgeCounts : EdgeCounts {
  static constexpr bool kSides = false;
  using EdgeCounts::EdgeCounts;
  __device__ void side(u32) {}
};
