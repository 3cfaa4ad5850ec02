// truss.cu - the peel of a graph by one launch. engines/peel.py says what a level, a round and its frontier
// are.
//
// Most rounds are small, and cost less than a launch. So the threads of one launch stay for all of them. A
// search for the next level and a round are a phase each, and one barrier of the grid ends it: all blocks
// are resident, as in a cooperative launch. Rounds of a few tasks are left to block 0, whose own barrier is
// cheaper still.
//
// A phase gets its frontier as tasks, pieces of rows, so that a long row keeps nobody waiting: the phase
// before has made them of the edges that fell. If there was no room for all of them, or rows were packed
// meanwhile, each warp looks for the frontier in its list. Rows are packed when a part of the edges is
// dead, so that few dead entries are walked.
//
// The kernel comes back now and then, for progress and Ctrl-C; the next launch, of as many blocks, goes on.
#include "truss.cuh"
#include "truss_rounds.cuh"
#include "truss_rows.cuh"

// The parameters of the peel.
struct Limits {
  u32 first, last;              // levels below first are peeled with it, levels above last not at all
  u32 room, few, many;          // tasks of a phase: kept; left to block 0; after more, tasks are long
  u32 shrink, least;  // rows are packed if fewer 256ths of the edges are left; if not below least
  u32 rounds, work;  // of a launch: rounds at most, and about so many tasks
};

// Where the peel is. All threads have the same values, and change them together behind a barrier.
struct Peel {
  State* state;
  const Limits& limits;
  Task* tasks;
  u32 level, rounds, dead;
  u32 clock, buried, phase;
  u32 packed;  // edges that were left when rows were packed
  u32 seeds;  // tasks of the last level's first frontier
  bool empty;  // the last search has found no edge

  __device__ u32 fallen() const { return RTC_PEEK(state->fallen + phase % 3); }
  __device__ u64 size() const { return RTC_PEEK(state->tasks + phase % 3); }
  __device__ const Task* input() const { return tasks + u64(limits.room) * (phase % 2); }
  __device__ Frontier output(bool large) const {
    const u32 next = (phase + 1) % 3;
    return Frontier{tasks + u64(limits.room) * ((phase + 1) % 2),
                    limits.room,
                    state->fallen + next,
                    state->tasks + next,
                    large ? kLong : kShort,
                    stamp_of_round(clock + 1)};
  }

  // Clear what the next phase adds to. One thread, in this phase.
  __device__ void clear() const {
    state->fallen[(phase + 2) % 3] = 0;
    state->tasks[(phase + 2) % 3] = 0;
    state->least[(phase + 1) % 3] = kNone;
  }

  __device__ void advance() {
    phase++;
    clock++;
    dead += fallen();
  }

  __device__ bool stamps_end() const { return clock - buried >= kStamps - 2; }
  // Whether rows are to be packed: between two levels if fewer 256ths of `edges` are left than limits say; in
  // the middle of one, when the frontier is looked for once more, if it is worth a second time as much.
  __device__ bool sparse(u32 edges, bool between) const {
    const u32 left = edges - dead, shrink = between ? limits.shrink : limits.shrink * limits.shrink / 256;
    return left >= limits.least && u64(left) * 256 < u64(packed) * shrink;
  }

  __device__ void load() {
    level = state->level, rounds = state->rounds, dead = state->dead, clock = state->clock;
    buried = state->buried, phase = state->phase, packed = state->packed, seeds = state->seeds;
    empty = state->empty;
  }
  __device__ void save() const {  // one thread
    state->level = level, state->rounds = rounds, state->dead = dead, state->clock = clock;
    state->buried = buried, state->phase = phase, state->packed = packed, state->seeds = seeds;
    state->empty = empty;
  }
};

// Find the first frontier of the next level; return false if there is none to peel. The level is one more,
// or, if a search has found no edge, the least that it has seen.
__device__ __forceinline__ bool next_level(const Peeled& g, Peel& peel, u32& goal) {
  State* const state = peel.state;
  u32 target = peel.empty ? RTC_PEEK(state->least + (peel.phase + 2) % 3) : peel.level + 1;
  target = max(target, peel.limits.first);
  if (target > peel.limits.last) return false;
  if (grid_thread() == 0) peel.clear();
  u32 least = search(g, peel.output(peel.seeds > peel.limits.many), peel.level, target, 0);
  least = warp_reduce(least, smaller<u32>);
  if (threadIdx.x % kWarp == 0 && least != kNone) atomicMin(state->least + peel.phase % 3, least);
  RTC_GRID_BARRIER(&state->arrived, goal);  // the frontier is found
  peel.buried = peel.clock;
  peel.advance();
  peel.empty = peel.fallen() == 0;
  peel.seeds = u32(min(peel.size(), u64(kNone)));
  if (!peel.empty) peel.level = target;
  return true;
}

// Peel small rounds until one is not, or has tasks that were not kept; `most` at most. Block 0.
__device__ __forceinline__ void
peel_alone(const Peeled& g, Peel& peel, const Queue& queue, u32 edges, u32 most) {
  for (u32 n = u32(peel.size());;) {
    if (threadIdx.x == 0) peel.clear();
    const u32 now = stamp_of_round(peel.clock);
    peel_tasks(g, peel.output(false), queue, peel.level, now, peel.input(), n, threadIdx.x, kPeelThreads);
    __syncthreads();  // the round is done
    peel.advance();
    const u64 size = peel.size();
    if (size == 0 || size > min(peel.limits.few, peel.limits.room)) break;
    if (peel.dead == edges || --most == 0) break;
    if (peel.stamps_end() || peel.sparse(edges, false)) break;
    n = u32(size);
    peel.rounds++;
  }
  if (threadIdx.x == 0) peel.save();
}

// Count the edges that are in a triangle: the host makes room for them.
extern "C" __global__ void __launch_bounds__(kPeelThreads)
truss_count(const u32* support, u32 m, State* state) {
  u32 active = 0;
  for (u64 p = grid_thread(); p < m; p += grid_threads()) active += support[p] != 0;
  active = warp_sum(active);
  if (threadIdx.x % kWarp == 0 && active) atomicAdd(&state->edges, active);
}

extern "C" __global__ void __launch_bounds__(kPeelThreads)
truss_peel(const i64* offsets, const u32* columns, u32 n, u32 m, u32* rows, u32* support, u32* begin,
           u32* size, u32* tables, u32* cursor, u64* adjacency, u32* keys, u32* edges, u32* list,
           u32* lengths, u32* tasks, u32* parts, u32 first, u32 last, u32 room, u32 few, u32 many, u32 shrink,
           u32 least, u32 rounds, u32 work, u32 k, RTC_KIND kind, State* state) {
  RTC_SHARED(u32, sums, kPeelWarps);
  RTC_SHARED(u32, fallen, kQueue + 1);
  const Peeled g{rows, columns, support, begin,   size,      reinterpret_cast<uint2*>(tables),
                 keys, edges,   list,    lengths, adjacency, kind};
  const Limits limits{first, last, room, few, many, shrink, least, rounds, work};
  const Queue queue{fallen};
  const BlockTeam block{threadIdx.x, sums};
  const bool starts = state->stage == kBegin;
  u32 goal = state->goal;
  if (threadIdx.x == 0) *queue.size() = 0;
  if (starts) make_graph(g, offsets, n, rows, cursor, parts, state, goal, block);
  Peel peel{state, limits, reinterpret_cast<Task*>(tasks)};
  peel.load();
  const u32 active = state->edges;
  bool done = false;
  u64 walked = 0;
  for (u32 round = 0;;) {
    const u32 frontier = peel.fallen();
    const u64 n_tasks = peel.size();
    done = peel.dead == active;
    if (done || round >= limits.rounds || walked >= limits.work) {
      if (done && frontier) peel.rounds++;
      break;
    }
    const u32 now = frontier ? stamp_of_round(peel.clock) : 0;
    if (peel.stamps_end()) {
      search(g, peel.output(false), peel.level, 0, now);
      RTC_GRID_BARRIER(&state->arrived, goal);  // dead edges are buried
      peel.buried = peel.clock;
    }
    bool by_list = n_tasks > limits.room;
    if (peel.sparse(active, n_tasks == 0)) {
      pack_rows(g, n, now, state, goal, block);
      peel.packed = active - peel.dead;
      by_list = true;
    }
    if (frontier) peel.rounds++;
    round++;
    walked += n_tasks;
    if (n_tasks == 0) {
      if (frontier) peel.clock++;  // its edges are in no triangle: the round is done
      walked += (active - peel.dead) / kLong;
      done = !next_level(g, peel, goal);
      if (done) break;
    } else if (by_list || n_tasks > limits.few) {
      if (grid_thread() == 0) peel.clear();
      const Frontier out = peel.output(n_tasks > limits.many);
      const Task* const in = peel.input();
      if (by_list) peel_list(g, out, queue, peel.level, now);
      else peel_tasks(g, out, queue, peel.level, now, in, u32(n_tasks), grid_thread(), grid_threads());
      RTC_GRID_BARRIER(&state->arrived, goal);  // the round is done
      peel.advance();
    } else {
      const u32 clock = peel.clock;
      RTC_GRID_BARRIER(&state->arrived, goal);  // all blocks know the frontier
      if (blockIdx.x == 0) peel_alone(g, peel, queue, active, limits.rounds - round + 1);
      RTC_GRID_BARRIER(&state->arrived, goal);  // block 0 is done
      peel.load();
      round += peel.clock - clock - 1;
    }
  }
  if (done)
    for (u64 p = grid_thread(); p < m; p += grid_threads()) support[p] = trussness(support[p], peel.level, k);
  RTC_GRID_BARRIER(&state->arrived, goal);  // all threads have read the state
  if (grid_thread() != 0) return;
  peel.save();
  state->stage = done ? kDone : kPause;
  state->goal = goal;
}
