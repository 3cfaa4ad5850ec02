"""Sort each undirected edge once over many workers: all sort, and each merges a range.

The key of an edge is smaller number << 32 | larger number. Numbers are in the order of ids, so that
a range of keys is a range of rows of the answer.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.blocks import id_ranges
from rapids_tc.blocks.codec import require_below
from rapids_tc.preparation.edge_columns import ids_in_answers
from rapids_tc.preparation.triangles import edge_keys, named_edges

if TYPE_CHECKING:
    from types import ModuleType

    from rapids_tc.blocks.block_map import Numbered
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.id_tasks import Numbers
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend, Frame, Series
    from rapids_tc.preparation.ids import Ids

SAMPLES = 256  # of each range, to find ranges of about equal length by


def simple_edges(graph: Numbered) -> tuple[list[Task], list[int]]:
    """Submit the frames of the answer; return them, and how many rows each has."""
    keys, lengths = sorted_ranges(graph)
    starts = np.cumsum([0, *lengths]).tolist()
    if graph.id_ranges is not None:
        numbers = [graph.submit("edges", ends_of, own) for own in keys]
        named = id_ranges.look_up(graph, graph.id_ranges, numbers)
        return [
            graph.submit("edges", named_frame, own, start)
            for own, start in zip(named, starts, strict=False)
        ], lengths
    return [
        graph.submit("edges", frame, own, graph.ids, start)
        for own, start in zip(keys, starts, strict=False)
    ], lengths


def sorted_ranges(graph: Numbered) -> tuple[list[Task], list[int]]:
    """Submit the keys of all edges, a range per batch; return them, and how many each has."""
    keys = graph.each_batch("edges", sorted_keys, graph.numbers)
    parts = len(keys)
    if parts > 1:
        step = sum(map(sum, graph.rows)) // (SAMPLES * parts) + 1
        samples = graph.executor.gather(graph.each_batch("edges", sample, keys, more=(step,)))
        ranges = graph.each_batch("edges", split, keys, more=(_cuts(samples, parts),))
        keys = []
        for part in range(parts):
            apart = graph.each_batch("edges", operator.getitem, ranges, more=(part,))
            keys.append(graph.submit("edges", merge, apart))
    return keys, graph.executor.gather([graph.submit("edges", len, own) for own in keys])


def _cuts(samples: list[Array], parts: int) -> tuple[int, ...]:
    """Choose keys that cut the samples, and so all keys, into about equal ranges."""
    keys = np.sort(np.concatenate(samples))
    keys = keys if len(keys) else np.zeros(1, "uint64")
    return tuple(int(keys[len(keys) * part // parts]) for part in range(1, parts))


def sorted_keys(numbers: Numbers, *, xp: ModuleType) -> Array:
    """Make the keys of the edges of some rows, sorted, each once and without loops."""
    u, v = (end.astype("uint64") for end in numbers)
    return _once(edge_keys(u, v, xp)[u != v], xp)


def sample(keys: Array, step: int, *, backend: Backend) -> Array:
    """Copy one key in `step` to the host."""
    return backend.host(keys[::step])


def split(keys: Array, cuts: tuple[int, ...], *, xp: ModuleType) -> list[Array]:
    """Cut keys into the ranges below the first cut, below the second, and so on."""
    ends = xp.searchsorted(keys, xp.asarray(np.array(cuts, "uint64"))).tolist()
    return [keys[a:b] for a, b in zip([0, *ends], [*ends, len(keys)], strict=True)]


def merge(ranges: list[Array], *, xp: ModuleType) -> Array:
    """Merge one range of all workers, each key once."""
    return _once(xp.concatenate(ranges), xp)


def frame(keys: Array, ids: Ids, start: int, *, context: WorkerContext) -> Frame:
    """Make a range of the answer, whose rows are numbered from `start` on."""
    require_below(keys.astype("uint32"), ids.size, "numbers of ids")  # the larger of both
    rows = context.adapter.frame(named_edges(keys, ids))
    rows.index = rows.index + start
    return rows


def ends_of(keys: Array) -> list[Array]:
    """Return the numbers of both ends of edges."""
    return [(keys >> 32).astype("uint32"), keys.astype("uint32")]


def named_frame(ids: list[Series], start: int, *, context: WorkerContext) -> Frame:
    """Make a range of the answer from the ids of both ends of its edges."""
    labels = [part.label for part in context.labels.ids]
    columns = dict(zip(ids_in_answers(labels, ("src", "dst")), ids, strict=True))
    rows = context.adapter.frame(context.backend.library.DataFrame(columns))
    rows.index = rows.index + start
    return rows


def _once(keys: Array, xp: ModuleType) -> Array:
    """Sort keys in place; return each once."""
    keys.sort()
    new = xp.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]
