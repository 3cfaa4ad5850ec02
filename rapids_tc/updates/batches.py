"""The frames of an update, checked against the rows of the graph, and what it has changed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.errors import ColumnNotFoundError, IdTypeError
from rapids_tc.frames.adapters import is_dask, is_spark, root
from rapids_tc.frames.backend import is_lazy, open_frame
from rapids_tc.frames.device import on_device
from rapids_tc.frames.joining import dtypes, select, with_dtypes

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Frame
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Backend

INTEGERS = {f"int{bits}" for bits in (8, 16, 32, 64)}  # and those without a sign
NOT_THERE = "{} of delete= not in the graph: {}"
IN_BOTH = "{} in insert= and in delete=: {}; leave each out of one of them"


class UpdateFrames(NamedTuple):
    """What is put in and taken out: frames with the columns of the graph's rows, or None.

    Of what is taken out, only the columns of ids and of groups are there.
    """

    insert: Frame | None
    delete: Frame | None


def open_batch(
    insert: Any, delete: Any, rows: Frame, ids: list[Any], backend: Backend
) -> UpdateFrames:
    """Check the frames of an update against rows of the graph, whose id columns are `ids`.

    Raises
    ------
    ValueError
        No frame is given, or one has columns that the rows do not have, or is a matrix of
        another shape than that of the graph.
    ColumnNotFoundError
        A frame lacks a column.
    IdTypeError, TypeError
        What is given is no frame, or a frame of another library, or a column has another dtype.
    """
    if insert is None and delete is None:
        raise ValueError("give insert= or delete=, a frame of edges each, or both")
    all_labels = backend.adapter.labels(rows)
    frames = [
        None if edges is None else _open(edges, name, needed, rows, ids, backend)
        for edges, name, needed in ((insert, "insert", all_labels), (delete, "delete", ids))
    ]
    return UpdateFrames(*frames)


def _open(
    edges: Any, name: str, needed: list[Any], rows: Frame, ids: list[Any], backend: Backend
) -> Frame:
    """Return a frame with the columns needed, in their order."""
    adapter = backend.adapter
    if is_dask(edges) or is_spark(edges):
        kind, bring = ("Dask", "compute") if is_dask(edges) else ("Spark", "toArrow")
        raise TypeError(
            f"{name}= is a {kind} DataFrame, and a Graph is on one machine: .{bring}() it"
        )
    edges = edges.collect() if is_lazy(edges) else edges
    try:
        frame, opened = open_frame(edges, backend.engine, once=True)
    except TypeError:
        kind = type(edges).__qualname__
        raise TypeError(f"{name}= is of type {kind}: give a frame of edges") from None
    if _library(opened.adapter) != _library(adapter):
        raise TypeError(
            f"{name}= is a frame of {_library(opened.adapter)}, and the graph was made of one of "
            f"{_library(adapter)}: convert it"
        )
    rows_of_matrices = opened.adapter.n_vertices, adapter.n_vertices
    if None not in rows_of_matrices and len({*rows_of_matrices}) == 2:
        raise ValueError(
            "{}= is a matrix of {} rows, and the graph was made of one of {}: give one of the same "
            "shape".format(name, *rows_of_matrices)
        )
    given = adapter.labels(frame)
    if missing := [label for label in needed if label not in given]:
        raise ColumnNotFoundError(
            f"{name}= has no column {missing[0]!r}; it needs {', '.join(map(repr, needed))}"
        )
    if name == "insert" and len(given) != len(needed):
        further = [label for label in given if label not in needed] or given
        raise ValueError(
            f"insert= has a column {further[0]!r} that the graph's rows lack; they have "
            f"{', '.join(map(repr, needed))}: drop it, or make another Graph"
        )
    frame = frame if given == needed else select(frame, needed)
    if adapter.rows(frame) and adapter.rows(rows):
        frame = _with_wide_ids(frame, rows, ids, adapter)
        _check_dtypes(frame, rows, name, ids, adapter)
    return frame


def _with_wide_ids(frame: Frame, rows: Frame, ids: list[Any], adapter: FrameAdapter) -> Frame:
    """Return a frame whose integer ids are as wide as those of the graph, if all fit there."""
    if root(frame) not in ("pandas", "cudf", "polars", "pyarrow"):
        return frame
    given, wide = (
        {label: dtype for label, dtype in zip(adapter.labels(of), dtypes(of), strict=True)
         if label in ids} for of in (frame, rows)
    )  # fmt: skip
    wider = {label: wide[label] for label in given if _is_wider(wide[label], given[label])}
    return with_dtypes(frame, wider) if wider else frame


def _is_wider(wide: Any, dtype: Any) -> bool:
    """Return whether both are plain integers, or both those of pandas that may be missing."""
    names = str(wide), str(dtype)
    plain = [name.lower().removeprefix("u") in INTEGERS for name in names]
    if not all(plain) or names[0][0].isupper() != names[1][0].isupper() or wide == dtype:
        return False
    return bool(np.can_cast(names[1].lower(), names[0].lower(), "safe"))


def _check_dtypes(
    frame: Frame, rows: Frame, name: str, ids: list[Any], adapter: FrameAdapter
) -> None:
    """Raise an error if a column has another dtype than in the rows of the graph."""
    expected = dict(zip(adapter.labels(rows), dtypes(rows), strict=True))
    for label, dtype in zip(adapter.labels(frame), dtypes(frame), strict=True):
        if dtype != expected[label] and not _both_categories(dtype, expected[label]):
            error = IdTypeError if label in ids else TypeError
            raise error(
                f"column {label!r} of {name}= has dtype {dtype}, and {expected[label]} in the rows "
                "of the graph: convert it"
            )


def _both_categories(*dtypes: Any) -> bool:
    """Return whether two dtypes are categorical, without an order, of the same kind of values."""
    if any(type(dtype).__name__ != "CategoricalDtype" or dtype.ordered for dtype in dtypes):
        return False
    first, second = (dtype.categories.dtype for dtype in dtypes)
    return bool(first == second)


def _library(adapter: Any) -> str:
    """Return what messages call the library of an adapter's frames."""
    name = type(adapter).__name__.removesuffix("Adapter")
    inner = getattr(adapter, "inner", None)
    if hasattr(adapter, "home"):
        return f"arrays of {adapter.home}{' on a GPU' * adapter.on_gpu}"
    return name if inner is None else f"{name} of {_library(inner)}"


def refuse(
    rows: Array, name_ends: Callable[[Array], tuple[list[Any], list[Any]]], message: str, xp: Any
) -> None:
    """Raise ValueError with up to five of the edges in some rows (bool), if there are any."""
    places = xp.flatnonzero(rows)
    if not len(places):
        return
    edges: dict[frozenset[Any], tuple[Any, Any]] = {}
    for ends in zip(*name_ends(places), strict=True):
        edges.setdefault(frozenset(ends), ends)  # as in its first row
    shown = ", ".join(f"({u}, {v})" for u, v in [*edges.values()][:5])
    count = f"{len(edges)} edge{'s' * (len(edges) > 1)}"
    raise ValueError(message.format(count, shown + ", …" * (len(edges) > 5)))


# What is different --------------------------------------------------------------------------------


ROLES = ("vertex", "src", "dst")  # the ids in either frame
FIELDS = ("triangles", "delta")  # the other columns of both


class Delta:
    """What `Graph.update` has changed.

    Parameters
    ----------
    triangles : int or callable
        How many more triangles the graph has than before; negative if it has fewer.
    vertices, edges : callable
        Functions without arguments that make the frames.
    device : int, optional
        The GPU where the frames are made.
    rows, dropped : callable, optional
        As `vertices`, of a graph of a window of time.

    Attributes
    ----------
    triangles : int
        See above.
    vertices : DataFrame
        The vertices with more or fewer triangles than before, sorted by id: ``vertex``;
        ``triangles`` (int64), how many it has now; ``delta`` (int64), how many more than before.
    edges : DataFrame
        The edges with more or fewer triangles than before, src < dst, sorted: ``src``, ``dst``,
        ``triangles`` and ``delta``. An edge that was deleted has 0 triangles now, and is listed if
        it had any.
    rows : DataFrame or None
        Of a graph of a window of time (``Graph(time=)``): the rows of `insert` that were put in, as
        they came, with the columns of the window behind their own.
    dropped : DataFrame or None
        The rows of `insert` that came too late, as they came.

    Frames are in the library of the graph; the first two have the columns of groups in front if the
    graph has groups. Each is made when it is first read, and does not change with later updates.
    Of a graph of a window of time, the triangles are then counted before and after, too.

    See Also
    --------
    Graph : The graph, whose `update` returns this.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> graph = tc.Graph(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}))
    >>> delta = graph.update(insert=pd.DataFrame({"src": [0], "dst": [2]}))
    >>> delta.triangles
    1
    >>> delta.edges
       src  dst  triangles  delta
    0    0    1          1      1
    1    0    2          1      1
    2    1    2          1      1
    """

    def __init__(
        self,
        triangles: int | Callable[[], int],
        vertices: Callable[[], Frame],
        edges: Callable[[], Frame],
        device: int | None,
        *,
        rows: Callable[[], Frame] = lambda: None,
        dropped: Callable[[], Frame] = lambda: None,
    ) -> None:
        count = triangles if callable(triangles) else lambda: triangles
        self._makers: dict[str, Callable[[], Any]] = {
            "triangles": count, "vertices": vertices, "edges": edges, "rows": rows,
            "dropped": dropped,
        }  # fmt: skip
        self._device = device

    @cached_property
    def triangles(self) -> int:
        """How many more triangles the graph has than before."""
        triangles: int = self._make("triangles")
        return triangles

    @cached_property
    def vertices(self) -> Any:
        """The vertices whose triangles changed."""
        return self._make("vertices")

    @cached_property
    def edges(self) -> Any:
        """The edges whose triangles changed."""
        return self._make("edges")

    @cached_property
    def rows(self) -> Any:
        """The rows that were put into a window, with its columns."""
        return self._make("rows")

    @cached_property
    def dropped(self) -> Any:
        """The rows that came too late for a window."""
        return self._make("dropped")

    def _make(self, name: str) -> Any:
        """Make an answer, and free the arrays of which it is made."""
        with on_device(self._device):
            made = self._makers[name]()
        del self._makers[name]
        return made

    def __repr__(self) -> str:
        frames = {name: getattr(self, name) for name in ("vertices", "edges", "rows", "dropped")}
        sizes = {name: _rows(frame) for name, frame in frames.items() if frame is not None}
        told = (f", {name}={rows:,} rows" for name, rows in sizes.items())
        return f"Delta(triangles={self.triangles:+}{''.join(told)})"

    def __getstate__(self) -> dict[str, Any]:
        names = ("triangles", "vertices", "edges", "rows", "dropped")
        return {name: getattr(self, name) for name in names}


def _rows(frame: Any) -> int:
    """Return the number of rows of a frame, or of a dict of arrays, as of a graph of arrays."""
    return len(next(iter(frame.values()))) if isinstance(frame, dict) else len(frame)


def changes_frame(names: dict[Any, Any], triangles: Array, delta: Array, backend: Backend) -> Frame:
    """Return a frame of the user's library: columns of ids, sorted, and of the counts."""
    counts = {"triangles": triangles, "delta": delta}
    return backend.answer({**names, **counts})
