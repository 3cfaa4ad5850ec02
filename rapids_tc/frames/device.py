"""The device and stream of a call: those of the frame, whatever the caller's current ones are.

cuDF works on its default stream. A call of ours does the same, on the device that holds the frame,
so that its steps and the user's next dataframe operation follow one another. The caller's current
device and stream are current again afterwards, and may read the result at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rapids_tc.frames.adapters import root


@contextmanager
def place(edges: Any) -> Iterator[None]:
    """Make the device that holds `edges` and cuDF's stream the current ones."""
    device = _device(edges) if "cupy" in sys.modules else None
    if device is None:
        yield
    else:
        with on_device(device):
            yield


@contextmanager
def on_device(device: int) -> Iterator[None]:
    """Make a device and cuDF's stream the current ones; what they were given is done at the end."""
    cupy = sys.modules["cupy"]
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
