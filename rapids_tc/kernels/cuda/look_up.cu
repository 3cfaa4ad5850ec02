// look_up.cu - the edges of pairs of vertices, such as the rows of a frame, and values of these edges.
//
// A search in a long row of a large graph waits for memory at each step. Therefore every kEvery-th column is
// copied first: such heads are few enough to stay in the cache, and leave a group of kEvery columns, which
// the memory transfers at once, and which four lanes compare together.
//
// A thread owns an element, and writes the element's result.
#include "device.cuh"

constexpr u32 kEvery = 16;            // columns a head stands for: 64 bytes, what the memory transfers

// Copy every kEvery-th of m columns.
extern "C" __global__ void __launch_bounds__(kThreads) write_heads(const u32* columns, u64 m, u32* heads) {
  const u64 i = element();
  if (i * kEvery < m) heads[i] = columns[i * kEvery];
}

// The rank of vertex i: rank[i], or i itself if there are no ranks. kNone if there is no such vertex: the
// numbers may be the user's memory, which another stream may write.
__device__ __forceinline__ u32 rank_of(const u32* rank, u64 n_ranks, u32 i) {
  return n_ranks == 0 ? i : i < n_ranks ? rank[i] : kNone;
}

// Cut the row at first .. end - 1, which is not empty, to the group of kEvery columns that has x, if any: the
// last group whose head is not above x.
__device__ __forceinline__ void cut(const u32* heads, u32 x, u32& first, u32& end) {
  u32 group = first / kEvery, last = (end - 1) / kEvery;
  while (group < last) {
    const u32 middle = last - (last - group) / 2;
    if (heads[middle] <= x) group = middle;
    else last = middle - 1;
  }
  if (group * kEvery > first) first = group * kEvery;
  if (end - group * kEvery > kEvery) end = (group + 1) * kEvery;
}

// A bit for each of the four columns from `at` on that is x.
__device__ __forceinline__ u32 four_equal(const u32* columns, u64 m, u64 at, u32 x) {
  u32 bits = 0;
  if (at + 4 <= m) {
    const uint4 c = *reinterpret_cast<const uint4*>(columns + at);
    bits = u32(c.x == x) | u32(c.y == x) << 1 | u32(c.z == x) << 2 | u32(c.w == x) << 3;
  } else {
    for (u32 k = 0; at + k < m; k++) bits |= u32(columns[at + k] == x) << k;
  }
  return bits;
}

// A bit for each column of this lane's group, from `start` on, that is x. Four lanes read the groups of all
// four in turn, a quarter each: one lane alone would ask for its group four times. All lanes of the warp.
__device__ __forceinline__ u32 equal_in_group(const u32* columns, u64 m, u32 start, u32 x) {
  const u32 lane = threadIdx.x % kWarp, quarter = kEvery / 4 * (lane % 4);
  u32 own = 0;
#pragma unroll
  for (u32 turn = 0; turn < 4; turn++) {
    const u32 owner = lane / 4 * 4 + turn;
    const u64 at = u64(__shfl_sync(kFullMask, start, owner)) + quarter;
    u32 bits = four_equal(columns, m, at, __shfl_sync(kFullMask, x, owner)) << quarter;
    bits |= __shfl_xor_sync(kFullMask, bits, 1);
    bits |= __shfl_xor_sync(kFullMask, bits, 2);
    if (lane % 4 == turn) own = bits;
  }
  return own;
}

// Find the position of each edge {u, v}, given by n_ranks numbers of vertices, or by their ranks if n_ranks
// is 0: -1 if there is no such edge, as for loops. The graph has n ranks and m edges; n_heads: 0 to search
// without heads.
extern "C" __global__ void __launch_bounds__(kThreads)
locate(const i64* offsets, const u32* columns, u64 m, const u32* heads, u64 n_heads, u64 n, const u32* rank,
       u64 n_ranks, const u32* u, const u32* v, u64 n_pairs, i64* positions) {
  const u64 i = element();
  u32 first = 0, end = 0, column = kNone;
  if (i < n_pairs) {
    const u32 a = rank_of(rank, n_ranks, u[i]), b = rank_of(rank, n_ranks, v[i]), row = a > b ? a : b;
    column = a > b ? b : a;
    if (row < n) {
      first = u32(offsets[row]);
      end = u32(offsets[row + 1]);
    }
  }
  u32 p = kNone;
  if (n_heads && u64(columns) % sizeof(uint4) == 0) {
    if (first < end) cut(heads, column, first, end);
    const u32 start = first / kEvery * kEvery;
    u32 equal = equal_in_group(columns, m, start, column) >> (first - start);
    equal &= (1u << (end - first)) - 1;   // the row's own
    if (equal) p = first + __ffs(int(equal)) - 1;
  } else if (first < end) {
    const u32 index = find(columns + first, end - first, column);
    if (index != kNone) p = first + index;
  }
  if (i < n_pairs) positions[i] = p == kNone ? -1 : i64(p);
}

// Write the value at each position, and 0 for the position -1. Positions have so many words, 1 or 2.
template <class T>
__device__ __forceinline__ void take(const T* values, const int* positions, u32 words, u64 n, T* taken) {
  const u64 i = element();
  if (i >= n) return;
  const i64 p = words == 1 ? positions[i] : reinterpret_cast<const i64*>(positions)[i];
  taken[i] = p < 0 ? T(0) : values[p];
}

extern "C" __global__ void __launch_bounds__(kThreads)
take8(const u8* values, const int* positions, u32 words, u64 n, u8* taken) {
  take(values, positions, words, n, taken);
}

extern "C" __global__ void __launch_bounds__(kThreads)
take32(const u32* values, const int* positions, u32 words, u64 n, u32* taken) {
  take(values, positions, words, n, taken);
}

extern "C" __global__ void __launch_bounds__(kThreads)
take64(const u64* values, const int* positions, u32 words, u64 n, u64* taken) {
  take(values, positions, words, n, taken);
}
