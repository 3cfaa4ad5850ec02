"""Numbers for ids: every later step sees a number in place of an id, and answers get the ids back.

Numbers follow the order of the ids' values. Integers in a dense range are their own numbers (less
the smallest, unless it is near zero); all other ids are factorized, column by column, so that
memory grows with the number of distinct ids, never with their values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from rapids_tc.errors import IdTypeError
from rapids_tc.frames.backend import gather
from rapids_tc.preparation import moments
from rapids_tc.preparation.composite import CompositeIds
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, integers, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

DENSE = 4  # integers are their own numbers while their range is at most this times the rows


@dataclass(frozen=True)
class DenseIds:
    """Ids that are integers, and their own numbers less `base`."""

    size: int
    base: int
    dtype: Any
    backend: Backend
    kind: str = "integer"
    dense: ClassVar[bool] = True
    nbytes: ClassVar[int] = 0  # of memory for the ids
    text: ClassVar[int] = 0

    @property
    def words(self) -> Array:
        """A uint64 per number: the value of the id, modulo 2**64."""
        return self.backend.xp.arange(self.size, dtype="uint64") + np.uint64(self.base % 2**64)

    def part(self, first: int, size: int) -> DenseIds:
        """Return the ids of the numbers from `first` on, `size` of them."""
        return replace(self, base=self.base + first, size=size)

    def number(self, ids: Array) -> Array:
        """Return the numbers of integers, all of which are among these ids."""
        if not self.base and ids.dtype != "uint64":  # no signed dtype would hold a uint64
            return ids  # the user's own buffer
        if ids.itemsize < 4:
            ids = ids.astype("int64" if ids.dtype.kind == "i" else "uint64")
        words = ids.view(
            f"uint{8 * ids.itemsize}"
        )  # modulo the width, so that no sign is in the way
        base = words.dtype.type(self.base % 2 ** (8 * ids.itemsize))
        return (words - base).astype("uint32", copy=False)

    def take(self, numbers: Array) -> Series:
        """Return the ids of some numbers, in the user's dtype."""
        scalar = np.dtype("int64" if self.base + self.size <= 2**63 else "uint64").type
        ids = numbers.astype(scalar)
        del numbers  # frees them, unless the caller holds them: they are as many as rows
        ids += scalar(self.base)
        return self.backend.library.Series(ids).astype(self.dtype)

    def find(self, ids: Series, name: str) -> Array:
        """Return the number of each id (int64) of a column; -1 for an id without a number."""
        values = integers(ids, name, self.backend)
        inside = _within(values, self.base, self.base + self.size - 1)
        numbers = (values.astype("uint64") - np.uint64(self.base % 2**64)).astype("int64")
        return self.backend.xp.where(inside, numbers, -1)


@dataclass(frozen=True)
class IndexedIds:
    """Ids of any kind, sorted by value: the number of an id is its place in `index`."""

    index: Any
    dtype: Any
    backend: Backend
    kind: str
    dense: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """The number of distinct ids."""
        return len(self.index)

    @property
    def nbytes(self) -> int:
        """The bytes of the ids."""
        return int(self.index.memory_usage(deep=True))

    @property
    def text(self) -> int:
        """The bytes of an id's text in every row of a frame, beside an offset of eight bytes.

        Zero if rows share Python's string objects.
        """
        is_shared = self.backend.library.__name__ == "pandas" and self.dtype == object
        in_rows = self.kind == "string" and not is_shared
        return max(self.nbytes // self.size - 8, 0) if in_rows and self.size else 0

    @property
    def words(self) -> Array:
        """A uint64 per number: the value of an integer id, else the number itself."""
        if self.kind == "integer":
            return self.backend.array(self.index).astype("uint64")
        return self.backend.xp.arange(self.size, dtype="uint64")

    def part(self, first: int, size: int) -> IndexedIds:
        """Return the ids of the numbers from `first` on, `size` of them."""
        return self.with_index(self.index[first : first + size])

    def with_index(self, index: Any) -> IndexedIds:
        """Return other ids of the same kind."""
        return replace(self, index=index)

    def take(self, numbers: Array) -> Series:
        """Return the ids of some numbers, in the user's dtype."""
        library, places = self.backend.library, numbers.astype("int64")
        del numbers  # frees them, unless the caller holds them: they are as many as rows
        if len(places) < self.size:
            return self._in_user_dtype(self.index.take(places))
        # Each id is converted once: all rows of an id share one of Python's string objects.
        return library.Series(library.Index(self._in_user_dtype(self.index)).take(places))

    def _in_user_dtype(self, index: Any) -> Series:
        ids = self.backend.library.Series(index)
        categories = getattr(self.dtype, "categories", None)
        if categories is not None:  # pandas finds a value only among categories of its own dtype
            ids = ids.astype(categories.dtype)
        return ids.astype(self.dtype)

    def find(self, ids: Series, name: str) -> Array:
        """Return the number of each id (int64) of a column; -1 for an id without a number."""
        xp, in_bounds = self.backend.xp, self.backend.xp.ones(len(ids), bool)
        if self.kind == "integer":
            values = integers(ids, name, self.backend)
            limits = np.iinfo(self.index.dtype)
            in_bounds = _within(values, int(limits.min), int(limits.max))
            values = xp.where(in_bounds, values, 0).astype(self.index.dtype)
            ids = self.backend.library.Series(values)
        elif self.kind == "string":
            ids = text(IdColumn(ids, name, "string"), self.backend)
        elif self.kind == "datetime":
            ids = moments.cast_named(ids, self.index.dtype, name)
            if ids.dtype != self.index.dtype:  # the bounds of the index's unit may be narrower
                ids = ids.where((ids >= self.index.min()) & (ids <= self.index.max()))
        numbers = xp.asarray(self.index.get_indexer(self.backend.library.Index(ids)))
        return xp.where(in_bounds, numbers.astype("int64"), -1)


ColumnIds = DenseIds | IndexedIds
Ids = ColumnIds | CompositeIds


def with_shared_texts(ids: Ids) -> Ids:
    """Return the ids as rows that are taken in parts share them: an object of Python for each."""
    if isinstance(ids, CompositeIds):
        return replace(ids, parts=tuple(map(with_shared_texts, ids.parts)))
    if isinstance(ids, IndexedIds) and ids.dtype == object:
        return ids.with_index(ids.backend.library.Index(ids.take(np.arange(ids.size))))
    return ids


def number(
    columns: list[IdColumn], backend: Backend, dense: tuple[int, int] | None = None
) -> tuple[list[Array], ColumnIds]:
    """Assign numbers to the ids of checked columns of one kind, all together.

    `dense` is the `dense_range` of the columns, if it is known already.

    Returns
    -------
    numbers : list of arrays of integers
        One per column.
    ids : DenseIds or IndexedIds
        The ids by number.
    """
    if columns[0].kind not in NUMERIC:
        return by_value(columns, comparison_dtype(columns[0]), backend)
    arrays, dtype = as_integers(columns, backend)
    if dense is None and all(map(can_be_dense, columns)):
        dense = dense_between(*_min_max(arrays, backend), max(map(len, arrays)))
    if dense is None:
        return by_value(columns, dtype, backend)
    base, size = dense
    ids = DenseIds(size, base, returned_dtype(columns, dtype), backend)
    return [ids.number(array) for array in arrays], ids


def comparison_dtype(first: IdColumn) -> Any:
    """Return the dtype in which ids other than numbers are compared, from their first column."""
    dtype = first.distinct.dtype
    return moments.comparison_dtype(dtype) if first.kind == "datetime" else dtype


def as_integers(columns: list[IdColumn], backend: Backend) -> tuple[list[Array], np.dtype]:
    """Return the distinct ids of columns of numbers, and their common integer dtype."""
    arrays = [integers(c.distinct, c.name, backend) for c in columns]
    dtypes = [array.dtype for array in arrays]
    return arrays, common_integer(columns, dtypes, lambda: _min_max(arrays, backend)[0])


def dense_range(columns: list[IdColumn], backend: Backend) -> tuple[int, int] | None:
    """Return the first id and the length of the range, if integers can be their own numbers."""
    if not all(can_be_dense(c) for c in columns):
        return None
    arrays = [integers(c.values, c.name, backend) for c in columns if c.kind != "empty"]
    return dense_between(*_min_max(arrays, backend), max(len(c.values) for c in columns))


def can_be_dense(column: IdColumn) -> bool:
    """Return whether a column is empty or holds numbers, and not as categories."""
    return column.kind in (*NUMERIC, "empty") and not column.categorical


def dense_between(low: int, high: int, rows: int) -> tuple[int, int] | None:
    """Return the id of number 0 and the length of the range, if ids in [low, high] are dense."""
    limit = DENSE * rows + 1024
    base = 0 if low >= 0 and high < limit else low
    return (base, high - base + 1) if high - base < limit else None


def _min_max(arrays: list[Array], backend: Backend) -> tuple[int, int]:
    """Return the least and the greatest value of all arrays; 0 and -1 if there are no arrays."""
    ranges = backend.min_max(arrays)
    return min((low for low, _ in ranges), default=0), max((high for _, high in ranges), default=-1)


def by_value(
    columns: list[IdColumn], dtype: Any, backend: Backend
) -> tuple[list[Array], IndexedIds]:
    """Factorize each column, then the distinct values of all columns together."""
    xp = backend.xp
    codes: list[Array | None] = []
    distinct: list[Any] = []
    for column in columns:
        ids = in_common_dtype(column, dtype, backend)
        if column.categorical:
            codes.append(None)
            distinct.append(backend.library.Index(ids))
        else:
            code, values = factorize(ids, column)
            codes.append(xp.asarray(code))
            distinct.append(backend.library.Index(values))
    merged, index = distinct[0].append(distinct[1:]).factorize()
    user_dtype = returned_dtype(columns, dtype)
    order = order_by_value(index, columns[0], user_dtype, backend)
    by_code = xp.empty(len(index), "uint32")
    by_code[order] = xp.arange(len(index), dtype="uint32")
    of_distinct = by_code[xp.asarray(merged)]
    starts = np.cumsum([0, *(len(values) for values in distinct)]).tolist()
    numbers = [
        column.by_row(of_distinct[start:end], backend)
        if code is None
        else gather(of_distinct[start:end], code)
        for column, code, (start, end) in zip(columns, codes, pairwise(starts), strict=True)
    ]
    kind = "integer" if columns[0].kind == "float" else columns[0].kind
    return numbers, IndexedIds(index.take(order), user_dtype, backend, kind)


def factorize(ids: Series, column: IdColumn) -> tuple[Any, Any]:
    """Return a code per row, and the distinct values; IdTypeError for values without a hash."""
    try:
        return cast("tuple[Any, Any]", ids.factorize())
    except TypeError as error:
        raise IdTypeError(
            f"{column.name} holds values that have no hash: {error}; convert the column to text"
        ) from error


def order_by_value(index: Any, column: IdColumn, dtype: Any, backend: Backend) -> Array:
    """Return the places of distinct ids in ascending order.

    Groups of an ordered categorical follow its categories.

    Raises
    ------
    IdTypeError
        The ids of the column have no order.
    """
    if column.group and getattr(dtype, "ordered", False):
        index = dtype.categories.get_indexer(index)
    try:
        return backend.xp.asarray(index.argsort())
    except TypeError as error:
        raise IdTypeError(
            f"{column.name} holds values that have no order: {error}; convert the column to text"
        ) from error


def in_common_dtype(column: IdColumn, dtype: Any, backend: Backend) -> Series:
    """Return the ids of a column, of a categorical the distinct ones, in the common dtype."""
    return text(column, backend) if column.kind == "string" else column.distinct.astype(dtype)


def returned_dtype(columns: list[IdColumn], common: Any) -> Any:
    """Return the dtype of ids in answers: the user's if all columns agree, else the common one."""
    first = columns[0]
    if first.kind == "float" or any(c.categorical != first.categorical for c in columns):
        return common
    if first.categorical:
        categories, *others = (set(_on_host(c.dtype.categories).tolist()) for c in columns)
        agree = all(other == categories for other in others)
    else:
        agree = all(c.dtype == first.dtype for c in columns[1:])
    return first.dtype if agree else common


def common_integer(
    columns: list[IdColumn], dtypes: list[np.dtype], least: Callable[[], int]
) -> np.dtype:
    """Return the widest of the dtypes; for int64 and uint64 that is uint64, never float64."""
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
    """Return which integers, of any width and sign, lie in [low, high]."""
    limits, scalar = np.iinfo(values.dtype), values.dtype.type
    if high < limits.min or low > limits.max:
        return values != values
    return (values >= scalar(max(low, limits.min))) & (values <= scalar(min(high, limits.max)))


def _on_host(values: Series) -> Series:
    return values.to_pandas() if hasattr(values, "to_pandas") else values
