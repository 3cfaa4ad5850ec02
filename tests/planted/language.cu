// What the emulator knows of CUDA, a kernel a topic; test_emulator.py says what comes out.
#include "device.cuh"

// Collectives of a whole warp: a row of out for each.
__global__ void collectives(const u32* in, u32* out) {
  const u32 lane = threadIdx.x, x = in[lane];
  const int s = int(x) - 40;
  u32 row = 0;
  const auto put = [&](u32 value) { out[row++ * kWarp + lane] = value; };
  put(__shfl_sync(kFullMask, x, 5));
  put(__shfl_sync(kFullMask, x, 5, 8));
  put(__shfl_up_sync(kFullMask, x, 3));
  put(__shfl_down_sync(kFullMask, x, 3, 16));
  put(__shfl_xor_sync(kFullMask, x, 6));
  put(__ballot_sync(kFullMask, x % 3 == 0));
  put(__any_sync(kFullMask, x == 7) * 2 + __any_sync(kFullMask, x == 1000));
  put(__all_sync(kFullMask, x >= 7) * 2 + __all_sync(kFullMask, x == 7));
  put(__match_any_sync(kFullMask, x % 3));
  put(__reduce_add_sync(kFullMask, x));
  put(__reduce_min_sync(kFullMask, s));
  put(__reduce_max_sync(kFullMask, s));
  put(__reduce_min_sync(kFullMask, x));
  put(__reduce_max_sync(kFullMask, x));
  put(__reduce_and_sync(kFullMask, x | 64));
  put(__reduce_or_sync(kFullMask, x));
  put(__reduce_xor_sync(kFullMask, x));
  put(u32(__shfl_xor_sync(kFullMask, u64(x) << 32, 1) >> 32));
  put(u32(__shfl_xor_sync(kFullMask, double(x), 1)));
}

// Halves of a warp that never meet, lanes that leave early, loops of different lengths.
__global__ void diverged(const u32* in, u32* out) {
  const u32 lane = threadIdx.x;
  const u32 half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  u32 sum = 0;
  for (u32 i = 0; i < (lane < 16 ? 3u : 5u); i++) sum += __reduce_add_sync(half, in[lane]);
  if (lane == 31) return;
  out[lane] = sum + __popc(__ballot_sync(kFullMask, 1));   // the mask names a lane that has left
}

// Each atomic once a thread of three warps, on a word of its own.
__global__ void atomics(u32* words, int* signed_words, double* real, u64* wide) {
  const u32 t = threadIdx.x;
  atomicAdd(words + 0, t);
  atomicSub(words + 1, 1u);
  atomicMin(words + 2, t + 5);
  atomicMax(words + 3, t);
  atomicAnd(words + 4, ~(1u << t % 32));
  atomicOr(words + 5, 1u << t % 32);
  atomicXor(words + 6, t);
  atomicInc(words + 7, 9u);
  atomicDec(words + 8, 9u);
  if (atomicCAS(words + 9, t, t + 1) == t) atomicAdd(words + 10, 1u);   // in thread order: each
  atomicExch(words + 11, 77u);
  atomicMin(signed_words + 0, -int(t));
  atomicMax(signed_words + 1, int(t) - 1000);
  atomicAdd(real, 0.5);
  atomicAdd(wide, u64(t) << 30);
}

__global__ void arithmetic(const u32* in, u32* out) {
  const u32 x = in[threadIdx.x];
  const u64 wide = u64(x) << 20;
  const uint4 v = make_uint4(x, x + 1, x + 2, x + 3);
  const uint2 pair{v.y, v.w};
  u32* const row = out + threadIdx.x * 12;
  row[0] = __popc(x);
  row[1] = __popcll(wide);
  row[2] = __clz(int(x));
  row[3] = __clzll(i64(wide));
  row[4] = __ffs(int(x));
  row[5] = __ffsll(i64(wide));
  row[6] = min(x, 20u) + max(x, 20u);
  row[7] = __ldg(in + threadIdx.x);
  row[8] = v.x + v.z + pair.x + pair.y;
  row[9] = __umulhi(x, 1u << 31);
  row[10] = u32(__umul64hi(wide, 1ull << 50));
  row[11] = sizeof(uint4) + alignof(uint4) + sizeof(uint2) + sizeof(ushort4);
}

// Where each thread is, in a grid and blocks of three axes.
__global__ void places(u32* out) {
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 1000 + thread;
}

// A block's static arrays are its own; dynamic memory is one array by any type.
__global__ void shared_memory(u32* out) {
  RTC_SHARED(u32, a, 4);
  RTC_SHARED(u64, b, 2);
  RTC_DYNAMIC_SHARED(u32, words);
  RTC_DYNAMIC_SHARED(u16, halves);
  if (threadIdx.x == 0) {
    out[4 * blockIdx.x] = a[0];
    a[0] = 1;
    b[0] = 2;
    words[0] = 0x00030004;
    out[4 * blockIdx.x + 1] = sizeof(a) + sizeof(b);
    out[4 * blockIdx.x + 2] = a[0] + u32(b[0]);
    out[4 * blockIdx.x + 3] = halves[0] * 16 + halves[1];
  }
}

template <u32 kBytes>
__global__ void large(u32* out) {
  RTC_SHARED(u16, memory, kBytes / 2);
  memory[threadIdx.x] = 5;
  out[threadIdx.x] = memory[threadIdx.x];
}

// Blocks and warps draw from one counter; who drew what, and how often it was probed.
__global__ void tickets(u32* ticket, u32 n, u32* by) {
  for (;;) {
    u32 task = 0;
    if (threadIdx.x % kWarp == 0) task = RTC_TICKET(ticket);
    task = __shfl_sync(kFullMask, task, 0);
    if (task >= n) break;
    RTC_PROBE(threadIdx.x % kWarp == 0 ? 10 : 0);
    if (threadIdx.x % kWarp == 0) atomicAdd(by + task, blockIdx.x + 1);
  }
}

__global__ void trap(const u32* in) {
  if (in[threadIdx.x] > 20) __trap();
}

__global__ void mixed_parameters(const u32* a, u64 b, int c, double d, bool e, u16 f, void* g, double* out) {
  if (threadIdx.x == 0) out[0] = double(a[0]) + double(b) + c + d + e + f + (g == nullptr);
}

// When each thread came.
__global__ void order(u32* next, u32* out) { out[threadIdx.x] = atomicAdd(next, 1u); }
