"""The tasks of a cluster, run in this process: every function on any frame, laid out in any way."""

import re
import subprocess
import sys
from functools import partial
from itertools import chain, count, cycle, islice, pairwise

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
import tampered
from checks import by_triad, rows_of
from dask_support import (
    ASKED,
    Here,
    apart,
    assert_same,
    from_parts,
    layout,
    plain,
    together,
    worked_on_here,
)
from emulator_support import compiler
from graphs import TRIANGLES, edge_frames, small
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets, plot, testing
from rapids_tc.blocks import block_map, grid, id_tasks
from rapids_tc.blocks.context import WorkerContext
from rapids_tc.executors import versions
from rapids_tc.executors.protocol import Batch, split_batches
from rapids_tc.frames.adapters import CudfAdapter, PandasAdapter
from rapids_tc.graphs import partitioned, stages
from rapids_tc.plan import costs
from rapids_tc.preparation.edge_columns import edge_columns

__all__ = ["compiler"]


class Pandas:
    """The library of frames that need no other."""

    from_pandas = to_pandas = staticmethod(lambda frame: frame)


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)
    with worked_on_here():
        yield


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=15, deadline=None)
@given(
    frame=edge_frames(), partitions=st.integers(1, 9), n=st.integers(1, 4), m=st.integers(1, 3),
    ranges=st.sampled_from([1, 2, 5]),
)  # fmt: skip
def test_any_frame_in_any_layout(backend, name, frame, partitions, n, m, ranges):
    edges = apart(backend, frame, partitions)
    with layout(n, m, ranges=ranges):
        found = ASKED[name](edges)
    expected = ASKED[name](backend.frame(frame))
    assert_same(together(backend, found), plain(backend, expected))


@pytest.mark.cpu_only
def test_values_of_edges_on_several_gpus(compiler):
    """Each worker has a share of the pivot vertices of the same graph: not all in-edges."""
    frame = datasets.karate().assign(t=np.arange(78), weight=1 + np.arange(78) % 7)
    edges = from_parts([frame[a : a + 20] for a in range(0, 78, 20)])
    graph = nx.from_pandas_edgelist(frame, "src", "dst", "weight")
    rows = list(frame[["src", "dst", "t"]].itertuples(index=False, name=None))
    with testing.host_engine():
        found = tc.count(edges, time="t", within=20, engine="cuda")
        shares = tc.clustering(edges, weight="weight", engine="cuda").compute(scheduler="sync")
    timed = [(u, v, {"time": t}) for u, v, t in rows]
    assert found == len(reference.list_triangles_where(timed, within=20))
    expected = nx.clustering(graph, weight="weight")
    assert shares.set_index("vertex")["clustering"].to_dict() == pytest.approx(expected)


@pytest.mark.cpu_only
def test_ranges_of_ids_on_several_gpus(compiler):
    frame = datasets.karate()
    expected = reference.vertex_triangles(rows_of(frame))
    edges = from_parts([frame[a : a + 20] for a in range(0, 78, 20)])
    with testing.host_engine(), layout(2, 1, ranges=3):
        counts = tc.vertex_triangles(edges, engine="cuda").compute(scheduler="sync")
        wide = tc.annotate(edges, "triangles", "jaccard", engine="cuda").compute(scheduler="sync")
    assert dict(rows_of(counts, "vertex", "triangles")) == expected
    assert_same(wide, tc.annotate(frame, "triangles", "jaccard"))


@pytest.mark.parametrize("colors", [1, 3, 40])
def test_an_estimate_is_of_the_graph_not_of_its_partitions(backend, colors):
    frame = datasets.rmat(9, seed=colors)
    expected = tc.approximate_count(backend.frame(frame), colors=colors, seed=7)
    for partitions, n in ((1, 1), (7, 1), (64, 1), (7, 3)):
        edges = apart(backend, frame.sample(frac=1, random_state=partitions), partitions)
        with layout(n, 2):
            assert tc.approximate_count(edges, colors=colors, seed=7) == expected
    with pytest.raises(ValueError, match=r"colors=0"):
        tc.approximate_count(edges, colors=0, seed=7)


def test_a_sample_is_what_is_cut_in_blocks(backend, monkeypatch):
    sizes = []
    choose = grid.choose
    monkeypatch.setattr(
        grid, "choose", lambda edges, *rest: sizes.append(edges) or choose(edges, *rest)
    )
    edges = apart(backend, datasets.rmat(10), 5)
    tc.approximate_count(edges, colors=16, seed=0)
    assert 0 < sizes[0] < len(datasets.rmat(10)) / 4


# Ids ----------------------------------------------------------------------------------------------

A, B, C = [0, 1, 2], [1, 2, 0], [3, 0, 3]  # a triangle, and a tail, whichever two are the ends


def frames(*columns):
    """Frames of one column of ids each, as both ends: the ids one way round, then the next."""
    return [
        pd.DataFrame({"src": c, "dst": c.iloc[[1, 2, 0]].array}) for c in map(pd.Series, columns)
    ]


MIXED = {
    "wider and wider": frames(np.array(A, "int8"), np.array(B, "int32"), np.array(C, "int64")),
    "with and without sign": frames(np.array(A, "int64"), np.array([2**63, 1, 2], "uint64")),
    "whole floats": frames(np.array(A, "int32"), np.array(B, "float64")),
    "sparse": frames(np.array([0, 2**62, 5]), np.array([2**62, 7, 5])),
    "categories": frames(
        pd.Categorical(["b", "a", "c"]), pd.Categorical(["c", "z", "a"], categories=list("zca"))
    ),
    "categories of integers": frames(pd.Categorical([5, 3, 8]), pd.Categorical([3, 5, 9])),
    "text of two types": frames(
        pd.Series(["x", "y", "z"], dtype="object"), pd.Series(["y", "x", "é"], dtype="str")
    ),
    "dates": frames(pd.date_range("2024", periods=3), pd.date_range("2023-12-31", periods=3)),
    "nullable": frames(pd.array([1, 2, 3], "Int64"), np.array([2, 3, 4])),
}


@pytest.mark.pandas_only
@pytest.mark.parametrize("ranges", [1, 3, 20])
@pytest.mark.parametrize("name", MIXED)
def test_partitions_of_different_types_are_those_of_one_frame(name, ranges):
    parts = MIXED[name]
    rows = [row for part in parts for row in rows_of(part)]
    edges = from_parts([parts[0].iloc[:0], *parts, parts[-1].iloc[:0]])
    corners = reference.vertex_triangles(rows)
    with layout(1, 1, ranges=ranges):
        found = tc.vertex_triangles(edges).compute(scheduler="sync")
        assert tc.count(edges) == reference.count(rows)
        once = tc.simple_edges(edges).compute(scheduler="sync")
    assert dict(rows_of(found, "vertex", "triangles")) == corners
    assert found["vertex"].tolist() == sorted(corners)
    assert found.index.tolist() == [*range(len(corners))]
    assert rows_of(once) == reference.simple_edges(rows)


# Ranges of ids ------------------------------------------------------------------------------------

RANKED_IDS = {
    "dense": lambda ids: ids.astype("int64"),
    "sparse": lambda ids: ids.astype("int64") * 2**40 - 5,
    "text": lambda ids: ids.map(lambda number: f"v{number * 37 % 101:03d}é{number}"),
}


@pytest.fixture(scope="module", params=RANKED_IDS)
def ranked(request):
    """A frame, and the id of each number."""
    of = RANKED_IDS[request.param]
    frame = datasets.rmat(7, seed=5)
    numbers = pd.Series(range(128))
    weight = 1.0 + frame.min(axis=1) % 5 + frame.max(axis=1) % 3
    return frame.apply(of).assign(weight=weight, t=frame.min(axis=1) % 3), of(numbers).tolist()


@pytest.mark.pandas_only
@pytest.mark.parametrize("n", [1, 3])
def test_answers_are_made_range_by_range(ranked, n):
    frame, ids = ranked
    rows, estimate = rows_of(frame), {"colors": 3, "seed": 7}
    graph = nx.Graph(rows)
    graph.remove_edges_from(nx.selfloop_edges(graph))
    several = [ids[5], ids[90], ids[5], ids[3]]
    edges = apart(Pandas, frame, 4)
    with layout(n, 2, ranges=5):
        around = tc.vertex_triangles(edges, vertices=several).compute(scheduler="sync")
        mean = tc.average_clustering(edges, vertices=several)
        every = tc.annotate_vertices(edges, "degree", "clustering", "closure")
        assert tc.approximate_count(edges, **estimate) == tc.approximate_count(frame, **estimate)
        ties = tc.annotate_vertices(edges, "constraint")
        common = tc.annotate(edges, "adamic_adar", "resource_allocation")
        share, triads = tc.transitivity(edges), tc.triad_counts(edges)
        types = tc.triangles_by_type(edges, edge_type="t")
        with pytest.raises(ValueError, match="1 of vertices= not in the graph"):
            tc.vertex_triangles(edges, vertices=[*several, type(ids[0])(999)])
        with pytest.raises(ValueError, match="1 of vertices= not in the graph"):
            tc.average_clustering(edges, vertices=[*several, type(ids[0])(999)])
    corners = reference.vertex_triangles(rows)
    assert around["vertex"].tolist() == several and around.index.tolist() == [0, 1, 2, 3]
    assert around["triangles"].tolist() == [corners[vertex] for vertex in several]
    of_several = nx.clustering(graph, several)
    assert mean == pytest.approx(sum(of_several.values()) / 3)
    every = every.compute(scheduler="sync").set_index("vertex")
    assert every["degree"].to_dict() == dict(graph.degree)
    assert every["clustering"].to_dict() == pytest.approx(nx.clustering(graph))
    assert_same(together(Pandas, ties), tc.annotate_vertices(frame, "constraint"))
    wide = common.compute(scheduler="sync")
    assert_same(wide, tc.annotate(frame, "adamic_adar", "resource_allocation"))
    for column in ("adamic_adar", "resource_allocation"):
        first = getattr(nx, f"{column}_index")(graph, rows[:9])
        assert wide[column].tolist()[:9] == pytest.approx([value for _, _, value in first])
    assert share == pytest.approx(nx.transitivity(graph))
    assert by_triad(triads)["triangle"] == reference.count(rows)
    assert triads["count"].sum() == len(graph) * (len(graph) - 1) * (len(graph) - 2) // 6
    assert_same(together(Pandas, types), tc.triangles_by_type(frame, edge_type="t"))


@pytest.mark.pandas_only
def test_rows_that_disagree_are_named_in_ranges(ranked):
    frame, _ = ranked
    wrong = frame.iloc[[0, 9, 20, 0]].assign(t=[1, 1, 1, 2])
    with pytest.raises(ValueError) as expected:
        tc.triangles_by_type(wrong, edge_type="t")
    with layout(1, 1, ranges=4), pytest.raises(ValueError) as found:
        tc.triangles_by_type(apart(Pandas, wrong, 2), edge_type="t")
    assert str(found.value) == str(expected.value)


@pytest.mark.pandas_only
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("dtype", ["int64", "str", "category", "object"])
def test_no_ids_in_ranges(name, dtype):
    frame = pd.DataFrame({"src": [], "dst": []}, dtype=dtype)
    with layout(2, 1, ranges=3):
        found = ASKED[name](from_parts([frame, frame]))
    assert_same(together(Pandas, found), ASKED[name](frame))


@pytest.mark.pandas_only
def test_a_kept_graph_in_ranges(ranked):
    frame, _ = ranked
    edges = apart(Pandas, frame, 4)
    with layout(2, 1, ranges=4):
        graph = tc.Graph(edges)
        assert tc.count(graph) == tc.count(frame) == tc.count(graph)
        for ask in (tc.vertex_triangles, tc.clustering, lambda g: tc.annotate(g, "jaccard")):
            assert_same(together(Pandas, ask(graph)), ask(frame))


@pytest.mark.pandas_only
def test_groups_are_in_one_range():
    frame = datasets.rmat(8, seed=2).assign(graph=lambda rows: rows.index % 3)
    edges = apart(Pandas, frame, 4)
    for ask in (tc.vertex_triangles, tc.average_clustering, tc.triad_counts):
        with layout(2, 1, ranges=4):
            found = ask(edges, by="graph")
        assert_same(together(Pandas, found), ask(frame, by="graph"))
    with pytest.raises(tc.CapacityError, match='the stage "order" needs'):
        tc.vertex_triangles(edges, by="graph", memory_limit=23 * 256)


@pytest.mark.pandas_only
def test_ties_of_blocks_without_an_edge():
    frame = pd.DataFrame({"src": [0, 0, 1], "dst": [1, 2, 2]})  # in 3 of 9 blocks
    edges, expected = apart(Pandas, frame, 2), nx.constraint(nx.Graph(rows_of(frame)))
    with layout(3, 1, ranges=2):
        found = tc.annotate_vertices(edges, "constraint").compute(scheduler="sync")
    assert dict(rows_of(found, "vertex", "constraint")) == pytest.approx(expected)


REFUSED_IN_RANGES = {
    "list_triangles": tc.list_triangles,
    "iter_triangles": lambda edges: next(tc.iter_triangles(edges, max_rows=9)),
    "triad_counts vertices=": lambda edges: tc.triad_counts(edges, vertices=[]),
    "count within=": lambda edges: tc.count(edges, time="t", within=1),
    "clustering weight=": lambda edges: tc.clustering(edges, weight="weight"),
    "transitivity directed=": lambda edges: tc.transitivity(edges, directed=True),
    "triangles_by_type per=": lambda edges: tc.triangles_by_type(edges, edge_type="t", per="edge"),
}


@pytest.mark.pandas_only
@pytest.mark.parametrize("name", REFUSED_IN_RANGES)
def test_what_needs_all_ranks_on_a_worker_says_so(ranked, name):
    frame, _ = ranked
    told = r"ids on one worker, and they are cut in 4 ranges by use_layout\(\): give it ranges=1"
    with layout(2, 1, ranges=4), pytest.raises(tc.CapacityError, match=told):
        REFUSED_IN_RANGES[name](apart(Pandas, frame, 3))


@pytest.mark.parametrize("listed", [0, 90])
def test_the_bytes_of_ids_that_are_cut_are_told(listed):
    """They are those of a list of the ids, too, if these are no dense integers."""
    where = dict.fromkeys(("executor", "context", "ids_of_all"))
    ids = block_map.Numbered(
        **where, workers=[], batches=[], rows=[], name="count", method="auto", size=10, free=200,
        listed=listed, ranges=[None] * 3,
    )  # fmt: skip
    told = rf"all 10 ids on one worker: {240 + listed} bytes .*, of 200; raise memory_limit="
    with pytest.raises(tc.CapacityError, match=told):
        ids.require_whole()


@pytest.mark.pandas_only
def test_many_ids_are_ranked_in_ranges_that_fit():
    assert grid.range_count(10**9, 24 * 10**9, 64) == 1
    for ids, workers in ((4 * 10**9, 64), (10**9, 4), (10**8, 1)):
        many = grid.range_count(ids, 10**9, workers)
        assert costs.CLUSTER_NUMBER * ids / many <= 4 * ids / workers**0.5
        assert costs.CLUSTER_NUMBER * ids / many <= 10**9 / costs.RANGE_SHARE
    assert grid.range_count(10**6, 24 * 10**6, 4, id_bytes=10**7) > 1
    frame, limit = datasets.rmat(12), 80_000  # of 4,096 ids: 24 bytes each are more
    assert tc.count(apart(Pandas, frame, 5), memory_limit=limit) == tc.count(frame)


@pytest.mark.pandas_only
def test_the_dtype_that_comes_back():
    for name, dtype in {"wider and wider": "int64", "with and without sign": "uint64"}.items():
        assert (
            tc.vertex_triangles(from_parts(MIXED[name])).compute(scheduler="sync")["vertex"].dtype
            == dtype
        )
    whole = from_parts(MIXED["whole floats"])
    assert tc.simple_edges(whole).dtypes.tolist() == ["int64", "int64"]


REFUSED = {
    "nulls in two partitions": (
        frames(np.array([0.0, np.nan, 2.0]), np.array([np.nan, np.nan, 1.0])),
        (tc.NullIdError, "'src' has 3 nulls"),
    ),
    "halves": (
        frames(np.array(A, "float64"), np.array([0.0, 1.5, 2.0])),
        (tc.IdTypeError, "'src' has dtype float64 and holds 1.5"),
    ),
    "text beside numbers": (
        frames(pd.Series(["x", "y", "z"], dtype="str"), np.array(A)),
        (tc.IdTypeError, "'src'.*int64"),
    ),
    "mixed objects": (
        frames(pd.Series(["x", "y", "z"], dtype="object"), pd.Series(["x", 1, 2], dtype="object")),
        (tc.IdTypeError, "'src'.*mixed"),
    ),
    "bool": (
        frames(np.array([True, False, True])),
        (tc.IdTypeError, "bool"),
    ),
    "two units of dates": (
        frames(
            pd.date_range("2024", periods=3).as_unit("s"),
            pd.date_range("2024", periods=3).as_unit("ns"),
        ),
        (tc.IdTypeError, "unit"),
    ),
    "negative beside uint64": (
        frames(np.array([-1, 0, 1]), np.array([2**63, 1, 2], "uint64")),
        (tc.IdTypeError, "uint64"),
    ),
}


@pytest.mark.pandas_only
@pytest.mark.parametrize("name", REFUSED)
def test_ids_that_no_frame_may_have_are_refused(name):
    parts, (error, message) = REFUSED[name]
    for function in (tc.count, tc.simple_edges, tc.vertex_triangles):
        with pytest.raises(error, match=message):
            function(from_parts(parts))


@pytest.mark.pandas_only
@pytest.mark.parametrize(
    "src, dst",
    [
        (pd.Series([True, False, True]), pd.Series([True, True, False])),
        (pd.to_timedelta([1, 2, 3], unit="s"), pd.Series(A)),
        (pd.Series(["x", "y", "z"], dtype="object"), pd.Series(A)),
        (pd.Series([-1, 0, 1]), pd.Series([2**63, 1, 2], dtype="uint64")),
        (pd.Series([0.5, 1.0, 2.0]), pd.Series(A)),
        (pd.Series([1.0, np.nan, 2.0]), pd.Series(A)),
    ],
)
def test_errors_of_types_are_told_once_however_many_look(src, dst):
    frame = pd.DataFrame({"src": src, "dst": dst})
    with pytest.raises(tc.RapidsTCError) as expected:
        tc.count(frame)
    with pytest.raises(type(expected.value)) as found:
        tc.count(from_parts([frame] * 6))
    assert str(found.value) == str(expected.value).replace("has 1 null:", "has 6 nulls:")


def test_errors_are_those_of_one_machine(backend):
    wrong = [
        (tc.count, {"source": "nope", "destination": "dst"}),
        (tc.count, {"source": "src"}),
        (tc.count, {"source": "src", "destination": "src"}),
        (tc.count, {"engine": "tpu"}),
        (tc.count, {"method": "nonsense"}),
        (tc.count, {"memory_limit": 0}),
        (tc.count, {"sauce": 1}),
        (tc.vertex_triangles, {"vertices": [1, 77, 78]}),
        (tc.vertex_triangles, {"vertices": ["a"]}),
        (tc.vertex_triangles, {"vertices": {1, 2}}),
        (tc.average_clustering, {"vertices": [77]}),
        (partial(tc.k_truss, k=1), {}),
        (partial(tc.k_truss, k="most"), {}),
        (tc.annotate, {}),
        (lambda edges, **_: tc.annotate(edges, "dice"), {}),
        (lambda edges, **_: tc.annotate(edges, "jaccard", "jaccard"), {}),
    ]
    for function, options in wrong:
        with pytest.raises(Exception) as expected:
            function(backend.frame(small()), **options)
        with pytest.raises(type(expected.value)) as found:
            function(apart(backend, small(), 3), **options)
        assert str(found.value) == str(expected.value)
    with pytest.raises(ValueError, match="jaccard"):
        tc.annotate(apart(backend, small().assign(jaccard=1), 2), "jaccard")


@pytest.mark.parametrize(
    "function", [tc.edge_triangles, tc.trussness, tc.similarity], ids=lambda f: f.__name__
)
def test_columns_alone_are_refused_and_annotate_named(backend, function):
    with pytest.raises(TypeError, match=r"Dask.*annotate\(edges"):
        function(apart(backend, small(), 2))


@pytest.mark.parametrize(
    "function",
    [partial(tc.vertex_cliques, k=4), partial(tc.truss_communities, k=3), plot.truss_profile],
)
def test_what_is_of_one_machine_says_so(backend, function):
    with pytest.raises(TypeError, match=r"Dask DataFrame.*compute\(\), or .*pairs="):
        tc.most_similar(apart(backend, small(), 2))
    with pytest.raises(TypeError, match=r"Dask DataFrame.*compute\(\), or .*k_truss\(edges, [k34]"):
        function(apart(backend, small(), 2))


def test_the_list_has_the_rows_of_one_machine(backend):
    frame = datasets.rmat(7)
    right = backend.to_pandas(tc.list_triangles(backend.frame(frame)))
    found = tc.list_triangles(apart(backend, frame, 5))
    pd.testing.assert_frame_equal(together(backend, found), right)
    hubs = frame["src"].value_counts().index[:2].tolist()
    of_hubs = together(backend, tc.list_triangles(apart(backend, frame, 5), vertices=hubs))
    expected = right[right.isin(hubs).any(axis=1)].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_hubs, expected)
    frames = [*map(backend.to_pandas, tc.iter_triangles(apart(backend, frame, 5), max_rows=1000))]
    assert [len(part) for part in frames[:-1]] == [1000] * (len(right) // 1000)
    whole = pd.concat(frames).sort_values([*right], ignore_index=True)
    pd.testing.assert_frame_equal(whole, right)
    none = together(backend, tc.list_triangles(apart(backend, frame.iloc[:1], 2)))
    assert len(none) == 0 and none.dtypes.equals(right.dtypes)


# Vertices, limits, methods ------------------------------------------------------------------------


def test_vertices_are_chosen(backend):
    edges = apart(backend, small(), 3)
    asked = [9, 2, 9, 7]
    found = together(backend, tc.vertex_triangles(edges, vertices=asked))
    assert rows_of(found, "vertex", "triangles") == [(9, 1), (2, 0), (9, 1), (7, 0)]
    one = tc.average_clustering(backend.frame(small()), vertices=asked)
    assert tc.average_clustering(edges, vertices=asked) == one
    lazy = apart(backend, pd.DataFrame({"v": asked}), 2)["v"]
    with dask.config.set(scheduler="sync"):
        found = together(backend, tc.clustering(edges, vertices=lazy))
    assert found["vertex"].tolist() == asked


def test_a_memory_limit_cuts_the_graph(backend, caplog):
    frame = datasets.rmat(10)
    edges = apart(backend, frame, 8)
    whole, total = grid.need(len(frame), 1024, 1), tc.count(backend.frame(frame))
    caplog.set_level("INFO", "rapids_tc")
    for limit, n in ((whole, 1), (whole - 1, 2), (grid.need(len(frame), 1024, 2) - 1, 3)):
        assert tc.count(edges, memory_limit=limit) == total
        assert f"{n} x {n} blocks" in caplog.messages[-1]
    with pytest.raises(tc.CapacityError, match="memory_limit"):
        tc.count(edges, memory_limit=1000)


@pytest.mark.parametrize("name", ASKED)
def test_what_was_chosen_is_logged(backend, caplog, name):
    caplog.set_level("INFO", "rapids_tc")
    ASKED[name](apart(backend, small(), 4))
    [told] = [m for m in caplog.messages if "rows in" in m]
    assert re.match(rf"{name.split()[0]}: [56] rows in 4 partitions on 3 workers; \d+ ", told)


def test_a_named_method_counts_whole_graphs(backend):
    if backend.engine_kwargs["engine"] == "cpu":
        with pytest.raises(ValueError, match="CUDA"):
            tc.count(apart(backend, small(), 2), method="polak")
        return
    frame = datasets.rmat(8)
    edges = apart(backend, frame, 3)
    assert tc.count(edges, method="polak") == tc.count(backend.frame(frame))
    with layout(2, 1), pytest.raises(tc.CapacityError, match="polak"):
        tc.count(edges, method="polak")


def test_the_engine_by_name(backend):
    edges = apart(backend, small(), 3)
    assert tc.count(edges, engine="cpu") == tc.count(edges, **backend.engine_kwargs) == 1
    moved = tc.annotate(edges, "triangles", engine="cpu")
    assert together(backend, moved)["triangles"].tolist() == TRIANGLES


@pytest.mark.cpu_only
def test_an_engine_that_is_not_there_says_what_to_install(backend):
    with pytest.raises(tc.KernelError, match=r"rapids_tc\[cu1[23]\]"):
        tc.count(apart(backend, small(), 3), engine="cuda")


def test_many_groups_combine_their_degrees(backend, monkeypatch):
    monkeypatch.setattr(block_map, "FEW", 2)
    frame = datasets.rmat(8)
    assert tc.count(apart(backend, frame, 11)) == tc.count(backend.frame(frame))


@pytest.mark.parametrize("n", [1, 3])
def test_rows_are_packed_a_few_at_a_time(backend, monkeypatch, n):
    monkeypatch.setattr(costs, "CLUSTER_ROW", 2**60)
    monkeypatch.setattr(stages, "LEAST_ROWS", 50)
    frame = datasets.rmat(7)
    with layout(n, 1):
        assert tc.count(apart(backend, frame, 5)) == tc.count(backend.frame(frame))


def test_what_no_card_makes_a_block_of_is_cut(backend, monkeypatch, caplog):
    monkeypatch.setattr(costs, "MOST_KEYS", 700)
    caplog.set_level("INFO", "rapids_tc")
    frame = datasets.rmat(7)
    assert tc.count(apart(backend, frame, 5)) == tc.count(backend.frame(frame))
    n = 2 if backend.engine_kwargs["engine"] == "cuda" else 1
    assert f"{n} x {n} blocks" in caplog.messages[-1]


def test_the_first_of_repeated_rows_is_kept_in_the_order_of_partitions(backend):
    rows = [(0, 1), (1, 0), (1, 2), (2, 0), (0, 1), (2, 1), (3, 3), (0, 2)]
    frame = pd.DataFrame(rows, columns=["src", "dst"]).assign(at=range(8))
    for partitions in (1, 2, 4, 8, 20):
        kept = together(backend, tc.k_truss(apart(backend, frame, partitions), 3))
        assert kept["at"].tolist() == kept.index.tolist() == [0, 2, 3]


@given(
    sizes=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=4),
    most=st.integers(0, 20),
)
def test_partitions_are_together_while_they_are_few_rows(sizes, most):
    place = count()
    places = [[next(place) for _ in own] for own in sizes]
    groups = [Batch(str(i), own, [f"p{p}" for p in own]) for i, own in enumerate(places)]
    made, rows = split_batches(groups, sizes, most)
    for worker, (own, known) in enumerate(zip(places, sizes, strict=True)):
        parts = [(g, r) for g, r in zip(made, rows, strict=True) if g.worker == str(worker)]
        assert [p for group, _ in parts for p in group.places] == own
        assert [p for group, _ in parts for p in group.partitions] == [f"p{p}" for p in own]
        assert [r for _, some in parts for r in some] == known
        assert all(len(some) == 1 or sum(some) <= most for _, some in parts)
        for (_, some), (_, after) in pairwise(parts):
            assert sum(some) + after[0] > most  # no two that could be together


# Partitions that change ---------------------------------------------------------------------------

DRIFTS = {
    "another id": lambda part: pd.concat([part.iloc[:-1], part.iloc[:1]]),
    "another order": lambda part: part.iloc[::-1],
    "two rows in each other's place": lambda part: part.iloc[[1, 0, *range(2, len(part))]],
    "fewer rows": lambda part: part.iloc[1:],
    "more rows": lambda part: pd.concat([part, part.iloc[:1]]),
    "no rows": lambda part: part.iloc[:0],
    "ends in each other's place": lambda part: part.assign(src=part["dst"], dst=part["src"]),
}
HELD = {
    "dense": lambda ids: ids,
    "narrow": lambda ids: ids.astype("int16"),
    "sparse": lambda ids: ids * 2**58,
    "floats": lambda ids: ids.astype("float64"),
    "text": lambda ids: ("n" * 7 + ids.astype(str)).astype("object"),
    "categories": lambda ids: ids.astype(str).astype("category"),
    "dates": lambda ids: pd.to_datetime(ids, unit="s"),
}
READERS = {  # what reads partitions again: a call, and its tasks
    "distinct": tc.count,
    "number": tc.vertex_triangles,
    "columns": lambda edges: tc.annotate(edges, "triangles"),
    "take": lambda edges: tc.k_truss(edges, 3),
}
DRIFTING = 6  # a partition, of 8


def drifting(backend, reader, drift):
    """A `Here` whose tasks of one kind read a partition that is not what it was."""

    class Drifting(Here):
        def submit(self, stage, run, function, *args, **options):
            if function.__name__ == reader:
                parts, prints, *rest = args
                parts = [
                    backend.from_pandas(drift(plain(backend, part)))
                    if own.place == DRIFTING
                    else part
                    for part, own in zip(parts, prints, strict=True)
                ]
                args = parts, prints, *rest
            return super().submit(stage, run, function, *args, **options)

    return Drifting


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("reader", READERS)
def test_a_partition_that_changes_is_told(backend, monkeypatch, reader, held):
    """Computed again after a worker is lost, a sample without a seed is another one."""
    if reader == "distinct" and held in ("dense", "narrow", "floats"):
        pytest.skip("these ids are their own numbers: nobody lists the distinct ones")
    frame = datasets.rmat(6).astype("int64")
    frame = pd.DataFrame({end: HELD[held](frame[end]) for end in ("src", "dst")})
    edges = apart(backend, frame, 8)
    READERS[reader](edges)
    first = 2 * [*READERS].index(reader) + [*HELD].index(held)
    for change in islice(cycle(DRIFTS.values()), first, first + 3):  # each kind of ids meets all
        with (
            worked_on_here(drifting(backend, reader, change)),
            pytest.raises(tc.KernelError, match=rf"partition {DRIFTING} .*persist\(\)"),
        ):
            READERS[reader](edges)


def test_rules_that_are_made_again_of_other_partitions_are_not_followed(backend, monkeypatch):
    """A worker that held them is lost: they must not number rows in another way than before."""

    class Drifting(Here):
        def submit(self, stage, run, function, *args, **options):
            if function.__name__ == "settled":
                library = run.__self__.backend.library
                changed = [library.concat([part, part]) for part in parts]
                seen = run(id_tasks.profile, changed, list(range(len(parts))))
                args = run(id_tasks.resolve_scheme, [seen]), [list(chain(*args[1]))]
            return super().submit(stage, run, function, *args, **options)

    parts = [backend.frame(small()) for _ in range(3)]
    with (
        worked_on_here(Drifting),
        pytest.raises(tc.KernelError, match=r"partition 0 .*12 rows for 6.*persist\(\)"),
    ):
        tc.count(from_parts(parts))


IDS = st.sampled_from([0, 1, 2, 3, 2**31, 2**32, 2**62, 2**63 - 1, -1, -(2**63)])
EDGES = st.lists(st.tuples(IDS, IDS), max_size=5)


@settings(max_examples=300, deadline=None)
@given(one=EDGES, other=EDGES)
def test_fingerprints_are_the_same_for_the_same_ids_in_the_same_order_alone(backend, one, other):
    several = one, one[::-1], other
    frames = [pd.DataFrame(rows, columns=["src", "dst"], dtype="int64") for rows in several]
    prints = [looked_at(backend, frame) for frame in frames]
    assert (prints[0] == prints[1]) == (one == one[::-1])
    assert (prints[0] == prints[2]) == (one == other)


def looked_at(backend, frame):
    """The fingerprint that a task takes of a frame of the library under test."""
    part = backend.from_pandas(frame)
    home = CudfAdapter() if backend.name == "cuda" else PandasAdapter()
    context = WorkerContext(home, edge_columns(["src", "dst"]), None, 1)
    [own] = context.run(id_tasks.profile, [part], [0]).fingerprints
    return own


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_a_fingerprint_is_of_the_ids_not_of_how_they_lie(backend, monkeypatch, pieces):
    """What was written to a file, or moved to another worker, may come back in other pieces."""
    ids = pd.Series(["a", "", "bcdefghijk", "é", "a", "lmn", "\U0001f600", "z" * 40])
    columns = {"text": ids, "categories": ids.astype("category"), "numbers": ids.str.len()}
    for name, column in columns.items():
        whole = pd.DataFrame({"src": column, "dst": column.iloc[::-1].array})
        bounds = np.linspace(0, len(whole), pieces + 1).astype(int)
        cut = pd.concat([whole.iloc[a:b] for a, b in pairwise(bounds)])
        assert looked_at(backend, whole) == looked_at(backend, cut), name
    other = ids.astype(pd.CategoricalDtype(sorted(set(ids), reverse=True)))
    ends = [{"src": column, "dst": column} for column in (columns["categories"], other)]
    assert looked_at(backend, pd.DataFrame(ends[0])) == looked_at(backend, pd.DataFrame(ends[1]))


@pytest.mark.parametrize("held", [lambda edges: edges, lambda edges: edges.assign(x=1)])
def test_a_partition_without_an_id_column_is_named(backend, held):
    """Whatever meta says: Dask does not hold partitions to it."""
    parts = map(held, [small(), small().rename(columns={"dst": "to"}), small()])
    edges = from_parts([backend.from_pandas(part) for part in parts])
    for function in (tc.count, tc.simple_edges, partial(tc.k_truss, k=2)):
        with pytest.raises(tc.ColumnNotFoundError, match=r"partition 1.*'dst'.*'src', 'to'"):
            function(edges)


def test_an_error_of_the_users_own_is_not_taken_for_a_column_that_lacks(backend):
    def broken(part):
        return part if len(part) > 6 else {}["nothing"]

    edges = dd.from_map(broken, [backend.frame(small())], meta=backend.frame(small()).iloc[:0])
    with pytest.raises(KeyError, match="nothing") as error:
        tc.count(edges)
    assert not isinstance(error.value, tc.RapidsTCError)


@pytest.mark.parametrize("name", ["triangles", "jaccard"])
def test_a_column_of_a_partition_that_meta_lacks_is_not_written_over(backend, name):
    parts = [backend.from_pandas(part) for part in (small(), small().assign(**{name: "mine"}))]
    with pytest.raises(ValueError, match=rf"partition 1 .*{name!r} already"):
        tc.annotate(from_parts(parts), "triangles", "jaccard")
    assert tc.count(from_parts(parts)) == 1


@pytest.fixture(scope="module")
def tampering():
    """What came of calls whose tasks got results that fit no graph, by what was changed."""
    done = subprocess.run(
        [sys.executable, tampered.__file__], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.pandas_only
@pytest.mark.parametrize("change", tampered.CHANGES)
def test_what_fits_no_graph_is_refused(tampering, change):
    """Before compiled loops are led by it."""
    told = [line.split(": ", 1)[1] for line in tampering if line.startswith(f"{change}, ")]
    asked = [line for line in told if line != "not asked"]
    assert asked
    assert all(re.match(r"KernelError: .*arrived.*persist\(\)", line) for line in asked)


# Versions of workers ------------------------------------------------------------------------------


class Asked:
    """Stands in for a client: workers by address, and what names stand for on each."""

    def __init__(self, **workers):
        self.workers, self.asked = workers, []

    def run(self, function, name, *, workers, on_error):
        assert function.__module__ == "pkgutil"  # which every worker has
        assert on_error == "return"
        self.asked += workers
        own = (self.workers[worker] for worker in workers)
        both = [(v, e) if not isinstance(v, Exception) else (v, v) for v, e in own]
        return dict(zip(workers, (pair["EDITION" in name] for pair in both), strict=True))

    @property
    def running(self):
        return {worker: {"local_directory": f"/of/{worker}"} for worker in self.workers}


def test_versions_are_asked_once_a_worker():
    same = tc.__version__, versions.EDITION
    client = Asked(a=same, b=same)
    versions.require_same(client, client.running)
    versions.require_same(client, client.running)
    assert client.asked == ["a", "b"]
    client.workers |= {"c": same, "d": (OSError("is lost"), "")}
    versions.require_same(client, client.running)
    assert client.asked[2:] == ["c", "d"]
    client.workers["d"] = same
    versions.require_same(client, client.running)
    assert client.asked[4:] == ["d"]
    again = client.running | {"a": {"local_directory": "/of/another process"}}
    versions.require_same(client, again)
    assert client.asked[5:] == ["a"]


@pytest.mark.parametrize(
    "other, told",
    [
        (("0.0.1", "other"), "b has 0.0.1"),
        (("0.0.1", AttributeError("no EDITION")), "b has 0.0.1"),
        ((tc.__version__, "other"), f"b has {tc.__version__} of other sources"),
        ((ModuleNotFoundError("No module named 'rapids_tc'"), ""), "b has none (No module named"),
    ],
)
def test_workers_with_other_versions_are_named(other, told):
    client = Asked(a=(tc.__version__, versions.EDITION), b=other)
    for _ in range(2):
        with pytest.raises(tc.KernelError, match=r"pip install 'rapids_tc==") as error:
            versions.require_same(client, client.running)
        assert told in str(error.value)
        assert "a has" not in str(error.value)
    many = Asked(**{f"w{i:02}": other for i in range(30)})
    with pytest.raises(tc.KernelError, match=r"w04 has.*; and 25 more\."):
        versions.require_same(many, many.running)


def test_a_task_of_other_sources_is_refused(backend, monkeypatch):
    """A worker may join at any time."""
    monkeypatch.setattr(partitioned, "WorkerContext", partial(WorkerContext, edition="another"))
    with pytest.raises(tc.KernelError, match=r"worker on .* another rapids_tc"):
        tc.count(apart(backend, small(), 3))
