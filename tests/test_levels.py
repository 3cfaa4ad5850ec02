"""Truss numbers of graphs in blocks: bounds that fall, what is known of them, and how many rounds.

The oracle is the definition. Graphs are cliques, chains, grids and stars, joined, and R-MAT graphs.
"""

from collections import Counter
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import reference
from dask_support import innermost
from graphs import clique_and_tube, complete, dense_edge_lists, edge_lists, star, tube
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.blocks import levels
from rapids_tc.blocks.levels import Survey
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

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
    with use_layout(BlockLayout(n, m, below)):
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


@pytest.mark.parametrize("engine", ENGINES)
def test_chosen_edges_are_peeled_with_their_companions(monkeypatch, engine):
    rows, peeled, peel = clique_and_tube(), [], levels.peel_chosen

    def noted(blocks, supports, edges, *sizes, **options):
        supports = list(supports)
        stay = sum(int((part == levels.STAYS).sum()) for part in supports)
        peeled.append((edges - stay, stay))
        return peel(blocks, supports, edges, *sizes, **options)

    monkeypatch.setattr(levels, "peel_chosen", noted)
    frame, expected = frame_of(rows), reference.by_row(rows, reference.trussness(rows))
    with ENGINES[engine]():
        with in_blocks(2, peel_below=300):
            assert tc.trussness(frame).tolist() == expected
        apart = peeled.copy()
        assert on_workers(frame, 2, 300) == expected
    assert peeled == 2 * apart
    assert all(chosen > 0 and chosen + stay < 300 for chosen, stay in peeled)
    assert any(stay > 0 for _, stay in peeled)  # of the clique, which is known at once


def rounds_and_tasks(monkeypatch, edges, column, n, below):
    asked = Counter()

    def submit(self, stage, function, *args, on=None, first=False):
        asked[innermost(function, args).__name__] += 1
        return function(*args)

    monkeypatch.setattr(LocalExecutor, "submit", submit)
    with use_layout(BlockLayout(n, 1, below)):
        tc.annotate(edges, column)
    return asked["level_counts"] // n**3 + 1, asked.total()


@pytest.mark.parametrize("n", [2, 4])
def test_rounds_are_few(monkeypatch, n):
    """Level by level, R-MAT 10 in 2 x 2 blocks took 131 rounds."""
    frame = datasets.rmat(10)
    edges, below = in_partitions(frame), len(frame) // n**2
    rounds, tasks = rounds_and_tasks(monkeypatch, edges, "trussness", n, below)
    _, of_count = rounds_and_tasks(monkeypatch, edges, "triangles", n, below)
    assert rounds <= {2: 10, 4: 14}[n] and tasks < 12 * of_count


@pytest.mark.parametrize("below", [0, 50])
@pytest.mark.parametrize("kind, size", [("grid", 30), ("chain", 40)])
def test_a_core_that_collapses_edge_by_edge(kind, size, below):
    """All edges of a tube have its level in triangles, and go ring by ring from both ends."""
    rows = PARTS[kind](size)
    frame, expected = frame_of(rows), reference.by_row(rows, reference.trussness(rows))
    with in_blocks(2, peel_below=below):
        assert tc.trussness(frame).tolist() == expected
    assert on_workers(frame, 2, below) == expected


def test_a_survey():
    """Levels 0 to 6; some edge of bound 4 reached 2 alone, and some of bound 6 reached 5."""
    tallied = np.array([[0, 0, 0, 1, 0, -1, 1, -1], [9, 0, 4, 3, 5, 2, 1, 0]])
    survey = Survey.of(tallied, None)
    assert survey.is_open.tolist() == [False, False, False, True, True, False, True, False]
    assert (survey.floor, survey.remaining) == (3, 11)
    assert survey.open_edges == 3 + 5 + 1
    assert survey.floors.tolist() == [0, 1, 2, 2, 2, 5, 5, 7]
    assert survey.cap == 3  # 11 edges are a clique of 5 vertices, 8 of no 6
    tallied[0] = [0, 1, 0, 0, 0, -1, 0, 0]
    after = Survey.of(tallied, survey)  # a level that was closed is not open again
    assert after.is_open.tolist() == [False, False, False, True, True, False, False, False]


def test_a_goal():
    """Bounds are capped; edges are chosen from the highest open level down, as many as fit."""
    edges = np.array([9, 0, 4, 3, 6, 2, 1, 0, 6, 0])
    survey = Survey(np.array([0, 1, 0, 1, 1, 0, 1, 1, 1, 0], bool), edges)

    def chosen(fit, **guess):
        goal = survey.goal(lambda edges, low: edges <= fit, levels.Guess(**guess))
        assert goal.cap == 4 and goal.floors.tolist() == [0, 0, 2, 2, 2]
        return goal.low, goal.high, goal.chooses

    assert chosen(20, rate=0) == (3, 5, True)  # 15 edges of bound 4 or more, 3 of bound 3
    assert chosen(30, rate=0) == (1, 5, True)
    assert chosen(25, rate=0.5) == (4, 5, True)
    assert chosen(20, rate=0.5) == (4, 5, True)  # the guess may be wrong
    assert chosen(20, rate=0.5, missed=(4, 5)) == (5, 5, False)
    assert chosen(20, rate=0.5, most=2) == (3, 5, True)
    assert chosen(13, rate=0) == chosen(20, pauses=True) == (5, 5, False)


def test_a_guess():
    guess = levels.Guess()
    goal = levels.Goal(9, 4, 7, None)
    fit = guess.after(goal, 100, 200, fit=True)
    assert fit.with_companions(10) == 32 and fit.missed == (0, 0)
    missed = guess.after(goal, 100, 200, fit=False)
    assert missed.with_companions(25) == 125 and missed.missed == (4, 7)
    assert missed.with_companions(75) == 275  # fewer edges have no more companions
    assert fit.after_peel(10, 2).pauses and not fit.after_peel(10, 3).pauses
    assert not fit.after_peel(0, 0).pauses


def goal_of(levels_closed, cap, low, high):
    floors = np.maximum.accumulate(np.where(levels_closed, np.arange(len(levels_closed)), 0))
    return levels.Goal(cap, low, high, floors.astype("uint32"))


def test_bounds_are_lowered_by_what_was_counted():
    """Too few reach a probe; enough reach it; enough reach the bound; nothing is asked."""
    goal = goal_of([True] + 9 * [False], 9, 10, 10)
    asked = np.array([9, 9, 9, 0], np.uint64) << np.uint64(32) | np.array([5, 5, 7, 0], np.uint64)
    counts = np.array([[2, 3, 9, 0], [4, 6, 12, 0]], np.uint32)
    upper, reached, before = levels.lowered(asked, counts, goal, np)
    assert upper.tolist() == [4, 6, 9, 0] and reached.tolist() == [4, 5, 9, 0]
    assert before.tolist() == [9, 9, 9, 0]
    following = levels.asked([upper, reached], goal_of([True] + 8 * [False], 8, 9, 9), np)
    assert [part.tolist() for part in levels.halves(following)] == [
        [4, 6, 8, 0],
        [4, 6, 8, levels.NEVER],
    ]


def test_chosen_edges_count_as_more_than_any_bound():
    """Bounds 8 and 9 stay, 5 to 7 are chosen, 4 and below ask as ever; 3 is closed."""
    goal, stays = goal_of([1, 0, 0, 1, 0, 0, 0, 0, 1, 1], 9, 5, 8), levels.STAYS
    bounds = [np.array(part, np.uint32) for part in ([12, 8, 7, 5, 4, 2], [3, 8, 0, 5, 0, 0])]
    asked = levels.asked(bounds, goal, np)
    values, probe = levels.halves(asked)
    assert values.tolist() == [9, 8, 7 + stays, 5 + stays, 4, 2]
    assert probe.tolist() == [stays, stays, 5, 5, 4, 1]
    counts = np.array([[0, 0, 0, 0, 2, 2], [0, 3, 6, 4, 2, 5]], np.uint32)
    assert levels.is_peeled(asked, counts).tolist() == [False, True, True, True, False, False]
    assert levels.support(asked, counts, np).tolist() == [stays, 6, 4]
    upper, reached, before = bounds = levels.lowered(asked, counts, goal, np)
    assert upper.tolist() == [9, 8, 6, 4, 3, 2] and reached.tolist() == [9, 8, 5, 4, 2, 2]
    assert before.tolist() == [9, 8, 7, 5, 4, 2]
    peeled = np.array([stays, 6, 0], np.uint32)
    upper, reached, before = levels.settled(asked, counts, bounds, peeled, goal.low, np)
    assert upper.tolist() == [9, 8, 6, 4, 3, 2] and reached.tolist() == [9, 8, 6, 4, 2, 2]
    assert before.tolist() == [9, 8, 6, 4, 4, 2]


def test_no_level_is_above_what_the_edges_allow():
    for size in range(3, 30):
        assert size - 2 <= levels.most_levels(size * (size - 1) // 2)
