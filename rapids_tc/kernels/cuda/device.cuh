// device.cuh - types, macros and functions for all kernels. The emulator defines RTC_HOST and its own form
// of the macros (testing/cuda_host.hpp), so that the same files run on a CPU.
//
// The emulator demands of a kernel: shared memory through the two macros below, explicit _sync masks, no
// __activemask, no spin-waits but RTC_GRID_BARRIER, no includes of other files than these. Two threads that
// write the same value to one word without a barrier between them are a race, as in racecheck: use an atomic,
// or give each word an owner.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 kWarp = 32;
constexpr u32 kFullMask = 0xffffffffu;
constexpr u32 kThreads = 256, kWarps = kThreads / kWarp;  // of a block, unless a kernel says otherwise
// Threads that a multiprocessor holds, by which kernels say how many blocks shall fit: 1,024, or 1,536 at most,
// but for the large GPUs. The emulator does not ask.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
constexpr u32 kResident = 1024;
#else
constexpr u32 kResident = 2048;
#endif

#ifndef RTC_HOST
// An array of n (a constant) elements shared by the block.
#define RTC_SHARED(T, name, n) __shared__ T name[n]

// The launch's dynamic shared memory as T*; all declarations in a kernel name the same bytes.
#define RTC_DYNAMIC_SHARED(T, name)                            \
  extern __shared__ __align__(16) unsigned char rtc_dynamic[]; \
  T* const name = reinterpret_cast<T*>(rtc_dynamic)

// The next number from a counter that the host sets to zero before each launch: one thread draws for its
// block or warp, and stops at the first number past the last task. The emulator runs blocks one after
// another, and therefore deals numbers round by block.
#define RTC_TICKET(counter) atomicAdd((counter), 1u)

// Counts n probes on the emulator; tests compare the sum with a method's closed form.
#define RTC_PROBE(n)

// Waits for all threads of the grid, in a cooperative launch. The host sets `arrived` to zero once; goal is
// the same in all threads, zero at the first barrier, and handed on from launch to launch.
#define RTC_GRID_BARRIER(arrived, goal)                       \
  do {                                                        \
    __syncthreads();                                          \
    (goal) += gridDim.x;                                      \
    if (gridDim.x > 1) {                                      \
      if (threadIdx.x == 0) {                                 \
        __threadfence();                                      \
        atomicAdd((arrived), 1u);                             \
        while (int((goal) - RTC_PEEK(arrived)) > 0) continue; \
        __threadfence();                                      \
      }                                                       \
      __syncthreads();                                        \
    }                                                         \
  } while (false)

// The word at p, which other threads may change by atomics.
#define RTC_PEEK(p) (*(const volatile decltype(*(p) + 0)*)(p))
#endif

constexpr u32 kNone = 0xffffffffu;  // no index: all lists are shorter

// The input of every method: the oriented graph and the layout that prepare.cu makes of it. Positions
// (indices into columns) and items have 32 bits, and may step past the last one: the engine refuses 2^31
// edges. Columns, codes and edge counts have the same positions, so that one number names an edge
// everywhere.
struct Graph {
  const i64* __restrict__ offsets;  // n + 1
  const u32* __restrict__ columns;  // N+(u), ascending, at offsets[u] ..
  const u16* __restrict__ codes;  // the same ids as codes of 16 bits (below)
  const u64* __restrict__ in_edges;  // by v, for u with v in N+(u): u's start << 32 | entries below v
  const u32* __restrict__ in_offsets;  // n + 1: the in-edges of v are in_edges[in_offsets[v]] ..
  u32 edges_at;  // on blocks: the position of in-edge 0 in edge counts
};

// The launch signature of all methods. Items first .. last - 1 are drawn from the ticket; the header of
// each method says what an item is (tasks[...], an in-edge), what width and depth limit, and what scratch
// holds. With RTC_BLOCKS, the graph is a task on blocks: the rows of u and the rows of v are two blocks in
// one array of columns, and v is the number of its row. Then v does not follow every prefix.
#ifdef RTC_BLOCKS
constexpr bool kBlocks = true;
#define RTC_BLOCKS_ARG , u32 edges_at
#define RTC_GRAPH \
  Graph { offsets, columns, codes, in_edges, in_offsets, edges_at }
#else
constexpr bool kBlocks = false;
#define RTC_BLOCKS_ARG
#define RTC_GRAPH Graph{offsets, columns, codes, in_edges, in_offsets, 0}
#endif
// The bit rows of hubs, if the layout has them: hubs.cuh.
#ifdef RTC_HUBS
#define RTC_HUBS_ARGS const uint4 *bits, const u32 *places, const u32 *covered, u32 n_rows, u32 grain
#define RTC_MORE_ARGS , RTC_HUBS_ARGS
#else
#define RTC_MORE_ARGS
#endif
#define RTC_METHOD_ARGS                                                                                 \
  const i64 *offsets, const u32 *columns, const u16 *codes, const u64 *in_edges, const u32 *in_offsets, \
      const u32 *tasks, u32 first, u32 last, u32 width, u32 depth, u32 *scratch, u32 *ticket,           \
      RTC_VISIT::Input input RTC_BLOCKS_ARG RTC_MORE_ARGS

// The position of the edge (u, v), in-edge i: `end`, the end of its prefix, unless on blocks.
__device__ __forceinline__ u32 edge_at(const Graph& g, u32 i, u32 end) {
  return kBlocks ? g.edges_at + i : end;
}

// The code of an id in a map of `bits` bits, a power of two up to 65,536. Ids below exact_ids have codes of
// their own, in their order; the others share the remaining codes, by their last bits. In degree order
// these ids are few, and in an ascending list they come last.
__device__ __forceinline__ u32 exact_ids(u32 bits) { return bits - bits / 8; }

__device__ __forceinline__ u32 code_of(u32 id, u32 bits) {
  const u32 exact = exact_ids(bits);
  return id < exact ? id : exact + (id & (bits / 8 - 1));
}

template <class T>
__device__ __forceinline__ T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
__device__ __forceinline__ T smaller(T a, T b) {
  return a < b ? a : b;
}

// First index of the ascending list a[0 .. n) whose entry is not below x; n if there is none.
template <class T, class I>
__device__ __forceinline__ I lower_bound(const T* a, I n, T x) {
  I begin = 0;
  while (begin < n) {
    const I middle = begin + (n - begin) / 2;
    if (a[middle] < x) begin = middle + 1;
    else n = middle;
  }
  return begin;
}

// Index of x in the ascending list a[0 .. n), or kNone.
template <class T>
__device__ __forceinline__ u32 find(const T* a, u32 n, T x) {
  const u32 i = lower_bound(a, n, x);
  return i < n && a[i] == x ? i : kNone;
}

// The number of this thread in the grid: of kernels with a thread per element, the element.
__device__ __forceinline__ u64 element() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
