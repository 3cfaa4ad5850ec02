"""A call on a small partitioned frame: one worker takes all partitions, and answers in one task.

The steps between workers would take longer than the graph does. What one worker cannot answer, for
any reason, is asked of all of them, whose errors name partitions; so the task returns no error.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rapids_tc.frames.backend import resolve_engine
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.plan.record import ANALYTICS, Options, OwnOptions, Result, columns_of
from rapids_tc.preparation.edge_columns import check_new

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.executors.protocol import Executor, Task
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Frame
    from rapids_tc.plan.record import Analytic

Answer = Callable[..., Any]  # of a record, edges, the shared options and the record's own

# Bytes of partitions that one worker takes: about 100 ms of its work, as the steps between take.
MOST_BYTES = {"cpu": 2**22, "cuda": 2**28}
MEMORY_SHARE = 32  # the most of a worker's memory that the partitions are: one in so many
INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
VALUES = (Result.VALUE, Result.TABLE)
FRAMES = (Result.COLUMNS, Result.ROWS)  # one for each of the partitions


@dataclass(frozen=True)
class Frames:
    """An answer in frames, one or one per partition.

    Attributes
    ----------
    frames : list of DataFrame
    lengths : list of int
        The rows of each.
    names : list of str
        The columns that they add to the user's.
    """

    frames: list[Any]
    lengths: list[int]
    names: list[str]


def serves(record: Analytic, options: Options, own: OwnOptions, labels: Any, meta: Frame) -> bool:
    """Return whether one worker may answer a call, if the frame is small: its ids are integers."""
    return (
        forced_layout.get() is None
        and options.memory_limit is None
        and record.result in (*VALUES, *FRAMES, Result.VERTICES, Result.EDGES)
        and not record.sums(own)
        and not labels.joined
        and all(
            isinstance(label, str) and str(getattr(meta[label], "dtype", None)) in INTEGERS
            for label in labels.labels
        )
    )


def ask(
    executor: Executor, context: WorkerContext, call: Answer, record: Analytic,
    options: Options, own: OwnOptions, partitions: list[Task],
) -> tuple[Any] | None:  # fmt: skip
    """Have one worker answer a call on a small frame; None if it is not small, or none can."""
    if (on := _worker(executor, context, partitions)) is None:
        return None
    arguments = call, record.name, replace(options, progress=False), own
    answered = executor.submit("count", context.run, answer, *arguments, partitions, on=on)
    executor.submit_to_new("begin", context.run, begin, *arguments, executor.meta)
    if record.result in VALUES:
        return cast("tuple[Any] | None", executor.gather(answered))
    outlined = executor.gather(executor.submit("rows", context.run, outline, answered, on=on))
    if outlined is None:
        return None
    meta, lengths, names = outlined
    frames = [
        executor.submit("rows", context.run, frame_at, answered, place, on=on)
        for place in range(len(lengths))
    ]
    if record.result not in FRAMES:
        return (executor.to_frame(frames, meta, lengths),)
    return (executor.to_frame(frames, meta_with(context.adapter, executor.meta, names), None),)


def _worker(executor: Executor, context: WorkerContext, partitions: list[Task]) -> str | None:
    """Return the worker to take all of the evaluated partitions; None if they are too large."""
    if (held := executor.holder(partitions)) is None:
        return None
    worker, size = held
    memory = min(each.memory or 2**60 for each in executor.workers())
    engine = resolve_engine(context.adapter, context.engine)
    return worker if size <= min(MOST_BYTES[engine], memory // MEMORY_SHARE) else None


def meta_with(adapter: FrameAdapter, meta: Frame, asked: Sequence[str | Quantity]) -> Frame:
    """Return a frame without rows with the columns that a call adds."""
    return meta_of_dtypes(adapter, meta, {n: c.dtype for n, c in columns_of(asked).items()})


def meta_of_dtypes(adapter: FrameAdapter, meta: Frame, dtypes: dict[str, str]) -> Frame:
    """Return a frame without rows with further columns of some dtypes."""
    added = {
        name: adapter.column_like(meta, np.zeros(0, dtype), name) for name, dtype in dtypes.items()
    }
    return adapter.assign(meta, added) if added else meta


def begin(
    call: Answer, name: str, options: Options, own: OwnOptions, meta: Frame, *,
    context: WorkerContext,
) -> None:  # fmt: skip
    """Answer a call on a triangle: what this compiles, the next call of the worker has ready."""
    ends = zip(context.columns(meta, 0), ([0, 1, 2], [1, 2, 0]), strict=True)
    xp = context.backend.xp
    columns = [xp.asarray(numbers, str(column.dtype)) for column, numbers in ends]
    edges = type(meta)(dict(zip(context.labels.labels, columns, strict=True)))
    with suppress(Exception):  # such as of vertices that this graph lacks
        call(ANALYTICS[name], edges, options, own)


def answer(
    call: Answer, name: str, options: Options, own: OwnOptions, partitions: list[Frame], *,
    context: WorkerContext,
) -> tuple[Any] | Frames | None:  # fmt: skip
    """Answer a call on all partitions as on one frame."""
    try:
        return _answer(context, call, ANALYTICS[name], options, own, partitions)
    except Exception:  # the call is asked of all workers, which say what is wrong
        return None


def _answer(
    context: WorkerContext, call: Answer, record: Analytic, options: Options, own: OwnOptions,
    partitions: list[Frame],
) -> tuple[Any] | Frames | None:  # fmt: skip
    ends = [context.columns(partition, place) for place, partition in enumerate(partitions)]
    kinds = {str(column.dtype) for pair in ends for column in pair}
    if not kinds <= INTEGERS or len({tuple(str(end.dtype) for end in pair) for pair in ends}) > 1:
        return None
    xp, source, destination = context.backend.xp, *context.labels.labels
    src, dst = (
        xp.concatenate([end.values for end in several]) for several in zip(*ends, strict=True)
    )
    result = call(record, type(partitions[0])({source: src, destination: dst}), options, own)
    if record.result in VALUES:
        return (result,)
    if record.result is Result.ROWS:
        frames, names = _rows(context, result.index.values, partitions), []
    elif record.result is Result.COLUMNS:
        names = [name for name in result.columns if name not in (source, destination)]
        frames = _with_columns(context, {name: result[name].values for name in names}, partitions)
    else:
        frames, names = [result], []
    return Frames(frames, [len(frame) for frame in frames], names)


def _rows(context: WorkerContext, rows: Any, partitions: list[Frame]) -> list[Frame]:
    """Take rows, of all partitions one after another, from each of these."""
    starts = [0, *accumulate(map(len, partitions))]
    cuts = context.backend.xp.searchsorted(rows, context.backend.xp.asarray(starts)).tolist()
    return [
        context.adapter.take(partition, rows[a:b] - start)
        for partition, start, (a, b) in zip(partitions, starts, pairwise(cuts), strict=False)
    ]


def _with_columns(
    context: WorkerContext, values: dict[str, Any], partitions: list[Frame]
) -> list[Frame]:
    """Add columns, of all partitions one after another, to each of these."""
    adapter, frames = context.adapter, []
    bounds = pairwise([0, *accumulate(map(len, partitions))])
    for place, (partition, (a, b)) in enumerate(zip(partitions, bounds, strict=True)):
        check_new(values, adapter.labels(partition), f"partition {place} of the frame")
        own = {n: adapter.column_like(partition, v[a:b], n) for n, v in values.items()}
        frames.append(adapter.assign(partition, own))
    return frames


def outline(answered: Frames | None) -> Any:
    """Return the first frame without its rows, the lengths of all, and the columns they add."""
    if answered is None:
        return None
    return answered.frames[0].iloc[:0], answered.lengths, answered.names


def frame_at(answered: Frames, place: int) -> Frame:
    """Return one of the frames of an answer."""
    return answered.frames[place]
