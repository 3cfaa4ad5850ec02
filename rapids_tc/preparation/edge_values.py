"""Values of edges, from columns of the user's rows: how rows are read, and how repeats are reduced.

A `Reading` says both, and every path follows it. In memory all rows are one chunk; out of core
each block reads all rows again, chunk by chunk; on a cluster each batch sends the rows of a block
to the machine that has the block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rapids_tc._arguments import warn_user
from rapids_tc.frames.backend import sum64
from rapids_tc.preparation.extremes import floats, ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc._typing import Array, ArrayModule, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.orient import Order
    from rapids_tc.preparation.readers import Reader, VertexReader

Readers = tuple["Reader", ...]
Columns = Sequence["Series"]  # the same part of the column of each reader

PICKS = ("first", "last")
SUMS = ("sum", "mean")
EXTREMES = {"min": inf, "max": -inf}  # and what any value is below, or above
AGGREGATES = (*PICKS, *SUMS, *EXTREMES)
DOWN, UP = 1, 2  # bits of a state: a row leads from the larger rank to the smaller, or back
APART = 4  # one more bit of a state: neither end of the edge is chosen


def check_aggregate(
    aggregate: object, accepted: tuple[str, ...] = AGGREGATES, none: str = "rows must agree"
) -> None:
    """Raise ValueError unless `aggregate` is None or one of the accepted names.

    `none` says what None stands for.
    """
    if aggregate is not None and not (isinstance(aggregate, str) and aggregate in accepted):
        names = ", ".join(f'"{name}"' for name in accepted)
        raise ValueError(f"aggregate={aggregate!r}; accepted: {names}, None ({none})")


class EdgeError(Exception):
    """An edge whose rows are unusable; each path adds the ids, and raises ValueError.

    Attributes
    ----------
    position : int
        The position of the edge in ``csr.columns`` of its graph or block.
    direction : int
        `DOWN` or `UP` if the rows of one direction are meant; else 0.
    message : str
        What is wrong, with ``{edge}`` in place of the ids.
    """

    def __init__(self, position: int, direction: int, message: str) -> None:
        super().__init__(position, direction, message)
        self.position, self.direction, self.message = position, direction, message

    def of_arc(self, edges: int) -> EdgeError:
        """Return the error of an edge in one direction; the position is that of `EdgeRows.arcs`."""
        return EdgeError(self.position % edges, (DOWN, UP)[self.position // edges], self.message)

    def with_ids(self, larger: Any, smaller: Any) -> ValueError:
        """Return the error for users; the ids are of the larger and of the smaller rank."""
        pair = {
            0: f"{min(larger, smaller)}, {max(larger, smaller)}",
            DOWN: f"{larger} -> {smaller}",
            UP: f"{smaller} -> {larger}",
        }[self.direction]
        return ValueError(self.message.replace("{edge}", pair))


@dataclass(frozen=True)
class EdgeRows:
    """Rows of a frame whose edges lie in one graph or block, in the order of the frame.

    Attributes
    ----------
    edge : array of int64
        The position of each row's edge in ``csr.columns``; -1 for a self loop, if the rule takes
        them.
    reverse : array of bool or None
        Whether the source has the smaller rank; None if no direction is asked for.
    values : tuple of array
        What each reader has read from each row.
    """

    edge: Array
    reverse: Array | None
    values: tuple[Array, ...]

    def without_loops(self) -> EdgeRows:
        """Return the rows that have an edge."""
        inside = self.edge >= 0
        if sum64(inside) == len(inside):
            return self
        reverse = None if self.reverse is None else self.reverse[inside]
        return EdgeRows(
            self.edge[inside], reverse, tuple(of_rows[inside] for of_rows in self.values)
        )

    def both_ways(self, backend: Backend) -> EdgeRows:
        """Return each row in both directions, if the source of the frame says that edges have none.

        Without `reverse`, directions are not asked for, and rows are returned as they are.
        """
        if self.reverse is None or not backend.adapter.undirected:
            return self
        join = backend.xp.concatenate
        edge, reverse = join([self.edge] * 2), join([self.reverse, ~self.reverse])
        return EdgeRows(edge, reverse, tuple(join([values] * 2) for values in self.values))

    def arcs(self, edges: int) -> EdgeRows:
        """Return the rows by arc: those down have the places of edges, those up are behind them."""
        return EdgeRows(_slots(self, edges), None, self.values)

    def column(self, place: int) -> EdgeRows:
        """Return the rows with the values of one reader alone."""
        return EdgeRows(self.edge, self.reverse, self.values[place : place + 1])


# Rows of one edge ---------------------------------------------------------------------------------


class Rule(ABC):
    """How the rows of an edge become its values.

    Attributes
    ----------
    directed : bool
        Whether rows are asked for their direction.
    ordered : bool
        Whether the answer depends on the order of the rows.
    takes_loops : bool
        Whether rows of self loops, whose edge is -1, may come, too, and are left out.
    bytes : int
        Bytes of all values of an edge.
    arcs : {"", "cycle", "flow"}
        Which directed triangles count, if each arc of an edge has values of its own, in the order
        of `EdgeRows.arcs`.
    """

    directed: bool
    takes_loops = False
    arcs: str = ""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether the answer depends on the order of the rows."""

    @property
    @abstractmethod
    def bytes(self) -> int:
        """Bytes of all values of an edge."""

    @abstractmethod
    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """Return the arrays of a graph or block of so many edges, from all rows of its edges.

        `readers` are those of the reading, which are resolved.
        """

    def with_end_types(
        self, arrays: list[Array], larger: Array, smaller: Array, xp: ArrayModule
    ) -> list[Array]:
        """Return the arrays of some edges, once the types of both of their ends are known."""
        return arrays


@dataclass(frozen=True)
class Directions(Rule):
    """The state of an edge, uint8: `DOWN`, `UP`, or both."""

    directed = True
    ordered = False
    bytes = 1

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """Return the states."""
        seen = backend.xp.zeros(2 * edges, bool)
        for rows in chunks:
            seen[_slots(rows, edges)] = True
        return [_states(seen, edges)]


@dataclass(frozen=True)
class EndTypes(Rule):
    """The types of both ends of an edge, for which no row is read."""

    directed = False
    ordered = False
    bytes = 2

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """Return no array."""
        return []

    def with_end_types(
        self, arrays: list[Array], larger: Array, smaller: Array, xp: ArrayModule
    ) -> list[Array]:
        """See `Rule`."""
        return [larger, smaller]


@dataclass(frozen=True)
class OfRows(Rule):
    """Values that rows keep for themselves: no edge gets one."""

    directed = False
    ordered = False
    bytes = 0

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """Return no array."""
        return []


@dataclass(frozen=True)
class Reduced(Rule):
    """One value of each edge, or of each direction of an edge, from the values of its rows.

    Attributes
    ----------
    aggregate : str or None
        One of `AGGREGATES`; None if rows must agree.
    directed : bool
        Whether each direction has its own value.
    dtype : str
        Of the values; integers if `aggregate` is None or one of `PICKS` alone.
    """

    aggregate: str | None = None
    directed: bool = False
    dtype: str = "float64"

    @property
    def ordered(self) -> bool:
        """See `Rule`."""
        return self.aggregate in PICKS

    @property
    def bytes(self) -> int:
        """See `Rule`."""
        width = np.dtype(self.dtype).itemsize
        return 2 * width + 1 if self.directed else width

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """Return the values; with directions the values down, the values up, and the states.

        The value of a direction without a row is 0.

        Raises
        ------
        EdgeError
            Rows disagree, and no aggregate says what to do; or their sum is infinite.
        """
        table, [reader] = _Table.of(self, edges, backend), readers
        for rows in chunks:
            [of_rows] = rows.values
            table.add(_slots(rows, edges), of_rows, edges, reader)
        values = table.result()
        if self.aggregate in SUMS:
            self._require_finite(values, edges, reader, backend)
        if not self.directed:
            return [values]
        return [values[:edges], values[edges:], _states(table.seen, edges)]

    def _require_finite(self, values: Array, edges: int, reader: Any, backend: Backend) -> None:
        """Raise EdgeError if finite values of rows have added up to an infinite one."""
        infinite = ~backend.xp.isfinite(values)
        if sum64(infinite):
            place = int(infinite.argmax())
            raise EdgeError(
                place % edges,
                self.direction_of(place, edges),
                f"{reader.role}={reader.label!r}: the rows of the edge {{edge}} add up to more "
                "than float64 holds: divide the column first",
            )

    def direction_of(self, place: int, edges: int) -> int:
        """Return the direction that a place in a table stands for; 0 without directions."""
        return (DOWN, UP)[place // edges] if self.directed else 0


@dataclass
class _Table:
    """The values of edges, or of their directions, while rows are added."""

    rule: Reduced
    values: Array  # as `ordered` makes them if the least or the largest is asked for
    seen: Array
    rows: Array | None  # of each edge, to divide by
    backend: Backend

    @classmethod
    def of(cls, rule: Reduced, edges: int, backend: Backend) -> _Table:
        """Return the table without rows."""
        xp, size = backend.xp, edges * (1 + rule.directed)
        if rule.aggregate in EXTREMES:
            values = ordered(xp.full(size, EXTREMES[rule.aggregate]))
        else:
            values = xp.zeros(size, rule.dtype)
        rows = xp.zeros(size, "int64") if rule.aggregate == "mean" else None
        return cls(rule, values, xp.zeros(size, bool), rows, backend)

    def add(self, slot: Array, values: Array, edges: int, reader: Reader) -> None:
        """Add rows, which come after all rows before."""
        xp, aggregate = self.backend.xp, self.rule.aggregate
        if aggregate is None:
            self._agree(slot, values, edges, reader)
        elif aggregate in PICKS:
            passed_over = self._duplicated(slot, aggregate)
            if aggregate == "first":
                passed_over |= self.seen[slot]
            picked = ~passed_over
            self.values[slot[picked]] = values[picked]
        elif aggregate in EXTREMES:
            extreme = xp.minimum if aggregate == "min" else xp.maximum
            extreme.at(self.values, slot, ordered(values))
        else:
            self.values += xp.bincount(slot, values, len(self.values))
            if self.rows is not None:
                self.rows += xp.bincount(slot, minlength=len(self.rows))
        self.seen[slot] = True

    def result(self) -> Array:
        """Return the values; 0 without a row."""
        if self.rows is not None:
            self.values /= self.backend.xp.maximum(self.rows, 1)
        elif self.rule.aggregate in EXTREMES:
            self.values = floats(self.values)
            self.values[~self.seen] = 0
        return self.values

    def _agree(self, slot: Array, values: Array, edges: int, reader: Reader) -> None:
        new = ~self.seen[slot]
        self.values[slot[new]] = values[new]
        del new
        differs = self.values[slot] != values
        if not sum64(differs):
            return
        row = int(differs.argmax())
        place = int(slot[row])
        pair = " and ".join(map(reader.show, sorted([self.values[place], values[row]])))
        raise EdgeError(
            place % edges,
            self.rule.direction_of(place, edges),
            f"{reader.role}={reader.label!r}: the rows of the edge {{edge}} say {pair}; "
            "aggregate= says which value the edge gets",
        )

    def _duplicated(self, slot: Array, keep: str) -> Array:
        series = self.backend.library.Series(slot)
        return self.backend.array(series.duplicated(keep=keep)).copy()


def _slots(rows: EdgeRows, edges: int) -> Array:
    """Return the place of each row's edge, or of each row's direction of the edge."""
    return rows.edge if rows.reverse is None else rows.edge + edges * rows.reverse


def _states(seen: Array, edges: int) -> Array:
    down, up = seen[:edges].astype("uint8"), seen[edges:].astype("uint8")
    up *= UP
    up += down
    return up


# Readings -----------------------------------------------------------------------------------------


def _unchanged(arrays: list[Array], largest: Any, xp: Any) -> list[Array]:
    return arrays


@dataclass(frozen=True)
class Reading:
    """What is read from the user's rows, and which arrays, with a value per edge, it becomes.

    Attributes
    ----------
    rule : Rule
        How the rows of an edge become its values.
    readers : tuple of Reader
        The columns; none if rows are only asked for their direction.
    formula : callable
        (arrays of the rule, largest value, array module) to the arrays of the reading. A function
        at the top of a module, for it travels between machines.
    scaled : bool
        Whether the formula uses the largest value of the graph, in any array of the rule but the
        states. Without an edge it is 0.0. If the graph has groups, the formula gets an array: for
        each edge the largest value of its group.
    vertex_types : VertexReader or None
        Types of vertices: each edge gets the types of its ends.
    chosen : VertexReader or None
        Vertices that the user chooses: the states of edges, which are the first array, say which
        edges are `APART` from them.
    """

    rule: Rule
    readers: Readers = ()
    formula: Callable[[list[Array], Any, Any], list[Array]] = _unchanged
    scaled: bool = False
    vertex_types: VertexReader | None = None
    chosen: VertexReader | None = None

    @property
    def names_vertices(self) -> bool:
        """Whether the reading names vertices, which are found in each graph by `of_graph`."""
        return self.vertex_types is not None or self.chosen is not None

    def of_graph(self, ids: Ids, order: Order) -> Reading:
        """Return the reading with the vertices that it names found in a graph."""
        types, chosen = (
            None if reader is None else reader.resolve(ids, order)
            for reader in (self.vertex_types, self.chosen)
        )
        return replace(self, vertex_types=types, chosen=chosen)

    def with_ends(
        self, arrays: list[Array], larger: Array, smaller: Array, xp: ArrayModule
    ) -> list[Array]:
        """Return the arrays of some edges with what is known of their ends, by the ranks of these.

        `of_graph` comes first.
        """
        if self.vertex_types is not None:
            codes = self.vertex_types.codes
            return self.rule.with_end_types(arrays, codes[larger], codes[smaller], xp)
        chosen: Any = self.chosen and self.chosen.codes
        apart = ~(chosen[larger] | chosen[smaller])
        return [arrays[0] + apart.astype("uint8") * APART, *arrays[1:]]

    @property
    def types(self) -> Any:
        """The types, sorted, of a resolved reading of types."""
        return (self.vertex_types or cast("Any", self.readers[0])).types

    @property
    def remarks(self) -> list[str]:
        """What users are told of what was read, once it is resolved, in sentences."""
        of_vertices = [] if self.vertex_types is None else self.vertex_types.remarks
        return [*of_vertices, *(remark for reader in self.readers for remark in reader.remarks)]

    def told(self) -> Reading:
        """Give users the remarks of a resolved reading as warnings; return it."""
        warn_user(self.remarks)
        return self

    @property
    def of_rows(self) -> bool:
        """Whether rows are read at all, or asked for their direction."""
        return bool(self.readers) or self.rule.directed

    @property
    def by_group(self) -> bool:
        """Whether a reader needs the group of each row, if there are groups."""
        return any(reader.by_group for reader in self.readers)

    @property
    def label(self) -> Any:
        """The first column that is read; None if there is none."""
        return self.readers[0].label if self.readers else None

    def profile(
        self, columns: Columns, first: int, backend: Backend, groups: Array | None = None
    ) -> list[Any]:
        """Profile a part of all columns, each by its reader; see `Reader`."""
        both = zip(self.readers, columns, strict=True)
        return [reader.profile(column, first, backend, groups) for reader, column in both]

    def resolved(self, profiles: list[list[Any]]) -> Reading:
        """Return the reading with the readers that the profiles of all parts give."""
        if not self.readers:
            return self
        both = zip(self.readers, zip(*profiles, strict=True), strict=True)
        return replace(self, readers=tuple(reader.resolve([*own]) for reader, own in both))

    def whole(self, columns: Columns, backend: Backend, groups: Array | None = None) -> Reading:
        """Return the reading with the readers for columns of which there are no other parts."""
        both = zip(self.readers, columns, strict=True)
        readers = tuple(reader.whole(column, backend, groups) for reader, column in both)
        return replace(self, readers=readers)

    def read(
        self, columns: Columns, backend: Backend, groups: Array | None = None
    ) -> tuple[Array, ...]:
        """Read a part of all columns of a reading that is resolved; see `Reader`."""
        both = zip(self.readers, columns, strict=True)
        return tuple(reader.read(column, backend, groups) for reader, column in both)

    def collect(self, chunks: Iterable[EdgeRows], edges: int, backend: Backend) -> list[Array]:
        """Return the arrays of the rule, for a graph or block of so many edges."""
        return self.rule.collect(chunks, edges, self.readers, backend)

    def largest(self, arrays: list[Array]) -> float:
        """Return the largest value of a graph or block."""
        values = arrays[:-1] if self.rule.directed else arrays
        return max((float(part.max()) for part in values if len(part)), default=0.0)

    def largest_by_group(self, arrays: list[Array], group: Array, groups: int, xp: Any) -> Array:
        """Return the largest value of each group in a graph or block; 0.0 without an edge.

        `group` is the group of each edge.
        """
        largest = ordered(xp.zeros(groups))
        for values in arrays[:-1] if self.rule.directed else arrays:
            xp.maximum.at(largest, group, ordered(values))
        return floats(largest)


UNREAD = Reading(EndTypes())  # of values that do not come from rows
