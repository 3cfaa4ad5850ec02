// hash.cuh - a hash table of ids in shared memory, and the list that it was made of behind it.
//
// - Interleaved buckets: the i-th entries of all buckets lie side by side, so that lanes that look at
//   the i-th entry of different buckets meet different banks.
// - A full bucket loses nothing: what does not fit is found by binary search in the list, which for
//   that must ascend.
#pragma once
#include "device.cuh"

struct HashTable {
  u32* sizes;             // of each bucket, those that did not fit included: zeros, then atomicAdd
  u32 buckets, depth;     // buckets: a power of two; depth: entries of one that are kept
  const u32* ids;         // what it is made of
  u32 n;

  // Words of shared memory: the sizes, then the entries, the i-th of bucket b at [i * buckets + b].
  __device__ static u32 words(u32 buckets, u32 depth) { return buckets * (1 + depth); }

  __device__ u32* entries() const { return sizes + buckets; }

  __device__ void insert(u32 id) const {
    const u32 bucket = id & (buckets - 1), i = atomicAdd(sizes + bucket, 1u);
    if (i < depth) entries()[i * buckets + bucket] = id;
  }

  __device__ bool contains(u32 id) const {
    const u32 bucket = id & (buckets - 1), size = sizes[bucket], kept = size < depth ? size : depth;
    for (u32 i = 0; i < kept; i++)
      if (entries()[i * buckets + bucket] == id) return true;
    return size > depth && find(ids, n, id) != kNone;
  }
};
