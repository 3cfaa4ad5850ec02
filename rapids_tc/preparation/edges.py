"""Edge frame → checked, numbered edges: the id columns, their rows, and the user's vertices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CapacityError, IdTypeError
from rapids_tc.preparation import moments
from rapids_tc.preparation.composite import CompositeIds
from rapids_tc.preparation.csr import pack_keys
from rapids_tc.preparation.distinct import DistinctIds, distinct_ids
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, check, describe
from rapids_tc.preparation.numbering import (
    ColumnIds,
    Ids,
    IndexedIds,
    as_integers,
    dense_range,
    number,
)

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns

MAX_NUMBERS = 2**32 - 1  # ranks are uint32, and one value is kept for "none"


@dataclass(frozen=True)
class NumberedEdges:
    """The raw edges as numbers, with the user's repeats, loops and directions.

    Attributes
    ----------
    src, dst : arrays of an integer dtype, shape (rows + extra,)
        A loop for each vertex of ``Graph(vertices=)`` follows the user's rows: a vertex that
        occurs in loops alone is the same as an isolated vertex.
    rows : int
        The number of the user's own rows.
    ids : DenseIds or IndexedIds
        The ids by number.
    """

    src: Array
    dst: Array
    rows: int
    ids: Ids

    @property
    def ends(self) -> tuple[Array, Array]:
        """Both ends of all rows."""
        return self.src, self.dst


def describe_columns(frame: Frame, columns: EdgeColumns, backend: Backend) -> list[IdColumn]:
    """Describe the two id columns by what they hold; NullIdError if an id is missing."""
    return [
        describe(
            backend.to_working_series(backend.adapter.column(frame, label)),
            f"column {label!r}",
            backend,
        )
        for label in columns.labels_by_part
    ]


def estimate_size(
    frame: Frame, columns: EdgeColumns, backend: Backend
) -> tuple[int, DistinctIds, bool]:
    """Return the number of rows, an estimate of the ids, and whether ids are dense.

    Nothing is numbered. The first checks of `number_edges` are made, and raise the same errors.
    """
    described = describe_columns(frame, columns, backend)
    filled = [column for column in described if column.kind != "empty"]
    if filled:
        check(filled)
        if filled[0].kind in NUMERIC:
            as_integers(filled, backend)
    rows, dense = len(described[0].values), dense_range(described, backend)
    ids = DistinctIds(dense[1]) if dense else distinct_ids([described], backend)
    return rows, ids, dense is not None


@dataclass(frozen=True)
class InspectedColumns:
    """The two id columns of a frame, described once.

    Attributes
    ----------
    columns : list of IdColumn
        The columns, described.
    dense : tuple of int or None
        The first id and the length of the range, if the ids are their own numbers.
    """

    columns: list[IdColumn]
    dense: tuple[int, int] | None


def number_edges(
    frame: Frame,
    edge_columns: EdgeColumns,
    backend: Backend,
    *,
    vertices: Any = None,
    inspected: InspectedColumns | None = None,
) -> NumberedEdges:
    """Check the two id columns (and further vertices), and number their ids by value.

    `inspected` are the id columns, if they have been described before.

    Raises
    ------
    IdTypeError
        The dtypes of the columns, of one or of both together, cannot name vertices.
    NullIdError
        A column has nulls.
    CapacityError
        The distinct ids are more than the ranks.
    """
    if inspected is None:
        inspected = InspectedColumns(describe_columns(frame, edge_columns, backend), None)
    columns = [*inspected.columns]
    dense = inspected.dense
    if vertices is not None:
        dense = None  # further vertices may lie outside the range of the edges
        columns.append(describe_added(vertices, columns, backend))
    filled = [column for column in columns if column.kind != "empty"]
    rows = len(columns[0].values)
    if not filled:
        no_numbers, no_values = backend.xp.zeros(0, "int64"), columns[0].values
        index = backend.library.Index(no_values)
        no_ids = IndexedIds(index, no_values.dtype, backend, "empty")
        return NumberedEdges(no_numbers, no_numbers, 0, no_ids)
    check(filled)
    numbers, ids = number(filled, backend, dense)
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


def _describe_vertices(vertices: Any, backend: Backend) -> IdColumn:
    return _describe_named(backend.series(vertices), "vertices=", backend)


def _describe_named(vertices: Series, name: str, backend: Backend) -> IdColumn:
    return describe(vertices, name, backend, "drop what names no vertex")


def describe_added(vertices: Any, columns: list[IdColumn], backend: Backend) -> IdColumn:
    """Describe further vertices as a column; datetimes get the dtype of the edges' columns."""
    added = _describe_vertices(vertices, backend)
    datetimes = [column for column in columns if column.kind == "datetime"]
    if added.kind != "datetime" or not datetimes:
        return added
    values = moments.cast_added(
        added.values.astype(added.distinct.dtype), datetimes[0].distinct.dtype
    )
    return replace(added, values=values, used=None)


def find_ids(ids: ColumnIds, vertices: Series, name: str) -> Array:
    """Return the number (int64) of each of some ids; -1 for an id without a number.

    Raises
    ------
    IdTypeError, NullIdError
        The dtype of the ids, or a null, cannot name any vertex of this graph.
    """
    named = _describe_named(vertices, name, ids.backend)
    if named.kind == "empty":
        return ids.backend.xp.zeros(0, "int64")
    check([named])
    return find_named(ids, named, named.values.astype(named.distinct.dtype))


def find_vertices(ids: ColumnIds, vertices: Any, present: Array) -> Array:
    """Return the numbers (int64) of the vertices that the user names, row by row.

    Raises
    ------
    ValueError
        Some ids are not vertices of the graph; up to five of them are listed.
    IdTypeError, NullIdError
        The dtype of the ids, or a null, cannot name any vertex of this graph.
    """
    numbers, values = look_up_vertices(ids, vertices, present)
    require_vertices(numbers >= 0, values, ids.backend)
    return numbers


def look_up_vertices(ids: ColumnIds, vertices: Any, present: Array) -> tuple[Array, Series]:
    """Return the numbers (int64) of the ids that the user names, -1 for no vertex; and the ids.

    Both are in the user's order, with repeats. For IdTypeError and NullIdError see `find_vertices`.
    """
    values = ids.backend.series(vertices)
    numbers = find_ids(ids, values, "vertices=")
    is_vertex = numbers >= 0
    is_vertex[is_vertex] = present[numbers[is_vertex]]
    numbers[~is_vertex] = -1
    return numbers, values


def require_vertices(is_vertex: Array, values: Series, backend: Backend) -> None:
    """Raise ValueError unless all ids are of vertices; up to five others are listed."""
    unknown = values.take(backend.xp.flatnonzero(~is_vertex)).drop_duplicates()
    if len(unknown):
        shown = range(min(len(unknown), 5))
        raise unknown_vertices(len(unknown), [str(unknown.iloc[i]) for i in shown])


def find_named(ids: ColumnIds, named: IdColumn, values: Series) -> Array:
    """Return the number (int64) of each of the values of a column, -1 for one without a number.

    Raises
    ------
    IdTypeError
        The dtype of the column cannot name any id.
    """
    if ids.kind not in ("empty", named.kind) and (ids.kind, named.kind) != ("integer", "float"):
        raise IdTypeError(
            f"{named.name} has dtype {named.values.dtype}, but the ids of the graph are "
            f"{ids.kind}s: give {named.name} in their dtype"
        )
    if ids.kind == "empty":
        return ids.backend.xp.full(len(values), -1, "int64")
    return ids.find(values, named.name)


def unknown_vertices(unknown: int, named: list[str]) -> ValueError:
    """Return the error of vertices that are not in the graph, some of which are named."""
    more = ", …" if unknown > len(named) else ""
    return ValueError(
        f"{unknown} of vertices= not in the graph: {', '.join(named)}{more}; "
        "isolated vertices are added with Graph(vertices=...)"
    )


def edge_keys(u: Array, v: Array, xp: Any, out: Array | None = None) -> Array:
    """Return keys (uint64) smaller number << 32 | larger number; in `out`, if given."""
    return pack_keys(xp.minimum(u, v), xp.maximum(u, v).astype("uint64"), xp, out)


def sorted_edges(u: Array, v: Array, ids: Ids) -> Frame:
    """Return a sorted frame `src`, `dst` of ids, from the numbers of both ends of every edge."""
    keys = edge_keys(u, v, ids.backend.xp)
    del u, v  # frees them, since the caller holds no reference either
    keys.sort()
    return named_edges(keys, ids)


def named_edges(keys: Array, ids: Ids) -> Frame:
    """Return a frame `src`, `dst` of ids, from keys that `edge_keys` makes."""
    if isinstance(ids, CompositeIds):
        ends = ids.columns({"src": keys >> 32, "dst": keys & 0xFFFFFFFF})
    else:
        ends = {"src": ids.take(keys >> 32), "dst": ids.take(keys & 0xFFFFFFFF)}
    return ids.backend.library.DataFrame(ends)
