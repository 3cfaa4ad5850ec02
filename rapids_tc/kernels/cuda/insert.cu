// insert.cu - put later rows into the lists of as_of.cu: keys, which are sorted; places in `near`, and in the lists by
// time of either end; then all at once.
//
// Written: what the kernels say, each slot by the thread that owns it. `before` of a row is written by its entry
// that goes out, and read by later launches.
#include "block.cuh"
#include "device.cuh"

constexpr u64 kComes = 1ull << 31;  // of an entry of `near`: its row comes in

// Of m rows that are no loops: the pairs vertex << 32 | other end of their 2 m entries, those that go out first, and
// keys vertex << 32 | index for the lists of rows that go out and that come in.
extern "C" __global__ void __launch_bounds__(kThreads)
write_keys(const u32* src, const u32* dst, const u32* kept, u64 m, u64* pairs, u64* out, u64* in) {
  const u64 i = element();
  if (i >= m) return;
  const u64 u = src[kept[i]], v = dst[kept[i]];
  pairs[i] = u << 32 | v;
  pairs[m + i] = v << 32 | u;
  out[i] = u << 32 | i;
  in[i] = v << 32 | i;
}

// Of 2 m entries, sorted by pair, entry i belongs to row kept[order[i]] and goes out; or, from m on, to row
// kept[order[i] - m] and comes in. Those of one pair are in the order of rows, first those that go out. Write their
// keys as they stand in `near`, and the places where they stand after all are put in. before[row]: the row before it
// of the same source and destination, counted from 1; 0: none.
extern "C" __global__ void __launch_bounds__(kThreads)
place_near(const i64* out, const i64* in, const u64* near, const u64* pairs, const i64* order,
           const u32* kept, u64 m, u64* keys, i64* places, u32* before) {
  const u64 i = element();
  if (i >= 2 * m) return;
  const u64 at = u64(order[i]), pair = pairs[at];
  const bool comes = at >= m;
  const u32 row = kept[comes ? at - m : at], v = u32(pair >> 32);
  const u64 key = pair << 32 | (comes ? kComes : 0) | row;
  const i64 begin = out[v] + in[v], end = out[v + 1] + in[v + 1];
  const i64 place = begin + lower_bound(near + begin, end - begin, key);
  keys[i] = key;
  places[i] = place + i64(i);
  if (comes) return;
  u32 last = 0;
  if (i && pairs[order[i - 1]] == pair) last = kept[order[i - 1]] + 1;
  else if (place > begin && near[place - 1] >> 31 == key >> 31) last = u32(near[place - 1]) + 1;
  before[row] = last;
}

// The m new entries of a list by time, from its sorted keys: their rows, other ends and rows before, and the places
// where they stand after all are put in, behind the entries of their vertex. `ends` are the other ends of all rows.
extern "C" __global__ void __launch_bounds__(kThreads)
place_rows(const i64* offsets, const u64* keys, const u32* kept, const u32* ends, const u32* before, u64 m,
           u32* rows, u32* others, u32* befores, i64* places) {
  const u64 i = element();
  if (i >= m) return;
  const u32 v = u32(keys[i] >> 32), row = kept[u32(keys[i])];
  rows[i] = row;
  others[i] = ends[row];
  befores[i] = before[row];
  places[i] = offsets[v + 1] + i64(i);
}

// Where entry i of a list comes from: one of n_more others, which ascending places tell, or of those before.
struct Origin {
  bool is_other;
  u64 at;

  __device__ Origin(const i64* places, u64 n_more, u64 i) {
    const u64 others = lower_bound(places, n_more, i64(i));
    is_other = others < n_more && places[others] == i64(i);
    at = is_other ? others : i - others;
  }
};

struct Entries {
  const u32* rows[3];  // of a list by time: rows, other ends, rows before
  const u32* others[3];
  u32* written[3];
  const i64* places;
  const u64* keys;
  i64* offsets;
};

// n is 0 if there were no entries, and the others are all.
struct Insertion {
  u64* near_written;
  const u64* near;
  const u64* near_others;
  const i64* near_places;
  u64 n, more, vertices;  // entries of either list that were there, and that come
  Entries lists[2];
};

extern "C" __global__ void __launch_bounds__(kThreads) insert(Insertion in) {
  const u64 i = element();
  for (u32 way = 0; way < 2; way++) {
    const Entries& list = in.lists[way];
    if (i <= in.vertices) list.offsets[i] += i64(lower_bound(list.keys, in.more, i << 32));
    if (!in.n || i >= in.n + in.more) continue;
    const Origin from(list.places, in.more, i);
    for (u32 k = 0; k < 3; k++)
      list.written[k][i] = from.is_other ? list.others[k][from.at] : list.rows[k][from.at];
  }
  if (!in.n || i >= 2 * (in.n + in.more)) return;
  const Origin from(in.near_places, 2 * in.more, i);
  in.near_written[i] = from.is_other ? in.near_others[from.at] : in.near[from.at];
}
