"""Columns of rows as of their time, where rows lie apart: slab by slab of time.

Each batch samples its times, which tells where all rows are cut in slabs. It sorts its rows, and
cuts them there. A slab is merged from the pieces of all batches; then its rows are counted behind
their halo, what its windows reach of earlier slabs: see `rapids_tc.plan.slabs`. The answers go back
to the batches.

Rows travel as columns of an array of int64: the code of the time, the number of the row in the
frame, and the numbers of its ends, source << 32 | destination.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.blocks.block_values import first_rows
from rapids_tc.blocks.codec import require_below, require_length
from rapids_tc.blocks.row_lookup import with_columns
from rapids_tc.engines.as_of import TimedRows
from rapids_tc.errors import CHANGED, KernelError
from rapids_tc.frames.backend import as_uint32
from rapids_tc.plan.slabs import slabs_of
from rapids_tc.preparation.csr import pack_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from rapids_tc.blocks.block_map import Numbered
    from rapids_tc.blocks.block_values import Read
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.id_tasks import Fingerprints, Numbers
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.executors.protocol import Task
    from rapids_tc.frames.backend import Array, Backend, Frame
    from rapids_tc.plan.slabs import Key, Slab, SlabPlan
    from rapids_tc.preparation.time_order import AsOf, CodeReader

Spans = tuple[tuple[int, int], ...]  # ranges of rows that are those of a batch


def columns(
    graph: Numbered, asked: AsOf, read: Read, plan: SlabPlan, workers: Sequence[str]
) -> list[Task]:
    """Submit the columns of the rows of each batch: int64, (columns, rows).

    `read` is what `block_values.read_rows` returns for the reading of what is asked for. Slabs are
    counted on some workers in turn.

    Raises
    ------
    CapacityError
        See `SlabPlan.cut`.
    """
    resolved, codes = read
    gather, each = graph.executor.gather, graph.each_batch
    [reader] = gather(resolved).readers
    spans = _spans(graph)
    step = plan.step(sum(map(sum, graph.rows)), len(spans))
    sampled = gather(each("slabs", sample, codes, spans, more=(step,)))
    samples, ends = zip(*sampled, strict=True)
    slabs = plan.cut(np.concatenate(samples, axis=1), lambda codes: reader.latest(codes, np))
    begins = tuple(slab.begin for slab in slabs)
    pieces = each("slabs", split, graph.numbers, codes, spans, more=(begins,))
    of_slabs: list[list[int]] = [[] for _ in slabs]  # the batches that have rows of each
    for batch, own in enumerate(ends):
        for number in slabs_of(begins, own):
            of_slabs[number].append(batch)
    by_batch: list[list[Task]] = [[] for _ in spans]
    counted = _counted(graph, slabs, pieces, of_slabs, spans, reader, asked.names, workers)
    for number, answers in graph.executor.as_completed(counted, len(workers), len(slabs)):
        for place, batch in enumerate(of_slabs[number]):
            by_batch[batch].append(graph.submit("slabs", operator.getitem, answers, place))
    return each("slabs", by_row, by_batch, spans, more=(len(asked.names),))


def _spans(graph: Numbered) -> list[Spans]:
    """Return the rows of each batch, in as few ranges as there may be."""
    found = []
    for firsts, sizes in zip(first_rows(graph), graph.rows, strict=True):
        spans: list[tuple[int, int]] = []
        for first, size in zip(firsts, sizes, strict=True):
            begin = spans.pop()[0] if spans and spans[-1][1] == first else first
            spans.append((begin, first + size))
        found.append(tuple(spans))
    return found


def _counted(
    graph: Numbered, slabs: list[Slab], pieces: list[Task], of_slabs: list[list[int]],
    spans: list[Spans], reader: CodeReader, names: tuple[str, ...], workers: Sequence[str],
) -> Iterator[tuple[int, Task]]:  # fmt: skip
    """Submit the slabs one after another; yield the number of each with its answers."""
    merged: dict[int, Task] = {}
    for number, (slab, batches) in enumerate(zip(slabs, of_slabs, strict=True)):
        on = workers[number % len(workers)]
        own = [graph.submit("slabs", operator.getitem, pieces[b], number) for b in batches]
        halo = [
            graph.submit("slabs", in_reach, merged[earlier], slab.begin, reader)
            for earlier in range(slab.halo, number)
        ]
        merged = {earlier: merged[earlier] for earlier in range(slab.halo, number)}
        merged[number] = graph.submit("slabs", merge, own, on=on)
        answered_to = tuple(spans[batch] for batch in batches)
        rows = merged[number], answered_to, reader, names, graph.size
        yield number, graph.submit("count", count, halo, *rows, on=on)


# What workers do ----------------------------------------------------------------------------------


def sample(codes: list[Array], spans: Spans, step: int, *, backend: Backend) -> tuple[Array, Array]:
    """Sample the rows of a batch, one in `step`, in the order of time.

    Return the codes and numbers of these rows, and for how many rows each stands; then the codes
    and numbers of the first row and of the last, if there are any. All are on the host.
    """
    xp, [code] = backend.xp, codes
    order = xp.argsort(code, kind="stable")
    size = len(order)
    at = xp.arange(min(step // 2, max(size - 1, 0)), size, step)
    weights = xp.full(len(at), step)
    weights[-1:] += size - step * len(at)
    row, ends = _numbers_of(spans, xp), order[[0, -1] if size else []]
    some = order[at]
    return (
        backend.host(xp.stack([code[some], row[some], weights])),
        backend.host(xp.stack([code[ends], row[ends]])),
    )


def split(
    numbers: Numbers, codes: list[Array], spans: Spans, begins: Sequence[Key], *, xp: ModuleType
) -> list[Array]:
    """Cut the rows of a batch, sorted by time, in the pieces of all slabs."""
    [code], row = codes, _numbers_of(spans, xp)
    require_length(row, len(code), "rows")
    order = xp.argsort(code, kind="stable")
    src, dst = (as_uint32(end)[order] for end in numbers)
    ends = pack_keys(src, dst, xp).view("int64")
    rows = xp.stack([code[order], row[order], ends])
    cuts = [_place(rows, key, xp) for key in begins[1:]]
    bounds = zip([0, *cuts], [*cuts, len(code)], strict=True)
    return [xp.ascontiguousarray(rows[:, a:b]) for a, b in bounds]


def _numbers_of(spans: Spans, xp: ModuleType) -> Array:
    """Return the numbers of the rows of a batch, which ascend."""
    return xp.concatenate([xp.arange(*span) for span in spans])


def _place(rows: Array, key: Key, xp: ModuleType) -> int:
    """Return how many sorted rows are before a code and a number."""
    begin, end = (
        int(xp.searchsorted(rows[0], xp.asarray([key[0]]), side=side)[0])
        for side in ("left", "right")
    )
    return begin + int(xp.searchsorted(rows[1, begin:end], xp.asarray([key[1]]))[0])


def merge(pieces: list[Array], *, xp: ModuleType) -> Array:
    """Merge the pieces of a slab, each of which is sorted."""
    if len(pieces) < 2:
        return pieces[0] if pieces else xp.zeros((3, 0), "int64")
    rows = xp.concatenate(pieces, axis=1)
    order = xp.argsort(rows[0], kind="stable")
    rows = rows[:, order]
    ties = rows[0, 1:] == rows[0, :-1]
    if bool((ties & (rows[1, 1:] < rows[1, :-1])).any()):  # of batches whose rows alternate
        rows = rows[:, xp.argsort(rows[1], kind="stable")]
        rows = rows[:, xp.argsort(rows[0], kind="stable")]
    return rows


def in_reach(rows: Array, begin: Key, reader: CodeReader, *, xp: ModuleType) -> Array:
    """Return the rows of a slab that lie in a window of a later one, which begins so."""
    first = xp.searchsorted(reader.latest(rows[0], xp), xp.asarray([begin[0]]))
    return xp.ascontiguousarray(rows[:, int(first[0]) :])


def count(
    halo: list[Array], rows: Array, spans: Sequence[Spans], reader: CodeReader,
    names: tuple[str, ...], size: int, *, engine: Engine, xp: ModuleType,
) -> list[Array]:  # fmt: skip
    """Count what the rows of a slab form with those before them, of vertices below `size`.

    Return, for each of the batches whose `spans` are given, the numbers of its rows, and their
    columns: int64, (1 + columns, rows).
    """
    parts = [*halo, rows]
    codes, ends = (xp.concatenate([part[at] for part in parts]) for at in (0, 2))
    ends = ends.view("uint64")
    src, dst = (ends >> 32).astype("uint32"), ends.astype("uint32")
    del ends
    if size > len(src) + len(dst):
        size, (src, dst) = _numbered_anew(src, dst, xp)
    for end in (src, dst):
        require_below(end, size, "numbers of ids")
    timed = TimedRows(src, dst, reader.first(codes, xp), size)
    since = len(codes) - rows.shape[1]
    del codes, src, dst
    counts = engine.keep_rows(timed, names, 0).counts(since)
    del timed
    return [_of_batch(rows[1], counts, own, xp) for own in spans]


def _numbered_anew(src: Array, dst: Array, xp: ModuleType) -> tuple[int, tuple[Array, Array]]:
    """Give vertices numbers that follow one another: others would take memory."""
    both = xp.concatenate([src, dst])
    known, numbers = xp.unique(both, return_inverse=True)
    numbers = numbers.astype("uint32")
    return len(known), (numbers[: len(src)], numbers[len(src) :])


def _of_batch(row: Array, counts: Array, spans: Spans, xp: ModuleType) -> Array:
    """Return the numbers and the columns of the rows that are of a batch."""
    own = xp.zeros(len(row), bool)
    for first, last in spans:
        own |= (row >= first) & (row < last)
    made = xp.empty((1 + len(counts), int(xp.count_nonzero(own))), "int64")
    for values, column in zip(made, [row, *counts], strict=True):
        values[:] = column[own]
    return made


def by_row(answers: list[Array], spans: Spans, names: int, *, xp: ModuleType) -> Array:
    """Return the columns of the rows of a batch, from what all slabs say of them.

    Raises
    ------
    KernelError
        A row has no answer, or several: times were others when they were read again.
    """
    found = xp.concatenate([xp.zeros((1 + names, 0), "int64"), *answers], axis=1)
    order = xp.argsort(found[0])
    if not bool(xp.array_equal(found[0][order], _numbers_of(spans, xp))):
        raise KernelError(CHANGED)
    return found[1:, order]


def add(
    partitions: list[Frame], prints: Fingerprints, values: Array, names: tuple[str, ...], *,
    context: WorkerContext,
) -> list[Frame]:  # fmt: skip
    """Add columns to the partitions of a batch."""
    return with_columns(partitions, prints, dict(zip(names, values, strict=True)), context)
