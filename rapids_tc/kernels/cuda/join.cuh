// join.cuh - sets of nodes that are joined level by level: engines/protocol.py says what a word is.
//
// All threads join at once, in any order. A step takes one edge of the forest away by a compare-and-swap,
// and adds another such that, with the joins that are not done yet, the sets of all levels stay the same.
// So the sets do not depend on the order; which node of a set is the parent of others does.
#pragma once
#include "device.cuh"

constexpr u32 kLevelAt = 40;                 // the lowest bit of a level in a word
constexpr u64 kNode = 0xffffffffff;          // the bits below it
constexpr u32 kPlainSteps = 8;               // of a climb before it reads hints: few take more

// A node, its level, and its word.
struct Joined { u64 node, level, word; };

// The words of all nodes, and their hints, which are zero at first.
struct Forest { u64 *parents, *hints; };

__device__ __forceinline__ u64 level_of(u64 word) { return word >> kLevelAt; }

// The hint of x if it keeps to the levels from least on, else x's own word. The hint of a node is a word of any
// node that was above it: the two are in one set at the level of the word. As sets only grow, this stays true,
// whichever thread writes last, and it leads to a lower level or a smaller node, as words do, so that climbs end.
// A leap sets the hint one leap further: later climbs pass over the same chain of levels in few.
__device__ __forceinline__ u64 leap(const Forest& forest, u64 x, u64 word, u64 least) {
  const u64 hint = RTC_PEEK(forest.hints + x);
  if (level_of(hint) >= least) word = hint;
  u64 further = RTC_PEEK(forest.hints + (word & kNode));
  if (level_of(further) < least) further = RTC_PEEK(forest.parents + (word & kNode));
  if (level_of(further) >= least && further != hint) atomicExch(forest.hints + x, further);
  return word;
}

// The last node above x whose level is not below least.
__device__ __forceinline__ Joined climb(const Forest& forest, u64 x, u64 level, u64 least) {
  u64 word = RTC_PEEK(forest.parents + x);
  for (u32 steps = 0; level_of(word) >= least; steps++) {
    if (steps >= kPlainSteps) word = leap(forest, x, word, least);
    const u64 above = word & kNode, next = RTC_PEEK(forest.parents + above);
    if (level_of(next) == level_of(word)) atomicCAS(forest.parents + x, word, next);  // halves it in a level
    x = above;
    level = level_of(word);
    word = next;
  }
  return Joined{x, level, word};
}

// Join two nodes at the lower of their levels, which is y's, and at all levels below.
__device__ __forceinline__ void join(const Forest& forest, u64 x, u64 x_level, u64 y, u64 y_level) {
  for (;;) {
    Joined a = climb(forest, x, x_level, y_level), b = climb(forest, y, y_level, y_level);
    if (a.node == b.node) return;
    if (a.level == b.level && a.node < b.node) {
      const Joined c = a;
      a = b;
      b = c;
    }
    x = a.node;
    x_level = a.level;
    y = b.node;
    if (atomicCAS(forest.parents + x, a.word, y_level << kLevelAt | y) != a.word) continue;
    if (a.word == 0) return;
    x = y;  // and still to be joined to the old parent
    x_level = y_level;
    y = a.word & kNode;
    y_level = level_of(a.word);
  }
}
