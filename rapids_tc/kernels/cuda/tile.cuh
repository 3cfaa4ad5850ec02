// tile.cuh - several edges or rows per thread, and the rows of a CSR that hold these edges.
#pragma once
#include "device.cuh"

constexpr u32 kThreads = 256;         // threads of a block
constexpr u32 kEach = 8;              // edges or rows per thread, if blocks take kTile of them
constexpr u32 kTile = kThreads * kEach;

// The edges begin .. end - 1 of a block of threads, and the rows that hold them: the block finds the ends
// of this range of rows once, so that its threads search few rows.
struct Tile {
  const i64* offsets;
  u64 begin, end;
  const u64* rows;            // shared: one past the row of the first edge, and of the last

  __device__ Tile(const i64* offsets, u64 n, u64 m, u64* shared)
      : offsets(offsets),
        begin(u64(blockIdx.x) * kTile),
        end(begin + kTile < m ? begin + kTile : m),
        rows(shared) {
    if (threadIdx.x % kWarp == 0 && threadIdx.x / kWarp < 2)
      shared[threadIdx.x / kWarp] = lower_bound(offsets, n + 1, i64(threadIdx.x ? end : begin + 1));
    __syncthreads();          // the range of rows is known
  }
  __device__ u32 row(u64 p) const {
    return u32(rows[0] + lower_bound(offsets + rows[0], rows[1] - rows[0], i64(p + 1)) - 1);
  }
};
