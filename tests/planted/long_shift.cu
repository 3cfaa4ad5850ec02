// A shift by the whole width of a word: nothing on some machines, everything on others.
#include "device.cuh"

template <bool kFault>
__global__ void long_shift(const u32* in, u32* out) {
  const u32 lane = threadIdx.x % kWarp, bits = lane + 1;
  const u32 below = kFault && bits ? (1u << bits) - 1 : kFullMask >> (kWarp - bits);
  out[threadIdx.x] = __popc(in[0] & below);
}
