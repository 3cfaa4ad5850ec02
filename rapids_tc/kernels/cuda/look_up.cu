// look_up.cu - the edges of pairs of vertices, such as the rows of a frame, and values of these edges.
//
// A search in a long row of a large graph waits for memory at each step. Therefore every kEvery-th column is
// copied first: such heads are few enough to stay in the cache, and leave to search kEvery columns, which
// the memory transfers at once.
//
// A thread owns an element, and writes the element's result.
#include "device.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kEvery = 16;            // columns a head stands for: 64 bytes, what the memory transfers

__device__ __forceinline__ u64 element() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

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

// The position of the first entry not below x among those of the row at first .. end - 1, which has some.
__device__ __forceinline__ u32 search(const u32* columns, const u32* heads, u64 n_heads, u32 first, u32 end,
                                      u32 x) {
  if (n_heads) {   // the group of kEvery columns with x: the last one whose head is not above x
    u32 group = first / kEvery, last = (end - 1) / kEvery;
    while (group < last) {
      const u32 middle = last - (last - group) / 2;
      if (heads[middle] <= x) group = middle;
      else last = middle - 1;
    }
    if (group * kEvery > first) first = group * kEvery;
    if (end - first > kEvery) end = (group + 1) * kEvery;
  }
  return first + lower_bound(columns + first, end - first, x);
}

// Find the position of each edge {u, v}, given by n_ranks numbers of vertices, or by their ranks if n_ranks
// is 0: -1 if there is no such edge, as for loops. n: the ranks of the graph; n_heads: 0 to search without
// heads.
extern "C" __global__ void __launch_bounds__(kThreads)
locate(const i64* offsets, const u32* columns, const u32* heads, u64 n_heads, u64 n, const u32* rank,
       u64 n_ranks, const u32* u, const u32* v, u64 n_pairs, i64* positions) {
  const u64 i = element();
  if (i >= n_pairs) return;
  const u32 a = rank_of(rank, n_ranks, u[i]), b = rank_of(rank, n_ranks, v[i]);
  const u32 row = a > b ? a : b, column = a > b ? b : a;
  const u32 first = row < n ? u32(offsets[row]) : 0, end = row < n ? u32(offsets[row + 1]) : 0;
  const u32 p = first < end ? search(columns, heads, n_heads, first, end, column) : end;
  positions[i] = p < end && columns[p] == column ? i64(p) : -1;
}

// Write the value at each position, and 0 for the position -1.
template <class T>
__device__ __forceinline__ void take(const T* values, const i64* positions, u64 n, T* taken) {
  const u64 i = element();
  if (i >= n) return;
  const i64 p = positions[i];
  taken[i] = p < 0 ? T(0) : values[p];
}

extern "C" __global__ void __launch_bounds__(kThreads)
take8(const u8* values, const i64* positions, u64 n, u8* taken) {
  take(values, positions, n, taken);
}

extern "C" __global__ void __launch_bounds__(kThreads)
take32(const u32* values, const i64* positions, u64 n, u32* taken) {
  take(values, positions, n, taken);
}

extern "C" __global__ void __launch_bounds__(kThreads)
take64(const u64* values, const i64* positions, u64 n, u64* taken) {
  take(values, positions, n, taken);
}
