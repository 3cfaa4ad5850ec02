// merge_path.cuh - the merge of two ascending lists cut into equal parts (Green, McColl and Bader, "GPU
// merge path", ICS'12): of the a + b steps of a merge, a part starts after a given number of them,
// where it is found by binary search on the diagonal of all places that are so many steps in.
#pragma once
#include "device.cuh"

// How many of the first `steps` steps go along a, where equal ids are taken from a first.
__device__ __forceinline__ u32 diagonal(const u32* a, u32 n_a, const u32* b, u32 n_b, u32 steps) {
  u32 least = steps > n_b ? steps - n_b : 0, most = steps < n_a ? steps : n_a;
  while (least < most) {
    const u32 middle = (least + most) / 2;
    if (a[middle] <= b[steps - 1 - middle]) least = middle + 1; else most = middle;
  }
  return least;
}

// The common ids of two lists without repeats that are found by the part-th of `parts` equal parts of
// their merge. A common id is found by the step that takes it from a, where b stands at it: so it does
// not matter which part takes it from b. A part ends with either list, so past that there are no steps.
__device__ __forceinline__ u32 merge_part(const u32* a, u32 n_a, const u32* b, u32 n_b, u32 part, u32 parts) {
  const u32 each = (n_a + n_b + parts - 1) / parts;
  u32 step = part * each;
  if (step >= n_a + n_b) return 0;
  u32 i = diagonal(a, n_a, b, n_b, step), j = step - i, hits = 0;
  for (const u32 end = step + each; step < end && i < n_a && j < n_b; step++) {
    RTC_PROBE(1);
    const u32 x = a[i], y = b[j];
    hits += x == y;
    if (x <= y) i++; else j++;
  }
  return hits;
}
