// peel.cuh - the threads of a peel, which stay for all of its rounds in one launch, and work together as warps or
// as blocks.
#pragma once
#include "block.cuh"
#include "device.cuh"

#ifdef RTC_PEEL_TINY  // for tests on the emulator
constexpr u32 kPeelThreads = 128;
#else
constexpr u32 kPeelThreads = 1024;
#endif
constexpr u32 kPeelWarps = kPeelThreads / kWarp;

__device__ __forceinline__ u32 grid_thread() { return blockIdx.x * kPeelThreads + threadIdx.x; }
__device__ __forceinline__ u32 grid_threads() { return gridDim.x * kPeelThreads; }
__device__ __forceinline__ u32 grid_warp() { return grid_thread() / kWarp; }
__device__ __forceinline__ u32 grid_warps() { return grid_threads() / kWarp; }

// Threads that work together, of which this is number `lane`: how they wait for each other, and how they add
// up the values of those before this one, and of all.
struct WarpTeam {
  u32 lane;
  static constexpr u32 lanes = kWarp;

  __device__ __forceinline__ void sync() const { __syncwarp(); }
  __device__ __forceinline__ u32 scan(u32 value, u32& total) const {
    const u32 through = warp_scan(value);
    total = __shfl_sync(kFullMask, through, kWarp - 1);
    return through - value;
  }
};

struct BlockTeam {
  u32 lane;
  u32* sums;
  static constexpr u32 lanes = kPeelThreads;

  __device__ __forceinline__ void sync() const { __syncthreads(); }
  __device__ __forceinline__ u32 scan(u32 value, u32& total) const {
    const u32 before = block_scan<kPeelWarps>(value, sums, total);
    __syncthreads();  // all threads have read the sums
    return before;
  }
};
