"""Columns that are read chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rapids_tc._typing import Series

Cut = tuple[int, int]  # the first row of a chunk, and the row past its last


@dataclass(frozen=True)
class ColumnChunks:
    """Columns in memory.

    Attributes
    ----------
    columns : tuple of Series
    outside : bool
        Whether they lie outside of memory: then chunks are read in their order alone.
    """

    columns: tuple[Series, ...]
    outside: ClassVar[bool] = False

    def read(self, cuts: Iterable[Cut]) -> Iterator[tuple[Series, ...]]:
        """Yield the rows of each cut of all columns."""
        for first, last in cuts:
            yield tuple(column.iloc[first:last] for column in self.columns)
