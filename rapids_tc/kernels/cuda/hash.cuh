// hash.cuh - a hash table of ids in shared memory, with the list that it is made of behind it.
//
// - Interleaved buckets: the i-th entries of all buckets lie side by side, so that lanes that read the i-th
//   entry of different buckets use different banks.
// - A full bucket loses nothing: ids that do not fit are found by binary search in the list, which must be
//   ascending.
#pragma once
#include "device.cuh"

struct HashTable {
  u32* entries;           // entry i of bucket b at [i * buckets + b]: kNone, which no id is, is empty
  u32 buckets, depth;     // buckets: a power of two; depth: entries that a bucket keeps
  const u32* ids;         // the list that the table is made of
  u32 n;

  // Words of shared memory.
  __device__ static u32 words(u32 buckets, u32 depth) { return buckets * depth; }

  // Make the table empty, whatever the words hold, by `threads` threads, of which this is number `thread`.
  __device__ void reset(u32 thread, u32 threads) const {
    for (u32 i = thread; i < words(buckets, depth); i += threads) entries[i] = kNone;
  }

  // Empty a table again: no entry follows an empty one.
  __device__ void clear(u32 thread, u32 threads) const {
    for (u32 bucket = thread; bucket < buckets; bucket += threads)
      for (u32 i = bucket; i < words(buckets, depth) && entries[i] != kNone; i += buckets) entries[i] = kNone;
  }

  __device__ void insert(u32 id) const {
    for (u32 i = id & (buckets - 1); i < words(buckets, depth); i += buckets)
      if (atomicCAS(entries + i, kNone, id) == kNone) return;
  }

  __device__ bool contains(u32 id) const {
    for (u32 i = id & (buckets - 1); i < words(buckets, depth); i += buckets) {
      const u32 entry = entries[i];
      if (entry == id) return true;
      if (entry == kNone) return false;
    }
    return find(ids, n, id) != kNone;   // the bucket is full
  }
};
