"""The rows that a window of time keeps, in the order of time, and what is counted of new ones.

A row has the number of its place. New rows go behind the others; if some are earlier than rows that
are there, these are taken out and come again behind them. Rows that are too old stay in front until
the buffers are full: then the rows that are left move to new ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines import registry
from rapids_tc.engines.as_of import TimedRows
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.preparation.numbering import number_edges
from rapids_tc.preparation.times import joined_profile, profile_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Frame
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.times import Length, TimeColumn

ROOM = 1 << 12  # rows that buffers have room for, at least
MOST = costs.MOST_TIMED_ROWS // 8  # rows whose entries, with room for more, have 32 bits
FEW = 1 << 13  # rows whose integers are looked up one by one


@dataclass(frozen=True)
class Window:
    """Which rows a graph keeps, and what is counted of each when it comes.

    Attributes
    ----------
    time : label
        The column of times.
    within : Length
        How far a row looks back.
    lateness : Length
        How much earlier than the newest row a row may be.
    columns : tuple of str
        Some of `rapids_tc.engines.as_of.COLUMNS`.
    """

    time: Any
    within: Length
    lateness: Length
    columns: tuple[str, ...]

    @property
    def stay(self) -> Length:
        """How long rows stay: `within` and `lateness` together."""
        return replace(self.within, amount=self.within.amount + self.lateness.amount)

    def times(self, frame: Frame, backend: Backend) -> tuple[TimeColumn, Array]:
        """Return the column of times of a frame, and its codes.

        Raises
        ------
        NullIdError
            A row has no time.
        ValueError
            The column holds no times, or the lengths do not suit them.
        """
        column = backend.to_working_series(backend.adapter.column(frame, self.time))
        profile = profile_times(column, self.time, None, backend, distinct=False)
        times, _ = joined_profile([profile])
        if times.kind != "empty":
            _ = times.amount(self.within), times.amount(self.lateness)
        return times, times.codes(column, backend)


class VertexNumbers:
    """The numbers of ids. A number whose vertex has left is given to another."""

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}
        self._ids: list[Any] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, ids: Sequence[Any]) -> Array:
        """Return the numbers (uint32) of ids, with new ones for those that have none."""
        numbers = np.fromiter(map(self._number.get, ids, repeat(-1)), "int64", len(ids))
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = self._give(ids[place])
        return numbers.astype("uint32")

    def _give(self, vertex: Any) -> int:
        number = self._number.get(vertex)  # it may have come twice
        if number is None:
            if self._free:
                number = self._free.pop()
                self._ids[number] = vertex
            else:
                number = len(self._ids)
                self._ids.append(vertex)
            self._number[vertex] = number
        return number

    def keep(self, used: Array) -> None:
        """Forget the ids whose numbers are not used (bool)."""
        for number in np.flatnonzero(~used).tolist():
            if self._number.get(self._ids[number]) == number:
                del self._number[self._ids[number]]
                self._free.append(number)


class KeptRows:
    """The rows of a window. Arrays are changed in place, which a `version` guards.

    Parameters
    ----------
    window : Window
    labels : EdgeColumns
    backend : Backend
    """

    def __init__(self, window: Window, labels: EdgeColumns, backend: Backend) -> None:
        self.window, self.version = window, object()
        self._labels, self._backend, self._numbers = labels, backend, VertexNumbers()
        self._engine = registry.load(backend.engine)
        self._lists: Any = None  # what the engine keeps of the rows
        none = backend.xp.zeros(0, "int64")
        self._times = [none, none, none]  # of each row: see `_with_ends`
        self._ends = [none.astype("uint32")] * 3  # source, destination, first row of the window
        self._first = self._size = 0  # the rows that are there are those between
        self.newest: int | None = None  # the code of the latest time

    @property
    def some_array(self) -> Array:
        """An array in the memory where the rows are."""
        return self._times[0]

    def __len__(self) -> int:
        return self._size - self._first

    def are_late(self, codes: Array, times: TimeColumn) -> Array:
        """Return which rows with these times come too late."""
        xp = self._backend.xp
        if self.newest is None:
            return xp.zeros(len(codes), bool)
        return times.latest(codes, self.window.lateness, xp) < self.newest

    def until(self, codes: Array, times: TimeColumn) -> tuple[Array, Array]:
        """Return the latest time that sees each row, and the newest up to which that may come."""
        xp = self._backend.xp
        seen = times.latest(codes, self.window.within, xp)
        late = times.latest(seen, self.window.lateness, xp)
        # Both lengths may have a part of a unit of the times; and sums of floats may be too small.
        return seen, xp.maximum(late, times.latest(codes, self.window.stay, xp))

    def add(self, frame: Frame, codes: Array, times: TimeColumn, *, count: bool) -> Array | None:
        """Add the rows of a frame, none of which is late; return the columns of the window.

        Raises
        ------
        IdTypeError, NullIdError
            An id cannot name a vertex.
        CapacityError
            There are too many rows.
        """
        xp, order, size = self._backend.xp, None, len(codes)
        if not size:
            return xp.zeros((len(self.window.columns), 0), "int64")
        if len(self) + size > MOST:
            raise CapacityError(
                f"{len(self) + size:,} rows in a window, and at most {MOST:,} are kept: shorten "
                "within="
            )
        ends = self._number(frame)
        if bool((codes[1:] < codes[:-1]).any()):
            order = xp.argsort(codes, kind="stable")
            codes, *ends = codes[order], *(end[order] for end in ends)
        new = [codes, *self.until(codes, times)]
        self.version = None  # until the end
        newest = int(codes[-1])
        if self._lists is not None and self._size + size <= len(self._times[0]):
            places = self._put(new, ends)
        else:
            places = self._rebuild(new, ends)
        if self._lists is None:  # they had no room
            places = places - self._first
            self._rebuild([some[:0] for some in new], [end[:0] for end in ends])
        counts: Array | None = None
        if count:
            since = int(places[0])
            counts = self._lists.counts(since)[:, places - since]
            if order is not None:
                by_row = xp.empty_like(counts)
                by_row[:, order] = counts
                counts = by_row
        self.newest = newest if self.newest is None else max(newest, self.newest)
        until = self._times[2][self._first : self._size]
        self._first += int(xp.searchsorted(until, xp.asarray([self.newest]))[0])
        self.version = object()
        return counts

    def _put(self, new: list[Array], ends: list[Array]) -> Array:
        """Put rows behind the others, or among them; return their places."""
        xp, begin, end = self._backend.xp, self._size, self._size + len(new[0])
        if int(new[0][0]) < self.newest:  # type: ignore[operator]
            codes = self._times[0][self._first : self._size]
            begin = self._first + int(xp.searchsorted(codes, new[0][:1], side="right")[0])
            self._lists.drop(begin)
        buffers = [*self._times, *self._ends[:2]]
        places, merged = self._merged([b[begin : self._size] for b in buffers], [*new, *ends])
        for buffer, values in zip(buffers, merged, strict=True):
            buffer[begin:end] = values
        codes, seen = self._times[0][begin:end], self._times[1][self._first : end]
        self._ends[2][begin:end] = xp.searchsorted(seen, codes) + self._first
        self._size = end
        if not self._lists.add(self._rows(), self._first):
            self._lists = None
        return places + begin

    def _merged(self, old: list[Array], new: list[Array]) -> tuple[Array, list[Array]]:
        """Return rows with new ones among them, by the times that are first; and their places.

        Rows of equal times stay in the order in which they came.
        """
        xp = self._backend.xp
        places = xp.arange(len(new[0]))
        if not len(old[0]):
            return places, new
        places = places + xp.searchsorted(old[0], new[0], side="right")
        is_old = xp.ones(len(old[0]) + len(places), bool)
        is_old[places] = False
        merged = []
        for some, more in zip(old, new, strict=True):
            both = xp.empty(len(is_old), some.dtype)
            both[is_old], both[places] = some, more
            merged.append(both)
        return places, merged

    def _rebuild(self, new: list[Array], ends: list[Array]) -> Array:
        """Move the rows that are left to new buffers, others among them; return their places."""
        xp, kept = self._backend.xp, slice(self._first, self._size)
        buffers = [*self._times, *self._ends[:2]]
        places, merged = self._merged([buffer[kept] for buffer in buffers], [*new, *ends])
        size = len(merged[0])
        room = size + ROOM
        for number, values in enumerate(merged):
            buffers[number] = xp.zeros(size + room, values.dtype)
            buffers[number][:size] = values
        self._times, self._ends = buffers[:3], [*buffers[3:], xp.zeros(size + room, "uint32")]
        self._first, self._size = 0, size
        codes, seen = (buffer[:size] for buffer in self._times[:2])
        self._ends[2][:size] = xp.searchsorted(seen, codes)
        used = np.zeros(len(self._numbers), bool)
        for end in self._ends[:2]:
            used[self._backend.host(end[:size])] = True
        self._numbers.keep(used)
        self._most_vertices = len(self._numbers) + 2 * room
        self._lists = self._engine.keep_rows(self._rows(), self.window.columns, room)
        return places

    def _rows(self) -> TimedRows:
        src, dst, first = (end[: self._size] for end in self._ends)
        return TimedRows(src, dst, first, self._most_vertices)

    def _number(self, frame: Frame) -> list[Array]:
        """Return the numbers of both ends of the rows of a frame."""
        backend, xp, labels = self._backend, self._backend.xp, self._labels
        if not labels.joined and backend.adapter.rows(frame) <= FEW:
            columns = labels.components[0].columns
            plain = [backend.adapter.plain_integers(frame, label) for label in columns]
            if all(ids is not None for ids in plain):
                ids = [each for end in plain for each in backend.host(end).tolist()]
                return list(xp.asarray(self._numbers.find(ids)).reshape(2, -1))
        edges = number_edges(frame, labels, backend)
        parts = edges.ids.columns(["vertex"], [xp.arange(edges.ids.size)])
        lists = [_listed(part) for part in parts.values()]
        ids = lists[0] if len(lists) == 1 else [*zip(*lists, strict=True)]
        number = xp.asarray(self._numbers.find(ids))
        return [number[end] for end in edges.ends]


def _listed(ids: Any) -> list[Any]:
    """Return the ids of a Series of pandas or cuDF as Python's objects."""
    listed: list[Any] = ids.to_arrow().to_pylist() if hasattr(ids, "to_arrow") else ids.tolist()
    return listed
