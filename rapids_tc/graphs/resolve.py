"""A graph whole or in blocks, as memory has it, for the functions that either can answer."""

from __future__ import annotations

import logging
from typing import Any, cast

from rapids_tc.blocks.rows import Rows
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Backend, Frame, open_frame
from rapids_tc.graphs.in_memory import as_graph
from rapids_tc.graphs.out_of_core import OutOfCoreGraph
from rapids_tc.graphs.protocol import EdgeGraph, VertexStatistics, check_prepared
from rapids_tc.kernels import catalogue
from rapids_tc.plan import needs
from rapids_tc.plan.budget import Budget
from rapids_tc.preparation.edges import id_columns

_log = logging.getLogger("rapids_tc")


def resolve_graph(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    engine: str | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
    function: str = "count",
    method: str = "auto",
    columns: int = 1,
) -> EdgeGraph:
    """As `in_memory.as_graph`, or in blocks where the graph does not fit into memory.

    `columns` are those that the function returns per row, if any. A `VertexTotals` graph
    is for functions that ask of vertices alone.

    Raises
    ------
    CapacityError
        The graph does not fit in blocks either, or the method counts on whole graphs alone.
    """
    if isinstance(edges, VertexStatistics):
        given = check_prepared(edges, (source, destination, engine), function, method)
        needs.require(given.stages(function, method), memory_limit)
        return cast(EdgeGraph, given)
    needs.check_limit(memory_limit)
    frame, backend = open_frame(edges, engine)
    needs.require_method(method, function, backend.engine)
    labels = id_columns(backend.adapter.labels(frame), source, destination)
    in_blocks = catalogue.find(method).blocks
    limit = _limit(frame, backend, function, columns, memory_limit) if in_blocks else None
    if limit is not None:
        backend = backend.at(backend.adapter.with_id_dtype(frame, labels))
        budget = Budget(limit, function, columns, registry.load(backend.engine).costs)
        rows = Rows(frame, labels, backend, budget.chunk)
        need = _need(function, rows, backend, columns)
        if need > limit or rows.size >= budget.costs.most:
            graph = OutOfCoreGraph(frame, rows, backend, progress, budget)
            _log.log(
                logging.WARNING if memory_limit is None else logging.INFO,
                "%s rows need about %s bytes and %s may be taken: counted in %d x %d blocks, one "
                "task after another",
                *(f"{number:,}" for number in (rows.size, need, limit)), graph.n, graph.n,
            )  # fmt: skip
            return graph
    return as_graph(
        frame, source=source, destination=destination, engine=engine, progress=progress,
        memory_limit=None if in_blocks else memory_limit,  # the graph was held to it above
        function=function, method=method, columns=columns,
    )  # fmt: skip


def _limit(
    frame: Frame, backend: Backend, function: str, columns: int, given: int | None
) -> int | None:
    """The bytes that may be taken, where that could be too few; None where it is plainly enough."""
    rows, engine = backend.adapter.rows(frame), registry.load(backend.engine)
    stages = needs.stages(function, rows, 2 * rows, False, backend.engine, columns=columns)
    worst = max(stage.bytes for stage in stages)
    many = rows >= engine.costs.most
    if given is None:
        given = engine.free() if many or worst > engine.costs.unasked else worst
    return int(given) if many or worst > given else None


def _need(function: str, rows: Rows, backend: Backend, columns: int) -> int:
    """The bytes that the graph takes in memory; of ids that are not dense, as if all differed."""
    numbers = rows.dense[1] if rows.dense else 2 * rows.size
    given = function, rows.size, numbers, rows.dense is not None, backend.engine
    stages = needs.stages(*given, columns=columns)
    return max(stage.bytes for stage in stages)
