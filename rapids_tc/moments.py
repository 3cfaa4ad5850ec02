"""Datetimes as ids: which dtypes mean the same moments, whichever library's they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc._backend import Series
from rapids_tc.errors import IdTypeError


def same(first: Any, second: Any) -> bool:
    """Whether two dtypes have the same unit, and time zones that mean the same or none."""
    (unit, zone), (other_unit, other_zone) = _parts(first), _parts(second)
    if unit != other_unit or (zone is None) != (other_zone is None):
        return False
    return bool(zone == other_zone or (_local_times(zone) == _local_times(other_zone)).all())


def plain(dtype: Any) -> Any:
    """The dtype of NumPy's or pandas' own in which datetimes of a dtype are compared."""
    unit, zone = _parts(dtype)
    if not hasattr(dtype, "pyarrow_dtype") or _days(dtype):
        return dtype
    if zone is None:
        return np.dtype(f"datetime64[{unit}]")
    from pandas import DatetimeTZDtype

    return DatetimeTZDtype(unit, zone)


def as_asked(values: Series, dtype: Any) -> Series:
    """Moments that the user names, in whichever unit and zone, to be compared with ids of a dtype.

    Beside ids that are days a moment at which none begins is null.

    Raises
    ------
    IdTypeError
        One of the two has a time zone, and the other has none.
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
    """As `as_asked`, in that dtype, to be ids beside those of the graph.

    Raises
    ------
    IdTypeError
        Further, for a moment that the unit of the dtype cannot hold.
    """
    asked = as_asked(values, dtype)
    try:
        made = _cast(asked, plain(dtype))
        exact = bool((made == asked).all()) and not bool(asked.isna().any())
    except ValueError:  # pandas: out of the bounds of the unit
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
    """The unit and the time zone of a dtype; of days of Arrow's, the name of the type and None."""
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None:
        return getattr(arrow, "unit", str(arrow)), getattr(arrow, "tz", None)
    if isinstance(dtype, np.dtype):
        return np.datetime_data(dtype)[0], None
    return dtype.unit, dtype.tz


def _local_times(zone: Any) -> Any:
    """Local times over two centuries, which tell zones apart that have more than their names."""
    from pandas import date_range

    return date_range("1900", "2100", freq="163h", tz="UTC").tz_convert(zone).tz_localize(None)
