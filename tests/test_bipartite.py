"""Bipartite graphs: equal ids of both columns are two vertices, one of each side."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from every_path import CALLS, FRAME, IDS, expected, plain
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.record import ANALYTICS, Result

pytestmark = pytest.mark.cpu_only
FAR = 1000  # added to the ids of destinations, as a definition sees them
TWO = pd.DataFrame({"user": [0, 0, 1, 1], "item": [0, 1, 0, 1]})  # who bought the same two items
KINDS = {
    "integers": lambda column: column,
    "far integers": lambda column: column * 2**40 - 7,
    "text": lambda column: column.astype("str"),
    "categories": lambda column: column.astype("str").astype("category"),
    "datetimes": lambda column: pd.to_datetime(column, unit="D"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_users_and_items_of_the_same_ids_make_a_butterfly(kind, library):
    """Pooled, 0 and 1 would be two vertices, and have none."""
    frame = TWO.apply(KINDS[kind])
    sides = ["source"] * 2 + ["destination"] * 2
    right = {"vertex": [*frame["user"][1:3], *frame["item"][:2]], "side": sides, "squares": [1] * 4}
    edges = {"pandas": pd.DataFrame, "polars": pl.from_pandas}.get(library, pa.Table.from_pandas)(
        frame
    )
    graph = tc.Graph(edges, bipartite=True)
    assert tc.squares(edges, bipartite=True) == graph.squares() == 1
    assert tc.squares(edges) == 0
    assert graph.n_vertices == graph.n_edges == 4
    for found in (tc.vertex_squares(edges, bipartite=True), graph.vertex_squares()):
        found = found if library == "pandas" else found.to_pandas()
        assert found.to_dict("list") == right
        assert library != "pandas" or found["vertex"].dtype == frame["user"].dtype
    for function in (tc.edge_squares, tc.bitruss):
        for column in (function(edges, bipartite=True), function(graph)):
            assert [int(value) for value in column.to_numpy()] == [1] * 4


def test_closed_forms_of_ids_that_both_columns_have():
    """K_ab, and the butterflies of Davis' women, whose names become numbers from 0 on."""
    a, b = 7, 12
    rows = pd.DataFrame([(u, v) for u in range(a) for v in range(b)], columns=["user", "item"])
    total = a * (a - 1) // 2 * (b * (b - 1) // 2)
    assert tc.squares(rows, bipartite=True) == total
    assert set(tc.bitruss(rows, bipartite=True)) == {(a - 1) * (b - 1)}
    hubs = pd.DataFrame({"user": np.repeat([0, 1], 70_000), "item": [*range(70_000)] * 2})
    assert tc.squares(hubs, bipartite=True) == 70_000 * 69_999 // 2
    names = pd.DataFrame(nx.davis_southern_women_graph().edges(), columns=["woman", "meeting"])
    women = names.apply(lambda column: column.astype("category").cat.codes.astype("int64"))
    assert tc.squares(women, bipartite=True) == tc.squares(names) == 341
    assert tc.vertex_squares(women, bipartite=True)["squares"].sum() == 4 * 341


ROWS = st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.sampled_from("ab")), max_size=40)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.booleans())
def test_any_rows_in_groups_and_with_ids_of_several_columns(rows, several):
    """Repeats, rows of two equal ids, no rows, and rows that would be one edge if turned."""
    frame = pd.DataFrame(rows, columns=["u", "v", "day"]).astype({"u": "int64", "v": "int64"})
    options, right = {"by": "day", "source": "u", "destination": "v", "bipartite": True}, []
    if several:
        frame = frame.assign(u2=frame["u"] % 2, v2=frame["v"] % 2)
        options |= {"source": ["u", "u2"], "destination": ["v", "v2"]}
    by_row = {name: np.zeros(len(rows), int) for name in ("edge_squares", "bitruss")}
    for day in sorted(set(frame["day"])):
        of_day = frame.index[frame["day"] == day]
        pairs = reference.sided([rows[place][:2] for place in of_day])
        for (side, vertex), squares in sorted(reference.vertex_squares(pairs).items()):
            named = (vertex, vertex % 2)[: 1 + several]
            right.append((day, *named, ("source", "destination")[side], squares))
        for name, values in by_row.items():
            values[of_day] = reference.by_row(pairs, getattr(reference, name)(pairs))
    names = ["day", *(["vertex_u", "vertex_u2"] if several else ["vertex"]), "side", "squares"]
    graph = tc.Graph(frame, **options)
    for found in (tc.vertex_squares(frame, **options), graph.vertex_squares()):
        assert found.columns.tolist() == names
        assert list(found.itertuples(index=False, name=None)) == right
    for name, values in by_row.items():
        assert getattr(tc, name)(frame, **options).tolist() == values.tolist()
        assert getattr(graph, name)().tolist() == values.tolist()


def of_sides(name, own):
    """An answer on a frame whose columns have no id in common, as a bipartite graph gives it."""
    frame = FRAME.assign(dst=FRAME["dst"] + FAR)
    named = own.get("vertices")
    options = own if named is None else {**own, "vertices": [v + FAR * (v < 5) for v in named]}
    right, result = expected(name, options, frame), ANALYTICS[name].result
    if result is Result.EDGES:
        return [(u, v - FAR) for u, v in right]
    if result in (Result.VERTICES, Result.PAIRS) or own.get("per") == "vertex":
        ends = 2 if result is Result.PAIRS else 1
        sides = ("source", "destination")
        return [
            (*(v % FAR for v in row[:ends]), sides[row[0] >= FAR], *row[ends:]) for row in right
        ]
    return right


ABOUT_VERTICES = ("vertices", "pairs", "vertex_type", "per")
ONCE = {  # with its first options
    name: own for name, own in reversed(CALLS) if name not in ("project", "iter_project")
}
NAMING = [(name, own) for name, own in CALLS if any(own.get(o) is not None for o in ABOUT_VERTICES)]


def test_every_function_answers_on_a_bipartite_graph():
    """With the first of its options, and with those that name vertices, or choose what is told."""
    graph = tc.Graph(FRAME, bipartite=True, **IDS)
    for name, own in [*ONCE.items(), *NAMING]:
        options = dict(own)
        columns, named = options.pop("columns", ()), options.get("vertices")
        if named is not None:
            sides = ["destination" if v < 5 else "source" for v in named]
            options["vertices"] = pd.DataFrame({"vertex": named, "side": sides})
        call = getattr(graph, name)
        if options.get("pairs") is not None or options.get("vertex_type") is not None:
            with pytest.raises(ValueError, match="in a bipartite Graph an id of each side may be"):
                call(*columns, **options)
            continue
        found, right = plain(name, call(*columns, **options)), of_sides(name, own)
        if isinstance(right, dict):
            found, right = ([values[key] for key in right] for values in (found, right))
        assert len(found) == len(right) if isinstance(right, list) else True, (name, own)
        pairs = zip(found, right, strict=True) if isinstance(right, list) else [(found, right)]
        for one, other in pairs:
            assert one == pytest.approx(other, abs=1e-12, nan_ok=True), (name, own)
    for own in ({}, {"side": "destination", "measure": "newman"}):
        whole = tc.project(FRAME, **own, **IDS)
        pd.testing.assert_frame_equal(graph.project(**own), whole)
        frames = pd.concat(graph.iter_project(max_rows=9, **own), ignore_index=True)
        pd.testing.assert_frame_equal(frames, whole)


def test_ids_of_two_kinds():
    """They are counted, but no column holds both; of integers, one does if any does."""
    frame = pd.DataFrame({"user": [0, 0, 1, 1], "item": ["a", "b", "a", "b"]})
    graph = tc.Graph(frame, bipartite=True)
    assert tc.squares(frame, bipartite=True) == graph.squares() == 1
    assert tc.bitruss(frame, bipartite=True).tolist() == graph.edge_squares().tolist() == [1] * 4
    for call in (
        lambda: tc.vertex_squares(frame, bipartite=True), graph.vertex_triangles, graph.most_similar
    ):  # fmt: skip
        with pytest.raises(tc.IdTypeError, match="int64 and of destinations str"):
            call()
    wide = pd.DataFrame({"user": np.array([3, 4], "int32"), "item": np.array([2**63, 5], "uint64")})
    for sign, dtype in ((1, "uint64"), (-1, "")):
        signed = wide.assign(user=sign * wide["user"].astype("int64"))
        if dtype:
            found = tc.vertex_squares(signed, bipartite=True)["vertex"]
            assert found.dtype == dtype and found.tolist() == [3, 4, 5, 2**63]
        else:
            with pytest.raises(tc.IdTypeError, match="which no column holds together"):
                tc.vertex_squares(signed, bipartite=True)
    small = wide.astype({"item": "float64"}).assign(item=[2.0, 5.0])
    assert tc.vertex_squares(small, bipartite=True)["vertex"].tolist() == [3, 4, 2, 5]


def test_vertices_are_named_with_their_side():
    frame = pd.DataFrame({"user": [5, 6, 5], "item": [5, 5, 7]})
    named = pd.DataFrame({"side": ["destination", "source", "destination"], "vertex": [7, 5, 5]})
    for edges, options in ((frame, {"bipartite": True}), (tc.Graph(frame, bipartite=True), {})):
        found = tc.vertex_squares(edges, vertices=named, **options)
        assert found[["side", "vertex"]].equals(named)
        with pytest.raises(tc.ColumnNotFoundError, match="no column 'side'"):
            tc.vertex_squares(edges, vertices=named[["vertex"]], **options)
        with pytest.raises(TypeError, match="a frame with the columns 'side', 'vertex'"):
            tc.vertex_squares(edges, vertices=[5], **options)
        for wrong in (named.assign(side="left"), named.assign(vertex=6), named.assign(side=None)):
            with pytest.raises(ValueError, match="of vertices= not in the graph"):
                tc.vertex_squares(edges, vertices=wrong, **options)


def test_what_is_told_is_what_the_limit_asks_for():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3000, (4000, 2)), columns=["user", "item"])
    for edges in (frame, frame.astype("str")):
        for name in ("squares", "vertex_squares", "edge_squares", "Graph"):
            told = tc.memory_estimate(edges, function=name, bipartite=True)
            call, worst = getattr(tc, name), max(told.values())
            call(edges, bipartite=True, memory_limit=worst)
            with pytest.raises(tc.CapacityError, match="the stage"):
                call(edges, bipartite=True, memory_limit=worst - 1)
    ids = frame["user"].nunique() + frame["item"].nunique()
    assert tc.Graph(frame, bipartite=True).n_vertices == ids > len(set(frame.to_numpy().ravel()))


def test_refusals():
    graph, parts = tc.Graph(TWO), PartitionedFrame([TWO])
    for function in (tc.squares, tc.vertex_squares, tc.edge_squares, tc.bitruss):
        name = function.__name__
        with pytest.raises(ValueError, match=rf"give {name} the frame itself, or make Graph\("):
            function(graph, bipartite=True)
        with pytest.raises(TypeError, match="PartitionedFrame"):
            function(parts, bipartite=True)
    for call in (
        lambda: tc.vertex_squares(TWO.assign(side=1), source="user", destination="item", by="side",
                                  bipartite=True),
        lambda: tc.Graph(TWO.assign(side=1), source="user", destination="item", by="side",
                         bipartite=True).clustering(),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="by= names the column 'side'"):
            call()
