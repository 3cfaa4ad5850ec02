// host_fibers.hpp - fibers, and what a sanitizer must know of them; a part of host_runtime.cpp.
//
// For ThreadSanitizer every CUDA thread is a thread of its own, ordered by __syncthreads and
// __syncwarp only, after the launch and before its end. Shuffles, votes and atomics order nothing,
// and blocks are not ordered with each other. RTC_ASAN and RTC_TSAN name the sanitizer in use.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>

#if defined(__x86_64__) && defined(__ELF__)
#define RTC_SWITCH_ASM 1
#else
#include <ucontext.h>
#endif
#if defined(RTC_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(RTC_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif

namespace rtc_host {
namespace {

const size_t kStack = 128 * 1024, kPage = sysconf(_SC_PAGESIZE);

struct Failure { std::string what; };

struct Fiber {
  const void* stack = nullptr;
  size_t size = 0;
#if defined(RTC_TSAN)
  void* tsan = nullptr;
#endif
#if defined(RTC_SWITCH_ASM)
  void* sp = nullptr;
#else
  ucontext_t context{};
#endif
};

#if defined(RTC_SWITCH_ASM)
// Saves the registers that the calling convention makes the callee preserve, and swaps stacks.
extern "C" void rtc_switch(void** from, void* to);
asm(R"(
.text
.hidden rtc_switch
.globl rtc_switch
.type rtc_switch,@function
rtc_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size rtc_switch,.-rtc_switch
.section .note.GNU-stack,"",@progbits
.text
)");
#endif

Fiber scheduler;
Fiber* previous;           // the fiber that ran before the last switch
std::deque<Fiber> fibers;  // with their stacks, kept between blocks and launches
size_t fiber_turn;
uint64_t n_switches;

// ------------------------------------------------------------------ sanitizers
// Happens-before edges by tokens: a thread that releases a token comes before a thread that acquires
// it later. Unseen: TSan ignores accesses while it lives, as when memory passes between threads.
#if defined(RTC_TSAN)
void release(char* token) { __tsan_release(token); }
void acquire(char* token) { __tsan_acquire(token); }
struct Unseen {
  Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};
#else
void release(char*) {}
void acquire(char*) {}
struct Unseen {
  Unseen() {}
};
#endif

// The tokens of a meeting, two that are used in turn: a fast thread comes to the next meeting, and
// releases, before a slow thread has left the last.
struct Meeting {
  unsigned mask = 0, held = 0;
  char tokens[2];

  char* token() { return &tokens[held & 1]; }
};

// Name the thread in TSan's reports.
#if defined(RTC_TSAN)
void rename(Fiber& f, unsigned thread, unsigned block) {
  char text[64];
  snprintf(text, sizeof text, "thread %u of block %u", thread, block);
  __tsan_set_fiber_name(f.tsan, text);
}
#else
void rename(Fiber&, unsigned, unsigned) {}
#endif

// Tell ASan that this fiber runs now, and learn where the fiber before has its stack.
void landed([[maybe_unused]] void* fake) {
#if defined(RTC_ASAN)
  __sanitizer_finish_switch_fiber(fake, &previous->stack, &previous->size);
#endif
}

void switch_to(Fiber& from, Fiber& to, [[maybe_unused]] bool dying = false) {
  n_switches++;
  previous = &from;
  void* fake = nullptr;
#if defined(RTC_ASAN)
  __sanitizer_start_switch_fiber(dying ? nullptr : &fake, to.stack, to.size);
#elif defined(RTC_TSAN)
  __tsan_switch_to_fiber(to.tsan, __tsan_switch_to_fiber_no_sync);
#endif
#if defined(RTC_SWITCH_ASM)
  rtc_switch(&from.sp, to.sp);
#else
  swapcontext(&from.context, &to.context);
#endif
  landed(fake);
}

// ------------------------------------------------------------------ making fibers
// TSan tells blocks apart by their fibers, so with TSan more fibers than a block needs take turns; not
// many more, since each fiber makes every barrier slower.
Fiber& next_fiber(unsigned n_threads) {
#if defined(RTC_TSAN)
  const size_t wanted = n_threads > 256 ? 2 * n_threads : 512;
#else
  const size_t wanted = n_threads;
#endif
  if (fibers.size() < wanted) fibers.resize(wanted);
  return fibers[fiber_turn++ % wanted];
}

// Prepare a fiber to run `entry`, which never returns.
void make(Fiber& f, void (*entry)()) {
  if (!f.stack) {
    char* p =
        static_cast<char*>(mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (p == MAP_FAILED) throw Failure{"the emulator cannot allocate stacks"};
    mprotect(p, kPage, PROT_NONE);  // an overflow faults
    f.stack = p + kPage;
    f.size = kStack - kPage;
#if defined(RTC_TSAN)
    f.tsan = __tsan_create_fiber(0);
#elif defined(RTC_ASAN)
    // The memory may still be poisoned by its last owner. A thread that ends leaves nothing poisoned;
    // see abandon_fibers.
    __asan_unpoison_memory_region(f.stack, f.size);
#endif
  }
  char* bottom = static_cast<char*>(const_cast<void*>(f.stack));
#if defined(RTC_SWITCH_ASM)
  void** sp = reinterpret_cast<void**>(bottom + f.size);
  *--sp = nullptr;  // as if called: (rsp + 8) % 16 == 0 at entry
  *--sp = reinterpret_cast<void*>(entry);
  f.sp = sp - 6;
#else
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = bottom;
  f.context.uc_stack.ss_size = f.size;
  f.context.uc_link = nullptr;
  makecontext(&f.context, entry, 0);
#endif
}

// Destroy the fibers that a failure left in the middle of a kernel. A switch to a fiber and back, with
// synchronization, orders for TSan what the fiber did before what follows.
void abandon_fibers() {
  for (Fiber& f : fibers) {
    if (!f.stack) continue;
#if defined(RTC_TSAN)
    __tsan_switch_to_fiber(f.tsan, 0);
    __tsan_switch_to_fiber(scheduler.tsan, 0);
    __tsan_destroy_fiber(f.tsan);
#endif
    munmap(static_cast<char*>(const_cast<void*>(f.stack)) - kPage, kStack);
  }
  fibers.clear();
}

}  // namespace
}  // namespace rtc_host
