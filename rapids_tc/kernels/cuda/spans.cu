// spans.cu - the windows of rows at their edges, and marks of the windows in which edges are present: a word per
// edge, which tells of most triangles whether their sides meet. Windows lie in 32 bins of `width` windows each. Bit
// b of the lower half: the edge is present in some window of bin b. Bit b of the upper half: in its first.
//
// A thread owns a row, or an edge, and writes its word. Words of windows are written by atomics.
#include "device.cuh"

constexpr u32 kBins = 32;
constexpr u64 kAbsent = 0x100000000;  // the first window and the last, in halves, of what is in none

// Write the windows of each row at its edge, where of_edges is kAbsent at first: those of one row stay. Say of each
// row whether they are others than its own. A row is left out if it has no edge (-1), or is in no window.
extern "C" __global__ void __launch_bounds__(kThreads)
write_windows(const i64* edges, const u64* windows, u64 rows, u64* of_edges, bool* finds_others) {
  const u64 row = element();
  if (row >= rows) return;
  const u64 own = windows[row];
  const bool counts = edges[row] >= 0 && u32(own >> 32) <= u32(own);
  const u64 found = counts ? atomicCAS(of_edges + edges[row], kAbsent, own) : kAbsent;
  finds_others[row] = found != kAbsent && found != own;
}

// Bits `first` to `last` of a word; what lies behind the last bin is in it.
__device__ __forceinline__ u32 bits(u32 first, u32 last) {
  return ~0u << smaller(first, kBins - 1) & ~0u >> (kBins - 1 - smaller(last, kBins - 1));
}

// Write the marks of m edges: edge e has the intervals offsets[e] .. offsets[e + 1] - 1 of windows.cuh.
extern "C" __global__ void __launch_bounds__(kThreads)
write_marks(const u32* firsts, const u32* lasts, const i64* offsets, u64 m, u32 width, u64* marks) {
  const u64 edge = element();
  if (edge >= m) return;
  u32 some = 0, firsts_of_bins = 0;
  for (i64 i = offsets[edge]; i < offsets[edge + 1]; i++) {
    if (firsts[i] > lasts[i]) continue;
    const u32 bin = firsts[i] / width, last_bin = lasts[i] / width, next = bin + (firsts[i] % width > 0);
    some |= bits(bin, last_bin);
    if (next <= last_bin) firsts_of_bins |= bits(next, last_bin);
  }
  marks[edge] = u64(firsts_of_bins) << 32 | some;
}
