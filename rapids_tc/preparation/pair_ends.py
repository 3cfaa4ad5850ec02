"""The ends of pairs of vertices that the user gives beside the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.preparation.edges import find_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.numbering import ColumnIds

SHOWN = 5  # pairs that an error lists


def numbers_of(ids: ColumnIds, ends: Sequence[Series], labels: Sequence[Any]) -> list[Array]:
    """Return the numbers (int64) of both ends of all pairs; -1 for an id without a number.

    Raises
    ------
    IdTypeError, NullIdError
        See `rapids_tc.preparation.edges.find_ids`, of the columns of pairs.
    """
    return [
        find_ids(ids, end.reset_index(drop=True), f"column {label!r} of pairs=")
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


def examples(ends: Sequence[Series], rows: Sequence[int]) -> list[str]:
    """Return the first of some pairs as text."""
    pairs = (tuple(str(end.iloc[row]) for end in ends) for row in rows[:SHOWN])
    return [f"({u}, {v})" for u, v in pairs]


def require_vertices(unknown: int, shown: Sequence[str]) -> None:
    """Raise ValueError if some pairs have an end that is no vertex; up to five are `shown`."""
    if unknown:
        raise ValueError(
            f"{unknown:,} of pairs= have an end that is not in the graph: {', '.join(shown)}"
            f"{', …' * (unknown > SHOWN)}; isolated vertices are added with Graph(vertices=...)"
        )
