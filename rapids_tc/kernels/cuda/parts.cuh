// parts.cuh - moves items of 64 bits to their parts. A block of threads takes a tile of items, and collects
// those of one part in shared memory first, so that it writes runs of items.
#pragma once
#include "block.cuh"
#include "device.cuh"

constexpr u32 kParts = 256;
constexpr u32 kPartEach = 16, kPartTile = kThreads * kPartEach;  // items of a tile
static_assert(kParts == kThreads, "a thread per part");

// Move the items begin .. end - 1, of which there are kPartTile at most. item(i) reads one; part(item) is its
// part, or kNone to leave it out; free[part] is where the next item of a part goes in `out`. If there are
// `numbers`, number(i) goes to the same place there. All threads of the block, as often as it likes.
template <class Item, class Part, class Number>
__device__ __forceinline__ void move_tile(u64 begin, u64 end, const Item& item, const Part& part, u32* free,
                                          u64* out, const Number& number, u32* numbers) {
  RTC_SHARED(u32, found, kParts);
  RTC_SHARED(u32, start, kParts);  // of a part in `items`
  RTC_SHARED(u32, target, kParts);  // from a place in `items` to one in `out`
  RTC_SHARED(u32, sums, kWarps);
  RTC_SHARED(u8, parts, kPartTile);  // of the items in `items`
  RTC_SHARED(u64, items, kPartTile);
  __syncthreads();  // the tile before is written
  found[threadIdx.x] = 0;
  __syncthreads();  // the counts are zero
  u64 own[kPartEach];
  u32 own_part[kPartEach], place[kPartEach];
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++) {
    const u64 i = begin + t * kThreads + threadIdx.x;
    own[t] = i < end ? item(i) : 0;
  }
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++) {
    own_part[t] = begin + t * kThreads + threadIdx.x < end ? part(own[t]) : kNone;
    if (own_part[t] != kNone) place[t] = atomicAdd(found + own_part[t], 1u);
  }
  __syncthreads();  // all are counted
  place_keys<kWarps>(found, free + threadIdx.x, start, target, sums);
  __syncthreads();  // every part has its places
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++) {
    if (own_part[t] == kNone) continue;
    place[t] += start[own_part[t]];
    items[place[t]] = own[t];
    parts[place[t]] = u8(own_part[t]);
  }
  __syncthreads();  // all are collected
  const u32 all = start[kParts - 1] + found[kParts - 1];
  for (u32 i = threadIdx.x; i < all; i += kThreads) out[target[parts[i]] + i] = items[i];
  if (!numbers) return;
  u32* const moved = reinterpret_cast<u32*>(items);
  __syncthreads();  // all items are written
#pragma unroll
  for (u32 t = 0; t < kPartEach; t++)
    if (own_part[t] != kNone) moved[place[t]] = number(begin + t * kThreads + threadIdx.x);
  __syncthreads();  // all numbers are collected
  for (u32 i = threadIdx.x; i < all; i += kThreads) numbers[target[parts[i]] + i] = moved[i];
}
