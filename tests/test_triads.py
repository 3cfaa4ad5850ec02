"""Triads: all sets of three vertices, by the edges they span."""

from collections import Counter
from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from checks import assert_columns, by_triad
from every_path import Path
from graphs import SMALL, dense_edge_lists, edge_lists, star
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.plan.block_layout import BlockLayout, use_layout


def assert_triads(found, expected):
    """`found` is the promised frame, in pandas: four integers by name."""
    assert_columns(found, "triad", "count")
    assert found["count"].dtype == "int64"
    assert list(found["triad"]) == ["empty", "edge", "wedge", "triangle"]
    assert by_triad(found) == expected


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


@settings(max_examples=50, deadline=None)
@given(rows=st.one_of(edge_lists(), dense_edge_lists()), extra=st.lists(st.integers(-3, 20)))
def test_triads(backend, rows, extra):
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=extra)
    found = backend.to_pandas(tc.triad_counts(graph))
    assert_triads(found, reference.triad_counts(rows, extra))


@settings(max_examples=40, deadline=None)
@given(rows=st.one_of(edge_lists(), dense_edge_lists()), data=st.data())
def test_triads_with_some_vertices(backend, rows, data):
    seen = sorted({v for row in rows for v in row} | {21})
    some = data.draw(st.lists(st.sampled_from(seen)))
    graph = tc.Graph(backend.frame(frame_of(rows)), vertices=[21])
    found = backend.to_pandas(tc.triad_counts(graph, vertices=some))
    assert_triads(found, reference.triad_counts(rows, [21], among=some))
    directed = backend.to_pandas(tc.triad_counts(graph, vertices=some, directed=True))
    assert by_triad(directed) == reference.triad_counts(rows, [21], among=some, directed=True)


def test_directed_triads_with_some_vertices_are_those_of_sets():
    """NetworkX's own census of a nodelist is held against sets of three."""
    graph = nx.gnp_random_graph(14, 0.25, seed=7, directed=True)
    sets = Counter(
        nx.triad_type(graph.subgraph(three))
        for three in combinations(graph, 3)
        if {2, 5, 11} & {*three}
    )
    edges = tc.Graph(nx.to_pandas_edgelist(graph), vertices=list(graph))
    found = by_triad(tc.triad_counts(edges, vertices=[11, 2, 5, 2], directed=True))
    assert {name: number for name, number in found.items() if number} == sets


@pytest.mark.parametrize("directed", [False, True])
def test_triads_with_some_vertices_by_group(directed):
    """A vertex is chosen in every group that has it."""
    rng = np.random.default_rng(4)
    frame = frame_of(rng.integers(0, 12, (60, 2))).assign(day=rng.integers(0, 3, 60))
    frame.loc[frame["day"] == 2, ["src", "dst"]] += 20
    options = {"vertices": [3, 25, 7], "directed": directed}
    found = tc.triad_counts(frame, by="day", source="src", destination="dst", **options)
    for day, part in frame.groupby("day"):
        rows = list(zip(part["src"].tolist(), part["dst"].tolist(), strict=True))
        some = {3, 25, 7} & {v for row in rows for v in row}
        expected = reference.triad_counts(rows, among=some, directed=directed)
        assert found.set_index("day").loc[day].to_dict() == expected


def test_the_vertices_of_triads_are_in_the_graph():
    with pytest.raises(ValueError, match=r"vertices=.* 9"):
        tc.triad_counts(frame_of([(0, 1)]), vertices=[0, 9])
    path = Path(layout=BlockLayout(2))
    frame = frame_of(np.random.default_rng(0).integers(0, 300, (4000, 2)))
    own = {"vertices": [0], "directed": True}
    assert tc.triad_counts(frame, memory_limit=100_000, **own).equals(tc.triad_counts(frame, **own))
    assert by_triad(path.call("triad_counts", {"vertices": [50], "directed": False}))["wedge"] == 0


@pytest.mark.cpu_only
@settings(max_examples=10, deadline=None)
@given(rows=dense_edge_lists().filter(bool), n=st.integers(1, 3), data=st.data())
def test_directed_triads_with_some_vertices_on_every_path(rows, n, data):
    """And of each group, those of whose vertices are chosen in every group that has them."""
    some = data.draw(st.lists(st.sampled_from(sorted({*sum(rows, ())})), max_size=4))
    frame, own = frame_of(rows), {"vertices": some, "directed": True}
    days = frame.assign(day=frame.index % 2)
    by = {"by": "day", "source": "src", "destination": "dst", **own, "vertices": frame["dst"][:3]}
    expected = reference.triad_counts(rows, among=some, directed=True)
    of_days = tc.triad_counts(days, **by)
    with use_layout(BlockLayout(n, 2)):
        for path in (Path(), Path(5)):
            with path.edges(frame) as edges:
                assert by_triad(tc.triad_counts(edges, **own)) == expected
            with path.edges(days) as edges:
                found = tc.triad_counts(edges, **by)
            found = pd.concat(found.partitions) if path.partitions else found
            pd.testing.assert_frame_equal(found, of_days)
    for day, part in days.groupby("day"):
        seen = [*part[["src", "dst"]].itertuples(index=False, name=None)]
        among = {*frame["dst"][:3]} & {*part["src"], *part["dst"]}
        right = reference.triad_counts(seen, among=among, directed=True)
        assert of_days.set_index("day").loc[day].to_dict() == right


def test_networkx_agrees(backend):
    graph = nx.gnm_random_graph(40, 200, seed=5)
    census = nx.triadic_census(graph.to_directed())  # of both directions: 003, 102, 201, 300
    expected = dict(zip(("empty", "edge", "wedge", "triangle"), _mutual(census), strict=True))
    found = tc.triad_counts(backend.frame(frame_of(list(graph.edges))))
    assert_triads(backend.to_pandas(found), expected)


def _mutual(census):
    return [census[name] for name in ("003", "102", "201", "300")]


@pytest.mark.parametrize("name", SMALL)
def test_they_add_up_to_all_sets_of_three(backend, name):
    known = SMALL[name]
    found = by_triad(backend.to_pandas(tc.triad_counts(backend.frame(known.frame()))))
    assert sum(found.values()) == comb(known.n_vertices, 3)
    assert found["triangle"] == known.triangles


def test_isolated_vertices_past_64_bits(backend):
    """Five million vertices: more sets of three than an int64 holds."""
    n = 5_000_000
    assert comb(n, 3) > 2**63
    graph = tc.Graph(backend.frame(star(2).frame()), vertices=np.arange(n))
    edge = 2 * (n - 3)
    expected = {"empty": comb(n, 3) - edge - 1, "edge": edge, "wedge": 1, "triangle": 0}
    found = backend.to_pandas(tc.triad_counts(graph))
    assert_columns(found, "triad", "count")
    assert by_triad(found) == expected and sum(found["count"]) == comb(n, 3)


@pytest.mark.cpu_only
@pytest.mark.parametrize("n", [13, 5_000_000])
def test_one_shape_in_every_library(n):
    """And more sets of three than an int64 holds, which are exact."""
    rows, counts = [(0, 1), (1, 2), (2, 0)], [comb(n, 3) - 3 * n + 8, 3 * (n - 3), 0, 1]
    frame, isolated = frame_of(rows), np.arange(n)
    pair = frame["src"].to_numpy(), frame["dst"].to_numpy()
    arrays = tc.triad_counts(tc.Graph(pair, vertices=isolated))
    assert {name: [*values] for name, values in arrays.items()} == {
        "triad": ["empty", "edge", "wedge", "triangle"], "count": counts,
    }  # fmt: skip
    is_wide = n > 3_810_778
    assert arrays["count"].dtype == ("object" if is_wide else "int64")
    of_polars, of_arrow = (
        tc.triad_counts(tc.Graph(make(frame), vertices=isolated))
        for make in (pl.from_pandas, pa.Table.from_pandas)
    )
    wide, wide_arrow = pl.Decimal(38, 0), pa.decimal128(38, 0)
    assert of_polars.schema == {"triad": pl.String, "count": wide if is_wide else pl.Int64}
    assert of_arrow.schema.types == [pa.large_string(), wide_arrow if is_wide else pa.int64()]
    assert by_triad(of_polars) == dict(zip(arrays["triad"], counts, strict=True))
    assert of_arrow["count"].to_pylist() == counts


@pytest.mark.parametrize("rows", [[], [(4, 4)], [(4, 5)], [(4, 5), (6, 6)]], ids=str)
def test_next_to_nothing(backend, rows):
    found = backend.to_pandas(tc.triad_counts(backend.frame(frame_of(rows))))
    assert_triads(found, reference.triad_counts(rows))
