"""Triangles of a kind: by times, types and signs together, for one choice of a row of each edge."""

import pickle
from contextlib import nullcontext
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
import reference
from graphs import complete
from hypothesis import given, settings
from hypothesis import strategies as st
from kind_support import OF_EDGES, ROWS, SIGNS, TIMES, TYPES, by_definition, frame_of, kinds, ways

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.frames.backend import open_frame
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.preparation import intervals
from rapids_tc.preparation.code_tables import code_table


@settings(max_examples=15, deadline=None)
@given(rows=ROWS, where=kinds())
def test_a_kind_is_its_definition(backend, rows, where):
    if where.aggregate == "sum":
        rows = [(u, v, {**row, "sign": 3 * row["sign"] + 1}) for u, v, row in rows]  # -5 and 4
        rows = rows[:4]  # which never add up to 0
    plain, triangles = [row[:2] for row in rows], by_definition(rows, where)
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way:
            assert tc.count(edges, where=where) == len(triangles)
            by_vertex = tc.vertex_triangles(edges, where=where)
            whole = not isinstance(edges, PartitionedFrame)
            column = tc.edge_triangles(edges, where=where) if whole else None
        if not whole:
            by_vertex = by_vertex.partitions[0]
        found = dict(backend.to_pandas(by_vertex).itertuples(index=False, name=None))
        assert found == reference.vertex_triangles_of(triangles, plain)
        if whole:
            by_edge = reference.edge_triangles_of(triangles, plain)
            assert backend.to_pandas(column).tolist() == reference.by_row(plain, by_edge)


@settings(max_examples=6, deadline=None)
@given(rows=ROWS, where=kinds())
def test_shares_of_a_kind_are_their_definitions(backend, rows, where):
    """Triangles of the kind over the pairs and paths of all edges, on every way."""
    if where.aggregate == "sum":
        rows = [(u, v, {**row, "sign": 3 * row["sign"] + 1}) for u, v, row in rows]  # -5 and 4
        rows = rows[:4]  # which never add up to 0
    plain, triangles = [row[:2] for row in rows], by_definition(rows, where)
    near, clustering = reference.neighbors(plain), reference.clustering_of(triangles, plain)
    corners = reference.vertex_triangles_of(triangles, plain)
    right = [(v, len(near[v]), corners[v], clustering[v]) for v in sorted(corners)]
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way:
            found = tc.annotate_vertices(edges, "degree", "triangles", "clustering", where=where)
            shares = tc.clustering(edges, where=where)
            mean = tc.average_clustering(edges, where=where)
            closed = tc.transitivity(edges, where=where)
        if isinstance(found, PartitionedFrame):
            found, shares = (pd.concat(frame.partitions) for frame in (found, shares))
        found, shares = backend.to_pandas(found), backend.to_pandas(shares)
        np.testing.assert_allclose(found.to_numpy("float64"), np.reshape(right, (-1, 4)))
        assert [*shares["clustering"]] == pytest.approx([*found["clustering"]], abs=0)
        right_mean = reference.average_clustering_of(triangles, plain)
        assert mean == pytest.approx(right_mean, nan_ok=True)
        assert closed == pytest.approx(reference.transitivity_of(triangles, plain))


def test_conditions_hold_for_one_choice_of_rows(backend):
    """A row of the right type and one of the right time are not enough."""
    rows = [(0, 1, 0, "a"), (0, 1, 9, "b"), (1, 2, 9, "a"), (2, 0, 9, "a")]
    edges = backend.frame(pd.DataFrame(rows, columns=["src", "dst", "t", "kind"]))
    of_type = {"edge_type": "kind", "types": ("a", "a", "a")}
    assert tc.count(edges, where=tc.Triangles(**of_type)) == 1
    assert tc.count(edges, where=tc.Triangles(time="t", within=0)) == 1
    assert tc.count(edges, where=tc.Triangles(time="t", within=0, **of_type)) == 0
    settled = tc.Triangles(time="t", within=0, **of_type, aggregate="first")
    assert tc.count(edges, where=settled) == 1  # the edge is an "a", and has both times


def test_more_triangles_than_sixteen_bits_count(backend):
    """A book of 70,000 pages, every third of which has three signs of minus."""
    pages = np.arange(2, 70_002)
    ends = [np.zeros_like(pages), np.ones_like(pages)]
    frame = pd.DataFrame({"src": np.append(ends, 0), "dst": np.append([pages, pages], 1)})
    minus = np.tile(pages % 3 == 0, 2)
    frame["sign"] = np.append(np.where(minus, -1, 1), -1)
    frame["t"] = np.append(np.tile(pages % 2, 2), 0)
    edges = backend.frame(frame)
    unbalanced = tc.Triangles(sign="sign", balanced=False)
    by_edge = backend.to_pandas(tc.edge_triangles(edges, where=unbalanced))
    assert by_edge.iloc[-1] == by_edge.iloc[:70_000].sum() == 70_000  # minus twice is plus
    in_time = tc.Triangles(sign="sign", balanced=False, time="t", within=0)
    by_edge = backend.to_pandas(tc.edge_triangles(edges, where=in_time))
    assert by_edge.iloc[-1] == 35_000


def test_groups_and_ids_of_several_columns(backend):
    rows = [(day, *ends, kind) for day in (1, 2) for ends, kind in zip(
        combinations(range(4), 2), "abcabc", strict=True)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["day", "src", "dst", "kind"])
    frame["src_part"] = frame["dst_part"] = "x"
    frame.loc[frame["day"] == 2, "kind"] = "a"
    where = tc.Triangles(edge_type="kind", types=("a", "a", None))
    found = tc.count(
        backend.frame(frame), where=where, by="day",
        source=["src", "src_part"], destination=["dst", "dst_part"],
    )  # fmt: skip
    assert backend.to_pandas(found)["triangles"].tolist() == [1, 4]


def test_columns_of_a_partitioned_frame(backend):
    frame = complete(4).frame().assign(sign=[1, 1, -1, 1, 1, 1])
    edges, where = (
        PartitionedFrame([backend.frame(frame)]),
        tc.Triangles(sign="sign", balanced=True),
    )
    right = tc.edge_triangles(frame, where=where).tolist()
    [found] = tc.annotate(edges, "triangles", where=where).partitions
    assert backend.to_pandas(found)["triangles"].tolist() == right == [1, 1, 0, 2, 1, 1]
    with pytest.raises(TypeError, match=r'annotate\(edges, "triangles", where=...\) adds it'):
        tc.edge_triangles(edges, where=where)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize(
    "given",
    [{"time": "t", "within": 1}, {"edge_type": "t", "types": (1, None, None)},
     {"sign": "t", "balanced": True}],
)  # fmt: skip
def test_frames_without_a_triangle(backend, rows, given):
    frame = pd.DataFrame({"src": [1], "dst": [2], "t": [1]}).head(rows)
    where = tc.Triangles(**given)
    assert tc.count(backend.frame(frame), where=where) == 0
    assert len(tc.vertex_triangles(backend.frame(frame), where=where)) == 2 * rows


def test_a_row_without_a_type_or_a_sign_is_refused(backend):
    edges = complete(3).frame().assign(kind=["a", None, "b"], sign=[1, 0, -1])
    with pytest.raises(tc.NullIdError, match="edge_type='kind' has 1 null"):
        tc.count(backend.frame(edges), where=tc.Triangles(edge_type="kind", types=("a", "b", None)))
    with pytest.raises(ValueError, match=r"the value of the edge 0, 2 is 0, which has no sign"):
        tc.count(backend.frame(edges), where=tc.Triangles(sign="sign", balanced=True))
    with pytest.raises(tc.ColumnNotFoundError, match="edge_type='none'"):
        tc.count(backend.frame(edges), where=tc.Triangles(edge_type="none", types=("a",) * 3))


@pytest.mark.cpu_only
@pytest.mark.parametrize("layout", [None, BlockLayout(2)])
@pytest.mark.parametrize("engine", ["cpu", "cuda"])
@pytest.mark.parametrize(
    "given",
    [SIGNS | {"aggregate": "first"}, OF_EDGES | SIGNS, OF_EDGES | TIMES, OF_EDGES | SIGNS | TIMES,
     {"vertex_type": TYPES, "types": ("a", None, "b")} | SIGNS],
)  # fmt: skip
def test_edges_of_many_rows(given, engine, layout):
    """About five of each edge, so that they have several intervals, and codes."""
    random, where = np.random.default_rng(0), tc.Triangles(**given)
    ends, times = random.integers(0, 8, (2, 160)).tolist(), random.integers(0, 30, 160).tolist()
    kinds, signs = random.choice([*"abc"], 160).tolist(), random.choice([-1, 1], 160).tolist()
    rows = [
        (u, v, {"time": t, "type": kind, "sign": sign})
        for u, v, t, kind, sign in zip(*ends, times, kinds, signs, strict=True)
        if (u + v) % 5 or sign < 0
    ]
    plain, triangles = [row[:2] for row in rows], by_definition(rows, where)
    with testing.host_engine(), use_layout(layout) if layout else nullcontext():
        found = tc.edge_triangles(frame_of(rows), where=where, engine=engine)
    assert 3 < len(triangles) < reference.count(plain)
    by_edge = reference.edge_triangles_of(triangles, plain)
    assert found.tolist() == reference.by_row(plain, by_edge)


# The value ----------------------------------------------------------------------------------------


def test_a_kind_is_a_value():
    rings = tc.Triangles(time="t", within="1h", edge_type="kind", types=["pays", "owns", None])
    again = pickle.loads(pickle.dumps(rings))
    assert rings == again and len({rings, again}) == 1
    assert rings != tc.Triangles(time="t", within="1h") and rings != "rings"
    shown = "Triangles(time='t', within='1h', edge_type='kind', types=('pays', 'owns', None))"
    assert repr(rings) == shown
    by_vertex = [tc.Triangles(vertex_type={0: "a"}, types=("a",) * 3) for _ in range(2)]
    assert by_vertex[0] != by_vertex[1] and len({*by_vertex}) == 2
    with pytest.raises(AttributeError):
        rings.time = "u"


# Codes --------------------------------------------------------------------------------------------


def fill(sides):
    return any(all(side >> i & 1 for side, i in zip(sides, p, strict=True))
               for p in permutations(range(3)))  # fmt: skip


@pytest.mark.parametrize("asked", ["", "+", "-"])
@pytest.mark.parametrize("types", ["", "edge", "vertex"])
def test_tables_are_the_definition(types, asked):
    """Of each side two rows, with slots and a sign; of each corner slots."""
    if not types and not asked:
        return
    table, random = code_table(types, asked), np.random.default_rng(0)
    for _ in range(500):
        sides, corners = random.integers(0, 8, (3, 2)).tolist(), random.integers(0, 8, 3).tolist()
        signs = random.integers(0, 2, (3, 2)).tolist()
        rows = [[*zip(*side, strict=True)] for side in zip(sides, signs, strict=True)]
        right = types != "vertex" or fill(corners)
        right &= any(
            (types != "edge" or fill([slots for slots, _ in three]))
            and (not asked or sum(sign == 0 for _, sign in three) % 2 == (asked == "-"))
            for three in product(*rows)
        )
        codes = []
        for side, ends in zip(rows, combinations(corners, 2), strict=True):
            of_rows = 0
            for slots, sign in side:
                of_rows |= slots << 3 * sign * bool(asked) if types == "edge" else 1 << sign
            below = 2 * bool(asked)
            of_ends = ends[0] << 3 + below | ends[1] << below
            codes.append(of_rows if types != "vertex" else of_ends | of_rows * bool(asked))
        uv, uw, vw = codes
        place = uv << table.uv_shift | (uw & table.uw_mask) << table.uw_shift | vw & table.vw_mask
        assert table.bits[place >> 5] >> np.uint32(place & 31) & 1 == right


CODED = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 9), st.integers(-1, 5), st.integers(0, 7)),
    max_size=12,
)


@given(CODED)
def test_coded_intervals_are_the_union_of_the_rows(rows):
    edges, windows, codes = (np.array(column) for column in (
        [edge for edge, *_ in rows],
        [first << 32 | first + more for _, first, more, _ in rows],
        [code for *_, code in rows],
    ))  # fmt: skip
    _, host = open_frame(pd.DataFrame({"src": [0], "dst": [1]}), "cpu")
    arrays = edges.astype("int64"), windows.astype("uint64"), codes.astype("uint8")
    (first, last, offsets), found = intervals.coded(*arrays, 4, host)
    right = [{} for _ in range(4)]
    for edge, begin, more, code in rows:
        for window in range(begin, begin + more + 1):
            right[edge][window] = right[edge].get(window, 0) | code
    right = [{window: code for window, code in own.items() if code} for own in right]
    assert found.dtype == "uint8" and len(found) == len(first) == len(last)
    bounds = range(5) if offsets is None else offsets.tolist()
    for edge, own in enumerate(right):
        begin, end = bounds[edge], bounds[edge + 1]
        listed = [*zip(first[begin:end].tolist(), last[begin:end].tolist(), strict=True)]
        assert all(a[1] < b[0] for a, b in pairwise(listed))
        laid = {
            w: int(found[begin + i]) for i, (a, b) in enumerate(listed) for w in range(a, b + 1)
        }
        assert laid == own


@pytest.mark.parametrize("wrong", [pd.NA, pd.NaT, float("nan"), [1], np.array([1, 2]), {}])
def test_a_type_has_a_hash_and_is_not_missing(wrong):
    with pytest.raises(ValueError, match="a single value that has a hash and is not missing"):
        tc.Triangles(edge_type="kind", types=(wrong, "a", None))


MANY = list(range(100_000))


@pytest.mark.parametrize(
    "given",
    [
        {"time": MANY, "within": 1},
        {"time": "t", "within": MANY},
        {"edge_type": "t", "types": tuple(MANY)},
        {"edge_type": "t", "types": (MANY, 1, 2)},
    ],
)
def test_a_message_shows_the_start_of_a_long_value(given):
    frame = pd.DataFrame({"src": [0], "dst": [1], "t": [2]})
    with pytest.raises(ValueError, match=r"\[?\(?0, 1, 2, .*…") as caught:
        tc.count(frame, where=tc.Triangles(**given))
    assert len(str(caught.value)) < 500


def test_a_length_of_time_that_pandas_does_not_read_as_text():
    day = pd.to_datetime(["2020-01-01"] * 3)
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": day})
    with pytest.raises(ValueError, match="within='4000000D' is longer than the 292 years"):
        tc.Triangles(time="t", within="4000000D")
    kind = tc.Triangles(time="t", within=np.timedelta64(4_000_000, "D"))
    assert tc.count(frame, where=kind) == 1


# Types that nothing has ---------------------------------------------------------------------------


TOLD = "nothing has the type '{}', so that no triangle counts; {} has {}"
ABSENT = {  # of rows, of vertices, and with times
    "rows": (OF_EDGES | {"types": ("a", "pays", None)}, "edge_type='type'", "'a', 'b', 'c'"),
    "vertices": ({"vertex_type": TYPES, "types": ("pays",) * 3}, "vertex_type=", "'a', 'b'"),
    "times": (OF_EDGES | TIMES | {"types": ("pays",) * 3}, "edge_type='type'", "'a', 'b', 'c'"),
}


@pytest.mark.parametrize("name", ABSENT)
def test_a_type_that_nothing_has_is_told_once(backend, name):
    given, where, has = ABSENT[name]
    rows = [
        (u, v, {"time": 1, "type": "abc"[(u + v) % 3], "sign": 1})
        for u, v in combinations(range(6), 2)
    ]
    for edges, way in ways(backend.frame(frame_of(rows))):
        with way, pytest.warns(UserWarning) as told:
            assert tc.count(edges, where=tc.Triangles(**given)) == 0
        assert [str(warning.message) for warning in told] == [
            f"types={given['types']!r}: {TOLD.format('pays', where, has)}"
        ]
        assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"edge_type": "type", "types": ("7", None, 7)},
            "'7' is text, and edge_type='type' holds int64",
        ),
        (
            {"vertex_type": dict.fromkeys(range(4), "a"), "types": (1, None, "a")},
            "1 is a number, and vertex_type= holds ",
        ),
    ],
)
def test_a_type_of_another_kind_is_refused(backend, given, words):
    for edges, way in ways(backend.frame(complete(4).frame().assign(type=7))):
        with way, pytest.raises(ValueError, match=words):
            tc.count(edges, where=tc.Triangles(**given))
