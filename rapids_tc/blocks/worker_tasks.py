"""What the machines of a cluster do: plain functions over the arrays and frames that each has.

The first argument is always the `WorkerContext`; the caller, Dask or a test, passes the others as
values.
Results that travel are arrays, or lists of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from platform import node
from typing import Any

import numpy as np

from rapids_tc.blocks import codec, degree_codes, grid
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.codec import EncodedBlock, EncodedPart
from rapids_tc.blocks.versions import EDITION
from rapids_tc.engines import protocol, registry
from rapids_tc.errors import KernelError, require_unchanged
from rapids_tc.frames.adapters import CudfAdapter, FrameAdapter
from rapids_tc.frames.backend import Array, Backend, Frame, Series, as_uint32, resolve_backend
from rapids_tc.frames.device import on_device
from rapids_tc.preparation import orient
from rapids_tc.preparation.edges import check_label

Numbers = list[Array]  # of the source and of the destination of every row


@dataclass(frozen=True)
class WorkerContext:
    """Where chunks work, the same on all machines.

    Attributes
    ----------
    home : Home
        The library of the partitions.
    labels : tuple
        The two id columns.
    engine : str or None
        "cpu", "cuda", or where the partitions are.
    threads : int
        Cores that a chunk may use.
    edition : str
        Digest of the caller's sources of rapids_tc. A factory sets it: were it a class attribute,
        a `WorkerContext` of a caller without one would seem to have the worker's own.
    """

    adapter: FrameAdapter
    labels: tuple[Any, Any]
    engine: str | None
    threads: int
    edition: str = field(default_factory=lambda: EDITION)

    @property
    def backend(self) -> Backend:
        return resolve_backend(self.adapter, self.engine)

    def columns(self, partition: Frame, place: int) -> tuple[Series, Series]:
        """Return both id columns of a partition; ColumnNotFoundError if one is missing."""
        for role, label in zip(("source", "destination"), self.labels, strict=True):
            check_label(f"partition {place}: {role}", label, self.adapter.labels(partition))
        source, destination = (self.adapter.column(partition, label) for label in self.labels)
        return source, destination

    @property
    def names(self) -> list[str]:
        return [f"column {label!r}" for label in self.labels]

    @contextmanager
    def here(self) -> Iterator[None]:
        """On the device and stream of this machine's frames, with its share of the cores."""
        if getattr(self, "edition", "") != EDITION:  # it joined during the call
            raise KernelError(
                f"the worker on {node()} has another rapids_tc than the process that called: "
                "install the same version on both, and start the worker again"
            )
        if isinstance(self.adapter, CudfAdapter):
            import_module("cudf")
        with protocol.limit_threads(self.threads):
            backend = self.backend
            if backend.xp.__name__ == "cupy":
                with on_device(backend.xp.cuda.Device().id):
                    yield
            else:
                yield


def worker_task(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function of a `WorkerContext` where that says."""

    @functools.wraps(function)
    def run(context: WorkerContext, *args: Any) -> Any:
        with context.here():
            return function(context, *args)

    return run


# Order and blocks ---------------------------------------------------------------------------------


@worker_task
def degrees(context: WorkerContext, numbers: Numbers, size: int) -> Array:
    """The degree of every number among some rows, as codes."""
    backend, (src, dst) = context.backend, numbers
    for end in numbers:
        require_below(end, size, "numbers of ids")
    degree, _ = registry.load(backend.engine).degrees(src, dst, size)
    return degree_codes.codes(degree, backend.xp)


@worker_task
def add_degrees(context: WorkerContext, codes: list[Array]) -> Array:
    """The codes of the degrees of several chunks together."""
    return degree_codes.codes(_total(context, codes), context.backend.xp)


@worker_task
def order(context: WorkerContext, codes: list[Array]) -> list[Any]:
    """The rank of every number, and how many are vertices."""
    made = degree_codes.by_degree(_total(context, codes), context.backend.xp)
    return [made.rank, made.n]


def _total(context: WorkerContext, codes: list[Array]) -> Array:
    for some in codes:
        require_length(some, len(codes[0]), "degrees")
    return degree_codes.total(codes, context.backend.xp)


@worker_task
def count_ranks(context: WorkerContext, order: list[Any]) -> int:
    """How many vertices there are."""
    return order[1]


@worker_task
def pack(
    context: WorkerContext, numbers: Numbers, order: list[Any], n: int, batch: int
) -> list[EncodedPart]:
    """The edges of some rows in pieces, one for each of n x n blocks, `batch` rows at a time."""
    xp, (_, vertices) = context.backend.xp, order
    engine = registry.load(context.backend.engine)
    result: list[EncodedPart] = [[] for _ in range(n * n)]
    for end in numbers:
        require_below(end, len(order[0]), "numbers of ids")
    for start in range(0, max(len(numbers[0]), 1), batch):
        ends = [end[start : start + batch] for end in numbers]
        for place, keys in enumerate(_keys(context, engine, ends, order, n)):
            rows = grid.shape(vertices, n, *divmod(place, n))
            require_below(keys, rows << 32, "keys of edges")
            block = engine.csr(keys, rows)
            result[place] += codec.pack(block, xp)
    return result


def _keys(
    context: WorkerContext, engine: Any, ends: Numbers, order: list[Any], n: int
) -> list[Array]:
    """The keys row << 32 | column of the edges of some rows, by block."""
    xp, (rank, _) = context.backend.xp, order
    if n == 1:
        return [orient.orient((ends[0], ends[1]), rank, context.backend)]
    src, dst = map(as_uint32, ends)
    given, sizes = ((src, dst), rank, n, (0, n * n)), xp.zeros(n * n, "uint64")
    engine.split(*given, free=sizes, keys=xp.empty(0, "uint64"))  # counts alone
    bounds = np.cumsum([0, *map(int, sizes.tolist())])
    keys = xp.empty(int(bounds[-1]), "uint64")
    free = xp.asarray(bounds[:-1].astype("uint64"))
    engine.split(*given, free=free, keys=keys)
    require_unchanged(free.tolist() != bounds[1:].tolist())
    return [keys[a:b] for a, b in pairwise(bounds.tolist())]


@worker_task
def pick(context: WorkerContext, several: list[Any], place: int) -> list[Any]:
    """One of several results, alone."""
    return [several[place]]


@worker_task
def by_host(context: WorkerContext, packed: list[EncodedPart]) -> list[EncodedPart]:
    """Pieces taken off a card, once for all machines that fetch them."""
    return [list(map(context.backend.host, piece)) for piece in packed]


@worker_task
def merge(
    context: WorkerContext, packed: list[list[EncodedPart]], vertices: int, n: int, place: int
) -> EncodedBlock:
    """A block, from its pieces of all chunks."""
    backend = context.backend
    rows = grid.shape(vertices, n, *divmod(place, n))
    keys = codec.keys([piece for (piece,) in packed], rows, backend.xp)
    made = registry.load(backend.engine).csr(keys, rows)
    return codec.rows(made, backend.xp)


# Frames -------------------------------------------------------------------------------------------


@worker_task
def length(context: WorkerContext, something: Any) -> int:
    """How many rows or entries it has."""
    return len(something)


@worker_task
def head(context: WorkerContext, frame: Frame) -> Frame:
    """The frame without its rows."""
    return frame.iloc[:0]


@worker_task
def cut(context: WorkerContext, frame: Frame, first: int, last: int) -> Frame:
    """Some rows of a frame, which then need not be kept."""
    return frame.iloc[first:last].copy()


@worker_task
def one(context: WorkerContext, several: list[Any], place: int) -> Any:
    """One of several results."""
    return several[place]
