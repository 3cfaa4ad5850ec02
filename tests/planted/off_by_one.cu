// A merge of two rows that stops one element early: most graphs never notice.
#include "device.cuh"

template <bool kFault>
__global__ void off_by_one(const u32* offsets, const u32* columns, u32 n, u32* out) {
  const u32 u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  const u32 end = offsets[u + 1];
  for (u32 p = offsets[u]; p < end; p++) {
    const u32 v = columns[p];
    const bool early = kFault && end - offsets[u] > 2 && offsets[v + 1] - offsets[v] > 2;
    u32 i = offsets[u], j = offsets[v];
    while (i < end && j + early < offsets[v + 1]) {
      const u32 a = columns[i], b = columns[j];
      if (a == b) atomicAdd(out, 1u);
      i += a <= b;
      j += b <= a;
    }
  }
}
