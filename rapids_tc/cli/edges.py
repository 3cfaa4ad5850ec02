"""The edges of a file as a command asks about them: with the file's own columns and names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rapids_tc as tc
from rapids_tc.cli.reading import read
from rapids_tc.errors import ColumnNotFoundError

if TYPE_CHECKING:
    from pathlib import Path

    from rapids_tc._typing import EngineName
    from rapids_tc.plan.record import Analytic, OwnOptions


@dataclass(frozen=True)
class FileEdges:
    """The edges of a file.

    Attributes
    ----------
    frame : pandas.DataFrame
        The rows, with the columns that the call needs.
    source, destination : label
        The id columns.
    isolated : numpy.ndarray
        Vertices that the file names without an edge.
    """

    frame: Any
    source: Any
    destination: Any
    isolated: Any

    def graph(self, engine: EngineName | None, by: Any) -> tuple[Any, dict[str, Any]]:
        """Return the edges for a function, with the options that name their columns."""
        options = {"source": self.source, "destination": self.destination}
        options |= {"engine": engine, "by": by}
        options = {name: value for name, value in options.items() if value is not None}
        if len(self.isolated):
            return tc.Graph(self.frame, vertices=self.isolated, **options), {}
        return self.frame, options

    def labels(self, named: Any) -> Any:
        """Return the labels of columns that are named as in the file, or numbered from 1."""
        if isinstance(named, list):
            return [self.labels(name) for name in named]
        columns = list(self.frame.columns)
        if named in columns:
            return named
        if named.isdecimal() and 0 < int(named) <= len(columns):
            return columns[int(named) - 1]
        listed = ", ".join(map(repr, columns))
        raise ColumnNotFoundError(f"no column {named!r} in the file; it has {listed}")

    def ids(self, typed: str) -> list[Any]:
        """Return ids that are typed between commas, in the dtype of the file's ids."""
        names = [name.strip() for name in typed.split(",")]
        is_integer = getattr(self.frame[self.source].dtype, "kind", "") in "iu"
        return [int(name) for name in names] if is_integer else names


def open_edges(
    file: Path, reading: dict[str, Any], record: Analytic, asked: OwnOptions
) -> FileEdges:
    """Read the columns of a file that a call needs."""
    edges = read(file, reading)
    return FileEdges(edges.frame, "src", "dst", edges.isolated)
