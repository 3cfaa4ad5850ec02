"""Checks of id columns: which values may name a vertex, and what is wrong with the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import IdTypeError, NullIdError
from rapids_tc.frames.backend import gather, sum64
from rapids_tc.preparation import decimals, moments

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

NUMERIC = ("integer", "float")
KINDS = (*NUMERIC, "string", "datetime")
HINT = (
    "accepted: integers, strings, categories, datetimes, and floats or decimals that are whole "
    "numbers; convert the column to one of them"
)
ROWS = (
    "an edge needs both ends. Drop those rows; isolated vertices are given with Graph(vertices=...)"
)
GROUPS = "a row needs a group. Drop those rows, or fill them"


@dataclass(frozen=True)
class IdColumn:
    """One column of ids.

    Attributes
    ----------
    values : Series
        The column.
    name : str
        What messages call the column.
    kind : str
        One of `KINDS`; "empty" if the column has no rows; "any" for other values that may name
        groups, but no vertices; else a description of the values.
    used : array of int or None
        The ascending codes of the categories that occur; None if all of them occur.
    group : bool
        Whether the column holds groups.
    """

    values: Series
    name: str
    kind: str
    used: Array | None = None
    group: bool = False

    @cached_property
    def dtype(self) -> Any:
        """The dtype of the column."""
        return self.values.dtype

    @cached_property
    def categorical(self) -> bool:
        """Whether the column is categorical."""
        return _is_categorical(self.dtype)

    @cached_property
    def distinct(self) -> Series:
        """The categories that occur in a categorical column; any other column unchanged."""
        return _distinct(self.values, self.used)

    def by_row(self, values: Array, backend: Backend) -> Array:
        """Repeat values of the distinct ids of a categorical for the rows of the column."""
        if self.used is not None:
            by_code = backend.xp.zeros(len(self.dtype.categories), values.dtype)
            by_code[self.used] = values
            values = by_code
        return gather(values, backend.array(self.values.cat.codes))


def describe(values: Series, name: str, backend: Backend, advice: str = ROWS) -> IdColumn:
    """Describe a column; NullIdError, with that advice, if an id is missing."""
    column, nulls = inspect(values, name, backend)
    refuse_nulls(nulls, name, advice)
    return column


def inspect(values: Series, name: str, backend: Backend) -> tuple[IdColumn, int]:
    """Describe a column, and count its missing ids, if its kind may name vertices."""
    if not is_integer(values.dtype):
        values = decimals.as_numbers(values)
    return _inspect(values, name, backend)


def _inspect(values: Series, name: str, backend: Backend) -> tuple[IdColumn, int]:
    if len(values) == 0:
        return IdColumn(values, name, "empty"), 0
    used = _used(values, backend) if _is_categorical(values.dtype) else None
    kind = _kind(_distinct(values, used), backend)
    nulls = count_nulls(values) if kind in KINDS or kind == "empty" else 0
    return IdColumn(values, name, kind, used), nulls


def indexable(values: Series) -> Series:
    """Return values as pandas can group them: numbers of full precision, in native byte order."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        values = values.astype(dtype.newbyteorder("="))
    return values.astype("float32") if str(values.dtype).lower() == "float16" else values


def inspect_group(values: Series, name: str, backend: Backend) -> tuple[IdColumn, int]:
    """Describe a column of groups, which may hold any hashable values; count the missing ones."""
    is_integer = values.dtype.kind in "iu"  # of which groups keep the dtype, as ids do
    column, nulls = _inspect(values if is_integer else indexable(values), name, backend)
    if column.kind in ("integer", "string", "datetime", "empty"):
        return replace(column, group=True), nulls
    return replace(column, kind="any", group=True), count_nulls(values)


def no_groups(dtype: Any) -> str:
    """Return why values of a dtype cannot be groups, for dtypes on which pandas fails; else ""."""
    arrow = str(getattr(dtype, "pyarrow_dtype", ""))
    if arrow.startswith(("struct", "list", "large_list", "fixed_size_list", "map", "dictionary",
                         "dense_union", "sparse_union", "run_end_encoded")):  # fmt: skip
        return f"pandas compares no values of the dtype {dtype}"
    is_long = isinstance(dtype, np.dtype) and dtype.kind in "fc" and dtype.itemsize % 16 == 0
    is_long = is_long and dtype != "complex128"
    return f"pandas has no Index of the dtype {dtype}" if is_long else ""


def check_groups(columns: list[IdColumn]) -> None:
    """Raise IdTypeError if columns cannot hold groups, or those of partitions do not agree."""
    first = columns[0]
    for column in columns:
        if refused := no_groups(column.dtype):
            raise IdTypeError(f"{column.name}: {refused}; convert the column to text")
    for other in columns[1:]:
        differ = "any" in (first.kind, other.kind) and first.dtype != other.dtype
        if first.kind != other.kind or (differ and not (first.categorical and other.categorical)):
            raise IdTypeError(
                f"{first.name} has dtype {first.dtype} and {other.name} {other.dtype}: groups "
                "need one kind of values; convert one of them"
            )
    if first.kind == "datetime":
        check(columns)


def check(columns: list[IdColumn]) -> None:
    """Raise IdTypeError if a column, or all columns together, cannot name vertices."""
    refused = [column for column in columns if column.kind not in KINDS]
    if refused:
        listed = " and ".join(f"{c.name} has dtype {c.dtype} ({c.kind})" for c in refused)
        raise IdTypeError(f"{listed}, which cannot name vertices; {HINT}")
    first = columns[0]
    for other in columns[1:]:
        both = f"{first.name} has dtype {first.dtype} and {other.name} {other.dtype}"
        if first.kind != other.kind and not (first.kind in NUMERIC and other.kind in NUMERIC):
            raise IdTypeError(
                f"{both}: {first.kind} and {other.kind} ids name no common vertices; "
                "convert one of them"
            )
        if first.kind == "datetime" and not moments.same_moments(
            first.distinct.dtype, other.distinct.dtype
        ):
            raise IdTypeError(
                f"{both}: datetimes need the same unit and time zone; "
                "convert one with .dt.as_unit, .dt.tz_convert or .dt.tz_localize"
            )


def _as_numpy_dtype(values: Series, dtype: str, backend: Backend) -> Array:
    """Return values in a NumPy dtype. They are not copied if they have it; cuDF's astype would."""
    return backend.array(values if values.dtype == dtype else values.astype(dtype))


def integers(values: Series, name: str, backend: Backend) -> Array:
    """Return integer ids, or whole floats, as integers; IdTypeError for other floats."""
    dtype = values.dtype
    width = 8 * dtype.itemsize
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and dtype.isnative:
        return backend.array(values)
    if dtype.kind in "iu":
        return _as_numpy_dtype(values, f"{'u' * (dtype.kind == 'u')}int{width}", backend)
    array = _as_numpy_dtype(values, f"float{width}", backend)
    limit = 24 if width == 32 else 53
    whole = (array == backend.xp.floor(array)) & (abs(array) < 2.0**limit)
    if sum64(whole) < len(whole):
        first = float(array[int(backend.xp.argmin(whole))])
        raise IdTypeError(
            f"{name} has dtype {dtype} and holds {first!r}: float ids must be whole numbers below "
            f"2**{limit}; convert the column to integers or strings"
        )
    return array.astype("int64")


def _kind(values: Series, backend: Backend) -> str:
    """Return one of `KINDS`, "empty", or a description of values of any other kind."""
    dtype = values.dtype
    if len(values) == 0:
        return "empty"
    if is_integer(dtype):
        return "integer"  # most columns; the tests below would slow a small call down
    if type(dtype).__name__ == "SparseDtype":
        return "sparse"
    arrow = str(getattr(dtype, "pyarrow_dtype", ""))
    if type(dtype).__name__ == "StringDtype" or arrow in ("string", "large_string"):
        return "string"
    if (arrow and dtype.kind not in "iufM") or str(dtype).startswith("decimal"):
        return arrow or "decimal"
    if dtype.kind in "iuM":
        return "datetime" if dtype.kind == "M" else "integer"
    if dtype.kind == "f":
        return "float" if dtype.itemsize >= 4 else "half precision"
    if dtype.kind != "O" or str(dtype) != "object":
        return str(dtype)
    if backend.library.__name__ == "cudf":
        return "string"
    from pandas.api.types import infer_dtype

    inferred = infer_dtype(values.dropna(), skipna=False)  # `inspect` counts the nulls
    return inferred if inferred in ("string", "empty") else f"objects: {inferred}"


def text(column: IdColumn, backend: Backend) -> Series:
    """Return strings in Arrow's dtype: pandas would hash an object of text up to a NUL only."""
    values = column.distinct
    if backend.library.__name__ == "cudf":
        return values
    try:
        return values.astype(_arrow_text(backend.library))
    except UnicodeEncodeError as error:
        raise IdTypeError(
            f"{column.name} holds text that UTF-8 cannot encode: {error}; map it to other text"
        ) from error
    except ImportError:
        if values.dtype != "str":
            values = values.astype("str")
        if bool(values.str.contains("\0", regex=False).any()):
            raise IdTypeError(
                f"{column.name} holds strings with NUL characters: install PyArrow for those"
            ) from None
        return values


def _arrow_text(pandas: Any) -> Any:
    """Return the dtype of text in Arrow whose missing values are NaN."""
    try:
        return pandas.StringDtype("pyarrow", na_value=np.nan)
    except TypeError:  # of pandas 2.2, which names it otherwise
        return pandas.StringDtype("pyarrow_numpy")


def count_nulls(values: Series) -> int:
    """Count the missing values of a column; NaN is missing, too."""
    if is_integer(values.dtype):
        # pandas has no nulls in these. Its class is asked: a Series is slow to say it lacks a name.
        nulls = values.null_count if hasattr(type(values), "null_count") else 0
    else:
        nulls = int(values.isna().sum())
    if values.dtype.kind == "f":
        nulls = max(nulls, int((values != values).sum()))
    return nulls


def refuse_nulls(nulls: int, name: str, advice: str = ROWS) -> None:
    """Raise NullIdError if ids are missing in the column of that name."""
    if nulls:
        raise NullIdError(f"{name} has {nulls} null{'s' if nulls > 1 else ''}: {advice}")


def is_integer(dtype: Any) -> bool:
    """Return whether a dtype is one of NumPy's integers."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iu"


def _is_categorical(dtype: Any) -> bool:
    return type(dtype).__name__ == "CategoricalDtype"


def _used(values: Series, backend: Backend) -> Array | None:
    """Return the ascending codes of the categories that occur; None if all of them occur."""
    codes = values.cat.codes.dropna().unique()  # cuDF has no code for a missing value, pandas -1
    codes = backend.xp.sort(backend.xp.asarray(codes))
    used = codes[codes >= 0]
    return used if len(used) < len(values.dtype.categories) else None


def _distinct(values: Series, used: Array | None) -> Series:
    if not _is_categorical(values.dtype):
        return values
    categories = values.cat.categories.to_series().reset_index(drop=True)
    return categories if used is None else categories.take(used).reset_index(drop=True)
