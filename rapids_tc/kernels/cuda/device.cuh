// The words all kernels share. The emulator defines RTC_HOST and its own form of the macros
// (testing/cuda_host.hpp), so that the same files run on a CPU.
//
// What the emulator asks of a kernel: shared memory through the two macros below, explicit _sync
// masks, no __activemask, no spin-waits, no includes but ours. Two threads that write the same
// value to one word without a barrier between them are a race there, as in racecheck: use an
// atomic, or give each word an owner.
#pragma once

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 kWarp = 32;
constexpr u32 kFullMask = 0xffffffffu;

#ifndef RTC_HOST
// An array of n (a constant) elements shared by the block.
#define RTC_SHARED(T, name, n) __shared__ T name[n]

// The launch's dynamic shared memory as T*; every declaration in a kernel names the same bytes.
#define RTC_DYNAMIC_SHARED(T, name)                         \
  extern __shared__ __align__(16) unsigned char rtc_dynamic[]; \
  T* const name = reinterpret_cast<T*>(rtc_dynamic)

// The next number from a counter that the host sets to zero before each launch: one thread draws
// on behalf of its block or warp and stops at the first number past the last task. The emulator
// runs blocks one after another and so deals numbers round by block instead.
#define RTC_TICKET(counter) atomicAdd((counter), 1u)

// Counts n probes on the emulator, where tests compare them with a method's closed form.
#define RTC_PROBE(n)
#endif
