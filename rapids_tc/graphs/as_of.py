"""Columns of rows as of their time, from the rows of a graph in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.engines.as_of import TimedRows
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.edge_columns import check_label
from rapids_tc.preparation.time_order import order_of

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.preparation.time_order import AsOf


def as_of_columns(graph: EdgeGraph, ends: tuple[Array, Array], asked: AsOf) -> dict[str, Any]:
    """Count what each row forms with earlier rows: columns aligned with the user's rows.

    `ends` are the numbers of both ends of all rows.

    Raises
    ------
    CapacityError
        There are more rows than kernels number.
    ColumnNotFoundError, NullIdError, ValueError
        See `rapids_tc.preparation.time_order.order_of`.
    """
    check_label("time", asked.label, graph.labels)
    backend = graph.backend
    if len(ends[0]) >= costs.MOST_TIMED_ROWS:
        raise CapacityError(
            f"{len(ends[0]):,} rows, and a Graph makes columns as of a time of fewer than "
            f"{costs.MOST_TIMED_ROWS:,}: give the frame itself, which is cut by time"
        )
    with graph.stage("sorting by time"):
        in_time = order_of(graph.column(asked.label), asked, backend)
        src, dst = (in_time.numbers(end, graph.ids.size) for end in ends)
        rows = TimedRows(src, dst, in_time.first, graph.ids.size)
    with graph.stage("counting") as report:
        counts = graph.engine.as_of(rows, asked.names, on_progress=report.on_progress)
    frame, column_like = graph.user_frame, backend.adapter.column_like
    columns = zip(asked.names, counts, strict=True)
    return {
        name: column_like(frame, in_time.by_row(values, backend.xp), name)
        for name, values in columns
    }
