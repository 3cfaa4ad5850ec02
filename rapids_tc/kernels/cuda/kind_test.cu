// kind_test.cu - which of some triangles that were listed are of a kind, by the test that counts them.
#include "device.cuh"
#include "kinds.cuh"
#include "windows.cuh"

// RTC_KIND is what SpanEdgeCounts of windows.cuh takes as spans.
struct KindTest {
  bool* hits;  // of each triangle
  RTC_KIND kind;
};

// The sides of each triangle are positions in uv, uw and vw. What the kind knows of edges is in one array for all
// three, if these are blocks: that of uw begins at at_uw, and that of vw at at_vw. Of arcs, those up are `edges` behind
// those down, and any of the choices will do: see ArcCounts of windows.cuh.
extern "C" __global__ void __launch_bounds__(kThreads)
test_kind(const i64* uv, const i64* uw, const i64* vw, u64 triangles, u32 at_uw, u32 at_vw, u32 choices,
          u32 edges, KindTest test) {
  const u64 i = element();
  if (i >= triangles) return;
  const u32 of_uv = u32(uv[i]), of_uw = u32(uw[i]) + at_uw, of_vw = u32(vw[i]) + at_vw;
  test.hits[i] = any_choice(choices, edges, of_uv, of_uw, of_vw,
                            [&](u32 a, u32 b, u32 c) { return test.kind.meet(a, b, c); });
}
