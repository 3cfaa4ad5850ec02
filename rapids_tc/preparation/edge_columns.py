"""The columns that a call reads as ids: one or several pairs, with columns of groups before."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from rapids_tc.errors import ColumnNotFoundError, shown
from rapids_tc.frames.adapters import ID_COLUMNS
from rapids_tc.preparation.given import Given

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


T = TypeVar("T")
SIDES = ("source", "destination")  # of a bipartite frame
SIDE = "side"  # the column of an answer that says which of them a vertex is of
OF_ONE_SIDE = (("vertex",), ("u", "v"))  # the ids in a row of an answer that has this column

# Names by which id columns are found in frames and files. The first pair that is found is taken.
PAIRS = (
    ("src", "dst"),
    ("source", "destination"),
    ("source", "target"),
    ("from", "to"),
    ("u", "v"),
)
# Without any, the one pair of names that differ by these: protein1 and protein2.
ENDS = (
    ("from", "to"),
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    (":start_id", ":end_id"),  # Neo4j
    ("1", "2"),
)
_NEO4J = re.compile(r".*(:(?:start|end)_id)(\(.*\))?")


@dataclass(frozen=True)
class Component:
    """A part of ids: the columns that hold it, and its name.

    Attributes
    ----------
    columns : tuple
        The labels of the columns: of the source and of the destination, or of a group alone.
    label : label or None
        What names the part in answers; None if an id is this part alone.
    group : bool
        Whether both ends of a row share the part.
    """

    columns: tuple[Any, ...]
    label: Any
    group: bool = False


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of ids.

    Attributes
    ----------
    components : tuple of Component
        The parts of an id, groups first.
    bipartite : bool
        Whether sources and destinations are two sides that never meet: user 5 is not item 5.
    """

    components: tuple[Component, ...]
    bipartite: bool = False

    @property
    def labels(self) -> list[Any]:
        """All columns, each once."""
        return list(dict.fromkeys(self.labels_by_part))

    @property
    def labels_by_part(self) -> list[Any]:
        """The columns of each part: the groups, then a source and a destination of each part."""
        return [label for part in self.components for label in part.columns]

    @property
    def given(self) -> list[Given]:
        """The groups that are no columns, but values beside the edges."""
        return [label for label in self.labels_by_part if isinstance(label, Given)]

    def without_values(self) -> EdgeColumns:
        """Return the same, once the values of groups that are no columns are read."""
        if not self.groups:
            return self
        parts = (
            replace(part, columns=tuple(given.without_values() for given in part.columns))
            if isinstance(part.columns[0], Given) else part
            for part in self.components
        )  # fmt: skip
        return replace(self, components=tuple(parts))

    @property
    def names(self) -> list[str]:
        """The columns of each part, as messages name them."""
        return [shown_as(label) for label in self.labels_by_part]

    def by_part(self, of_columns: Iterable[T]) -> list[list[T]]:
        """Group one item of each column by the parts of ids."""
        of_all = iter(of_columns)
        return [[next(of_all) for _ in part.columns] for part in self.components]

    @property
    def widths(self) -> list[int]:
        """How many columns each part has."""
        return [len(part.columns) for part in self.components]

    @property
    def roles(self) -> list[str]:
        """The options that name the columns of each part."""
        ids = ["source", "destination"] * len(self.ids)
        return ["by"] * len(self.groups) + ids

    def in_answers(self, side: str | None = None) -> dict[str, tuple[Any, ...]]:
        """Return the columns that each column of ids or groups in an answer is made from.

        With a `side`, "source" or "destination", the answer has ids of this one alone.
        """
        result: dict[Any, tuple[Any, ...]] = {}
        for part in self.ids:
            source, destination = part.columns
            of_side = {None: part.columns, "source": (source,), "destination": (destination,)}
            result |= dict.fromkeys(ids_in_answers([part.label], ID_COLUMNS), of_side[side])
        # A group may be called as ids are in other answers: an answer has no two columns alike.
        return result | {part.label: part.columns for part in self.groups}

    @property
    def joined(self) -> int:
        """How many parts are joined to make a key; 0 if an id has one part, which needs no key."""
        return len(self.components) if self.components[1:] else 0

    @property
    def groups(self) -> tuple[Component, ...]:
        """The parts that both ends of a row share."""
        return tuple(part for part in self.components if part.group)

    @property
    def ids(self) -> tuple[Component, ...]:
        """The parts that each end of a row has of its own."""
        return tuple(part for part in self.components if not part.group)


def edge_columns(
    labels: list[Any],
    source: Any = None,
    destination: Any = None,
    by: Any = None,
    besides: Sequence[Any] = (),
    *,
    bipartite: bool = False,
) -> EdgeColumns:
    """Choose the id columns, and those of groups.

    If the columns of ids are not named, they are looked for outside of `besides` and the groups.

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
        ids = [Component(pair, None)]
    of_groups = (
        Component((label,), label.name if isinstance(label, Given) else label, group=True)
        for label in groups
    )
    return EdgeColumns((*of_groups, *ids), bipartite)


def shown_as(label: Any) -> str:
    """Return what messages call a column, or the values that are given in its place."""
    return f"the group {label!r}" if isinstance(label, Given) else f"column {label!r}"


def name_in_answers(role: str, label: Any) -> str:
    """Return the name of the column of an answer that holds a part of the ids of a role."""
    return role if label is None else f"{role}_{label}"


def ids_in_answers(labels: Sequence[Any], roles: Sequence[str]) -> list[str]:
    """Return the names of the columns of ids in an answer, from the labels of the parts of ids."""
    return [name_in_answers(role, label) for role in roles for label in labels]


def check_new(columns: Iterable[str], labels: list[Any], of: str = "the frame") -> None:
    """Raise ValueError if the frame has one of the columns already.

    A label of several levels counts as its first level if all the others are empty.
    """
    levels = [label for label in labels if isinstance(label, tuple) and not any(label[1:])]
    names = [*labels, *(label[0] for label in levels if len(label) > 1)]
    clash = [column for column in columns if column in names]
    if clash:
        raise ValueError(f"{of} has a column {clash[0]!r} already: rename or drop it first")


def check_fields(groups: Sequence[Any], others: Sequence[Any]) -> None:
    """Raise ValueError if two columns of an answer, of groups and others, have one name."""
    times = Counter(others)  # by hash: some values refuse to be compared
    for label in groups:
        if label in times:
            raise ValueError(
                f"by= names the column {label!r}, and the answer has a column of that name: "
                "rename it first"
            )
    if twice := [name for name in others if times[name] > 1]:
        raise ValueError(
            f"two columns of the answer would be called {twice[0]!r}: rename a column of source="
        )


def find_ends(labels: Iterable[Any]) -> tuple[str, str] | None:
    """Return a pair of `PAIRS` among the labels, else the one pair that differs by `ENDS`."""
    labels = [*labels]
    if pair := find_pair(labels):
        return pair
    plain = {_NEO4J.sub(r"\1", name.lower()): name for name in labels if isinstance(name, str)}
    for first, second in ENDS:
        others = {name: name.replace(first, second, 1) for name in plain if first in name}
        ends = [(plain[name], plain[other]) for name, other in others.items() if other in plain]
        if ends:
            return ends[0] if len(ends) == 1 else None
    return None


def find_pair(labels: Iterable[Any]) -> tuple[str, str] | None:
    """Return the first pair of `PAIRS` among the labels; lower-case spellings are preferred.

    Raises
    ------
    ValueError
        Two labels for one name of the pair differ in upper and lower case only.
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
    """Return the label for a name of `PAIRS`, in the user's spelling."""
    spellings = by_name[name]
    if name in spellings:
        return name
    if len(spellings) > 1:
        raise ValueError(
            f"{' and '.join(map(repr, spellings))} differ in upper and lower case only: name the "
            "id columns with source= and destination="
        )
    return spellings[0]


def id_columns(
    labels: list[Any], source: Any, destination: Any, besides: Sequence[Any] = ()
) -> tuple[Any, Any]:
    """Choose the labels of the id columns: as named, else by their names, else the only two.

    See `find_ends` for the names. `besides`, the columns that the call names, are left out of all
    but `PAIRS`.

    Raises
    ------
    ColumnNotFoundError
        A named column is not in the frame.
    ValueError
        No column is named and no pair can be guessed, one column is named twice, or a label is
        repeated.
    """
    if (source is None) != (destination is None):
        given, missing = ("source", "destination")[:: 1 if destination is None else -1]
        raise ValueError(f"{given}= was given without {missing}=: name both, or neither")
    if source is None:
        pair = find_pair(labels)
        named = set()
        for label in besides:
            with suppress(TypeError):  # no column has a label without a hash
                named.add(label)
        rest = [label for label in labels if label not in named]
        pair = pair or find_ends(rest)
        if pair is None and len(rest) != 2:
            example = (
                ", for example source={!r}, destination={!r}".format(*rest) if rest[1:] else ""
            )
            raise ValueError(
                "which columns hold the edges? Name them with source= and destination=; "
                f"the frame has {_listed(labels)}{example}"
            )
        source, destination = pair or rest
    for role, label in (("source", source), ("destination", destination)):
        check_label(role, label, labels)
    if source == destination:
        raise ValueError(f"source and destination are the same column, {source!r}: name two")
    return source, destination


def check_label(role: str, label: Any, labels: list[Any]) -> None:
    """Raise unless the argument `role` names exactly one column; the message lists the columns."""
    try:
        exists = label in set(labels)  # by hash: some values refuse to be compared
    except TypeError:
        if isinstance(label, list):
            raise ValueError(
                f"{role}={shown(label)}: name one column here; combine several into one first"
            ) from None
        kind = type(label).__qualname__  # the values of a Series would fill the message
        raise ValueError(
            f"{role}= is of type {kind}: name a column of the frame; add the values to it first"
        ) from None
    if not exists:
        raise ColumnNotFoundError(
            f"{role}={shown(label)} is not a column; the frame has {_listed(labels)}"
        )
    if labels.count(label) > 1:
        raise ValueError(
            f"the label {label!r} occurs {labels.count(label)} times in the frame: rename one"
        )


def _group_labels(by: Any, labels: list[Any]) -> list[Any]:
    """Return the labels of the columns of groups."""
    if by is None:
        return []
    named = by if isinstance(by, list) else [by]
    if not named:
        raise ValueError("by=[]: name a column of groups, or leave by= out")
    for label in named:
        if not isinstance(label, Given):
            check_label("by", label, labels)
    given = {label.name for label in named if isinstance(label, Given)}
    names = [label.name if isinstance(label, Given) else label for label in named]
    if twice := [name for name in given if names.count(name) > 1]:
        raise ValueError(f"two groups of by= are called {twice[0]!r}: rename one")
    _check_once("by", names)
    return named


def _pairs(source: Any, destination: Any, labels: list[Any]) -> list[tuple[Any, Any]]:
    """Pair the columns of two lists."""
    if not (isinstance(source, list) and isinstance(destination, list)):
        raise ValueError(
            f"source={shown(source)} and destination={shown(destination)}: give two lists of as "
            "many columns, or two columns"
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


def _listed(labels: list[Any]) -> str:
    if not labels:
        return "no columns"
    more = f" and {len(labels) - 20} more" if len(labels) > 20 else ""
    return f"the columns {', '.join(repr(label) for label in labels[:20])}{more}"
