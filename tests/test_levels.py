"""Truss numbers of graphs in blocks: bounds that fall, what is known of them, and how many rounds.

The oracle is the definition. Graphs are cliques, chains, grids and stars, joined, and R-MAT graphs.
"""

from collections import Counter
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import reference
from graphs import complete, dense_edge_lists, edge_lists, star, tube
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.blocks import levels
from rapids_tc.blocks.distributed_levels import DistributedLevels
from rapids_tc.blocks.levels import Survey
from rapids_tc.blocks.stored_levels import StoredLevels
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.plan.layout import Layout, use_layout

pytestmark = pytest.mark.cpu_only
ENGINES = {"cpu": nullcontext, "cuda": testing.host_engine}
PARTS = {
    "clique": lambda size: complete(size + 2).rows,
    "chain": lambda size: [(i, i + step) for i in range(3 * size) for step in (1, 2)],
    "grid": lambda size: tube(4, size + 1).rows,
    "star": lambda size: star(size).rows,
}


def joined(parts):
    """Graphs side by side, each sharing two vertices with the one before."""
    rows, first = [], 0
    for kind, size in parts:
        part = PARTS[kind](size)
        rows += [(first + u, first + v) for u, v in part]
        first += max(map(max, part)) - 1
    return rows


joined_graphs = st.lists(
    st.tuples(st.sampled_from(sorted(PARTS)), st.integers(1, 6)), min_size=1, max_size=4
).map(joined)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"])


def in_partitions(frame, partitions=4):
    return PartitionedFrame([frame.iloc[part::partitions] for part in range(partitions)])


def on_workers(frame, n, below, m=1):
    """The trussness of every row, by tasks in this process."""
    with use_layout(Layout(n, m, below)):
        found = tc.annotate(in_partitions(frame), "trussness")
    return pd.concat(found.partitions)["trussness"].sort_index().tolist()


@settings(max_examples=8, deadline=None)
@given(
    rows=joined_graphs | edge_lists() | dense_edge_lists(),
    n=st.integers(2, 4),
    below=st.sampled_from([0, 12, 25, 50]),
    engine=st.sampled_from(["cpu"] * 5 + ["cuda"]),
)
def test_any_graph_in_blocks(rows, n, below, engine):
    if not rows:
        return
    frame, expected = frame_of(rows), reference.by_row(rows, reference.trussness(rows))
    with ENGINES[engine]():
        with in_blocks(n, peel_below=below):
            assert tc.trussness(frame).tolist() == expected
        assert on_workers(frame, n, below, 1 + n % 2) == expected


def clique_and_tube():
    """A clique that is known at once, a tube that falls ring by ring, and fans between them."""
    rows, random = complete(30).rows + tube(5, 8).rows, np.random.default_rng(1)
    for fan in range(40, 52):
        rows += [(int(end), fan) for end in random.choice(30, 3, replace=False)] + [(fan - 1, fan)]
    return rows


@pytest.mark.parametrize("engine", ENGINES)
def test_open_edges_are_peeled_with_their_companions(monkeypatch, engine):
    rows, peeled = clique_and_tube(), []
    for kind in (StoredLevels, DistributedLevels):
        peel = kind.peel_ranges

        def noted(self, survey, peel=peel):
            peeled.append((survey.open_edges, self.edges))
            peel(self, survey)

        monkeypatch.setattr(kind, "peel_ranges", noted)
    frame, expected = frame_of(rows), reference.by_row(rows, reference.trussness(rows))
    with ENGINES[engine]():
        with in_blocks(2, peel_below=300):
            assert tc.trussness(frame).tolist() == expected
        assert on_workers(frame, 2, 300) == expected
    assert len(peeled) == 2
    assert all(some < 100 < 400 < edges for some, edges in peeled)  # the clique is not among them


def rounds_and_tasks(monkeypatch, edges, column, n, below):
    asked = Counter()

    def submit(self, stage, function, *args, on=None, first=False):
        asked[function.__name__] += 1
        return function(*args)

    monkeypatch.setattr(LocalExecutor, "submit", submit)
    with use_layout(Layout(n, 1, below)):
        tc.annotate(edges, column)
    return asked["level_counts"] // n**3 + 1, asked.total()


@pytest.mark.parametrize("n", [2, 4])
def test_rounds_are_few(monkeypatch, n):
    """Level by level, R-MAT 10 in 2 x 2 blocks took 131 rounds."""
    frame = datasets.rmat(10)
    edges, below = in_partitions(frame), len(frame) // n**2
    rounds, tasks = rounds_and_tasks(monkeypatch, edges, "trussness", n, below)
    _, of_count = rounds_and_tasks(monkeypatch, edges, "triangles", n, below)
    assert rounds <= 15 and tasks < 12 * of_count


def test_a_survey():
    """Levels 0 to 6; some edge of bound 4 reached 2 alone, and some of bound 6 reached 5."""
    survey = Survey(np.array([0, 0, 0, 1, 0, -1, 1, -1]), np.array([9, 0, 4, 3, 5, 2, 1, 0]))
    assert survey.is_open.tolist() == [False, False, False, True, True, False, True, False]
    assert survey.ranges == [(2, 5), (5, 7)]
    assert (survey.floor, survey.remaining) == (2, 15)
    assert survey.open_edges == 4 + 3 + 5 + 2 + 1
    assert survey.bottoms.tolist() == [0, 1, 2, 2, 2, 5, 5, 7]
    assert survey.cap == 3  # 11 edges are a clique of 5 vertices, 8 of no 6


def test_bounds_are_lowered_by_what_was_counted():
    """Too few reach a probe; enough reach it; enough reach the bound; nothing is asked."""
    asked = [np.array(part, np.uint32) for part in ([9, 9, 9, 0], [5, 5, 7, 0])]
    counts = np.array([[2, 3, 9, 0], [4, 6, 12, 0]], np.uint32)
    upper, reached = levels.lowered(asked, counts, np)
    assert upper.tolist() == [4, 6, 9, 0] and reached.tolist() == [4, 5, 9, 0]
    following = levels.probes([upper, reached], 8, np)
    assert [part.tolist() for part in following] == [[4, 6, 8, 0], [4, 6, 8, 0]]


def test_no_level_is_above_what_the_edges_allow():
    for size in range(3, 30):
        assert size - 2 <= levels.most_levels(size * (size - 1) // 2)
