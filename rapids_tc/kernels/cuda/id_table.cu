// id_table.cu - the ranks of integer ids, which are looked up in a hash table, or number themselves; and the numbers
// of ids that come in any order.
//
// A place of the table has the number of an id, or kNone. From the place that an id is hashed to, places are
// tried in turn up to one that is free; at least half of them are. Ids are words of 64 bits, by number.
#include "device.cuh"

// The first place to try, of 1 << bits: the high bits of a product mix all bits of the id.
__device__ __forceinline__ u32 place_of(u64 id, u32 bits) {
  return u32((id ^ id >> 32) * 0x9E3779B97F4A7C15ull >> (64 - bits));
}

// Write n numbers, or without `numbers` those below n, to a table of kNone. No two have the same id.
extern "C" __global__ void __launch_bounds__(kThreads)
fill_table(const u64* ids, const u32* numbers, u64 n, u32* table, u32 bits) {
  const u64 i = element();
  if (i >= n) return;
  const u32 number = numbers ? numbers[i] : u32(i);
  u32 place = place_of(ids[number], bits);
  while (atomicCAS(table + place, kNone, number) != kNone) place = (place + 1) & ((1u << bits) - 1);
}

// Write the rank of each word, and kNone where it is no id. Without a table, id `base` + i has the number i,
// below size; with one, the ids are in it.
extern "C" __global__ void __launch_bounds__(kThreads)
find_ranks(const u64* words, u64 n_words, u64 base, u64 size, const u64* ids, const u32* table, u32 bits,
           const u32* rank, u32* ranks) {
  const u64 i = element();
  if (i >= n_words) return;
  const u64 word = words[i];
  u32 number = word - base < size ? u32(word - base) : kNone;
  if (bits) {
    u32 place = place_of(word, bits);
    while ((number = table[place]) != kNone && ids[number] != word) place = (place + 1) & ((1u << bits) - 1);
  }
  ranks[i] = number == kNone ? kNone : rank[number];
}

// Write the numbers of n words, which stand behind the `first` ids, too. A word that is no id yet becomes one: its
// number is one of its own places, whichever thread comes first.
extern "C" __global__ void __launch_bounds__(kThreads)
number_ids(const u64* ids, u64 first, u64 n, u32* table, u32 bits, u32* numbers) {
  const u64 i = element();
  if (i >= n) return;
  const u64 word = ids[first + i];
  u32 place = place_of(word, bits), number;
  while ((number = atomicCAS(table + place, kNone, u32(first + i))) != kNone && ids[number] != word)
    place = (place + 1) & ((1u << bits) - 1);
  numbers[i] = number == kNone ? u32(first + i) : number;
}
