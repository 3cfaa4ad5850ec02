"""The columns that a call reads as ids: two, or lists of them, with columns of groups beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.adapters import ID_COLUMNS
from rapids_tc.preparation.composite import name_in_answers
from rapids_tc.preparation.edges import check_label, id_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Component:
    """A part of composite ids: the columns that hold it, and its name.

    Attributes
    ----------
    columns : tuple
        The labels of the columns: of the source and of the destination, or of a group alone.
    label : label or None
        What names the part in answers; None if an id is this part alone.
    """

    columns: tuple[Any, ...]
    label: Any

    @property
    def group(self) -> bool:
        """Whether both ends of a row share the part."""
        return len(self.columns) == 1


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of composite ids.

    Attributes
    ----------
    components : tuple of Component
        The parts of an id, groups first.
    """

    components: tuple[Component, ...]

    @property
    def labels(self) -> list[Any]:
        """All columns, each once."""
        return list(dict.fromkeys(self.labels_by_part))

    @property
    def labels_by_part(self) -> list[Any]:
        """The columns of each part: the groups, then a source and a destination of each part."""
        return [label for part in self.components for label in part.columns]

    @property
    def names(self) -> list[str]:
        """The columns of each part, as messages name them."""
        return [f"column {label!r}" for label in self.labels_by_part]

    @property
    def widths(self) -> list[int]:
        """How many columns each part has."""
        return [len(part.columns) for part in self.components]

    @property
    def roles(self) -> list[str]:
        """The options that name the columns of each part."""
        ids = ["source", "destination"] * len(self.ids)
        return ["by"] * len(self.groups) + ids

    def in_answers(self) -> dict[str, tuple[Any, ...]]:
        """Return the columns that each column of ids or groups in an answer is made from."""
        result: dict[Any, tuple[Any, ...]] = {part.label: part.columns for part in self.groups}
        for part in self.ids:
            result |= dict.fromkeys(ids_in_answers([part.label], ID_COLUMNS), part.columns)
        return result

    @property
    def groups(self) -> tuple[Component, ...]:
        """The parts that both ends of a row share."""
        return tuple(part for part in self.components if part.group)

    @property
    def ids(self) -> tuple[Component, ...]:
        """The parts that each end of a row has of its own."""
        return tuple(part for part in self.components if not part.group)


def edge_columns(
    labels: list[Any], source: Any, destination: Any, by: Any, besides: Sequence[Any] = ()
) -> tuple[Any, Any] | EdgeColumns:
    """Choose the id columns, and those of groups; a plain pair if there are no more than two.

    Columns of ids that are not named are none of `besides`, nor of the groups.

    Raises
    ------
    ColumnNotFoundError
        A named column is not in the frame.
    ValueError
        See `id_columns`; or a column of groups is named twice, or lists of columns differ in
        length.
    """
    groups = _group_labels(by, labels)
    if isinstance(source, list) or isinstance(destination, list):
        pairs = _pairs(source, destination, labels)
        ids = [Component(pair, pair[0]) for pair in pairs]
    else:
        pair = id_columns(labels, source, destination, besides=[*groups, *besides])
        if not groups:
            return pair
        ids = [Component(pair, None)]
    return EdgeColumns((*(Component((label,), label) for label in groups), *ids))


def ids_in_answers(labels: Sequence[Any], roles: Sequence[str]) -> list[str]:
    """Return the names of the columns of ids in an answer, from the labels of the parts of ids."""
    return [name_in_answers(role, label) for role in roles for label in labels]


def check_fields(groups: Sequence[Any], others: Sequence[Any]) -> None:
    """Raise ValueError if two columns of an answer, of groups and others, have one name."""
    for label in groups:
        if label in others:
            raise ValueError(
                f"by= names the column {label!r}, and the answer has a column of that name: "
                "rename it first"
            )
    if twice := [name for name in others if others.count(name) > 1]:
        raise ValueError(
            f"two columns of the answer would be called {twice[0]!r}: rename a column of source="
        )


def _group_labels(by: Any, labels: list[Any]) -> list[Any]:
    """Return the labels of the columns of groups."""
    if by is None:
        return []
    named = by if isinstance(by, list) else [by]
    if not named:
        raise ValueError("by=[]: name a column of groups, or leave by= out")
    for label in named:
        check_label("by", label, labels)
    _check_once("by", named)
    return named


def _pairs(source: Any, destination: Any, labels: list[Any]) -> list[tuple[Any, Any]]:
    """Pair the columns of two lists."""
    if not (isinstance(source, list) and isinstance(destination, list)):
        raise ValueError(
            f"source={source!r} and destination={destination!r}: give two lists of as many "
            "columns, or two columns"
        )
    if len(source) != len(destination) or not source:
        raise ValueError(
            f"source= names {len(source)} columns and destination= {len(destination)}: column i "
            "of both holds part i of an id, so give as many, and at least one"
        )
    for role, side in (("source", source), ("destination", destination)):
        for label in side:
            check_label(role, label, labels)
        _check_once(role, side)
    for one, other in zip(source, destination, strict=True):
        if one == other:
            raise ValueError(f"source and destination are the same column, {one!r}: name two")
    return list(zip(source, destination, strict=True))


def _check_once(role: str, labels: Iterable[Any]) -> None:
    seen: set[Any] = set()
    for label in labels:
        if label in seen:
            raise ValueError(f"{role}= names the column {label!r} twice: name it once")
        seen.add(label)
