"""The frame of methods, and what a method of the wrong kind is told before any work."""

import numpy as np
import pandas as pd
import pytest

import rapids_tc as tc
from rapids_tc import datasets, testing

PUBLISHED = {
    *("polak", "green", "bisson", "tricore", "fox", "hu", "h-index", "trust", "grouptc", "radix"),
    "vertex-elimination",
}
EDGES = (
    *(tc.edge_triangles, tc.vertex_triangles, tc.clustering, tc.average_clustering),
    tc.similarity,
)
NO_EDGES = pd.DataFrame({"src": [True], "dst": [False]})  # an IdTypeError where they are read


def test_every_published_method_is_there():
    frame = tc.methods()
    assert set(frame["name"]) == PUBLISHED | {"bitmap"}
    assert list(frame) == [
        *("name", "aliases", "paper", "iterator", "intersection", "granularity", "returns")
    ]
    assert all(isinstance(text, str) for text in frame.to_numpy().ravel())
    assert (frame.drop(columns="aliases") != "").all(axis=None)
    assert frame["returns"].str.startswith("total").all()


def test_names_and_aliases_are_each_one_method():
    frame = tc.methods()
    names = [*frame["name"], *(a for text in frame["aliases"] if text for a in text.split(", "))]
    assert len(names) == len(set(names)) and "auto" not in names


@pytest.mark.parametrize("name", [*tc.methods()["name"], "binary_search", "hash", "auto"])
def test_a_name_counts(name):
    edges = datasets.karate()
    with testing.host_engine():
        assert tc.count(edges, method=name) == 45
        assert tc.transitivity(edges, method=name) == pytest.approx(135 / 528)


@pytest.mark.parametrize("function", [*EDGES, tc.count, tc.transitivity, tc.triad_counts])
def test_a_name_that_is_none_is_told_all_names(function):
    with pytest.raises(ValueError, match="method='nonsense' is not known") as caught:
        function(NO_EDGES, method="nonsense")
    assert all(name in str(caught.value) for name in ("auto", "bitmap", "hash"))


@pytest.mark.parametrize("function", EDGES)
@pytest.mark.parametrize("name", sorted(PUBLISHED - {"tricore", "trust"}))
def test_who_gives_totals_alone_is_told_who_counts_edges(function, name):
    with pytest.raises(ValueError, match=f"method='{name}' gives no counts of edges") as caught:
        function(NO_EDGES, method=name)
    assert "bitmap, tricore, binary_search, trust, hash" in str(caught.value)


def test_who_gives_edge_counts_is_asked():
    edges = datasets.karate()
    with testing.host_engine():
        counts = [tc.edge_triangles(edges, method=name) for name in ("auto", "hash", "tricore")]
    assert all((np.asarray(count) == np.asarray(counts[0])).all() for count in counts)
