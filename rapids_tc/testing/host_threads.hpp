// host_threads.hpp - the threads of the blocks that run at once, and how they wait for each other; a part
// of host_runtime.cpp.
//
// A thread runs until it meets a collective or returns, then hands over to the next thread that is
// ready. Ready threads queue in order; with a seed the next is drawn at random, so that a warp may run
// far ahead of another, which shows a missing barrier without a sanitizer.
#pragma once
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "host_fibers.hpp"
#include "host_runtime.hpp"

namespace rtc_host {
namespace {

enum class State : unsigned char { ready, waiting, done };

// The collective that a thread waits in.
struct Call {
  Op op;
  unsigned mask, source;
  uint64_t value;
  Site site;

  bool operator==(const Call& c) const {
    return op == c.op && mask == c.mask && site.line == c.site.line &&
           (site.file == c.site.file || !strcmp(site.file, c.site.file));
  }
};

struct Block;
struct Thread {
  Block* block;
  Fiber* fiber;
  uint3 id;
  unsigned index;
  State state;
  Call call;
  uint64_t result;
};

struct Warp {
  unsigned live, waiting;       // lanes
  std::deque<Meeting> meetings;  // one per mask; a deque, so that tokens keep their addresses
};

struct Shared {
  const char* key;
  size_t bytes;
  unsigned char* data;
};

struct Block {
  uint3 id;
  Thread* threads;
  Warp* warps;
  unsigned n_done = 0, n_arrived = 0;
  Thread* first = nullptr;    // that arrived at the barrier
  Meeting* barrier = nullptr;
  std::vector<Shared> arrays;
};

Launch* launch;
std::vector<Thread> threads;  // of each block, those of a last warp that it does not have among them
std::vector<Warp> warps;
std::deque<Block> blocks;     // that run at once
std::vector<Thread*> queue;
size_t head;  // of the queue
Thread* current;
Meeting* everybody;           // at the barrier of the grid
Thread* first_at_grid;        // that arrived there
unsigned n_threads;           // of a block
unsigned n_done, n_arrived;   // of all that run at once, and at the barrier of the grid
uint64_t random_state;

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

// Let a thread, or the scheduler if it is null, be the current one.
void enter(Thread* t) {
  current = t;
  if (!t) return;
  threadIdx = t->id;
  blockIdx = t->block->id;
}

// Leave the processor to the next thread that is ready, or to the scheduler if there is none.
void pause(bool dying = false) {
  Thread& me = *current;
  Thread* next = next_ready();
  if (next != &me) {
    enter(next);
    switch_to(*me.fiber, next ? *next->fiber : scheduler, dying);
  }
}

// ------------------------------------------------------------------ messages
const char* name(Op op) {
  static const char* names[] = {
      "__syncthreads",     "RTC_GRID_BARRIER",  "__syncwarp",       "__ballot_sync",     "__any_sync",
      "__all_sync",        "__shfl_sync",       "__match_any_sync", "__reduce_add_sync", "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"};
  return names[int(op)];
}
std::string text(Site s) { return std::string(s.file) + ":" + std::to_string(s.line); }
std::string text(const Call& c) { return std::string(name(c.op)) + " at " + text(c.site); }
std::string text(const Thread& t) { return "thread " + std::to_string(t.index); }
std::string text(const Block& b) { return "block " + std::to_string(b.id.x); }
[[noreturn]] void stop(Site at, const std::string& what) {
  throw Failure{text(at) + ": " + text(*current->block) + ", " + text(*current) + ": " + what};
}

// ------------------------------------------------------------------ collectives
uint64_t outcome(Op op, const Thread* warp, unsigned here) {
  uint64_t all = op == Op::min || op == Op::bit_and ? ~0ull : 0;
  for (unsigned j = 0; j < 32; j++) {
    if (!(here >> j & 1)) continue;
    const uint64_t v = warp[j].call.value;
    switch (op) {
      case Op::ballot:
      case Op::any:
      case Op::all: all |= v << j; break;
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

// Complete the collective that lane `lane` waits in, if every live lane of its mask waits in it.
void settle(Warp& warp, Thread* lanes, unsigned lane) {
  const Call& mine = lanes[lane].call;
  const unsigned here = mine.mask & warp.live;
  if (here & ~warp.waiting) return;
  for (unsigned rest = here; rest; rest &= rest - 1) {
    const unsigned j = __builtin_ctz(rest);
    if (lanes[j].call == mine) continue;
    if (!(lanes[j].call.mask >> lane & 1)) return;  // it comes once its own collective is complete
    stop(mine.site, "lane " + std::to_string(lane) + " is in " + text(mine) + " and lane " +
                        std::to_string(j) + " in " + text(lanes[j].call) + ": their masks name each other");
  }
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

// Open the block's barrier if every thread waits in it.
void settle_block(Block& b, Site site) {
  if (!b.n_arrived || b.n_arrived + b.n_done < n_threads) return;
  if (b.n_done) stop(site, std::to_string(b.n_done) + " thread(s) returned without this __syncthreads");
  b.n_arrived = 0;
  b.barrier->held++;
  for (unsigned i = 0; i < n_threads; i++) wake(b.threads[i]);
}

// The same of the grid's.
void settle_grid(Site site) {
  if (!n_arrived || n_arrived + n_done < n_threads * blocks.size()) return;
  if (n_done) stop(site, std::to_string(n_done) + " thread(s) returned without this barrier of the grid");
  n_arrived = 0;
  everybody->held++;
  for (Block& b : blocks)
    for (unsigned i = 0; i < n_threads; i++) wake(b.threads[i]);
}

// Stop if the first thread of those that wait in a barrier is in another one.
void check_divergence(const Thread& first, const Thread& me) {
  if (!(first.call == me.call))
    stop(me.call.site, std::string("divergent ") + name(me.call.op) + ": " + text(first) + " waits at " +
                           text(first.call.site));
}

void arrive_at_block(Thread& me) {
  Block& b = *me.block;
  if (b.n_arrived++ == 0) b.first = &me;
  check_divergence(*b.first, me);
  settle_block(b, me.call.site);
}

void arrive_at_grid(Thread& me) {
  if (!launch->cooperative && launch->grid[0] * launch->grid[1] * launch->grid[2] > 1)
    stop(me.call.site, "a barrier of the grid in a launch that is not cooperative");
  if (n_arrived++ == 0) first_at_grid = &me;
  check_divergence(*first_at_grid, me);
  settle_grid(me.call.site);
}

void arrive_at_warp(Thread& me) {
  const unsigned lane = me.index & 31;
  if (!(me.call.mask >> lane & 1))
    stop(me.call.site,
         std::string(name(me.call.op)) + ": lane " + std::to_string(lane) + " is not in its own mask");
  Warp& warp = me.block->warps[me.index / 32];
  warp.waiting |= 1u << lane;
  settle(warp, &me - lane, lane);
}

void leave(Thread& me) {  // other threads' collectives may be complete without this thread
  Unseen unseen;
  Block& b = *me.block;
  me.state = State::done;
  n_done++;
  b.n_done++;
  const unsigned lane = me.index & 31;
  Warp& warp = b.warps[me.index / 32];
  warp.live &= ~(1u << lane);
  for (unsigned j = 0; j < 32; j++)
    if (warp.waiting >> j & 1 && (&me - lane)[j].call.mask >> lane & 1) settle(warp, &me - lane, j);
  for (unsigned i = 0; b.n_arrived && i < n_threads; i++)
    if (b.threads[i].state == State::waiting && b.threads[i].call.op == Op::block)
      return settle_block(b, b.threads[i].call.site);
  for (const Block& other : blocks)
    for (unsigned i = 0; n_arrived && i < n_threads; i++)
      if (other.threads[i].state == State::waiting && other.threads[i].call.op == Op::grid)
        return settle_grid(other.threads[i].call.site);
}

}  // namespace
}  // namespace rtc_host
