"""Tasks of the CPU engine past 2**31 and 2**32 in-edges, in a layout that is made up.

Its arrays are sparse files: nothing is there but what is written or read.
"""

import numpy as np
import pytest

from rapids_tc.engines.cpu import counting, in_edges, listing, spans, visitors
from rapids_tc.preparation.csr import Csr

FAR = [2**31 - 3, 2**31, 2**32 - 3, 2**32, 2**33]


def sparse(folder, name, dtype, size):
    return np.asarray(np.memmap(folder / name, dtype, "w+", shape=(size,)))


@pytest.mark.parametrize("tasks", [1, 2, 7, 64, 512])
@pytest.mark.parametrize("each", [1, 3, 1000])
def test_tasks_are_cut_where_they_should_be(tasks, each):
    lists = [0, 5, 2**31 - 7, 2**33, 1, 0, 2**32 + 9]  # in-edges, each of as many probes
    in_offsets = np.concatenate([[0], np.cumsum(lists)])
    probes = np.array([each * size for size in lists])
    bounds = in_edges.cut_by_probes(probes, in_offsets, tasks)
    last = sum(lists)
    assert bounds.dtype == np.int64 and len(bounds) == tasks + 1
    assert (bounds[0], bounds[-1]) == (0, last)
    # In floating point a boundary is wrong by a few in-edges of so many.
    assert np.abs(bounds - np.linspace(0, last, tasks + 1)).max() < 16


@pytest.mark.parametrize("at", FAR)
def test_far_in_edges_are_walked(tmp_path, at):
    """Each of a few in-edges of vertex 2, far behind those without a walk, closes two triangles."""
    around = range(at - 2, at + 4)
    csr = Csr(np.array([0, 0, 1, 3, 6]), np.array([0, 0, 1, 0, 1, 2], np.uint32))
    in_edges = sparse(tmp_path, "in_edges", np.uint64, at + 9)
    in_edges[around.start : around.stop] = 3 << 32 | 2  # of u = 3, whose first two are walked
    in_offsets = np.array([0, 0, 0, at + 9, at + 9], np.int64)
    given = (csr.offsets, csr.columns, csr.offsets, csr.columns, in_offsets, in_edges)
    marks, places, none = np.zeros(8, np.uint8), np.zeros(8, np.int32), np.zeros(0, np.uint32)
    for first, last in ((at - 2, at + 4), (at - 1, at), (at, at + 2)):
        here, end = np.int64(first), np.int64(last)
        assert counting.total(*given, here, end, marks, none) == 2 * (last - first)
        of_uv = sparse(tmp_path, f"of_uv{first}", np.uint32, at + 9)
        uv_at = sparse(tmp_path, f"uv_at{first}", np.int64, at + 9)
        uv_at[around.start : around.stop] = around  # each is an edge of its own
        of_uw, of_vw = np.zeros(csr.m, np.uint32), np.zeros(csr.m, np.uint32)
        visitor = visitors.SpanEdgeCounts(spans.Always(), of_uv, of_uw, of_vw)
        counting.visit(*given, here, end, places, uv_at, visitor)
        assert of_uv[around.start : around.stop].sum() == 2 * (last - first)
        counted = [i for i in around if of_uv[i]]
        assert counted == list(range(first, last)) and set(of_uv[counted]) == {2}
        assert of_uw.tolist() == [0, 0, 0, last - first, last - first, 0]
        assert of_vw.tolist() == [0, last - first, last - first, 0, 0, 0]


@pytest.mark.parametrize("at", FAR[:3])
def test_far_triangles_are_listed(tmp_path, at):
    """As above, each in-edge before the last few without a triangle."""
    csr = Csr(np.array([0, 0, 1, 3, 6]), np.array([0, 0, 1, 0, 1, 2], np.uint32))
    in_edges = sparse(tmp_path, "in_edges", np.uint64, at + 9)
    starts = sparse(tmp_path, "starts", np.int64, at + 10)
    in_edges[at : at + 3] = 3 << 32 | 2
    starts[at : at + 10] = [0, 2, 4, *[6] * 7]
    in_offsets = np.array([0, 0, 0, at + 9, at + 9], np.int64)
    ranks, marks = np.zeros((3, 5), np.uint32), np.zeros(8, np.uint8)
    walked = (csr.offsets, csr.columns) * 2  # marked, and walked
    given = (*walked, in_offsets, in_edges, np.int64(at), np.int64(at + 3))
    listing.write(*given, marks, starts, 1, 6, ranks)
    assert ranks.T.tolist() == [[3, 2, 1], [3, 2, 0], [3, 2, 1], [3, 2, 0], [3, 2, 1]]
