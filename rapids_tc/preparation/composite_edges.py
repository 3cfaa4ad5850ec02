"""Edge frame → checked, numbered edges whose ids are made of several parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.errors import CHANGED, CapacityError, ColumnNotFoundError, KernelError
from rapids_tc.frames.backend import all_below, open_frame
from rapids_tc.preparation.composite import CompositeIds, MixedRadix
from rapids_tc.preparation.distinct import DistinctIds, distinct_composites
from rapids_tc.preparation.edges import (
    MAX_NUMBERS,
    NumberedEdges,
    describe_added,
    find_named,
    unknown_vertices,
)
from rapids_tc.preparation.id_columns import (
    GROUPS,
    IdColumn,
    check,
    check_groups,
    describe,
    inspect_group,
    refuse_nulls,
)
from rapids_tc.preparation.numbering import ColumnIds, IndexedIds, by_value, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import Component, EdgeColumns

MARKED = 16  # keys are marked while there may be at most this times the rows


def number_composite(
    frame: Frame, columns: EdgeColumns, backend: Backend, *, vertices: Any = None
) -> NumberedEdges:
    """Check the columns of ids and groups (and further vertices), and number the ids by value.

    Raises
    ------
    IdTypeError, NullIdError, CapacityError
        See `rapids_tc.preparation.edges.number_edges`.
    """
    added = None if vertices is None else added_columns(vertices, columns, backend)
    parts: list[ColumnIds] = []
    by_end: list[list[Array]] = [[], []]  # the numbers of the parts, of both ends
    loops: list[Array] = []
    for place, component in enumerate(columns.components):
        described = [_describe(frame, component, label, backend) for label in component.columns]
        rows = len(described[0].values)
        if added is not None:
            described.append(_describe_vertices(added[place], component, described, backend))
        numbers, part = _number(described, component, backend)
        if added is not None:
            loops.append(numbers.pop())
        for end, digits in zip(by_end, numbers * 2 if component.group else numbers, strict=True):
            end.append(digits)
        parts.append(part)
    radix = MixedRadix.of([max(part.size, 1) for part in parts])
    xp = backend.xp
    ends = [*by_end, loops] if loops else by_end
    while (first := radix.overflow()) is not None:
        keys = [radix.join(end[:first], xp) for end in ends]
        radix = radix.fold(first, compact(keys, radix.size(first), backend)[1])
    joined = join_ends(ends, len(columns.groups), radix, xp)
    numbers, keys = compact(joined, radix.size(len(parts)), backend)
    if len(keys) > MAX_NUMBERS:
        raise too_many(len(keys))
    if loops:
        further = numbers.pop()
        numbers = [xp.concatenate([end, further]) for end in numbers]
    source, destination = numbers
    ids = make_composite(columns, parts, radix, keys)
    return NumberedEdges(source, destination, rows, ids)


def estimate_composite(
    frame: Frame, columns: EdgeColumns, backend: Backend
) -> tuple[int, DistinctIds, bool]:
    """Return the number of rows, an estimate of the ids, and whether ids are dense: never.

    Nothing is numbered. The first checks of `number_composite` raise the same errors.
    """
    described: list[IdColumn] = []
    for component in columns.components:
        of_part = [_describe(frame, component, label, backend) for label in component.columns]
        filled = [column for column in of_part if column.kind != "empty"]
        if filled:
            (check_groups if component.group else check)(filled)
        described += of_part
    return (
        len(described[0].values),
        distinct_composites([described], columns.widths, backend),
        False,
    )


def too_many(ids: int) -> CapacityError:
    """Return the error of more distinct ids than ranks."""
    return CapacityError(
        f"{ids} distinct ids; one machine numbers at most {MAX_NUMBERS}: pass fewer edges"
    )


def make_composite(
    columns: EdgeColumns, parts: Sequence[ColumnIds], radix: MixedRadix, keys: Array
) -> CompositeIds:
    """Return the ids by number, from the values of their parts and all keys that occur."""
    labels = tuple(component.label for component in columns.components)
    backend = parts[0].backend
    return CompositeIds(tuple(parts), labels, len(columns.groups), radix, keys, backend)


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


def _describe(frame: Frame, component: Component, label: Any, backend: Backend) -> IdColumn:
    """Describe a column; NullIdError if a value is missing."""
    values = backend.to_working_series(backend.adapter.column(frame, label))
    return describe_part(values, f"column {label!r}", component, backend)


def describe_part(values: Series, name: str, component: Component, backend: Backend) -> IdColumn:
    """Describe a column of a part; NullIdError if a value is missing."""
    if not component.group:
        return describe(values, name, backend)
    column, nulls = inspect_group(values, name, backend)
    refuse_nulls(nulls, name, GROUPS)
    return column


def _describe_vertices(
    values: Series, component: Component, columns: list[IdColumn], backend: Backend
) -> IdColumn:
    """Describe a column of further vertices."""
    if component.group:
        return describe_part(values, "vertices=", component, backend)
    return describe_added(values, columns, backend)


def _number(
    columns: list[IdColumn], component: Component, backend: Backend
) -> tuple[list[Array], ColumnIds]:
    """Assign numbers to the values of a part."""
    filled = [column for column in columns if column.kind != "empty"]
    none = backend.xp.zeros(0, "int64")
    if not filled:
        values = columns[0].values
        no_ids = IndexedIds(backend.library.Index(values), values.dtype, backend, "empty")
        return [none for _ in columns], no_ids
    if component.group:
        check_groups(filled)
    else:
        check(filled)
    numbers, ids = number(filled, backend)
    of_filled = iter(numbers)
    return [none if column.kind == "empty" else next(of_filled) for column in columns], ids


def added_columns(vertices: Any, columns: EdgeColumns, backend: Backend) -> list[Series]:
    """Return the columns of ``Graph(vertices=)``: a group and an id of every further vertex."""
    names = [(part.label,) if part.group else _names(part.label) for part in columns.components]
    return _named_columns(vertices, names, backend)


def _names(label: Any) -> tuple[Any, ...]:
    """Return what a part of an id may be called in a frame of vertices."""
    return ("vertex",) if label is None else (f"vertex_{label}", label)


def _named_columns(vertices: Any, names: list[tuple[Any, ...]], backend: Backend) -> list[Series]:
    """Return the columns of a frame of vertices, each of which may have one of some names.

    Raises
    ------
    TypeError
        `vertices` is no frame.
    ColumnNotFoundError
        The frame lacks a column.
    """
    needed = ", ".join(repr(name) for name, *_ in names)
    try:
        frame, opened = open_frame(vertices, None)
    except TypeError:
        raise TypeError(
            f"vertices= is a {type(vertices).__name__}; give a frame with the columns {needed}"
        ) from None
    labels, series = opened.adapter.labels(frame), []
    for accepted in names:
        label = next((name for name in accepted if name in labels), None)
        if label is None:
            raise ColumnNotFoundError(
                f"vertices= has no column {accepted[0]!r}: give a frame with the columns {needed}"
            )
        column = backend.to_working_series(opened.adapter.column(frame, label))
        series.append(column.reset_index(drop=True))
    return series


def find_composite(ids: CompositeIds, vertices: Any) -> Array:
    """Return the numbers (int64) of the vertices that the user names, in every group that has them.

    They are sorted by group, and in a group they are in the user's order, with repeats.

    Raises
    ------
    ValueError
        Some ids are not vertices of any group; up to five of them are listed.
    IdTypeError, NullIdError
        The dtype of the ids, or a null, cannot name any vertex of this graph.
    """
    backend, xp = ids.backend, ids.backend.xp
    parts, labels = ids.parts[ids.groups :], ids.labels[ids.groups :]
    if labels == (None,):
        series = [backend.series(vertices)]
    else:
        series = _named_columns(vertices, [_names(label) for label in labels], backend)
    advice = "drop what names no vertex"
    named = [describe(values, "vertices=", backend, advice) for values in series]
    if named[0].kind == "empty":
        return xp.zeros(0, "int64")
    for column in named:
        check([column])
    values = [column.values.astype(column.distinct.dtype) for column in named]
    digits = [find_named(*each) for each in zip(parts, named, values, strict=True)]
    is_vertex = xp.ones(len(values[0]), bool)
    for digit in digits:
        is_vertex &= digit >= 0
    of_named, of_vertices = _joined(ids, [xp.maximum(digit, 0) for digit in digits])
    frame, rows = backend.library.DataFrame, xp.flatnonzero(is_vertex)
    asked = frame({"key": of_named[rows], "row": rows})
    known = frame({"key": of_vertices, "number": xp.arange(ids.size)})
    found = asked.merge(known, on="key")
    row, number = backend.array(found["row"]), backend.array(found["number"])
    is_vertex[:] = False
    is_vertex[row] = True
    unknown = backend.host(xp.flatnonzero(~is_vertex)).tolist()
    if unknown:
        rows = list(dict.fromkeys(tuple(v.iloc[i] for v in values) for i in unknown))
        shown = [str(row[0]) if len(row) == 1 else str(row) for row in rows[:5]]
        raise unknown_vertices(len(rows), shown)
    order = xp.lexsort(xp.stack([row, ids.group_of[number]]))
    chosen: Array = number[order]
    return chosen


def _joined(ids: CompositeIds, named: list[Array]) -> tuple[Array, Array]:
    """Return a key for each tuple of digits without a group: of the named ids, and of all ids."""
    xp = ids.backend.xp
    of_all = ids.radix.split(ids.keys, len(named) if ids.groups else None)[-len(named) :]
    radix = MixedRadix.of([max(part.size, 1) for part in ids.parts[ids.groups :]])
    while (digits := radix.overflow()) is not None:
        both = [radix.join(numbers[:digits], xp) for numbers in (named, of_all)]
        radix = radix.fold(digits, xp.unique(xp.concatenate(both)))
    return radix.join(named, xp), radix.join(of_all, xp)
