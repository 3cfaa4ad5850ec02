// The last thread reads the element past the end of an array.
#include "device.cuh"

template <bool kFault>
__global__ void overrun_global(const u32* in, u32 n, u32* out) {
  const u32 next = threadIdx.x + 1;
  const u32 value = next < n + kFault ? in[next] : 0;
  atomicMax(out, value % 1000);
}
