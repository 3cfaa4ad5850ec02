"""Graphlets: against all sets of four vertices, igraph's motifs, and closed forms."""

from math import comb

import igraph as ig
import numpy as np
import pandas as pd
import pytest
import reference
from graphs import complete, dense_edge_lists, edge_lists
from hypothesis import given, settings

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.analytics import orbits
from rapids_tc.analytics.graphlets import GRAPHLETS, ORBITS
from rapids_tc.engines.cpu import engine as cpu

pytestmark = pytest.mark.cpu_only
MOTIFS = {"g3": 6, "g4": 4, "g5": 8, "g6": 7, "g7": 9, "g8": 10}  # igraph's numbers
IN_ONE = {"o0": 2, "o2": 1, "o3": 3, "o4": 2, "o7": 1, "o8": 4, "o11": 1, "o13": 2, "o14": 4}


def orbits_of(found):
    """{vertex: its orbits}."""
    return {v: tuple(row) for v, *row in found[["vertex", *ORBITS]].itertuples(index=False)}


@settings(max_examples=12, deadline=None)
@given(edge_lists(9, 60), dense_edge_lists(8))
def test_small_graphs_in_groups(sparse, dense):
    """Repeats, loops and both directions; every group is a graph of its own."""
    rows = [(u, v, g) for g, pairs in (("a", sparse), ("b", dense)) for u, v in pairs]
    edges = pd.DataFrame(rows, columns=["src", "dst", "g"]).astype({"src": "i8", "dst": "i8"})
    around, totals = tc.graphlets(edges, by="g"), tc.graphlet_counts(edges, by="g")
    assert [*totals["g"]] == [g for g in sorted(set(edges["g"])) for _ in GRAPHLETS]
    for group, own in edges.groupby("g"):
        pairs = list(own[["src", "dst"]].itertuples(index=False, name=None))
        assert orbits_of(around[around["g"] == group]) == reference.graphlets(pairs)
        counts = totals.loc[totals["g"] == group, ["graphlet", "count"]]
        right = reference.graphlet_counts(pairs)
        assert list(counts.itertuples(index=False, name=None)) == right
    assert totals["count"].dtype == "int64" and set(around[[*ORBITS]].dtypes) == {np.dtype("int64")}


def test_a_skewed_graph_beside_igraph():
    """Its degrees with repeats are in another order than without."""
    edges = datasets.rmat(7, seed=3)
    around, totals = tc.graphlets(edges), tc.graphlet_counts(edges)
    counts = dict(totals.itertuples(index=False, name=None))
    graph = ig.Graph(edges=edges.to_numpy().tolist()).simplify()
    motifs = graph.motifs_randesu(4)
    assert {name: counts[name] for name in MOTIFS} == {n: motifs[i] for n, i in MOTIFS.items()}
    assert [counts["g1"], counts["g2"]] == graph.motifs_randesu(3)[2:]
    in_one = zip(GRAPHLETS, IN_ONE.items(), strict=True)
    assert {g: around[orbit].sum() // k for g, (orbit, k) in in_one} == counts


def test_the_karate_club():
    """Values that ORCA and all sets of four vertices both give."""
    around = tc.graphlets(datasets.karate(), vertices=[33, 0])
    assert orbits_of(around) == {
        33: (17, 18, 121, 15, 81, 210, 3, 507, 25, 9, 26, 123, 1, 48, 2),
        0: (16, 17, 102, 18, 81, 197, 13, 352, 10, 6, 34, 171, 2, 30, 7),
    }


def at(**counts):
    return tuple(counts.get(orbit, 0) for orbit in ORBITS)


def test_closed_forms():
    """Counters past 2**16, and numbers past 2**32 at a vertex."""
    wide, n = 70_000, 30
    spokes, pairs, threes = np.arange(2, wide + 2), comb(wide, 2), comb(wide, 3)
    shapes = {
        "clique": complete(n).rows,
        "cycle": [(v, (v + 1) % n) for v in range(n)],
        "path": [(v, v + 1) for v in range(n)],
        "pages": np.stack([np.repeat([0, 1], wide), np.tile(spokes, 2)], axis=1),
    }
    frames = [pd.DataFrame(rows, columns=["src", "dst"]).assign(g=g) for g, rows in shapes.items()]
    edges = pd.concat(frames)
    counts = tc.graphlet_counts(edges, by="g").set_index(["g", "graphlet"])["count"]
    assert {g: rows.tolist() for g, rows in counts.groupby(level=0)} == {
        "clique": [comb(n, 2), 0, comb(n, 3), 0, 0, 0, 0, 0, comb(n, 4)],
        "cycle": [n, n, 0, n, 0, 0, 0, 0, 0],
        "path": [n, n - 1, 0, n - 2, 0, 0, 0, 0, 0],
        "pages": [2 * wide, 2 * pairs + wide, 0, 0, 2 * threes, pairs, 0, 0, 0],
    }
    around = tc.graphlets(edges, by="g")
    found = {g: orbits_of(rows) for g, rows in around.groupby("g")}
    assert found["clique"][7] == at(o0=n - 1, o3=comb(n - 1, 2), o14=comb(n - 1, 3))
    assert found["cycle"][7] == at(o0=2, o1=2, o2=1, o4=2, o5=2)
    assert found["path"][0] == at(o0=1, o1=1, o4=1)
    assert found["pages"][0] == at(o0=wide, o1=wide, o2=pairs, o7=threes, o8=pairs)
    leaf = at(o0=2, o1=2 * (wide - 1), o2=1, o6=2 * comb(wide - 1, 2), o8=wide - 1)
    assert found["pages"][2] == found["pages"][wide + 1] == leaf


# Numbers near 2**63 -------------------------------------------------------------------------------


def test_sets_of_three_do_not_wrap_on_the_way():
    numbers = [*range(7), *range(3_810_773, 3_810_780)]
    assert orbits._threes(np.array(numbers)).tolist() == [comb(n, 3) for n in numbers]


def test_the_largest_hub():
    assert comb(orbits.MOST_NEIGHBORS, 3) < 2**63 <= comb(orbits.MOST_NEIGHBORS + 1, 3)
    orbits.require_int64(orbits.MOST_NEIGHBORS)
    with pytest.raises(tc.CapacityError, match="3,810,780 neighbors"):
        orbits.require_int64(orbits.MOST_NEIGHBORS + 1)


@pytest.mark.parametrize("by", [None, "g"])
def test_totals_are_exact_or_refused(monkeypatch, by):
    """A graph of so many stars takes long: the stars of each vertex are made up."""
    edges = pd.DataFrame({"src": [0, 0, 0], "dst": [1, 2, 3], "g": [1, 1, 1]})
    call = {"edges": edges, "source": "src", "destination": "dst", "by": by}
    stars = np.array([2**62 + 2**31, 2**61 + 2**31, 2**60 - 2**32, 2**60 - 1])
    monkeypatch.setattr(orbits, "_threes", lambda degrees: stars)
    assert tc.graphlet_counts(**call)["count"].tolist() == [3, 3, 0, 0, 2**63 - 1, 0, 0, 0, 0]
    stars[3] += 1
    with pytest.raises(tc.CapacityError, match="g4 occurs 9,223,372,036,854,775,808 times"):
        tc.graphlet_counts(**call)


def test_cliques_that_may_have_wrapped(monkeypatch):
    at_last = np.full(4, 2**61)
    monkeypatch.setattr(cpu, "cliques", lambda csr, k, **_: (at_last, at_last))
    with pytest.raises(tc.CapacityError, match="9,223,372,036,854,775,808 cliques of 4"):
        tc.graphlets(pd.DataFrame(complete(4).rows, columns=["src", "dst"]))
