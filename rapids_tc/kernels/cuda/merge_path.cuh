// merge_path.cuh - the merge of two ascending lists, cut into equal parts (Green, McColl and Bader, "GPU
// merge path", ICS'12). A merge of lists of a and b ids has a + b steps. A part begins after a number of
// them, at the place that a binary search finds on the diagonal of all places after as many steps.
#pragma once
#include "device.cuh"

// Return how many of the first `steps` steps take an id of a, if equal ids are taken from a first.
__device__ __forceinline__ u32 diagonal(const u32* a, u32 n_a, const u32* b, u32 n_b, u32 steps) {
  u32 least = steps > n_b ? steps - n_b : 0, most = steps < n_a ? steps : n_a;
  while (least < most) {
    const u32 middle = (least + most) / 2;
    if (a[middle] <= b[steps - 1 - middle]) least = middle + 1;
    else most = middle;
  }
  return least;
}

// Count the common ids of two lists without repeats that part number `part` of `parts` equal parts of their
// merge finds. The step that takes a common id from a finds it, as b is at the same id then; so it does not
// matter which part takes it from b. A part ends when either list ends.
__device__ __forceinline__ u32 merge_part(const u32* a, u32 n_a, const u32* b, u32 n_b, u32 part, u32 parts) {
  const u32 each = (n_a + n_b + parts - 1) / parts;
  u32 step = part * each;
  if (step >= n_a + n_b) return 0;
  u32 i = diagonal(a, n_a, b, n_b, step), j = step - i, hits = 0;
  for (const u32 end = step + each; step < end && i < n_a && j < n_b; step++) {
    RTC_PROBE(1);
    const u32 x = a[i], y = b[j];
    hits += x == y;
    if (x <= y) i++;
    else j++;
  }
  return hits;
}
