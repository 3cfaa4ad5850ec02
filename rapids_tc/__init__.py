"""Exact triangle analytics for dataframes: counts, clustering and k-truss as columns.

``import rapids_tc as tc``, then ``df.pipe(tc.count)`` on a cuDF, pandas, Polars or Arrow frame.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from rapids_tc.analytics.annotate import annotate
from rapids_tc.analytics.approximate import Estimate, approximate_count
from rapids_tc.analytics.bitrusses import bitruss
from rapids_tc.analytics.cliques import cliques, edge_cliques, vertex_cliques
from rapids_tc.analytics.clustering import average_clustering, clustering, transitivity
from rapids_tc.analytics.communities import truss_communities, truss_hierarchy
from rapids_tc.analytics.graphlets import graphlet_counts, graphlets
from rapids_tc.analytics.memory import memory_estimate, release_memory
from rapids_tc.analytics.methods import methods
from rapids_tc.analytics.over_time import triangles_over_time
from rapids_tc.analytics.projection import iter_project, project
from rapids_tc.analytics.similar import most_similar
from rapids_tc.analytics.similarity import similarity
from rapids_tc.analytics.squares import edge_squares, squares, vertex_squares
from rapids_tc.analytics.triads import triad_counts
from rapids_tc.analytics.triangle_lists import iter_triangles, list_triangles
from rapids_tc.analytics.triangles import count, edge_triangles, simple_edges, vertex_triangles
from rapids_tc.analytics.trusses import k_truss, trussness
from rapids_tc.analytics.types import balance, triangles_by_type
from rapids_tc.analytics.vertices import annotate_vertices
from rapids_tc.errors import (
    CapacityError,
    ColumnNotFoundError,
    IdTypeError,
    KernelError,
    NullIdError,
    RapidsTCError,
)
from rapids_tc.graphs.public import Graph
from rapids_tc.interop.accessor import register_accessor
from rapids_tc.preparation.triangle_kinds import Triangles
from rapids_tc.updates.batches import Delta

if TYPE_CHECKING:
    from rapids_tc import datasets, files, plot, spark

__version__ = "0.1.0"

__all__ = [
    "CapacityError",
    "ColumnNotFoundError",
    "Delta",
    "Estimate",
    "Graph",
    "IdTypeError",
    "KernelError",
    "NullIdError",
    "RapidsTCError",
    "Triangles",
    "annotate",
    "annotate_vertices",
    "approximate_count",
    "average_clustering",
    "balance",
    "bitruss",
    "cliques",
    "clustering",
    "count",
    "datasets",
    "edge_cliques",
    "edge_squares",
    "edge_triangles",
    "files",
    "graphlet_counts",
    "graphlets",
    "iter_project",
    "iter_triangles",
    "k_truss",
    "list_triangles",
    "memory_estimate",
    "methods",
    "most_similar",
    "plot",
    "project",
    "register_accessor",
    "release_memory",
    "similarity",
    "simple_edges",
    "spark",
    "squares",
    "transitivity",
    "triad_counts",
    "triangles_by_type",
    "triangles_over_time",
    "truss_communities",
    "truss_hierarchy",
    "trussness",
    "vertex_cliques",
    "vertex_squares",
    "vertex_triangles",
]

MODULES = ("datasets", "files", "plot", "spark")


def __getattr__(name: str) -> ModuleType:
    """Modules beside the functions, imported when they are asked for."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    close = _close(name)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def _close(name: str) -> list[str]:
    """Return the public names that are alike, whatever their case and underscores."""
    from difflib import get_close_matches  # only wrong names need it

    plain = name.lower().replace("_", "")
    if len(plain) < 3 or name.startswith("__"):
        return []
    names = {known.lower().replace("_", ""): known for known in __all__}
    found = names.get(plain, "")
    if found and (found.islower() or not name.islower()):  # "triangles" means functions, too
        return [found]
    alike = [other for other in names if plain in other or other in plain]
    return [names[other] for other in alike or get_close_matches(plain, names, cutoff=0.8)]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
