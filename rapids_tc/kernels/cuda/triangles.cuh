// triangles.cuh - visitors that get the positions of all three sides of a triangle, and look up values of
// these edges, such as their types, or their levels in a peel. Values are aligned with the positions of edge
// counts. Those of windows of time are in windows.cuh.
#pragma once
#include "join.cuh"
#include "visit.cuh"

// Sums of a grid, in 64 bits at out. If they are few, each block adds to `size` 32-bit counters in shared
// memory, and drains these into out; else size is 0. No counter can wrap: a thread drains all counters when
// it has added `most` times, so that each of 256 threads has added at most that to a counter: less than 2^31
// together if most is 2^22. A drained counter is exchanged for zero, so that nothing is lost or added twice.
struct Counters {
  u64* out;
  u32 *shared, size, most, added;

  // All threads of the block.
  __device__ Counters(u64* out, u32* shared, u32 size, u32 most)
      : out(out), shared(shared), size(size), most(most), added(0) {
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) shared[i] = 0;
    __syncthreads();  // the counters are zero
  }
  // Add 1 or -1.
  __device__ void add(u32 counter, int amount) {
    if (size == 0) {
      atomicAdd(out + counter, u64(i64(amount)));
      return;
    }
    atomicAdd(shared + counter, u32(amount));
    if (++added == most) drain(0, 1);
  }
  __device__ void drain(u32 first, u32 step) {
    for (u32 i = first; i < size; i += step)
      if (const u32 sum = atomicExch(shared + i, 0u)) atomicAdd(out + i, u64(i64(int(sum))));
    added = 0;
  }
  // All lanes of the warp.
  __device__ void finish() { drain(threadIdx.x % kWarp, kWarp); }
};

// A visitor of triangles alone, whose other hooks do nothing.
struct TrianglesAlone {
  static constexpr bool kEdges = false, kSides = false, kTriangles = true, kMiddles = false;
  static constexpr u64 at_vw = 0;
  __device__ void side(u32) {}
  __device__ void middle(u32, u64) {}
  __device__ void edge(u32, u32) {}
  __device__ void list(u32, u32, u32) {}
  __device__ void finish() {}
};

// Join the sides of every triangle of a kind, at the level of the lowest of them.
template <class Kind>
struct JoinTriangles : TrianglesAlone {
  struct Input {
    Forest forest;
    const u32* levels;  // the highest level of each edge; at 0 it is absent
    Kind kind;
  };
  Input in;

  __device__ JoinTriangles(const Input& in, u32*) : in(in) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    const u32 a = in.levels[uv], b = in.levels[uw], c = in.levels[vw];
    if (a == 0 || b == 0 || c == 0 || !in.kind.meet(uv, uw, vw)) return false;
    if (a <= b && a <= c) join_both(uv, a, uw, b, vw, c);
    else if (b <= c) join_both(uw, b, uv, a, vw, c);
    else join_both(vw, c, uv, a, uw, b);
    return true;
  }
  __device__ void join_both(u32 lowest, u32 level, u32 x, u32 x_level, u32 y, u32 y_level) {
    join(in.forest, x, x_level, lowest, level);
    join(in.forest, y, y_level, lowest, level);
  }
};

// For every edge, the sum over its triangles of the value of the third vertex, in 64 bits: of integers, so
// that the result does not depend on the order of the atomics. A lane adds up what it finds on an edge (u, v)
// before it goes on to another, and a block what it finds on (v, w).
struct ThirdSums : TrianglesAlone {
  struct Input {
    u64* out;
    const i64 *larger, *smaller;  // the values of the ends of each edge: of u, and of v or w
    u32 size;  // edges
  };
  static constexpr bool kMiddles = true;
  Input in;
  u64 sum, at_vw;

  __device__ ThirdSums(const Input& in, u32*) : in(in), sum(0), at_vw(0) {}
  __device__ bool triangle(u32 uv, u32 uw, u32) {
    sum += u64(in.smaller[uw]);
    atomicAdd(in.out + uw, u64(in.smaller[uv]));
    at_vw = u64(in.larger[uv]);
    return true;
  }
  __device__ void middle(u32 vw, u64 amount) { atomicAdd(in.out + vw, amount); }
  __device__ void edge(u32 uv, u32) {
    if (sum) atomicAdd(in.out + uv, sum);
    sum = 0;
  }
  __device__ void list(u32 uv, u32 hits, u32) { edge(uv, hits); }
};

// For every triangle an amount: at out[uv], and at out[size + vw]. So each corner finds its triangles at an end of
// edges: u and v at those of uv, w at that of vw, without an atomic per triangle in global memory.
template <class Value>
struct AtTwoSides : TrianglesAlone {
  struct Input {
    u64* out;
    const Value* values;  // of each edge
    u32 size;  // edges
  };
  static constexpr bool kMiddles = true;
  Input in;
  u64 sum, at_vw;

  __device__ explicit AtTwoSides(const Input& in) : in(in), sum(0), at_vw(0) {}
  __device__ bool take(u64 amount) {
    at_vw = amount;
    sum += amount;
    return true;
  }
  __device__ void middle(u32 vw, u64 amount) { atomicAdd(in.out + u64(in.size) + vw, amount); }
  __device__ void edge(u32 uv, u32) {
    if (sum) atomicAdd(in.out + uv, sum);
    sum = 0;
  }
  __device__ void list(u32 uv, u32 hits, u32) { edge(uv, hits); }
};

// The sum of the values of the sides of each triangle.
struct SideSums : AtTwoSides<u32> {
  __device__ SideSums(const Input& in, u32*) : AtTwoSides(in) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    return take(u64(in.values[uv]) + in.values[uw] + in.values[vw]);
  }
};

// The product of the values of the sides of each triangle.
struct SideProducts : AtTwoSides<signed char> {
  __device__ SideProducts(const Input& in, u32*) : AtTwoSides(in) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    return take(u64(i64(in.values[uv] * in.values[uw] * in.values[vw])));
  }
};

// The triangles by the types of their sides: out[uv][uw][vw].
struct TypeCounts : TrianglesAlone {
  struct Input {
    u64* out;
    const u8* types;  // of each edge, less than n
    u32 n, in_shared, drain_after;
  };
  const u8* types;
  u32 n;
  Counters counters;

  __device__ TypeCounts(const Input& in, u32* shared)
      : types(in.types), n(in.n), counters(in.out, shared, in.in_shared, in.drain_after) {}
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    counters.add((types[uv] * n + types[uw]) * n + types[vw], 1);
    return true;
  }
  __device__ void finish() { counters.finish(); }
};

// The triangles of the edge at p whose two other sides both reach its probe: in out[p] if they reach its
// bound, too, else in out[size + p]. Triangles of a kind count alone. A lane writes the counts of an edge (u, v) when it
// comes to the next edge.
template <class Kind>
struct LevelCounts : TrianglesAlone {
  struct Input {
    u32* out;
    const u64* bounds;  // of each edge: a bound of its level, in the upper half, and a probe
    Kind kind;
    u32 size;  // edges
  };
  Input in;
  u32 uv_at, of_bound, of_probe;

  __device__ LevelCounts(const Input& in, u32*) : in(in), uv_at(0), of_bound(0), of_probe(0) {}
  __device__ void reach(u32 p, u64 own, u32 a, u32 b) {
    const u32 others = a < b ? a : b;
    if (others >= u32(own)) atomicAdd(in.out + (others >= u32(own >> 32) ? 0 : u64(in.size)) + p, 1u);
  }
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    if (!in.kind.meet(uv, uw, vw)) return false;
    const u64 x = in.bounds[uv], y = in.bounds[uw], z = in.bounds[vw];
    const u32 a = u32(x >> 32), b = u32(y >> 32), c = u32(z >> 32), others = b < c ? b : c;
    if (uv != uv_at) add();
    uv_at = uv;
    of_bound += others >= u32(x) && others >= a;
    of_probe += others >= u32(x) && others < a;
    reach(uw, y, a, c);
    reach(vw, z, a, b);
    return true;
  }
  __device__ void add() {
    if (of_bound) atomicAdd(in.out + uv_at, of_bound);
    if (of_probe) atomicAdd(in.out + u64(in.size) + uv_at, of_probe);
    of_bound = of_probe = 0;
  }
  __device__ void finish() { add(); }
};
