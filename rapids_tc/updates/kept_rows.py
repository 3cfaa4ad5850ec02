"""The rows that a window of time keeps, in the order of time, and what is counted of new ones.

A row has the number of its place. New rows go behind the others; if some are earlier than rows that
are there, these are taken out and come again behind them. Rows that are too old stay in front until
the buffers are full: then the rows that are left move to new ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rapids_tc.engines import registry
from rapids_tc.engines.as_of import TimedRows
from rapids_tc.errors import CapacityError
from rapids_tc.frames.adapters import to_host
from rapids_tc.plan import costs
from rapids_tc.preparation.numbering import number_edges
from rapids_tc.preparation.times import joined_profile, plain_times, profile_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Frame
    from rapids_tc.engines.protocol import IdNumbers
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.times import Length, TimeColumn

    # Of new rows: the first, and all if older ones are between.
    Places = tuple[int, Array | None]

ROOM = 1 << 12  # rows that buffers have room for, at least
MOST = costs.MOST_TIMED_ROWS // 8  # rows whose entries, with room for more, have 32 bits
FEW = 1 << 13  # rows whose integers are looked up, and times read, in the memory of the host


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
        plain = plain_times(frame, self.time, backend)
        if plain is None:
            column = backend.to_working_series(backend.adapter.column(frame, self.time))
            profile = profile_times(column, self.time, None, backend, distinct=False)
            times, _ = joined_profile([profile])
            plain = times, times.codes(column, backend)
        if plain[0].kind != "empty":
            _ = plain[0].amount(self.within), plain[0].amount(self.lateness)
        return plain


class VertexNumbers:
    """The numbers of any ids, in a dict: see `rapids_tc.engines.protocol.IdNumbers`.

    A number whose vertex has left is given to another.
    """

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

    def keep(self, numbers: list[Array], room: int) -> list[Array]:
        """Forget the ids of other numbers; these stay as they are."""
        used = np.zeros(len(self), bool)
        for some in numbers:
            used[to_host(some)] = True
        for number in np.flatnonzero(~used).tolist():
            if self._number.get(self._ids[number]) == number:
                del self._number[self._ids[number]]
                self._free.append(number)
        return numbers


class NewRows(NamedTuple):
    """Rows of a frame that come, and their times.

    Attributes
    ----------
    frame : DataFrame
    codes : array of int64
        The code of each time.
    seen : array of int64
        The code of the latest time that sees each row.
    until : array of int64
        The code of the newest time up to which each row stays.
    at_hand : array of int64
        The codes, of few rows in the memory of the host: each question to a GPU is waited for.
    """

    frame: Frame
    codes: Array
    seen: Array
    until: Array
    at_hand: Array


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
        self._labels, self._backend = labels, backend
        self._engine = registry.load(backend.engine)
        self._numbers: IdNumbers | None = None  # of the kind of ids that the first rows have
        self._lists: Any = None  # what the engine keeps of the rows
        none = backend.xp.zeros(0, "int64")
        self._times = [none, none, none]  # of each row: code, seen, until
        self._ends = [none.astype("uint32")] * 3  # source, destination, first row of the window
        self._first = self._size = 0  # the rows that are there are those between
        self.newest: int | None = None  # the code of the latest time

    @property
    def some_array(self) -> Array:
        """An array in the memory where the rows are."""
        return self._times[0]

    def __len__(self) -> int:
        return self._size - self._first

    def new_rows(self, frame: Frame, codes: Array, times: TimeColumn) -> NewRows:
        """Return the rows of a frame with what follows from their times."""
        window, xp = self.window, self._backend.xp
        at_hand = self._backend.host(codes) if len(codes) <= FEW else codes
        if times.kind == "empty":
            return NewRows(frame, codes, codes, codes, at_hand)
        seen = times.latest(codes, window.within, xp)
        until = times.latest(codes, window.stay, xp)  # lengths may have parts of a unit each
        if times.kind == "float":  # a sum of lengths may be too small
            until = xp.maximum(until, times.latest(seen, window.lateness, xp))
        return NewRows(frame, codes, seen, until, at_hand)

    def are_late(self, new: NewRows, times: TimeColumn) -> Array:
        """Return which rows come too late, where their times are at hand."""
        xp = np if isinstance(new.at_hand, np.ndarray) else self._backend.xp
        if self.newest is None:
            return xp.zeros(len(new.codes), bool)
        return times.latest(new.at_hand, self.window.lateness, xp) < self.newest

    def add(self, new: NewRows, *, count: bool) -> Array | None:
        """Add rows, none of which is late; return the columns of the window.

        Raises
        ------
        IdTypeError, NullIdError
            An id cannot name a vertex.
        CapacityError
            There are too many rows.
        """
        xp, order, size = self._backend.xp, None, len(new.codes)
        if not size:
            return xp.zeros((len(self.window.columns), 0), "int64")
        if len(self) + size > MOST:
            raise CapacityError(
                f"{len(self) + size:,} rows in a window, and at most {MOST:,} are kept: shorten "
                "within="
            )
        columns = [new.codes, new.seen, new.until, *self._number(new.frame)]
        if bool((new.at_hand[1:] < new.at_hand[:-1]).any()):
            order = xp.argsort(new.codes, kind="stable")
            columns = [values[order] for values in columns]
        earliest, newest = int(new.at_hand.min()), int(new.at_hand.max())
        self.version = None  # until the end
        move = self._put if self._has_room(size) else self._rebuild
        since, places = move(columns, earliest)
        if self._lists is None:  # they had no room
            since -= self._first
            self._rebuild([values[:0] for values in columns], earliest)
        counts: Array | None = None
        if count:
            counts = self._lists.counts(since)
            if places is not None:
                counts = counts[:, places]
            if order is not None:
                by_row = xp.empty_like(counts)
                by_row[:, order] = counts
                counts = by_row
        self.newest = newest if self.newest is None else max(newest, self.newest)
        seen_until = self._times[2][self._first : self._size]
        self._first += int(xp.searchsorted(seen_until, xp.asarray([self.newest]))[0])
        self.version = object()
        return counts

    def _has_room(self, size: int) -> bool:
        """Return whether so many rows, whose ids have numbers, find room behind the others."""
        if self._lists is None or self._size + size > len(self._times[0]):
            return False
        return len(self._numbers) <= self._most_vertices  # type: ignore[arg-type]

    def _put(self, new: list[Array], earliest: int) -> Places:
        """Put rows behind the others, or among them; return their places."""
        xp, begin, end = self._backend.xp, self._size, self._size + len(new[0])
        if earliest < self.newest:  # type: ignore[operator]
            codes = self._times[0][self._first : self._size]
            begin = self._first + int(xp.searchsorted(codes, new[0][:1], side="right")[0])
            self._lists.drop(begin)
        buffers = [*self._times, *self._ends[:2]]
        old = [buffer[begin : self._size] for buffer in buffers]
        since, places, merged = self._merged(old, new, earliest)
        for buffer, values in zip(buffers, merged, strict=True):
            buffer[begin:end] = values
        codes, seen = self._times[0][begin:end], self._times[1][self._first : end]
        self._ends[2][begin:end] = xp.searchsorted(seen, codes) + self._first
        self._size = end
        if not self._lists.add(self._rows(), self._first):
            self._lists = None
        return begin + since, places

    def _merged(
        self, old: list[Array], new: list[Array], earliest: int
    ) -> tuple[int, Array | None, list[Array]]:
        """Merge new rows with older ones by the times that are first; return their places, and all.

        Rows of equal times stay in the order in which they came. Places: see `Places`.
        """
        xp = self._backend.xp
        if not len(old[0]) or not len(new[0]):
            return len(old[0]), None, old if len(old[0]) else new
        if earliest >= self.newest:  # type: ignore[operator]
            merged = [xp.concatenate(both) for both in zip(old, new, strict=True)]
            return len(old[0]), None, merged
        places = xp.arange(len(new[0])) + xp.searchsorted(old[0], new[0], side="right")
        is_old = xp.ones(len(old[0]) + len(places), bool)
        is_old[places] = False
        merged = []
        for some, more in zip(old, new, strict=True):
            both = xp.empty(len(is_old), some.dtype)
            both[is_old], both[places] = some, more
            merged.append(both)
        since = int(places[0])
        return since, places - since, merged

    def _rebuild(self, new: list[Array], earliest: int) -> Places:
        """Move the rows that are left to new buffers, others among them; return their places."""
        xp, kept = self._backend.xp, slice(self._first, self._size)
        old = [buffer[kept] for buffer in (*self._times, *self._ends[:2])]
        since, places, merged = self._merged(old, new, earliest)
        size = len(merged[0])
        room = size + ROOM
        numbers: IdNumbers = self._numbers  # type: ignore[assignment]
        merged[3:] = numbers.keep(merged[3:], 2 * room)
        self._most_vertices = len(numbers) + 2 * room
        buffers = [xp.zeros(size + room, values.dtype) for values in merged]
        for buffer, values in zip(buffers, merged, strict=True):
            buffer[:size] = values
        self._times, self._ends = buffers[:3], [*buffers[3:], xp.zeros(size + room, "uint32")]
        self._first, self._size = 0, size
        codes, seen = (buffer[:size] for buffer in self._times[:2])
        self._ends[2][:size] = xp.searchsorted(seen, codes)
        self._lists = self._engine.keep_rows(self._rows(), self.window.columns, room)
        return since, places

    def _rows(self) -> TimedRows:
        src, dst, first = (end[: self._size] for end in self._ends)
        return TimedRows(src, dst, first, self._most_vertices)

    def _number(self, frame: Frame) -> list[Array]:
        """Return the numbers of both ends of the rows of a frame."""
        backend, labels, ids = self._backend, self._labels, None
        plain = None if labels.joined else self._plain_words(frame)
        if self._numbers is None:
            table = None if plain is None else self._engine.number_ids()
            self._numbers = VertexNumbers() if table is None else table
        in_dict = isinstance(self._numbers, VertexNumbers)
        if plain is not None and not (in_dict and len(plain) > 2 * FEW):
            ids = backend.host(plain).tolist() if in_dict else plain
            return list(backend.xp.asarray(self._numbers.find(ids)).reshape(2, -1))
        edges = number_edges(frame, labels, backend)
        parts = edges.ids.columns(["vertex"], [backend.xp.arange(edges.ids.size)])
        lists = [_listed(part) for part in parts.values()]
        ids = lists[0] if len(lists) == 1 else [*zip(*lists, strict=True)]
        number = backend.xp.asarray(self._numbers.find(ids))
        return [number[end] for end in edges.ends]

    def _plain_words(self, frame: Frame) -> Array | None:
        """Return both ends of all rows, one after another, as integers of 64 bits; or None."""
        columns = self._labels.components[0].columns
        ends = [self._backend.adapter.plain_integers(frame, label) for label in columns]
        if any(end is None for end in ends):
            return None
        dtype = np.result_type(*(end.dtype for end in ends))  # type: ignore[union-attr]
        if dtype.kind not in "iu":  # no integer holds both
            return None
        xp, size = self._backend.xp, len(ends[0])  # type: ignore[arg-type]
        words = xp.empty(2 * size, f"{dtype.kind}8")
        words[:size], words[size:] = (xp.asarray(end) for end in ends)
        return words


def _listed(ids: Any) -> list[Any]:
    """Return the ids of a Series of pandas or cuDF as Python's objects."""
    listed: list[Any] = ids.to_arrow().to_pylist() if hasattr(ids, "to_arrow") else ids.tolist()
    return listed
