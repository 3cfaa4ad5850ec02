"""Types, signs and times of rows → the codes of edges that decide which triangles are of a kind.

A code is the set of what the rows of an edge offer: see `rapids_tc.preparation.code_tables`. With
times, the rows offer it while they are present: then an edge has intervals of windows, as in
`rapids_tc.preparation.intervals`, each with the code of what its rows offer there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from numbers import Number
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rapids_tc.errors import shown
from rapids_tc.kernels import raw_rows
from rapids_tc.preparation.code_tables import SIGNS, SLOTS, CodeTable, code_table
from rapids_tc.preparation.edge_values import PICKS, EdgeError, EdgeRows, Readers, Reduced, Rule
from rapids_tc.preparation.intervals import coded, merged
from rapids_tc.preparation.type_readers import Signs, TypeReader, require_signs
from rapids_tc.preparation.vertex_types import VertexTypes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rapids_tc._typing import Array, ArrayModule, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.orient import Order
    from rapids_tc.preparation.type_readers import TypeProfile

Types = tuple[Any, Any, Any]  # three types, of which None stands for any
FEW = 5  # types that a remark names
DTYPES = "uint64", "uint8", "float64"  # of what is read: windows, slots and signs


def slots_of(types: Series, asked: Types, xp: ArrayModule) -> Array:
    """Return the slots (uint8) that each of some types may fill among those that are asked for."""
    values = types.to_pandas() if hasattr(types, "to_pandas") else types
    slots = [
        sum(1 << place for place, each in enumerate(asked) if each is None or bool(each == value))
        for value in values.tolist()
    ]
    return xp.asarray(np.array(slots, "uint8"))


def require_kinds(asked: Types, types: Series, name: str) -> None:
    """Raise ValueError if a type is text and those of the edges are numbers, or the like."""
    kinds = {_kind(value) for value in _listed(types)}
    for each in asked:
        if each is not None and kinds and (kind := _kind(each)) not in kinds:
            raise ValueError(
                f"types={shown(asked)}: {shown(each)} is {kind}, and {name} holds {types.dtype}"
            )


def remarks_on(asked: Types, types: Series, name: str) -> list[str]:
    """Return a sentence for each type that is asked for, and that no edge or vertex has."""
    listed = _listed(types)
    more = ", …" * (len(listed) > FEW)
    has = ", ".join(map(shown, listed[:FEW])) + more
    absent = [each for each in dict.fromkeys(asked) if each is not None and each not in listed]
    return [
        f"types={shown(asked)}: nothing has the type {shown(each)}, so that no triangle counts; "
        f"{name} has {has}"
        for each in absent
        if listed
    ]


def _listed(types: Series) -> list[Any]:
    """Return types as objects of Python."""
    values = types.to_pandas() if hasattr(types, "to_pandas") else types
    listed: list[Any] = values.tolist()
    return listed


def _kind(value: Any) -> str:
    """Say what a type is, as far as values of one kind may be equal, and others are not."""
    kinds = (str, "text"), (Number | np.bool_, "a number"), (date | np.datetime64, "a date")
    known = (words for kind, words in kinds if isinstance(value, kind))
    return next(known, f"a {type(value).__name__}")


@dataclass(frozen=True)
class SlotReader(TypeReader):
    """A column of types, which are read as the slots (uint8) that they may fill.

    Attributes
    ----------
    asked : tuple
        The three types that are asked for.
    """

    asked: Types = (None, None, None)

    @property
    def remarks(self) -> list[str]:
        """See `Reader`."""
        return remarks_on(self.asked, self.types, f"{self.role}={self.label!r}")

    def resolve(self, profiles: list[TypeProfile]) -> SlotReader:
        """See `Reader`; ValueError if a type that is asked for is of another kind than all."""
        found = cast("SlotReader", super().resolve(profiles))
        require_kinds(self.asked, found.types, f"{self.role}={self.label!r}")
        return found

    def read(self, column: Series, backend: Backend, groups: Array | None = None) -> Array:
        """See `Reader`."""
        return slots_of(self.types, self.asked, backend.xp)[super().read(column, backend)]


@dataclass(frozen=True, eq=False)
class SlotsOfVertices(VertexTypes):
    """The slots (uint8) that the type of every vertex may fill.

    Attributes
    ----------
    asked : tuple
        The three types that are asked for.
    """

    asked: Types = (None, None, None)

    @property
    def remarks(self) -> list[str]:
        """See `VertexReader`."""
        return remarks_on(self.asked, self.types, "vertex_type=")

    def resolve(self, ids: Ids, order: Order) -> SlotsOfVertices:
        """See `VertexTypes`; ValueError if a type that is asked for is of another kind than all."""
        found = super().resolve(ids, order)
        require_kinds(self.asked, found.types, "vertex_type=")
        slots = slots_of(found.types, self.asked, ids.backend.xp)
        return replace(self, source=None, types=found.types, codes=slots[found.codes])


@dataclass(frozen=True)
class Entries(Rule):
    """The codes of edges: uint8. With times the intervals of edges, and a code of each.

    Attributes
    ----------
    types : {"", "edge", "vertex"}
        What has types, if types are asked for.
    signs : {"", "+", "-"}
        The product of signs that is asked for, if one is.
    timed : bool
        Whether times are read: before types of edges, and these before signs.
    aggregate : str, optional
        How the rows of an edge settle its type and its sign; None if each row has its own.
    arcs : {"", "cycle", "flow"}
        See `Rule`: with it, all is of arcs, and what follows says edges of these.
    """

    types: str = ""
    signs: str = ""
    timed: bool = False
    aggregate: str | None = None
    arcs: str = ""

    @property
    def directed(self) -> bool:  # type: ignore[override]
        """See `Rule`."""
        return bool(self.arcs)

    @property
    def ordered(self) -> bool:
        """See `Rule`."""
        return self.aggregate in PICKS and (self.types == "edge" or bool(self.signs))

    @property
    def bytes(self) -> int:
        """See `Rule`: with times, if no edge has a second interval."""
        return (17 if self.timed else 1) * (2 if self.arcs else 1)

    @property
    def table(self) -> CodeTable:
        """Which codes go together."""
        return code_table(self.types, self.signs, self._mark)

    @property
    def _mark(self) -> int:
        """1 if a bit says that an arc has a row, since nothing else does."""
        return int(bool(self.arcs) and not (self.timed or self.signs or self.types == "edge"))

    @property
    def row_bits(self) -> int:
        """The bits of a code that rows give: the lowest."""
        signs = SIGNS if self.signs else self._mark
        return SLOTS * max(signs, 1) if self.types == "edge" else signs

    def collect(
        self, chunks: Iterable[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        """Return the codes; with times first, last and offsets of intervals, and their codes."""
        if not self.arcs:
            return self._collect([*chunks], edges, readers, backend)
        try:
            arcs = [rows.arcs(edges) for rows in chunks]
            return self._collect(arcs, 2 * edges, readers, backend)
        except EdgeError as error:
            raise error.of_arc(edges) from None

    def _collect(
        self, chunks: list[EdgeRows], edges: int, readers: Readers, backend: Backend
    ) -> list[Array]:
        rows, xp = self._joined(chunks, backend.xp), backend.xp
        if not self.timed:
            return [self._of_edges(rows, edges, readers, backend)]
        windows, *values = rows.values
        rows, readers = replace(rows, values=tuple(values)), readers[1:]
        if self.aggregate is None and self.row_bits:
            of_rows = self._of_rows(rows, readers)
            intervals, codes = coded(rows.edge, windows, of_rows, edges, backend)
            first, last, offsets = intervals
        else:
            codes = self._of_edges(rows, edges, readers, backend)
            first, last, offsets = merged(rows.edge, windows, edges, backend)
            if offsets is not None:
                codes = _of_intervals(codes, offsets, len(first), xp)
        return [first, last, xp.zeros(0, "int64") if offsets is None else offsets, codes]

    def _of_edges(self, rows: EdgeRows, edges: int, readers: Readers, backend: Backend) -> Array:
        """Return the codes of edges, from the types and signs of their rows."""
        xp = backend.xp
        codes = xp.zeros(edges, "uint8")
        if not self.row_bits:
            return codes
        if self.aggregate is not None and not self._mark:
            if not self.arcs:
                return self._settled(rows, edges, readers, backend)
            has_row = xp.zeros(edges, bool)
            has_row[rows.edge] = True
            present, place = xp.flatnonzero(has_row), xp.cumsum(has_row) - 1
            rows = replace(rows, edge=place[rows.edge])
            try:
                codes[present] = self._settled(rows, len(present), readers, backend)
            except EdgeError as error:
                at = int(present[error.position])
                raise EdgeError(at, error.direction, error.message) from None
            return codes
        of_rows = self._of_rows(rows, readers)
        if backend.engine != "cpu":
            return raw_rows.unite(backend.compile, xp, rows.edge, of_rows, edges)
        for bit in range(self.row_bits):
            offered = xp.zeros(edges, bool)
            offered[rows.edge[(of_rows >> bit & 1).astype(bool)]] = True
            codes |= offered.astype("uint8") << bit
        return codes

    def _of_rows(self, rows: EdgeRows, readers: Readers) -> Array:
        """Return the code of each row; 0 if its type fills no slot."""
        values = [*rows.values]
        slots = values.pop(0) if self.types == "edge" else None
        if not self.signs:
            return (rows.edge >= 0).astype("uint8") if slots is None else slots
        [signs] = values
        require_signs(signs, rows.edge, readers[-1])
        return _code(slots, signs > 0)

    def _settled(self, rows: EdgeRows, edges: int, readers: Readers, backend: Backend) -> Array:
        """Return the codes of edges, each of which has one type and one sign."""
        slots = positive = None
        if self.types == "edge":
            rule = Reduced(self.aggregate, dtype="uint8")
            [slots] = rule.collect([rows.column(0)], edges, readers[:1], backend)
        if self.signs:
            signs = rows.column(len(readers) - 1)
            [positive] = Signs(self.aggregate).collect([signs], edges, readers[-1:], backend)
        return slots if positive is None else _code(slots, positive)

    def with_end_types(
        self, arrays: list[Array], larger: Array, smaller: Array, xp: ArrayModule
    ) -> list[Array]:
        """See `Rule`: the slots of both ends stand above the bits of rows."""
        codes = (larger << (SLOTS + self.row_bits)) | (smaller << self.row_bits)
        if self.arcs:
            codes = xp.concatenate([codes, codes])
        if not arrays:
            return [codes]
        *intervals, of_rows = arrays
        if intervals and len(intervals[2]):
            codes = _of_intervals(codes, intervals[2], len(of_rows), xp)
        return [*intervals, codes | of_rows]

    def _joined(self, chunks: list[EdgeRows], xp: ArrayModule) -> EdgeRows:
        """Return the rows of all chunks as one."""
        if len(chunks) == 1:
            return chunks[0]
        read = self.timed, self.types == "edge", bool(self.signs)
        dtypes = [dtype for dtype, is_read in zip(DTYPES, read, strict=True) if is_read]
        none = EdgeRows(xp.zeros(0, "int64"), None, tuple(xp.zeros(0, each) for each in dtypes))
        parts = [none, *chunks]
        edge = xp.concatenate([rows.edge for rows in parts])
        columns = zip(*(rows.values for rows in parts), strict=True)
        return EdgeRows(edge, None, tuple(map(xp.concatenate, columns)))


def _code(slots: Array | None, positive: Array) -> Array:
    """Return the codes (uint8) of a sign, or of slots under a sign."""
    positive = positive.astype("uint8")
    return positive + np.uint8(1) if slots is None else slots << (SLOTS * positive)


def _of_intervals(codes: Array, offsets: Array, size: int, xp: ArrayModule) -> Array:
    """Return the code of each of so many intervals, from those of edges."""
    return codes[xp.searchsorted(offsets, xp.arange(size), side="right") - 1]
