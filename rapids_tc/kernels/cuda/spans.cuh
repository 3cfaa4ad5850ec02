// spans.cuh - the windows of time in which edges are present, and whether three edges have one in common.
#pragma once
#include "device.cuh"

// The windows of edges as a word each: its first window, in the upper half, and its last. It is absent if the
// first is above the last.
template <class Word>
struct SpanWords {
  const Word* words;

  // Call take(first, last) for the windows that the edges have in common, until it returns true; return
  // whether it did.
  template <class Take>
  __device__ bool each(u32 uv, u32 uw, u32 vw, Take take) const {
    constexpr u32 kBits = 4 * sizeof(Word);
    const Word a = words[uv], b = words[uw], c = words[vw], low = (Word(1) << kBits) - 1;
    const Word first = larger(larger(a >> kBits, b >> kBits), c >> kBits);
    const Word last = smaller(smaller(a & low, b & low), c & low);
    return first <= last && take(u32(first), u32(last));
  }
  // Return whether the edges have a window in common.
  __device__ bool meet(u32 uv, u32 uw, u32 vw) const {
    return each(uv, uw, vw, [](u32, u32) { return true; });
  }
};

// The windows of edges as intervals: of the edge at p, firsts[i] to lasts[i] for begins[p] <= i < ends[p],
// ascending and disjoint. An interval with first > last is empty. Most triangles end at the marks of spans.cu, a
// word each in place of numbers from four arrays.
struct SpanIntervals {
  const u64* marks;
  const u32 *firsts, *lasts;
  const i64 *begins, *ends;
  static constexpr i64 kPlain = -3;

  // Pass over a step of intervals that end before `past`, and return true; else over one at most. Steps up to 0,
  // the first four, pass over one interval each: in most lists doubling steps would cost more.
  __device__ bool pass(i64& at, i64 end, i64 step, u64 past) const {
    const i64 ahead = smaller(at + step, end - 1);
    const bool far = step > 0 && lasts[ahead] < past;
    at = far ? ahead + 1 : at + (lasts[at] < past);
    return far;
  }
  template <class Take>
  __device__ bool each(u32 uv, u32 uw, u32 vw, Take take) const {
    return u32(common(uv, uw, vw)) && walk(uv, uw, vw, take);
  }
  __device__ bool meet(u32 uv, u32 uw, u32 vw) const {
    const u64 bins = common(uv, uw, vw);
    if (bins >> 32) return true;  // in the first window of a bin
    return u32(bins) && walk(uv, uw, vw, [](u32, u32) { return true; });
  }
  __device__ u64 common(u32 uv, u32 uw, u32 vw) const { return marks[uv] & marks[uw] & marks[vw]; }
  // As each, without a look at the marks.
  template <class Take>
  __device__ bool walk(u32 uv, u32 uw, u32 vw, Take take) const {
    return walk_at(uv, uw, vw, [&](i64, i64, i64, u32 first, u32 last) { return take(first, last); });
  }
  // Call take(a, b, c, first, last), with the places of the intervals, too.
  template <class Take>
  __device__ bool walk_at(u32 uv, u32 uw, u32 vw, Take take) const {
    i64 a = begins[uv], b = begins[uw], c = begins[vw], step = kPlain;
    const i64 a_end = ends[uv], b_end = ends[uw], c_end = ends[vw];
    while (a < a_end && b < b_end && c < c_end) {
      const u32 last = smaller(smaller(lasts[a], lasts[b]), lasts[c]);
      const u32 first = larger(larger(firsts[a], firsts[b]), firsts[c]);
      if (first <= last && take(a, b, c, first, last)) return true;
      const u64 past = larger(u64(first), u64(last) + 1);
      const bool far = pass(a, a_end, step, past) | pass(b, b_end, step, past) | pass(c, c_end, step, past);
      step = step < 1 ? step + 1 : far ? 2 * step : larger(step / 2, i64(1));
    }
    return false;
  }
};
