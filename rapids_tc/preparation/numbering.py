"""Numbers for ids: every later step sees a number in place of an id, and answers get the ids back.

Numbers follow the order of the ids' values. Integers in a dense range are their own numbers (less
the smallest, unless it is near zero); all other ids are factorized, column by column, so that
memory grows with the number of distinct ids, never with their values. An id of several parts gets
the place of its key: see `rapids_tc.preparation.ids`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rapids_tc.errors import CHANGED, CapacityError, IdTypeError, KernelError
from rapids_tc.frames.backend import all_below, gather
from rapids_tc.preparation import moments
from rapids_tc.preparation.edge_columns import shown_as
from rapids_tc.preparation.given import column_of
from rapids_tc.preparation.id_columns import (
    GROUPS,
    NUMERIC,
    IdColumn,
    check,
    check_groups,
    describe,
    inspect_group,
    integers,
    refuse_nulls,
    text,
)
from rapids_tc.preparation.ids import DensePart, Ids, IndexedPart, SidedPart
from rapids_tc.preparation.named_ids import describe_named, vertex_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns
    from rapids_tc.preparation.ids import MixedRadix, Part

DENSE = 4  # integers are their own numbers while their range is at most this times the rows
MARKED = 16  # keys are marked, not sorted, while their range is at most this times the rows
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
    ids : Ids
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


def describe_columns(frame: Frame, columns: EdgeColumns, backend: Backend) -> list[list[IdColumn]]:
    """Describe the columns of each part by what they hold; NullIdError if a value is missing."""
    described = []
    for component in columns.components:
        describe_one = _describe_group if component.group else describe
        of_part = []
        for label in component.columns:
            values = backend.to_working_series(column_of(frame, label, backend))
            of_part.append(describe_one(values, shown_as(label), backend))
        described.append(of_part)
    return described


def _describe_group(values: Series, name: str, backend: Backend) -> IdColumn:
    """Describe a column of groups; NullIdError if one is missing."""
    column, nulls = inspect_group(values, name, backend)
    refuse_nulls(nulls, name, GROUPS)
    return column


@dataclass(frozen=True)
class InspectedColumns:
    """The id columns of a frame, described once.

    Attributes
    ----------
    columns : list of list of IdColumn
        The columns of each part, described.
    dense : tuple of int or None
        The first id and the length of the range, if the ids are their own numbers.
    """

    columns: list[list[IdColumn]]
    dense: tuple[int, int] | None


def number_edges(
    frame: Frame,
    edge_columns: EdgeColumns,
    backend: Backend,
    *,
    vertices: Any = None,
    inspected: InspectedColumns | None = None,
) -> NumberedEdges:
    """Check the columns of ids and groups (and further vertices), and number the ids by value.

    `inspected` are the columns, if they have been described before. Of a bipartite frame, the
    values of a part are numbered column by column, those of sources first, so that equal values of
    both columns get different numbers: the side is a part of the id, as a group is. `vertices` have
    no side, and are not taken then.

    Raises
    ------
    IdTypeError
        The dtypes of the columns of a part cannot name vertices.
    NullIdError
        A column has nulls.
    CapacityError
        The distinct ids are more than the ranks.
    """
    if inspected is None:
        in_place = backend.adapter.on_gpu == (backend.engine != "cpu")  # nothing is copied first
        if vertices is None and in_place:
            plain = _number_plain(frame, edge_columns, backend)
            if plain is not None:
                return plain
        inspected = InspectedColumns(describe_columns(frame, edge_columns, backend), None)
    dense, by_part = inspected.dense, inspected.columns
    rows, further = len(by_part[0][0].values), 0
    if vertices is not None:
        dense = None  # further vertices may lie outside the range of the edges
        added = _describe_added(vertices, edge_columns, by_part, backend)
        further = len(added[0].values)
        by_part = [[*columns, column] for columns, column in zip(by_part, added, strict=True)]
    parts: list[Any] = []
    ends: list[list[Array]] = [[] for _ in range(2 + (vertices is not None))]
    for component, columns in zip(edge_columns.components, by_part, strict=True):
        part: Any
        if edge_columns.bipartite and not component.group:
            numbers, part = _number_sides(columns, backend)
        else:
            numbers, part = _number_part(columns, backend, dense)
        if component.group:  # one column, which both ends of a row have
            numbers = [numbers[0], *numbers]
        for end, digits in zip(ends, numbers, strict=True):
            end.append(digits)
        parts.append(part)
    ids = Ids.of(parts, edge_columns)
    if len(parts) == 1:
        numbers = [digits for [digits] in ends]
    else:
        numbers, ids = _join(ends, ids)
    if ids.size > MAX_NUMBERS:
        raise too_many(ids.size)
    if further:
        loops = numbers.pop().astype("uint32", copy=False)
        numbers = [
            backend.xp.concatenate([end.astype("uint32", copy=False), loops]) for end in numbers
        ]
    return NumberedEdges(numbers[0], numbers[1], rows, ids)


def _number_plain(frame: Frame, labels: EdgeColumns, backend: Backend) -> NumberedEdges | None:
    """Assign numbers to dense integers of one dtype, without a Series; None for other ids.

    They need no check but that no id is missing, which the adapter has asked.
    """
    if labels.joined or labels.bipartite:
        return None
    source, destination = labels.components[0].columns
    src = backend.adapter.plain_integers(frame, source)
    dst = None if src is None else backend.adapter.plain_integers(frame, destination)
    if src is None or dst is None or src.dtype != dst.dtype or not len(src):
        return None
    dense = dense_between(*_min_max([src, dst], backend), len(src))
    if dense is None or dense[1] > MAX_NUMBERS:
        return None
    part = DensePart(dense[1], dense[0], src.dtype, backend)
    return NumberedEdges(part.number(src), part.number(dst), len(src), Ids.of([part], labels))


def too_many(ids: int) -> CapacityError:
    """Return the error of more distinct ids than ranks."""
    return CapacityError(
        f"{ids} distinct ids; one machine numbers at most {MAX_NUMBERS}: pass fewer edges"
    )


def _describe_added(
    vertices: Any, edge_columns: EdgeColumns, by_part: list[list[IdColumn]], backend: Backend
) -> list[IdColumn]:
    """Describe further vertices by part; datetimes get the dtype of the edges' columns."""
    described = []
    groups, ids = ([p.label for p in ps] for ps in (edge_columns.groups, edge_columns.ids))
    series = vertex_columns(vertices, groups, ids, backend)
    for values, columns in zip(series, by_part, strict=True):
        if columns[0].group:
            described.append(_describe_group(values, "vertices=", backend))
            continue
        added = describe_named(values, "vertices=", backend)
        datetimes = [column for column in columns if column.kind == "datetime"]
        if added.kind == "datetime" and datetimes:
            dtypes = added.distinct.dtype, datetimes[0].distinct.dtype
            cast_values = moments.cast_added(added.values.astype(dtypes[0]), dtypes[1])
            added = replace(added, values=cast_values, used=None)
        described.append(added)
    return described


def _number_part(
    columns: list[IdColumn], backend: Backend, dense: tuple[int, int] | None
) -> tuple[list[Array], Part]:
    """Assign numbers to the values of a part."""
    filled = [column for column in columns if column.kind != "empty"]
    none = backend.xp.zeros(0, "int64")
    if not filled:
        values = columns[0].values
        index = backend.library.Index(values)
        return [none for _ in columns], IndexedPart(index, values.dtype, backend, "empty")
    check_part(filled)
    numbers, part = number(filled, backend, dense)
    of_filled = iter(numbers)
    return [none if column.kind == "empty" else next(of_filled) for column in columns], part


def _number_sides(columns: list[IdColumn], backend: Backend) -> tuple[list[Array], SidedPart]:
    """Assign numbers to the values of two columns that never meet, which may be of two kinds."""
    [sources, destinations] = columns
    [of_sources], first = _number_part([sources], backend, None)
    [of_destinations], second = _number_part([destinations], backend, None)
    behind = of_destinations.astype("uint32")  # a copy: numbers may be the user's own ids
    behind += np.uint32(first.size)
    return [of_sources, behind], SidedPart(first, second)


def check_part(columns: list[IdColumn]) -> None:
    """Raise IdTypeError if columns that are not empty cannot be those of one part."""
    if columns[0].group:
        check_groups(columns)
    else:
        check(columns)


def _join(ends: list[list[Array]], ids: Ids) -> tuple[list[Array], Ids]:
    """Assign numbers to ids of several parts, from the numbers of the parts of each end."""
    radix, backend = ids.radix, ids.backend
    while (digits := radix.overflow()) is not None:
        keys = [radix.join(end[:digits], backend.xp) for end in ends]
        radix = radix.fold(digits, compact(keys, radix.size(digits), backend)[1])
    keys = join_ends(ends, ids.groups, radix, backend.xp)
    numbers, distinct_keys = compact(keys, radix.size(len(ids.parts)), backend)
    return numbers, ids.with_keys(radix, distinct_keys)


def join_ends(ends: list[list[Array]], groups: int, radix: MixedRadix, xp: Any) -> list[Array]:
    """Join the numbers of the parts of every end; both ends of a row share the key of its group."""
    if not groups:
        return [radix.join(end, xp) for end in ends]
    source, last = ends[0], len(radix.bases) - groups
    shared = radix.join(source[:groups], xp)
    keys = [radix.join([shared, *end[groups:]], xp, last) for end in ends[:2]]
    return keys + [radix.join(end, xp) for end in ends[2:]]


def compact(ends: list[Array], size: int, backend: Backend) -> tuple[list[Array], Array]:
    """Assign numbers to keys below `size`: their places among those that occur.

    Returns
    -------
    numbers : list of arrays of uint32
        One per array of keys.
    keys : array of uint64
        The keys that occur, ascending.
    """
    xp, rows = backend.xp, len(ends[0])
    if size > MARKED * rows + 1024:
        columns = [IdColumn(backend.library.Series(end), "keys", "integer") for end in ends]
        numbers, ids = by_value(columns, "uint64", backend)
        return numbers, backend.array(ids.index)
    marked = xp.zeros(size, bool)
    for end in ends:
        if not all_below(end, size):
            raise KernelError(CHANGED)
        marked[end] = True
    keys = xp.flatnonzero(marked)
    place = xp.empty(size, "uint32")
    place[keys] = xp.arange(len(keys), dtype="uint32")
    return [place[end] for end in ends], keys.astype("uint64")


def number(
    columns: list[IdColumn], backend: Backend, dense: tuple[int, int] | None = None
) -> tuple[list[Array], Part]:
    """Assign numbers to the ids of checked columns of one kind, all together.

    `dense` is the `dense_range` of the columns, if it is known already.

    Returns
    -------
    numbers : list of arrays of integers
        One per column.
    part : DensePart or IndexedPart
        The values by number.
    """
    if columns[0].kind not in NUMERIC:
        return by_value(columns, comparison_dtype(columns[0]), backend)
    arrays, dtype = as_integers(columns, backend)
    if dense is None and all(map(can_be_dense, columns)):
        dense = dense_between(*_min_max(arrays, backend), max(map(len, arrays)))
    if dense is None:
        return by_value(columns, dtype, backend)
    base, size = dense
    ids = DensePart(size, base, returned_dtype(columns, dtype), backend)
    return [ids.number(array) for array in arrays], ids


def comparison_dtype(first: IdColumn) -> Any:
    """Return the dtype in which ids other than numbers are compared, from their first column."""
    dtype = first.distinct.dtype
    return moments.comparison_dtype(dtype) if first.kind == "datetime" else dtype


def as_integers(columns: list[IdColumn], backend: Backend) -> tuple[list[Array], np.dtype]:
    """Return the distinct ids of columns of numbers, and their common integer dtype."""
    arrays = [integers(c.distinct, c.name, backend) for c in columns]
    dtypes = [array.dtype for array in arrays]
    return arrays, common_integer(columns, dtypes, lambda: _min_max(arrays, backend)[0])


def dense_range(columns: list[IdColumn], backend: Backend) -> tuple[int, int] | None:
    """Return the first id and the length of the range, if integers can be their own numbers."""
    if not all(can_be_dense(c) for c in columns):
        return None
    arrays = [integers(c.values, c.name, backend) for c in columns if c.kind != "empty"]
    return dense_between(*_min_max(arrays, backend), max(len(c.values) for c in columns))


def can_be_dense(column: IdColumn) -> bool:
    """Return whether a column is empty or holds numbers, and not as categories."""
    return column.kind in (*NUMERIC, "empty") and not column.categorical


def dense_between(low: int, high: int, rows: int) -> tuple[int, int] | None:
    """Return the id of number 0 and the length of the range, if ids in [low, high] are dense."""
    limit = DENSE * rows + 1024
    base = 0 if low >= 0 and high < limit else low
    return (base, high - base + 1) if high - base < limit else None


def _min_max(arrays: list[Array], backend: Backend) -> tuple[int, int]:
    """Return the least and the greatest value of all arrays; 0 and -1 if there are no arrays."""
    ranges = backend.min_max(arrays)
    return min((low for low, _ in ranges), default=0), max((high for _, high in ranges), default=-1)


def by_value(
    columns: list[IdColumn], dtype: Any, backend: Backend
) -> tuple[list[Array], IndexedPart]:
    """Factorize each column, then the distinct values of all columns together."""
    xp = backend.xp
    codes: list[Array | None] = []
    distinct: list[Any] = []
    for column in columns:
        ids = in_common_dtype(column, dtype, backend)
        if column.categorical:
            codes.append(None)
            distinct.append(backend.library.Index(ids))
        else:
            code, values = factorize(ids, column)
            codes.append(xp.asarray(code))
            distinct.append(backend.library.Index(values))
    merged, index = distinct[0].append(distinct[1:]).factorize()
    user_dtype = returned_dtype(columns, dtype)
    order = order_by_value(index, columns[0], user_dtype, backend)
    by_code = xp.empty(len(index), "uint32")
    by_code[order] = xp.arange(len(index), dtype="uint32")
    of_distinct = by_code[xp.asarray(merged)]
    starts = np.cumsum([0, *(len(values) for values in distinct)]).tolist()
    numbers = [
        column.by_row(of_distinct[start:end], backend)
        if code is None
        else gather(of_distinct[start:end], code)
        for column, code, (start, end) in zip(columns, codes, pairwise(starts), strict=True)
    ]
    kind = "integer" if columns[0].kind == "float" else columns[0].kind
    return numbers, IndexedPart(index.take(order), user_dtype, backend, kind)


def factorize(ids: Series, column: IdColumn) -> tuple[Any, Any]:
    """Return a code per row, and the distinct values; IdTypeError for values without a hash."""
    try:
        return cast("tuple[Any, Any]", ids.factorize())
    except TypeError as error:
        raise IdTypeError(
            f"{column.name} holds values that have no hash: {error}; convert the column to text"
        ) from error


def order_by_value(index: Any, column: IdColumn, dtype: Any, backend: Backend) -> Array:
    """Return the places of distinct ids in ascending order.

    Groups of an ordered categorical follow its categories.

    Raises
    ------
    IdTypeError
        The ids of the column have no order.
    """
    if column.group and getattr(dtype, "ordered", False):
        index = dtype.categories.get_indexer(index)
    try:
        return backend.xp.asarray(index.argsort())
    except TypeError as error:
        raise IdTypeError(
            f"{column.name} holds values that have no order: {error}; convert the column to text"
        ) from error


def in_common_dtype(column: IdColumn, dtype: Any, backend: Backend) -> Series:
    """Return the ids of a column, of a categorical the distinct ones, in the common dtype."""
    return text(column, backend) if column.kind == "string" else column.distinct.astype(dtype)


def returned_dtype(columns: list[IdColumn], common: Any) -> Any:
    """Return the dtype of ids in answers: the user's if all columns agree, else the common one."""
    first = columns[0]
    if first.kind == "float" or any(c.categorical != first.categorical for c in columns):
        return common
    if first.categorical:
        categories, *others = (set(_on_host(c.dtype.categories).tolist()) for c in columns)
        agree = all(other == categories for other in others)
    else:
        agree = all(c.dtype == first.dtype for c in columns[1:])
    return first.dtype if agree else common


def common_integer(
    columns: list[IdColumn], dtypes: list[np.dtype], least: Callable[[], int]
) -> np.dtype:
    """Return the widest of the dtypes; for int64 and uint64 that is uint64, never float64."""
    common = np.result_type(*dtypes)
    if common.kind != "f":
        return common
    if least() < 0:
        raise IdTypeError(
            f"{' and '.join(f'{c.name} ({c.dtype})' for c in columns)} hold ids of uint64 "
            "and negative ones, which no integer dtype holds together; convert them to strings"
        )
    return np.dtype("uint64")


def _on_host(values: Series) -> Series:
    return values.to_pandas() if hasattr(values, "to_pandas") else values
