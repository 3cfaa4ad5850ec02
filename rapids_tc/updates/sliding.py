"""Graphs of a window of time that slides: an update puts rows in, and takes those out that are old.

The rows lie in chunks, in the order in which they came. Nothing but columns as of their time is
counted in an update; all else, the changes of a `Delta` too, is counted from the rows of the graphs
before and after, once it is asked for.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rapids_tc.engines import registry
from rapids_tc.engines.as_of import COLUMNS, FANS, PAIRS
from rapids_tc.frames.arrays import is_array
from rapids_tc.frames.device import device_of
from rapids_tc.frames.joining import append
from rapids_tc.graphs import in_memory
from rapids_tc.preparation.edge_columns import check_label, check_new
from rapids_tc.preparation.times import check_length
from rapids_tc.updates.batches import Delta, open_batch
from rapids_tc.updates.kept_rows import KeptRows, Window
from rapids_tc.updates.updated import UnreadGraph, added_vertices, changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Frame
    from rapids_tc.graphs.in_memory import InMemoryGraph

DEFAULT = (*FANS, *PAIRS, "triangles_closed", "cycles_closed")
FEW = 32  # so many chunks of like size become one
NEVER = -(2**63)  # the code before all times


def check_window(time: Any, within: Any, lateness: Any, columns: Any) -> Window | None:
    """Return the window that the options of a graph describe; None if they name no times.

    Raises
    ------
    ValueError
        An option is wrong, or missing.
    """
    given = {"within": within, "lateness": lateness, "columns": columns}
    if time is None:
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name}= is of a window of time: name the column by time=")
        return None
    if within is None:
        raise ValueError('time= keeps rows of a window: give its length, such as within="3d"')
    if is_array(time):
        raise ValueError(
            "time= is an array, which later rows do not have: name a column of a frame"
        )
    length = check_length("within", within, zero=True)
    zero = 0 if length.is_number else "0s"
    late = check_length("lateness", zero if lateness is None else lateness, zero=True)
    return Window(time, length, late, _checked_columns(DEFAULT if columns is None else columns))


def _checked_columns(columns: Any) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if unknown := [name for name in names if name not in COLUMNS]:
        close = get_close_matches(str(unknown[0]).lower(), COLUMNS, n=1)
        meant = f", did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"{unknown[0]!r} is no column as of a time{meant}; columns= of Graph takes "
            f"{', '.join(COLUMNS)}"
        )
    if not names or len({*names}) < len(names):
        raise ValueError(f"columns={columns!r}; name each of {[*COLUMNS]} at most once, and one")
    return names


class Chunk(NamedTuple):
    """Rows that came one after another.

    Attributes
    ----------
    frame : DataFrame
    until : array of int64
        The code of the newest time up to which each row stays.
    most : int
        The greatest of them.
    level : int
        How often chunks were put together.
    """

    frame: Frame
    until: Array
    most: int
    level: int


class SlidingGraph(UnreadGraph):
    """A graph of the rows of a window of time.

    Parameters
    ----------
    template : InMemoryGraph
        A graph with the backend and the columns of ids.
    rows : KeptRows
        The rows as they are counted, as long as they have the version that they have now.
    chunks : tuple of Chunk
    vertices : Series or DataFrame or None
        The vertices that were given beside the rows.
    """

    def __init__(
        self, template: InMemoryGraph, rows: KeptRows, chunks: tuple[Chunk, ...], vertices: Any
    ) -> None:
        self.backend, self.progress, self.engine = (
            template.backend, template.progress, template.engine,
        )  # fmt: skip
        self.id_columns, self.lasting = template.id_columns, True
        self._limit, self._numbers_rows = None, False
        self.chunks, self.vertices = chunks, vertices
        self._take(rows)

    def _take(self, rows: KeptRows) -> None:
        self.rows, self.version, self.newest = rows, rows.version, rows.newest
        self.window = rows.window

    def own_rows(self) -> KeptRows:
        """Return the rows as they are counted, from the chunks if others have changed them."""
        if self.rows is None or self.rows.version is not self.version:
            rows = KeptRows(self.window, self.id_columns, self.backend)
            frame = append(self.frames())
            times, codes = self.window.times(frame, self.backend)
            rows.add(rows.new_rows(frame, codes, times), count=False)
            self._take(rows)
        return self.rows

    def frames(self) -> list[Frame]:
        """Return the rows that are kept, in the order in which they came."""
        return [_kept(chunk, self.newest, self.backend).frame for chunk in self.chunks]

    def is_unread(self) -> bool:
        """Return whether rows are there that can be read."""
        return "chunks" in self.__dict__

    def read_rows(self) -> InMemoryGraph:
        """Read the rows that are kept, as for a graph made anew."""
        rows, labels = append(self.frames()), self.id_columns
        return in_memory.read(rows, labels, self.backend, self.progress, vertices=self.vertices)

    @property
    def some_array(self) -> Array:
        """See `InMemoryGraph`."""
        return self.chunks[-1].until

    def __getstate__(self) -> dict[str, Any]:
        names = ("backend", "progress", "id_columns", "lasting", "_limit", "_numbers_rows")
        state = {name: self.__dict__[name] for name in (*names, "vertices", "newest", "window")}
        kept = [_kept(chunk, self.newest, self.backend) for chunk in self.chunks]
        return {**state, "chunks": (_joined(kept, self.backend),)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, rows=None, version=None)
        self.engine = registry.load(self.backend.engine)


def begin(graph: InMemoryGraph, window: Window) -> SlidingGraph:
    """Return the graph of the rows of a graph that a window keeps.

    Raises
    ------
    ColumnNotFoundError, NullIdError, TypeError, ValueError
        The graph's columns are not those of a window, or it takes no updates.
    """
    check_label("time", window.time, graph.labels)
    check_new(window.columns, graph.labels)
    backend, frame = graph.backend, graph.user_frame
    times, codes = window.times(frame, backend)
    rows = KeptRows(window, graph.id_columns, backend)
    until = rows.new_rows(frame, codes, times).until
    vertices, newest = added_vertices(graph), int(codes.max()) if len(codes) else None
    kept = _kept(Chunk(frame, until, 0, 0), newest, backend)
    if len(kept.until) < len(codes):
        codes = codes[until >= newest]
    rows.add(rows.new_rows(kept.frame, codes, times), count=False)
    return SlidingGraph(graph, rows, (_chunk(kept.frame, kept.until),), vertices)


def update(graph: SlidingGraph, insert: Any, delete: Any) -> tuple[SlidingGraph, Delta]:
    """Return the graph with the rows of `insert`, without those that are too old, and the change.

    Raises
    ------
    TypeError
        Edges are to be deleted.
    """
    if delete is not None:
        raise TypeError(
            "delete=: rows leave a Graph of a window of time by their age: leave it out, or make "
            "Graph(edges) without time="
        )
    backend, window, adapter = graph.backend, graph.window, graph.backend.adapter
    labels = graph.id_columns.labels
    frame = open_batch(insert, None, graph.chunks[-1].frame, labels, backend).insert
    frame = adapter.snapshot(frame)
    times, codes = window.times(frame, backend)
    rows = graph.own_rows()
    new = rows.new_rows(frame, codes, times)
    is_late, late = rows.are_late(new, times), backend.xp.zeros(0, "int64")
    if bool(is_late.any()):
        both = ~is_late, is_late
        on_time, late = (backend.xp.flatnonzero(backend.xp.asarray(these)) for these in both)
        new = rows.new_rows(adapter.rows_at(frame, on_time), codes[on_time], times)
    counts, chunks = rows.add(new, count=True), graph.chunks
    if len(new.codes):
        chunks = _pile(chunks, _chunk(new.frame, new.until), rows.newest, backend)
    updated = SlidingGraph(graph, rows, chunks, graph.vertices)
    change = cache(partial(changes, graph, updated))
    return updated, Delta(
        lambda: change().triangles,
        lambda: change().vertices,
        lambda: change().edges,
        device_of(codes),
        # What the user writes to them does not reach the rows that are kept.
        rows=lambda: adapter.with_counts(adapter.snapshot(new.frame), window.columns, counts),
        dropped=lambda: adapter.take(frame, late),
    )


def _chunk(frame: Frame, until: Array, level: int = 0) -> Chunk:
    return Chunk(frame, until, int(until.max()) if len(until) else NEVER, level)


def _kept(chunk: Chunk, newest: int | None, backend: Any) -> Chunk:
    """Return the rows of a chunk that are not too old."""
    stays = chunk.until >= newest if len(chunk.until) else None
    if stays is None or bool(stays.all()):
        return chunk
    frame = backend.adapter.rows_at(chunk.frame, backend.xp.flatnonzero(stays))
    return chunk._replace(frame=frame, until=chunk.until[stays])


def _joined(chunks: Sequence[Chunk], backend: Any) -> Chunk:
    """Put chunks together."""
    until = backend.xp.concatenate([chunk.until for chunk in chunks])
    return _chunk(append([chunk.frame for chunk in chunks]), until, chunks[-1].level + 1)


def _pile(
    chunks: tuple[Chunk, ...], chunk: Chunk, newest: int | None, backend: Any
) -> tuple[Chunk, ...]:
    """Put a chunk behind others; let those go that are too old, and put many small ones together.

    So there are few chunks, and a row is moved a few times.
    """
    assert newest is not None
    pile = [*(one for one in chunks if one.most >= newest), chunk]
    while [one.level for one in pile[-FEW:]] == [pile[-1].level] * FEW:
        last = [_kept(one, newest, backend) for one in pile[-FEW:]]
        pile[-FEW:] = [_joined(last, backend)]
    return tuple(pile)
