"""Projections of bipartite frames: against NetworkX, and where the two columns share their ids."""

import tracemalloc
from contextlib import nullcontext
from functools import partial
from itertools import islice

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from emulator_support import Numpy, compiler, plain_only
from needs import need_module
from networkx.algorithms import bipartite

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.engines import registry
from rapids_tc.plan import costs

__all__ = ["compiler"]
pytestmark = pytest.mark.cpu_only
WOMEN = nx.davis_southern_women_graph()
DAVIS = pd.DataFrame(WOMEN.edges(), columns=["woman", "meeting"])
COLUMNS = {"source": "woman", "destination": "meeting"}
OF_NETWORKX = {
    "common": bipartite.weighted_projected_graph,
    "ratio": lambda graph, side: bipartite.weighted_projected_graph(graph, side, ratio=True),
    "newman": bipartite.collaboration_weighted_projected_graph,
    "jaccard": bipartite.overlap_weighted_projected_graph,
}


@pytest.mark.parametrize("column", OF_NETWORKX)
@pytest.mark.parametrize("side", ["source", "destination"])
def test_networkx_gives_the_same_weights(column, side):
    measure = None if column == "common" else column
    found = tc.project(DAVIS, side=side, measure=measure, **COLUMNS)
    part = {*DAVIS[COLUMNS[side]]}
    right = OF_NETWORKX[column](WOMEN, part)
    weights = {tuple(sorted(pair)): right.edges[pair]["weight"] for pair in right.edges}
    pairs = list(zip(found["u"], found["v"], strict=True))
    assert pairs == sorted(weights)
    np.testing.assert_allclose(found[column], [weights[pair] for pair in pairs], rtol=1e-13)


def test_a_user_is_no_item_of_the_same_id():
    """Pooled, 0 and 1 would be joined by what they bought."""
    edges = pd.DataFrame({"user": [0, 0, 1, 1], "item": [0, 1, 0, 1]})
    ids = {"source": "user", "destination": "item"}
    for frame in (edges, edges.astype({"item": "str"})):
        for side, dtype in (("source", "int64"), ("destination", frame["item"].dtype)):
            found = tc.project(frame, side=side, measure="ratio", **ids)
            assert found.astype({"u": "int64", "v": "int64"}).to_numpy().tolist() == [[0, 1, 2, 1]]
            assert found["u"].dtype == dtype


WRONG = {
    "a side": (tc.project, {"side": "left"}, "side='left'; accepted: 'source', 'destination'$"),
    "a minimum": (tc.project, {"at_least": 0}, "at_least=0; accepted: an integer from 1 on$"),
    "no measure": (tc.project, {"measure": "sum"}, "'newman', 'ratio', or None$"),
    "rows": (tc.iter_project, {"max_rows": True}, "max_rows=True; accepted: an integer from 1 on$"),
    "a top": (tc.most_similar, {"top": 2.0}, "top=2.0; accepted: an integer from 1 on$"),
    "a measure": (tc.most_similar, {"measure": None}, "measure=None; .*'resource_allocation'$"),
    "a degree": (tc.most_similar, {"most_degree": 0}, "accepted: an integer from 1 on, or None$"),
    "a similarity": (tc.similarity, {"measure": ["jaccard"]}, "accepted: .*'edge_clustering'$"),
}


@pytest.mark.parametrize("call", WRONG)
def test_an_option_out_of_range(call):
    function, options, words = WRONG[call]
    with pytest.raises(ValueError, match=words):
        function(DAVIS, **COLUMNS, **options)


@pytest.mark.parametrize("prepared", [False, True])
def test_polars_enums_stay_enums(prepared):
    polars = need_module("polars")
    users, items = polars.Enum(["b", "a", "c"]), polars.Enum(["y", "x"])
    edges = polars.DataFrame(
        {"user": ["a", "b", "a", "b"], "item": ["x", "x", "y", "y"]},
        schema={"user": users, "item": items},
    )
    ids = {"source": "user", "destination": "item"}
    project = partial(tc.project, edges, **ids)
    if prepared:
        project = tc.Graph(edges, bipartite=True, **ids).project
    for side, kind in (("source", users), ("destination", items)):
        found = project(side=side)
        assert found.schema == {"u": kind, "v": kind, "common": polars.Int64}
        assert found["common"].to_list() == [2]


def test_common_neighbors_past_16_bits():
    edges = pd.DataFrame({"user": np.repeat([7, 3], 70_000), "item": [*range(70_000)] * 2})
    found = tc.project(edges, at_least=70_000, measure="jaccard", source="user", destination="item")
    assert found.to_numpy().tolist() == [[3, 7, 70_000, 1.0]]
    assert not len(tc.project(edges, at_least=70_001, source="user", destination="item"))


def test_a_projection_that_is_too_long_is_refused_before_it_is_made():
    edges = pd.DataFrame({"user": np.arange(3000), "item": 0})
    ids = {"source": "user", "destination": "item"}
    limit = max(tc.memory_estimate(edges, function="project", **ids).values())
    with pytest.raises(tc.CapacityError, match=r"may have 4,498,500 rows.*at_least=.*iter_project"):
        tc.project(edges, memory_limit=limit + 10**6, **ids)
    assert costs.PAIRED * 4_498_500 > 10**8
    assert not len(tc.project(edges, at_least=2, memory_limit=limit, **ids))


ENGINES = {
    "cpu": nullcontext,
    "emulated cuda": partial(testing.host_engine, xp=Numpy(None)),
}
CALLS = {
    "plain": {},
    "a minimum": {"at_least": 2, "measure": "ratio"},
    "the other side": {"side": "destination", "measure": "newman"},
    "groups": {"by": "day", "measure": "cosine"},
    "several columns": {"source": ["user", "day"], "destination": ["item", "place"]},
    "no pair": {"at_least": 99},
}


@plain_only
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("call", CALLS)
def test_frames_are_the_rows_of_the_whole(call, engine):
    """Also if the pairs of one vertex take several frames, or a frame those of several."""
    rng = np.random.default_rng(3)
    hub = pd.DataFrame({"user": 5, "item": range(12)})
    edges = pd.DataFrame({"user": rng.integers(0, 12, 50), "item": rng.integers(0, 15, 50)})
    edges = pd.concat([edges, hub], ignore_index=True)
    edges["day"] = np.where(edges.index % 4, "mon", "tue")
    edges["place"] = edges.index % 2
    options = {"source": "user", "destination": "item", **CALLS[call]}
    with ENGINES[engine]():
        whole = tc.project(edges, **options)
        for rows in (1, 7, 10**20):
            frames = list(tc.iter_project(edges, max_rows=rows, **options))
            sizes = [len(frame) for frame in frames]
            assert sizes[:-1] == [rows] * len(sizes[:-1]) and sum(sizes) == len(whole)
            if frames:
                found = pd.concat(frames, ignore_index=True)
                pd.testing.assert_frame_equal(found, whole, check_exact=True)
    assert (len(whole) == 0) == (call == "no pair")


def test_frames_are_made_when_asked_for(monkeypatch):
    """Of the frame as it was at the call; and each vertex is searched once for all frames."""
    engine, asked = registry.load("cpu"), []
    search = engine.list_pairs

    def noted(ends, places, at_least, starts, first, last):
        asked.append(last - first)
        return search(ends, places, at_least, starts, first, last)

    monkeypatch.setattr(engine, "list_pairs", noted)
    edges = pd.DataFrame({"user": [*range(9)], "item": 0})
    frames = tc.iter_project(edges, max_rows=3, source="user", destination="item")
    edges["item"] = range(9)
    assert asked == []
    assert next(frames).to_numpy().tolist() == [[0, v, 1] for v in (1, 2, 3)]
    assert [sum(asked), len(next(frames))] == [1, 3]  # counted before; the others of 0 are left
    assert sum(map(len, frames)) == 30 and sum(asked) == 9 - 1  # 8 has no pair of its own


def test_frames_of_more_pairs_than_memory_holds():
    edges = pd.DataFrame({"user": np.arange(3000), "item": 0})
    ids = {"source": "user", "destination": "item"}
    limit = max(tc.memory_estimate(edges, function="iter_project", **ids).values()) + 10**6
    frames = tc.iter_project(edges, max_rows=5000, memory_limit=limit, **ids)
    next(frames)  # compiled, and counted
    tracemalloc.start()
    assert [len(frame) for frame in islice(frames, 20)] == [5000] * 20
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < costs.PAIRED * (5000 + 2999) + costs.WEDGE_END * 3001
    frames = tc.iter_project(edges, max_rows=10**9, memory_limit=limit, **ids)
    with pytest.raises(tc.CapacityError, match=r"a frame, .* have 4,498,500 rows.*fewer rows"):
        next(frames)
