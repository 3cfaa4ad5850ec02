"""What readers share of files that list vertices and edges one by one, with values of edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.files.adjacency import frame_of
from rapids_tc.files.beside import one_or_each, with_values
from rapids_tc.files.source import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc.files.source import ReadOptions, Source

    Answer = tuple[Any, np.ndarray, list[str]]


_TEXT_BYTES = 10  # of memory for a byte of such a file: ids and values are objects


def require_memory(source: Source) -> None:
    """Raise CapacityError if the objects of a file exceed the free memory."""
    source.require("the file takes", _TEXT_BYTES * sum(map(len, source.blocks(""))))


@dataclass
class Elements:
    """The vertices and edges of a file, in its order.

    Attributes
    ----------
    nodes : list
        Ids; none if the file names vertices by edges only.
    ends : list of pairs
    directions : list of bool or None
        Of each edge: whether it has a direction; None if the file does not say.
    values : list of dict
        Of each edge: its values by name; nested ones are left out.
    """

    nodes: list[Any] = field(default_factory=list)
    ends: list[tuple[Any, Any]] = field(default_factory=list)
    directions: list[bool | None] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)

    def add(self, ends: tuple[Any, Any], values: dict[str, Any], *, directed: bool | None) -> None:
        """Add an edge."""
        self.ends.append(ends)
        self.directions.append(directed)
        self.values.append(values)

    def answer(self, source: Source, options: ReadOptions) -> Answer:
        """Return the edges, the vertices without any, and no guess.

        EdgeFileError if an edge ends at no vertex of the file.
        """
        nodes = dict.fromkeys(self.nodes)
        for number, ends in enumerate(self.ends if nodes else (), 1):
            for end in ends:
                if end not in nodes:
                    known = ", ".join(map(shown, list(nodes)[:3]))
                    raise source.fault(
                        f"edge {number} of {len(self.ends):,} ends at {shown(end)}, which is no "
                        f"vertex of the file; vertices are such as {known}"
                    )
        used = dict.fromkeys(chain.from_iterable(self.ends))
        alone = [node for node in nodes if node not in used]
        convert = _common_type(source, nodes | used)
        frame = frame_of(*(convert([pair[side] for pair in self.ends]) for side in (0, 1)))
        if options.keep:
            frame = with_values(source, options, frame, _columns(self.values))
        if {*self.directions} - {None}:
            source.directed = one_or_each(np.array([d is not False for d in self.directions]))
        return frame, convert(alone), []


def _common_type(source: Source, nodes: Iterable[Any]) -> Callable[[list[Any]], Any]:
    """Return what makes an array of ids: integers if all ids are, else text."""
    import pandas as pd

    if all(type(node) is int and -(2**63) <= node < 2**63 for node in nodes):
        return lambda ids: np.array(ids, np.int64)
    by_text: dict[str, Any] = {}
    for node in nodes:
        if by_text.setdefault(str(node), node) != node:
            raise source.fault(
                f"{str(node)!r} is the id of two vertices, of one as text and of the other as a "
                "number: write both in one way"
            )
    return lambda ids: pd.array([str(node) for node in ids], dtype="str")


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the values of edges as columns: numbers if all are, else text; gaps are missing."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in dict.fromkeys(chain.from_iterable(rows)):
        values: list[Any] = [row.get(name) for row in rows]
        kinds = {type(value) for value in values}
        if not kinds & {dict, list}:
            if kinds <= {int, float, type(None)}:
                whole = kinds == {int} and all(-(2**63) <= value < 2**63 for value in values)
                columns[str(name)] = np.array(values, np.int64 if whole else np.float64)
            else:
                texts = [None if value is None else str(value) for value in values]
                columns[str(name)] = pd.array(texts, dtype="str")
    return columns


def shown(value: Any) -> str:
    """Return an id as messages show it: a text in quotes, a number without."""
    return shortened(value) if isinstance(value, str) else shortened(str(value))[1:-1]
