"""Triangles listed task by task: a graph in blocks gives the rows of the graph in memory."""

import gc
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from block_support import split_keys
from graphs import complete, dense_edge_lists, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import ENGINE, keys_of
from stream_support import assert_same, in_blocks

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.blocks import tallies
from rapids_tc.blocks.geometry import block_rows
from rapids_tc.blocks.grid import BlockTask, Partition, tasks
from rapids_tc.blocks.task_triangles import TaskTriangles
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.frames.backend import sum64
from rapids_tc.plan import costs
from rapids_tc.plan.block_layout import BlockLayout, use_layout

some = settings(max_examples=10, deadline=None)
GRAPHS = st.one_of(edge_lists(), dense_edge_lists()).filter(bool)
SIDES = st.integers(1, 4)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"], dtype="int64")


def triangles_of(frames):
    return [row for frame in frames for row in frame.itertuples(index=False, name=None)]


@some
@given(rows=GRAPHS, n=SIDES)
def test_the_list_of_memory(backend, rows, n):
    edges = backend.frame(frame_of(rows))
    expected = tc.list_triangles(edges)
    with in_blocks(n) as made:
        assert_same(backend, tc.list_triangles(edges), expected)
    assert made


@some
@given(rows=GRAPHS, n=SIDES, size=st.integers(1, 40))
def test_frames_of_memory_in_another_order(backend, rows, n, size):
    edges = backend.frame(frame_of(rows))
    with in_blocks(n):
        frames = [*map(backend.to_pandas, tc.iter_triangles(edges, max_rows=size))]
    assert sorted(triangles_of(frames)) == reference.list_triangles(rows)
    assert all(triangles_of([frame]) == sorted(triangles_of([frame])) for frame in frames)
    assert all(len(frame) == size for frame in frames[:-1])
    assert all(0 < len(frame) <= size for frame in frames[-1:])
    with in_blocks(n):
        again = [*map(backend.to_pandas, tc.iter_triangles(edges, max_rows=size))]
    assert all(a.equals(b) for a, b in zip(frames, again, strict=True))


@some
@given(rows=GRAPHS, n=SIDES, data=st.data())
def test_triangles_at_some_vertices(backend, rows, n, data):
    vertices = sorted({end for row in rows for end in row})
    some = data.draw(st.lists(st.sampled_from(vertices), max_size=4))
    edges, expected = backend.frame(frame_of(rows)), reference.list_triangles(rows, among=some)
    with in_blocks(n) as made:
        found = backend.to_pandas(tc.list_triangles(edges, vertices=some))
        frames = [*map(backend.to_pandas, tc.iter_triangles(edges, max_rows=3, vertices=some))]
    assert len(made) == 2 and triangles_of([found]) == expected
    assert sorted(triangles_of(frames)) == expected
    assert all(0 < len(frame) <= 3 for frame in frames)


@pytest.mark.cpu_only
def test_surroundings_that_do_not_fit_are_refused():
    """Those of a vertex of a clique, not those of a vertex beside it."""
    rows = frame_of([*complete(40).rows, (100, 101), (101, 102), (100, 102)])
    with in_blocks(2, memory=60_000):
        assert triangles_of([tc.list_triangles(rows, vertices=[100])]) == [(100, 101, 102)]
        with pytest.raises(tc.CapacityError, match=r"surroundings of vertices= have [\d,]+ edges"):
            next(tc.iter_triangles(rows, max_rows=1, vertices=[0]))


@pytest.mark.cpu_only
def test_max_rows_of_some_vertices_of_each_group():
    edges = frame_of([*complete(4).rows] * 2).assign(day=[1] * 6 + [2] * 6)
    own = {"by": "day", "source": "src", "destination": "dst"}
    with in_blocks(2):
        assert len(tc.list_triangles(edges, vertices=[0], max_rows=3, **own)) == 6
        with pytest.raises(tc.CapacityError, match="'day': 1 has 3 triangles"):
            tc.list_triangles(edges, vertices=[0], max_rows=2, **own)


@some
@given(rows=GRAPHS, n=SIDES, per=st.sampled_from(["vertex", "edge"]), of_vertices=st.booleans())
def test_types_of_memory(backend, rows, n, per, of_vertices):
    edges = backend.frame(frame_of(rows).assign(kind=[(u * v) % 3 for u, v in rows]))
    types = {vertex: "ab"[vertex % 2] for row in rows for vertex in row}
    own = {"vertex_type": types} if of_vertices else {"edge_type": "kind"}
    call = {"per": per, "source": "src", "destination": "dst", **own}
    expected = tc.triangles_by_type(edges, **call)
    with in_blocks(n):
        assert_same(backend, tc.triangles_by_type(edges, **call), expected)


@pytest.mark.parametrize("engine", [cpu, ENGINE], ids=["cpu", "emulated cuda"])
@pytest.mark.parametrize("parts", [1, 3])
def test_tasks_on_blocks_and_on_parts_of_these(engine, parts):
    """Each triangle is of one task, its sides are edges of the task's blocks."""
    rng = np.random.default_rng(5)
    rows = [*map(tuple, rng.integers(0, 40, (500, 2)).tolist()), *complete(12).rows]
    rows, n = [row for row in rows if row[0] != row[1]], 3
    by_block = split_keys(np.unique(keys_of(rows)), n, np).items()
    blocks = {at: engine.csr(keys, block_rows(40, n, at)) for at, keys in by_block}
    found = []
    for task in tasks(Partition(n, parts)):
        three = [blocks[at] for at in task.blocks]
        bounds = np.linspace(0, three[0].n, parts + 1).astype(int).tolist()
        of_part = (bounds[task.part], bounds[task.part + 1]) if parts > 1 else None
        layout = engine.prepare_blocks(*three, task.residues, pivot_range=of_part)
        triangles = TaskTriangles.count(engine, layout, three, task, n, np)
        assert triangles.total == engine.count(layout) == sum64(np.diff(triangles.starts))
        ranks = triangles.ranks(0, triangles.total)
        halves = [triangles.ranks(a, b) for a, b in ((0, ranks.shape[1] // 2),)]
        assert (halves[0] == ranks[:, : halves[0].shape[1]]).all()
        for side, block in zip(triangles.sides(ranks), three, strict=True):
            assert ((side >= 0) & (side < block.m)).all()
        found += map(tuple, ranks[::-1].T.tolist())
    assert sorted(found) == reference.list_triangles(rows)


def test_types_on_the_emulator():
    """Positions of sides in blocks, on an engine whose blocks lie together."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 25, (160, 2)).tolist()
    frame = frame_of(rows).assign(kind=[(u + v) % 4 for u, v in rows])
    expected = tc.triangles_by_type(frame, edge_type="kind", per="edge")
    with testing.host_engine(), in_blocks(3):
        found = tc.triangles_by_type(frame, edge_type="kind", per="edge")
    pd.testing.assert_frame_equal(found, expected)


# Refusals, and what is held -----------------------------------------------------------------------


def test_max_rows_counts_first(backend, monkeypatch):
    edges = backend.frame(complete(9).frame())
    with in_blocks(2) as made:
        assert len(tc.list_triangles(edges, max_rows=84)) == 84
        monkeypatch.setattr(TaskTriangles, "ranks", None)  # nothing is listed
        with pytest.raises(tc.CapacityError, match=r"84 triangles.*max_rows=83.*iter_triangles"):
            tc.list_triangles(edges, max_rows=83)
    assert len(made) == 2


def test_a_list_that_exceeds_memory_is_refused(backend):
    edges = backend.frame(complete(40).frame())  # 9,880 triangles
    with in_blocks(2, memory=costs.LISTED * 9_880):
        with pytest.raises(tc.CapacityError, match=r"9,880 triangles.*iter_triangles\(edges"):
            tc.list_triangles(edges)
        frames = list(tc.iter_triangles(edges, max_rows=1000))
        assert sum(map(len, frames)) == 9_880
        with pytest.raises(tc.CapacityError, match="ask for fewer rows"):
            next(tc.iter_triangles(edges, max_rows=9000))
    with in_blocks(2, memory=costs.LISTED * 9_880 + 100_000):
        assert len(tc.list_triangles(edges)) == 9_880


@pytest.mark.cpu_only
@pytest.mark.parametrize("asked", [0, 1, None], ids=["none", "one", "all"])
def test_blocks_are_kept_until_the_last_frame(asked):
    """And no longer, also if not all frames are asked for."""
    with in_blocks(2) as made:
        frames = tc.iter_triangles(complete(9).frame(), max_rows=10)
        [store] = [graph.blocks.executor.store for graph in made]
        for _ in range(asked or 0):
            next(frames)
        assert not store._file.closed
        if asked is None:
            assert sum(map(len, frames)) == 84
        del frames
        gc.collect()
    assert store._file.closed


@pytest.mark.cpu_only
def test_frames_are_made_task_by_task():
    """The first frame comes before the other tasks are counted."""
    edges, counted = datasets.rmat(9), []

    class Watching:
        def __getattr__(self, name):
            counted.append(name)
            return getattr(cpu, name)

    with in_blocks(3) as made:
        frames = tc.iter_triangles(edges, max_rows=100)
        object.__setattr__(made[0], "engine", Watching())
        next(frames)
        assert counted.count("triangles_per_in_edge") == 1
        assert 1 <= counted.count("list_triangles") <= 2
        list(frames)
    assert counted.count("triangles_per_in_edge") <= 27


def test_a_task_knows_its_blocks():
    assert BlockTask(2, 0, 1).blocks == ((2, 0), (2, 1), (0, 1))


# Partitioned frames -------------------------------------------------------------------------------


def partitioned(frame, parts):
    bounds = np.linspace(0, len(frame), parts + 1).astype(int)
    return PartitionedFrame([frame.iloc[a:b] for a, b in pairwise(bounds)])


@pytest.mark.cpu_only
@some
@given(rows=GRAPHS, n=SIDES, m=st.integers(1, 3), parts=st.sampled_from([1, 7]))
def test_partitions_together_have_the_list_of_memory(rows, n, m, parts):
    frame = frame_of(rows)
    with use_layout(BlockLayout(n, m)):
        found = tc.list_triangles(partitioned(frame, parts))
    pd.testing.assert_frame_equal(pd.concat(found.partitions), tc.list_triangles(frame))


@pytest.mark.cpu_only
def test_a_list_in_ranges_that_fit_a_worker():
    """Of 9,880 triangles, each of the ranges, and what a task lists at a time."""
    frame, limit = complete(40).frame(), 100_000
    found = tc.list_triangles(partitioned(frame, 7), memory_limit=limit)
    lengths = [len(part) for part in found.partitions]
    assert len(lengths) == 8 and max(lengths) < 2 * 9_880 / 8
    pd.testing.assert_frame_equal(pd.concat(found.partitions), tc.list_triangles(frame))
    told = r"9,880 triangles takes about 237,120 bytes.* 3 workers may take 180,000: iter_triangles"
    with pytest.raises(tc.CapacityError, match=told):
        tc.list_triangles(partitioned(frame, 7), memory_limit=60_000)
    with pytest.raises(tc.CapacityError, match="9,880 triangles, more than max_rows=9,879"):
        tc.list_triangles(partitioned(frame, 7), max_rows=9_879)


@pytest.mark.cpu_only
@some
@given(rows=GRAPHS, n=SIDES, m=st.integers(1, 3), size=st.integers(1, 40), data=st.data())
def test_frames_of_partitions(rows, n, m, size, data):
    """All triangles, or those at some vertices: as many as the definition says, in full frames."""
    edges = partitioned(frame_of(rows), 5)
    some = data.draw(st.none() | st.lists(st.sampled_from(sorted({*sum(rows, ())})), max_size=4))
    with use_layout(BlockLayout(n, m)):
        frames, again = (
            list(tc.iter_triangles(edges, max_rows=size, vertices=some)) for _ in range(2)
        )
        found = tc.list_triangles(edges, vertices=some)
    expected = reference.list_triangles(rows, among=some)
    assert sorted(triangles_of(frames)) == expected
    assert all(triangles_of([frame]) == sorted(triangles_of([frame])) for frame in frames)
    assert all(len(frame) == size for frame in frames[:-1]) and all(map(len, frames))
    assert all(a.equals(b) for a, b in zip(frames, again, strict=True))
    assert triangles_of(found.partitions) == expected


@pytest.mark.cpu_only
def test_frames_of_partitions_of_a_list_that_exceeds_the_workers():
    edges, call = partitioned(complete(40).frame(), 7), {"memory_limit": 60_000}
    with pytest.raises(tc.CapacityError, match="iter_triangles"):
        tc.list_triangles(edges, **call)
    frames = list(tc.iter_triangles(edges, max_rows=700, **call))
    assert [len(frame) for frame in frames] == [700] * 14 + [80]
    assert sorted(triangles_of(frames)) == [*combinations(range(40), 3)]
    with pytest.raises(tc.CapacityError, match=r"800 triangles.*: ask for fewer rows"):
        tc.iter_triangles(edges, max_rows=800, **call)


@pytest.mark.cpu_only
@pytest.mark.parametrize("n", [1, 2])
def test_vertices_of_each_group_of_partitions(n):
    rows = [*complete(4).rows, *complete(5).rows, *complete(3).rows]
    frame = frame_of(rows).assign(day=[1] * 6 + [2] * 10 + [3] * 3)
    own = {"by": "day", "source": "src", "destination": "dst", "vertices": [0, 1]}
    expected = tc.list_triangles(frame, **own)
    with use_layout(BlockLayout(n)):
        graph = tc.Graph(partitioned(frame, 3), by="day", source="src", destination="dst")
        found = tc.list_triangles(partitioned(frame, 3), max_rows=9, **own)
        kept = list(tc.iter_triangles(graph, max_rows=99, vertices=[0, 1]))
        with pytest.raises(tc.CapacityError, match="'day': 2 has 9 triangles, more than max_"):
            tc.list_triangles(graph, max_rows=8, vertices=[0, 1])
    pd.testing.assert_frame_equal(pd.concat(found.partitions), expected)
    pd.testing.assert_frame_equal(kept[0].sort_values([*kept[0]], ignore_index=True), expected)
    with pytest.raises(ValueError, match="not in the graph"):
        tc.iter_triangles(partitioned(frame, 3), max_rows=9, **{**own, "vertices": [9]})


@pytest.mark.cpu_only
@pytest.mark.parametrize("n", [1, 3])
def test_max_rows_of_each_group_of_partitions(n):
    rows = [*complete(4).rows, *complete(5).rows, *complete(3).rows]
    frame = frame_of(rows).assign(day=[1] * 6 + [2] * 10 + [3] * 3)
    own = {"by": "day", "source": "src", "destination": "dst"}
    expected = tc.list_triangles(frame, **own)
    with use_layout(BlockLayout(n)):
        found = tc.list_triangles(partitioned(frame, 3), max_rows=10, **own)
        with pytest.raises(tc.CapacityError, match="'day': 2 has 10 triangles, more than max_"):
            tc.list_triangles(partitioned(frame, 3), max_rows=9, **own)
        none = tc.list_triangles(partitioned(frame.iloc[:0], 1), max_rows=0, **own)
    pd.testing.assert_frame_equal(pd.concat(found.partitions), expected)
    assert len(expected) == 15 and not any(map(len, none.partitions))


@pytest.mark.cpu_only
@some
@given(rows=GRAPHS, n=SIDES, m=st.integers(1, 3), per=st.sampled_from([None, "vertex", "edge"]))
def test_types_of_partitions(rows, n, m, per):
    """Of each vertex, edge, or group: what the definition says of all rows, or of each group."""
    kinds = [(u * v) % 3 for u, v in rows]
    frame = frame_of(rows).assign(kind=kinds, day=np.arange(len(rows)) % 2)
    call = {"edge_type": "kind", "aggregate": "first", "source": "src", "destination": "dst"}
    typed = [(u, v, kind) for (u, v), kind in zip(rows, kinds, strict=True)]
    days = [typed[day::2] for day in (0, 1)]
    with use_layout(BlockLayout(n, m)):
        found = tc.triangles_by_type(partitioned(frame, 3), per=per, **call)
        by_day = tc.triangles_by_type(partitioned(frame, 3), per=per, by="day", **call)
    own = {"per": per, "aggregate": "first"}
    found = [found] if per is None else found.partitions
    assert triangles_of(found) == reference.triangles_by_type(typed, **own)
    expected = [
        (day, *row) for day in (0, 1) for row in reference.triangles_by_type(days[day], **own)
    ]
    assert triangles_of(by_day.partitions) == expected


@pytest.mark.cpu_only
def test_types_that_exceed_a_worker_are_refused():
    frame = complete(40).frame().assign(kind=1)
    call = {"edge_type": "kind", "per": "edge", "source": "src", "destination": "dst"}
    with pytest.raises(tc.CapacityError, match=r"triangles_by_type has \d+ rows or more"):
        tc.triangles_by_type(partitioned(frame, 2), memory_limit=60_000, **call)


@pytest.mark.parametrize("total", range(10))
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_batches_have_every_triangle_once(total, size):
    """The last one, too, when a batch before it is full."""
    batches = tallies.batches(total, size * tallies.BATCHES * costs.LISTED)
    assert [t for first, last in batches for t in range(first, last)] == [*range(total)]
