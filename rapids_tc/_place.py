"""The device and stream of a call: those of the frame, whatever the caller's current ones are.

cuDF works on its default stream. A call of ours does the same, on the device that holds the frame,
so that its steps and the user's next dataframe operation follow one another. The caller's current
device and stream are current again afterwards, and may read the result at once.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from rapids_tc._homes import root

Function = TypeVar("Function", bound=Callable[..., Any])


def placed(function: Function) -> Function:
    """Run a function on the device and stream of its first argument, edges or a Graph."""

    @functools.wraps(function)
    def run(edges: Any, *args: Any, **keywords: Any) -> Any:
        with place(edges):
            return function(edges, *args, **keywords)

    return run  # type: ignore[return-value]


@contextmanager
def place(edges: Any) -> Iterator[None]:
    """Make the device that holds `edges` and cuDF's stream the current ones."""
    cupy = sys.modules.get("cupy")
    device = None if cupy is None else _device(edges)
    if cupy is None or device is None:
        yield
        return
    per_thread = os.environ.get("CUDF_PER_THREAD_STREAM", "0") == "1"
    stream = cupy.cuda.Stream.ptds if per_thread else cupy.cuda.Stream.null
    with cupy.cuda.Device(device):
        callers = cupy.cuda.get_current_stream()
        if callers.ptr == stream.ptr:
            yield
            return
        callers.synchronize()  # what the caller has queued may make the frame
        with stream:
            yield
        stream.synchronize()


def _device(edges: Any) -> int | None:
    """The number of the device that holds a frame or graph; None for what is not on a card."""
    array = getattr(getattr(edges, "csr", None), "columns", None)
    if hasattr(edges, "as_gpu_object"):  # cudf.pandas works on one device: nothing to look up
        return sys.modules["cupy"].cuda.Device().id
    if array is None and root(edges) == "cudf" and getattr(edges, "ndim", 0) == 2:
        columns = (edges.iloc[:, i] for i in range(edges.shape[1]))
        array = next((a for a in map(_values, columns) if a is not None), None)
        if array is None:
            return sys.modules["cupy"].cuda.Device().id
    return getattr(getattr(array, "device", None), "id", None)


def _values(column: Any) -> Any:
    """A column's array, or None where the column has none (strings, nulls)."""
    try:
        return column.values
    except (TypeError, ValueError, NotImplementedError):
        return None
