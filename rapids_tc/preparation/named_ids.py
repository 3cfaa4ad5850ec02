"""Ids that the user names beside the edges: vertices, and the ends of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.errors import ColumnNotFoundError, IdTypeError
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation.edge_columns import SIDE, SIDES
from rapids_tc.preparation.id_columns import IdColumn, check, describe
from rapids_tc.preparation.ids import MixedRadix, SidedPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.ids import Ids, Part

SHOWN = 5  # vertices or pairs that an error lists


def describe_named(values: Series, name: str, backend: Backend) -> IdColumn:
    """Describe a column of ids that the user names; NullIdError if one is missing."""
    return describe(values, name, backend, "drop what names no vertex")


def find_ids(part: Part, values: Series, name: str) -> Array:
    """Return the number (int64) of each of some values of a part; -1 for one without a number.

    Raises
    ------
    IdTypeError, NullIdError
        The dtype of the values, or a null, cannot name any vertex of this graph.
    """
    named = describe_named(values, name, part.backend)
    if named.kind == "empty":
        return part.backend.xp.zeros(0, "int64")
    check([named])
    return find_named(part, named, named.values.astype(named.distinct.dtype))


def find_on_sides(part: SidedPart, values: Series, sides: Series, name: str) -> Array:
    """Return the number (int64) of each of some values on its side; -1 for one without a number.

    What is called neither "source" nor "destination" has no ids. Errors are those of `find_ids`.
    """
    xp, first = part.backend.xp, 0
    found = xp.full(len(values), -1, "int64")
    for side, of_side in zip(SIDES, (part.source, part.destination), strict=True):
        is_here = (sides == side).fillna(value=False).astype("bool")
        rows = xp.flatnonzero(part.backend.array(is_here))
        numbers = find_ids(of_side, values.take(rows).reset_index(drop=True), name)
        found[rows] = xp.where(numbers < 0, -1, numbers + first)
        first = of_side.size
    return found


def find_named(part: Part, named: IdColumn, values: Series) -> Array:
    """Return the number (int64) of each of the values of a column, -1 for one without a number.

    Raises
    ------
    IdTypeError
        The dtype of the column cannot name any id.
    """
    if part.kind not in ("empty", named.kind) and (part.kind, named.kind) != ("integer", "float"):
        raise IdTypeError(
            f"{named.name} has dtype {named.values.dtype}, but the ids of the graph are "
            f"{part.kind}s: give {named.name} in their dtype"
        )
    if part.kind == "empty":
        return part.backend.xp.full(len(values), -1, "int64")
    return part.find(values, named.name)


def find_vertices(ids: Ids, vertices: Any, present: Array) -> Array:
    """Return the numbers (int64) of the vertices that the user names, in every group that has them.

    They are sorted by group; in a group, or without groups, they are in the user's order, with
    repeats.

    Raises
    ------
    ValueError
        Some ids are not vertices of the graph; up to five of them are listed.
    IdTypeError, NullIdError
        The dtype of the ids, or a null, cannot name any vertex of this graph.
    """
    row, number, named = look_up_vertices(ids, vertices, present)
    is_vertex = ids.backend.xp.zeros(len(named[0]), bool)
    is_vertex[row] = True
    require_vertices(is_vertex, named, ids.backend)
    return number


def look_up_vertices(ids: Ids, vertices: Any, present: Array) -> tuple[Array, Array, list[Series]]:
    """Look up the vertices that the user names, which may be no vertices, or those of many groups.

    Returns
    -------
    row, number : array of int64
        The row of each vertex that is found, and its number, in the order of `find_vertices`.
    named : list of Series
        The parts of all ids that the user names; of a bipartite graph behind their sides.

    Raises
    ------
    IdTypeError, NullIdError
        See `find_vertices`.
    """
    backend, xp = ids.backend, ids.backend.xp
    side = [SIDE] * ids.bipartite
    named = vertex_columns(vertices, side, ids.labels[ids.groups :], backend)
    parts = zip(ids.parts[ids.groups :], named[len(side) :], strict=True)
    digits = [
        find_on_sides(part, values, named[0], "vertices=")
        if isinstance(part, SidedPart)
        else find_ids(part, values, "vertices=")
        for part, values in parts
    ]
    is_known = xp.ones(len(named[0]), bool)
    for digit in digits:
        is_known &= digit >= 0
    row = xp.flatnonzero(is_known)
    known = [digit[row] for digit in digits]
    if ids.keys is None:
        [number] = known
        is_vertex = present[number]
        return row[is_vertex], number[is_vertex], named
    asked, of_vertices = _joined(ids, known)
    frame = backend.library.DataFrame
    found = frame({"key": asked, "row": row}).merge(
        frame({"key": of_vertices, "number": xp.arange(ids.size)}), on="key"
    )
    row, number = backend.array(found["row"]), backend.array(found["number"])
    order = xp.lexsort(xp.stack([row, ids.group_of[number]]))
    return row[order], number[order], named


def require_vertices(is_vertex: Array, named: Sequence[Series], backend: Backend) -> None:
    """Raise ValueError unless all ids are of vertices; up to five others are listed."""
    rows = backend.xp.flatnonzero(~is_vertex)
    if not len(rows):
        return
    parts = (values.take(rows).reset_index(drop=True) for values in named)
    unknown = backend.library.DataFrame(dict(enumerate(parts))).drop_duplicates()
    shown = range(min(len(unknown), SHOWN))
    first = [tuple(unknown[part].iloc[row] for part in unknown) for row in shown]
    listed = ", ".join(str(values if values[1:] else values[0]) for values in first)
    raise ValueError(
        f"{len(unknown)} of vertices= not in the graph: {listed}{', …' * (len(unknown) > SHOWN)}; "
        "isolated vertices are added with Graph(vertices=...)"
    )


def vertex_columns(
    vertices: Any, groups: Sequence[Any], labels: Sequence[Any], backend: Backend
) -> list[Series]:
    """Return the columns of vertices that the user names: of groups or sides, and of parts of ids.

    Ids of one part without a name come in a list or the like, others in a frame.

    Raises
    ------
    TypeError
        `vertices` is none of these.
    ColumnNotFoundError
        The frame lacks a column.
    """
    if not groups and [*labels] == [None]:
        return [backend.series(vertices)]
    of_ids = [("vertex",) if label is None else (f"vertex_{label}", label) for label in labels]
    names = [*((label,) for label in groups), *of_ids]
    needed = ", ".join(repr(name) for name, *_ in names)
    try:
        frame, opened = open_frame(vertices, None)
    except TypeError:
        raise TypeError(
            f"vertices= is a {type(vertices).__name__}; give a frame with the columns {needed}"
        ) from None
    given, series = opened.adapter.labels(frame), []
    for accepted in names:
        label = next((name for name in accepted if name in given), None)
        if label is None:
            raise ColumnNotFoundError(
                f"vertices= has no column {accepted[0]!r}: give a frame with the columns {needed}"
            )
        column = backend.to_working_series(opened.adapter.column(frame, label))
        series.append(column.reset_index(drop=True))
    return series


def _joined(ids: Ids, named: list[Array]) -> tuple[Array, Array]:
    """Return a key for each tuple of digits without a group: of the named ids, and of all ids."""
    xp = ids.backend.xp
    of_all = ids.radix.split(ids.keys, len(named) if ids.groups else None)[-len(named) :]
    radix = MixedRadix.of([max(part.size, 1) for part in ids.parts[ids.groups :]])
    while (digits := radix.overflow()) is not None:
        both = [radix.join(numbers[:digits], xp) for numbers in (named, of_all)]
        radix = radix.fold(digits, xp.unique(xp.concatenate(both)))
    return radix.join(named, xp), radix.join(of_all, xp)


def numbers_of_ends(ids: Ids, ends: Sequence[Series], labels: Sequence[Any]) -> list[Array]:
    """Return the numbers (int64) of both ends of all pairs; -1 for an id without a number.

    Raises
    ------
    IdTypeError, NullIdError
        See `find_ids`, of the columns of pairs.
    """
    return [
        find_ids(ids.parts[0], end.reset_index(drop=True), f"column {label!r} of pairs=")
        for end, label in zip(ends, labels, strict=True)
    ]


def unknown_rows(numbers: Sequence[Array], present: Array, backend: Backend) -> list[int]:
    """List the pairs that have an end which is no vertex; `present` says which numbers are."""
    xp = backend.xp
    unknown = xp.zeros(len(numbers[0]), bool)
    for number in numbers:
        unknown |= number < 0
        known = number >= 0
        unknown[known] |= ~present[number[known]]
    rows: list[int] = backend.host(xp.flatnonzero(unknown)).tolist()
    return rows


def shown_pairs(ends: Sequence[Series], rows: Sequence[int]) -> list[str]:
    """Return the first of some pairs as text."""
    pairs = (tuple(str(end.iloc[row]) for end in ends) for row in rows[:SHOWN])
    return [f"({u}, {v})" for u, v in pairs]


def require_ends(unknown: int, shown: Sequence[str]) -> None:
    """Raise ValueError if some pairs have an end that is no vertex; up to five are `shown`."""
    if unknown:
        raise ValueError(
            f"{unknown:,} of pairs= have an end that is not in the graph: {', '.join(shown)}"
            f"{', …' * (unknown > SHOWN)}; isolated vertices are added with Graph(vertices=...)"
        )
