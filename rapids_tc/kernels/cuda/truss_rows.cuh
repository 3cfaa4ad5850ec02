// truss_rows.cuh - the graph of active edges that truss.cu walks: how it is made, and how dead edges are
// taken out of its rows and tables.
#pragma once
#include "truss.cuh"

constexpr u32 kRowLanes = 8;                  // that read a row of the CSR
constexpr u32 kLongRow = 4096;                // entries above which a block packs a row, not a warp
constexpr u32 kSums = 3;                      // of vertices: neighbors, buckets, edges of the row

// Write the row of every edge; count the neighbors of each vertex in begin, and those below it in tables.y.
__device__ __forceinline__ void count_neighbors(const Peeled& g, const i64* offsets, u32 n, u32* rows) {
  for (u64 i = grid_thread(); i < u64(kRowLanes) * n; i += grid_threads()) {
    const u32 u = u32(i / kRowLanes);
    u32 active = 0;
    for (i64 p = offsets[u] + i64(i % kRowLanes); p < offsets[u + 1]; p += kRowLanes) {
      rows[p] = u;
      if (g.support[p] == 0) continue;
      active++;
      atomicAdd(g.begin + g.columns[p], 1u);
    }
    if (!active) continue;
    atomicAdd(g.begin + u, active);
    atomicAdd(&g.tables[u].y, active);
  }
}

// Add up what the vertices first .. last - 1, which are the block's, need. All threads of the block.
__device__ __forceinline__ void
sum_vertices(const Peeled& g, u32 first, u32 last, u32* parts, const BlockTeam& block) {
  u32 needs[kSums] = {0, 0, 0};
  for (u32 x = first + threadIdx.x; x < last; x += kPeelThreads) {
    const u32 below = g.tables[x].y;
    needs[0] += g.begin[x];
    needs[1] += buckets_of(below);
    needs[2] += below;
  }
  for (u32 k = 0; k < kSums; k++) {
    u32 total;
    block.scan(needs[k], total);
    if (threadIdx.x == 0) parts[kSums * blockIdx.x + k] = total;
  }
}

// Give each of these vertices its places, behind those of the blocks before, and empty its table. cursor
// becomes the place of its row's edges in the list. Returns the number of all edges. All threads of the
// block.
__device__ __forceinline__ u32 place_vertices(const Peeled& g, u32 first, u32 last, const u32* parts,
                                              u32* cursor, u32* long_rows, const BlockTeam& block) {
  u32 places[kSums], total = 0, edges = 0;
  for (u32 k = 0; k < kSums; k++) {
    u32 before = 0, all = 0;
    for (u32 i = threadIdx.x; i < gridDim.x; i += kPeelThreads) {
      const u32 part = parts[kSums * i + k];
      all += part;
      if (i < blockIdx.x) before += part;
    }
    block.scan(before, places[k]);
    block.scan(all, edges);
  }
  const u32 first_bucket = places[1];
  for (u64 tile = first; tile < last; tile += kPeelThreads) {
    const u64 x = tile + threadIdx.x;
    const u32 neighbors = x < last ? g.begin[x] : 0, below = x < last ? g.tables[x].y : 0;
    const u32 needs[kSums] = {neighbors, buckets_of(below), below};
    u32 at[kSums];
    for (u32 k = 0; k < kSums; k++) {
      at[k] = places[k] + block.scan(needs[k], total);
      places[k] += total;
    }
    if (x >= last) continue;
    g.begin[x] = at[0];
    g.tables[x] = make_uint2(at[1], needs[1]);
    cursor[x] = at[2];
    if (neighbors > kLongRow) atomicMax(long_rows, u32(x) + 1);
  }
  for (u64 i = u64(kBucket) * first_bucket + threadIdx.x; i < u64(kBucket) * places[1]; i += kPeelThreads)
    g.keys[i] = kNone;
  return edges;
}

// Write the adjacency, the tables and the list.
__device__ __forceinline__ void place_edges(const Peeled& g, const i64* offsets, u32 n, u32* cursor) {
  for (u64 i = grid_thread(); i < u64(kRowLanes) * n; i += grid_threads()) {
    const u32 u = u32(i / kRowLanes);
    for (i64 p = offsets[u] + i64(i % kRowLanes); p < offsets[u + 1]; p += kRowLanes) {
      if (g.support[p] == 0) continue;
      const u32 v = g.columns[p];
      g.adjacency[g.begin[u] + atomicAdd(g.size + u, 1u)] = u64(p) << 32 | v;
      g.adjacency[g.begin[v] + atomicAdd(g.size + v, 1u)] = u64(p) << 32 | u;
      g.list[atomicAdd(cursor + u, 1u)] = u32(p);
      insert(g, g.tables[u], v, u32(p));
    }
  }
}

// How many of so many edges the warp has in the beginning.
__device__ __forceinline__ u32 dealt(u32 edges) {
  const u32 groups = edges / kWarp, warp = grid_warp(), rest = groups % grid_warps();
  return (groups / grid_warps() + (warp < rest)) * kWarp + (warp == rest ? edges % kWarp : 0);
}

// Make the graph of the active edges. All threads of the grid.
__device__ __forceinline__ void make_graph(const Peeled& g, const i64* offsets, u32 n, u32* rows, u32* cursor,
                                           u32* parts, State* state, u32& goal, const BlockTeam& block) {
  const u64 share = (u64(n) + gridDim.x - 1) / gridDim.x;
  const u32 first = u32(min(u64(n), share * blockIdx.x)), last = u32(min(u64(n), first + share));
  count_neighbors(g, offsets, n, rows);
  RTC_GRID_BARRIER(&state->arrived, goal);   // neighbors are counted
  sum_vertices(g, first, last, parts, block);
  RTC_GRID_BARRIER(&state->arrived, goal);   // the blocks' sums are there
  const u32 edges = place_vertices(g, first, last, parts, cursor, &state->long_rows, block);
  RTC_GRID_BARRIER(&state->arrived, goal);   // every vertex has its places
  place_edges(g, offsets, n, cursor);
  if (threadIdx.x % kWarp == 0) g.lengths[grid_warp()] = dealt(edges);
  if (grid_thread() == 0) {
    state->edges = state->packed = state->seeds = edges;
    state->least[0] = kNone;
  }
  RTC_GRID_BARRIER(&state->arrived, goal);   // the graph is made
}

// ------------------------------------------------------------------------------- packing
// Take dead edges out of the row of x, in place; make its table anew if it becomes much smaller. Edges of the
// frontier, whose stamp is `now`, stay. All threads of the team.
template <class Team>
__device__ __forceinline__ void pack_row(const Peeled& g, u32 x, u32 size, u32 now, const Team& team) {
  constexpr u32 kEach = 4;                    // entries of a thread whose words are on their way together
  u64* const row = g.adjacency + g.begin[x];
  u32 kept = 0, below = 0;
  for (u32 first = 0; first < size; first += kEach * team.lanes) {
    u64 entries[kEach];
    u32 stays = 0, smaller = 0, total;
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      const u32 i = first + k * team.lanes + team.lane;
      entries[k] = i < size ? row[i] : ~0ull;
    }
#pragma unroll
    for (u32 k = 0; k < kEach; k++) {
      const u32 word = ~entries[k] ? g.support[u32(entries[k] >> 32)] : kFallen;
      if (!is_active(word) && stamp_of(word) != now) continue;
      stays |= 1u << k;
      smaller += u32(entries[k]) < x;
    }
    team.sync();   // these entries are read
    u32 place = kept + (team.scan(smaller << 16 | __popc(stays), total) & 0xffff);
    const bool moves = kept != first || (total & 0xffff) != min(kEach * team.lanes, size - first);
#pragma unroll
    for (u32 k = 0; k < kEach; k++)
      if (moves && stays >> k & 1) row[place++] = entries[k];
    kept += total & 0xffff;
    below += total >> 16;
  }
  team.sync();   // all entries are written
  if (team.lane == 0) g.size[x] = kept;
  const uint2 table = make_uint2(g.tables[x].x, buckets_of(below));
  if (4 * u64(table.y) > 3 * u64(g.tables[x].y)) return;
  for (u32 i = team.lane; i < kBucket * table.y; i += team.lanes) g.keys[u64(kBucket) * table.x + i] = kNone;
  team.sync();   // the table is empty, and its size is read
  if (team.lane == 0) g.tables[x].y = table.y;
  for (u32 i = team.lane; i < kept; i += team.lanes) {
    const u64 entry = row[i];
    if (u32(entry) < x) insert(g, table, u32(entry), u32(entry >> 32));
  }
}

// Pack all rows: long ones, which are among the first long_rows, by blocks, and the others by warps, which
// take vertices far apart, since neighbors in rank have rows of about the same size. All threads of the
// grid.
__device__ __forceinline__ void
pack_rows(const Peeled& g, u32 n, u32 now, State* state, u32& goal, const BlockTeam& block) {
  for (u32 x = blockIdx.x; x < state->long_rows; x += gridDim.x) {
    const u32 size = g.size[x];
    if (size <= kLongRow) continue;
    __syncthreads();   // all threads have read the size
    pack_row(g, x, size, now, block);
  }
  RTC_GRID_BARRIER(&state->arrived, goal);   // rows that were long are packed
  const u32 lane = threadIdx.x % kWarp;
  for (u64 first = grid_warp(); first < n; first += u64(kWarp) * grid_warps()) {
    const u64 x = first + u64(lane) * grid_warps();
    const u32 own = x < n ? g.size[x] : 0;
    for (u32 rest = __ballot_sync(kFullMask, own && own <= kLongRow); rest; rest &= rest - 1) {
      const u32 i = __ffs(rest) - 1, size = __shfl_sync(kFullMask, own, i);
      pack_row(g, u32(first + u64(i) * grid_warps()), size, now, WarpTeam{lane});
    }
  }
  RTC_GRID_BARRIER(&state->arrived, goal);   // all rows are packed
}
