// What a visitor makes of more hits than any graph of ours has: every lane's own, then a list's.
#include "visit.cuh"

__global__ void huge_hits(u32 hits, u32 times, u32 lanes, u64* out) {
  Total visit(out);
  for (u32 i = 0; i < times; i++) {
    if (lanes) visit.list(kNone, hits, lanes); else visit.edge(kNone, hits);
  }
  visit.finish();
}
