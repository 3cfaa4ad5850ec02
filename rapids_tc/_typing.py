"""Names of types whose values come from several libraries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any, Literal, Protocol

from numpy import generic

# These values are made by the modules `Backend.xp` and `Backend.library`, which are chosen at run
# time: for a type checker all that the modules return is Any, and protocols would check nothing.
Array = Any  # a NumPy or CuPy array
Series = Any  # a pandas or cuDF Series
Frame = Any  # a frame of any library
ArrayModule = Any  # NumPy or CuPy
DType = Any  # a dtype of any library

Label = Hashable  # the name of a column
Labels = Hashable | Sequence[Hashable]


class Values(Protocol):  # a Series or an array
    def __len__(self) -> int: ...
    def __getitem__(self, place: Any, /) -> Any: ...


Groups = Hashable | Sequence[Any] | Values  # of columns, of values beside the rows, or of periods
Sources = dict[Any, tuple[Any, ...]]  # by column of an answer, the columns that it comes from
Vertices = Iterable[Any]  # a list, array, Series or Index of ids, or a frame of several columns
ByteSize = int | str  # bytes, or a text such as "2GB"
Length = float | str | timedelta | generic  # a length of time
Moment = float | str | date | generic  # a time; a datetime is a date

EngineName = Literal["cpu", "cuda"]
ENGINES: tuple[EngineName, ...] = ("cpu", "cuda")
RankingMeasure = Literal[
    "jaccard", "cosine", "sorensen", "overlap", "common_neighbors", "adamic_adar",
    "resource_allocation",
]  # fmt: skip
Side = Literal["source", "destination"]
ProjectionMeasure = Literal[
    "jaccard", "cosine", "sorensen", "overlap", "adamic_adar", "resource_allocation", "newman",
    "ratio",
]  # fmt: skip
Aggregate = Literal["first", "last", "sum", "mean", "min", "max"]

# Names that a table of the package holds: type checkers find them in `__init__.pyi`.
Function = str  # `plan.record`
Measure = str  # `analytics.similarity`
Method = str  # `kernels.catalogue`
