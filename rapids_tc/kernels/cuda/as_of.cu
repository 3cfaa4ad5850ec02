// as_of.cu - what each row forms with earlier rows of its window: rapids_tc/engines/as_of.py.
//
// Rows are numbers in the order of time; the window of row r is the rows first[r] .. r - 1. Each vertex has two
// lists, of the rows that go out and of those that come in, without loops. Within a list, rows stand by time
// (`rows`), and by the other end, then by time (`near`: other end << 32 | row), in which one search finds the
// first row to a vertex in a window.
//
// Fans: a thread owns a row, and searches where the row and its window begin. The distinct neighbors are the
// last rows to each in the window: `ends` has, ascending, the row from which on an entry is none of these.
//
// Triangles: a warp owns a row, and walks the rows in the window at the end that has fewer of them; of several
// to one neighbor only the first, the one whose `before` is not in the window. Each is looked up at the other
// end, the pivot.
//
// Squares: a warp owns a row, and walks from one of its ends in two steps: to the vertices w that have rows in
// the window with it, and on to their other ends z, which are looked up at the pivot. It begins at the end from
// which fewer rows are walked. The second step goes in if the pivot is the source, and out if it is not: then w
// or z is the vertex across the square from an end of the row.
//
// Input: counts is zero. Written: counts[places[c] * n + r] for each column c whose place is not negative.
#include "block.cuh"
#include "device.cuh"

enum Column {
  kFans = 0,
  kDistinct = 4,
  kPairs = 8,
  kClosed = 10,
  kCycle,
  kMiddle,
  kIn,
  kOut,
  kInTime,
  kSquares
};

struct Window {
  u64 from, to;
  __device__ u64 size() const { return to - from; }
};

struct List {
  const i64* offsets;  // by vertex
  const u32* rows;
  const u64* near;
  const u32* ends;

  __device__ u64 size(u32 v) const { return u64(offsets[v + 1] - offsets[v]); }
  // The rows of v that come before row r.
  __device__ u64 until(u32 v, u32 r) const { return lower_bound(rows + offsets[v], size(v), r); }
  // The rows of v whose other end is w that come before r, and those whose other end is less.
  __device__ u64 until(u32 v, u32 w, u32 r) const {
    return lower_bound(near + offsets[v], size(v), u64(w) << 32 | r);
  }
  // The rows of v in the window begin .. r - 1: places in `rows`.
  __device__ Window window(u32 v, u32 begin, u32 r) const {
    return {u64(offsets[v]) + until(v, begin), u64(offsets[v]) + until(v, r)};
  }
  // The first row from `begin` on of v whose other end is w, if it comes before r; or kNone.
  __device__ u32 first_row(u32 v, u32 w, u32 begin, u32 r) const {
    const u64 i = until(v, w, begin);
    return i < size(v) && near[offsets[v] + i] < (u64(w) << 32 | r) ? u32(near[offsets[v] + i]) : kNone;
  }
  // The last row of v whose other end is w that comes before r. There is one.
  __device__ u32 last_row(u32 v, u32 w, u32 r) const { return u32(near[offsets[v] + until(v, w, r) - 1]); }
};

struct Rows {
  i64* counts;
  const u32* src;
  const u32* dst;
  const u32* first;
  const u32* before;  // the row before of the same source and destination, counted from 1; 0: none
  const i64* places;
  u64 n;
  List lists[2];  // out, in

  // The other end of a row of one of the lists.
  __device__ u32 other(u32 row, u32 list) const { return list ? src[row] : dst[row]; }
  __device__ void write(u32 column, u64 row, i64 value) const {
    if (places[column] >= 0) counts[places[column] * n + row] = value;
  }
};

extern "C" __global__ void __launch_bounds__(kThreads) count_fans(Rows in) {
  const u64 r = element();
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
  in.write(kPairs, r, i64(in.lists[0].until(u, v, row) - in.lists[0].until(u, v, begin)));
  in.write(kPairs + 1, r, i64(in.lists[0].until(v, u, row) - in.lists[0].until(v, u, begin)));
}

// What a lane has found of a row: by column, from kClosed on.
struct Found {
  u32 of[kSquares - kClosed];
  __device__ void add(u32 column, bool found) { of[column - kClosed] += found; }
};

extern "C" __global__ void __launch_bounds__(kThreads) count_triangles(Rows in) {
  const u64 r = element() / kWarp;
  if (r >= in.n || in.src[r] == in.dst[r]) return;  // all lanes of the warp
  const u32 row = u32(r), lane = threadIdx.x % kWarp, begin = in.first[r], ends[2] = {in.src[r], in.dst[r]};
  Window windows[2][2];  // by end of the row, and list
  for (u32 fan = 0; fan < 4; fan++)
    windows[fan / 2][fan % 2] = in.lists[fan % 2].window(ends[fan / 2], begin, row);
  const u64 of_u = windows[0][0].size() + windows[0][1].size();
  const u64 of_v = windows[1][0].size() + windows[1][1].size();
  const u32 walked = of_u < of_v ? 0 : 1, x = ends[walked], pivot = ends[1 - walked];
  Found found = {};
  for (u32 way = 0; way < 2; way++) {
    const Window window = windows[walked][way];
    for (u64 i = window.from + lane; i < window.to; i += kWarp) {
      const u32 entry = in.lists[way].rows[i];
      if (in.before[entry] > begin) continue;
      const u32 w = in.other(entry, way);
      const u32 goes = in.lists[0].first_row(pivot, w, begin, row);  // from the pivot to w
      const u32 comes = in.lists[1].first_row(pivot, w, begin, row);
      if (goes == kNone && comes == kNone) continue;
      found.add(kClosed, way == 0 || in.lists[0].first_row(x, w, begin, row) == kNone);
      // The walked end is u: the pivot, v, goes to w in cycles. Else u does in the middle ones.
      found.add(way ? (walked ? kMiddle : kCycle) : kIn, goes != kNone);
      found.add(way ? kOut : (walked ? kCycle : kMiddle), comes != kNone);
      if (way == walked) continue;
      const bool closed = walked ? comes != kNone : goes != kNone;
      if (walked) found.add(kInTime, closed && entry < in.lists[1].last_row(pivot, w, row));
      else found.add(kInTime, closed && goes < in.lists[1].last_row(x, w, row));
    }
  }
  for (u32 column = kClosed; column < kSquares; column++) {
    const u32 sum = warp_sum(found.of[column - kClosed]);
    if (lane == 0) in.write(column, r, sum);
  }
}

// The window of the second step behind a row of one of the lists of an end, if it is the first to its neighbor
// and does not lead to the pivot; else an empty one.
__device__ __forceinline__ Window second_step(const Rows& in, u32 entry, u32 way, u32 then, u32 pivot,
                                              u32 begin, u32 row) {
  const u32 w = in.other(entry, way);
  if (w == pivot || in.before[entry] > begin) return {0, 0};
  return in.lists[then].window(w, begin, row);
}

extern "C" __global__ void __launch_bounds__(kThreads) count_squares(Rows in) {
  const u64 r = element() / kWarp;
  if (r >= in.n || in.src[r] == in.dst[r]) return;  // all lanes of the warp
  const u32 row = u32(r), lane = threadIdx.x % kWarp, begin = in.first[r], ends[2] = {in.src[r], in.dst[r]};
  u64 work[2] = {0, 0};
  for (u32 fan = 0; fan < 4; fan++) {
    const u32 end = fan / 2, way = fan % 2;
    const Window window = in.lists[way].window(ends[end], begin, row);
    for (u64 i = window.from + lane; i < window.to; i += kWarp)
      work[end] += second_step(in, in.lists[way].rows[i], way, end, ends[1 - end], begin, row).size();
  }
  const u32 walked = warp_sum(work[0]) < warp_sum(work[1]) ? 0 : 1, then = walked;
  const u32 x = ends[walked], pivot = ends[1 - walked];
  u64 found = 0;
  for (u32 way = 0; way < 2; way++) {
    const Window window = in.lists[way].window(x, begin, row);
    for (u64 base = window.from; base < window.to; base += kWarp) {
      Window own = {0, 0};
      if (base + lane < window.to)
        own = second_step(in, in.lists[way].rows[base + lane], way, then, pivot, begin, row);
      for (u32 owner = 0; owner < kWarp; owner++) {
        const u64 from = __shfl_sync(kFullMask, own.from, owner), to = __shfl_sync(kFullMask, own.to, owner);
        for (u64 i = from + lane; i < to; i += kWarp) {
          const u32 entry = in.lists[then].rows[i], z = in.other(entry, then);
          if (z == x || in.before[entry] > begin) continue;
          found += in.lists[way].first_row(pivot, z, begin, row) != kNone;
        }
      }
    }
  }
  found = warp_sum(found);
  if (lane == 0) in.write(kSquares, r, i64(found));
}
