"""Columns of decimals, as databases and Python have them, as integers or floats."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.frames.adapters import pyarrow, root

if TYPE_CHECKING:
    from rapids_tc._typing import Series

_EXACT = 2**53


def as_numbers(values: Series, *, floats: bool = False) -> Series:
    """Return a column of decimals as int64 or uint64 if they are whole, else as float64.

    A dtype of decimals without decimal places is whole. Of Python's decimals the values decide, and
    with `floats` they always become float64: parts of one column then agree. Other columns, and
    whole numbers of more than 64 bits, are returned unchanged.
    """
    kind = _kind(values)
    if kind == "python":
        return _of_python(values, floats=floats)
    if kind == "arrow" and values.dtype.pyarrow_dtype.scale <= 0:
        return _whole(values)
    if kind == "cudf" and values.dtype.scale == 0:
        return values.astype("int64") if abs(values).max() < 2**63 else values
    return values.astype("float64") if kind else values


def is_rounded(values: Series) -> bool:
    """Return whether a column of decimals holds values that no float64 is equal to."""
    kind = _kind(values)
    if kind == "python":
        return any(Decimal(float(value)) != value for value in values.dropna())
    if not kind:
        return False
    dtype = getattr(values.dtype, "pyarrow_dtype", values.dtype)
    if dtype.scale <= 0:
        return False
    # With s decimal places, n / 10**s is a float64 if it is a multiple of 2**-s, and n below 2**53.
    numbers = values.dropna().astype("float64").to_numpy()
    steps = np.ldexp(numbers, dtype.scale)
    return bool(
        (steps != np.floor(steps)).any() or (abs(numbers) >= _EXACT / 10**dtype.scale).any()
    )


def _kind(values: Series) -> str:
    """Return whose decimals a column holds: "python", "arrow", "cudf"; "" for other columns."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return ""  # most columns: what follows takes as long as a step of a small call
    if str(getattr(dtype, "pyarrow_dtype", "")).startswith("decimal"):
        return "arrow"
    if root(values) == "cudf":
        return "cudf" if str(dtype).startswith("decimal") else ""
    if str(dtype) != "object" or not len(values):
        return ""
    first = values.iloc[0] if values.iloc[0] is not None else next(iter(values.dropna()), None)
    if not isinstance(first, Decimal):
        return ""
    from pandas.api.types import infer_dtype

    return "python" if infer_dtype(values, skipna=True) == "decimal" else ""


def _of_python(values: Series, *, floats: bool) -> Series:
    whole = not floats and not values.isna().any()
    if whole and all(value.is_finite() and value == int(value) for value in values):
        integers = [int(value) for value in values]
        for dtype in ("int64", "uint64"):
            if np.iinfo(dtype).min <= min(integers) and max(integers) <= np.iinfo(dtype).max:
                return type(values)(integers, values.index, dtype, values.name)
        return values
    return values.astype("float64")


def _whole(values: Series) -> Series:
    """Return whole decimals of Arrow as integers; as floats if some are missing."""
    arrow: Any = pyarrow()
    if values.isna().any():
        return values.astype("float64")
    for kind in (arrow.int64(), arrow.uint64()):
        try:
            numbers = arrow.array(values.array).cast(kind).to_numpy(zero_copy_only=False)
        except arrow.ArrowInvalid:
            continue
        return type(values)(numbers, values.index, name=values.name)
    return values
