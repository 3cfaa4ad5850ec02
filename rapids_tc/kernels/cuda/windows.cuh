// windows.cuh - visitors of triangles.cuh that look up the windows of time in which edges are present.
#pragma once
#include "spans.cuh"
#include "triangles.cuh"

// The differences between the triangles of each window and of the window before it. Intervals are cut to
// the windows. What ends behind the last window is left out: all triangles that stay would be taken away there,
// by atomics on one word.
template <class Spans>
struct WindowChanges : TrianglesAlone {
  struct Input {
    u64* out;
    Spans spans;
    u32 windows, in_shared, drain_after;
  };
  Spans spans;
  Counters counters;
  u32 windows;

  __device__ WindowChanges(const Input& in, u32* shared)
      : spans(in.spans), counters(in.out, shared, in.in_shared, in.drain_after), windows(in.windows) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    spans.each(uv, uw, vw, [&](u32 first, u32 last) {
      if (first < windows) {
        counters.add(first, 1);
        if (last < windows - 1) counters.add(last + 1, -1);
      }
      return false;
    });
    return true;
  }
  __device__ void finish() { counters.finish(); }
};

// EdgeCounts of the triangles whose sides have a window in common.
template <class Spans>
struct SpanEdgeCounts : EdgeCounts {
  struct Input {
    u32* out;
    Spans spans;
    u32 size;  // edges
  };
  static constexpr bool kTriangles = true;
  Spans spans;

  __device__ SpanEdgeCounts(const Input& in, u32*) : EdgeCounts(in.out), spans(in.spans) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) const { return spans.meet(uv, uw, vw); }
};

// Call take(a, b, c) for the arcs of three edges that count, until it returns true; return whether it did. Arcs up are
// `edges` behind those down. Bit i of choices says whether those count of which uv is up for bit 0 of i, uw for bit 1,
// and vw for bit 2.
template <class Take>
__device__ bool any_choice(u32 choices, u32 edges, u32 uv, u32 uw, u32 vw, Take take) {
  for (u32 i = 0; i < 8; ++i) {
    const bool counts = choices >> i & 1;
    if (counts && take(uv + (i & 1) * edges, uw + (i >> 1 & 1) * edges, vw + (i >> 2) * edges)) return true;
  }
  return false;
}

// For every arc, the choices of arcs for its triangles that have a window in common, in 64 bits.
template <class Spans>
struct ArcCounts : TrianglesAlone {
  struct Input {
    u64* out;
    Spans spans;
    u32 choices, size;  // edges
  };
  Input in;

  __device__ ArcCounts(const Input& in, u32*) : in(in) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    any_choice(in.choices, in.size, uv, uw, vw, [&](u32 a, u32 b, u32 c) {
      if (!in.spans.meet(a, b, c)) return false;
      atomicAdd(in.out + a, u64(1));
      atomicAdd(in.out + b, u64(1));
      atomicAdd(in.out + c, u64(1));
      return false;
    });
    return true;
  }
};
