"""Run the tasks of a cluster's workers: plain functions of the arrays and frames of a worker.

The first argument is always the `WorkerContext`; the caller, Dask or a test, passes the others as
values. Results that travel are arrays, or lists of arrays.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from platform import node
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks import build, codec, degree_codes, geometry
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.versions import EDITION
from rapids_tc.engines import protocol, registry
from rapids_tc.errors import CHANGED, CHANGED_PARTITION, KernelError
from rapids_tc.frames.adapters import CudfAdapter, FrameAdapter
from rapids_tc.frames.backend import Array, Backend, Frame, Series, resolve_backend
from rapids_tc.frames.device import on_device
from rapids_tc.preparation import composite_scheme, id_scheme, orient
from rapids_tc.preparation.edge_columns import EdgeColumns
from rapids_tc.preparation.edges import check_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc.blocks.codec import EncodedBlock, EncodedPart
    from rapids_tc.preparation.id_columns import IdColumn

Numbers = list[Array]  # of the source and of the destination of every row
Ranks = list[Array]  # of both ends of every row, uint32


@dataclass(frozen=True)
class WorkerContext:
    """Where and how tasks work, the same on all workers.

    Attributes
    ----------
    adapter : FrameAdapter
        The library of the partitions.
    labels : tuple or EdgeColumns
        The two id columns, or those of composite ids.
    engine : str or None
        "cpu" or "cuda"; None: the engine of the partitions.
    threads : int
        Cores that a task may use.
    edition : str
        Digest of the caller's sources of rapids_tc. A factory sets it: were it a class attribute,
        a `WorkerContext` of a caller without one would seem to have the worker's own.
    """

    adapter: FrameAdapter
    labels: tuple[Any, Any] | EdgeColumns
    engine: str | None
    threads: int
    edition: str = field(default_factory=lambda: EDITION)

    @property
    def backend(self) -> Backend:
        """The backend of the partitions on this worker."""
        return resolve_backend(self.adapter, self.engine)

    def columns(self, partition: Frame, place: int) -> tuple[Series, ...]:
        """Return the id columns of a partition; ColumnNotFoundError if one is missing."""
        roles: list[str] = ["source", "destination"]
        labels: list[Any]
        if isinstance(self.labels, EdgeColumns):
            roles, labels = self.labels.roles, self.labels.labels_by_part
        else:
            labels = [*self.labels]
        for role, label in zip(roles, labels, strict=True):
            check_label(f"partition {place}: {role}", label, self.adapter.labels(partition))
        return tuple(self.adapter.column(partition, label) for label in labels)

    def inspect(self, partition: Frame, place: int) -> list[tuple[IdColumn, int]]:
        """Describe the id columns of a partition, and count the missing ids of each."""
        columns = self.columns(partition, place)
        if isinstance(self.labels, EdgeColumns):
            return composite_scheme.inspect_columns(columns, self.labels, self.backend)
        return id_scheme.inspect_pair(columns, self.names, self.backend)

    @property
    def names(self) -> list[str]:
        """The id columns, as messages name them."""
        if isinstance(self.labels, EdgeColumns):
            return self.labels.names
        return [f"column {label!r}" for label in self.labels]

    @contextmanager
    def here(self) -> Iterator[None]:
        """Work on the device and stream of this worker's frames, with its share of the cores."""
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
    """Run a function of a `WorkerContext` on the device of the context.

    If something writes to a frame meanwhile, the advice is one for partitions: ``copy`` of a
    partitioned frame copies no values.
    """

    @functools.wraps(function)
    def run(context: WorkerContext, *args: Any) -> Any:
        with context.here():
            try:
                return function(context, *args)
            except KernelError as error:
                if str(error) == CHANGED:
                    raise KernelError(CHANGED_PARTITION) from error
                raise

    return run


# Order and blocks ---------------------------------------------------------------------------------


@worker_task
def degrees(context: WorkerContext, numbers: Numbers, size: int) -> Array:
    """Count the degree of every number among some rows, as codes."""
    backend, (src, dst) = context.backend, numbers
    for end in numbers:
        require_below(end, size, "numbers of ids")
    degree, _ = registry.load(backend.engine).degrees(src, dst, size)
    return degree_codes.codes(degree, backend.xp)


@worker_task
def add_degrees(context: WorkerContext, codes: list[Array]) -> Array:
    """Add up the codes of the degrees of several batches."""
    return degree_codes.codes(_total(context, codes), context.backend.xp)


@worker_task
def order(context: WorkerContext, codes: list[Array]) -> list[Any]:
    """Return the rank of every number, and how many are vertices."""
    by_degree = degree_codes.by_degree(_total(context, codes), context.backend.xp)
    return [by_degree.rank, by_degree.n]


def _total(context: WorkerContext, codes: list[Array]) -> Array:
    for batch in codes:
        require_length(batch, len(codes[0]), "degrees")
    return degree_codes.total(codes, context.backend.xp)


@worker_task
def count_ranks(context: WorkerContext, order: list[Any]) -> int:
    """Return how many vertices there are."""
    return int(order[1])


@worker_task
def ranks(context: WorkerContext, numbers: Numbers, order: list[Any]) -> Ranks:
    """Look up the ranks of both ends of some rows."""
    for end in numbers:
        require_below(end, len(order[0]), "numbers of ids")
    return [*orient.ranks_in_order((numbers[0], numbers[1]), order[0], context.backend)]


@worker_task
def pack(
    context: WorkerContext, ranks: Ranks, vertices: int, n: int, batch: int
) -> list[EncodedPart]:
    """Encode the edges of some rows by block of n x n, `batch` rows at a time."""
    xp = context.backend.xp
    engine = registry.load(context.backend.engine)
    result: list[EncodedPart] = [[] for _ in range(n * n)]
    for start in range(0, max(len(ranks[0]), 1), batch):
        ends = [end[start : start + batch] for end in ranks]
        for place, keys in enumerate(_keys(context, engine, ends, n)):
            rows = geometry.block_rows(vertices, n, divmod(place, n))
            require_below(keys, rows << 32, "keys of edges")
            block = engine.csr(keys, rows)
            result[place] += codec.pack(block, xp)
    return result


def _keys(context: WorkerContext, engine: Any, ends: Ranks, n: int) -> list[Array]:
    """Make the keys row << 32 | column of the edges of some rows, by block."""
    xp = context.backend.xp
    if n == 1:
        return [orient.keys_of_ranks((ends[0], ends[1]), context.backend)]
    chunks = [(ends[0], ends[1])]
    sizes = build.count_rows(chunks, None, n, engine=engine, xp=xp)
    return build.collect_keys(chunks, None, n, 0, sizes, engine=engine, xp=xp)


@worker_task
def pick(context: WorkerContext, packed: list[list[EncodedPart]], place: int) -> list[EncodedPart]:
    """Return the parts of one block, of all batches of a worker."""
    return [parts[place] for parts in packed]


@worker_task
def by_host(context: WorkerContext, packed: list[EncodedPart]) -> list[EncodedPart]:
    """Copy encoded parts from a GPU to the host, once for all workers that fetch them."""
    return [list(map(context.backend.host, piece)) for piece in packed]


@worker_task
def merge(
    context: WorkerContext, packed: list[list[EncodedPart]], vertices: int, n: int, place: int
) -> EncodedBlock:
    """Merge a block from its encoded parts of all batches."""
    backend = context.backend
    rows = geometry.block_rows(vertices, n, divmod(place, n))
    keys = codec.keys([part for parts in packed for part in parts], rows, backend.xp)
    block = registry.load(backend.engine).csr(keys, rows)
    return codec.rows(block, backend.xp)


# Frames -------------------------------------------------------------------------------------------


@worker_task
def length(context: WorkerContext, something: Any) -> int:
    """Return how many rows or entries a result has."""
    return len(something)


@worker_task
def head(context: WorkerContext, frame: Frame) -> Frame:
    """Return a frame without its rows."""
    return frame.iloc[:0]


@worker_task
def cut(context: WorkerContext, frame: Frame, first: int, last: int) -> Frame:
    """Copy some rows of a frame, which then need not be kept."""
    return frame.iloc[first:last].copy()


@worker_task
def edges_of(context: WorkerContext, rows: EncodedBlock) -> int:
    """Return the number of edges of a block."""
    return len(rows[1])


@worker_task
def one(context: WorkerContext, several: list[Any], place: int) -> Any:
    """Return one of several results."""
    return several[place]
