"""Numbers for ids: a number stands for an id in all code behind, and there is a way back.

Numbers are in the order of the ids' values. Integers in a dense range are their own numbers (less
the smallest, where it is not near zero); all other ids are factorized, column by column, so that
memory follows how many distinct ids there are, never how large they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from rapids_tc.errors import IdTypeError
from rapids_tc.frames.backend import Array, Backend, Series, gathered
from rapids_tc.preparation import moments
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, integers, text

DENSE = 4  # integers are their own numbers while their range is at most this times the rows


@dataclass(frozen=True)
class DenseIds:
    """Integers that are their own numbers, less `base`."""

    size: int
    base: int
    dtype: Any
    backend: Backend
    kind: str = "integer"
    dense: ClassVar[bool] = True
    nbytes: ClassVar[int] = 0  # that are held
    text: ClassVar[int] = 0

    @property
    def words(self) -> Array:
        """A uint64 for each number, made of the id's value."""
        return self.backend.xp.arange(self.size, dtype="uint64") + np.uint64(self.base % 2**64)

    def number(self, ids: Array) -> Array:
        """The numbers of integers that are all among these ids."""
        if not self.base and ids.dtype != "uint64":  # which no signed type holds
            return ids  # the user's own buffer
        return (ids.astype("uint64") - np.uint64(self.base % 2**64)).astype("uint32")

    def take(self, numbers: Array) -> Series:
        """The ids of some numbers, in the dtype the user gave."""
        wide = np.dtype("int64" if self.base + self.size <= 2**63 else "uint64").type
        ids = numbers.astype(wide)
        del numbers  # if nobody else holds them: there are as many as a frame has rows
        ids += wide(self.base)
        return self.backend.library.Series(ids).astype(self.dtype)

    def find(self, ids: Series) -> Array:
        """The number of each id (int64), -1 where it has none."""
        values = integers(ids, "vertices=", self.backend)
        inside = _within(values, self.base, self.base + self.size - 1)
        numbers = (values.astype("uint64") - np.uint64(self.base % 2**64)).astype("int64")
        return self.backend.xp.where(inside, numbers, -1)


@dataclass(frozen=True)
class IndexedIds:
    """Any ids, sorted by value: the number of an id is its place in `index`."""

    index: Any
    dtype: Any
    backend: Backend
    kind: str
    dense: ClassVar[bool] = False

    @property
    def size(self) -> int:
        return len(self.index)

    @property
    def nbytes(self) -> int:
        """Bytes of the ids."""
        return int(self.index.memory_usage(deep=True))

    @property
    def text(self) -> int:
        """Bytes of an id's text in every row of a frame, beside eight that say where it is.

        Rows share strings of Python's.
        """
        shared = self.backend.library.__name__ == "pandas" and self.dtype == object
        in_rows = self.kind == "string" and not shared
        return max(self.nbytes // self.size - 8, 0) if in_rows and self.size else 0

    @property
    def words(self) -> Array:
        """A uint64 for each number, made of the id's value where that is an integer."""
        if self.kind == "integer":
            return self.backend.array(self.index).astype("uint64")
        return self.backend.xp.arange(self.size, dtype="uint64")

    def take(self, numbers: Array) -> Series:
        """The ids of some numbers, in the dtype the user gave."""
        library, places = self.backend.library, numbers.astype("int64")
        del numbers  # if nobody else holds them: there are as many as a frame has rows
        if len(places) < self.size:
            return self._returned(self.index.take(places))
        # Each id is made what the user gave once: all rows of an id share one string of Python's.
        return library.Series(library.Index(self._returned(self.index)).take(places))

    def _returned(self, index: Any) -> Series:
        ids = self.backend.library.Series(index)
        categories = getattr(self.dtype, "categories", None)
        if categories is not None:  # pandas finds a value only among categories of its own dtype
            ids = ids.astype(categories.dtype)
        return ids.astype(self.dtype)

    def find(self, ids: Series) -> Array:
        """The number of each id (int64), -1 where it has none."""
        xp, known = self.backend.xp, self.backend.xp.ones(len(ids), bool)
        if self.kind == "integer":
            values = integers(ids, "vertices=", self.backend)
            limits = np.iinfo(self.index.dtype)
            known = _within(values, int(limits.min), int(limits.max))
            ids = self.backend.library.Series(xp.where(known, values, 0).astype(self.index.dtype))
        elif self.kind == "string":
            ids = text(IdColumn(ids, "vertices=", "string"), self.backend)
        elif self.kind == "datetime":
            ids = moments.as_asked(ids, self.index.dtype)
            if ids.dtype != self.index.dtype:  # the bounds of its unit may be narrower
                ids = ids.where((ids >= self.index.min()) & (ids <= self.index.max()))
        found = xp.asarray(self.index.get_indexer(self.backend.library.Index(ids)))
        return xp.where(known, found.astype("int64"), -1)


Ids = DenseIds | IndexedIds


def number(
    columns: list[IdColumn], backend: Backend, dense: tuple[int, int] | None = None
) -> tuple[list[Array], Ids]:
    """Number the ids of checked columns of one kind, all together.

    `dense` is their `dense_range`, if it is known already.

    Returns
    -------
    arrays of integers, one a column, and the way back to the ids.
    """
    if columns[0].kind not in NUMERIC:
        return _by_value(columns, compared(columns[0]), backend)
    arrays, dtype = as_integers(columns, backend)
    found = dense or dense_range(columns, backend)
    if found is None:
        return _by_value(columns, dtype, backend)
    base, size = found
    ids = DenseIds(size, base, returned(columns, dtype), backend)
    return [ids.number(array) for array in arrays], ids


def compared(first: IdColumn) -> Any:
    """Return the dtype in which ids other than numbers are compared, given their first column."""
    dtype = first.distinct.dtype
    return moments.plain(dtype) if first.kind == "datetime" else dtype


def as_integers(columns: list[IdColumn], backend: Backend) -> tuple[list[Array], np.dtype]:
    """The distinct ids of columns of numbers, and the dtype in which they meet."""
    arrays = [integers(c.distinct, c.name, backend) for c in columns]
    dtypes = [array.dtype for array in arrays]
    return arrays, common_integer(columns, dtypes, lambda: _extent(arrays, backend)[0])


def dense_range(columns: list[IdColumn], backend: Backend) -> tuple[int, int] | None:
    """The first id and how many there are from it on, where integers can number themselves."""
    if not all(may_be_dense(c) for c in columns):
        return None
    arrays = [integers(c.values, c.name, backend) for c in columns if c.kind != "empty"]
    return dense_between(*_extent(arrays, backend), max(len(c.values) for c in columns))


def may_be_dense(column: IdColumn) -> bool:
    """Whether the ids of a column are integers, or whole floats, as they stand."""
    return column.kind in (*NUMERIC, "empty") and not column.categorical


def dense_between(low: int, high: int, rows: int) -> tuple[int, int] | None:
    """The first number's id and how many there are, where ids of [low, high] are dense enough."""
    room = DENSE * rows + 1024
    base = 0 if low >= 0 and high < room else low
    return (base, high - base + 1) if high - base < room else None


def _extent(arrays: list[Array], backend: Backend) -> tuple[int, int]:
    """The least and the greatest of all; 0 and -1 without any."""
    ends = [backend.min_max(a) for a in arrays]
    return min((e[0] for e in ends), default=0), max((e[1] for e in ends), default=-1)


def _by_value(columns: list[IdColumn], dtype: Any, backend: Backend) -> tuple[list[Array], Ids]:
    """Factorize each column, then the distinct values of all columns together."""
    xp = backend.xp
    codes: list[Array | None] = []
    distinct: list[Any] = []
    for column in columns:
        cast = in_common(column, dtype, backend)
        if column.categorical:
            codes.append(None)
            distinct.append(backend.library.Index(cast))
        else:
            code, values = cast.factorize()
            codes.append(xp.asarray(code))
            distinct.append(backend.library.Index(values))
    merged, index = distinct[0].append(distinct[1:]).factorize()
    order = xp.asarray(index.argsort())
    place = xp.empty(len(index), "uint32")
    place[order] = xp.arange(len(index), dtype="uint32")
    place = place[xp.asarray(merged)]
    starts = np.cumsum([0, *(len(values) for values in distinct)]).tolist()
    numbers = [
        column.by_row(place[start:end], backend)
        if code is None
        else gathered(place[start:end], code)
        for column, code, (start, end) in zip(columns, codes, pairwise(starts), strict=True)
    ]
    kind = "integer" if columns[0].kind == "float" else columns[0].kind
    return numbers, IndexedIds(index.take(order), returned(columns, dtype), backend, kind)


def in_common(column: IdColumn, dtype: Any, backend: Backend) -> Series:
    """The distinct ids of a column, or all, in the dtype in which those of all columns meet."""
    return text(column, backend) if column.kind == "string" else column.distinct.astype(dtype)


def returned(columns: list[IdColumn], common: Any) -> Any:
    """The dtype ids come back in: as given where all columns agree, else the common one."""
    first = columns[0]
    if first.kind == "float" or any(c.categorical != first.categorical for c in columns):
        return common
    if first.categorical:
        own, *others = (set(_host(c.dtype.categories).tolist()) for c in columns)
        same = all(other == own for other in others)
        return first.dtype if same else common
    same = all(c.dtype == first.dtype for c in columns[1:])
    return first.dtype if same else common


def common_integer(
    columns: list[IdColumn], dtypes: list[np.dtype], least: Callable[[], int]
) -> np.dtype:
    """The wider of the dtypes; int64 beside uint64 meets in uint64, never in float64."""
    common = np.result_type(*dtypes)
    if common.kind != "f":
        return common
    if least() < 0:
        raise IdTypeError(
            f"{' and '.join(f'{c.name} ({c.dtype})' for c in columns)} hold ids of uint64 "
            "and negative ones, which no integer dtype holds together; convert them to strings"
        )
    return np.dtype("uint64")


def _within(values: Array, low: int, high: int) -> Array:
    """Which integers lie in [low, high], whatever their width and sign."""
    own = np.iinfo(values.dtype)
    if high < own.min or low > own.max:
        return values != values
    return (values >= values.dtype.type(max(low, own.min))) & (
        values <= values.dtype.type(min(high, own.max))
    )


def _host(values: Series) -> Series:
    return values.to_pandas() if hasattr(values, "to_pandas") else values
