// truss_rounds.cuh - a phase of truss.cu: a round of the peel, or the search for the next level.
#pragma once
#include "truss.cuh"

// A piece of the row of an end of `edge`, whose entries are looked up with the other end, b. The row is the
// shorter one.
struct __align__(16) Task { u32 edge, b, at, size; };

// What a phase writes: how many edges fall, and the tasks of these edges, of which only the first `room` are
// kept.
struct Frontier {
  Task* tasks;
  u32 room;
  u32* fallen;
  u64* size;
  u32 piece;                                  // entries of a task
  u32 stamp;                                  // of the round in which it is the frontier
};

// Edges that fell to the threads of a block, and have no tasks yet; the last word is their number. They wait
// so that all lanes of a warp make tasks.
struct Queue {
  u32* edges;

  __device__ u32* size() const { return edges + kQueue; }
};

// ------------------------------------------------------------------------------- a round
// Whether the triangle of three edges is of the kind. Of its corners u > v > w, the edges (v, w), (u, w) and
// (u, v) have ascending positions.
__device__ __forceinline__ bool is_of_kind(const Peeled& g, u32 a, u32 b, u32 c) {
  const u32 uv = larger(larger(a, b), c), vw = smaller(smaller(a, b), c);
  return g.kind.meet(uv, a ^ b ^ c ^ uv ^ vw, vw);
}

// For the edge e of the frontier and a triangle of it with the edges at_f and at_h, find from which of the
// two, f and h, e counts it off. Neither is found if one is dead, or is in the frontier with a smaller
// number than e; none is if the triangle is not of the kind; and none is that is in the frontier.
__device__ __forceinline__ void
triangle(const Peeled& g, u32 now, u32 next, u32 e, u32 at_f, u32 at_h, u32& f, u32& h) {
  const u32 word_f = RTC_PEEK(g.support + at_f), word_h = RTC_PEEK(g.support + at_h);
  const u32 stamp_f = is_active(word_f) ? next : stamp_of(word_f);
  const u32 stamp_h = is_active(word_h) ? next : stamp_of(word_h);
  if ((stamp_f != next && stamp_f != now) || (stamp_h != next && stamp_h != now)) return;
  if ((stamp_f == now && at_f < e) || (stamp_h == now && at_h < e)) return;
  if (!is_of_kind(g, e, at_f, at_h)) return;
  if (stamp_f != now) f = at_f;
  if (stamp_h != now) h = at_h;
}

// Count a triangle off an edge, unless e is kNone; return whether the edge falls. Only the loss that takes
// the edge to the level reads level + 1 before, so an edge falls once.
__device__ __forceinline__ bool count_off(const Peeled& g, u32 e, u32 level, u32 next) {
  if (e == kNone || atomicSub(g.support + e, 1u) != level + 1) return false;
  atomicOr(g.support + e, next);
  return true;
}

// Make the tasks of edges that fall, each lane of its own; edges in no triangle need none. All lanes of the
// warp.
__device__ __forceinline__ void make_tasks(const Peeled& g, const Frontier& out, bool falls, u32 e) {
  const u32 votes = __ballot_sync(kFullMask, falls);
  if (!votes) return;
  Walk walk{0, 0, 0};
  if (falls && RTC_PEEK(g.support + e) & kCount) walk = walk_of(g, e);
  const u32 own = (walk.size + out.piece - 1) / out.piece, through = warp_scan(own);
  u64 before = 0;
  if (threadIdx.x % kWarp == kWarp - 1) {
    atomicAdd(out.fallen, u32(__popc(votes)));
    if (through) before = atomicAdd(out.size, u64(through));
  }
  u64 i = __shfl_sync(kFullMask, before, kWarp - 1) + through - own;
  for (u32 at = 0; at < walk.size && i < out.room; at += out.piece, i++)
    out.tasks[i] = Task{e, walk.b, walk.at + at, min(out.piece, walk.size - at)};
}

// Put edges that fall in the queue; make their tasks if it is full. All lanes of the warp.
__device__ __forceinline__ void
fall(const Peeled& g, const Frontier& out, const Queue& queue, bool falls, u32 e) {
  if (!__any_sync(kFullMask, falls)) return;
  const u32 place = reserve(queue.size(), falls ? 1u : 0u);
  if (falls && place < kQueue) queue.edges[place] = e;
  make_tasks(g, out, falls && place >= kQueue, e);
}

// Make the tasks of the edges in the queue. All threads of the block.
__device__ __forceinline__ void drain(const Peeled& g, const Frontier& out, const Queue& queue) {
  __syncthreads();   // the queue is full
  const u32 size = min(*queue.size(), kQueue);
  for (u32 i = threadIdx.x; __any_sync(kFullMask, i < size); i += kPeelThreads)
    make_tasks(g, out, i < size, i < size ? queue.edges[i] : kNone);
  __syncthreads();   // the tasks are made
  if (threadIdx.x == 0) *queue.size() = 0;
}

// Walk `size` entries of the row of a, from `at` on, for the edge e = {a, b}. All lanes of the warp.
__device__ __forceinline__ void walk_row(const Peeled& g, const Frontier& out, const Queue& queue, u32 level,
                                         u32 now, u32 e, u32 b, u32 at, u32 size, u32 lane) {
  for (u32 i = lane; __any_sync(kFullMask, i < size); i += kEach * kWarp) {
    Sides sides;
    look_up_sides(g, b, at, size, i, sides);
    u32 f[kEach], h[kEach];
    bool any = false;
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      f[k] = h[k] = kNone;
      if (sides.h[k] != kNone) triangle(g, now, out.stamp, e, sides.f[k], sides.h[k], f[k], h[k]);
      any |= f[k] != kNone || h[k] != kNone;
    }
    if (!__any_sync(kFullMask, any)) continue;
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      fall(g, out, queue, count_off(g, f[k], level, out.stamp), f[k]);
      fall(g, out, queue, count_off(g, h[k], level, out.stamp), h[k]);
    }
  }
}

// Peel the frontier by n tasks, of which this warp has a part. All threads of the block.
__device__ __forceinline__ void
peel_tasks(const Peeled& g, const Frontier& out, const Queue& queue, u32 level, u32 now, const Task* tasks,
           u32 n, u32 thread, u32 threads) {
  const u32 step = threads / kWarp, lane = threadIdx.x % kWarp;
  u32 i = thread / kWarp;
  Task next{0, 0, 0, 0};
  if (i < n) next = tasks[i];
  while (__any_sync(kFullMask, i < n)) {
    const Task task = next;
    const u32 size = i < n ? task.size : 0;
    i += step;
    if (i < n) next = tasks[i];   // on its way while this one is walked
    walk_row(g, out, queue, level, now, task.edge, task.b, task.at, size, lane);
  }
  drain(g, out, queue);
}

// Peel the frontier by the list: each warp walks for those of its edges. All threads of the block.
__device__ __forceinline__ void
peel_list(const Peeled& g, const Frontier& out, const Queue& queue, u32 level, u32 now) {
  const u32 lane = threadIdx.x % kWarp, size = g.lengths[grid_warp()];
  for (u32 i = lane; __any_sync(kFullMask, i < size); i += kWarp) {
    const u32 e = i < size ? g.list[list_place(i)] : kNone;
    const u32 word = i < size ? RTC_PEEK(g.support + e) : 0;
    const u32 votes = __ballot_sync(kFullMask, stamp_of(word) == now && word & kCount);
    for (u32 rest = votes; rest; rest &= rest - 1) {
      const u32 edge = __shfl_sync(kFullMask, e, __ffs(rest) - 1);
      const Walk walk = walk_of(g, edge);
      walk_row(g, out, queue, level, now, edge, walk.b, walk.at, walk.size, lane);
    }
  }
  drain(g, out, queue);
}

// ------------------------------------------------------------------------------- the next level
// Go through the edges of the warp: bury those that are dead, which have fallen at `level`, unless their
// stamp is `now`; let active ones in at most `target` triangles fall; return the least number of triangles
// of the others that the lane has seen. All lanes of the warp.
__device__ __forceinline__ u32 search(const Peeled& g, const Frontier& out, u32 level, u32 target, u32 now) {
  constexpr u32 kEach = 4;                    // edges of a lane whose words are on their way together
  const u32 lane = threadIdx.x % kWarp, size = g.lengths[grid_warp()];
  u32 kept = 0, least = kNone;
  for (u32 i = 0; i < size; i += kEach * kWarp) {
    u32 edges[kEach], words[kEach];
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      const u32 at = i + k * kWarp + lane;
      edges[k] = at < size ? g.list[list_place(at)] : kNone;
    }
#pragma unroll
    for (u32 k = 0; k < kEach; k++) words[k] = edges[k] == kNone ? kFallen : g.support[edges[k]];
    __syncwarp();   // these edges are read
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      const u32 e = edges[k], word = words[k];
      const bool stays = is_active(word) || stamp_of(word) == now, falls = word <= target;
      if (!stays && e != kNone) g.support[e] = kFallen | level;
      if (falls) g.support[e] = out.stamp | word;
      else if (is_active(word)) least = min(least, word);
      const u32 votes = __ballot_sync(kFullMask, stays), place = kept + __popc(votes & ((1u << lane) - 1));
      if (stays && place != i + k * kWarp + lane) g.list[list_place(place)] = e;
      kept += __popc(votes);
      make_tasks(g, out, falls, e);
    }
  }
  __syncwarp();   // all lanes have read the length
  if (lane == 0) g.lengths[grid_warp()] = kept;
  return least;
}
