"""Number ids by ranges of their values, if one worker should not hold all of them.

Every batch sorts its distinct ids, and cuts them at values that samples of all batches give. A
worker merges the ids that all batches have in a range: the number of an id is its place there, plus
the ids of all earlier ranges. A batch asks the workers of the ranges for the numbers of its own ids
alone.
"""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.blocks import id_tasks, ranges
from rapids_tc.blocks.block_map import FEW
from rapids_tc.blocks.codec import require, require_length
from rapids_tc.blocks.grid import IdRanges, Range
from rapids_tc.frames.backend import as_uint32, gather
from rapids_tc.preparation import id_scheme, sampling
from rapids_tc.preparation.ids import Ids, IndexedPart

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc._typing import Array, Series
    from rapids_tc.blocks.block_map import Numbered, TaskMap
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.grid import Part
    from rapids_tc.blocks.id_tasks import Fingerprints, Numbers
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Backend, Frame
    from rapids_tc.preparation.id_scheme import IdScheme

SAMPLES = 256  # per range and batch: more samples make the ranges more equal
Pieces = list[Any]  # an Index of distinct ids, ascending, for each range


def cut(graph: TaskMap, scheme: Task, distinct: list[Task], count: int) -> IdRanges:
    """Cut the distinct ids of all batches in `count` ranges, and number them.

    Raises
    ------
    CapacityError
        There are more ids than numbers.
    """
    submit = graph.submit
    ordered = graph.each_batch("ids", ascending, distinct, more=(scheme,))
    samples = graph.each_batch("ids", sample, ordered, more=(count,))
    cuts = submit("ids", cut_values, samples, scheme, count)
    pieces = graph.each_batch("ids", split, ordered, more=(cuts, count))
    by_range = [
        graph.each_batch("ids", operator.getitem, pieces, more=(place,)) for place in range(count)
    ]
    merged = [graph.reduce("ids", id_scheme.union_values, of, FEW) for of in by_range]
    ids = [submit("ids", make_ids, scheme, index) for index in merged]
    sizes = graph.executor.gather([submit("ids", getattr, each, "size") for each in ids])
    bounds = np.cumsum([0, *sizes]).tolist()
    id_scheme.require_numbers(bounds[-1])
    parts = [Range(a, b - a) for a, b in pairwise(bounds)]
    workers = graph.workers_of_rows
    numbers = [
        [
            submit("ids", numbers_of, ids[place], by_range[place][i], part, on=workers[i])
            for place, part in enumerate(parts)
        ]
        for i in range(len(pieces))
    ]
    return IdRanges(parts, ids, pieces, numbers)


def count_and_bytes(found: list[Any]) -> tuple[int, int]:
    """Return how many ids of one part there are, and their bytes."""
    [index] = found
    return len(index), int(index.memory_usage(deep=True))


def make_ids(scheme: IdScheme, index: Any, *, backend: Backend) -> Ids:
    """Make the way back from numbers to ids of one part."""
    return id_scheme.make_ids(scheme, [index], backend)


def ascending(found: list[Any], scheme: IdScheme, *, backend: Backend) -> Any:
    """Sort distinct ids of one part by value."""
    return index_of(id_scheme.make_ids(scheme, found, backend))


def index_of(ids: Ids) -> Any:
    """Return the values of ids of one part, which are not dense."""
    [part] = ids.parts
    assert isinstance(part, IndexedPart)
    return part.index


def sample(index: Any, count: int, *, xp: ModuleType) -> Any:
    """Select ids at equal distances, enough to cut all in `count` ranges."""
    size = min(len(index), SAMPLES * count)
    return index.take(xp.arange(size) * len(index) // max(size, 1))


def cut_values(samples: list[Any], scheme: IdScheme, count: int, *, backend: Backend) -> Any:
    """Choose the first id of each range but the first; none if there are no ids."""
    ids, xp = make_ids(scheme, id_scheme.union_values(samples), backend=backend), backend.xp
    index = index_of(ids)
    # A sample of few ids may cut at one of them more than once: these ranges are empty.
    places = xp.arange(1, count) * len(index) // count
    return index.take(places) if len(index) else index


def split(index: Any, cuts: Any, count: int, *, backend: Backend) -> Pieces:
    """Cut ascending ids in `count` ranges at some values; without any, the first has all."""
    series = backend.library.Series
    places = series(index).searchsorted(series(cuts))
    bounds = [0, *map(int, places.tolist()), *[len(index)] * (count - len(places))]
    return [index[a:b] for a, b in pairwise(bounds)]


def numbers_of(ids: Ids, index: Any, part: Range, *, xp: ModuleType) -> Array:
    """Return the numbers (uint32) of distinct ids that are all in a range."""
    of_range = index_of(ids)
    require_length(of_range, part.size, "ids of a range")
    places = xp.asarray(of_range.get_indexer(index))
    require(bool((places >= 0).all()), "ids of another range")
    return (places.astype("int64") + part.first).astype("uint32")


def number(
    partitions: list[Frame], prints: Fingerprints, pieces: Pieces, numbers: list[Array],
    scheme: IdScheme, *, context: WorkerContext,
) -> Numbers:  # fmt: skip
    """Assign numbers to both ends of every row of some partitions, one after another."""
    backend, xp = context.backend, context.backend.xp
    described = id_tasks.id_columns(context, partitions, prints)
    index, of_index = pieces[0].append(pieces[1:]), xp.concatenate(numbers)
    require_length(of_index, len(index), "numbers of ids")
    [part] = make_ids(scheme, index[:0], backend=backend).parts
    assert isinstance(part, IndexedPart)
    local = Ids.of([part.with_index(index)], scheme.columns)
    places = [id_scheme.keys(columns, local, scheme) for columns in described]
    return [gather(of_index, xp.concatenate(end)) for end in zip(*places, strict=True)]


def draw_colors(ids: Ids, part: Range, colors: int, seed: int) -> Array:
    """Draw the colors of the ids of a range: see `sampling.draw`."""
    words = ids.words
    if ids.parts[0].kind != "integer":  # whose words are their numbers
        words = words + np.uint64(part.first)
    return sampling.draw(words, colors, seed)


def one_colored(numbers: Numbers, of_ends: list[Array], *, xp: ModuleType) -> Numbers:
    """Select the rows, except loops, whose two ends have the same color."""
    (src, dst), (of_src, of_dst) = numbers, of_ends
    rows = xp.flatnonzero((of_src == of_dst) & (src != dst))
    return [as_uint32(end[rows]) for end in numbers]


# Ids of numbers -----------------------------------------------------------------------------------


def ids_of(graph: Numbered) -> list[Task]:
    """Return the ids of each range."""
    if graph.id_ranges is not None:
        return graph.id_ranges.ids
    return [graph.submit("ids", id_tasks.ids_in, graph.ids_of_all, part) for part in graph.ranges]


def look_up(graph: TaskMap, ids: IdRanges, keys: list[Task]) -> list[Task]:
    """Look up the ids of numbers, which lists of arrays hold: as lists of Series."""
    workers = [None] * len(keys)
    return ranges.look_up(graph, "answer", keys, workers, ids.ids, ids.parts, (ids_in_part, joined))


def ids_in_part(keys: list[Array], ids: Ids, part: Part) -> list[Series]:
    """Look up the ids of the numbers that are in a part, in the order of the numbers."""
    return [ids.named(part.place(array[part.select(array)])) for array in keys]


def joined(
    keys: list[Array], pieces: list[list[Series]], parts: list[Part], *, backend: Backend
) -> list[Series]:
    """Put the ids that the numbers have in all parts in the order of the numbers."""
    xp, library, result = backend.xp, backend.library, []
    for side, array in enumerate(keys):
        order = xp.concatenate([xp.flatnonzero(part.select(array)) for part in parts])
        ids = library.concat([piece[side] for piece in pieces], ignore_index=True)
        require(len(order) == len(ids) == len(array), f"{len(ids)} ids for {len(array)} numbers")
        places = xp.empty(len(order), "int64")
        places[order] = xp.arange(len(order))
        result.append(ids.iloc[places].reset_index(drop=True))
    return result
