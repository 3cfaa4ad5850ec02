"""Squares of a graph in partitions: each worker counts its share on a copy of the merged graph."""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pandas as pd
import pytest
import reference
from checks import rows_of
from emulator_support import Numpy, compiler
from every_path import in_parts

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.executors import local
from rapids_tc.executors.local import LocalExecutor
from rapids_tc.graphs import stages
from rapids_tc.plan.block_layout import BlockLayout, use_layout

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]
IDS = {"source": "src", "destination": "dst"}


@pytest.fixture(autouse=True)
def every_worker_counts(monkeypatch):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)


def joined(found):
    return pd.concat(found.partitions)


@pytest.fixture
def counted(monkeypatch):
    """The workers that counted."""
    workers, submit = [], LocalExecutor.submit

    def noted(self, stage, function, *args, on=None, first=False):
        if stage == "count":
            workers.append(on)
        return submit(self, stage, function, *args, on=on, first=first)

    monkeypatch.setattr(LocalExecutor, "submit", noted)
    return workers


@cache
def with_a_hub():
    """A frame with repeats, loops and both directions; its squares in all, by vertex and by row."""
    core, hub = datasets.rmat(4, seed=3), pd.DataFrame({"src": 99, "dst": np.arange(20)})
    frame = pd.concat([core, core[["dst", "src"]].set_axis(["src", "dst"], axis=1)[:50], hub])
    frame = frame.sample(frac=1, random_state=1, ignore_index=True).astype("int64")
    rows = rows_of(frame)
    sides = reference.by_row(rows, reference.edge_squares(rows))
    return frame, reference.squares(rows), reference.vertex_squares(rows), sides


@pytest.mark.parametrize(
    ("workers", "engine"), [(1, None), (2, None), (3, "cuda"), (7, None)], ids=str
)
def test_shares_of_all_workers_add_up(workers, engine, monkeypatch, counted):
    monkeypatch.setattr(local, "WORKERS", workers)
    frame, total, of_vertices, of_rows = with_a_hub()
    edges = in_parts(frame, 9)
    with testing.host_engine(xp=Numpy(None)) if engine else nullcontext():
        options = {"engine": engine}
        assert tc.squares(edges, **options) == total > 1000
        assert sorted(counted) == [f"local-{worker}" for worker in range(workers)]
        corners = joined(tc.vertex_squares(edges, **options))
        assert dict(rows_of(corners, "vertex", "squares")) == of_vertices
        sides = joined(tc.annotate(edges, "squares", **options))["squares"]
        assert sides.tolist() == of_rows
        assert len(counted) == 3 * workers


@pytest.mark.parametrize("workers", [2, 5])
def test_a_total_past_32_bits(workers, monkeypatch):
    """Two hubs of 70,000 neighbors: a counter passes 2**16, and all squares have one worker."""
    monkeypatch.setattr(local, "WORKERS", workers)
    near = np.arange(2, 70_002)
    frame = pd.DataFrame({"src": np.repeat([0, 1], 70_000), "dst": np.tile(near, 2)})
    edges, total = in_parts(frame, 3), 70_000 * 69_999 // 2
    assert tc.squares(edges) == total
    sides = joined(tc.annotate(edges, "squares"))["squares"]
    assert (sides == 69_999).all()


def test_groups_and_ids_of_several_columns():
    frame = datasets.rmat(4, seed=4).assign(day=lambda rows: rows.index % 3, host=5, server=5)
    options = {"source": ["src", "host"], "destination": ["dst", "server"], "by": "day"}
    edges = in_parts(frame, 4)
    totals = joined(tc.squares(edges, **options))
    corners = joined(tc.annotate_vertices(edges, "squares", "square_clustering", **options))
    for day, total in zip(totals["day"], totals["squares"], strict=True):
        rows = rows_of(frame[frame["day"] == day])
        assert total == reference.squares(rows) > 0
        of_day = corners[corners["day"] == day]
        shares = reference.annotate_vertices(rows, ("squares", "square_clustering"))
        found = {row[1]: row[-2:] for row in of_day.itertuples(index=False, name=None)}
        assert found.keys() == shares.keys()
        for vertex, values in shares.items():
            assert found[vertex] == pytest.approx(values, abs=1e-12)


def test_a_kept_graph_counts_once(counted):
    frame = datasets.rmat(4, seed=4)
    graph = tc.Graph(in_parts(frame, 5))
    first = [graph.squares(), graph.vertex_squares(), graph.annotate("squares")]
    assert len(counted) == 9  # three workers each
    again = [graph.squares(), graph.vertex_squares(), graph.annotate("squares")]
    assert len(counted) == 9 and first[0] == again[0] == reference.squares(rows_of(frame))
    for one, other in zip(first[1:], again[1:], strict=True):
        pd.testing.assert_frame_equal(joined(one), joined(other))


def test_a_graph_larger_than_a_worker_is_refused():
    """With what helps: more memory counts it."""
    frame = datasets.rmat(9)
    edges, estimate = in_parts(frame, 4), tc.memory_estimate
    need = max(estimate(frame, function="vertex_squares").values())
    total = tc.squares(frame)
    assert tc.squares(edges, memory_limit=need) == total
    told = rf"vertex_squares, as .* takes about {need:,} bytes of it, and {need - 1:,} may be taken"
    for ask in (tc.vertex_squares, lambda e, **o: estimate(e, function="vertex_squares", **o)):
        with pytest.raises(tc.CapacityError, match=told):
            ask(edges, memory_limit=need - 1)
    assert estimate(edges, function="vertex_squares", memory_limit=need)["blocks"] == 1
    assert estimate(edges, function="annotate", memory_limit=100_000)["blocks"] > 1
    with use_layout(BlockLayout(2)):
        graph = tc.Graph(edges)
    for ask in (graph.squares, lambda: graph.memory_estimate(function="squares")):
        with pytest.raises(tc.CapacityError, match="cut into 2 x 2 blocks: give the frame"):
            ask()
    assert graph.count() == tc.count(frame)
