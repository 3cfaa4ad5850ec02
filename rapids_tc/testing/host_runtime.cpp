// host_runtime.cpp - the emulator's runtime: launches, whose blocks run one after another unless they wait
// for each other, and the functions that kernels call.
//
// It is compiled without sanitizers, so that its own memory is invisible to them.
#include "host_runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "host_fibers.hpp"
#include "host_threads.hpp"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace rtc_host {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxStaticShared = 48 * 1024;
constexpr unsigned char kPoison = 0xCD;
#if defined(RTC_ASAN)
constexpr size_t kFence = 0;  // ASan finds accesses past an array, reads, too
#else
constexpr size_t kFence = 256;  // bytes past a shared array that must stay as they are
#endif

// A launch's counter at an address, whose numbers are dealt round by block.
struct Counter {
  void* at;
  size_t width;
  uint64_t start, drawn, total;  // drawn: by this block; total: by all
};

std::vector<Counter> counters;
char begin_token, end_token;  // of the launch
std::string error;

// ------------------------------------------------------------------ blocks
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

std::string deadlock() {
  std::string s = "deadlock:";
  const Call* last = nullptr;
  unsigned shown = 0;
  for (const Block& b : blocks)
    for (unsigned i = 0; i < n_threads && shown < 4; i++) {
      const Thread& t = b.threads[i];
      if (t.state != State::waiting || (last && t.call == *last)) continue;
      s += (shown++ ? ", " : " ") + text(b) + ", " + text(t) + " waits in " + text(t.call);
      last = &t.call;
    }
  return s;
}

// Whether the block wrote past the end of one of its shared arrays.
std::string overrun(const Block& b) {
  for (const Shared& s : b.arrays)
    for (size_t i = s.bytes; i < s.bytes + kFence; i++)
      if (s.data[i] != kPoison)
        return text(b) + ": written past the end of " + (s.key ? s.key : "dynamic shared memory") +
               ", which has " + std::to_string(s.bytes) + " bytes, at byte " + std::to_string(i);
  return "";
}

// Run the first of these blocks, or several at once.
void run_blocks(const unsigned* ids, unsigned n) {
  const unsigned n_warps = (n_threads + 31) / 32;
  n_done = n_arrived = 0;
  queue.clear();
  head = 0;
  for (Counter& c : counters) c.drawn = 0;
  {
    Unseen unseen;
    everybody = new Meeting;
    threads.resize(n * n_warps * 32);
    warps.assign(n * n_warps, Warp{});
    blocks.resize(n);
    for (Block& b : blocks) b.barrier = new Meeting;
  }
  for (unsigned k = 0; k < n; k++) {
    Block& b = blocks[k];
    b.id = {ids[k] % gridDim.x, ids[k] / gridDim.x % gridDim.y, ids[k] / (gridDim.x * gridDim.y)};
    b.threads = &threads[k * n_warps * 32];
    b.warps = &warps[k * n_warps];
    for (unsigned i = 0; i < n_threads; i++) {
      Thread& t = b.threads[i];
      t.block = &b;
      t.index = i;
      t.id = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
      t.fiber = &next_fiber(n * n_threads);
      make(*t.fiber, trampoline);
      rename(*t.fiber, i, b.id.x);
      b.warps[i / 32].live |= 1u << (i & 31);
      wake(t);
    }
  }
  release(&begin_token);
  enter(next_ready());
  switch_to(scheduler, *current->fiber);
  if (error.empty() && n_done < n * n_threads) error = deadlock();
  Unseen unseen;
  for (Block& b : blocks) {
    if (error.empty()) error = overrun(b);
    for (Shared& s : b.arrays) free(s.data);
    delete b.barrier;
  }
  blocks.clear();
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
  if (l.bound && n > l.bound)
    throw Failure{"a block of " + std::to_string(n) + " threads, where __launch_bounds__ allows " +
                  std::to_string(l.bound)};
  const unsigned* g = l.grid;
  if (!g[0] || !g[1] || !g[2] || g[0] >> 31 || g[1] >> 16 || g[2] >> 16)
    throw Failure{"a grid has 1 to 2**31 - 1 blocks along x and 1 to 65,535 along y and z"};
}

void run_grid(Launch& l) {
  check(l);
  gridDim = {l.grid[0], l.grid[1], l.grid[2]};
  blockDim = {l.block[0], l.block[1], l.block[2]};
  n_threads = l.block[0] * l.block[1] * l.block[2];
  std::vector<unsigned> order(l.grid[0] * l.grid[1] * l.grid[2]);
  for (size_t i = 0; i < order.size(); i++) order[i] = unsigned(i);
  for (size_t i = order.size(); l.seed && i > 1; i--) std::swap(order[i - 1], order[random_number() % i]);
  const unsigned at_once = l.cooperative ? unsigned(order.size()) : 1;
  for (size_t i = 0; i < order.size() && error.empty(); i += at_once) run_blocks(&order[i], at_once);
}

}  // namespace

// ------------------------------------------------------------------ what kernels call
void fail(const char* what, Site site) { stop(site, what); }
unsigned lane() { return current->index & 31; }
void probe(uint64_t n) { launch->probes += n; }

uint64_t meet(Op op, unsigned mask, uint64_t value, unsigned source, Site site) {
  Thread& me = *current;
  char* token = nullptr;
  {
    Unseen unseen;
    me.call = {op, mask, source, value, site};
    me.state = State::waiting;
    Meeting* order = op == Op::block  ? me.block->barrier
                     : op == Op::grid ? everybody
                     : op == Op::warp ? &meeting(me.block->warps[me.index / 32], mask)
                                      : nullptr;
    if (order) release(token = order->token());
    op == Op::block ? arrive_at_block(me) : op == Op::grid ? arrive_at_grid(me) : arrive_at_warp(me);
  }
  pause();
  if (token) acquire(token);
  return me.result;
}

void* shared(const char* key, size_t bytes) {
  Unseen unseen;
  if (!key) bytes = launch->dynamic_shared;
  size_t total = 0;
  std::vector<Shared>& arrays = current->block->arrays;
  for (const Shared& s : arrays) {
    if (s.key == key) return s.data;
    if (s.key) total += s.bytes;
  }
  if (key && total + bytes > kMaxStaticShared)
    throw Failure{text(*current->block) + ": " + std::to_string(total + bytes) +
                  " bytes of static shared memory, where a GPU has 49,152"};
  auto* data = static_cast<unsigned char*>(malloc(bytes + kFence + !(bytes + kFence)));
  memset(data, kPoison, bytes + kFence);
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
  if (launch->cooperative) return c->start + c->total - 1;
  return c->start + block + blocks * c->drawn++;
}

const char* run(Launch& l) {
  launch = &l;
  n_switches = 0;
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
  l.switches = n_switches;
  return error.empty() ? nullptr : error.c_str();
}

}  // namespace rtc_host
