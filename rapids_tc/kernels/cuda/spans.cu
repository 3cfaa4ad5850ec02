// spans.cu - marks of the windows in which edges are present: a word per edge, which tells of most triangles
// whether their sides meet. Windows lie in 32 bins of `width` windows each. Bit b of the lower half: the edge is
// present in some window of bin b. Bit b of the upper half: in its first.
//
// A thread owns an edge, and writes its word.
#include "device.cuh"

constexpr u32 kBins = 32;

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
