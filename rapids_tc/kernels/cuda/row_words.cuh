// row_words.cuh - the rows of a CSR as two words for every 32 positions, a quarter of a byte per edge: small
// enough for the cache, so that the row of any position is one cheap load.
#pragma once
#include "device.cuh"

// Where the row of position p starts. The words of 32 positions: a bit for each that a row starts at, and the
// start of the row that the first of them is in, unless a row starts there.
__device__ __forceinline__ u32 row_start(const u32* row_words, u32 p) {
  const uint2 words = __ldg(reinterpret_cast<const uint2*>(row_words) + p / kWarp);
  const u32 starts = words.x & ((2u << p % kWarp) - 1);
  return starts ? p / kWarp * kWarp + kWarp - 1 - __clz(int(starts)) : words.y;
}
