"""The prepared graph: checked, numbered, ordered, oriented once, and asked many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, cast

from rapids_tc._progress import one_call
from rapids_tc.engines import protocol, registry
from rapids_tc.frames.backend import Array, Frame, as_uint32, open_frame, sum64
from rapids_tc.frames.device import place
from rapids_tc.graphs.protocol import EdgeGraph, Formula, VertexStatistics, check_prepared
from rapids_tc.plan import needs
from rapids_tc.preparation import orient
from rapids_tc.preparation.csr import Csr
from rapids_tc.preparation.edges import (
    NumberedEdges,
    id_columns,
    number_edges,
    size_bound,
    sorted_edges,
)

Sample = Callable[[NumberedEdges], NumberedEdges]


class Graph(EdgeGraph):
    """An undirected simple graph over an edge frame, prepared once and reused by every function.

    Direction is ignored, repeated rows collapse and self loops are dropped. The frame is read when
    the graph is made; changing it afterwards does not change the graph. A graph can be pickled.

    Parameters
    ----------
    edges : DataFrame
        One row an edge: pandas, cuDF, Polars, PyArrow, any ``__arrow_c_stream__``, read once here.
    vertices : list, array, Series or Index, optional
        Further vertices: those that stand in no row are isolated.
    source, destination : label, optional
        The two id columns; by default ``src`` and ``dst``, ``source`` and ``destination``,
        ``source`` and ``target``, or the only two columns.
    engine : {"cpu", "cuda"}, optional
        Where to work; by default where the frame is.
    progress : bool, optional
        Show progress on stderr; by default where that is a terminal.
    memory_limit : int, optional
        Bytes that may be taken on top of the frame.

    Attributes
    ----------
    n_vertices : int
        Distinct ids, isolated ones included.
    n_edges : int
        Distinct undirected edges without self loops.
    csr : Csr
        The oriented graph, for kernels of your own.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        What was given, what is accepted, and a hint.

    Notes
    -----
    Cost: one sort of the rows; `memory_estimate` tells the bytes.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> graph = tc.Graph(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]}), vertices=[7])
    >>> graph.n_vertices, graph.n_edges, tc.count(graph)
    (4, 3, 1)
    """

    _edges: NumberedEdges

    def __init__(
        self,
        edges: Any,
        *,
        vertices: Any = None,
        source: Any = None,
        destination: Any = None,
        engine: str | None = None,
        progress: bool | None = None,
        memory_limit: int | None = None,
    ) -> None:
        with one_call(progress), place(edges):
            self._read(edges, vertices, (source, destination, engine), progress, memory_limit)
            self._prepare()
            # The graph outlives the call, and must not see what the user does to the frame.
            src, dst = self._edges.src.copy(), self._edges.dst.copy()
            self._edges = replace(self._edges, src=src, dst=dst)
            self._frame = self.backend.adapter.snapshot(self._frame)

    def _read(
        self, edges, vertices, where, progress, limit, function="Graph", method="auto", **sizes
    ) -> None:
        source, destination, engine = where
        self.progress = progress
        needs.check_limit(limit)
        self._frame, self.backend = open_frame(edges, engine, once=function == "Graph")
        needs.require_method(method, function, self.backend.engine)
        labels = id_columns(self.labels, source, destination)
        self.backend = self.backend.at(self.backend.adapter.with_id_dtype(self._frame, labels))
        if limit is not None:
            size = size_bound(self._frame, *labels, self.backend)
            stages = needs.stages(function, *size, self.backend.engine, method, **sizes)
            needs.require(stages, limit, needs.advice(function, method))
        with self.stage("numbering the ids"):
            self._edges = number_edges(self._frame, *labels, self.backend, vertices)
            self.ids = self._edges.ids

    def _prepare(self) -> None:
        self.engine = registry.load(self.backend.engine)
        with self.stage("ordering by degree"):
            src, dst, size = self._edges.src, self._edges.dst, self._edges.ids.size
            degree, n = self.engine.degrees(src, dst, size)
            self.order = orient.degree_order(degree, n, self.backend)
        with self.stage("orienting and sorting"):
            keys = orient.orient(self._edges.ends, self.order.rank, self.backend)
            self.csr: Csr = self.engine.csr(keys, self.order.n)

    @property
    def n_edges(self) -> int:
        return self.csr.m

    @cached_property
    def layout(self) -> Any:
        """What the engine needs to count besides the CSR."""
        with self.stage("laying out"):
            return self.engine.prepare(self.csr)

    @cached_property
    def degrees(self) -> Array:
        """Neighbours of every rank, int64."""
        csr = self.csr
        return self.backend.xp.diff(csr.offsets) + protocol.column_counts(self.engine, csr, csr.n)

    @cached_property
    def edge_counts(self) -> Array:
        """Triangles of every oriented edge, uint32, aligned with ``csr.columns``."""
        return self._count_edges("auto")

    def count_edges(self, method: str) -> Array:
        """As `edge_counts`, by a method of choice."""
        return self.edge_counts if method == "auto" else self._count_edges(method)

    def _count_edges(self, method: str) -> Array:
        layout = self.layout
        with self.stage("counting") as report:
            return self.engine.edge_counts(layout, method=method, tick=report.ticker)

    def vertex_counts(self, method: str) -> Array:
        """Triangles at every rank, int64: half the sum over the edges around it."""
        counts = self.count_edges(method)
        with self.stage("summing by vertex"):
            by_row, by_column = self.engine.sum_counts(self.csr, counts)
            return (by_row + by_column) // 2

    def count(self, method: str) -> int:
        """Triangles of the graph."""
        if method == "auto" and "edge_counts" in self.__dict__:
            return sum64(self.edge_counts) // 3
        layout = self.layout
        with self.stage("counting") as report:
            return self.engine.count(layout, method=method, tick=report.ticker)

    @cached_property
    def trussness(self) -> Array:
        """The trussness of every oriented edge, int32, aligned with ``csr.columns``."""
        return self.peel(None)

    def peel(self, k: int | None) -> Array:
        """As `trussness`, but with `k` all that counts is whether it is at least k."""
        layout, counts = self.layout, self.edge_counts
        with self.stage("peeling") as report:
            return self.engine.truss(layout, counts, k=k, tick=report.ticker)

    def stages(self, function: str, method: str = "auto") -> list[needs.Stage]:
        return needs.left(function, *self.dimensions, method, set(self.__dict__))

    def _need(self) -> str:
        rows, *_ = size = self.dimensions
        need = max(stage.bytes for stage in needs.stages("count", *size))
        return (
            f"{rows:,} rows need about {need:,} bytes on top of the frame. "
            "memory_estimate lists the stages; a frame of narrower integer ids needs less"
        )

    @property
    def dimensions(self) -> tuple[int, int, bool, str]:
        """Rows, distinct ids, whether these are dense, and the engine."""
        known, rows = getattr(self, "_edges", None), self.backend.adapter.rows(self._frame)
        # Before numbering, assume as many ids as rows.
        size = (len(known.src), known.ids.size, known.ids.dense) if known else (rows, rows, False)
        return *size, self.backend.engine

    def row_edges(self) -> Array:
        """Where in ``csr.columns`` the edge of each of the user's rows is (int64); -1: a loop."""
        src, dst = (end[: self._edges.rows] for end in self._edges.ends)
        return orient.in_pieces(self._where, (src, dst), "int64", self.backend)

    def _where(self, *ends: Array) -> Array:
        return self.engine.find_edges(self.csr, *orient.ranked(ends, self.order.rank, self.backend))

    def edge_columns(self, columns: dict[str, Array]) -> dict[str, Any]:
        """Values of the edges as columns aligned with the user's rows; loops get 0."""
        with self.stage("looking rows up"):
            xp, where, aligned = self.backend.xp, self.row_edges(), {}
            for name, values in columns.items():
                with_loop = xp.concatenate([values, xp.zeros(1, values.dtype)])  # a loop is at -1
                aligned[name] = self.backend.adapter.column_like(
                    self._frame, with_loop[where], name
                )
            return aligned

    def row_columns(self, formulas: dict[str, Formula], method: str) -> dict[str, Any]:
        csr, counts, xp = self.csr, self.count_edges(method).astype("int64"), self.backend.xp

        @cache
        def ends() -> tuple[Array, Array]:
            return self.degrees[csr.rows], self.degrees[csr.columns]

        return self.edge_columns({name: f(xp, counts, ends) for name, f in formulas.items()})

    def truss_rows(self, k: int | None) -> Array:
        if k is None:
            wanted = self.trussness == self.max_truss
        else:
            wanted = (self.trussness if "trussness" in self.__dict__ else self.peel(k)) >= k
        with self.stage("looking rows up"):
            xp, where = self.backend.xp, self.row_edges()
            with_loop = xp.concatenate([wanted, xp.zeros(1, bool)])  # a loop is at -1
            positions = xp.flatnonzero(with_loop[where])
            again = self.backend.library.Series(where[positions]).duplicated()
            return positions[~self.backend.array(again)]

    @property
    def max_truss(self) -> int:
        """The largest k whose truss has an edge; 2 without an edge."""
        return int(self.trussness.max()) if self.n_edges else 2  # CuPy's max has no initial=

    def simple_edges(self) -> Frame:
        with self.stage("sorting the edges"):
            number = as_uint32(self.order.number)
            made = sorted_edges(number[self.csr.rows], number[self.csr.columns], self.ids)
            return self.backend.adapter.frame(made)

    def sampled(self, sample: Sample, limit: int | None) -> Graph:
        """Return the graph of a sample of the edges, for one call; it may exceed its estimate."""
        graph = Graph.__new__(Graph)
        graph._frame, graph.backend, graph.ids = self._frame, self.backend, self.ids
        graph.progress = self.progress
        with graph.stage("sampling the edges"):
            graph._edges = sample(self._edges)
        needs.require(needs.stages("vertex_triangles", *graph.dimensions), limit)
        graph._prepare()
        return graph

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("layout", None)  # quickly made again
        del state["engine"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.engine = registry.load(self.backend.engine)

    def __repr__(self) -> str:
        size = f"{self.n_vertices} vertices, {self.n_edges} edges"
        return f"<rapids_tc.Graph: {size}, {self.backend.engine}>"


def as_graph(
    edges: Any,
    *,
    source: Any = None,
    destination: Any = None,
    engine: str | None = None,
    progress: bool | None = None,
    memory_limit: int | None = None,
    function: str = "count",
    method: str = "auto",
    sample: Sample | None = None,
    **sizes: int,
) -> Graph:
    """The graph itself where one is given, else one made for a single call; or of a sample.

    `sizes` are passed on to `plan.stages`.

    Raises
    ------
    ValueError
        A prepared graph is asked to be read in another way than it was, or there is no such method.
    """
    where = (source, destination, engine)
    if isinstance(edges, VertexStatistics):
        graph = cast(Graph, check_prepared(edges, where, function, method))
        needs.require(graph.stages(function, method), memory_limit)
    else:
        graph = Graph.__new__(Graph)  # for one call: no copies
        graph._read(edges, None, where, progress, memory_limit, function, method, **sizes)
        if sample is None:
            graph._prepare()
    return graph if sample is None else graph.sampled(sample, memory_limit)
