"""The device and stream of a call: the frame's own, whatever the caller's current ones are.

cuDF works on its default stream. A call of rapids_tc does the same, on the device that holds the
frame, so that its steps and the user's next dataframe operation follow one another. Afterwards the
caller's device and stream are current again, and the caller may read the result at once.
"""

from __future__ import annotations

import functools
import os
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rapids_tc.frames import device_memory
from rapids_tc.frames.adapters import root
from rapids_tc.frames.arrays import ArrayEdges
from rapids_tc.frames.wrapped import native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc._typing import Array, Frame, Series


@contextmanager
def place(edges: Frame, engine: str | None = None) -> Iterator[None]:
    """Make the device that holds `edges`, and cuDF's stream, the current ones.

    If a GPU is the `engine` of edges in the memory of the host, it is the current device.
    """
    device = None
    if "cupy" in sys.modules:
        edges = native(edges)
        device = _only_device() if root(edges) == "cudf" else None
        device = _device(edges) if device is None else device
        device = _current_device() if device is None and engine == "cuda" else device
    with on_device(device):
        yield


@contextmanager
def on_device(device: int | None, *, pool: bool = True) -> Iterator[None]:
    """Make a device and cuDF's stream the current ones; wait for their work at the end.

    None stands for the memory of a CPU: nothing is changed. With `pool`, arrays are taken from the
    pool of `device_memory`.
    """
    if device is None:
        yield
        return
    cupy = sys.modules["cupy"]
    per_thread = os.environ.get("CUDF_PER_THREAD_STREAM", "0") == "1"
    stream = cupy.cuda.Stream.ptds if per_thread else cupy.cuda.Stream.null
    with cupy.cuda.Device(device), device_memory.pooled() if pool else nullcontext():
        callers_stream = cupy.cuda.get_current_stream()
        if callers_stream.ptr == stream.ptr:
            yield
            return
        callers_stream.synchronize()  # the caller's queued work may write the frame
        with stream:
            yield
        stream.synchronize()


@functools.cache
def _only_device() -> int | None:
    """Return the device that has all frames, if there is one; no column need be looked at."""
    return 0 if sys.modules["cupy"].cuda.runtime.getDeviceCount() == 1 else None


def _current_device() -> int | None:
    """Return the number of the current device; None without one, which the engine says itself."""
    cuda = sys.modules["cupy"].cuda
    try:
        return int(cuda.Device().id)
    except cuda.runtime.CUDARuntimeError:
        return None


def _device(edges: Frame) -> int | None:
    """Return the number of the device that holds a frame or graph; None if it is not on a GPU."""
    graph = getattr(edges, "__dict__", {}).get("_prepared")
    array = getattr(edges if isinstance(edges, ArrayEdges) else graph, "some_array", None)
    if hasattr(edges, "as_gpu_object"):  # cudf.pandas has all frames on the current device
        return int(sys.modules["cupy"].cuda.Device().id)
    if array is None and root(edges) == "cudf" and getattr(edges, "ndim", 0) == 2:
        columns = (edges.iloc[:, i] for i in range(edges.shape[1]))
        array = next((a for a in map(_values, columns) if a is not None), None)
        if array is None:
            return int(sys.modules["cupy"].cuda.Device().id)
    return device_of(array)


def device_of(array: Array | None) -> int | None:
    """Return the number of the device that holds an array; None if it is not on a GPU."""
    device = getattr(getattr(array, "device", None), "id", None)
    return None if device is None else int(device)


def _values(column: Series) -> Array | None:
    """Return the array of a column; None if the column has none, as with strings or nulls."""
    try:
        return column.values
    except (TypeError, ValueError, NotImplementedError):
        return None
