"""Compare datetime ids: which dtypes of which libraries mean the same moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc.errors import IdTypeError
from rapids_tc.frames.backend import Series


def same(first: Any, second: Any) -> bool:
    """Return whether two dtypes have the same unit, and equivalent time zones or none."""
    (unit, zone), (other_unit, other_zone) = _parts(first), _parts(second)
    if unit != other_unit or (zone is None) != (other_zone is None):
        return False
    return bool(zone == other_zone or (_local_times(zone) == _local_times(other_zone)).all())


def plain(dtype: Any) -> Any:
    """Return the NumPy or pandas dtype in which datetimes of any library's dtype are compared."""
    unit, zone = _parts(dtype)
    if not hasattr(dtype, "pyarrow_dtype") or _days(dtype):
        return dtype
    if zone is None:
        return np.dtype(f"datetime64[{unit}]")
    from pandas import DatetimeTZDtype

    return DatetimeTZDtype(unit, zone)


def as_asked(values: Series, dtype: Any) -> Series:
    """Return the user's datetimes, of any unit and zone, ready to be compared with ids of `dtype`.

    Beside ids that are days a moment at which none begins is null.

    Raises
    ------
    IdTypeError
        One of the two dtypes has a time zone, and the other has none.
    """
    if (_parts(values.dtype)[1] is None) != (_parts(dtype)[1] is None):
        raise IdTypeError(
            f"vertices= has dtype {values.dtype}, but the ids of the graph have dtype {dtype}: one "
            "has a time zone; convert vertices= with .dt.tz_localize"
        )
    if values.dtype == dtype:
        return _cast(values, plain(dtype))
    asked = _cast(values, np.dtype("datetime64[s]") if _days(values.dtype) else plain(values.dtype))
    if not _days(dtype):
        return asked
    days = asked.astype(dtype)
    return days.where(days.astype(asked.dtype) == asked)  # no day begins at the others


def as_added(values: Series, dtype: Any) -> Series:
    """Cast the user's datetimes to `dtype`, to become ids of the graph; see `as_asked`.

    Raises
    ------
    IdTypeError
        Also if the unit of the dtype cannot hold one of the datetimes.
    """
    asked = as_asked(values, dtype)
    try:
        made = _cast(asked, plain(dtype))
        exact = bool((made == asked).all()) and not bool(asked.isna().any())
    except ValueError:  # raised by pandas outside of the bounds of a unit
        exact = False
    if not exact:
        raise IdTypeError(
            f"vertices= has dtype {values.dtype} and holds moments that {dtype}, the dtype of the "
            "ids, cannot hold; convert the ids to a unit that can, with .dt.as_unit"
        )
    return _cast(made, dtype)


def _days(dtype: Any) -> bool:
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
    """Return local times over two centuries: zones with equal ones differ in name at most."""
    from pandas import date_range

    return date_range("1900", "2100", freq="163h", tz="UTC").tz_convert(zone).tz_localize(None)
