// hash.cuh - a hash table of ids in shared memory, with the list that it is made of behind it.
//
// - Interleaved buckets: the i-th entries of all buckets lie side by side, so that lanes that read the i-th
//   entry of different buckets use different banks.
// - A full bucket loses nothing: ids that do not fit are found by binary search in the list, which must be
//   ascending.
#pragma once
#include "device.cuh"

struct HashTable {
  u32* sizes;             // ids of each bucket, also those that do not fit: zeros, then atomicAdd
  u32 buckets, depth;     // buckets: a power of two; depth: entries that a bucket keeps
  const u32* ids;         // the list that the table is made of
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
