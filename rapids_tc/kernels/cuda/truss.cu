// truss.cu - the truss decomposition of one graph of edges, all of which are left when it begins.
// engines/peel.py says what a level, a round and its frontier are, and when the host makes the
// next, smaller graph; truss.cuh has the input and the steps of a round.
//
// A large round is two launches, truss_mark and truss_peel; a large search for the next level is
// truss_scan and truss_collect. Most rounds are small, and a launch costs more than they do: one
// block, truss_small, works through them, through the levels of graphs that are small too, and
// decides what comes next. It stops where that is large. The host has then launched truss_mark and
// truss_peel behind it already, and another truss_small, several times over; they return at once
// if something else is to be done. So the host looks at State once in many launches.
#include "truss.cuh"

constexpr u32 kThreads = 256, kSmallThreads = 1024;
constexpr u32 kRowLanes = 8;                  // of a row in truss_rows

__device__ __forceinline__ u64 element() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u32 threads() { return gridDim.x * blockDim.x; }

// ------------------------------------------------------------------------------- making a graph
// rows[p] of every edge p of a CSR. kRowLanes lanes a row.
extern "C" __global__ void __launch_bounds__(kThreads) truss_rows(const i64* offsets, u64 n, u32* rows) {
  const u64 u = element() / kRowLanes;
  if (u >= n) return;
  for (i64 p = offsets[u] + threadIdx.x % kRowLanes; p < offsets[u + 1]; p += kRowLanes) rows[p] = u32(u);
}

// degrees[v]: the edges whose column is v. A thread an edge.
extern "C" __global__ void __launch_bounds__(kThreads) truss_degrees(const u32* columns, u32 m, u32* degrees) {
  if (element() < m) atomicAdd(degrees + columns[element()], 1u);
}

// A thread a rank, and one past the last.
extern "C" __global__ void __launch_bounds__(kThreads) truss_offsets(const u32* rows, u32 m, u64 n, i64* offsets) {
  const u64 u = element();
  if (u <= n) offsets[u] = lower_bound(rows, m, u32(u));
}

// adjacency: first the edges whose row is the vertex, in order, then those whose column it is, from
// free[vertex] on, in any order. A thread an edge.
extern "C" __global__ void __launch_bounds__(kThreads)
truss_adjacency(const u32* rows, const u32* columns, u32 m, const i64* offsets, const i64* starts, u64* free, u64* adjacency) {
  const u64 e = element();
  if (e >= m) return;
  const u32 u = rows[e], v = columns[e];
  adjacency[starts[u] + (i64(e) - offsets[u])] = e << 32 | v;
  adjacency[atomicAdd(free + v, 1ull)] = e << 32 | u;
}

// ------------------------------------------------------------------------------- large steps
extern "C" __global__ void __launch_bounds__(kThreads) truss_mark(RTC_TRUSS_ARGS) {
  if (state->stage == kLarge) mark(RTC_TRUSS_EDGES, state->buried, state->head, state->end, state->level, u32(element()), threads());
}

extern "C" __global__ void __launch_bounds__(kThreads) truss_peel(RTC_TRUSS_ARGS) {
  if (state->stage == kLarge && state->end < m)   // else no edge is left to count off
    peel(RTC_TRUSS_EDGES, state->head, state->end, state->level, &state->tail, u32(element()), threads());
}

extern "C" __global__ void __launch_bounds__(kThreads) truss_scan(RTC_TRUSS_ARGS) {
  scan(RTC_TRUSS_EDGES, u32(element()), threads(), &state->least);
}

extern "C" __global__ void __launch_bounds__(kThreads) truss_collect(RTC_TRUSS_ARGS, u32 first, u32 last) {
  if (state->least <= last) collect(RTC_TRUSS_EDGES, next_level(state->level, state->least, first), u32(element()), threads(), &state->tail);
}

// ------------------------------------------------------------------------------- small rounds
// The sizes that truss_small is told.
struct Limits {
  u32 first, last;              // levels: below the first are one with it, above the last none
  u32 shrink_at;                // dead edges from which the host makes another graph
  u32 scanned;                  // edges of a graph that one block scans
  u32 marked, steps;            // of a small round, at most
  u32 rounds;                   // of a launch
};

// What comes after the step that s.stage names. One thread.
__device__ __forceinline__ void decide(State& s, u32 m, const Limits& limits, u32 rounds) {
  if (s.stage == kDone || s.stage == kShrink || (s.stage == kScan && s.least == kNone)) return;
  if (s.stage == kSmall || s.stage == kLarge) {
    s.buried = s.head;
    s.head = s.end;
  }
  if (s.stage == kScan) {
    if (s.least > limits.last) {
      s.stage = kDone;
      return;
    }
    s.level = next_level(s.level, s.least, limits.first);
  }
  if (s.head == m) {
    s.stage = kDone;
  } else if (s.head >= limits.shrink_at) {
    s.stage = kShrink;
  } else if (rounds >= limits.rounds) {
    s.stage = kPause;
  } else if (s.head == s.tail) {
    s.stage = kScan;
    s.least = kNone;
  } else {
    s.end = s.tail;
    s.rounds++;
    s.stage = s.end == m || s.end - s.buried > limits.marked ? kLarge : kSmall;
  }
}

// One block. s is thread 0's to write but for s.tail and s.least, and only between a barrier after
// which nobody reads it and the next.
extern "C" __global__ void __launch_bounds__(kSmallThreads)
truss_small(RTC_TRUSS_ARGS, u32 first, u32 last, u32 shrink_at, u32 scanned, u32 marked, u32 most_steps, u32 rounds) {
  RTC_SHARED(State, shared, 1);
  RTC_SHARED(u64, steps, 1);
  const Edges g = RTC_TRUSS_EDGES;
  State& s = shared[0];
  if (threadIdx.x == 0) s = *state;
  for (u32 round = 0;; round++) {
    if (threadIdx.x == 0) {
      decide(s, m, Limits{first, last, shrink_at, scanned, marked, most_steps, rounds}, round);
      steps[0] = 0;
    }
    __syncthreads();   // what comes next is decided
    if (s.stage == kScan && s.least == kNone && m <= scanned) {
      __syncthreads();   // and read
      scan(g, threadIdx.x, blockDim.x, &s.least);
      __syncthreads();   // the least support is known
      if (s.least <= last) collect(g, next_level(s.level, s.least, first), threadIdx.x, blockDim.x, &s.tail);
    } else if (s.stage == kSmall) {
      const u64 mine = mark(g, s.buried, s.head, s.end, s.level, threadIdx.x, blockDim.x);
      if (mine) atomicAdd(steps, mine);
      __syncthreads();   // the frontier is marked, and what it takes is known
      if (steps[0] > most_steps) break;
      peel(g, s.head, s.end, s.level, &s.tail, threadIdx.x, blockDim.x);
    } else {
      break;
    }
    __syncthreads();   // the step is done
  }
  if (threadIdx.x == 0) {
    if (s.stage == kSmall) s.stage = kLarge;   // marked once more, which changes nothing
    *state = s;
  }
}
