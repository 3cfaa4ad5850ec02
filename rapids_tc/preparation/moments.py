"""Comparisons of datetimes: which dtypes of the libraries mean the same moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import IdTypeError

if TYPE_CHECKING:
    from rapids_tc._typing import Series


def same_moments(first: Any, second: Any) -> bool:
    """Return whether two dtypes have the same unit, and equivalent time zones or no time zone."""
    (unit, zone), (other_unit, other_zone) = _parts(first), _parts(second)
    if unit != other_unit or (zone is None) != (other_zone is None):
        return False
    return bool(zone == other_zone or (_local_times(zone) == _local_times(other_zone)).all())


def comparison_dtype(dtype: Any) -> Any:
    """Return the NumPy or pandas dtype in which datetimes of a dtype of any library are compared.

    Arrow's dates keep their own dtype.
    """
    unit, zone = _parts(dtype)
    if not hasattr(dtype, "pyarrow_dtype") or is_date(dtype):
        return dtype
    if zone is None:
        return np.dtype(f"datetime64[{unit}]")
    from pandas import DatetimeTZDtype

    return DatetimeTZDtype(unit, zone)


def cast_named(values: Series, dtype: Any, name: str) -> Series:
    """Return the user's datetimes, of any unit and zone, ready to be compared with ids of `dtype`.

    If the ids are days, a moment at which no day begins becomes null.

    Raises
    ------
    IdTypeError
        Only one of the two dtypes has a time zone.
    """
    if (_parts(values.dtype)[1] is None) != (_parts(dtype)[1] is None):
        raise IdTypeError(
            f"{name} has dtype {values.dtype}, but the ids of the graph have dtype {dtype}: one "
            f"has a time zone; convert {name} with .dt.tz_localize"
        )
    if values.dtype == dtype:
        return _cast(values, comparison_dtype(dtype))
    if is_date(values.dtype):
        datetimes = _cast(values, np.dtype("datetime64[s]"))
    else:
        datetimes = _cast(values, comparison_dtype(values.dtype))
    if not is_date(dtype):
        return datetimes
    days = datetimes.astype(dtype)
    return days.where(days.astype(datetimes.dtype) == datetimes)


def cast_added(values: Series, dtype: Any) -> Series:
    """Cast the user's datetimes to `dtype`, to become ids of the graph; see `cast_named`.

    Raises
    ------
    IdTypeError
        Only one of the dtypes has a time zone, or the unit of `dtype` cannot hold a datetime.
    """
    datetimes = cast_named(values, dtype, "vertices=")
    try:
        cast = _cast(datetimes, comparison_dtype(dtype))
        exact = bool((cast == datetimes).all()) and not bool(datetimes.isna().any())
    except ValueError:  # pandas raises it outside of the bounds of a unit
        exact = False
    if not exact:
        raise IdTypeError(
            f"vertices= has dtype {values.dtype} and holds moments that {dtype}, the dtype of the "
            "ids, cannot hold; convert the ids to a unit that can, with .dt.as_unit"
        )
    return _cast(cast, dtype)


def counting_unit(dtype: Any) -> str:
    """Return the unit in which datetimes of a dtype are counted; for Arrow's dates, the second."""
    return "s" if is_date(dtype) else str(_parts(dtype)[0])


def zone(dtype: Any) -> Any:
    """Return the time zone of a dtype of datetimes, or None."""
    return _parts(dtype)[1]


def counts(values: Series) -> Series:
    """Count datetimes of any library from the start of 1970 in UTC, in `counting_unit`: int64."""
    dtype = values.dtype
    comparable = np.dtype("datetime64[s]") if is_date(dtype) else comparison_dtype(dtype)
    datetimes = _cast(values, comparable)
    if zone(dtype) is not None:
        datetimes = datetimes.dt.tz_convert(None)
    return datetimes.astype("int64")


def is_date(dtype: Any) -> bool:
    """Return whether a dtype of datetimes is one of Arrow's dates."""
    return bool(_parts(dtype)[0].startswith("date"))


def _cast(values: Series, dtype: Any) -> Series:
    return values if values.dtype == dtype else values.astype(dtype)


def _parts(dtype: Any) -> tuple[Any, Any]:
    """Return the unit and the time zone of a dtype; for Arrow's dates, the type's name and None."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None:
        return getattr(arrow, "unit", str(arrow)), getattr(arrow, "tz", None)
    if isinstance(dtype, np.dtype):
        return np.datetime_data(dtype)[0], None
    return dtype.unit, dtype.tz


def _local_times(zone: Any) -> Any:
    """Return local times over two centuries; zones whose local times are equal are equivalent."""
    from pandas import date_range

    return date_range("1900", "2100", freq="163h", tz="UTC").tz_convert(zone).tz_localize(None)
