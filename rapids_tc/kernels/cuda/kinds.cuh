// kinds.cuh - which triangles are of a kind, by their sides: visitors and peels are compiled for one of these
// structs, or for one of spans.cuh. Sides may have codes: sets of what the rows of an edge offer, of which a table
// says whether three go together.
#pragma once
#include "spans.cuh"

// All of them.
struct AnyTriangle {
  __device__ bool meet(u32, u32, u32) const { return true; }
};

// Bit uv << uv_shift | (uw & uw_mask) << uw_shift | vw & vw_mask says whether three codes go together: see
// preparation/code_tables.py.
struct CodeTable {
  const u32* bits;
  u32 uv_shift, uw_shift, uw_mask, vw_mask;

  __device__ bool allows(u32 uv, u32 uw, u32 vw) const {
    const u32 place = uv << uv_shift | (uw & uw_mask) << uw_shift | (vw & vw_mask);
    return bits[place / 32] >> place % 32 & 1;
  }
};

// A code of every edge.
struct Codes {
  const u8* codes;
  CodeTable table;

  __device__ bool meet(u32 uv, u32 uw, u32 vw) const { return table.allows(codes[uv], codes[uw], codes[vw]); }
};

// Intervals of every edge, each with its code.
struct CodedIntervals {
  SpanIntervals spans;
  const u8* codes;
  CodeTable table;

  __device__ bool meet(u32 uv, u32 uw, u32 vw) const {
    return u32(spans.common(uv, uw, vw)) && spans.walk_at(uv, uw, vw, [&](i64 a, i64 b, i64 c, u32, u32) {
      return table.allows(codes[a], codes[b], codes[c]);
    });
  }
};
