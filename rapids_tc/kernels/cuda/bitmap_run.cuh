// bitmap_run.cuh - bitmap.cu's count for pivot vertices of few probes: a warp takes a run of up to 32
// vertices of consecutive numbers. Their rows lie together, and so do their in-edges, so that one map holds
// all the rows, and one walk passes all the in-edges.
//
// Input: as in bitmap.cu. Item = tasks[2 i ..] = {first vertex, how many}, kRunsPerTicket of them per
// ticket. The map has a bit per hash of an entry's code and its vertex's place in the run, so every hit is
// confirmed in the row itself: by code if the code has one id, else by full id. width = bits of a warp's
// map, a power of two from 64 on; depth = bits of the map of codes. Dynamic shared memory: width / 32 words
// per warp, then the visitor's.
//
// Written: out, by the visitor's atomics; the map is set by atomicOr, and cleared by lane i of word i,
// modulo the warp.
#pragma once
#include "chunks.cuh"
#include "device.cuh"
#include "kinds.cuh"
#include "ties.cuh"
#include "windows.cuh"

constexpr u32 kRunThreads = 256, kRunBlocksPerSm = 6;
constexpr u32 kRunsPerTicket = 2;

struct RunMap {
  u32* words;
  u32 shift;           // right shift of a hash to the number of its word

  // The number that is added to the hash of the codes of the vertex at a place in the run.
  __device__ static u32 salt(u32 place) { return place * 0x85ebca6bu; }
  __device__ static u32 hash(u32 code, u32 salt) { return code * 0x9e3779b1u + salt; }

  __device__ void insert(u32 hash) { atomicOr(words + (hash >> shift), 0x80000000u >> hash % 32); }

  // Bit i of the result: the map has code i with this salt.
  __device__ u32 test(const uint4& codes, u32 salt) const {
    const u32 pairs[] = {codes.x, codes.y, codes.z, codes.w};
    u32 found = 0;
#pragma unroll
    for (int i = kChunk - 1; i >= 0; i--) {
      const u32 h = hash(i % 2 ? pairs[i / 2] >> 16 : pairs[i / 2] & 0xffff, salt);
      found = found << 1 | words[h >> shift] << h % 32 >> 31;
    }
    return found;
  }
};

// Index in N+(v), columns[row .. row + length), of the entry at position; or kNone.
__device__ __forceinline__ u32 confirm(const Graph& g, u32 position, u32 row, u32 length, u32 exact) {
  const u16 code = g.codes[position];
  return code < exact ? find(g.codes + row, length, code)
                      : find(g.columns + row, length, g.columns[position]);
}

extern "C" __global__ void __launch_bounds__(kRunThreads, kRunBlocksPerSm) bitmap_run(RTC_METHOD_ARGS) {
  RTC_DYNAMIC_SHARED(u32, memory);
  const Graph g = RTC_GRAPH;
  const u32 lane = threadIdx.x % kWarp, words = width / 32, exact = exact_ids(depth);
  RunMap map{memory + threadIdx.x / kWarp * words, u32(__clz(int(words))) + 1};
  for (u32 i = lane; i < words; i += kWarp) map.words[i] = 0;
  RTC_VISIT visit(input, memory + blockDim.x / kWarp * words);
  for (;;) {
    const u32 item = first + warp_ticket(ticket) * kRunsPerTicket;
    if (item >= last) break;
    for (u32 t = item; t < last && t < item + kRunsPerTicket; t++) {
      const u32 v = tasks[2 * u64(t)], size = tasks[2 * u64(t) + 1], at = v + (lane < size ? lane : size);
      const u32 row_end = u32(offsets[v + size]), in_end = in_offsets[v + size];
      const u32 row = u32(offsets[at]), in = in_offsets[at];   // lanes past the run hold its end
      const u32 next = __shfl_down_sync(kFullMask, row, 1),
                length = (lane == kWarp - 1 ? row_end : next) - row;
      __syncwarp();      // the map is all zero
      for (u32 p = __shfl_sync(kFullMask, row, 0) + lane; p - lane < row_end; p += kWarp) {
        const u32 place = last_at_most(row, p);
        if (p < row_end) map.insert(RunMap::hash(codes[p], RunMap::salt(place)));
      }
      __syncwarp();      // the map is whole
      for (u32 i = __shfl_sync(kFullMask, in, 0) + lane; i - lane < in_end; i += kWarp) {
        const u32 place = last_at_most(in, i), entries = __shfl_sync(kFullMask, length, place);
        each_chunk(codes, i < in_end && entries ? in_edges[i] : 0, [&](const Chunk& c) {
          const u32 own = __shfl_sync(kFullMask, place, c.owner);
          const u32 own_row = __shfl_sync(kFullMask, row, own),
                    own_length = __shfl_sync(kFullMask, length, own);
          RTC_PROBE(__popc(c.wanted));
          u32 hits = 0;
          for (u32 left = map.test(c.codes, RunMap::salt(own)) & c.wanted; left; left &= left - 1) {
            const u32 position = c.position + __ffs(int(left)) - 1;
            const u32 index = confirm(g, position, own_row, own_length, exact);
            const u32 uv = edge_at(g, i - lane + c.owner, c.edge);
            if (index == kNone || !visit.triangle(uv, position, own_row + index)) continue;
            hits++;
            visit.side(position);
            visit.side(own_row + index);
            visit.middle(own_row + index, visit.at_vw);
          }
          visit.edge(edge_at(g, i - lane + c.owner, c.edge), hits);
        });
      }
      __syncwarp();      // all probes are done
      for (u32 i = lane; i < words; i += kWarp) map.words[i] = 0;
    }
  }
  visit.finish();
}
