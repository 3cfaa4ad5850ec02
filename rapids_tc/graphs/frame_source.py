"""What a call reads of a partitioned frame: its id columns, and columns of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.blocks.context import WorkerContext
from rapids_tc.frames.adapters import CudfAdapter, FrameAdapter, PandasAdapter, root
from rapids_tc.frames.backend import check_engine, resolve_engine
from rapids_tc.plan import needs
from rapids_tc.plan.answers import require_fields
from rapids_tc.plan.record import named_columns
from rapids_tc.preparation.edge_columns import EdgeColumns, check_label, edge_columns

if TYPE_CHECKING:
    from rapids_tc.executors.protocol import Executor, Task
    from rapids_tc.plan.record import Analytic, Options, OwnOptions


def open_partitions(
    executor: Executor, record: Analytic, options: Options, own: OwnOptions
) -> tuple[FrameAdapter, EdgeColumns]:
    """Check the options of a call; return the adapter of the partitions, and the id columns."""
    adapter = CudfAdapter() if root(executor.meta) == "cudf" else PandasAdapter()
    check_engine(options.engine)
    needs.require_method(options.method, record, resolve_engine(adapter, options.engine))
    needs.check_limit(options.memory_limit)
    ids = options.source, options.destination, options.by
    labels = edge_columns(adapter.labels(executor.meta), *ids, named_columns(own))
    require_fields(record, own, labels)
    return adapter, labels


@dataclass(frozen=True)
class FrameSource:
    """What a call reads of a partitioned frame.

    Attributes
    ----------
    executor, adapter, labels
        See `rapids_tc.graphs.partitioned.PartitionedGraph`.
    engine : str or None
    readers : list
        The readers of the columns of values.
    every : bool
        Whether all columns are read.
    """

    executor: Executor
    adapter: FrameAdapter
    labels: EdgeColumns
    engine: str | None
    readers: list[Any]
    every: bool

    def evaluate(self) -> list[Task]:
        """Evaluate the partitions."""
        self.executor.workers()  # raises if versions differ, before any task is sent
        columns = self._columns
        try:
            return self.executor.partitions(None if self.every else columns)
        except KeyError:
            self._require_columns()
            raise

    @property
    def _columns(self) -> list[Any]:
        """The columns that the call reads: ids, and values."""
        for reader in self.readers:
            check_label(reader.role, reader.label, self.adapter.labels(self.executor.meta))
        read = [*self.labels.labels, *(reader.label for reader in self.readers)]
        return list(dict.fromkeys(read))

    def _require_columns(self) -> None:
        """Raise ColumnNotFoundError, naming the partition, if one lacks a column that is read."""
        context = WorkerContext(self.adapter, self.labels, self.engine, 1)
        for place, head in enumerate(self.executor.heads()):
            context.columns(head, place)
            for reader in self.readers:
                role = f"partition {place}: {reader.role}"
                check_label(role, reader.label, self.adapter.labels(head))
