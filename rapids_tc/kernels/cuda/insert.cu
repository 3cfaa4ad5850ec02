// insert.cu - put entries of later rows between those of the lists of as_of.cu.
//
// Input: what the kernels say. Written: `places`, or `written`, each of whose slots one thread owns.
#include "block.cuh"
#include "device.cuh"

// places[i]: where keys[i], of vertex vertices[i], is put among its entries: place in `near`, which is sorted by
// vertex, then by key, and begins at the sum of both offsets.
extern "C" __global__ void __launch_bounds__(kThreads)
find_near(const i64* out, const i64* in, const u64* near, const u32* vertices, const u64* keys, u64 n,
          i64* places) {
  const u64 i = element();
  if (i >= n) return;
  const u32 v = vertices[i];
  const i64 begin = out[v] + in[v], end = out[v + 1] + in[v + 1];
  places[i] = begin + lower_bound(near + begin, end - begin, keys[i]);
}

// Write values with `more` others between them, n in all: others[j] stands at places[j] then; places ascend.
template <typename T>
__device__ __forceinline__ void
insert(const T* values, const T* others, const i64* places, u64 more, u64 n, T* written) {
  const u64 i = element();
  if (i >= n) return;
  const u64 before = lower_bound(places, more, i64(i));
  written[i] = before < more && places[before] == i64(i) ? others[before] : values[i - before];
}

extern "C" __global__ void __launch_bounds__(kThreads)
insert_words(const u32* values, const u32* others, const i64* places, u64 more, u64 n, u32* written) {
  insert(values, others, places, more, n, written);
}

extern "C" __global__ void __launch_bounds__(kThreads)
insert_keys(const u64* values, const u64* others, const i64* places, u64 more, u64 n, u64* written) {
  insert(values, others, places, more, n, written);
}
