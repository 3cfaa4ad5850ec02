// host_runtime.hpp - the interface of the emulated language (cuda_host.hpp) and the scheduler
// (host_runtime.cpp). The scheduler is compiled without sanitizers, so that its own memory is no part of
// reports; a kernel reaches it through these calls only, and values travel in registers.
#pragma once
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)  // resolved when the library of kernels is loaded

struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace rtc_host {

struct Site {  // a line of the .cu file
  const char* file;
  int line;
};

enum class Op {
  block,
  grid,
  warp,
  ballot,
  any,
  all,
  shuffle,
  match,
  add,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor
};

// One launch, filled in by Python (testing/_launch.py mirrors the layout).
struct Launch {
  unsigned grid[3], block[3];
  unsigned dynamic_shared;  // bytes
  unsigned seed;  // order of threads and blocks; 0: ascending
  void** arguments;  // addresses of the kernel's parameters
  uint64_t probes, switches;  // out
  void (*body)(const Launch&);  // one thread of the kernel; set by launch()
  unsigned bound;  // threads that __launch_bounds__ allows, or 0; set by launch()
  unsigned cooperative;  // whether all blocks run at once, so that they may wait for each other
};

// Run a launch. Returns null, or the message of an error, which lives until the next launch.
const char* run(Launch& launch);

[[noreturn]] void fail(const char* what, Site site);
// Wait for the grid, the block, or the lanes that `mask` names; returns what these compute of their values.
uint64_t meet(Op op, unsigned mask, uint64_t value, unsigned source, Site site);
// This block's array for the declaration whose name is at `key` (null: the dynamic array), made and
// poisoned at the first call.
void* shared(const char* key, size_t bytes);
// The block's next number of the counter at `counter`, which holds `start`.
uint64_t ticket(void* counter, size_t width);
void probe(uint64_t n);
unsigned lane();

}  // namespace rtc_host

#pragma GCC visibility pop
