"""DataFrames of Spark, which functions of one machine collect on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.frames.adapters import root

if TYPE_CHECKING:
    from rapids_tc._typing import Frame


def is_spark(edges: Frame) -> bool:
    """Return whether edges are a DataFrame of PySpark; its columns have attributes of any name."""
    return root(edges) == "pyspark" and hasattr(type(edges), "sparkSession")


def require_batch(edges: Frame) -> None:
    """Raise TypeError if a DataFrame of Spark is a stream, whose rows have no end."""
    if edges.isStreaming:
        raise TypeError(
            "edges is a streaming DataFrame, whose rows have no end: read what the stream has "
            "written by spark.read, or give each batch to the function, by "
            "edges.writeStream.foreachBatch(lambda batch, number: ...)"
        )


def collect(edges: Frame) -> Frame:
    """Return the rows of a DataFrame of Spark as an Arrow table.

    Spark runs the query once. Its own Arrow stream (`__arrow_c_stream__`) fails for timestamps and
    for large types, and PySpark has it from 4.3 on.

    Raises
    ------
    TypeError
        The frame is a stream.
    """
    require_batch(edges)
    return edges.toArrow()
