"""Projections of bipartite frames: against NetworkX, and where the two columns share their ids."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from networkx.algorithms import bipartite

import rapids_tc as tc
from rapids_tc.plan import costs

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


def test_common_neighbors_past_16_bits():
    edges = pd.DataFrame({"user": np.repeat([7, 3], 70_000), "item": [*range(70_000)] * 2})
    found = tc.project(edges, at_least=70_000, measure="jaccard", source="user", destination="item")
    assert found.to_numpy().tolist() == [[3, 7, 70_000, 1.0]]
    assert not len(tc.project(edges, at_least=70_001, source="user", destination="item"))


def test_a_projection_that_is_too_long_is_refused_before_it_is_made():
    edges = pd.DataFrame({"user": np.arange(3000), "item": 0})
    ids = {"source": "user", "destination": "item"}
    limit = max(tc.memory_estimate(edges, function="project", **ids).values())
    with pytest.raises(tc.CapacityError, match=r"may have 4,498,500 rows.*at_least="):
        tc.project(edges, memory_limit=limit + 10**6, **ids)
    assert costs.PAIRED * 4_498_500 > 10**8
    assert not len(tc.project(edges, at_least=2, memory_limit=limit, **ids))
