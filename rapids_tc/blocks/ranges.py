"""Rank numbers by degree: all of them on every worker, or, if they are too many, in ranges.

In ranges, one worker ranks the numbers of a range. A rank is the place of the vertex by the code of
its degree, then by its number: it follows from how many numbers of each range have each code,
without a sort of all numbers. Values by rank are kept by residue, as blocks are. A worker looks up
the values of its keys, which are numbers or ranks, part by part, and joins them.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import degree_codes
from rapids_tc.blocks.block_map import FEW
from rapids_tc.blocks.codec import require, require_below, require_length
from rapids_tc.frames.backend import Array, Backend, gather, sum64
from rapids_tc.preparation import orient

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from rapids_tc.blocks.block_map import TaskMap
    from rapids_tc.blocks.grid import Part, Range
    from rapids_tc.blocks.id_tasks import Numbers
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.executors.protocol import Task

CODES = 256  # of degrees


# Ranks of all numbers -----------------------------------------------------------------------------


def degrees(numbers: Numbers, size: int, *, engine: Engine, xp: ModuleType) -> Array:
    """Count the degree of every number among some rows, as codes."""
    src, dst = numbers
    for end in numbers:
        require_below(end, size, "numbers of ids")
    degree, _ = engine.degrees(src, dst, size)
    return degree_codes.codes(degree, xp)


def add_degrees(codes: list[Array], *, xp: ModuleType) -> Array:
    """Add up the codes of the degrees of several batches."""
    return degree_codes.codes(_total(codes, xp), xp)


def order(codes: list[Array], *, xp: ModuleType) -> list[Any]:
    """Return the rank of every number, and how many are vertices."""
    by_degree = degree_codes.by_degree(_total(codes, xp), xp)
    return [by_degree.rank, by_degree.n]


def _total(codes: list[Array], xp: ModuleType) -> Array:
    for batch in codes:
        require_length(batch, len(codes[0]), "degrees")
    return degree_codes.total(codes, xp)


def ranks_of_ends(numbers: Numbers, order: list[Any], *, backend: Backend) -> list[Array]:
    """Look up the ranks (uint32) of both ends of some rows."""
    for end in numbers:
        require_below(end, len(order[0]), "numbers of ids")
    return [*orient.ranks_in_order((numbers[0], numbers[1]), order[0], backend)]


# Ranks in ranges ----------------------------------------------------------------------------------


def ranks(
    graph: TaskMap, numbers: list[Task], size: int, parts: list[Range]
) -> tuple[list[Task], Task]:
    """Rank the numbers of each range; also return the number of vertices.

    `numbers` are of both ends of the rows of each batch, all below `size`.
    """
    codes = []
    for part in parts:
        of_batches = graph.each_batch("degrees", codes_in, numbers, more=(part, size))
        codes.append(graph.reduce("degrees", add_degrees, of_batches, FEW))
    sizes = graph.executor.gather([graph.submit("order", code_sizes, each) for each in codes])
    starts = _starts(np.array(sizes, "int64").reshape(len(parts), CODES)).tolist()
    ranked = [
        graph.submit("order", ranks_of, *of_range)
        for of_range in zip(codes, sizes, starts, strict=True)
    ]
    return ranked, graph.submit("order", vertices, sizes)


def _starts(sizes: Array) -> Array:
    """Return the first rank of each code in each range: higher codes first, then earlier ranges."""
    in_order = sizes.T[::-1].reshape(-1)  # codes from the highest, of each the ranges in order
    before = np.cumsum(in_order) - in_order
    return before.reshape(CODES, len(sizes))[::-1].T


def codes_in(numbers: Numbers, part: Range, size: int, *, xp: ModuleType) -> Array:
    """Encode the degree that every number of a range has among some rows."""
    degree = 0
    for end in numbers:
        require_below(end, size, "numbers of ids")
        inside = part.place(end[part.select(end)]).astype("int64")
        degree = degree + xp.bincount(inside, minlength=part.size)
    return degree_codes.codes(degree, xp)


def code_sizes(codes: Array, *, xp: ModuleType) -> list[int]:
    """Count the numbers of a range by the code of their degree."""
    return [*map(int, _sizes(codes, xp).tolist())]


def _sizes(codes: Array, xp: ModuleType) -> Array:
    return xp.bincount(codes, minlength=CODES)


def ranks_of(codes: Array, sizes: list[int], starts: list[int], *, xp: ModuleType) -> Array:
    """Rank the numbers of a range, from the first rank of each code in this range."""
    require(_sizes(codes, xp).tolist() == sizes, "degrees of a range")
    from_highest = xp.argsort(np.uint8(CODES - 1) - codes, kind="stable")
    # In this order, the numbers of a code follow one another: so do their ranks.
    before = np.cumsum(sizes[::-1])[::-1] - sizes
    shift = xp.asarray(np.array(starts, "int64") - before)
    result = xp.empty(len(codes), "uint32")
    places = xp.arange(len(codes)) + shift[codes[from_highest]]
    result[from_highest] = places.astype("uint32")
    return result


def vertices(sizes: list[list[int]]) -> int:
    """Return how many numbers have a degree."""
    return sum(sum(by_code[1:]) for by_code in sizes)


def ranks_of_vertices(ranked: Array, vertices: int) -> list[Array]:
    """Select the ranks of the numbers of a range that are vertices, as keys to look up."""
    return [ranked[ranked < vertices]]


def order_of_range(ranked: Array, vertices: int, *, xp: ModuleType) -> list[Any]:
    """Order the vertices of a range by number, in the form of `order`."""
    present = ranked < vertices
    count = sum64(present)
    places = xp.cumsum(present, dtype="int64") - 1
    return [xp.where(present, places, count).astype("uint32"), count]


# Values by key ------------------------------------------------------------------------------------


def look_up(
    graph: TaskMap, stage: str, keys: list[Task], workers: Sequence[str | None],
    values: list[Task], parts: Sequence[Part], tasks: tuple[Any, Any] | None = None,
) -> list[Task]:  # fmt: skip
    """Look up the values of keys, which lists of arrays hold, each list on a worker.

    `values` are by place in each part. Few parts are under way at once, so that a worker does not
    fetch the values of all. `tasks` replace `in_part` and `joined`.
    """
    of_part, of_all = tasks or (in_part, joined)
    pieces: list[list[Task]] = [[None] * len(parts) for _ in keys]

    def submitted() -> Iterator[tuple[tuple[int, int], Task]]:
        for place, i in product(range(len(parts)), range(len(keys))):
            arguments = keys[i], values[place], parts[place]
            yield (i, place), graph.submit(stage, of_part, *arguments, on=workers[i])

    at_once = 2 * max(len(graph.workers), len(set(workers)))
    total = len(parts) * len(keys)
    for (i, place), task in graph.executor.as_completed(submitted(), at_once, total):
        pieces[i][place] = task
    if len(parts) == 1:
        return [piece for [piece] in pieces]
    return [
        graph.submit(stage, of_all, keys[i], pieces[i], [*parts], on=workers[i])
        for i in range(len(keys))
    ]


def in_part(keys: list[Array], values: Array, part: Part) -> list[Array]:
    """Look up the values of the keys that are in a part, in the order of the keys."""
    result = []
    for array in keys:
        places = part.place(array[part.select(array)])
        require_below(places, len(values), "keys of values")
        result.append(gather(values, places))
    return result


def joined(
    keys: list[Array], pieces: list[list[Array]], parts: list[Part], *, xp: ModuleType
) -> list[Array]:
    """Put the values that the keys have in all parts in the order of the keys."""
    result = []
    for side, array in enumerate(keys):
        values = xp.empty(len(array), pieces[0][side].dtype)
        missing = len(array)
        for part, piece in zip(parts, pieces, strict=True):
            is_in_part = part.select(array)
            require_length(piece[side], sum64(is_in_part), "values of keys")
            values[is_in_part] = piece[side]
            missing -= len(piece[side])
        require(not missing, f"{missing} keys of no part")
        result.append(values)
    return result
