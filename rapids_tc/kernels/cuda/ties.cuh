// ties.cuh - the visitor that adds up, for each edge, what the two other sides of its triangles make.
#pragma once
#include "triangles.cuh"

enum PairRule : u32 { kLeast, kLargest, kAdded, kMultiplied, kThrough, kRedundant };  // as in quantity.py

// For every edge, the sum over its triangles of what their two other sides make, in 64 bits: of whole numbers in
// the scale of the edge, so that the result does not depend on the order of the atomics. No product is added to,
// which a GPU would round once, and a CPU twice.
struct PairSums : TrianglesAlone {
  struct Input {
    u64* out;
    const double *values, *scales;  // of each edge
    const double *larger, *smaller;  // of the ends of each edge: of u, and of v or w
    u32 rule, size;  // edges
  };
  Input in;
  u32 uv_at;
  u64 sum;

  __device__ PairSums(const Input& in, u32*) : in(in), uv_at(0), sum(0) {}
  __device__ u64 made(u32 p, double a, double b, double third) {
    double result;
    switch (in.rule) {
      case kLeast: result = a < b ? a : b; break;
      case kLargest: result = a < b ? b : a; break;
      case kAdded: result = a + b; break;
      case kMultiplied: result = a * b; break;
      case kThrough: result = a * b * third; break;
      default: result = a > 0 ? b * third : 0;
    }
    return u64(result * in.scales[p]);
  }
  __device__ void add_second(u32 p, double side, double amount) {
    if (in.rule == kRedundant && side > 0) atomicAdd(in.out + u64(in.size) + p, u64(amount * in.scales[p]));
  }
  __device__ bool triangle(u32 uv, u32 uw, u32 vw) {
    const double a = in.values[uv], b = in.values[uw], c = in.values[vw];
    const double of_u = in.larger[uv], of_v = in.smaller[uv], of_w = in.smaller[uw];
    if (uv != uv_at) add();
    uv_at = uv;
    sum += made(uv, b, c, of_w);
    atomicAdd(in.out + uw, made(uw, a, c, of_v));
    atomicAdd(in.out + vw, made(vw, a, b, of_u));
    add_second(uv, c, b * of_w);
    add_second(uw, c, a * of_v);
    add_second(vw, b, a * of_u);
    return true;
  }
  __device__ void add() {
    if (sum) atomicAdd(in.out + uv_at, sum);
    sum = 0;
  }
  __device__ void finish() { add(); }
};
