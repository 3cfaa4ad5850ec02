"""Groups that are no columns of the edges: Series, arrays, and periods of a column of times."""

from __future__ import annotations

import sys
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.frames.adapters import column_of_arrow, gpu_libraries, pyarrow, root
from rapids_tc.frames.arrays import ArraysAdapter, is_array, plain_array
from rapids_tc.frames.wrapped import native
from rapids_tc.preparation import moments
from rapids_tc.preparation.edge_columns import check_label, shown_as
from rapids_tc.preparation.given import Given
from rapids_tc.preparation.id_columns import GROUPS, inspect, refuse_nulls

if TYPE_CHECKING:
    from rapids_tc._typing import Frame, Label, Series
    from rapids_tc.frames.backend import Backend

FRAMES = ("pandas", "cudf", "polars", "pyarrow")  # libraries that have columns of their own


def read_groups(by: Any, frame: Frame, backend: Backend) -> Any:
    """Return `by` with a `Given` in the place of each Series, array and Grouper.

    What has no name of its own is called "by"; if there are several, "by_1", "by_2" and so on.

    Raises
    ------
    ValueError
        There is not one value per row, or the index of a Series is not that of the frame, or the
        column of a Grouper holds no datetimes.
    TypeError
        Values are of another library than the edges, or a Grouper has no key or no periods.
    """
    several = _several(by)
    if not any(map(_is_given, several)):
        return by
    nameless = sum(_is_values(each) and _name(each) is None for each in several)
    names = iter(["by"] if nameless == 1 else [f"by_{i + 1}" for i in range(nameless)])
    found = []
    for each in several:
        if _is_grouper(each):
            found.append(_periods(each, frame, backend))
        elif _is_values(each):
            name = _name(each)
            found.append(_given(each, next(names) if name is None else name, frame, backend))
        else:
            found.append(each)
    return found


def refuse_groups(by: Any, kind: str) -> None:
    """Raise TypeError if groups are no columns, as they are to be in some kind of edges."""
    if are_given(by):
        raise TypeError(
            f"edges is a {kind}, whose rows have no order that values beside it could follow: add "
            "the groups, or the start of each period, to it as a column, and name that as by="
        )


def are_given(by: Any) -> bool:
    """Return whether groups are values beside the rows, and no columns of theirs."""
    return any(map(_is_given, _several(by)))


def _several(by: Any) -> list[Any]:
    return by if isinstance(by, list) else [by]


def _is_given(value: Any) -> bool:
    return _is_grouper(value) or _is_values(value)


def _is_grouper(value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.Grouper)


def _is_values(value: Any) -> bool:
    """Return whether a value is an array or a column of any library; a scalar of NumPy is none."""
    if is_array(value):
        return True
    if isinstance(value, np.generic | type) or not hasattr(value, "__len__"):
        return False
    return hasattr(value, "dtype") or (root(value) == "pyarrow" and hasattr(value, "null_count"))


def _name(values: Any) -> Label | None:
    """Return the name of a column; Polars has an empty one if there is none."""
    name = getattr(values, "name", None)
    return None if isinstance(name, str) and not name else name


def _given(values: Any, name: Label, frame: Frame, backend: Backend) -> Given:
    """Return the values of an array or a Series, checked against the frame of edges."""
    adapter, rows = backend.adapter, backend.adapter.rows(frame)
    values, source = native(values), None
    if isinstance(adapter, ArraysAdapter):
        values = adapter.own_array(values, "by=", rows)
    library = root(values)
    if library in FRAMES and library != root(frame):
        raise TypeError(
            f"by= is of {library}, and the edges are a frame of {root(frame)}: give a column of "
            "the same library, or an array"
        )
    if library not in FRAMES:
        if not is_array(values):
            raise TypeError(
                f"by= is of type {type(values).__module__}.{type(values).__qualname__}: give a "
                "Series of the frame's library, an array, or the label of a column"
            )
        values = plain_array(values, "by=")
    shape = (len(values),) if library == "pyarrow" else tuple(values.shape)
    if shape != (rows,):
        raise ValueError(f"by= has the shape {shape} for {rows} rows: give one value per row")
    is_series = library in ("pandas", "cudf") and hasattr(values, "iloc")
    if is_series and not values.index.equals(frame.index):
        raise ValueError(
            f"by= is a Series, {name!r}, whose index is not that of the frame: align it by "
            "series.reindex(edges.index), or give series.to_numpy() if its rows are in order"
        )
    if library == "polars":
        source = values.to_frame(name)
    elif library == "pyarrow":
        source = pyarrow().table([values], [name])
    if source is not None:
        return Given(name, column_of_arrow(values, shown_as(Given(name, None))), source)
    if library in ("pandas", "cudf"):
        return Given(name, values if is_series else import_module(library).Series(values))
    series = gpu_libraries()[1].Series if library == "cupy" else import_module("pandas").Series
    return Given(name, series(values))


def _periods(grouper: Any, frame: Frame, backend: Backend) -> Given:
    """Return the period of each row, as pandas has it, named like the column of times."""
    if grouper.key is None or getattr(grouper, "freq", None) is None:
        raise TypeError(
            "by= is a pandas.Grouper without key= and freq=: name a column of times and a period, "
            'such as pd.Grouper(key="t", freq="D"), or the label of a column alone'
        )
    key = grouper.key
    check_label("by", key, backend.adapter.labels(frame))
    times = backend.adapter.column(frame, key)
    column, nulls = inspect(backend.to_working_series(times), shown_as(key), backend)
    refuse_nulls(nulls, shown_as(key), GROUPS)
    if column.kind not in ("datetime", "empty") or column.categorical:
        raise ValueError(
            f"by=pandas.Grouper(key={key!r}): the column has dtype {times.dtype}; periods are of "
            "datetimes, so convert it, such as by pandas.to_datetime"
        )
    return Given(key, _starts(times, grouper) if column.kind == "datetime" else times)


def _starts(times: Series, grouper: Any) -> Series:
    """Return the label of the period that each of some datetimes is in."""
    pandas, grouper = import_module("pandas"), copy(grouper)
    times = times.to_pandas() if root(times) == "cudf" else times.reset_index(drop=True)
    dates = moments.is_date(times.dtype)
    times = times.astype("datetime64[s]" if dates else moments.comparison_dtype(times.dtype))
    grouper.key = "t"
    ascending = times.sort_values()  # in which order pandas numbers the groups of rows
    periods = pandas.DataFrame({"t": ascending}).groupby(grouper)
    labels = pandas.Series(periods.size().index.take(periods.ngroup()), ascending.index)
    return labels.sort_index()
