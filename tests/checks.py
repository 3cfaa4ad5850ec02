"""What the tests ask of every answer: the oracle's values in the promised shape."""

import io
from functools import partial

import numpy as np
import pandas as pd
import reference

import rapids_tc as tc

FUNCTIONS = [  # all, asked for what they need besides a frame
    tc.Graph,
    partial(tc.approximate_count, colors=2, seed=0),
    tc.average_clustering,
    tc.clustering,
    tc.count,
    tc.edge_triangles,
    tc.list_triangles,
    tc.memory_estimate,
    tc.similarity,
    tc.simple_edges,
    tc.transitivity,
    tc.triad_counts,
    tc.trussness,
    tc.vertex_triangles,
]


class Terminal(io.StringIO):
    """Text that is written to what says it is a terminal."""

    def isatty(self):
        return True


def rows_of(frame, source="src", destination="dst"):
    """The raw rows of a pandas edge frame, as Python values."""
    return list(zip(frame[source].tolist(), frame[destination].tolist(), strict=True))


def by_triad(found):
    """What `triad_counts` says, as a dict."""
    return dict(zip(found["triad"], found["count"], strict=True))


def assert_columns(frame, *columns):
    """`frame` has these columns, in this order, and plain numbered rows."""
    assert list(frame.columns) == list(columns)
    assert list(frame.index) == list(range(len(frame)))


def assert_column(series, name, dtype, index, values):
    """`series` is the column promised: its name, dtype, index and values."""
    assert isinstance(series, pd.Series)
    assert series.name == name
    assert series.dtype == dtype
    pd.testing.assert_index_equal(series.index, index, exact=True)
    assert series.tolist() == list(values)


def check(backend, frame, rows=None, **columns):
    """Ask everything of one pandas edge frame, in the library under test.

    `rows` says which Python ids the rows mean where the frame does not say so itself.
    Returns the frame of vertices, for what a test wants to know of ids.
    """
    rows = rows_of(frame, **columns) if rows is None else rows
    edges = backend.frame(frame)
    corners = reference.vertex_triangles(rows)
    by_row = reference.by_row(rows, reference.edge_triangles(rows))

    total = tc.count(edges, **columns)
    assert type(total) is int
    assert total == reference.count(rows)

    vertices = backend.to_pandas(tc.vertex_triangles(edges, **columns))
    assert_columns(vertices, "vertex", "triangles")
    assert vertices["triangles"].dtype == np.int64
    assert vertices["vertex"].tolist() == sorted(corners)
    assert vertices["triangles"].tolist() == [corners[v] for v in sorted(corners)]

    sides = backend.to_pandas(tc.edge_triangles(edges, **columns))
    assert_column(sides, "triangles", np.int64, frame.index, by_row)

    simple = backend.to_pandas(tc.simple_edges(edges, **columns))
    assert_columns(simple, "src", "dst")
    assert rows_of(simple) == reference.simple_edges(rows)
    assert simple["src"].dtype == simple["dst"].dtype == vertices["vertex"].dtype

    share = tc.transitivity(edges, **columns)
    assert type(share) is float
    assert abs(share - reference.transitivity(rows)) < 1e-12

    graph = tc.Graph(edges, **columns)
    assert (graph.n_vertices, graph.n_edges) == (len(corners), len(simple))
    return vertices
