// as_of.cu - what each row forms with earlier rows of its window: rapids_tc/engines/as_of.py.
//
// Rows are numbers in the order of time; the window of row r is the rows first[r] .. r - 1. Each vertex has two
// lists by time, of the rows that go out and of those that come in, without loops, and one of both by the other
// end, then by direction, then by time (`near`), in which one search finds the first row to a vertex in a window.
//
// Fans: a thread owns a row, and searches where the row and its window begin. The distinct neighbors are the
// last rows to each in the window: `ends` has, ascending, the row from which on an entry is none of these.
//
// Triangles: a row is answered at its pivot, the end that has more rows in the window. Those of the other end
// are walked; of several to one neighbor only the first, the one whose `before` is not in the window. Each is
// looked up at the pivot. A warp owns kOwn rows: its lanes search for the ends of all their windows at once, and
// share out what is to be walked of all of them. `turns` has rows of one pivot follow one another, so that
// warps that run at the same time search the same lists.
//
// Squares: a warp owns a row, and walks from one of its ends in two steps: to the vertices w that have rows in
// the window with it, and on to their other ends z, which are looked up at the pivot. It begins at the end from
// which fewer rows are walked. The second step goes in if the pivot is the source, and out if it is not: then w
// or z is the vertex across the square from an end of the row.
//
// Input: counts is zero. Written, for the rows from `since` on, which `turns` are among: counts[places[c] * (n - since)
// + r - since] for each column c whose place is not negative.
#include "block.cuh"
#include "device.cuh"

// Where the columns of a kind begin, and the six of triangles.
constexpr u32 kFans = 0, kDistinct = 4, kPairs = 8, kClosed = 10, kSquares = 16;
enum { kCycle = kClosed + 1, kMiddle, kIn, kOut, kInTime };

struct Window {
  u64 from, to;
  __device__ u64 size() const { return to - from; }
};

struct List {
  const i64* offsets;  // by vertex
  const u32* rows;
  const u32* others;  // their other ends
  const u32* before;  // and the rows before them of the same source and destination, counted from 1; 0: none
  const u32* ends;

  __device__ u64 size(u32 v) const { return u64(offsets[v + 1] - offsets[v]); }
  // The rows of v that come before row r.
  __device__ u64 until(u32 v, u32 r) const { return lower_bound(rows + offsets[v], size(v), r); }
  // The rows of v in the window begin .. r - 1: places in the list.
  __device__ Window window(u32 v, u32 begin, u32 r) const {
    return {u64(offsets[v]) + until(v, begin), u64(offsets[v]) + until(v, r)};
  }
};

constexpr u32 kComes = 1u << 31;  // of an entry of `near`: its row comes in

// The first rows of a window from a vertex to another, and back; or kNone.
struct FirstRows { u32 goes, comes; };

struct Rows {
  i64* counts;
  const u32* src;
  const u32* dst;
  const u32* first;
  const u32* turns;  // the rows from `since` on that are no loops
  const i64* places;
  const u64* near;  // by vertex: other end << 32 | kComes, if the row comes in | row
  u64 n, n_turns, since;
  List lists[2];  // out, in

  __device__ void write(u32 column, u64 row, i64 value) const {
    if (places[column] >= 0) counts[places[column] * (n - since) + row - since] = value;
  }
  __device__ const u64* near_of(u32 v) const { return near + lists[0].offsets[v] + lists[1].offsets[v]; }
  __device__ u64 near_size(u32 v) const { return lists[0].size(v) + lists[1].size(v); }
  // The entries of v in `near` that are before row r between v and w, of one direction: 0 or kComes.
  __device__ u64 until(u32 v, u32 w, u32 way, u32 r) const {
    return lower_bound(near_of(v), near_size(v), u64(w) << 32 | way | r);
  }
  // How many rows of one direction are in the window begin .. r - 1.
  __device__ u64 repeats(u32 v, u32 w, u32 way, u32 begin, u32 r) const {
    return until(v, w, way, r) - until(v, w, way, begin);
  }
  __device__ bool has(u32 v, u32 w, u32 way, u32 begin, u32 r) const {
    const u64 i = until(v, w, way, begin);
    return i < near_size(v) && near_of(v)[i] < (u64(w) << 32 | way | r);
  }
  // The last row from w to v that comes before r. There is one.
  __device__ u32 last_to(u32 v, u32 w, u32 r) const {
    return u32(near_of(v)[until(v, w, kComes, r) - 1]) & ~kComes;
  }
  // A vertex that is no neighbor costs one search.
  __device__ FirstRows first_rows(u32 v, u32 w, u32 begin, u32 r) const {
    const u64* const list = near_of(v);
    const u64 size = near_size(v), pair = u64(w) << 32;
    FirstRows found = {kNone, kNone};
    u64 i = lower_bound(list, size, pair | begin);
    if (i < size && list[i] < (pair | r)) found.goes = u32(list[i]);
    if (i < size && list[i] >> 32 == w) {  // else no row comes, either
      if (list[i] < (pair | kComes | begin)) i = gallop(list, i, size, pair | kComes | begin);
      if (i < size && list[i] < (pair | kComes | r)) found.comes = u32(list[i]) & ~kComes;
    }
    return found;
  }
  // lower_bound behind a[i], which is less than x, and most likely near it.
  __device__ static u64 gallop(const u64* a, u64 i, u64 n, u64 x) {
    u64 step = 1;
    for (; i + step < n && a[i + step] < x; step *= 2) i += step;
    const u64 last = i + step < n ? i + step : n;
    return i + 1 + lower_bound(a + i + 1, last - i - 1, x);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads) count_fans(Rows in) {
  const u64 r = in.since + element();
  if (r >= in.n || in.src[r] == in.dst[r]) return;
  const u32 row = u32(r), begin = in.first[r], u = in.src[r], v = in.dst[r];
  for (u32 fan = 0; fan < 4; fan++) {
    const List& list = in.lists[fan % 2];
    const u32 vertex = fan < 2 ? u : v;
    const u64 now = list.until(vertex, row);
    in.write(kFans + fan, r, i64(now - list.until(vertex, begin)));
    if (in.places[kDistinct + fan] < 0) continue;
    const u64 gone = lower_bound(list.ends + list.offsets[vertex], list.size(vertex), row + 1);
    in.write(kDistinct + fan, r, i64(now - gone));
  }
  if (in.places[kPairs] >= 0) in.write(kPairs, r, i64(in.repeats(u, v, 0, begin, row)));
  if (in.places[kPairs + 1] >= 0) in.write(kPairs + 1, r, i64(in.repeats(u, v, kComes, begin, row)));
}

constexpr u32 kOwn = 4;  // rows of a warp, whose windows have 32 ends: two vertices, two lists, begin and end
constexpr u32 kTriangles = kSquares - kClosed, kCounters = kOwn * kTriangles;  // columns; of a warp

// A row of the warp, and which of its ends is walked: 0, the source, or 1.
struct Turn { u32 row, begin, ends[2], walked; };

// Count what an entry of the walked end closes: the one at i of a list.
__device__ __forceinline__ void close(const Rows& in, const Turn& turn, u32 way, u64 i, u32* found) {
  const List& list = in.lists[way];
  const u32 walked = turn.walked, x = turn.ends[walked], pivot = turn.ends[1 - walked], w = list.others[i];
  if (list.before[i] > turn.begin) return;
  const FirstRows at = in.first_rows(pivot, w, turn.begin, turn.row);
  if (at.goes == kNone && at.comes == kNone) return;
  const auto add = [&](u32 column, bool is) {
    if (is) atomicAdd(found + (column - kClosed), 1u);
  };
  add(kClosed, way == 0 || !in.has(x, w, 0, turn.begin, turn.row));
  // If the walked end is u, the pivot, v, goes to w in cycles. Else u does in the middle ones.
  add(way ? (walked ? kMiddle : kCycle) : kIn, at.goes != kNone);
  add(way ? kOut : (walked ? kCycle : kMiddle), at.comes != kNone);
  if (way == walked || in.places[kInTime] < 0) return;
  if (walked) add(kInTime, at.comes != kNone && list.rows[i] < in.last_to(pivot, w, turn.row));
  else add(kInTime, at.goes != kNone && at.goes < in.last_to(x, w, turn.row));
}

extern "C" __global__ void __launch_bounds__(kThreads) count_triangles(Rows in) {
  RTC_SHARED(u32, counters, kWarps * kCounters);
  const u32 lane = threadIdx.x % kWarp, own = lane / 8, fan = lane / 2 % 4;
  const u64 at = element() / kWarp * kOwn + own;
  u32* const found = counters + threadIdx.x / kWarp * kCounters;
  if (lane < kCounters) found[lane] = 0;
  __syncwarp();  // all counters are zero
  Turn turn = {};
  u64 place = 0;
  if (at < in.n_turns) {
    turn.row = in.turns[at];
    turn.begin = in.first[turn.row];
    turn.ends[0] = in.src[turn.row];
    turn.ends[1] = in.dst[turn.row];
    const List& list = in.lists[fan % 2];
    const u32 vertex = turn.ends[fan / 2];
    place = u64(list.offsets[vertex]) + list.until(vertex, lane % 2 ? turn.row : turn.begin);
  }
  const u64 until = __shfl_down_sync(kFullMask, place, 1);
  const u64 in_window = lane % 2 ? 0 : until - place;
  const u64 of_end = warp_sum(in_window, 4), of_other = __shfl_xor_sync(kFullMask, of_end, 4);
  turn.walked = (lane & 4 ? of_other : of_end) < (lane & 4 ? of_end : of_other) ? 0 : 1;

  // Lane s < 8 holds list s % 2 of the walked end of row s / 2, and how many entries are walked through it.
  const u32 holder = lane / 2 % kOwn * 8;
  const u32 source = holder + 4 * __shfl_sync(kFullMask, turn.walked, holder) + lane % 2 * 2;
  const u64 from = __shfl_sync(kFullMask, place, source);
  const u64 entries = __shfl_sync(kFullMask, in_window, source);
  const u64 through = warp_scan(lane < 2 * kOwn ? entries : 0);
  const u64 shift = from - (through - entries);  // of the place of an entry, from its number in the walk
  const u64 all = __shfl_sync(kFullMask, through, kWarp - 1);
  for (u64 base = 0; base < all; base += kWarp) {
    const u64 item = base + lane;
    u32 s = 0;
    for (u32 k = 0; k + 1 < 2 * kOwn; k++) s += __shfl_sync(kFullMask, through, k) <= item;
    const u64 i = __shfl_sync(kFullMask, shift, s) + item;
    Turn its;
    its.row = __shfl_sync(kFullMask, turn.row, s / 2 * 8);
    its.begin = __shfl_sync(kFullMask, turn.begin, s / 2 * 8);
    its.ends[0] = __shfl_sync(kFullMask, turn.ends[0], s / 2 * 8);
    its.ends[1] = __shfl_sync(kFullMask, turn.ends[1], s / 2 * 8);
    its.walked = __shfl_sync(kFullMask, turn.walked, s / 2 * 8);
    if (item < all) close(in, its, s % 2, i, found + s / 2 * kTriangles);
  }
  __syncwarp();  // all is counted
  const u32 row = __shfl_sync(kFullMask, turn.row, lane / kTriangles % kOwn * 8);
  const bool is_row = element() / kWarp * kOwn + lane / kTriangles < in.n_turns;
  if (lane < kCounters && is_row) in.write(kClosed + lane % kTriangles, row, found[lane]);
}

// The window of the second step behind the entry at i of one of the lists of an end, if it is the first to its
// neighbor and does not lead to the pivot; else an empty one.
__device__ __forceinline__ Window second_step(const Rows& in, u64 i, u32 way, u32 then, u32 pivot, u32 begin,
                                              u32 row) {
  const u32 w = in.lists[way].others[i];
  if (w == pivot || in.lists[way].before[i] > begin) return {0, 0};
  return in.lists[then].window(w, begin, row);
}

extern "C" __global__ void __launch_bounds__(kThreads) count_squares(Rows in) {
  const u64 r = in.since + element() / kWarp;
  if (r >= in.n || in.src[r] == in.dst[r]) return;  // all lanes of the warp
  const u32 row = u32(r), lane = threadIdx.x % kWarp, begin = in.first[r], ends[2] = {in.src[r], in.dst[r]};
  u64 work[2] = {0, 0};
  for (u32 fan = 0; fan < 4; fan++) {
    const u32 end = fan / 2, way = fan % 2;
    const Window window = in.lists[way].window(ends[end], begin, row);
    for (u64 i = window.from + lane; i < window.to; i += kWarp)
      work[end] += second_step(in, i, way, end, ends[1 - end], begin, row).size();
  }
  const u32 walked = warp_sum(work[0]) < warp_sum(work[1]) ? 0 : 1, then = walked;
  const u32 x = ends[walked], pivot = ends[1 - walked];
  u64 found = 0;
  for (u32 way = 0; way < 2; way++) {
    const Window window = in.lists[way].window(x, begin, row);
    for (u64 base = window.from; base < window.to; base += kWarp) {
      Window own = {0, 0};
      if (base + lane < window.to) own = second_step(in, base + lane, way, then, pivot, begin, row);
      for (u32 owner = 0; owner < kWarp; owner++) {
        const u64 from = __shfl_sync(kFullMask, own.from, owner), to = __shfl_sync(kFullMask, own.to, owner);
        for (u64 i = from + lane; i < to; i += kWarp) {
          const u32 z = in.lists[then].others[i];
          if (z == x || in.lists[then].before[i] > begin) continue;
          found += in.has(pivot, z, way * kComes, begin, row);
        }
      }
    }
  }
  found = warp_sum(found);
  if (lane == 0) in.write(kSquares, r, i64(found));
}
