"""Triangles of a kind, listed."""

from contextlib import nullcontext

import pandas as pd
import pytest
import reference
from graphs import complete
from hypothesis import given, settings
from hypothesis import strategies as st
from kind_support import ROWS, by_definition, frame_of, kinds, rows_of, ways

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.blocks import kept_triangles
from rapids_tc.plan import costs
from rapids_tc.plan.block_layout import BlockLayout, use_layout


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, where=kinds(), data=st.data())
def test_only_triangles_of_the_kind_are_listed(backend, rows, where, data):
    if where.aggregate == "sum":
        rows = [(u, v, {**row, "sign": 3 * row["sign"] + 1}) for u, v, row in rows][:4]
    triangles = by_definition(rows, where)
    ends = sorted({v for row in rows for v in row[:2]})
    some = data.draw(st.lists(st.sampled_from(ends))) if ends else []
    at_some = reference.list_triangles_of(triangles, rows, among=some)
    size = data.draw(st.integers(1, 5))
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way:
            found = rows_of(backend, tc.list_triangles(edges, where=where))
            assert found == triangles
            found = tc.list_triangles(edges, where=where, vertices=some, max_rows=len(at_some))
            assert rows_of(backend, found) == at_some
            frames = [
                rows_of(backend, f) for f in tc.iter_triangles(edges, where=where, max_rows=size)
            ]
            assert [len(frame) for frame in frames[:-1]] == [size] * (len(frames) - 1)
            assert sorted(row for frame in frames for row in frame) == triangles
            frames = tc.iter_triangles(edges, where=where, max_rows=size, vertices=some)
            assert sorted(row for frame in frames for row in rows_of(backend, frame)) == at_some


@pytest.mark.parametrize("batch", [1, 2, 7, 100])
def test_triangles_are_tested_batch_by_batch(backend, batch, monkeypatch):
    """K9: its in-edges have up to seven triangles, of which some are kept."""
    monkeypatch.setattr(kept_triangles, "BATCH", batch)
    frame = complete(9).frame()
    frame["sign"] = [(-1) ** (u * v % 3) for u, v in frame.itertuples(index=False)]
    rows = [(u, v, {"sign": sign}) for u, v, sign in frame.itertuples(index=False)]
    where = tc.Triangles(sign="sign", balanced=False)
    triangles = by_definition(rows, where)
    assert 9 < len(triangles) < 75
    for edges, way in ways(backend.frame(frame)):
        with way:
            assert rows_of(backend, tc.list_triangles(edges, where=where)) == triangles
            frames = tc.iter_triangles(edges, where=where, max_rows=4)
            found = [rows_of(backend, frame) for frame in frames]
            assert {len(part) for part in found[:-1]} == {4}
            assert sorted(row for part in found for row in part) == triangles


SIGNED = complete(6).frame().assign(sign=1)
PLUS = tc.Triangles(sign="sign", balanced=True)


def test_the_most_rows_are_of_the_kind(backend):
    """Twenty triangles, of which the ten at vertex 0 have an edge of minus."""
    frame = SIGNED.assign(sign=[-1 if 0 in ends else 1 for ends in complete(6).rows])
    frame.loc[0, "sign"] = 1  # balanced with the four others at 0 but for this edge
    rows = [(u, v, {"sign": sign}) for u, v, sign in frame.itertuples(index=False)]
    triangles = by_definition(rows, PLUS)
    for edges, way in ways(backend.frame(frame)):
        with way:
            found = tc.list_triangles(edges, where=PLUS, max_rows=len(triangles))
            assert rows_of(backend, found) == triangles
            with pytest.raises(tc.CapacityError, match=f"the graph has {len(triangles)} triangles"):
                tc.list_triangles(edges, where=PLUS, max_rows=len(triangles) - 1)


def test_groups_have_their_own_triangles_of_the_kind(backend):
    days = [SIGNED.assign(day=1), complete(4).frame().assign(sign=1, day=2)]
    days[1].loc[0, "sign"] = -1
    frame, by = pd.concat(days, ignore_index=True), {"by": "day"}
    for edges, way in ways(backend.frame(frame)):
        if isinstance(edges, tc.Graph):
            edges = tc.Graph(backend.frame(frame), source="src", destination="dst", **by)
            given = {"where": PLUS}
        else:
            given = {"where": PLUS, "source": "src", "destination": "dst", **by}
        with way:
            found = rows_of(backend, tc.list_triangles(edges, max_rows=20, **given))
            assert [row for row in found if row[0] == 2] == [(2, 0, 2, 3), (2, 1, 2, 3)]
            assert len(found) == 22
            with pytest.raises(tc.CapacityError, match="the group 'day': 1 has 20 triangles"):
                tc.list_triangles(edges, max_rows=19, **given)
            at_some = rows_of(backend, tc.list_triangles(edges, max_rows=10, vertices=[0], **given))
            assert at_some[-1] == (2, 0, 2, 3) and len(at_some) == 11
            with pytest.raises(tc.CapacityError, match="the group 'day': 1 has 10 triangles"):
                tc.list_triangles(edges, max_rows=9, vertices=[0], **given)


def test_values_are_read_at_the_call(backend):
    frame = SIGNED.copy()
    edges = backend.frame(frame)
    frames = tc.iter_triangles(edges, where=PLUS, max_rows=5)
    edges["sign"] = -1
    assert sum(len(part) for part in frames) == 20


def test_what_memory_cannot_hold_is_refused(backend):
    frame = complete(60).frame().assign(sign=1)
    graph = tc.Graph(backend.frame(frame))
    assert len(tc.list_triangles(graph, where=PLUS)) == 34_220
    with pytest.raises(
        tc.CapacityError, match=f"34,220 triangles takes about {costs.LISTED * 34_220:,}"
    ):
        tc.list_triangles(graph, where=PLUS, memory_limit=10**6)
    frames = tc.iter_triangles(graph, where=PLUS, max_rows=1000, memory_limit=10**6)
    assert len(next(frames)) == 1000


def test_kinds_and_errors_of_a_listing():
    for call in (
        tc.list_triangles,
        lambda edges, **given: tc.iter_triangles(edges, max_rows=2, **given),
    ):
        with pytest.raises(ValueError, match="where= is a str; give a kind of triangles"):
            call(SIGNED, where="sign")
        with pytest.raises(tc.ColumnNotFoundError, match="sign='other'"):
            call(SIGNED, where=tc.Triangles(sign="other", balanced=True))
        with pytest.raises(ValueError, match=r"vertices=.* 7"):
            call(SIGNED, where=PLUS, vertices=[7])


@pytest.mark.cpu_only
@pytest.mark.parametrize("layout", [None, BlockLayout(2), BlockLayout(3)])
@pytest.mark.parametrize("engine", ["cpu", "cuda"])
@pytest.mark.parametrize("within", [5, None])
def test_edges_of_many_rows(engine, layout, within):
    """Each edge has about three, so that a kind has intervals, and codes of these or of edges."""
    rows = [
        (u, v, {"time": (7 * u + 5 * v + 11 * i) % 30, "type": "abc"[(u + v + i) % 3], "sign": 1})
        for i in range(4) for u in range(8) for v in range(u) if (u * v + i) % 4
    ]  # fmt: skip
    times = {} if within is None else {"time": "time", "within": within}
    where = tc.Triangles(**times, edge_type="type", types=("a", "a", "b"))
    triangles = by_definition(rows, where)
    assert 3 < len(triangles) < 56
    with testing.host_engine(), use_layout(layout) if layout else nullcontext():
        found = tc.list_triangles(frame_of(rows), where=where, engine=engine)
    assert [*found.itertuples(index=False, name=None)] == triangles
