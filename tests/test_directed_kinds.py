"""Directed triangles: cycles and flows of arcs, with conditions for a row of each arc."""

from collections import Counter
from contextlib import nullcontext
from itertools import combinations, permutations, product
from math import prod

import numpy as np
import pandas as pd
import pytest
import reference
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from kind_support import ROWS, TYPES, frame_of, kinds, rows_of, ways

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.cli import main
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout


def directed_triangles(rows, where):
    """Every three arcs that are a triangle of the kind, by trying each choice of one row of each.

    Three arcs lead around if each corner is the source of one.
    """
    of_arc = {}
    for u, v, row in rows:
        of_arc.setdefault((u, v), []).append(row)
    if where.aggregate is not None:
        for name in ("type",) * (where.edge_type is not None) + ("sign",) * (
            where.sign is not None
        ):
            for arc, own in of_arc.items():
                valued = [(0, 1, row[name]) for row in own]
                [value] = reference.edge_values(valued, where.aggregate).values()
                of_arc[arc] = [{**row, name: value} for row in own]
    corners, found = sorted({v for row in rows for v in row[:2]}), []

    def fit(types):
        return any(all(want in (None, kind) for want, kind in zip(asked, types, strict=True))
                   for asked in permutations(where.types))  # fmt: skip

    def counts(triangle, three):
        times = [row["time"] for row in three]
        if where.within is not None and max(times) - min(times) > where.within:
            return False
        if where.vertex_type is not None and not fit([where.vertex_type[v] for v in triangle]):
            return False
        if where.edge_type is not None and not fit([row["type"] for row in three]):
            return False
        return where.sign is None or (prod(row["sign"] for row in three) > 0) == where.balanced

    for triangle in combinations(corners, 3):
        ways_of = [((a, b), (b, a)) for a, b in combinations(triangle, 2)]
        for arcs in product(*ways_of):
            around = len({source for source, _ in arcs}) == 3
            if around == (where.directed == "cycle") and all(arc in of_arc for arc in arcs):
                choices = product(*(of_arc[arc] for arc in arcs))
                found += [arcs] * any(counts(triangle, three) for three in choices)
    return found


def corners_of(arcs):
    return tuple(sorted({v for arc in arcs for v in arc}))


@st.composite
def directed_kinds(draw):
    """A way, and perhaps one, two or three further conditions."""
    given = {} if draw(st.integers(0, 3)) == 0 else draw(kinds())._given()
    return tc.Triangles(directed=draw(st.sampled_from(("cycle", "flow"))), **given)


@settings(max_examples=8, deadline=None)
@given(rows=ROWS, where=directed_kinds())
def test_a_directed_kind_is_its_definition(backend, rows, where):
    if where.aggregate == "sum":
        rows = [(u, v, {**row, "sign": 3 * row["sign"] + 1}) for u, v, row in rows][:4]
    triangles = directed_triangles(rows, where)
    at, of_arc = Counter(), Counter()
    for arcs in triangles:
        at.update(corners_of(arcs))
        of_arc.update(arcs)
    ends = sorted({v for row in rows for v in row[:2]})
    by_row = [of_arc[row[:2]] if row[0] != row[1] else 0 for row in rows]
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way:
            assert tc.count(edges, where=where) == len(triangles)
            found = rows_of(backend, tc.vertex_triangles(edges, where=where))
            assert found == [(v, at[v]) for v in ends]
            listed = rows_of(backend, tc.list_triangles(edges, where=where))
            assert listed == sorted({*map(corners_of, triangles)})
            if not isinstance(edges, PartitionedFrame):
                column = tc.edge_triangles(edges, where=where)
                assert backend.to_pandas(column).tolist() == by_row
            added = tc.annotate(edges, "triangles", where=where)
            assert [row[-1] for row in rows_of(backend, added)] == by_row


OF_TYPES = {"edge_type": "type", "types": ("a", "b", "b")}
KINDS = [
    {}, {"time": "time", "within": 4}, OF_TYPES, {"sign": "sign", "balanced": False},
    {"vertex_type": TYPES, "types": ("a", None, "b")}, {"time": "time", "within": 4} | OF_TYPES,
    {"vertex_type": TYPES, "types": ("a", None, "b"), "sign": "sign", "balanced": True},
    {"sign": "sign", "balanced": False, "aggregate": "last"},
]  # fmt: skip


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    ("way", "engine", "layout"),
    [
        ("cycle", "cpu", None), ("cycle", "cpu", 2), ("cycle", "cuda", 3),
        ("flow", "cpu", 3), ("flow", "cuda", None), ("flow", "cuda", 2),
    ],
)  # fmt: skip
def test_arcs_of_many_rows(way, engine, layout):
    """About two of each arc, so that arcs have several intervals, and codes."""
    random = np.random.default_rng(0)
    ends, times = random.integers(0, 8, (2, 160)).tolist(), random.integers(0, 30, 160).tolist()
    types, signs = random.choice([*"abc"], 160).tolist(), random.choice([-1, 1], 160).tolist()
    rows = [
        (u, v, {"time": t, "type": kind, "sign": sign})
        for u, v, t, kind, sign in zip(*ends, times, types, signs, strict=True)
    ]
    for given_kind in KINDS:
        where = tc.Triangles(directed=way, **given_kind)
        triangles = directed_triangles(rows, where)
        of_arc = Counter(arc for arcs in triangles for arc in arcs)
        with testing.host_engine(), use_layout(BlockLayout(layout)) if layout else nullcontext():
            found = tc.edge_triangles(frame_of(rows), where=where, engine=engine)
            listed = tc.list_triangles(frame_of(rows), where=where, engine=engine)
        assert triangles
        assert found.tolist() == [of_arc[row[:2]] if row[0] != row[1] else 0 for row in rows]
        assert [*listed.itertuples(index=False, name=None)] == sorted({*map(corners_of, triangles)})


def test_three_sides_both_ways(backend):
    """Two cycles and six flows; each arc is in one cycle and three flows."""
    both = [*permutations(range(3), 2)]
    edges = backend.frame(pd.DataFrame(both, columns=["src", "dst"]))
    for way, count, of_arc in (("cycle", 2, 1), ("flow", 6, 3)):
        where = tc.Triangles(directed=way)
        assert tc.count(edges, where=where) == count
        assert backend.to_pandas(tc.edge_triangles(edges, where=where)).tolist() == [of_arc] * 6
        assert len(tc.list_triangles(edges, where=where)) == 1


def test_groups_have_their_own_directed_triangles(backend):
    rows = [(day, u, v) for day in (1, 2) for u, v in ((0, 1), (1, 2), (2, 0)[:: day * 2 - 3 or 1])]
    frame = pd.DataFrame(rows, columns=["day", "src", "dst"])
    ids = {"by": "day", "source": "src", "destination": "dst"}
    for way, right in (("cycle", [0, 1]), ("flow", [1, 0])):
        found = tc.count(backend.frame(frame), where=tc.Triangles(directed=way), **ids)
        counts = backend.to_pandas(found)["triangles"].tolist()
        assert sorted(counts) == [0, 1] and counts in (right, right[::-1])


def test_more_directed_triangles_than_32_bits_hold_at_one_arc(backend):
    """A book whose spine is both ways: sums are of 64 bits, and add up at the spine."""
    pages = np.arange(2, 3_002)
    ends = [np.zeros_like(pages), np.ones_like(pages)]
    frame = pd.DataFrame({"src": np.append(ends, [0, 1]), "dst": np.append([pages, pages], [1, 0])})
    edges = backend.frame(frame)
    by_row = backend.to_pandas(tc.edge_triangles(edges, where=tc.Triangles(directed="flow")))
    assert by_row.dtype == "int64" and by_row.iloc[-2:].tolist() == [3_000, 3_000]
    assert tc.count(edges, where=tc.Triangles(directed="cycle")) == 0


def test_an_error_names_the_arc():
    frame = pd.DataFrame({"src": [0, 1, 1, 2], "dst": [1, 0, 2, 0], "sign": [1, 0, 1, 1]})
    for more in ({}, {"aggregate": "first"}):
        where = tc.Triangles(directed="cycle", sign="sign", balanced=True, **more)
        with pytest.raises(ValueError, match="the value of the edge 1 -> 0 is 0"):
            tc.count(frame, where=where)


def test_where_directions_have_no_meaning_they_are_refused():
    frame, where = pd.DataFrame({"src": [0], "dst": [1]}), tc.Triangles(directed="flow")
    for call in (
        tc.clustering, tc.average_clustering, tc.transitivity,
        lambda edges, **own: tc.annotate_vertices(edges, "clustering", **own),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="directed triangles are counted by count, vertex_tri"):
            call(frame, where=where)
    found = tc.annotate_vertices(frame, "triangles", "degree", where=where)
    assert found["triangles"].tolist() == [0, 0]
    with pytest.raises(ValueError, match='directed=\'loop\'; accepted: "cycle", "flow", None'):
        tc.Triangles(directed="loop")
    with pytest.raises(ValueError, match="aggregate='first' settles types and signs"):
        tc.Triangles(directed="cycle", aggregate="first")


@pytest.mark.cpu_only
def test_directed_triangles_on_the_command_line(tmp_path):
    frame = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 1]})
    frame.to_csv(path := tmp_path / "edges.csv", index=False)
    for way, count in (("cycle", "1"), ("flow", "1")):
        done = CliRunner().invoke(main, ["count", str(path), "--directed", way])
        assert done.stdout.strip() == count
