"""What several threads add to at once is added to by atomics, told from the code itself.

A lost addition is rare, on few cores above all: no count shows for sure that one is plain.
"""

import ast
import inspect

import numpy as np
import pytest
from numba import njit

from rapids_tc.engines.cpu import (
    clique_rows,
    communities,
    counting,
    listing,
    row_counts,
    truss_rounds,
    truss_tables,
    visitors,
    wedges,
)
from rapids_tc.engines.cpu.parallel import atomic_add, load

pytestmark = pytest.mark.cpu_only

# Of each kernel what other tasks add to as well, and in how many places it does.
SHARED = {
    (visitors, "SpanEdgeCounts.triangle"): {"self.of_uw": 1},
    (visitors, "SpanEdgeCounts.close_edge"): {"self.of_uv": 1},
    (visitors, "SpanEdgeCounts.close_middle"): {"self.of_vw": 1},
    (visitors, "ArcCounts.triangle"): {"self.of_uv": 1, "self.of_uw": 1, "self.of_vw": 1},
    (visitors, "ThirdSums.triangle"): {"self.of_uw": 1},
    (visitors, "ThirdSums.close_edge"): {"self.of_uv": 1},
    (visitors, "ThirdSums.close_middle"): {"self.of_vw": 1},
    (visitors, "PairSums.triangle"): {"self.of_uw": 1},  # and through _add_second
    (visitors, "PairSums.close_edge"): {"self.of_uv": 1},
    (visitors, "PairSums.close_middle"): {"self.of_vw": 1},
    (visitors, "_add_second"): {"sums": 1},
    (visitors, "SideSums.close_edge"): {"self.of_uv": 1},
    (visitors, "SideSums.close_middle"): {"self.of_vw": 1},
    (visitors, "_reach"): {"counts": 1},
    (visitors, "VertexSums.triangle"): {},
    (visitors, "VertexSums.close_edge"): {"self.of_u": 1},
    (visitors, "VertexSums.close_middle"): {"self.of_v": 1, "self.of_w": 1},
    (visitors, "TypeCounts.triangle"): {"self.counts": 0},  # but through _add
    (visitors, "WindowChanges.triangle"): {"self.counts": 0},
    (visitors, "RepeatedChanges.triangle"): {"self.counts": 0},
    (clique_rows, "_add_cliques"): {"counts": 1, "of_rows": 1},
    (row_counts, "_count_edges"): {"counts": 2},
    (row_counts, "_sum_thirds"): {"sums": 2},
    (truss_rounds, "_flush"): {"state": 1},
    (truss_rounds, "_walk"): {"state": 1},
    (truss_rounds, "_walk_slots"): {"support": 0, "state": 0},  # but through _remove and _flush
    (truss_rounds, "_walk_bits"): {"support": 0, "state": 0},
    (truss_tables, "_count_ends"): {"sizes": 2},
    (wedges, "_count_each"): {"entries": 2, "sums": 4},
}


def functions(module):
    """The functions of a module, and the methods of its classes, by name."""
    tree, found = ast.parse(inspect.getsource(module)), {}
    for node in tree.body:
        parts = node.body if isinstance(node, ast.ClassDef) else [node]
        before = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        found |= {before + f.name: f for f in parts if isinstance(f, ast.FunctionDef)}
    return found


def atomics(function):
    """The names of the arrays that a function adds to by atomics, as often as it does."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [
        ast.unparse(call.args[0]) for call in calls if getattr(call.func, "id", "") == "atomic_add"
    ]


def written(function):
    """The names of the arrays that a function writes entries of as any array."""
    stores = (ast.Assign, ast.AugAssign, ast.AnnAssign)
    for node in ast.walk(function):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        for target in targets if isinstance(node, stores) else []:
            for part in ast.walk(target):
                if isinstance(part, ast.Subscript):
                    yield ast.unparse(part.value)


@pytest.mark.parametrize("module, name", SHARED, ids=lambda part: getattr(part, "__name__", part))
def test_shared_sums_are_written_by_atomics_alone(module, name):
    function, shared = functions(module)[name], SHARED[module, name]
    found = atomics(function)
    assert {array: found.count(array) for array in shared} == shared
    assert not set(shared) & set(written(function))


def test_counters_that_threads_share_are_added_to_by_an_atomic():
    choice = functions(visitors)["_add"].body[0]
    assert ast.unparse(choice.test) == "shared"
    assert atomics(choice.body[0]) == ["counts"] and list(written(choice.orelse[0])) == ["counts"]


def test_squares_of_ranks_that_threads_share_are_added_by_an_atomic():
    """The thread's own table takes the first ranks alone."""
    function = functions(wedges)["_count_each"]
    assert "hot = len(own)" in map(ast.unparse, function.body)
    choices = {}
    for choice in (node for node in ast.walk(function) if isinstance(node, ast.If)):
        for step in choice.body:
            if isinstance(step, ast.AugAssign) and list(written(step)) == ["own"]:
                choices[ast.unparse(step.target.slice)] = ast.unparse(choice.test)
                assert atomics(choice.orelse[0]) == ["sums"]
    assert choices == {
        "u": "u < hot", "v": "v < hot", "rank": "c > 1 and rank < hot", "w": "c > 1 and w < hot"
    }  # fmt: skip


def test_supports_that_threads_share_are_counted_down_by_an_atomic():
    choice = functions(truss_rounds)["_count_off"].body[1]
    assert ast.unparse(choice.test) == "threads == 1"
    assert list(written(choice.body[1])) == ["support"]
    assert atomics(choice.orelse[0]) == ["support"]


def test_cliques_of_a_row_that_threads_share_are_added_by_an_atomic():
    parts = ast.walk(functions(clique_rows)["_add_cliques"])
    choices = [n for n in parts if isinstance(n, ast.If) and ast.unparse(n.test) == "threads > 1"]
    assert [atomics(choice.body[0]) for choice in choices] == [["spokes"], ["spokes"]]


@pytest.mark.parametrize(
    "module", [counting, listing, row_counts, truss_rounds, truss_tables, visitors, wedges]
)
def test_every_kernel_with_an_atomic_is_held_here(module):
    for name, function in functions(module).items():
        if name in ("_add", "_count_off"):  # as above
            continue
        assert set(atomics(function)) <= set(SHARED.get((module, name), {})), name


@pytest.mark.parametrize("dtype", ["uint32", "int64", "float64"])
def test_an_atomic_is_one_for_the_machine(dtype):
    def add(sums, index, value):
        return atomic_add(sums, index, value)

    dispatcher, sums = njit(add), np.array([3, 5], dtype)
    assert (dispatcher(sums, 1, sums[0]), sums.tolist()) == (5, [3, 8])
    [code] = dispatcher.inspect_llvm().values()
    assert ("cmpxchg" if dtype == "float64" else "atomicrmw add") in code


# Of each kernel what other threads change meanwhile, and where it reads it.
READ = {
    (communities, "_climb"): {"hints": 2, "parents": 2},
    (truss_rounds, "_remove"): {"support": 2},
    (truss_tables, "find_slot"): {"slots": 1},
}


@pytest.mark.parametrize("module, name", READ, ids=lambda part: getattr(part, "__name__", part))
def test_words_that_others_change_are_read_by_atomics_alone(module, name):
    function, shared = functions(module)[name], READ[module, name]
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    loads = [ast.unparse(call.args[0]) for call in calls if getattr(call.func, "id", "") == "load"]
    plain = [
        ast.unparse(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    ]
    assert {array: loads.count(array) for array in shared} == shared
    assert not set(shared) & set(plain)


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_a_load_is_one_for_the_machine(dtype):
    dispatcher = njit(lambda words, index: load(words, index))
    assert dispatcher(np.array([3, 5], dtype), 1) == 5
    [code] = dispatcher.inspect_llvm().values()
    assert "load atomic" in code
