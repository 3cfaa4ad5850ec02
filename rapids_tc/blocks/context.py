"""Where and how the tasks of a partitioned frame work: the machine that runs a task supplies it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from platform import node
from typing import TYPE_CHECKING, Any

from rapids_tc.engines import protocol, registry
from rapids_tc.errors import CHANGED, CHANGED_PARTITION, KernelError
from rapids_tc.executors.versions import EDITION
from rapids_tc.frames.adapters import CudfAdapter, FrameAdapter
from rapids_tc.frames.backend import Backend, Frame, Series, resolve_backend
from rapids_tc.frames.device import on_device
from rapids_tc.preparation import id_scheme
from rapids_tc.preparation.edge_columns import EdgeColumns, check_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.preparation.id_columns import IdColumn


@dataclass(frozen=True)
class WorkerContext:
    """Where and how tasks work, the same on all workers.

    Attributes
    ----------
    adapter : FrameAdapter
        The library of the partitions.
    labels : EdgeColumns
    engine : str or None
        "cpu" or "cuda"; None: the engine of the partitions.
    threads : int
        Cores that a task may use.
    edition : str
        Digest of the caller's sources of rapids_tc. A factory sets it: were it a class attribute,
        a `WorkerContext` of a caller without one would seem to have the worker's own.
    """

    adapter: FrameAdapter
    labels: EdgeColumns
    engine: str | None
    threads: int
    edition: str = field(default_factory=lambda: EDITION)

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a task: a plain function, which also gets what of `SUPPLIED` its parameters name.

        If something writes to a frame meanwhile, the advice is one for partitions: ``copy`` of a
        partitioned frame copies no values.
        """
        code = getattr(function, "__code__", None)  # a function of C asks for nothing
        asked = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
        with self.here():
            supplied = {name: SUPPLIED[name](self) for name in SUPPLIED if name in asked}
            try:
                return function(*args, **supplied)
            except KernelError as error:
                if str(error) == CHANGED:
                    raise KernelError(CHANGED_PARTITION) from error
                raise

    @cached_property
    def backend(self) -> Backend:
        """The backend of the partitions on this worker, which only workers ask for."""
        return resolve_backend(self.adapter, self.engine)

    def columns(self, partition: Frame, place: int) -> tuple[Series, ...]:
        """Return the id columns of a partition; ColumnNotFoundError if one is missing."""
        roles, labels = self.labels.roles, self.labels.labels_by_part
        for role, label in zip(roles, labels, strict=True):
            check_label(f"partition {place}: {role}", label, self.adapter.labels(partition))
        return tuple(self.adapter.column(partition, label) for label in labels)

    def inspect(self, partition: Frame, place: int) -> list[tuple[IdColumn, int]]:
        """Describe the id columns of a partition, and count the missing ids of each."""
        columns = self.columns(partition, place)
        return id_scheme.inspect_columns(columns, self.labels, self.backend)

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
            xp = self.backend.xp
            if xp.__name__ == "cupy":
                # What tasks return is sent to other processes, which a pool's memory cannot be.
                with on_device(xp.cuda.Device().id, pool=False):
                    yield
            else:
                yield


# What a worker supplies to the functions that have parameters of these names.
SUPPLIED: dict[str, Callable[[WorkerContext], Any]] = {
    "context": lambda context: context,
    "backend": lambda context: context.backend,
    "xp": lambda context: context.backend.xp,
    "engine": lambda context: registry.load(context.backend.engine),
}
