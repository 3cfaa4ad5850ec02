// join.cu - edges joined to their ends, a thread per edge: components of edges, level by level.
#include "join.cuh"

constexpr u64 kOfEnds = (1u << 24) - 1;  // the level of ends, which are nodes m + rank: above all others

// Written: the words and the hints of all m + n nodes, zeros before; an edge of level 0 is absent.
extern "C" __global__ void __launch_bounds__(kThreads)
join_ends(const u32* rows, const u32* columns, const u32* levels, u64 m, u64* parents, u64* hints) {
  const u64 edge = element();
  if (edge >= m || levels[edge] == 0) return;
  join(Forest{parents, hints}, m + rows[edge], kOfEnds, edge, levels[edge]);
  join(Forest{parents, hints}, m + columns[edge], kOfEnds, edge, levels[edge]);
}
