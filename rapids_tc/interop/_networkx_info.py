"""The description that NetworkX reads at its own import, when it cannot be imported itself."""

from __future__ import annotations

from typing import Any

OF_PAIRS = (
    "`ebunch` is a list of pairs; without it, all pairs that are no edges, and with self loops, "
)
OF_PAIRS += "the call is left to NetworkX."
FUNCTIONS = {
    "adamic_adar_index": OF_PAIRS,
    "all_triangles": "In the order of NetworkX; if a set gives that order, in the order of nodes. "
    "Changes of the graph after the call are not seen.",
    "average_clustering": "Directed graphs, too.",
    "bipartite_average_clustering": "Of `networkx.bipartite`, where it is `average_clustering`.",
    "butterflies": "Of `networkx.bipartite`, from NetworkX 3.7 on; without self loops.",
    "clustering": "Directed graphs, too. Weights must be numbers, not negative.",
    "constraint": "Directed graphs, too. Weights must be numbers from 0 on; no self loops.",
    "effective_size": "As `constraint`; with weights or directions, of `nodes` that are given.",
    "generalized_degree": "",
    "jaccard_coefficient": OF_PAIRS,
    "k_truss": "`k` is an integer; the result is a NetworkX graph (`backend_priority.generators`).",
    "latapy_clustering": "Of `networkx.bipartite`.",
    "local_bridges": "Without spans, `with_span=False`, and self loops.",
    "resource_allocation_index": OF_PAIRS,
    "robins_alexander_clustering": "Of `networkx.bipartite`; without self loops.",
    "square_clustering": "",
    "transitivity": "Directed graphs, too.",
    "triadic_census": "",
    "triangles": "",
    "weighted_projected_graph": "Of `networkx.bipartite`, if `nodes` are one side of the graph; "
    "neighbors are in the order of `nodes`, where NetworkX has that of a set.",
}
DIRECTED = {
    *("average_clustering", "clustering", "constraint", "effective_size", "transitivity"),
    "triadic_census",
}
ENGINE = {"engine : str, optional": '"cpu" or "cuda"; by default the engine of the configuration.'}


def get_info() -> dict[str, Any]:
    """Describe the backend: the entry point ``networkx.backend_info``."""
    return {
        "backend_name": "rapids_tc",
        "project": "rapids_tc",
        "package": "rapids_tc",
        "short_summary": "Exact triangles on all cores of a CPU, or on an NVIDIA GPU.",
        "description": "Triangles, clustering, triads, k-truss and squares of simple graphs.",
        "default_config": {"engine": None},
        "functions": {
            name: {"additional_docs": docs, "additional_parameters": ENGINE}
            for name, docs in FUNCTIONS.items()
        },
    }
