"""Edge frame → checked, numbered edges: which columns, which rows, and the user's vertices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CapacityError, ColumnNotFoundError, IdTypeError
from rapids_tc.frames.backend import Array, Backend, Frame
from rapids_tc.preparation import moments
from rapids_tc.preparation.csr import packed_keys
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, check, look
from rapids_tc.preparation.numbering import Ids, IndexedIds, as_integers, dense_range, number

if TYPE_CHECKING:
    from collections.abc import Iterable

# Names of id columns that are found without being named, in frames and in files, the first first.
PAIRS = (
    ("src", "dst"),
    ("source", "destination"),
    ("source", "target"),
    ("from", "to"),
    ("u", "v"),
)
MAX_NUMBERS = 2**32 - 1  # ranks are uint32, and one value is kept for "none"


@dataclass(frozen=True)
class NumberedEdges:
    """The raw edges as numbers: repeats, loops and directions as the user gave them.

    Attributes
    ----------
    src, dst : arrays of an integer dtype, shape (rows + extra,)
        Behind the user's rows stands a loop for each vertex of ``Graph(vertices=)``: a vertex
        seen only in a loop and an isolated one are the same thing.
    rows : int
        How many of them are the user's own rows.
    ids : DenseIds or IndexedIds
        The way back.
    """

    src: Array
    dst: Array
    rows: int
    ids: Ids

    @property
    def ends(self) -> tuple[Array, Array]:
        return self.src, self.dst


def find_pair(labels: Iterable[Any]) -> tuple[str, str] | None:
    """Return the labels that are the first of `PAIRS`; lower-case ones go before any others.

    Raises
    ------
    ValueError
        Labels of the pair differ in upper and lower case only.
    """
    by_name: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str) and label not in by_name.get(label.lower(), ()):
            by_name.setdefault(label.lower(), []).append(label)
    for source, destination in PAIRS:
        if source in by_name.get(source, ()) and destination in by_name.get(destination, ()):
            return source, destination
    pair = next((p for p in PAIRS if p[0] in by_name and p[1] in by_name), None)
    return None if pair is None else (_spelled(by_name, pair[0]), _spelled(by_name, pair[1]))


def _spelled(by_name: dict[str, list[str]], name: str) -> str:
    spellings = by_name[name]
    if name in spellings:
        return name
    if len(spellings) > 1:
        raise ValueError(
            f"{' and '.join(map(repr, spellings))} differ in upper and lower case only: name the "
            "id columns with source= and destination="
        )
    return spellings[0]


def id_columns(labels: list[Any], source: Any, destination: Any) -> tuple[Any, Any]:
    """Choose the labels of the id columns: those named, else a pair of `PAIRS`, else the only two.

    Raises
    ------
    ColumnNotFoundError
        A named column is not there.
    ValueError
        Nothing is named and no pair can be guessed, one column is named twice, or a label is
        repeated.
    """
    if (source is None) != (destination is None):
        alone, other = ("source", "destination")[:: 1 if destination is None else -1]
        raise ValueError(f"{alone}= was given without {other}=: name both, or neither")
    if source is None:
        pair = find_pair(labels)
        if pair is None and len(labels) != 2:
            raise ValueError(
                "which columns hold the edges? Name them with source= and destination=; "
                f"the frame has {_listed(labels)}"
            )
        source, destination = pair or labels
    for role, label in (("source", source), ("destination", destination)):
        check_label(role, label, labels)
    if source == destination:
        raise ValueError(f"source and destination are the same column, {source!r}: name two")
    return source, destination


def check_label(role: str, label: Any, labels: list[Any]) -> None:
    """Raise where the argument `role` names no single column; the message lists those present."""
    try:
        known = label in set(labels)  # by hash: not everything says whether it equals another
    except TypeError:
        raise ValueError(
            f"{role}={label!r}: one column is named here; combine several into one first"
        ) from None
    if not known:
        raise ColumnNotFoundError(
            f"{role}={label!r} is not a column; the frame has {_listed(labels)}"
        )
    if labels.count(label) > 1:
        raise ValueError(
            f"the label {label!r} stands {labels.count(label)} times in the frame: rename one"
        )


def look_at_columns(
    frame: Frame, source: Any, destination: Any, backend: Backend
) -> list[IdColumn]:
    """The two id columns, told apart by what they hold; NullIdError where an id is missing."""
    return [
        look(
            backend.to_working_series(backend.adapter.column(frame, label)),
            f"column {label!r}",
            backend,
        )
        for label in (source, destination)
    ]


def size_bound(
    frame: Frame, source: Any, destination: Any, backend: Backend
) -> tuple[int, int, bool]:
    """Return the rows, the most ids there may be, and whether ids are dense, before numbering.

    Raises IdTypeError or NullIdError wherever the first checks of `number_edges` would.
    """
    columns = look_at_columns(frame, source, destination, backend)
    filled = [column for column in columns if column.kind != "empty"]
    if filled:
        check(filled)
        if filled[0].kind in NUMERIC:
            as_integers(filled, backend)
    rows, dense = len(columns[0].values), dense_range(columns, backend)
    return rows, dense[1] if dense else 2 * rows, dense is not None


def check_new(columns: Iterable[str], labels: list[Any], of: str = "the frame") -> None:
    """Raise ValueError if the frame has one of the columns already."""
    clash = [column for column in columns if column in labels]
    if clash:
        raise ValueError(f"{of} has a column {clash[0]!r} already: rename or drop it first")


@dataclass(frozen=True)
class InspectedColumns:
    """The two id columns of a frame after one look at them.

    Attributes
    ----------
    columns : list of IdColumn
    dense : tuple of int or None
        The first id and the number of ids from it on, if the ids are their own numbers.
    """

    columns: list[IdColumn]
    dense: tuple[int, int] | None


def number_edges(
    frame: Frame,
    source: Any,
    destination: Any,
    backend: Backend,
    vertices: Any = None,
    inspected: InspectedColumns | None = None,
) -> NumberedEdges:
    """Check the two id columns (and further vertices) and number their ids by value.

    `inspected` are the id columns, if they were looked at before.

    Raises
    ------
    IdTypeError
        The dtypes cannot name vertices, alone or together.
    NullIdError
        A column has nulls.
    CapacityError
        There are more distinct ids than ranks.
    """
    if inspected is None:
        inspected = InspectedColumns(look_at_columns(frame, source, destination, backend), None)
    columns = [*inspected.columns]
    if vertices is not None:
        columns.append(_added(vertices, columns, backend))
    filled = [c for c in columns if c.kind != "empty"]
    rows = len(columns[0].values)
    if not filled:
        nothing, given = backend.xp.zeros(0, "int64"), columns[0].values
        none: Ids = IndexedIds(backend.library.Index(given), given.dtype, backend, "empty")
        return NumberedEdges(nothing, nothing, 0, none)
    check(filled)
    numbers, ids = number(filled, backend, inspected.dense)
    if ids.size > MAX_NUMBERS:
        raise CapacityError(
            f"{ids.size} distinct ids; one machine numbers at most {MAX_NUMBERS}: pass fewer edges"
        )
    if vertices is not None and columns[-1].kind != "empty":
        loops = numbers.pop()
        ends = numbers or [loops[:0], loops[:0]]
        numbers = [
            backend.xp.concatenate([end.astype("uint32"), loops.astype("uint32")]) for end in ends
        ]
    return NumberedEdges(numbers[0], numbers[1], rows, ids)


def _look_at_vertices(vertices: Any, backend: Backend) -> IdColumn:
    return look(backend.series(vertices), "vertices=", backend, "drop what names no vertex")


def _added(vertices: Any, columns: list[IdColumn], backend: Backend) -> IdColumn:
    """Return further vertices as a column; datetimes get the dtype of the edges' columns."""
    added = _look_at_vertices(vertices, backend)
    dated = [c for c in columns if c.kind == "datetime"]
    if added.kind != "datetime" or not dated:
        return added
    values = added.values.astype(added.distinct.dtype)
    return replace(added, values=moments.as_added(values, dated[0].distinct.dtype), used=None)


def find_vertices(ids: Ids, vertices: Any, present: Array) -> Array:
    """The numbers (int64) of vertices that the user names: in that order, repeats once.

    Raises
    ------
    ValueError
        Some are not vertices of the graph; up to five are listed.
    IdTypeError, NullIdError
        They cannot name a vertex of this graph at all.
    """
    backend, xp = ids.backend, ids.backend.xp
    asked = _look_at_vertices(vertices, backend)
    if asked.kind == "empty":
        return xp.zeros(0, "int64")
    check([asked])
    if ids.kind not in ("empty", asked.kind) and (ids.kind, asked.kind) != ("integer", "float"):
        raise IdTypeError(
            f"vertices= has dtype {asked.values.dtype}, but the ids of the graph are {ids.kind}s: "
            "give vertices= in their dtype"
        )
    values = asked.values.astype(asked.distinct.dtype).drop_duplicates().reset_index(drop=True)
    numbers = xp.full(len(values), -1, "int64") if ids.kind == "empty" else ids.find(values)
    known = numbers >= 0
    known[known] = present[numbers[known]]
    unknown = backend.host(xp.flatnonzero(~known)).tolist()
    if unknown:
        listed = ", ".join(str(values.iloc[i]) for i in unknown[:5])
        raise ValueError(
            f"{len(unknown)} of vertices= not in the graph: {listed}{', …' * (len(unknown) > 5)}; "
            "isolated vertices are added with Graph(vertices=...)"
        )
    return numbers


def edge_keys(u: Array, v: Array, xp: Any, out: Array | None = None) -> Array:
    """Keys (uint64) smaller number << 32 | larger number, in `out` where that is given."""
    return packed_keys(xp.minimum(u, v), xp.maximum(u, v).astype("uint64"), xp, out)


def sorted_edges(u: Array, v: Array, ids: Ids) -> Frame:
    """Return a sorted frame `src`, `dst` of ids, from the numbers of both ends of every edge."""
    keys = edge_keys(u, v, ids.backend.xp)
    del u, v  # the caller holds no reference either: this frees them
    keys.sort()
    return named_edges(keys, ids)


def named_edges(keys: Array, ids: Ids) -> Frame:
    """A frame `src`, `dst` of ids from keys that `edge_keys` makes."""
    ends = {"src": ids.take(keys >> 32), "dst": ids.take(keys & 0xFFFFFFFF)}
    return ids.backend.library.DataFrame(ends)


def _listed(labels: list[Any]) -> str:
    if not labels:
        return "no columns"
    more = f" and {len(labels) - 20} more" if len(labels) > 20 else ""
    return f"the columns {', '.join(repr(label) for label in labels[:20])}{more}"
