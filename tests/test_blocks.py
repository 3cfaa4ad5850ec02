"""Blocks and tasks: every triangle has one task, every edge one block, and there and back again."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from block_support import balance, keys_of, split_keys
from graphs import dense_edge_lists, edge_lists
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.blocks import geometry, grid
from rapids_tc.blocks.grid import BlockTask, Partition
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs

sides = st.integers(1, 5)
many = settings(max_examples=150, deadline=None)


def blocks_of(rows, vertices, n):
    """Every block of a graph of ranks, made by the CPU engine."""
    local = split_keys(keys_of(rows), n, np)
    return {at: cpu.csr(keys, geometry.block_rows(vertices, n, at)) for at, keys in local.items()}


def row(block, number):
    return block.columns[block.offsets[number] : block.offsets[number + 1]].tolist()


def found(task, made, n):
    """The triangles of a whole task as ranks, in sets and loops, by local ids alone."""
    i, j, k = task.residues
    uv, uw, vw = (made[at] for at in task.blocks)
    triangles = []
    for r in range(uv.n):
        u = r - (i > j)
        for v in row(uv, r):
            below = [w for w in row(uw, u + (i > k)) if w < v + (j > k)]
            common = set(below) & set(row(vw, v + (j > k)))
            triangles += [(w * n + k, v * n + j, u * n + i) for w in common]
    return triangles


@many
@given(rows=edge_lists(20, 90) | dense_edge_lists(), n=sides)
def test_every_triangle_has_one_task(rows, n):
    made = blocks_of(rows, 21, n)
    listed = [t for task in grid.tasks(Partition(n, 1)) for t in found(task, made, n)]
    assert sorted(listed) == reference.list_triangles(rows)


@many
@given(rows=edge_lists(20, 90), n=sides)
def test_every_edge_is_in_one_block_and_comes_back(rows, n):
    made = blocks_of(rows, 20, n)
    edges = []
    for (i, j), block in made.items():
        block.validate()
        u, v = geometry.block_ends(block, n, (i, j))
        assert u.dtype == v.dtype == "int64"
        assert (u % n == i).all() and (v % n == j).all()
        edges += zip(v.tolist(), u.tolist(), strict=True)
    assert sorted(edges) == reference.simple_edges(rows)


@given(rows=edge_lists(20, 90))
def test_one_block_is_the_graph(rows):
    whole, (only,) = cpu.csr(keys_of(rows), 20), blocks_of(rows, 20, 1).values()
    assert (only.offsets == whole.offsets).all() and (only.columns == whole.columns).all()


@given(vertices=st.integers(0, 60), n=st.integers(1, 70))
def test_residues_share_out_the_ranks(vertices, n):
    ranks = [
        geometry.ranks_of(np.arange(geometry.members(vertices, n, i), dtype=np.uint32), i, n)
        for i in range(n)
    ]
    assert sorted(np.concatenate(ranks).tolist()) == list(range(vertices))


@given(keys=st.lists(st.integers(0, 2**64 - 1), max_size=40), n=sides)
def test_split_keeps_order_and_repeats(keys, n):
    """Ranks up to the largest there may be; repeats are dropped later."""
    keys = np.sort(np.array(keys * 2, np.uint64))
    parts = split_keys(keys, n, np)
    assert list(parts) == [(i, j) for i in range(n) for j in range(n)]
    back = []
    for (i, j), local in parts.items():
        assert (np.sort(local) == local).all()
        for key in local.tolist():
            u, v = (key >> 32) - (i > j), key & 0xFFFFFFFF
            back.append((u * n + i) << 32 | (v * n + j))
    assert sorted(back) == keys.tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("m", [1, 3])
def test_neighboring_tasks_have_a_block_in_common(n, m):
    tasks = grid.tasks(Partition(n, m))
    assert len(tasks) == len(set(tasks)) == n**3 * m
    assert {(t.residues, t.part) for t in tasks} == {
        ((i, j, k), part) for i in range(n) for j in range(n) for k in range(n) for part in range(m)
    }
    assert all(task.parts == m for task in tasks)
    for task, following in pairwise(tasks):
        assert set(task.blocks) & set(following.blocks)


def test_a_task_names_its_blocks():
    assert BlockTask(2, 0, 1).blocks == ((2, 0), (2, 1), (0, 1))


def test_the_fewest_blocks_that_fit_are_chosen():
    edges, vertices = 10**9, 10**7
    for n in range(1, 9):
        room = grid.need(edges, vertices, n)
        assert grid.choose(edges, vertices, room) == Partition(n, 1)
        assert grid.choose(edges, vertices, room - 1).n > n
    assert grid.choose(0, 0, 1000) == Partition(1, 1)


@pytest.mark.parametrize("workers", [1, 2, 4, 100])
def test_every_worker_has_several_tasks(workers):
    for free in (10**12, 10**9, 10**8):
        chosen = grid.choose(10**8, 10**6, free, workers)
        tasks = chosen.n**3 * chosen.m
        least = grid.TASKS_A_WORKER * workers if workers > 1 else 1
        assert tasks >= least
        assert chosen.m == 1 or tasks - chosen.n**3 < least


def test_a_part_that_cannot_be_small_enough_is_refused():
    with pytest.raises(CapacityError, match=r"64 x 64.*10,000,000,000 edges.*1,000 are free"):
        grid.choose(10**10, 10**9, 1000)


@given(
    work=st.lists(st.integers(0, 10**6) | st.sampled_from([0, 10**12]), max_size=200),
    parts=st.integers(1, 9),
)
def test_cuts_are_of_about_equal_work(work, parts):
    work = np.array(work, np.int64)
    bounds = grid.cuts(work, parts)
    assert len(bounds) == parts + 1 and bounds == sorted(bounds)
    assert (bounds[0], bounds[-1]) == (0, len(work))
    loads = [int(work[a:b].sum()) for a, b in pairwise(bounds)]
    assert sum(loads) == work.sum()
    if len(work):
        assert max(loads) <= work.sum() / parts + work.max() + 1


@given(rows=edge_lists(), every=st.integers(1, 4))
@many
def test_a_sample_has_whole_rows_and_all_of_them_by_one(rows, every):
    n = 1 + max((max(row) for row in rows), default=0)
    graph = cpu.csr(keys_of(rows), n)
    sample = grid.sampled(graph, every, np)
    sample.validate()
    assert [row(sample, u) for u in range(n)] == [
        row(graph, u) if u % every == 0 else [] for u in range(n)
    ]


@pytest.mark.parametrize("parts", [2, 4])
def test_parts_are_made_even_by_a_sample(parts):
    graph = tc.Graph(datasets.rmat(14), engine="cpu").csr
    whole = grid.cost(cpu.probe_counts(graph), graph, cpu)
    assert whole.sum() == cpu.probe_counts(graph).sum() + grid.LIST_COST * graph.m
    some = grid.sampled(graph, 5, np)
    bounds = grid.cuts(grid.cost(cpu.probe_counts(some), some, cpu), parts)
    assert balance(whole[a:b].sum() for a, b in pairwise(bounds)) < 1.05


def test_balance_is_the_largest_over_the_mean():
    assert balance([3, 3, 3]) == 1.0
    assert balance([1, 2, 3]) == 1.5
    assert balance([0, 0]) == balance([]) == 1.0


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_residues_deal_out_hubs(n):
    graph = tc.Graph(datasets.rmat(14))
    keys = graph.csr.rows.astype(np.uint64) << np.uint64(32) | graph.csr.columns
    loads = [len(local) for local in split_keys(keys, n, np).values()]
    assert balance(loads) < costs.UNEVEN


@pytest.mark.parametrize("hands", [1, 2, 3, 5])
def test_tasks_whose_cost_was_misjudged_alike_are_dealt_out_evenly(hands):
    tasks = grid.tasks(Partition(1, 4 * hands))
    dealt = grid.assign_snake(tasks, hands)
    assert sorted((t for own in dealt for t in own), key=tasks.index) == tasks
    assert len({sum(tasks.index(task) for task in own) for own in dealt}) == 1
