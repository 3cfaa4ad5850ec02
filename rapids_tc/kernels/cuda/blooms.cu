// blooms.cu - the index of wedges by their two ends: engines/blooms.py. The host sorts the keys of some wedges at
// a time, those of vertices u that follow one another, and finds the blooms among them.
#include "block.cuh"
#include "wedge_lists.cuh"

// Write the lower rank of every edge, its number by position, and how many wedges its list has.
extern "C" __global__ void __launch_bounds__(kThreads)
number_edges(const i64* offsets, const i64* in_offsets, const u32* columns, const u32* places, u64 n, u64 m,
             u32* lower, u32* numbers, u32* sizes) {
  RTC_SHARED(u64, rows, 2);
  const EdgeTile tile(in_offsets, n, m, rows);
  for (u64 i = tile.begin + threadIdx.x; i < tile.end; i += kThreads) {
    const u32 u = tile.row(i), v = columns[i + u64(offsets[u + 1])], place = places[i];
    lower[i] = u;
    numbers[place - 1 - u64(in_offsets[v])] = u32(i);
    sizes[i] = u32(u64(offsets[v + 1] + in_offsets[v + 1]) - place);
  }
}

// Write both ends of each wedge of the lists first .. last - 1, and its list; wedge `from` is the first. A warp
// per list.
extern "C" __global__ void __launch_bounds__(kThreads)
write_ends(WedgeLists lists, u32 first, u32 last, u64 from, u64* keys, u32* of_list) {
  const u64 i = first + element() / kWarp;
  if (i >= last) return;
  const u32 edge = u32(i), u = lists.lower[edge], v = lists.higher(edge, u);
  const u64 end = u64(lists.all_offsets[v + 1]);
  for (u64 q = u64(lists.places[edge]) + threadIdx.x % kWarp; q < end; q += kWarp) {
    const u64 at = u64(lists.bases[edge]) + q - from;
    keys[at] = u64(u) << 32 | lists.columns[q];
    of_list[at] = edge;
  }
}

// Write the edges of wedges that lie in blooms, in their order there, and the bloom of each.
extern "C" __global__ void __launch_bounds__(kThreads)
pair_edges(WedgeLists lists, const i64* wedges, const i64* blooms, u64 size, i64 first_bloom, u64 from,
           const u32* of_list, uint2* pairs, u32* bloom_of) {
  const u64 t = element();
  if (t >= size) return;
  const u32 edge = of_list[wedges[t]], v = lists.higher(edge, lists.lower[edge]);
  const u64 wedge = from + u64(wedges[t]);
  pairs[t] = make_uint2(edge, lists.number_at(v, wedge - u64(lists.bases[edge])));
  bloom_of[wedge] = u32(first_bloom + blooms[t]);
}
