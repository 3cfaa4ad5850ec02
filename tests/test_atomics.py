"""What several threads add to at once is added to by atomics, told from the code itself.

A lost addition is rare, on few cores above all: no count shows for sure that one is plain.
"""

import ast
import inspect

import numpy as np
import pytest
from numba import njit

from rapids_tc.engines.cpu import counting, listing, truss
from rapids_tc.engines.cpu.parallel import atomic_add

pytestmark = pytest.mark.cpu_only

# Of each kernel what other tasks add to as well, and in how many places it does.
SHARED = {
    (counting, "edges"): {"of_uw": 1, "of_vw": 1},
    (listing, "sum_products"): {"sums": 3},
    (truss, "_count_off"): {"support": 1, "state": 1},
    (truss, "_peel_tasks"): {"state": 1},
    (truss, "_peel_task"): {"support": 0, "state": 0},  # but through _count_off
}


def functions(module):
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def atomics(function):
    """The names of the arrays that a function adds to by atomics, as often as it does."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [call.args[0].id for call in calls if getattr(call.func, "id", "") == "atomic_add"]


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


@pytest.mark.parametrize("module", [counting, listing, truss])
def test_every_kernel_with_an_atomic_is_held_here(module):
    for name, function in functions(module).items():
        assert set(atomics(function)) <= set(SHARED.get((module, name), {})), name


@pytest.mark.parametrize("dtype", ["uint32", "int64", "float64"])
def test_an_atomic_is_one_for_the_machine(dtype):
    def add(sums, index, value):
        return atomic_add(sums, index, value)

    dispatcher, sums = njit(add), np.array([3, 5], dtype)
    assert (dispatcher(sums, 1, sums[0]), sums.tolist()) == (5, [3, 8])
    [code] = dispatcher.inspect_llvm().values()
    assert ("cmpxchg" if dtype == "float64" else "atomicrmw add") in code
