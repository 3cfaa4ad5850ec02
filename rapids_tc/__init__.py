"""Exact triangle analytics for dataframes: counts, clustering and k-truss as columns.

``import rapids_tc as tc``, then ``df.pipe(tc.count)`` on a cuDF, pandas, Polars or Arrow frame.
"""

from rapids_tc.clustering import transitivity
from rapids_tc.errors import (
    CapacityError,
    ColumnNotFoundError,
    IdTypeError,
    KernelError,
    NullIdError,
    RapidsTCError,
)
from rapids_tc.graph import Graph
from rapids_tc.triangles import (
    annotate,
    count,
    edge_triangles,
    memory_estimate,
    simple_edges,
    vertex_triangles,
)

__version__ = "0.1.0"

__all__ = [
    "CapacityError",
    "ColumnNotFoundError",
    "Graph",
    "IdTypeError",
    "KernelError",
    "NullIdError",
    "RapidsTCError",
    "annotate",
    "count",
    "edge_triangles",
    "memory_estimate",
    "simple_edges",
    "transitivity",
    "vertex_triangles",
]
