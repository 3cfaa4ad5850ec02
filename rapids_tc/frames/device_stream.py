"""Tables in the memory of a GPU that come by Arrow's device interface."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rapids_tc.frames.adapters import pyarrow

if TYPE_CHECKING:
    from rapids_tc._typing import Frame

COLUMNS = ("Column", "Series", "Array")  # classes with the interface that are no tables


def is_on_device(edges: Frame) -> bool:
    """Return whether edges are a table with the device interface, and without a host's stream."""
    has_interface = hasattr(edges, "__arrow_c_device_array__") and not isinstance(edges, type)
    of_host = hasattr(edges, "__arrow_c_stream__")
    return has_interface and not of_host and not type(edges).__name__.endswith(COLUMNS)


def read_device_array(edges: Frame) -> Frame:
    """Make a cuDF frame of a table that lies on a GPU, without a copy through the host.

    Columns without a name are called by their number.
    """
    schema_capsule, _ = edges.__arrow_c_device_array__()
    names = pyarrow().Schema._import_from_c_capsule(schema_capsule).names
    table = import_module("pylibcudf").Table.from_arrow(edges)
    columns = [name or str(place) for place, name in enumerate(names)]
    frame = import_module("cudf").DataFrame
    return frame.from_pylibcudf(table, {"columns": columns, "index": None})
