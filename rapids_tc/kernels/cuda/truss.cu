// truss.cu - the peel of one graph of edges, all of which are active when it begins. engines/peel.py says
// what a level, a round and its frontier are, and when the host makes the next, smaller graph; truss.cuh
// has the input and the steps of a round.
//
// A large round is two launches, truss_mark and truss_peel; a large search for the next level is truss_scan
// and truss_collect. Most rounds are small, and cost less than a launch: one block, truss_small, works
// through them, finds the levels of small graphs, too, and decides what comes next. It stops if that is
// large. The host has launched truss_mark, truss_peel and another truss_small behind it already, several
// times over; these return at once if another step is due. So the host reads State once in many launches.
#include "truss.cuh"

constexpr u32 kThreads = 256, kSmallThreads = 1024;
constexpr u32 kRowLanes = 8;                  // lanes per row in truss_rows

__device__ __forceinline__ u64 element() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u32 threads() { return gridDim.x * blockDim.x; }

// ------------------------------------------------------------------------------- making a graph
// Write rows[p] of every edge p of a CSR, by kRowLanes lanes per row.
extern "C" __global__ void __launch_bounds__(kThreads) truss_rows(const i64* offsets, u64 n, u32* rows) {
  const u64 u = element() / kRowLanes;
  if (u >= n) return;
  for (i64 p = offsets[u] + threadIdx.x % kRowLanes; p < offsets[u + 1]; p += kRowLanes) rows[p] = u32(u);
}

// Add to degrees[v] the number of edges whose column is v. A thread per edge.
extern "C" __global__ void __launch_bounds__(kThreads)
truss_degrees(const u32* columns, u32 m, u32* degrees) {
  if (element() < m) atomicAdd(degrees + columns[element()], 1u);
}

// Find where the edges of each rank begin. A thread per rank, and one past the last.
extern "C" __global__ void __launch_bounds__(kThreads)
truss_offsets(const u32* rows, u32 m, u64 n, i64* offsets) {
  const u64 u = element();
  if (u <= n) offsets[u] = lower_bound(rows, m, u32(u));
}

// Write adjacency, of each vertex: first the edges whose row is the vertex, in order, then the edges whose
// column is the vertex, from free[vertex] on, in any order. A thread per edge.
extern "C" __global__ void __launch_bounds__(kThreads)
truss_adjacency(const u32* rows, const u32* columns, u32 m, const i64* offsets, const i64* starts, u64* free,
                u64* adjacency) {
  const u64 e = element();
  if (e >= m) return;
  const u32 u = rows[e], v = columns[e];
  adjacency[starts[u] + (i64(e) - offsets[u])] = e << 32 | v;
  adjacency[atomicAdd(free + v, 1ull)] = e << 32 | u;
}

// ------------------------------------------------------------------------------- large steps
extern "C" __global__ void __launch_bounds__(kThreads) truss_mark(RTC_TRUSS_ARGS) {
  if (state->stage == kLarge)
    mark(RTC_TRUSS_EDGES, state->buried, state->head, state->end, state->level, u32(element()), threads());
}

extern "C" __global__ void __launch_bounds__(kThreads) truss_peel(RTC_TRUSS_ARGS) {
  if (state->stage == kLarge && state->end < m)   // else all active edges are in the frontier
    peel(RTC_TRUSS_EDGES, state->head, state->end, state->level, &state->tail, u32(element()), threads());
}

extern "C" __global__ void __launch_bounds__(kThreads) truss_scan(RTC_TRUSS_ARGS) {
  scan(RTC_TRUSS_EDGES, u32(element()), threads(), &state->least);
}

extern "C" __global__ void __launch_bounds__(kThreads) truss_collect(RTC_TRUSS_ARGS, u32 first, u32 last) {
  if (state->least <= last)
    collect(RTC_TRUSS_EDGES, next_level(state->level, state->least, first), u32(element()), threads(),
            &state->tail);
}

// ------------------------------------------------------------------------------- small rounds
// The parameters of truss_small.
struct Limits {
  u32 first, last;              // levels below first are peeled with it, levels above last not at all
  u32 shrink_at;                // dead edges from which the host makes another graph
  u32 scanned;                  // edges of a graph that one block scans
  u32 marked, steps;            // edges and steps of a small round, at most
  u32 rounds;                   // rounds of a launch, at most
};

// Decide what comes after the step that s.stage names. One thread.
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

// Peel small rounds, by one block. Thread 0 alone writes s, except for s.tail and s.least, and only between
// two barriers between which no other thread reads s.
extern "C" __global__ void __launch_bounds__(kSmallThreads)
truss_small(RTC_TRUSS_ARGS, u32 first, u32 last, u32 shrink_at, u32 scanned, u32 marked, u32 most_steps,
            u32 rounds) {
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
    __syncthreads();   // the next step is decided
    if (s.stage == kScan && s.least == kNone && m <= scanned) {
      __syncthreads();   // all threads have read it
      scan(g, threadIdx.x, blockDim.x, &s.least);
      __syncthreads();   // the least support is known
      if (s.least <= last) collect(g, next_level(s.level, s.least, first), threadIdx.x, blockDim.x, &s.tail);
    } else if (s.stage == kSmall) {
      const u64 mine = mark(g, s.buried, s.head, s.end, s.level, threadIdx.x, blockDim.x);
      if (mine) atomicAdd(steps, mine);
      __syncthreads();   // the frontier is marked, and its steps are counted
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
