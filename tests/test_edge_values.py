"""Values of edges from rows, on every path: what is refused, and in which words."""

from fractions import Fraction
from itertools import pairwise

import every_path
import numpy as np
import pandas as pd
import pytest
import reference
from every_path import ENGINES, PATHS
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.blocks import rows as chunked
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows, Reading, Reduced
from rapids_tc.preparation.readers import WeightReader

pytestmark = pytest.mark.cpu_only
IDS = {"source": "src", "destination": "dst"}
SOME = ("whole", "prepared", "1 x 1 blocks", "3 x 3 blocks", "1 partitions", "7 partitions",
        "7 partitions, 2 x 2 blocks")  # fmt: skip


def frame_of(ids=(0, 1, 2, 3)):
    a, b, c, d = ids
    rows = [(a, b), (b, c), (c, a), (c, d), (d, c), (c, c), (a, b), (d, c)]
    frame = pd.DataFrame(rows, columns=["src", "dst"])
    return frame.assign(w=1.0, kind="x", trust=1)


def changed(column, row, value, ids=(0, 1, 2, 3)):
    frame = frame_of(ids)
    frame[column] = frame[column].astype(object if isinstance(value, str) else "float64")
    frame.loc[row, column] = value
    return frame.astype({column: "str"} if isinstance(value, str) else {})


WEIGHTED = lambda edges, **own: tc.clustering(edges, weight="w", **IDS, **own)  # noqa: E731
TYPED = lambda edges, **own: tc.triangles_by_type(edges, edge_type="kind", **IDS, **own)  # noqa: E731
SIGNED = lambda edges, **own: tc.balance(edges, sign="trust", **IDS, **own)  # noqa: E731
ONE_WAY = lambda edges, **own: WEIGHTED(edges, directed=True, **own)  # noqa: E731
WORDS = {
    "weights that disagree": (WEIGHTED, changed("w", 6, 2.5),
        "weight='w': the rows of the edge 0, 1 say 1.0 and 2.5; aggregate= says which value"),
    "weights of text ids": (WEIGHTED, changed("w", 6, 2.5, ids=tuple("abcd")),
        "weight='w': the rows of the edge a, b say 1.0 and 2.5; aggregate= says which value"),
    "weights of one direction": (ONE_WAY, changed("w", 7, 3.0),
        "weight='w': the rows of the edge 3 -> 2 say 1.0 and 3.0; aggregate= says which value"),
    "types that disagree": (TYPED, changed("kind", 4, "y"),
        "edge_type='kind': the rows of the edge 2, 3 say 'x' and 'y'; aggregate= says which"),
    "signs that disagree": (SIGNED, changed("trust", 6, -2.0),
        "sign='trust': the rows of the edge 0, 1 say - and +; aggregate= says which value"),
    "weights below zero": (WEIGHTED, changed("w", [2, 5], -1.0),
        "weight='w': 2 of the weights are missing, negative or infinite, the first in row 2; drop"),
    "missing signs": (SIGNED, changed("trust", 4, np.nan),
        "sign='trust': 1 of the signs are missing or infinite, the first in row 4; drop"),
    "an edge without a sign": (SIGNED, changed("trust", 1, 0),
        "sign='trust': the value of the edge 1, 2 is 0, which has no sign"),
    "missing types": (TYPED, frame_of().assign(kind=["x", None] * 4),
        "edge_type='kind' has 4 nulls: every edge needs a type. Drop those rows"),
    "weights that are text": (WEIGHTED, frame_of().assign(w="x"), "weight='w' has dtype"),
    "no such column": (WEIGHTED, frame_of().drop(columns="w"), "weight='w' is not a column"),
}  # fmt: skip


@pytest.mark.parametrize("path", SOME)
@pytest.mark.parametrize("name", WORDS)
def test_values_are_refused_in_the_same_words_on_every_path(name, path):
    function, frame, words = WORDS[name]
    with PATHS[path].edges(frame) as edges:
        options = {"source": None, "destination": None} if PATHS[path].prepared else {}
        with pytest.raises((ValueError, tc.ColumnNotFoundError)) as caught:
            _call(function, edges, options)
    assert str(caught.value).startswith(words)


def _call(function, edges, options):
    own = {"weight": "w"} if function in (WEIGHTED, ONE_WAY) else {}
    if not options:
        return function(edges)
    if own:
        return tc.clustering(edges, directed=function is ONE_WAY, **own)
    if function is TYPED:
        return tc.triangles_by_type(edges, edge_type="kind")
    return tc.balance(edges, sign="trust")


@pytest.mark.parametrize("path", SOME)
@pytest.mark.parametrize("aggregate", ["sum", "mean"])
def test_weights_whose_sum_is_infinite(path, aggregate):
    """They were scaled by infinity, and clustering was NaN."""
    path, own = PATHS[path], {"weight": "w", "aggregate": aggregate}
    ids = {} if path.prepared else IDS
    for directed, rows, edge in ((False, [0, 6], "0, 1"), (True, [4, 7], "3 -> 2")):
        words = f"weight='w': the rows of the edge {edge} add up to more than float64 holds: divide"
        frame = changed("w", rows, 1e308)
        with path.edges(frame) as edges, pytest.raises(ValueError, match=words):
            tc.clustering(edges, directed=directed, **own, **ids)


@pytest.mark.parametrize("path", SOME)
def test_a_loop_may_hold_anything_that_is_a_value(path):
    """Self loops are dropped: their values neither disagree nor lack a sign, and scale nothing."""
    frame = frame_of()
    frame.loc[5, ["w", "trust"]] = 1000, 0
    with PATHS[path].edges(frame) as edges:
        columns = {} if PATHS[path].prepared else IDS
        weighted = tc.clustering(edges, weight="w", **columns)
        signs = tc.balance(edges, sign="trust", **columns)
    frames = getattr(weighted, "partitions", [weighted])
    assert pd.concat(frames)["clustering"].round(9).tolist() == [1.0, 1.0, round(1 / 3, 9), 0.0]
    assert signs["triangles"].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_column_may_be_an_id_and_a_weight(engine):
    frame = pd.DataFrame({"src": [1, 1, 8], "dst": [8, 27, 27]})
    right = tc.clustering(frame.assign(w=frame["src"]), weight="w", **IDS)
    with ENGINES[engine]():
        for path in SOME[2:]:
            with PATHS[path].edges(frame) as edges:
                found = tc.clustering(edges, weight="src", **IDS)
            found = pd.concat(getattr(found, "partitions", [found]))
            np.testing.assert_allclose(found["clustering"], right["clustering"], rtol=1e-12)


@pytest.mark.parametrize("partitions", [1, 3])
def test_partitions_may_differ_in_their_categories(partitions):
    frame = frame_of().assign(kind=[*"xxyyyyxy"])
    cuts = {1: [0, 8], 3: [0, 3, 5, 8]}[partitions]
    parts = [frame.iloc[a:b].astype({"kind": "category"}) for a, b in pairwise(cuts)]
    found = tc.triangles_by_type(PartitionedFrame(parts), edge_type="kind", **IDS)
    assert [*found.itertuples(index=False, name=None)] == [("x", "x", "y", 1)]


@pytest.mark.parametrize("aggregate", [None, "sum"])
def test_integers_that_float64_rounds_are_refused(aggregate):
    """They would agree, or add up, by their rounded values: even the sign of a sum was wrong."""
    large = [2**53 + 1, -(2**53) - 3, 3, 1, 1]
    frame = pd.DataFrame({"src": [0, 0, 0, 1, 2], "dst": [1, 1, 1, 2, 0], "w": large})
    if aggregate:
        with pytest.raises(ValueError, match=r"sign='w': some integers have more than 53 bits"):
            tc.balance(frame, sign="w", aggregate=aggregate)
    else:
        with pytest.raises(ValueError, match=r"weight='w': some integers have more than 53 bits"):
            tc.clustering(frame.abs(), weight="w")
        found = tc.balance(frame.drop(index=1), sign="w")  # a sign is not rounded
        assert found["triangles"].tolist() == [1, 0, 0, 0]


def test_aggregate_without_weights_is_refused():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
    with pytest.raises(ValueError, match="give weight= as well"):
        tc.clustering(frame, aggregate="sum")


@pytest.mark.parametrize("aggregate", [None, "sum"])
def test_the_first_integer_that_float64_rounds_is_refused(aggregate):
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "w": [2**53 + 1, 1, 1]})
    with pytest.raises(ValueError, match=r"weight='w': some integers have more than 53 bits"):
        tc.clustering(frame, weight="w", aggregate=aggregate)


# Rules --------------------------------------------------------------------------------------------

EDGES, BACKEND = 3, open_frame(frame_of(), None)[1]
READER = WeightReader(label="w")
BY_DEFINITION = {
    "first": lambda values: values[0], "last": lambda values: values[-1], "sum": sum,
    "mean": lambda values: sum(values) / len(values), "min": min, "max": max,
}  # fmt: skip
ROWS = st.lists(
    st.tuples(st.integers(0, EDGES - 1), st.booleans(), st.integers(0, 2)), min_size=4, max_size=12
)


def chunks_of(rows, sizes, *, directed):
    """The rows in chunks of these sizes, and the rest."""
    bounds = [0, *np.minimum(np.cumsum(sizes), len(rows)).tolist(), len(rows)]
    for begin, end in pairwise(bounds):
        own = np.array(rows[begin:end], "int64").reshape(-1, 3)
        reverse, values = own[:, 1] > 0 if directed else None, own[:, 2].astype("float64")
        yield EdgeRows(own[:, 0], reverse, (values,))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("aggregate", [None, *BY_DEFINITION])
@given(rows=ROWS, sizes=st.lists(st.integers(1, 2), min_size=3, max_size=5))
@settings(max_examples=25)
def test_rows_in_chunks_are_rows(aggregate, directed, rows, sizes):
    """Out of core, the rows of an edge come in several chunks, and may have one direction alone."""
    by_slot = {}
    for edge, reverse, value in rows:
        by_slot.setdefault((edge, reverse and directed), []).append(value)
    rule = Reduced(aggregate, directed=directed)
    chunks = chunks_of(rows, sizes, directed=directed)
    if aggregate is None and any(len({*values}) > 1 for values in by_slot.values()):
        with pytest.raises(EdgeError) as caught:
            rule.collect(chunks, EDGES, (READER,), BACKEND)
        direction = {1: False, 2: True}.get(caught.value.direction, False)
        assert len({*by_slot[caught.value.position, direction]}) > 1
        return
    arrays = rule.collect(chunks, EDGES, (READER,), BACKEND)
    value_of = BY_DEFINITION.get(aggregate, BY_DEFINITION["first"])
    ways = (False, True) if directed else (False,)
    for way, found in zip(ways, arrays, strict=False):
        slots = ((edge, way) for edge in range(EDGES))
        right = [value_of(by_slot[slot]) if slot in by_slot else 0 for slot in slots]
        assert found.tolist() == pytest.approx(right)
    if directed:
        states = [sum(((e, way) in by_slot) << way for way in ways) for e in range(EDGES)]
        assert arrays[-1].tolist() == states


@pytest.mark.parametrize("directed", [False, True])
def test_the_largest_weight_is_of_both_directions(directed):
    """Weights are divided by it, in each group by its own."""
    reading = Reading(Reduced("sum", directed=directed), (READER,), scaled=True)
    arrays = [np.array([1.0, 4.0, 2.0]), np.array([3.0, 0.0, 8.0]), np.array([3, 1, 3], "uint8")]
    given = arrays if directed else arrays[:1]
    assert reading.largest(given) == (8 if directed else 4)
    by_group = reading.largest_by_group(given, np.array([0, 1, 0]), 2, np)
    assert by_group.tolist() == ([8, 4] if directed else [2, 4])


# Rows in several chunks, and rounding -------------------------------------------------------------


def sixteen_rows(self, work):
    """The columns of `Rows` in chunks of 16 rows, whatever memory there is."""
    return self._columns.read([(first, first + 16) for first in range(0, self.size, 16)])


@pytest.mark.parametrize("aggregate", reference.AGGREGATES)
@pytest.mark.parametrize("directed", [False, True])
def test_values_of_edges_whose_rows_lie_in_several_chunks(directed, aggregate, monkeypatch):
    """Out of core, in memory and by partitions: both directions, and the largest of all weights."""
    random = np.random.default_rng(7)
    ends = np.array([(u, v) for u in range(7) for v in range(7) if (2 * u + v) % 5])
    frame = pd.DataFrame(np.concatenate([random.permutation(ends) for _ in range(3)]))
    frame = frame.set_axis(["src", "dst"], axis=1).assign(w=random.integers(1, 90, len(frame)) / 8)
    definition = f"{'directed_' * directed}weighted_clustering"
    rows = list(frame.itertuples(index=False, name=None))
    right = getattr(reference, definition)(rows, aggregate=aggregate)
    monkeypatch.setattr(chunked.Rows, "_slices", sixteen_rows)
    own = {"weight": "w", "directed": directed, "aggregate": aggregate, "vertices": None}
    for path in ("whole", "2 x 2 blocks", "7 partitions"):
        found = every_path.plain("clustering", PATHS[path].call("clustering", own, frame))
        assert dict(found) == pytest.approx(right, abs=1e-12), path


def test_rows_of_an_edge_that_disagree_in_different_chunks(monkeypatch):
    monkeypatch.setattr(chunked.Rows, "_slices", sixteen_rows)
    frame = pd.DataFrame({"src": [0, 1, 2, *[5] * 40, 1], "dst": [1, 2, 0, *[6] * 40, 0]})
    frame = frame.assign(w=[*[1.0] * 43, 2.0], kind=[*["a"] * 43, "b"])
    for path in ("whole", "2 x 2 blocks", "7 partitions"):
        with pytest.raises(ValueError, match=r"the rows of the edge 0, 1 say 1\.0 and 2\.0"):
            PATHS[path].call("clustering", {"weight": "w"}, frame)
        with pytest.raises(ValueError, match=r"the rows of the edge 0, 1 say 'a' and 'b'"):
            PATHS[path].call("triangles_by_type", {"edge_type": "kind"}, frame)


@pytest.mark.parametrize("within", [0.1, 0.2, 0.3, 0.1 + 0.2])
@pytest.mark.parametrize("first", [0.0, 0.1, 0.2, 0.7, 1e16])
def test_times_that_a_rounded_sum_would_reach(within, first):
    """The distance of two float64 is compared as it is: 0.1 + 0.2 is rounded up."""
    end = first + within
    for last in (end, np.nextafter(end, -1), np.nextafter(end, 1e99)):
        frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "t": [first, last, first]})
        found = tc.count(frame, time="t", within=within, **IDS)
        assert found == (abs(Fraction(last) - Fraction(first)) <= Fraction(within))
