// join.cuh - sets of nodes that are joined level by level: engines/protocol.py says what a word is.
//
// All threads join at once, in any order. A step takes one edge of the forest away by a compare-and-swap,
// and adds another such that, with the joins that are not done yet, the sets of all levels stay the same.
// So the sets do not depend on the order; which node of a set is the parent of others does.
#pragma once
#include "device.cuh"

constexpr u32 kLevelAt = 40;                 // the lowest bit of a level in a word
constexpr u64 kNode = 0xffffffffff;          // the bits below it

// A node, its level, and its word.
struct Joined { u64 node, level, word; };

__device__ __forceinline__ u64 level_of(u64 word) { return word >> kLevelAt; }

// The last node above x whose level is not below least.
__device__ __forceinline__ Joined climb(u64* parents, u64 x, u64 level, u64 least) {
  u64 word = RTC_PEEK(parents + x);
  while (level_of(word) >= least) {
    const u64 above = word & kNode, next = RTC_PEEK(parents + above);
    if (level_of(next) == level_of(word)) atomicCAS(parents + x, word, next);  // halves paths within a level
    x = above;
    level = level_of(word);
    word = next;
  }
  return Joined{x, level, word};
}

// Join two nodes at the lower of their levels, which is y's, and at all levels below.
__device__ __forceinline__ void join(u64* parents, u64 x, u64 x_level, u64 y, u64 y_level) {
  for (;;) {
    Joined a = climb(parents, x, x_level, y_level), b = climb(parents, y, y_level, y_level);
    if (a.node == b.node) return;
    if (a.level == b.level && a.node < b.node) {
      const Joined c = a;
      a = b;
      b = c;
    }
    x = a.node;
    x_level = a.level;
    y = b.node;
    if (atomicCAS(parents + x, a.word, y_level << kLevelAt | y) != a.word) continue;
    if (a.word == 0) return;
    x = y;  // and still to be joined to the old parent
    x_level = y_level;
    y = a.word & kNode;
    y_level = level_of(a.word);
  }
}
