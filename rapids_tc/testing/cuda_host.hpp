// cuda_host.hpp - CUDA C++ for g++: enough of the language to run a kernel on a CPU, for tests.
//
// Every CUDA thread is a fiber that runs until it meets a collective (__syncthreads, __syncwarp,
// __shfl_*_sync, ...) or returns, so a collective means what it means on a GPU with independent
// thread scheduling: it waits for the lanes that its mask names. What a GPU leaves undefined is an
// error in the emulator. host_runtime.cpp has the scheduler.
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <type_traits>
#include <utility>
#include "host_runtime.hpp"

#define RTC_HOST 1
#define RTC_HERE {__builtin_FILE(), __builtin_LINE()}

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static_assert(false, "declare it by RTC_SHARED or RTC_DYNAMIC_SHARED");

// ------------------------------------------------------------------ device.cuh's macros
// Every block gets its own array, allocated apart (ASan knows its ends; without ASan, a fence behind
// each array shows writes past its end) and filled with 0xCD, so that a read before the first write
// shows. The name is a reference to an array: sizeof and bounds checks work.
#define RTC_SHARED(T, name, n)                \
  static const char rtc_key_##name[] = #name; \
  T(&name)[n] = *static_cast<T(*)[n]>(rtc_host::shared(rtc_key_##name, sizeof(T) * (n)))
#define RTC_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(rtc_host::shared(nullptr, 0))
#define RTC_TICKET(counter) rtc_host::next_ticket(counter)
#define RTC_PROBE(n) rtc_host::probe(n)
#define RTC_GRID_BARRIER(arrived, goal) rtc_host::grid_barrier(goal, RTC_HERE)
#define RTC_PEEK(p) __atomic_load_n((p), __ATOMIC_RELAXED)

// ------------------------------------------------------------------ vector types
#define RTC_VECTOR(name, T)                                                          \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                 \
  struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                         \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
RTC_VECTOR(char, signed char)
RTC_VECTOR(uchar, unsigned char)
RTC_VECTOR(short, short)
RTC_VECTOR(ushort, unsigned short)
RTC_VECTOR(int, int)
RTC_VECTOR(uint, unsigned)
RTC_VECTOR(longlong, long long)
RTC_VECTOR(ulonglong, unsigned long long)
RTC_VECTOR(float, float)
RTC_VECTOR(double, double)
#undef RTC_VECTOR

// ------------------------------------------------------------------ collectives
namespace rtc_host {
template <class T>
uint64_t bits(T value) {
  static_assert(sizeof(T) <= 8, "a lane's value is at most 8 bytes");
  uint64_t u = 0;
  memcpy(&u, &value, sizeof value);
  return u;
}
template <class T>
T from(uint64_t u) {
  T value;
  memcpy(&value, &u, sizeof value);
  return value;
}
template <class T>
T shuffle(unsigned mask, T value, unsigned source, Site at) {
  return from<T>(meet(Op::shuffle, mask, bits(value), source, at));
}
template <class T>
T next_ticket(T* counter) {
  return T(ticket(counter, sizeof(T)));
}
}  // namespace rtc_host

#define RTC_AT rtc_host::Site at = RTC_HERE
namespace rtc_host {
inline void grid_barrier(unsigned& goal, Site at) {
  goal += gridDim.x;
  meet(Op::grid, 0, 0, 0, at);
}
}  // namespace rtc_host
inline void __syncthreads(RTC_AT) { rtc_host::meet(rtc_host::Op::block, 0, 0, 0, at); }
inline void __syncwarp(unsigned mask = ~0u, RTC_AT) { rtc_host::meet(rtc_host::Op::warp, mask, 0, 0, at); }
inline unsigned __ballot_sync(unsigned mask, int predicate, RTC_AT) {
  return rtc_host::meet(rtc_host::Op::ballot, mask, predicate != 0, 0, at);
}
inline int __any_sync(unsigned mask, int predicate, RTC_AT) {
  return rtc_host::meet(rtc_host::Op::any, mask, predicate != 0, 0, at);
}
inline int __all_sync(unsigned mask, int predicate, RTC_AT) {
  return rtc_host::meet(rtc_host::Op::all, mask, predicate != 0, 0, at);
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, RTC_AT) {
  return rtc_host::meet(rtc_host::Op::match, mask, rtc_host::bits(value), 0, at);
}

// Signed minima and maxima are unsigned ones of values whose sign bit is turned.
#define RTC_REDUCE(name, op, T, turn)                                                 \
  inline T name(unsigned mask, T value, RTC_AT) {                                     \
    const unsigned turned = unsigned(value) ^ turn;                                   \
    return T(unsigned(rtc_host::meet(rtc_host::Op::op, mask, turned, 0, at)) ^ turn); \
  }
RTC_REDUCE(__reduce_add_sync, add, unsigned, 0u)
RTC_REDUCE(__reduce_add_sync, add, int, 0u)
RTC_REDUCE(__reduce_min_sync, min, unsigned, 0u)
RTC_REDUCE(__reduce_min_sync, min, int, 0x80000000u)
RTC_REDUCE(__reduce_max_sync, max, unsigned, 0u)
RTC_REDUCE(__reduce_max_sync, max, int, 0x80000000u)
RTC_REDUCE(__reduce_and_sync, bit_and, unsigned, 0u)
RTC_REDUCE(__reduce_or_sync, bit_or, unsigned, 0u)
RTC_REDUCE(__reduce_xor_sync, bit_xor, unsigned, 0u)
#undef RTC_REDUCE

// A shuffle within a lane's segment of `width` lanes; a source outside of it means the lane itself.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, RTC_AT) {
  const unsigned segment = rtc_host::lane() & ~unsigned(width - 1);
  return rtc_host::shuffle(mask, value, segment | (unsigned(source) & unsigned(width - 1)), at);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, RTC_AT) {
  const unsigned me = rtc_host::lane(), in_segment = me & unsigned(width - 1);
  return rtc_host::shuffle(mask, value, in_segment + delta < unsigned(width) ? me + delta : me, at);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, RTC_AT) {
  const unsigned me = rtc_host::lane(), in_segment = me & unsigned(width - 1);
  return rtc_host::shuffle(mask, value, in_segment >= delta ? me - delta : me, at);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int turn, int width = 32, RTC_AT) {
  const unsigned me = rtc_host::lane(), other = me ^ unsigned(turn);
  const bool beyond = (other & ~unsigned(width - 1)) > (me & ~unsigned(width - 1));
  return rtc_host::shuffle(mask, value, beyond ? me : other, at);
}
// Absent on purpose: __activemask, which depends on the scheduler, and collectives without _sync.
[[noreturn]] inline void __trap(RTC_AT) { rtc_host::fail("__trap", at); }

// ------------------------------------------------------------------ memory
// Relaxed, as on the GPU: an atomic orders nothing but itself.
namespace rtc_host {
template <class T, class F>
T update(T* p, F next) {
  T old;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  for (;;) {
    T wanted = next(old);
    if (__atomic_compare_exchange(p, &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}
}  // namespace rtc_host
#define RTC_ATOMIC(name, expression)                                       \
  template <class T, class U>                                              \
  T name(T* p, U given) {                                                  \
    const T v = T(given);                                                  \
    return rtc_host::update(p, [v](T old) -> T { return T(expression); }); \
  }
RTC_ATOMIC(atomicAdd, old + v)
RTC_ATOMIC(atomicSub, old - v)
RTC_ATOMIC(atomicMin, old < v ? old : v)
RTC_ATOMIC(atomicMax, old > v ? old : v)
// clang-format off
RTC_ATOMIC(atomicAnd, old & v)
// clang-format on
RTC_ATOMIC(atomicOr, old | v)
RTC_ATOMIC(atomicXor, old ^ v)
RTC_ATOMIC(atomicExch, v)
RTC_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
RTC_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef RTC_ATOMIC
template <class T, class U, class V>
T atomicCAS(T* p, U expected, V wanted) {
  return rtc_host::update(p, [=](T old) { return old == T(expected) ? T(wanted) : old; });
}
inline void __threadfence() {}
inline void __threadfence_block() {}

#define RTC_LOAD(name) \
  template <class T>   \
  T name(const T* p) { \
    return *p;         \
  }
RTC_LOAD(__ldg)
RTC_LOAD(__ldca)
RTC_LOAD(__ldcg)
RTC_LOAD(__ldcs)
#undef RTC_LOAD

// ------------------------------------------------------------------ arithmetic
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline long long __double_as_longlong(double x) { return (long long)rtc_host::bits(x); }
inline double __longlong_as_double(long long x) { return rtc_host::from<double>(uint64_t(x)); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(a) < T(b) ? T(a) : T(b);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(a) < T(b) ? T(b) : T(a);
}

// ------------------------------------------------------------------ launching
namespace rtc_host {
// A parameter, for Python's checks: pointer or not, const or not, NumPy's kind, and bytes.
template <class T>
constexpr char kKind = std::is_same_v<T, bool>       ? 'b'
                       : std::is_floating_point_v<T> ? 'f'
                       : std::is_integral_v<T>       ? (std::is_signed_v<T> ? 'i' : 'u')
                                                     : 'V';
template <class T>
constexpr size_t width() {
  if constexpr (std::is_void_v<T>) return 0;
  else return sizeof(T);
}
struct Parameter {
  char pointer, constant, kind;
  unsigned bytes;
};
template <class A>
constexpr Parameter parameter() {
  using T = std::remove_pointer_t<A>;
  const char kind = kKind<std::remove_cv_t<T>>;
  return {std::is_pointer_v<A>, std::is_const_v<T>, kind, unsigned(width<T>())};
}
template <class... A>
int describe(void (*)(A...), const Parameter** out) {
  static constexpr Parameter list[] = {parameter<A>()..., {}};
  *out = list;
  return sizeof...(A);
}
template <class... A, size_t... I>
void call(void (*kernel)(A...), void** a, std::index_sequence<I...>) {
  kernel(*reinterpret_cast<std::remove_cv_t<A>*>(a[I])...);
}
template <class... A>
void call(void (*kernel)(A...), void** a) {
  call(kernel, a, std::index_sequence_for<A...>{});
}
}  // namespace rtc_host

// Makes kernel number i callable from Python; the rest is its name, with template arguments. Its blocks
// may have up to `bounds` threads; any number if that is 0.
#define RTC_KERNEL(i, bounds, ...)                                                                 \
  extern "C" __attribute__((visibility("default"))) const char* rtc_run_##i(rtc_host::Launch* l) { \
    l->bound = bounds;                                                                             \
    l->body = [](const rtc_host::Launch& it) { rtc_host::call(&__VA_ARGS__, it.arguments); };      \
    return rtc_host::run(*l);                                                                      \
  }                                                                                                \
  extern "C" __attribute__((visibility("default"))) int rtc_parameters_##i(                        \
      const rtc_host::Parameter** out) {                                                           \
    return rtc_host::describe(&__VA_ARGS__, out);                                                  \
  }
