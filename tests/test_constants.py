"""Bytes that memory is planned by: each is measured here, or held where it cannot be.

A figure of `rapids_tc.plan.costs` that is changed by 30 % must be noticed. The heights of stages
are compared with the model by tracemalloc, for the CPU engine and for the CUDA engine on the
emulator, whose arrays are NumPy's. What this cannot tell, such as the memory of a sort on a card,
stands in `HELD` a second time, with where it comes from, so that it is changed on purpose.
"""

import ast
import inspect
import textwrap
from dataclasses import fields, replace
from functools import cache

import pytest
import stage_peaks as peaks
from emulator_support import compiler

from rapids_tc.blocks import grid, truss
from rapids_tc.engines import protocol
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.cpu import host_slots
from rapids_tc.engines.gpu import device_slots
from rapids_tc.engines.registry import costs_of
from rapids_tc.kernels import radix
from rapids_tc.plan import budget, costs, needs
from rapids_tc.plan.record import Result

__all__ = ["compiler"]
pytestmark = [pytest.mark.cpu_only, pytest.mark.usefixtures("compiler")]
BAND = 0.1  # of what was measured: other releases of Python and pandas differ by less

# Heights of stages, as shares of what the model says, for many rows and for many vertices. They are
# what was measured, and no aim: pieces of rows and Python's objects weigh much at this size.
MEASURED = {
    ("cpu", "count", "rows"): {"orient": 1.04, "layout": 1.02, "count": 1.04},
    ("cpu", "count", "vertices"): {"order": 0.56, "orient": 0.98, "layout": 0.83, "count": 1.12},
    ("cpu", "edge_triangles", "rows"): {"count": 1.01, "columns": 1.02},
    ("cpu", "edge_triangles", "vertices"): {"count": 0.92, "columns": 0.77},
    ("cpu", "vertex_triangles", "rows"): {"columns": 0.97},
    ("cpu", "vertex_triangles", "vertices"): {"columns": 0.85},
    ("cpu", "annotate", "rows"): {"columns": 1.02},
    ("cpu", "annotate", "vertices"): {"columns": 0.77},
    ("cpu", "annotate_vertices", "rows"): {"columns": 0.99},
    ("cpu", "annotate_vertices", "vertices"): {"columns": 0.96},
    ("cpu", "similarity", "rows"): {"columns": 1.04},
    ("cpu", "similarity", "vertices"): {"columns": 0.9},
    ("cpu", "adamic_adar", "rows"): {"count": 0.92},
    ("cpu", "adamic_adar", "vertices"): {"count": 0.73},
    ("cpu", "cliques", "rows"): {"count": 1.04},
    ("cpu", "cliques", "vertices"): {"count": 1.0},
    ("cpu", "vertex_cliques", "rows"): {"count": 1.01, "columns": 1.04},
    ("cpu", "vertex_cliques", "vertices"): {"count": 0.99, "columns": 1.0},
    ("cpu", "edge_cliques", "rows"): {"count": 1.01, "columns": 1.01},
    ("cpu", "edge_cliques", "vertices"): {"count": 1.0, "columns": 0.98},
    ("cuda", "cliques", "rows"): {"count": 1.14},
    ("cuda", "cliques", "vertices"): {"count": 0.99},
    ("cuda", "vertex_cliques", "rows"): {"count": 1.03, "columns": 0.8},
    ("cuda", "vertex_cliques", "vertices"): {"count": 0.99, "columns": 0.94},
    ("cuda", "edge_cliques", "rows"): {"count": 1.02, "columns": 0.65},
    ("cuda", "edge_cliques", "vertices"): {"count": 0.99, "columns": 0.66},
    ("cpu", "k_truss", "rows"): {"peel": 1.12},
    ("cpu", "k_truss", "vertices"): {"peel": 0.41},
    ("cpu", "truss_communities", "rows"): {"communities": 0.94, "columns": 1.21},
    ("cpu", "truss_communities", "vertices"): {"communities": 0.91, "columns": 0.65},
    ("cpu", "all communities", "rows"): {"columns": 0.88},
    ("cpu", "all communities", "vertices"): {"columns": 0.57},
    ("cpu", "simple_edges", "rows"): {"edges": 1.03},
    ("cpu", "simple_edges", "vertices"): {"edges": 0.89},
    ("cpu", "list_triangles", "vertices"): {"columns": 0.71},
    ("cpu", "approximate_count", "rows"): {"sample": 1.04},
    ("cpu", "approximate_count", "vertices"): {"sample": 0.89},
    ("cpu", "triangles_over_time", "rows"): {"values": 1.0},
    ("cpu", "triangles_over_time", "vertices"): {"values": 0.99},
    ("cpu", "clustering with weights", "rows"): {"values": 0.71, "count": 0.86, "columns": 0.78},
    ("cpu", "clustering with weights", "vertices"): {"values": 0.82, "columns": 0.78},
    ("cuda", "triangles_over_time", "rows"): {"values": 0.79},
    ("cuda", "triangles_over_time", "vertices"): {"values": 0.84},
    ("cuda", "count", "rows"): {"order": 0.55, "orient": 0.86, "count": 0.3},
    ("cuda", "count", "vertices"): {"order": 0.98, "orient": 0.58, "count": 0.37},
    ("cuda", "edge_triangles", "rows"): {"layout": 0.67, "count": 1.11, "columns": 0.83},
    ("cuda", "edge_triangles", "vertices"): {"count": 0.34, "columns": 0.42},
    ("cuda", "vertex_triangles", "rows"): {"columns": 0.81},
    ("cuda", "vertex_triangles", "vertices"): {"columns": 0.82},
    ("cuda", "annotate", "rows"): {"columns": 0.84},
    ("cuda", "annotate", "vertices"): {"columns": 0.42},
    ("cuda", "annotate_vertices", "rows"): {"columns": 0.99},
    ("cuda", "annotate_vertices", "vertices"): {"columns": 0.9},
    ("cuda", "similarity", "rows"): {"columns": 0.93},
    ("cuda", "similarity", "vertices"): {"columns": 0.59},
    ("cuda", "adamic_adar", "rows"): {"count": 0.99},
    ("cuda", "adamic_adar", "vertices"): {"count": 0.54},
    ("cuda", "k_truss", "rows"): {"peel": 1.01},
    ("cuda", "k_truss", "vertices"): {"peel": 0.17},
    ("cuda", "truss_communities", "rows"): {"communities": 0.96, "columns": 1.12},
    ("cuda", "truss_communities", "vertices"): {"communities": 0.64, "columns": 0.43},
    ("cuda", "all communities", "rows"): {"columns": 0.74},
    ("cuda", "all communities", "vertices"): {"columns": 0.37},
    ("cuda", "simple_edges", "rows"): {"edges": 0.68},
    ("cuda", "simple_edges", "vertices"): {"edges": 0.79},
    ("cuda", "list_triangles", "vertices"): {"layout": 0.56, "columns": 0.45},
    ("cuda", "approximate_count", "rows"): {"sample": 0.8},
    ("cuda", "approximate_count", "vertices"): {"sample": 0.83},
    ("cuda", "clustering with weights", "rows"): {"values": 0.72, "columns": 0.69},
    ("cuda", "clustering with weights", "vertices"): {"values": 0.74, "columns": 0.85},
}  # fmt: skip
IN_BLOCKS = {
    ("cpu", "count", "rows"): {"order": 0.15, "cut": 0.21, "count": 1.1},
    ("cpu", "count", "vertices"): {"order": 0.28, "cut": 0.32, "count": 0.99},
    ("cpu", "edge_triangles", "rows"): {"count": 0.99},
    ("cpu", "edge_triangles", "vertices"): {"count": 0.75},
    ("cuda", "count", "rows"): {"order": 0.24, "cut": 0.32, "count": 1.08},
    ("cuda", "count", "vertices"): {"order": 0.48, "cut": 0.47, "count": 0.79},
    ("cuda", "edge_triangles", "rows"): {"count": 0.94},
    ("cuda", "edge_triangles", "vertices"): {"count": 0.69},
}  # fmt: skip

LIMITS = (
    "what limits are kept with, in stream_peak.py and test_resident.py, on a card in test_card.py"
)
LOW = "too small a part of a stage here, or none of the highest, to be measured"
CLUSTER = "read off the arrays of a task; clusters of H100 and H200: benchmarks/NOTES.md"
HELD = {  # by name: what is computed, what comes of it, and why it is not measured here
    "numbers": (
        lambda: [costs.STAGES[e]["numbers"] for e in ("cpu", "cuda")], [(8, 0), (8, 0)], LOW,
    ),
    "by vertex, beside much by row": (
        lambda: [
            costs.STAGES[engine][name][1]
            for engine in ("cpu", "cuda") for name in (
                "orient", "by row", "by row from degrees",
                "count by edge", "cliques by edge", "columns of cliques by edge",
            )
        ],
        [0, 32, 32, 24, 28, 8, 0, 32, 32, 32, 16, 16],
        LOW,
    ),
    "communities, beside much by row": (
        lambda: [
            costs.STAGES[engine][name][1]
            for engine in ("cpu", "cuda")
            for name in ("communities", "rows of communities", "hierarchy")
        ],
        [24, 32, 32, 24, 32, 32],
        LOW,
    ),
    "degrees and keys of a chunk": (lambda: [cpu.costs.row, device_slots.COSTS.row], [24, 0], LOW),
    "edges": (lambda: costs.STAGES["cpu"]["edges"], (43, 8), LOW),
    "values": (
        lambda: [costs.STAGES[engine]["values"] for engine in ("cpu", "cuda")],
        [(46, 0), (46, 0)],
        "the most of weights, signs, types of text and directions",
    ),
    "communities of rows": (lambda: costs.COMMUNITY, 8, "the dtypes of both arrays"),
    "sums of values": (lambda: costs.SUMMED, 24, LOW),
    "pairs": (
        lambda: [costs.PAIR, *(costs.STAGES[engine]["pairs"] for engine in ("cpu", "cuda"))],
        [56, (12, 56), (44, 56)],
        "traced, in a stage that begins before the graph is made",
    ),
    "sums by edge": (
        lambda: [costs.COUNT, costs.THIRD_SUM], [4, 24],
        "the dtypes of counts; of sums, and of the values of the corners of blocks",
    ),
    "values of a block": (lambda: costs.READ_VALUES, 3, "read off the arrays of a block"),
    "listing": (
        lambda: [costs.STAGES[engine]["listing"] for engine in ("cpu", "cuda")],
        [(26, 40), (60, 32)],
        "before the triangles are written, whose number the rows do not tell",
    ),
    "listing at some vertices": (
        lambda: [costs.STAGES[engine]["count around"] for engine in ("cpu", "cuda")],
        [(46, 42), (48, 24)],
        "the most: all vertices are named, as traced by hand",
    ),
    "a listed triangle": (lambda: costs.LISTED, 80, "ranks, a sort, and ids of eight bytes"),
    "a distinct time": (lambda: costs.DISTINCT_TIME, 26, "of parts, of all, and sorted"),
    "a window": (lambda: costs.WINDOW, 40, "starts, changes and sums of int64, and a copy"),
    "combinations of types": (
        lambda: costs.COMBINATION, 24, "counters of two threads, and rows of a sixth of them",
    ),
    "an index": (lambda: costs.INDEX, 8, "positions of int64, where pandas has a range before"),
    "a column": (lambda: costs.COLUMN, 16, "a column, and the values that it is made of"),
    "ids that are not dense": (
        lambda: [costs.NUMBERING, costs.HASHING, costs.MERGING, costs.INDEXED_IDS, costs.TEXT_IDS],
        [
            {"cpu": (24, 50), "cuda": (88, 0)}, (16, 20), (16, 50),
            {"cpu": (8, 8), "cuda": (8, 24)}, (10, 10),
        ],
        "pandas', Arrow's and cuDF's tables of ids; whole calls in estimate_peak.py",
    ),
    "parts of ids": (
        lambda: [costs.PART, costs.KEYS],
        [16, 32],
        "arrays of numbers and keys beside pandas' tables; whole calls in estimate_peak.py",
    ),
    "copies of objects": (
        lambda: costs.OBJECT_COPIES,
        6,
        "process memory of object columns: benchmarks/limits.py, in test_stream.py",
    ),
    "tables of ids": (
        lambda: [costs.BUCKET, costs.BUCKETS_FILLED, costs.TABLE_LIMIT],
        [16, 0.77, 2**20],
        "read off pandas' khash",
    ),
    "what is left of a graph": (
        lambda: [
            s.bytes
            for s in needs.remaining(
                peaks.work_of("k_truss"), 1000, 10, True, "cuda", "auto", {"csr", "layout"}
            )
        ],
        [4000, 52_480, 39_000],
        "what `Graph` holds: its arrays",
    ),
    "text": (lambda: cpu.costs.text, 260, "Arrow's memory, unseen by tracemalloc: stream_peak.py"),
    "sorting": (
        lambda: [costs_of(e).sort for e in ("cpu", "cuda")], [32, 17],
        "of a block, beside the chunk that is read; thrust's temporary memory on a card",
    ),
    "unasked": (
        lambda: [costs_of(engine).unasked for engine in ("cpu", "cuda")],
        [2**24, 2**30],
        "a choice: to ask takes time",
    ),
    "tables": (
        lambda: [
            cpu.TABLE,
            *(_alone(cpu.costs.tables, 1000, sides) for sides in (False, True)),
            *costs.TABLE_SLOT.values(),
        ],
        [2**22, 1024, 4096, 1, 4],
        "of each thread: a mark, or a place, for a vertex",
    ),
    "budget": (
        lambda: [costs.RANK, costs.VERTEX_SUMS, costs.BLOCK_ROW, costs.NAMED_EDGE,
                 costs.LOOKED_UP_EDGE, costs.KEY, costs.CHUNK_PARTS],
        [4, 24, 24, 72, 12, 8, 8],
        LIMITS,
    ),
    "what is given back": (
        lambda: {Result[name]: per_row for name, per_row in costs.RESULTS.items()},
        {Result.COLUMN: 8, Result.COLUMNS: 8, Result.ROWS: 9, Result.EDGES: 48},
        "the dtypes of the answers, and keys that are sorted",
    ),
    "rows": (lambda: [costs.ROW_WORK, costs.ROW_PROFILE], [96, 8], LIMITS),
    "peeling in blocks": (
        lambda: [costs.PEELED_EDGE, costs.PEELED_VERTEX, costs.PEELED_RANK], [64, 80, 16],
        "as `peel` of a whole graph, and the ranks",
    ),
    "levels of a peel": (
        lambda: [
            cpu.costs.levels, device_slots.COSTS.levels, costs.CLUSTER_LEVELS,
            cpu.costs.levels_of_slot, device_slots.COSTS.levels_of_slot,
        ],
        [12, 24, 20, 0, 12],
        "read off the arrays of a task: levels, counts, and copies in the order of a layout",
    ),
    "tasks": (
        lambda: [host_slots.task_bytes(1, 10, 100, True, 3),
                 device_slots.task_bytes(10, 100, True, 3)],
        [9204, 12_950],
        LOW,
    ),
    "radix": (lambda: radix.memory(100, 10), 47_680, "read off the arrays that are made"),
    "a cluster's blocks": (
        lambda: [*costs.CLUSTER_TASK, costs.UNEVEN, grid.need(1000, 10, 2)],
        [14, 16, 1.2, 12_888],
        CLUSTER,
    ),
    "a cluster's rows": (
        lambda: [costs.CLUSTER_NUMBER, costs.CLUSTER_ROW, costs.MEMORY_SHARE],
        [24, 64, 0.5],
        CLUSTER,
    ),
    "a cluster's worker": (
        lambda: [
            costs.CLUSTER_NAMED, costs.CLUSTER_MAKING, costs.CLUSTER_RANKED,
            costs.CLUSTER_SAMPLED, costs.CLUSTER_BLOCK, costs.CLUSTER_PEELING,
            *costs.CLUSTER_ANSWERS.values(),
        ],
        [
            48, (24, 19), (12, 24), (28, 25), (4, 4), (40, 72, 50), (0, 30, 54), (0, 30, 54),
            (0, 30, 80), (40, 130, 24), (100, 24, 46), (100, 24, 46), (40, 30, 46), (44, 0, 0),
            (0, 30, 54), (0, 0, 0),
        ],
        "upper bounds: test_kept.py compares them with what workers hold",
    ),
    "ranges of ids on a cluster": (
        lambda: [costs.RANGE_SHARE, costs.RANGE_BYTES, costs.RANGES, costs.CLUSTER_IDS],
        [8, 4, 4096, 3],
        "shares of a worker: a range is small beside what a graph takes there",
    ),
    "local graphs": (
        lambda: [
            _alone(costs_of(engine).local_graphs, rows)
            for engine in ("cpu", "cuda") for rows in (1000, 10**9)
        ],
        [250, 250_524_288, 0, 333_333_333],
        "bits of rows no longer than the square root of twice the rows",
    ),
    "limits": (
        lambda: {name: value for name, value in vars(costs).items() if name.startswith("MOST")},
        {
            "MOST_ROWS": 2**31 - 1,
            "MOST_KEYS": 2**31 - 1,
            "MOST_BLOCK_EDGES": 2**32,
            "MOST_PEELED_EDGES": 2**32,
            "MOST_GRAPH_ROWS": {"cpu": 2**63, "cuda": 2**31},
            "MOST_POSITIONS": {"cpu": 2**63, "cuda": 2**32},
            "MOST_CLIQUE_ROW": 2**16,
            "MOST_GPU_RANKS": 2**32,
            "MOST_BLOCKS": 16,
            "MOST_CLUSTER_BLOCKS": 64,
        },
        "integers of so many bits, and libraries' own limits",
    ),
}  # fmt: skip


def _alone(compute, *given):
    with protocol.limit_threads(1):
        return compute(*given)


def held():
    """What is not what it was."""
    return [name for name, (compute, value, _) in HELD.items() if compute() != value]


@cache
def heights(engine, function, graph):
    return peaks.heights(engine, function, graph)


@cache
def heights_in_blocks(engine, function, graph):
    return peaks.heights_in_blocks(engine, function, graph)


def measured():
    """The stages whose height is not the share of the model that it was."""
    for (engine, function, graph), stages in MEASURED.items():
        found, model = heights(engine, function, graph), peaks.estimates(engine, function, graph)
        yield from _others((engine, function, graph), stages, found, model)
    for (engine, function, graph), stages in IN_BLOCKS.items():
        found, largest = heights_in_blocks(engine, function, graph)
        model = peaks.estimates_in_blocks(engine, function, graph, largest)
        yield from _others((engine, function, graph, "in blocks"), stages, found, model)


def _others(name, stages, found, model):
    for stage, share in stages.items():
        if abs(found[stage] / (model[stage] * share) - 1) > BAND:
            yield (*name, stage, round(found[stage] / model[stage], 2))


def test_what_is_held_is_what_it_was():
    assert held() == []


# Every figure, and how to change it ---------------------------------------------------------------

ENGINES = {"cpu": (cpu, "costs"), "cuda": (device_slots, "COSTS")}
FIELDS = {  # of `Costs`, which engines fill from the table once
    "TEXT": "text",
    "ORDERING": "order",
    "SORTING": "sort",
    "CHUNK_ROW": "row",
    "LEVELS": "levels",
    "LEVELS_OF_SLOT": "levels_of_slot",
    "UNASKED": "unasked",
    "MOST_GRAPH_ROWS": "most",
    "MOST_POSITIONS": "positions",
}
FORMULAS = (
    needs._kept, needs._numbering, needs._table, needs._text_kept, needs.stages, needs.remaining,
    budget.Budget, grid.need, radix.memory, truss.fits,
    host_slots.task_bytes, device_slots.task_bytes,
)  # fmt: skip


def literals(tree):
    """The numbers that something is multiplied by in a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side in (node.left, node.right):
                for number in (side.body, side.orelse) if isinstance(side, ast.IfExp) else (side,):
                    if isinstance(number, ast.Constant) and number.value > 2:
                        yield number.value


def test_formulas_have_no_figures_of_their_own():
    trees = [ast.parse(textwrap.dedent(inspect.getsource(formula))) for formula in FORMULAS]
    assert [list(literals(tree)) for tree in trees] == [
        [3] if formula in (grid.need, budget.Budget) else []
        for formula in FORMULAS  # a task has three blocks
    ]


def scaled(value, place, factor):
    """A figure, or one of a pair, times a factor."""
    if place is None:
        return value * factor
    return tuple(b * factor if i == place else b for i, b in enumerate(value))


def change(patch, name, keys, place, factor):
    """Change a figure of the table, wherever it is read."""
    if not keys:
        patch.setattr(costs, name, scaled(getattr(costs, name), place, factor))
        return
    *path, last = keys
    entries = getattr(costs, name)
    for key in path:
        entries = entries[key]
    patch.setitem(entries, last, scaled(entries[last], place, factor))
    if name in FIELDS:
        module, owner = ENGINES[last]
        fields = {FIELDS[name]: entries[last]}
        patch.setattr(module, owner, replace(getattr(module, owner), **fields))


def change_table_slots(patch, factor):
    patch.setattr(cpu, "TABLE", cpu.TABLE * factor)


def figures(value, keys=()):
    """The keys of every figure below a value of the table, and which of a pair it is."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from figures(below, (*keys, key))
    elif isinstance(value, tuple):
        yield from ((keys, place) for place, figure in enumerate(value) if figure)
    elif value:
        yield keys, None


def constants():
    """By name, what changes a figure by a factor."""
    yield "cpu.TABLE", change_table_slots, ()
    for name, value in vars(costs).items():
        if name.isupper():
            for keys, place in figures(value):
                which = "" if place is None else f", a {('row', 'vertex')[place]}"
                yield f"{name}{list(keys)}{which}", change, (name, keys, place)


def noticed():
    """By name of each figure, how a change of 30 % up and one down are noticed."""
    for name, changed, given in constants():
        ways = []
        for factor in (1.3, 0.7):
            with pytest.MonkeyPatch.context() as patch:
                changed(patch, *given, factor)
                ways.append("measured" if any(measured()) else "held" if held() else "unnoticed")
        yield name, ways


def test_a_figure_that_is_changed_is_noticed():
    """In one test, so that heights are measured once."""
    assert list(measured()) == [], "the model or the engine has changed: measure, and note it"
    by_name = dict(noticed())
    assert not [name for name, ways in by_name.items() if "unnoticed" in ways]
    both = sum(ways == ["measured"] * 2 for ways in by_name.values())
    assert both >= 45, by_name  # about 50: what two threads hold at once varies


def test_every_figure_is_known():
    """Those of `Costs` at least: a new one is changed too, or named here as no bytes."""
    others = {"tables", "local_graphs", "task", "uv_stays_loaded", "prefetch", "slots"}
    assert {field.name for field in fields(protocol.Costs)} == {*FIELDS.values(), *others}
    for name, of in FIELDS.items():
        for engine, place in ENGINES.items():
            assert getattr(getattr(*place), of) == getattr(costs, name)[engine]
