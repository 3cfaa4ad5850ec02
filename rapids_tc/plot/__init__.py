"""Pictures of the triangles of a graph, by matplotlib: from edges or a Graph to axes.

They need ``pip install 'rapids_tc[plot]'``. No global setting of matplotlib is changed.
"""

from rapids_tc.plot.answers import balance, over_time, squares, triads, types
from rapids_tc.plot.distributions import (
    clustering_by_degree,
    triangle_distribution,
    truss_profile,
)
from rapids_tc.plot.trusses import communities, draw_truss, hierarchy

__all__ = [
    "balance",
    "clustering_by_degree",
    "communities",
    "draw_truss",
    "hierarchy",
    "over_time",
    "squares",
    "triads",
    "triangle_distribution",
    "truss_profile",
    "types",
]


def __dir__() -> list[str]:
    return sorted(__all__)
