"""The edges of a file as a command asks about them: with the file's own columns and names."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import rapids_tc as tc
from rapids_tc.cli.output import note
from rapids_tc.cli.reading import read
from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.files.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rapids_tc._typing import EngineName


@dataclass(frozen=True)
class FileEdges:
    """The edges of a file.

    Attributes
    ----------
    frame : pandas.DataFrame
        The rows as they are in the file, with its names; of a text, what is no id is text.
    source, destination : label
        The id columns.
    isolated : numpy.ndarray
        Vertices that the file names without an edge.
    numbered : bool
        Whether columns may be named by number.
    """

    frame: Any
    source: Any
    destination: Any
    isolated: Any
    numbered: bool

    def graph(
        self, engine: EngineName | None, by: list[Any] | None = None, named: Sequence[Any] = ()
    ) -> tuple[Any, dict[str, Any]]:
        """Return the edges for a function, with the options that name their columns.

        Columns that are `named` hold numbers or times if their text does, columns of groups
        integers if these are written as the text is.
        """
        labels = dict.fromkeys([self.source, self.destination, *(by or ()), *named])
        frame = self.frame[list(labels)]
        groups = {name: _as_integers(frame[name]) for name in by or () if name not in self._ids}
        read = {name: _read(frame[name]) for name in named if name not in self._ids}
        frame = frame.assign(**groups, **read)
        options = {"source": self.source, "destination": self.destination}
        options |= {"engine": engine, "by": by}
        options = {name: value for name, value in options.items() if value is not None}
        if len(self.isolated) and by:
            note(f"{len(self.isolated):,} vertices without an edge are in no group")
        elif len(self.isolated):
            return tc.Graph(frame, vertices=self.isolated, **options), {}
        return frame, options

    @property
    def _ids(self) -> tuple[Any, Any]:
        return self.source, self.destination

    def labels(self, named: Any) -> Any:
        """Return the labels of columns that are named as in the file, or numbered from 1."""
        if isinstance(named, list):
            return [self.labels(name) for name in named]
        columns = list(self.frame.columns)
        if named in columns:
            return named
        if self.numbered and named.isdecimal() and 0 < int(named) <= len(columns):
            if (label := columns[int(named) - 1]) not in self._ids:
                return label
            raise ColumnNotFoundError(f"column {named} has ids; the columns are {columns}")
        raise ColumnNotFoundError(
            f"no column {named!r} in the file; it has {', '.join(map(repr, columns))}"
        )

    def ids(self, typed: str) -> list[Any]:
        """Return ids that are typed between commas, in the dtype of the file's ids."""
        names = [name.strip() for name in typed.split(",")]
        is_integer = getattr(self.frame[self.source].dtype, "kind", "") in "iu"
        return [int(name) for name in names] if is_integer else names


def open_edges(
    file: Path, reading: dict[str, Any], columns: Sequence[str] | Literal["all"]
) -> FileEdges:
    """Read the ids of a file, with other columns or all."""
    edges = read(file, {**reading, "columns": columns})
    return FileEdges(edges.frame, *edges.ids, edges.isolated, FORMATS[edges.format].numbered)


def _as_integers(column: Any) -> Any:
    """Return a column of text as integers, if they are written as the text is; 007 is not 7."""
    import pandas as pd

    if not _is_text(column):
        return column
    with suppress(ValueError, TypeError, OverflowError):
        integers = pd.to_numeric(column).astype("int64")
        if (integers.astype(str) == column).all():
            return integers
    return column


def _read(column: Any) -> Any:
    """Return a column of text as numbers or as times of ISO 8601, if each value is one."""
    import pandas as pd

    to_times = partial(pd.to_datetime, format="ISO8601")
    for convert in (pd.to_numeric, to_times) if _is_text(column) else ():
        with suppress(ValueError, TypeError, OverflowError):
            return convert(column)
    return column


def _is_text(column: Any) -> bool:
    from pandas.api.types import is_string_dtype

    return bool(is_string_dtype(column.dtype))
