// The emulator's scheduler: one block at a time, each of its threads a fiber.
//
// A fiber runs until it meets a collective or returns, then hands over to the next one that is
// ready. Ready threads queue in order; with a seed the next is drawn at random, so that a warp may
// run far ahead of another, which is how a missing barrier shows without a sanitizer.
//
// For ThreadSanitizer every CUDA thread is a thread of its own, ordered by __syncthreads and
// __syncwarp only, after the launch and before its end. Shuffles, votes and atomics order nothing,
// and blocks are unordered with each other. Compiled without sanitizers, this file's own memory is
// invisible to them; RTC_ASAN and RTC_TSAN say whom to tell about fibers.
#include "host_runtime.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#if defined(__x86_64__)
#define RTC_SWITCH_ASM 1
#else
#include <ucontext.h>
#endif
#if defined(RTC_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(RTC_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {  // memory that changes hands: no write, and what was there before is forgotten
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace rtc_host {
namespace {

constexpr size_t kStack = 128 * 1024;
constexpr size_t kPage = 4096;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxStaticShared = 48 * 1024;
constexpr unsigned char kPoison = 0xCD;

struct Failure {
  std::string what;
};

// ------------------------------------------------------------------ fibers
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
// Saves what the calling convention makes the callee's, and swaps stacks.
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

enum class State : unsigned char { ready, waiting, done };

// What a thread waits in.
struct Call {
  Op op;
  unsigned mask, source;
  uint64_t value;
  Site site;

  bool operator==(const Call& c) const {
    return op == c.op && mask == c.mask && site.line == c.site.line &&
           !strcmp(site.file, c.site.file);
  }
};

struct Thread {
  Fiber* fiber;
  uint3 id;
  unsigned index;
  State state;
  Call call;
  uint64_t result;
};

// Tokens for TSan: those who meet release one before and acquire it after. Two, used in turn: a
// fast thread comes to the next meeting, and releases, before a slow one has left the last.
struct Meeting {
  unsigned mask = 0, held = 0;
  char tokens[2];

  char* token() { return &tokens[held & 1]; }
};

struct Warp {
  unsigned live, waiting;       // lanes
  std::deque<Meeting> meetings;  // one a mask; a deque, so that tokens stay where they are
};

struct Shared {
  const void* key;
  size_t bytes;
  void* data;
};

// The launch's counter at an address, dealt round by block.
struct Counter {
  void* at;
  size_t width;
  uint64_t start, drawn, total;  // drawn by this block; in all
};

Launch* launch;
std::deque<Fiber> fibers;  // with their stacks, kept between blocks and launches
std::vector<Thread> threads;
std::vector<Warp> warps;
std::vector<Shared> arrays;
std::vector<Counter> counters;
std::vector<Thread*> queue;
size_t head;  // of the queue
Fiber scheduler;
Fiber* left;  // the fiber switched from last
Thread* current;
Meeting* everybody;
unsigned n_threads, n_done, n_arrived;
size_t fiber_turn;
uint64_t random_state;
std::string error;

#if defined(RTC_TSAN)
char begin_token, end_token;
void release(char* token) { __tsan_release(token); }
void acquire(char* token) { __tsan_acquire(token); }
struct Unseen {
  Unseen() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
  ~Unseen() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};
#else
char begin_token, end_token;
void release(char*) {}
void acquire(char*) {}
struct Unseen {
  Unseen() {}
};
#endif

// Tell ASan that we are on this fiber now, and learn where the one we left has its stack.
void landed([[maybe_unused]] void* fake) {
#if defined(RTC_ASAN)
  __sanitizer_finish_switch_fiber(fake, &left->stack, &left->size);
#endif
}

void switch_to(Fiber& from, Fiber& to, [[maybe_unused]] bool dying = false) {
  launch->switches++;
  left = &from;
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

// ------------------------------------------------------------------ who runs next
uint64_t random_number() {  // xorshift64
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

void wake(Thread& t) {
  t.state = State::ready;
  queue.push_back(&t);
}

Thread* next_ready() {
  if (head == queue.size()) return nullptr;
  if (launch->seed) std::swap(queue[head], queue[head + random_number() % (queue.size() - head)]);
  Thread* next = queue[head++];
  if (head == queue.size() || head >= 4096) {
    queue.erase(queue.begin(), queue.begin() + head);
    head = 0;
  }
  return next;
}

// Leave the processor to the next thread that is ready, or to the scheduler if there is none.
void pause(bool dying = false) {
  Thread& me = *current;
  Thread* next = next_ready();
  if (next != &me) {
    current = next;
    if (next) threadIdx = next->id;
    switch_to(*me.fiber, next ? *next->fiber : scheduler, dying);
  }
}

// ------------------------------------------------------------------ messages
const char* name(Op op) {
  static const char* names[] = {
      "__syncthreads", "__syncwarp", "__ballot_sync", "__any_sync", "__all_sync",
      "__shfl_sync", "__match_any_sync", "__reduce_add_sync", "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"};
  return names[int(op)];
}
std::string text(Site s) { return std::string(s.file) + ":" + std::to_string(s.line); }
std::string text(const Call& c) { return std::string(name(c.op)) + " at " + text(c.site); }
std::string text(const Thread& t) { return "thread " + std::to_string(t.index); }
[[noreturn]] void stop(Site at, const std::string& what) {
  throw Failure{text(at) + ": block " + std::to_string(blockIdx.x) + ", " + text(*current) + ": " + what};
}

// ------------------------------------------------------------------ collectives
uint64_t outcome(Op op, const Thread* warp, unsigned here) {
  uint64_t all = op == Op::min || op == Op::bit_and ? ~0ull : 0;
  for (unsigned j = 0; j < 32; j++) {
    if (!(here >> j & 1)) continue;
    const uint64_t v = warp[j].call.value;
    switch (op) {
      case Op::ballot: case Op::any: case Op::all: all |= v << j; break;
      case Op::add: all += v; break;
      case Op::min: all = v < all ? v : all; break;
      case Op::max: all = v > all ? v : all; break;
      case Op::bit_and: all &= v; break;
      case Op::bit_or: all |= v; break;
      case Op::bit_xor: all ^= v; break;
      default: break;
    }
  }
  return op == Op::any ? all != 0 : op == Op::all ? all == here : all;
}

uint64_t lanes_value(const Thread& t, const Thread* warp, unsigned here) {
  if (t.call.op == Op::shuffle) {
    if (!(here >> t.call.source & 1))
      stop(t.call.site, "lane " + std::to_string(t.index & 31) + " reads lane " +
                            std::to_string(t.call.source) + ", which takes no part in the shuffle");
    return warp[t.call.source].call.value;
  }
  uint64_t same = 0;
  for (unsigned j = 0; j < 32; j++)
    if (here >> j & 1 && warp[j].call.value == t.call.value) same |= 1u << j;
  return same;
}

// Complete the collective that lane `lane` waits in, if every live lane of its mask is there.
void settle(Warp& warp, Thread* lanes, unsigned lane) {
  const Call& mine = lanes[lane].call;
  unsigned here = 0;
  for (unsigned rest = warp.waiting & mine.mask; rest; rest &= rest - 1) {
    const unsigned j = __builtin_ctz(rest);
    if (lanes[j].call == mine) here |= 1u << j;
    else if (lanes[j].call.mask >> lane & 1)
      stop(mine.site, "lane " + std::to_string(lane) + " is in " + text(mine) + " and lane " +
                          std::to_string(j) + " in " + text(lanes[j].call) +
                          ": their masks name each other");
  }
  if (here != (mine.mask & warp.live)) return;
  const Op op = mine.op;
  const bool own = op == Op::shuffle || op == Op::match;
  const uint64_t common = op == Op::warp || own ? 0 : outcome(op, lanes, here);
  for (unsigned rest = here; rest; rest &= rest - 1) {
    Thread& t = lanes[__builtin_ctz(rest)];
    t.result = own ? lanes_value(t, lanes, here) : common;
  }
  if (op == Op::warp)
    for (Meeting& m : warp.meetings) m.held += m.mask == mine.mask;
  warp.waiting &= ~here;
  for (unsigned rest = here; rest; rest &= rest - 1) wake(lanes[__builtin_ctz(rest)]);
}

Meeting& meeting(Warp& warp, unsigned mask) {
  for (Meeting& m : warp.meetings)
    if (m.mask == mask) return m;
  warp.meetings.emplace_back().mask = mask;
  return warp.meetings.back();
}

// Open the block's barrier when every thread is at it.
void settle_block(Site site) {
  if (!n_arrived || n_arrived + n_done < n_threads) return;
  if (n_done) stop(site, std::to_string(n_done) + " thread(s) returned without this __syncthreads");
  n_arrived = 0;
  everybody->held++;
  for (unsigned i = 0; i < n_threads; i++) wake(threads[i]);
}

void arrive_at_block(Thread& me) {
  for (unsigned i = 0; n_arrived && i < n_threads; i++) {
    const Thread& t = threads[i];
    if (&t == &me || t.state != State::waiting || t.call.op != Op::block) continue;
    if (!(t.call == me.call))
      stop(me.call.site, "divergent __syncthreads: " + text(t) + " waits at " + text(t.call.site));
    break;
  }
  n_arrived++;
  settle_block(me.call.site);
}

void arrive_at_warp(Thread& me) {
  const unsigned lane = me.index & 31;
  if (!(me.call.mask >> lane & 1))
    stop(me.call.site, std::string(name(me.call.op)) + ": lane " + std::to_string(lane) +
                           " is not in its own mask");
  Warp& warp = warps[me.index / 32];
  warp.waiting |= 1u << lane;
  settle(warp, &me - lane, lane);
}

void leave(Thread& me) {  // what others wait for may be complete without this thread
  Unseen unseen;
  me.state = State::done;
  n_done++;
  const unsigned lane = me.index & 31;
  Warp& warp = warps[me.index / 32];
  warp.live &= ~(1u << lane);
  for (unsigned j = 0; j < 32; j++)
    if (warp.waiting >> j & 1 && (&me - lane)[j].call.mask >> lane & 1) settle(warp, &me - lane, j);
  for (unsigned i = 0; n_arrived && i < n_threads; i++)
    if (threads[i].state == State::waiting && threads[i].call.op == Op::block)
      return settle_block(threads[i].call.site);
}

// ------------------------------------------------------------------ a block
[[noreturn]] void trampoline() {
  landed(nullptr);
  acquire(&begin_token);
  try {
    launch->body(*launch);
    release(&end_token);
    leave(*current);
  } catch (const Failure& failure) {
    error = failure.what;
    queue.clear();  // so that the scheduler is next
    head = 0;
  }
  pause(true);
  abort();
}

// TSan tells blocks apart by their fibers, so there they take turns with more than a block needs;
// not with many more, since each makes every barrier dearer.
Fiber& next_fiber() {
#if defined(RTC_TSAN)
  const size_t wanted = n_threads > 256 ? 2 * n_threads : 512;
#else
  const size_t wanted = n_threads;
#endif
  if (fibers.size() < wanted) fibers.resize(wanted);
  return fibers[fiber_turn++ % wanted];
}

void make(Fiber& f) {
  if (!f.stack) {
    char* p = static_cast<char*>(
        mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (p == MAP_FAILED) throw Failure{"the emulator cannot allocate stacks"};
    mprotect(p, kPage, PROT_NONE);  // an overflow faults
    f.stack = p + kPage;
    f.size = kStack - kPage;
#if defined(RTC_TSAN)
    f.tsan = __tsan_create_fiber(0);
#endif
  }
#if defined(RTC_ASAN)
  __asan_unpoison_memory_region(f.stack, f.size);
#endif
  char* bottom = static_cast<char*>(const_cast<void*>(f.stack));
#if defined(RTC_SWITCH_ASM)
  void** sp = reinterpret_cast<void**>(bottom + f.size);
  *--sp = nullptr;  // as if called: (rsp + 8) % 16 == 0 at entry
  *--sp = reinterpret_cast<void*>(&trampoline);
  f.sp = sp - 6;
#else
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = bottom;
  f.context.uc_stack.ss_size = f.size;
  f.context.uc_link = nullptr;
  makecontext(&f.context, trampoline, 0);
#endif
}

// What TSan's reports call the thread.
void name([[maybe_unused]] const Thread& t) {
#if defined(RTC_TSAN)
  char text[64];
  snprintf(text, sizeof text, "thread %u of block %u", t.index, blockIdx.x);
  __tsan_set_fiber_name(t.fiber->tsan, text);
#endif
}

// Fibers that a failure left in the middle of a kernel are no use to TSan any more.
void abandon_fibers() {
  for (Fiber& f : fibers) {
    if (!f.stack) continue;
#if defined(RTC_TSAN)
    __tsan_destroy_fiber(f.tsan);
#endif
    munmap(static_cast<char*>(const_cast<void*>(f.stack)) - kPage, kStack);
  }
  fibers.clear();
}

std::string deadlock() {
  std::string s = "block " + std::to_string(blockIdx.x) + ": deadlock:";
  const Call* last = nullptr;
  for (unsigned i = 0, shown = 0; i < n_threads && shown < 4; i++) {
    const Thread& t = threads[i];
    if (t.state != State::waiting || (last && t.call == *last)) continue;
    s += (shown++ ? ", " : " ") + text(t) + " waits in " + text(t.call);
    last = &t.call;
  }
  return s;
}

void run_block() {
  n_done = n_arrived = 0;
  queue.clear();
  head = 0;
  for (Counter& c : counters) c.drawn = 0;
  {
    Unseen unseen;
    everybody = new Meeting;
    warps.assign((n_threads + 31) / 32, Warp{});
  }
  for (unsigned i = 0; i < n_threads; i++) {
    threads[i].fiber = &next_fiber();
    make(*threads[i].fiber);
    name(threads[i]);
    warps[i / 32].live |= 1u << (i & 31);
    wake(threads[i]);
  }
  release(&begin_token);
  current = next_ready();
  threadIdx = current->id;
  switch_to(scheduler, *current->fiber);
  if (error.empty() && n_done < n_threads) error = deadlock();
  Unseen unseen;
  for (Shared& s : arrays) free(s.data);
  arrays.clear();
  warps.clear();
  delete everybody;
}

uint64_t load(const Counter& c) {
  uint64_t value = 0;
  memcpy(&value, c.at, c.width);
  return value;
}

void check(const Launch& l) {
  const uint64_t n = uint64_t(l.block[0]) * l.block[1] * l.block[2];
  if (n == 0 || n > kMaxThreads) throw Failure{"a block has 1 to 1,024 threads, not " + std::to_string(n)};
  if (!l.grid[0] || !l.grid[1] || !l.grid[2] || l.grid[0] >> 31 || l.grid[1] >> 16 || l.grid[2] >> 16)
    throw Failure{"a grid has 1 to 2**31 - 1 blocks along x and 1 to 65,535 along y and z"};
}

void run_grid(Launch& l) {
  check(l);
  gridDim = {l.grid[0], l.grid[1], l.grid[2]};
  blockDim = {l.block[0], l.block[1], l.block[2]};
  n_threads = l.block[0] * l.block[1] * l.block[2];
  if (threads.size() < n_threads) threads.resize((n_threads + 31) / 32 * 32);
  for (unsigned i = 0; i < n_threads; i++) {
    threads[i].index = i;
    threads[i].id = {i % l.block[0], i / l.block[0] % l.block[1], i / (l.block[0] * l.block[1])};
  }
  std::vector<unsigned> order(l.grid[0] * l.grid[1] * l.grid[2]);
  for (size_t i = 0; i < order.size(); i++) order[i] = unsigned(i);
  for (size_t i = order.size(); l.seed && i > 1; i--) std::swap(order[i - 1], order[random_number() % i]);
  for (unsigned i : order) {
    blockIdx = {i % l.grid[0], i / l.grid[0] % l.grid[1], i / (l.grid[0] * l.grid[1])};
    run_block();
    if (!error.empty()) break;
  }
}

}  // namespace

// ------------------------------------------------------------------ what kernels call
void fail(const char* what, Site site) { stop(site, what); }
unsigned lane() { return current->index & 31; }
void probe(uint64_t n) { launch->probes += n; }

uint64_t meet(Op op, unsigned mask, uint64_t value, unsigned source, Site site) {
  Unseen unseen;
  Thread& me = *current;
  me.call = {op, mask, source, value, site};
  me.state = State::waiting;
  Meeting* order = op == Op::block ? everybody
                   : op == Op::warp ? &meeting(warps[me.index / 32], mask) : nullptr;
  char* token = order ? order->token() : nullptr;
  if (token) release(token);
  op == Op::block ? arrive_at_block(me) : arrive_at_warp(me);
  pause();
  if (token) acquire(token);
  return me.result;
}

void* shared(const void* key, size_t bytes) {
  Unseen unseen;
  if (!key) bytes = launch->dynamic_shared;
  size_t total = 0;
  for (const Shared& s : arrays) {
    if (s.key == key) return s.data;
    if (s.key) total += s.bytes;
  }
  if (key && total + bytes > kMaxStaticShared)
    throw Failure{"block " + std::to_string(blockIdx.x) + ": " + std::to_string(total + bytes) +
                  " bytes of static shared memory, where a card has 49,152"};
  void* data = malloc(bytes ? bytes : 1);
  memset(data, kPoison, bytes);
  arrays.push_back({key, bytes, data});
  return data;
}

uint64_t ticket(void* at, size_t width) {
  Unseen unseen;
  Counter* c = nullptr;
  for (Counter& known : counters)
    if (known.at == at) c = &known;
  if (!c) {
    c = &counters.emplace_back(Counter{at, width, 0, 0, 0});
    c->start = load(*c);
  }
  const uint64_t blocks = uint64_t(gridDim.x) * gridDim.y * gridDim.z;
  const uint64_t block = blockIdx.x + gridDim.x * (blockIdx.y + uint64_t(gridDim.y) * blockIdx.z);
  c->total++;
  return c->start + block + blocks * c->drawn++;
}

const char* run(Launch& l) {
  launch = &l;
  error.clear();
  random_state = 0x9E3779B97F4A7C15u * (l.seed + 1);
#if defined(RTC_TSAN)
  scheduler.tsan = __tsan_get_current_fiber();
#endif
  try {
    run_grid(l);
  } catch (const Failure& failure) {
    error = failure.what;
  }
  acquire(&end_token);
  if (!error.empty()) abandon_fibers();
  for (const Counter& c : counters) {  // as the atomic would have left it
    const uint64_t value = c.start + c.total;
    memcpy(c.at, &value, c.width);
  }
  counters.clear();
  return error.empty() ? nullptr : error.c_str();
}

}  // namespace rtc_host
