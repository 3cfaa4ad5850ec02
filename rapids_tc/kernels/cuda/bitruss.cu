// bitruss.cu - the bitruss peel by one launch: engines/blooms.py says what levels, rounds and blooms are.
//
// Most rounds are small, so the threads of one launch stay for all of them, as in truss.cu: a barrier of the grid
// ends each phase. A round has two, one over the edges of the frontier, one over the blooms that lose wedges. If
// there are few of them, blocks take them, else warps.
//
// The next level is looked for among the near edges, whose supports lie at most an eighth above that of the nearest
// when the list was made. Edges that come near later are appended. When the list is empty, it is made anew of the
// far edges.
//
// The kernel comes back now and then, for progress and Ctrl-C; the next launch, of as many blocks, goes on.
#include "bitruss.cuh"

constexpr u32 kWidth = 8;  // near edges reach so many parts of the least support above it
constexpr u32 kFew = 8;  // edges or blooms per block of threads, up to which blocks take them

// Zeros before the first launch, but for far, the number of edges.
struct State {
  u32 done;
  Peel peel;
  Counts counts[3];  // by phase, modulo 3
  u32 goal, arrived;  // of the barrier of the grid
};

// Call use(item, team) for all items, by blocks if they are few, else by warps. All threads of the grid.
template <class Use>
__device__ __forceinline__ void share(const u32* items, u32 size, u32* sums, const Use& use) {
  if (size <= kFew * gridDim.x) {
    for (u32 i = blockIdx.x; i < size; i += gridDim.x) {
      use(items[i], BlockTeam{threadIdx.x, sums});
      __syncthreads();  // the block is done with the item
    }
  } else {
    for (u32 i = grid_warp(); i < size; i += grid_warps()) use(items[i], WarpTeam{threadIdx.x % kWarp});
  }
}

// The counts that this phase adds to; those of the next phase are cleared. All threads of the grid.
__device__ __forceinline__ Counts* begin_phase(State* state, u32 phase) {
  if (grid_thread() == 0) state->counts[(phase + 1) % 3] = Counts{0, 0, 0, 0, 0};
  return state->counts + phase % 3;
}

// Wait for the end of the phase, and return what it has added up.
__device__ __forceinline__ Counts end_phase(State* state, Peel& peel, u32& goal) {
  RTC_GRID_BARRIER(&state->arrived, goal);  // the phase is done
  const Counts* const counts = state->counts + peel.phase % 3;
  peel.phase++;
  return {RTC_PEEK(&counts->fallen), RTC_PEEK(&counts->touched), RTC_PEEK(&counts->near),
          RTC_PEEK(&counts->far), RTC_PEEK(&counts->nearest)};
}

// Note the least support of the active edges of a list, from `least` on. All threads of the grid.
__device__ __forceinline__ void
find_nearest(const u64* words, const u32* list, u32 size, u32 least, Counts* counts) {
  u32 nearest = 0;
  for (u32 i = grid_thread(); i < size; i += grid_threads()) {
    const u64 word = words[list[i]];
    if (round_of(word) == 0 && word >= least) nearest = larger(nearest, kNone - u32(word));
  }
  nearest = warp_reduce(nearest, larger<u32>);
  if (threadIdx.x % kWarp == 0 && nearest) atomicMax(&counts->nearest, nearest);
}

// Let the edges of the level fall, of the active edges of a list from `least` on; write the others to the next
// lists of near and of far edges. All threads of the grid.
__device__ __forceinline__ void deal(const Round& round, const u32* list, u32 size, u32 least, u32 beyond) {
  const EdgeQueues& edges = round.edges;
  const Peel& peel = round.peel;
  for (u64 first = u64(grid_warp()) * kWarp; first < size; first += grid_threads()) {
    const u64 i = first + threadIdx.x % kWarp;
    const u32 edge = i < size ? list[i] : 0;
    const u64 word = i < size ? edges.words[edge] : 0;
    const bool active = i < size && round_of(word) == 0 && word >= least,
               falls = active && word <= peel.level;
    if (falls) edges.words[edge] = word | fallen_in(peel.round + 1);
    append(edges.queue + peel.fallen, &round.counts->fallen, falls, edge);
    append(edges.near + u64(1 - peel.near_turn) * round.m, &round.counts->near,
           active && !falls && word < beyond, edge);
    append(edges.far + u64(1 - peel.far_turn) * round.m, &round.counts->far, active && word >= beyond, edge);
  }
}

// Find the next level, and its first frontier; return whether an active edge is left.
__device__ __forceinline__ bool seek(const WedgeLists& lists, const Blooms& blooms, const EdgeQueues& edges,
                                     u32 m, State* state, Peel& peel, u32& goal) {
  const u32* list = edges.near + u64(peel.near_turn) * m;
  u32 size = peel.near, least = 0, beyond = peel.beyond;
  find_nearest(edges.words, list, size, least, begin_phase(state, peel.phase));
  u32 nearest = end_phase(state, peel, goal).nearest;
  const bool from_far = nearest == 0;
  if (from_far) {
    list = edges.far + u64(peel.far_turn) * m;
    size = peel.far, least = peel.beyond;
    find_nearest(edges.words, list, size, least, begin_phase(state, peel.phase));
    nearest = end_phase(state, peel, goal).nearest;
    if (nearest == 0) return false;
    beyond = (kNone - nearest) + (kNone - nearest) / kWidth + 1;
  }
  peel.level = kNone - nearest;
  deal(Round{lists, blooms, edges, peel, m, begin_phase(state, peel.phase)}, list, size, least, beyond);
  const Counts counts = end_phase(state, peel, goal);
  peel.fallen += counts.fallen;
  peel.near = counts.near;
  peel.near_turn = 1 - peel.near_turn;
  peel.beyond = beyond;
  if (from_far) {
    peel.far = counts.far;
    peel.far_turn = 1 - peel.far_turn;
  }
  return true;
}

// Peel the frontier.
__device__ __forceinline__ void
peel_round(const WedgeLists& lists, const Blooms& blooms, const EdgeQueues& edges, u32 m, State* state,
           Peel& peel, u32& goal, u32* sums) {
  const u32* const frontier = edges.queue + peel.head;
  const u32 end = peel.fallen, size = end - peel.head;
  peel.round++;
  const Round takes{lists, blooms, edges, peel, m, begin_phase(state, peel.phase)};
  share(frontier, size, sums, [&](u32 edge, const auto& team) { takes.take_out(edge, team); });
  Counts counts = end_phase(state, peel, goal);
  peel.fallen += counts.fallen;
  peel.near += counts.near;
  if (const u32 touched = counts.touched) {
    const Round loses{lists, blooms, edges, peel, m, begin_phase(state, peel.phase)};
    share(blooms.touched, touched, sums, [&](u32 bloom, const auto& team) { loses.lose(bloom, team); });
    counts = end_phase(state, peel, goal);
    peel.fallen += counts.fallen;
    peel.near += counts.near;
  }
  peel.head = end;
}

// Peel at most so many rounds, or levels without one.
extern "C" __global__ void __launch_bounds__(kPeelThreads)
bitruss_peel(WedgeLists lists, Blooms blooms, EdgeQueues edges, u32 m, u32 rounds, State* state) {
  RTC_SHARED(u32, sums, kPeelWarps);
  Peel peel = state->peel;
  u32 goal = state->goal;
  bool done = false;
  for (u32 steps = 0; steps < rounds && !done; steps++) {
    if (peel.head < peel.fallen) peel_round(lists, blooms, edges, m, state, peel, goal, sums);
    else done = !seek(lists, blooms, edges, m, state, peel, goal);
  }
  RTC_GRID_BARRIER(&state->arrived, goal);  // all threads have read the state
  if (grid_thread() != 0) return;
  state->peel = peel;
  state->done = done;
  state->goal = goal;
}
