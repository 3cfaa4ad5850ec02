// Threads enter ids into a hash table. An id that finds its slot taken must go on to the next one,
// unless the slot holds that very id; a slip in that case only shows when ids collide.
#include "device.cuh"

constexpr u32 kSlots = 128, kEmpty = 0xffffffffu;

template <bool kFault>
__global__ void colliding_ids(const u32* ids, u32* distinct) {
  RTC_SHARED(u32, table, kSlots);
  for (u32 i = threadIdx.x; i < kSlots; i += blockDim.x) table[i] = kEmpty;
  __syncthreads();
  const u32 id = ids[threadIdx.x];
  for (u32 slot = id % kSlots;; slot = (slot + 1) % kSlots) {
    const u32 there = atomicCAS(&table[slot], kEmpty, id);
    if (there == kEmpty) atomicAdd(distinct, 1u);
    if (there == kEmpty || there == id || kFault) break;
  }
}
