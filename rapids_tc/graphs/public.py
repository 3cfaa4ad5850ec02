"""The prepared graph that users hold: read once, and asked many times."""

from __future__ import annotations

from collections.abc import Sequence
from types import GenericAlias
from typing import Any

from rapids_tc._arguments import check_flag, with_hints
from rapids_tc._progress import call_report
from rapids_tc._typing import (
    Array,
    ByteSize,
    EngineName,
    Frame,
    Groups,
    Label,
    Labels,
    Length,
    Vertices,
)
from rapids_tc.frames.device import place
from rapids_tc.graphs import resolve
from rapids_tc.plan.record import Options
from rapids_tc.preparation.csr import Csr  # noqa: TC001 - a type hint
from rapids_tc.updates import updates
from rapids_tc.updates.batches import Delta  # noqa: TC001 - a type hint
from rapids_tc.updates.sliding import check_window


class Graph:
    """An undirected simple graph over an edge frame, prepared once and reused by every function.

    Direction is ignored, repeated rows collapse and self loops are dropped. The frame is read when
    the graph is made; changing it afterwards does not change the graph. A graph can be pickled.
    Every function of edges is a method, too: ``graph.trussness()`` is ``tc.trussness(graph)``.
    The graph of a Dask frame stays on the workers, as long as it is referred to, and cannot be
    pickled.

    Parameters
    ----------
    edges : DataFrame, arrays or sparse matrix
        One row per edge: pandas, cuDF, Polars, PyArrow, narwhals, or any ``__arrow_c_stream__``,
        which is read once here, as a lazy frame is, a query, or a `files.scan`; or a Dask frame,
        whose columns other than ids are read when a call needs them; or what `files.read_edges`
        has read. Or two arrays, an array of the shape (m, 2), or a square sparse matrix, all of
        whose rows are vertices.
    vertices : list, array, Series, Index or DataFrame, optional
        Further vertices: those in no row are isolated. With `by`, or ids of several columns, a
        frame with the columns of groups and of ids, as in answers: ``vertex``. Not with a Dask
        frame, to which self loops of these vertices can be appended. Those of an `EdgeFile` are
        added.
    source, destination : label or list of labels, optional
        The two id columns; by default the first pair of ``src`` and ``dst``, ``source`` and
        ``destination``, ``source`` and ``target``, ``from`` and ``to``, ``u`` and ``v``, in lower
        case or else in any; then the one pair of names that differ by such words or by 1 and 2,
        such as ``from_acct`` and ``to_acct``; then the only two columns beside those of `by`.
        Lists name the columns of ids that are made of several; see `count`.
    by : label, Series, array, pandas.Grouper, or list of these, optional
        Groups, which every function of the graph then answers by; see `count`. A graph of groups
        that are no columns is not updated.
    bipartite : bool, optional
        Whether the two columns never meet: user 5 is not item 5, and the kinds of their ids may
        differ. A row per vertex then tells its ``side``, "source" or "destination", and functions
        take `vertices` as a frame with the columns ``side`` and ``vertex``. In memory; not with
        `vertices`, and such a graph is not updated.
    time : label, optional
        A column of times. Only rows of a *window* before the newest one stay then: an `update`
        takes those out that are older, and gives the rows that it puts in columns as of their time;
        see `annotate`. In memory.
    within : number, str, Timedelta, timedelta or timedelta64, optional
        How far these columns look back from a row; see `annotate`.
    lateness : number, str, Timedelta, timedelta or timedelta64, optional
        How much earlier than the newest row of earlier updates a row may be: by default not at all.
        Rows stay for `within` and `lateness` together.
    columns : list of str, optional
        The columns as of their time, by default ``u_out``, ``u_in``, ``v_out``, ``v_in``,
        ``pair_repeats``, ``pair_reversed``, ``triangles_closed`` and ``cycles_closed``.
    engine : {"cpu", "cuda"}, optional
        Where to work; by default where the frame is.
    progress : bool, optional
        Show progress on stderr; by default if stderr is a terminal.
    memory_limit : int or str, optional
        Bytes that may be taken on top of the frame, or a text such as "2GB".
    edge_index : array of shape (2, m), optional
        Sources and destinations, in place of `edges`.

    Attributes
    ----------
    n_vertices : int
        Distinct ids, isolated ones included; of each group, with `by`.
    n_edges : int
        Distinct undirected edges without self loops; of each group, with `by`.
    csr : Csr
        The oriented graph over ranks, for kernels of your own: rank 0 is a vertex of the highest
        degree, and row u holds the neighbors of rank u whose rank is lower. Not of a Dask frame.

    Raises
    ------
    ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, ValueError, TypeError
        The message says what was given, what is accepted, and what to do.

    See Also
    --------
    memory_estimate : The bytes that a graph takes.

    Notes
    -----
    Cost: one sort of the rows.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> graph = tc.Graph(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]}), vertices=[7])
    >>> graph.n_vertices, graph.n_edges, graph.count()
    (4, 3, 1)
    """

    _prepared: Any  # an InMemoryGraph; of a partitioned frame, a KeptGraph

    @with_hints
    def __init__(
        self,
        edges: Frame = None,
        *,
        vertices: Vertices | None = None,
        source: Labels | None = None,
        destination: Labels | None = None,
        by: Groups | None = None,
        bipartite: bool = False,
        time: Label | None = None,
        within: Length | None = None,
        lateness: Length | None = None,
        columns: Sequence[str] | None = None,
        engine: EngineName | None = None,
        progress: bool | None = None,
        memory_limit: ByteSize | None = None,
        edge_index: Array | None = None,
    ) -> None:
        window = check_window(time, within, lateness, columns)
        if window is not None and memory_limit is not None:
            raise ValueError("memory_limit= is of rows that stay: leave it out beside time=")
        options = Options(
            source, destination, by, engine, progress=progress, memory_limit=memory_limit,
            edge_index=edge_index,
        )  # fmt: skip
        edges, options, isolated = resolve.take_file(edges, options, {})
        if isolated is not None:
            vertices = isolated if vertices is None else [*isolated, *vertices]
        edges, options, _ = resolve.take_arrays(edges, options, {})
        own = check_flag({"bipartite": bipartite}, "bipartite")
        if window is not None:
            own = {**own, "time": time}
        with call_report(progress), place(edges, engine):
            self._prepared = resolve.prepare(edges, vertices, options, own)
            if window is not None:
                self._prepared = updates.slide(self._prepared, window)

    # Type checkers know the class of its frames: Graph[pd.DataFrame].
    __class_getitem__: Any = classmethod(GenericAlias)

    @with_hints
    def update(
        self,
        *,
        insert: Frame | None = None,
        delete: Frame | None = None,
        progress: bool | None = None,
    ) -> Delta:
        """Put edges in and take edges out; say which triangles come and go.

        Afterwards, every function of the graph answers as for a graph that is made anew of the
        rows.

        Parameters
        ----------
        insert : DataFrame, optional
            Rows to add behind the graph's rows: a frame of the same library, with the same columns
            and dtypes. A row of an edge that is there changes no count. New ids are new vertices.
            In a graph of a window of time (``Graph(time=)``), the rows of one call are put in by
            their times, those of equal times as they stand; see `Delta`.
        delete : DataFrame, optional
            Edges to take out, in either direction, by the columns of ids (and groups): all rows of
            each go. A vertex without a row goes, too, unless it is one of ``Graph(vertices=)``.
            Not in a graph of a window of time, whose rows go when they are too old.
        progress : bool, optional
            See `Graph`.

        Returns
        -------
        Delta
            The change of the total, and the vertices and edges whose triangles changed.

        Raises
        ------
        ValueError
            An edge to delete is not there, or is in both frames, five of which are listed; or
            there is neither frame; or `insert` has other columns; or a matrix has another shape
            than that of the graph. The graph stays as it was.
        ColumnNotFoundError, IdTypeError, NullIdError, CapacityError, KernelError, TypeError
            See `Graph`; a frame of another library or dtype, or of Dask, is refused.

        Notes
        -----
        Cost: the first update counts the triangles of every edge, and keeps 32 bytes per edge. From
        then on, an update walks the neighbors of one end of each edge that changes, the end of
        lower degree. `count` then costs nothing; any other function first reads the rows, once,
        as `Graph` does. If new edges are a sixteenth of the graph's, the next update begins as the
        first one. Groups, ids of several columns and categories: the graph is made anew.

        In a graph of a window of time, an update puts the entries of new rows behind those of their
        ends, and walks windows as `annotate` does for these rows alone. Rows that are later than a
        new one are taken out and come again behind it. All rows are moved each time that as many
        have come as the window has.

        Batches are counted exactly in Makkar, Bader and Green, "Exact and parallel triangle
        counting in dynamic graphs", HiPC 2017; here a triangle belongs to the first of its edges
        that change, in any order of these.

        Examples
        --------
        >>> import pandas as pd, rapids_tc as tc
        >>> graph = tc.Graph(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}))
        >>> graph.update(insert=pd.DataFrame({"src": [0, 3], "dst": [2, 1]})).triangles
        2
        >>> graph.update(delete=pd.DataFrame({"src": [2], "dst": [1]})).vertices
           vertex  triangles  delta
        0       0          0     -1
        1       1          0     -2
        2       2          0     -2
        3       3          0     -1
        >>> graph.count()
        0
        """
        with call_report(progress), place(self):
            graph, delta = updates.update(self._prepared, insert, delete, progress=progress)
        self._prepared = graph
        return delta

    @property
    def n_vertices(self) -> int:
        """Distinct ids, isolated ones included."""
        return int(self._prepared.n_vertices)

    @property
    def n_edges(self) -> int:
        """Distinct undirected edges without self loops."""
        return int(self._prepared.n_edges)

    @property
    def csr(self) -> Csr:
        """The oriented graph over ranks, for kernels of your own."""
        csr: Csr = self._prepared.csr
        return csr

    @property
    def _size(self) -> str:
        groups = self._prepared.n_groups
        beside = f", {groups:,} groups" if groups else ""
        return f"{self.n_vertices:,} vertices, {self.n_edges:,} edges{beside}"

    def __repr__(self) -> str:
        return f"<rapids_tc.Graph: {self._size}, {self._prepared.backend.engine}>"

    def _repr_html_(self) -> str:
        engine = self._prepared.backend.engine
        return f"<strong>rapids_tc.Graph</strong>: {self._size}, engine <code>{engine}</code>"
