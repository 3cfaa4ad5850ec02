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
  kColumns
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
  u32 of[kColumns - kClosed];
  __device__ void add(u32 column, bool found) { of[column - kClosed] += found; }
};

extern "C" __global__ void __launch_bounds__(kThreads) count_triangles(Rows in) {
  const u64 r = element() / kWarp;
  if (r >= in.n || in.src[r] == in.dst[r]) return;  // all lanes of the warp
  const u32 row = u32(r), lane = threadIdx.x % kWarp, begin = in.first[r], ends[2] = {in.src[r], in.dst[r]};
  u64 from[2][2], to[2][2];  // by end of the row, and list: the window
  for (u32 fan = 0; fan < 4; fan++) {
    const List& list = in.lists[fan % 2];
    from[fan / 2][fan % 2] = list.until(ends[fan / 2], begin);
    to[fan / 2][fan % 2] = list.until(ends[fan / 2], row);
  }
  const u64 of_u = to[0][0] - from[0][0] + to[0][1] - from[0][1];
  const u64 of_v = to[1][0] - from[1][0] + to[1][1] - from[1][1];
  const u32 walked = of_u < of_v ? 0 : 1, x = ends[walked], pivot = ends[1 - walked];
  Found found = {};
  for (u32 way = 0; way < 2; way++) {
    for (u64 i = from[walked][way] + lane; i < to[walked][way]; i += kWarp) {
      const u32 entry = in.lists[way].rows[in.lists[way].offsets[x] + i];
      if (in.before[entry] > begin) continue;
      const u32 w = way ? in.src[entry] : in.dst[entry];
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
  for (u32 column = kClosed; column < kColumns; column++) {
    const u32 sum = warp_sum(found.of[column - kClosed]);
    if (lane == 0) in.write(column, r, sum);
  }
}
