"""Resolve a call once: open the frame, check it, and choose where to count the graph.

A graph is counted in memory, in blocks, or on a cluster.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._arguments import checked_limit
from rapids_tc._progress import call_report, memory_errors
from rapids_tc.blocks.rows import Rows
from rapids_tc.engines import registry
from rapids_tc.engines.host import host_free
from rapids_tc.executors.registry import executor_of
from rapids_tc.frames.arrays import ArrayEdges, array_edges, is_array
from rapids_tc.frames.backend import Backend, Frame, is_lazy, is_plain, open_frame
from rapids_tc.frames.device import place
from rapids_tc.frames.objects import is_edge_file
from rapids_tc.frames.scans import RowSource, hold, of_lazy, source_of
from rapids_tc.frames.wrapped import is_narwhals, module_of, native, wrap
from rapids_tc.frames.written import require_apart
from rapids_tc.graphs import in_memory
from rapids_tc.graphs.edge_graph import (
    CHOSEN,
    IS_GRAPH,
    check_prepared,
    prepared_in,
    require_sides,
)
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.graphs.out_of_core import OutOfCoreGraph
from rapids_tc.kernels import catalogue
from rapids_tc.plan import costs, needs
from rapids_tc.plan.answers import names_sides, require_fields
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.plan.budget import Budget
from rapids_tc.plan.record import (
    COLUMNS,
    GRAPH,
    Analytic,
    Options,
    OwnOptions,
    Result,
    Work,
    named_columns,
    of_one_machine,
)
from rapids_tc.preparation import triangle_kinds
from rapids_tc.preparation.distinct import DistinctIds, estimate_size
from rapids_tc.preparation.edge_columns import (
    EdgeColumns,
    edge_columns,
)
from rapids_tc.preparation.given import with_dtypes
from rapids_tc.preparation.group_values import are_given, read_groups, refuse_groups
from rapids_tc.preparation.triangle_kinds import Triangles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import Array
    from rapids_tc.graphs.edge_graph import EdgeGraph
    from rapids_tc.graphs.kept import KeptGraph

ROW_BYTES = 1024  # more than any stage takes per row and its two vertices
# Not edges.nonzero(), which leaves out stored zeros: these are edges, too.
PAIR = "the pair (m.row, m.col) of m = edges.tocoo(), whose vertices are its ends"
OF_ENTRIES = f"give {PAIR}, which is"
CHUNK = 2**26  # bytes that an estimate takes for the rows that it looks at
OUT = "out=folder writes the rows to files, and no more than a part is in memory"
HELD = 4  # the share of the memory of a call that the rows of a query may take is 1 / HELD
_log = logging.getLogger("rapids_tc")


def answer(record: Analytic, edges: Any, options: Options, own: OwnOptions) -> Any:
    """Answer a call of an analytic."""
    plain, isolated = is_plain(edges), None
    if not plain or options.edge_index is not None:
        edges, options, isolated = take_file(edges, options, own)
        edges, options, own = take_arrays(edges, options, own)
    if not plain and (executor := executor_of(edges)):
        from rapids_tc.graphs import partitioned  # only a cluster's calls need it

        return partitioned.answer(executor, record, edges, options, own, answer)
    if not plain and is_lazy(edges):
        return _answer_lazy(
            record, edges, options, own, lambda frame, own: answer(record, frame, options, own)
        )
    own = record.check(own)
    out_of_memory = memory_errors(f"in {record.name}")
    with call_report(options.progress), place(edges, options.engine), out_of_memory:
        if not plain and (source := source_of(edges)) is not None:
            edges, options = _take_source(source, record, options, own)
        prepared: Any = None if plain else _prepared_of(edges)
        if isolated is not None:
            prepared = prepare(edges, isolated, options, dict(GRAPH.defaults))
            options = replace(options, source=None, destination=None)
        if prepared is None:
            graph = make(record, edges, options, own)
        else:
            graph = check(prepared, record, options, own)
        return record.body(graph, **record.arguments(options, own))


def take_file(edges: Any, options: Options, own: OwnOptions) -> tuple[Any, Options, Array | None]:
    """Return the frame of an `EdgeFile`, options that name its ids, and its isolated vertices.

    Other edges and their options are returned as they are.

    Raises
    ------
    ValueError
        The call wants directions of edges that have none, or groups of isolated vertices.
    """
    if type(edges).__name__ != "EdgeFile" or not is_edge_file(edges):
        return edges, options, None
    if own.get("directed") and not (edges.directed is None or np.all(edges.directed)):
        raise ValueError(
            "the file has edges without a direction, which stand in one row here: "
            "files.read_edges(path, directed=True) reads each both ways"
        )
    isolated = edges.isolated if len(edges.isolated) else None
    if isolated is not None and options.by is not None:
        raise ValueError(
            f"the file names {len(isolated):,} vertices without an edge, which are in no group: "
            "give edges.frame, where by= is asked for"
        )
    if options.source is None and options.destination is None:
        source, destination = edges.ids
        options = replace(options, source=source, destination=destination)
    return edges.frame, options, isolated


def take_arrays(edges: Any, options: Options, own: OwnOptions) -> tuple[Any, Options, OwnOptions]:
    """Return edges that come as arrays as `ArrayEdges`, with a column for each array in an option.

    The options then name these columns. Edges of other kinds, and their options, are unchanged.
    """
    edges = array_edges(edges, options.edge_index)
    if not isinstance(edges, ArrayEdges):
        return edges, options, own
    arrays = {name: own[name] for name in COLUMNS if is_array(own.get(name))}
    own = own | {name: name for name in arrays}
    if isinstance(where := own.get("where"), Triangles):
        given = {name: getattr(where, name) for name in triangle_kinds.COLUMNS}
        given = {name: values for name, values in given.items() if is_array(values)}
        names: dict[str, Any] = {name: name for name in given}
        own["where"] = replace(where, **names)
        arrays |= given
    edges = edges.with_columns(arrays)
    named = {option: getattr(options, option) for option in ("source", "destination", "by")}
    named |= {name: own.get(name) for name in COLUMNS}
    if isinstance(where, Triangles):
        named |= {name: getattr(own["where"], name) for name in triangle_kinds.COLUMNS}
    edges.require_columns(named)
    return edges, options, own


def _take_source(
    source: RowSource, record: Analytic, options: Options, own: OwnOptions
) -> tuple[Any, Options]:
    """Return rows outside of memory as a call reads them: as they are, or in a table.

    In a table are all rows that an answer holds, and small ones of a query. If a limit is given, it
    is lowered by the bytes of the latter.
    """
    options = _named_by(source, options, own)
    if own.get("out") is not None:
        require_apart(source, own["out"])
    names = source.column_names
    if are_given(options.by):
        return source.table(names, host_free()), options
    needed = _needed(names, options, own)
    if record.result is Result.COLUMNS and own.get("out") is None:
        return source.table(names, host_free(), OUT), options
    if source.rows is not None:
        return replace(source, needed=tuple(needed)), options
    kept = names if record.result in WHOLE_ROWS else needed
    found = hold(source, kept, (options.limit or host_free()) // HELD)
    if isinstance(found, RowSource):
        return replace(found, needed=tuple(needed)), options
    if options.limit is not None:
        options = replace(options, memory_limit=max(options.limit - found.nbytes, 1))
    return found, options


def _named_by(source: RowSource, options: Options, own: OwnOptions) -> Options:
    """Return options that name the ids as the source does, unless the user has named them."""
    if own.get("directed") and not source.directed:
        raise ValueError(
            f"{source.name} says that edges have no direction: files.read_edges(path, "
            "directed=True) reads each both ways"
        )
    if not source.ids or options.source is not None or options.destination is not None:
        return options
    return replace(options, source=source.ids[0], destination=source.ids[1])


def read_ids(edges: Any, options: Options) -> tuple[Any, Options, int]:
    """Return edges whose id columns are read, if a query gives them, and the bytes of a table.

    The options name the ids.
    """
    if is_lazy(edges):
        edges = of_lazy(polars_lazy(edges) if is_narwhals(edges) else edges)
    if (source := source_of(edges)) is None:
        return edges, options, 0
    options = _named_by(source, options, {})
    if are_given(options.by):
        found = source.table(source.column_names, host_free())
        return found, options, found.nbytes
    needed = tuple(_needed(source.column_names, options, {}))
    if source.rows is None:
        found = hold(source, needed, host_free() // HELD)
        if not isinstance(found, RowSource):
            return found, options, found.nbytes
        source = found
    return replace(source, needed=needed), options, 0


def size_of(frame: Frame, labels: EdgeColumns, backend: Backend) -> tuple[int, DistinctIds, bool]:
    """Return the number of rows, an estimate of the ids, and whether ids are dense."""
    if isinstance(frame, RowSource) and not labels.bipartite:
        rows = Rows(frame, labels, backend, CHUNK)
        return rows.size, rows.distinct_ids(), rows.dense is not None
    return estimate_size(frame, labels, backend)


def check(graph: InMemoryGraph, record: Analytic, options: Options, own: OwnOptions) -> EdgeGraph:
    """Return the user's own graph; ValueError or CapacityError if it cannot answer a call."""
    check_prepared(graph, record, options, own)
    if (limit := options.limit) is not None:
        work = record.work_of(own, grouped=bool(graph.id_columns.groups))
        needs.require(graph.stages(work, options.method), limit)
    require_sides(graph, record, own)
    if graph.id_columns.bipartite and names_sides(record, own):
        graph.ids.require_one_column()
    return graph


def make(record: Analytic, edges: Any, options: Options, own: OwnOptions) -> EdgeGraph:
    """Make the graph that answers a call on a frame, in memory or in blocks.

    Raises
    ------
    CapacityError
        The graph does not fit in memory, and cannot be counted in blocks either.
    """
    frame, labels, backend = _open(edges, options, record, own)
    work = record.work_of(own, grouped=options.by is not None)
    layout, inspected, loaded = forced_layout.get(), None, 0
    limit = layout.memory if layout else _limit(frame, backend, work, options)
    if limit is not None and labels.bipartite:
        _require_sides(record, own, work, limit, (frame, labels, backend))
    elif limit is not None:
        of_engine, free = registry.load(backend.engine).costs, options.memory_limit is None
        budget = Budget(
            limit, record.name, work, of_engine, with_answer=free and own.get("out") is None
        )
        rows = Rows(frame, labels, backend, budget.chunk)
        inspected, loaded = rows.inspected, backend.adapter.loaded(frame)
        stages = _stages(work, rows, backend, options.method, loaded)
        need = max(stage.bytes for stage in stages)
        if layout or need > limit or rows.size >= needs.most_rows(work, backend.engine):
            instead = record.in_memory({**own, "by": options.by})
            in_blocks = not instead and catalogue.find(options.method).blocks
            if in_blocks and backend.adapter.n_vertices is None:
                return _in_blocks(frame, labels, rows, backend, options, budget, need)
            hint = needs.advice(record.name, instead, options.method)
            if in_blocks:
                hint = needs.advice("a matrix", OF_ENTRIES, options.method)
            needs.require(stages, options.limit, hint)
    left = None if options.limit is None else max(options.limit - loaded, 1)
    graph = in_memory.read(
        frame, labels, backend, options.progress, vertices=_vertices(frame, backend),
        inspected=inspected, limit=left, numbers_rows=needs.numbers_rows(work),
    )  # fmt: skip
    if labels.bipartite and names_sides(record, own):
        graph.ids.require_one_column()
    return graph


def prepare(
    edges: Any, vertices: Any, options: Options, own: OwnOptions
) -> InMemoryGraph | KeptGraph:
    """Make a graph that outlives the call.

    Raises
    ------
    TypeError
        A partitioned frame is to be bipartite, or `edges` is a graph.
    ValueError
        Vertices are given to a bipartite graph.
    """
    if own["bipartite"] and vertices is not None:
        raise ValueError("vertices= names no sides: leave it out of Graph(edges, bipartite=True)")
    if executor := executor_of(edges):
        from rapids_tc.graphs import partitioned

        if (error := GRAPH.local(own, executor(edges, None).kind)) is not None:
            raise error
        return partitioned.prepare(executor, edges, vertices, options)
    if _prepared_of(edges) is not None:
        raise TypeError(IS_GRAPH)
    if is_lazy(edges):
        refuse_groups(options.by, "lazy frame")
        edges = edges.collect()
    if (source := source_of(edges)) is not None:
        options = _named_by(source, options, {})
        edges = source.table(source.column_names, host_free())
    frame, labels, backend = _open(edges, options, GRAPH, own)
    inspected, limit = None, options.limit
    if limit is not None and labels.bipartite:
        _require_sides(GRAPH, own, GRAPH.most, limit, (frame, labels, backend))
    elif limit is not None:
        rows = Rows(frame, labels, backend, limit)
        copied = backend.adapter.copied(frame)
        stages = _stages(GRAPH.most, rows, backend, "auto", copied)
        hint = needs.advice(GRAPH.name, GRAPH.in_memory({}), "auto")
        needs.require(stages, limit, hint)
        inspected = rows.inspected
    if backend.adapter.n_vertices is not None:
        if vertices is not None:
            raise ValueError("the vertices of a matrix are its rows: leave vertices= out")
        vertices = _vertices(frame, backend)
    graph = in_memory.read(
        frame, labels, backend, options.progress, vertices=vertices, inspected=inspected
    )
    if limit is not None and vertices is not None:  # whose number is known by now
        needs.require(graph.stages(GRAPH.most, "auto"), limit)
    if own.get("time") is None:
        graph.keep(labels)
    else:  # updates need no edges
        graph.copy_rows(labels)
    return graph


@contextmanager
def opened(edges: Any, options: Options) -> Iterator[InMemoryGraph]:
    """Yield the graph of edges in memory, for pictures and benchmarks, which read it by rank."""
    edges, options, isolated = take_file(edges, options, {})
    edges = array_edges(edges)
    if executor := executor_of(edges):
        raise of_one_machine("this", executor(edges, None).kind)
    with call_report(options.progress), place(edges, options.engine):
        if (graph := _prepared_of(edges)) is not None:
            if options.source is not None or options.destination is not None:
                raise ValueError(CHOSEN.format("source"))
            yield graph
        else:
            if (source := source_of(edges)) is not None:
                options = _named_by(source, options, {})
                edges = source.table(_needed(source.column_names, options, {}), host_free())
            frame, labels, backend = _open(edges, options, GRAPH, {})
            vertices = _vertices(frame, backend) if isolated is None else isolated
            yield in_memory.read(frame, labels, backend, options.progress, vertices=vertices)


def _prepared_of(edges: Any) -> InMemoryGraph | None:
    """Return the graph of a `Graph`, and None of a frame, even if it has a column of the name."""
    graph = prepared_in(edges)
    return graph if isinstance(graph, InMemoryGraph) else None


def _open(
    edges: Any, options: Options, record: Analytic, own: OwnOptions
) -> tuple[Frame, EdgeColumns, Backend]:
    """Return the frame of edges, its id columns, and the backend that works on them."""
    if options.memory_limit is not None:
        checked_limit(options.memory_limit)
    frame, backend = open_frame(edges, options.engine, once=record is GRAPH)
    if not (isinstance(options.method, str) and options.method == "auto"):
        needs.require_method(options.method, record, backend.engine)
    named = record.named(options, own)
    if options.by is not None:
        named["by"] = read_groups(options.by, frame, backend)
    labels = edge_columns(backend.adapter.labels(frame), **named)
    if labels.components[1:]:
        require_fields(record, own, labels)
    if backend.adapter.n_vertices is not None and (labels.bipartite or labels.groups):
        raise ValueError(
            f"each row of a matrix is a vertex, of no group and no side: give {PAIR}, where by= or "
            "bipartite=True is asked for"
        )
    sources, adapter = labels.in_answers(), backend.adapter
    adapter = (with_dtypes(adapter, frame, sources) if labels.groups
               else adapter.with_dtypes(frame, sources))  # fmt: skip
    if adapter is not backend.adapter:
        backend = backend.with_adapter(adapter)
    return frame, labels, backend


def _vertices(frame: Frame, backend: Backend) -> Array | None:
    """Return all vertices that the source of a frame has, if it says so."""
    if (n := backend.adapter.n_vertices) is None:
        return None
    return np.arange(n, dtype=backend.adapter.column(frame, "src").dtype)


def _limit(frame: Frame, backend: Backend, work: Work, options: Options) -> int | None:
    """Return the bytes that a call may take, or None if its graph surely fits in memory."""
    rows, unasked = backend.adapter.rows(frame), costs.UNASKED[backend.engine]
    ids = max(2 * rows, backend.adapter.n_vertices or 0)
    many = rows >= needs.most_rows(work, backend.engine)
    plain = options.memory_limit is None and options.method == "auto" and not many
    # Most frames: skip the sum of stages, for which an engine is loaded.
    if plain and ids * (ROW_BYTES // 2) <= unasked:
        return None
    stages = needs.stages(work, rows, ids, False, backend.engine, options.method)
    most = max(stage.bytes for stage in stages) + backend.adapter.loaded(frame)
    limit = options.limit
    if limit is None:
        limit = registry.load(backend.engine).free() if many or most > unasked else most
    return int(limit) if many or most > limit else None


def _stages(
    work: Work, rows: Rows, backend: Backend, method: str, held: int = 0
) -> list[needs.Stage]:
    """List the stages of a graph in memory; the number of ids that are not dense is estimated.

    `held` is the bytes of the rows that are taken for the graph: a copy, or columns that are read.
    """
    ids, dense = rows.distinct_ids(), rows.dense is not None
    count = max(ids.count, backend.adapter.n_vertices or 0)
    size = rows.size, count, dense, backend.engine, method
    stages = needs.stages(work, *size, text=needs.Text.of(ids), snapshot=held)
    return stages if work.result is Result.GRAPH else needs.beside(stages, held)


def _require_sides(
    record: Analytic, own: OwnOptions, work: Work, limit: int,
    opened: tuple[Frame, EdgeColumns, Backend],
) -> None:  # fmt: skip
    """Raise CapacityError if a bipartite graph, which is made in memory alone, does not fit."""
    frame, labels, backend = opened
    loaded = backend.adapter.loaded(frame)
    needs.require([needs.Stage("read", loaded)], limit, needs.NARROWER)
    rows, ids, dense = estimate_size(frame, labels, backend)
    snapshot = backend.adapter.copied(frame) if record is GRAPH else 0
    size = rows, ids.count, dense, backend.engine, "auto"
    stages = needs.stages(work, *size, text=needs.Text.of(ids), snapshot=snapshot)
    stages = needs.beside(stages, loaded)
    needs.require(stages, limit, needs.advice(record.name, record.in_memory(own), "auto"))


def _in_blocks(
    frame: Frame, labels: EdgeColumns, rows: Rows, backend: Backend, options: Options,
    budget: Budget, need: int,
) -> OutOfCoreGraph:  # fmt: skip
    arguments = frame, labels, rows, backend, budget, options.method
    graph = OutOfCoreGraph(*arguments, progress=options.progress)
    cut = "sorted in %d ranges" if budget.sorts else "counted in slabs of time"
    cut = "counted in %d x %d blocks" if budget.in_blocks else cut
    _log.log(
        logging.WARNING if options.memory_limit is None else logging.INFO,
        f"%s rows need about %s bytes and %s may be taken: {cut}, one task after another",
        *(f"{number:,}" for number in (rows.size, need, budget.limit)),
        *[graph.n] * cut.count("%"),
    )
    return graph


# Lazy frames of Polars ----------------------------------------------------------------------------


Call = Callable[[Any, OwnOptions], Any]
# Answers that hold the user's columns.
WHOLE_ROWS = (Result.COLUMNS, Result.ROWS, Result.COMMUNITIES)


def _answer_lazy(
    record: Analytic, edges: Any, options: Options, own: OwnOptions, call: Call
) -> Any:
    """Answer a call of an analytic on a lazy frame.

    `call` answers for a frame with own options. What it answers for a sample has the schema of the
    answer; the options are checked on the way.

    Raises
    ------
    TypeError
        The answer is a column, or `edges` wraps a lazy frame of another library than Polars.
    """
    refuse_groups(options.by, "lazy frame")
    if is_narwhals(edges):
        result = _answer_lazy(record, polars_lazy(edges), options, own, call)
        return wrap(result, module_of(edges))
    polars = sys.modules["polars"]
    if record.result is Result.COLUMN:
        words = [*(value for value in own.values() if isinstance(value, str)), *record.columns]
        columns = [word for word in words if word in record.columns]
        lazily = f'annotate(edges, "{columns[0]}") adds the column lazily; ' if columns else ""
        raise TypeError(
            "edges is a polars.LazyFrame, to which no Series can be added: "
            f"{lazily}{record.name}(edges.collect()) returns it"
        )
    if record.result not in WHOLE_ROWS:
        edges = edges.select(_needed(edges.collect_schema().names(), options, own))
    if own.get("out") is not None:
        return call(of_lazy(edges), own)
    of_sample = {**own, "vertices": None} if "vertices" in own else own
    of_vertices = own.get("vertex_type"), getattr(own.get("where"), "vertex_type", None)
    rows = int(all(types is None for types in of_vertices))
    sample = call(_sample(edges.collect_schema(), rows), of_sample)
    if not isinstance(sample, polars.DataFrame):
        return call(edges.collect() if record.by_frames else of_lazy(edges), own)
    schema = sample.schema
    return edges.map_batches(
        lambda frame: call(frame, own).cast(schema),  # without rows, the dtype may be another
        schema=schema,
        predicate_pushdown=False,  # a row that is filtered away would be an edge less
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _sample(schema: Any, rows: int) -> Any:
    """Return a frame of no row, or of one that holds 1 or what is like it: a loop, if of ids."""
    polars = sys.modules["polars"]

    def one(dtype: Any) -> Any:
        value = dtype.categories.first() if isinstance(dtype, polars.Enum) else 1
        is_text = isinstance(dtype, polars.Categorical | polars.String | polars.Binary)
        series = polars.Series([str(value) if is_text else value])
        try:
            return series.cast(dtype)
        except polars.exceptions.PolarsError:  # lists and records, which are no ids
            return polars.Series([None], dtype=dtype)

    columns = {name: one(dtype) for name, dtype in schema.items()}
    return polars.DataFrame(columns).head(0 if polars.Null in schema.values() else rows)


def polars_lazy(edges: Any) -> Any:
    """Return the lazy frame of Polars that edges are or wrap.

    Raises
    ------
    TypeError
        They wrap a lazy frame of another library.
    """
    frame = native(edges)
    if type(frame).__name__ != "LazyFrame":
        inside = f"{type(frame).__module__}.{type(frame).__qualname__}"
        raise TypeError(
            f"edges is a narwhals.LazyFrame of a {inside}: call .collect() first, or give "
            "edges.to_native()"
        )
    return frame


def _needed(labels: list[str], options: Options, own: OwnOptions) -> list[str]:
    """Return the columns that a call reads, each once."""
    named = named_columns(own)
    ids = edge_columns(labels, options.source, options.destination, options.by, named)
    return [label for label in labels if label in {*ids.labels, *named}]
