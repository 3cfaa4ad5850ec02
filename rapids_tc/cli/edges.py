"""The edges of a file as a command asks about them: with the file's own columns and names."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import rapids_tc as tc
from rapids_tc.cli.output import note
from rapids_tc.cli.reading import read
from rapids_tc.cli.values import as_integers, as_numbers, as_times, is_text
from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.files.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from rapids_tc._typing import EngineName, Frame, Label
    from rapids_tc.files import EdgeFile


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "weight": as_numbers,
    "sign": as_numbers,
    "time": as_times,
    "edge_type": lambda column, _: as_integers(column),
}


@dataclass(frozen=True)
class FileEdges:
    """The edges of a file.

    Attributes
    ----------
    file : EdgeFile
        The file as it was read: the rows with its names; of a text, what is no id is text.
    source, destination : list of labels
        The id columns: several of each if an id has several.
    """

    file: EdgeFile
    source: list[Any]
    destination: list[Any]

    @property
    def frame(self) -> Frame:
        """The rows as they are in the file."""
        return self.file.frame

    def graph(
        self,
        engine: EngineName | None,
        by: list[Any] | None = None,
        named: Mapping[str, Any] = MappingProxyType({}),
    ) -> tuple[Any, dict[str, Any]]:
        """Return the edges for a function, with the options that name their columns.

        `named` are the columns that options name. Their text is read as numbers or times; that of
        groups and types as integers, if all of it is written so.
        """
        labels = dict.fromkeys([*self._ids, *(by or ()), *named.values()])
        frame = self.frame[list(labels)]
        read = {name: as_integers(frame[name]) for name in by or ()}
        for option, name in named.items():
            read[name] = _READERS[option](frame[name], option)
        read = {name: column for name, column in read.items() if name not in self._ids}
        frame = frame.assign(**read, **self._parts())
        ends = (self.source, self.destination)
        source, destination = (end if len(end) > 1 else end[0] for end in ends)
        options: dict[str, Any] = {"source": source, "destination": destination}
        options |= {"engine": engine, "by": by}
        options = {name: value for name, value in options.items() if value is not None}
        isolated = self.file.isolated
        if len(isolated) and by:
            note(f"vertices without an edge are in no group, left out: {len(isolated):,}")
        elif len(isolated):
            return tc.Graph(frame, vertices=isolated, **options), {}
        return frame, options

    def prepared(self, engine: EngineName | None) -> tc.Graph[pd.DataFrame]:
        """Return the graph, with the vertices that the file names without an edge."""
        graph, options = self.graph(engine)
        return graph if isinstance(graph, tc.Graph) else tc.Graph(graph, **options)

    @property
    def _ids(self) -> list[Label]:
        return [*self.source, *self.destination]

    def _parts(self) -> dict[Any, Any]:
        """Return the further columns of ids, as integers if both ends are written so."""
        found: dict[Any, Any] = {}
        for pair in list(zip(self.source, self.destination, strict=True))[1:]:
            integers = [as_integers(self.frame[name]) for name in pair]
            if not any(map(is_text, integers)):
                found |= dict(zip(pair, integers, strict=True))
        return found

    def labels(self, named: Any) -> Any:
        """Return the labels of columns that are named as in the file, or numbered from 1."""
        if isinstance(named, list):
            return [self.labels(name) for name in named]
        columns = list(self.frame.columns)
        if named in columns:
            return named
        known = ", ".join(map(repr, columns))
        numbered = FORMATS[self.file.format].numbered and named.isdecimal()
        if numbered and 0 < int(named) <= len(columns):
            if (label := columns[int(named) - 1]) not in self._ids:
                return label
            raise ColumnNotFoundError(f"column {named} has ids; the columns are {known}")
        raise ColumnNotFoundError(f"no column {named!r} in the file; it has {known}")

    def pairs(self, file: Path) -> tuple[Frame, Frame]:
        """Read a file of pairs: return its rows, and its ids under the names of the edges' own."""
        if len(self.source) > 1:
            raise ValueError("pairs= takes ids of one column here; in Python, frames of several")
        as_text = self.file.format == "text" and is_text(self.frame[self.source[0]])
        options = {"ids": "string" if as_text else None, "columns": "all"}
        found = read(file, {**options, "source": (), "destination": ()})
        names = dict(zip(found.ids, self._ids, strict=True))
        return found.frame, found.frame[[*found.ids]].rename(columns=names)

    def vertex_types(self, file: Path) -> Frame:
        """Read a file of the types of vertices, whose ids are written as those of the edges."""
        options = {"columns": "all", "source": ("vertex",), "destination": ("type",)}
        try:
            found = read(file, {**options, "ids": "string"}).frame
        except ValueError:  # other formats than text have no use for the option
            found = read(file, options).frame
        vertex = found["vertex"]
        if not is_text(self.frame[self.source[0]]):
            vertex = as_integers(vertex)
        return found[["type"]].apply(as_integers).assign(vertex=vertex)

    def ids(self, typed: str) -> list[Any]:
        """Return ids that are typed between commas, in the dtype of the file's ids."""
        if len(self.source) > 1:
            raise ValueError("vertices= takes ids of one column here; in Python, frames of several")
        rows = csv.reader(typed.splitlines() or [""], skipinitialspace=True)
        names = [name.strip() for row in rows for name in row or [""]]
        if getattr(self.frame[self.source[0]].dtype, "kind", "") not in "iu":
            return names
        if wrong := [name for name in names if not re.fullmatch("[+-]?[0-9]+", name)]:
            raise ValueError(f"vertices={typed}: {wrong[0]!r} is no integer, as the ids are")
        return [int(name) for name in names]


def open_edges(
    file: Path, reading: dict[str, Any], columns: Sequence[str] | Literal["all"]
) -> FileEdges:
    """Read the ids of a file, with other columns or all."""
    (source, *sources), (destination, *destinations) = (
        reading[name] or (None,) for name in ("source", "destination")
    )
    if len(sources) != len(destinations):
        raise ValueError(
            f"source= is given for {1 + len(sources)} columns and destination= for "
            f"{1 + len(destinations)}: an id of several columns needs as many for both ends"
        )
    more = [*sources, *destinations]
    if columns != "all":
        columns = "all" if any(map(str.isdecimal, more)) else [*columns, *more]
    first = {"source": (source,), "destination": (destination,)}
    edges = read(file, {**reading, **first, "columns": columns})
    if more and reading.get("directed") and edges.directed:
        raise ValueError(
            "directed=True takes ids of one column each, as the file says which edges have a "
            "direction"
        )
    found = FileEdges(edges, [edges.ids[0]], [edges.ids[1]])
    found.source.extend(map(found.labels, sources))
    found.destination.extend(map(found.labels, destinations))
    return found
