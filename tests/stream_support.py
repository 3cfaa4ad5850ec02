"""What tests of graphs in blocks share: how to force them, and every function that serves them."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import rapids_tc as tc
from rapids_tc.graphs import out_of_core, resolve
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.budget import Budget
from rapids_tc.plan.record import ANALYTICS

FUNCTIONS = {
    "count": tc.count,
    "vertex_triangles": tc.vertex_triangles,
    "edge_triangles": tc.edge_triangles,
    "jaccard": tc.similarity,
    "cosine": lambda edges, **options: tc.similarity(edges, measure="cosine", **options),
    "annotate": lambda edges, **options: tc.annotate(edges, "triangles", "overlap", **options),
    "trussness": tc.trussness,
    "annotate with trusses": lambda edges, **options: tc.annotate(
        edges, "trussness", "triangles", **options
    ),
    "clustering": tc.clustering,
    "average_clustering": tc.average_clustering,
    "transitivity": tc.transitivity,
    "triad_counts": tc.triad_counts,
    "simple_edges": tc.simple_edges,
    "list_triangles": tc.list_triangles,
    "3-truss": lambda edges, **options: tc.k_truss(edges, 3, **options),
    "5-truss": lambda edges, **options: tc.k_truss(edges, 5, **options),
    "last truss": lambda edges, **options: tc.k_truss(edges, "max", **options),
}
MEMORY = 1 << 30  # bytes, far more than small graphs take


@contextmanager
def in_blocks(n, memory=MEMORY, peel_below=None):
    """Serve every function by n x n blocks, whatever would fit; the graphs that were made."""
    made = []

    class Noted(out_of_core.OutOfCoreGraph):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)
            assert self.n == n

    with (
        pytest.MonkeyPatch.context() as patch,
        use_layout(BlockLayout(n, 1, peel_below, memory=memory)),
    ):
        patch.setattr(resolve, "OutOfCoreGraph", Noted)
        yield made


def budget_of(limit, name, costs):
    """The budget of a call that needs as much as any of an analytic."""
    return Budget(limit, name, ANALYTICS[name].most, costs)


def assert_same(backend, found, expected):
    """The same, bit for bit: type, columns, dtypes, index, order, values."""
    assert type(found) is type(expected)
    if not hasattr(expected, "shape"):
        assert found == expected or np.isnan([found, expected]).all()
        return
    found, expected = backend.to_pandas(found), backend.to_pandas(expected)
    same = pd.testing.assert_frame_equal if found.ndim == 2 else pd.testing.assert_series_equal
    same(found, expected, check_exact=True)
