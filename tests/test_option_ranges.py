"""Every option over its whole range: the same answer or the same error, wherever work is done."""

from contextlib import contextmanager
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import reference
from dask.utils import parse_bytes
from dask_support import assert_same, from_parts, layout, worked_on_here
from graphs import complete
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc._arguments import as_bytes
from rapids_tc.analytics.similarity import MEASURES
from rapids_tc.plan import costs

pytestmark = pytest.mark.cpu_only

EDGES = datasets.karate()
ROWS = list(EDGES.itertuples(index=False, name=None))
NUMBERS = [
    0, 1, 2, 3, 5, 6, -1, -(10**30), 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, 10**30,
    np.int8(3), np.uint8(200), np.int32(-3), np.int64(2**63 - 1), np.uint64(2**64 - 1),
]  # fmt: skip
OTHERS = [
    True, False, np.True_, np.False_, 2.0, 3.5, float("nan"), float("inf"), np.float64(3), 3 + 0j,
    "3", "max", "", b"3", None, pd.NA, [3], {3}, np.array(3), np.array([3]),
]  # fmt: skip
SHARES = [0.95, 1e-300, 5e-324, 1 - 2**-53, 1 - 2**-52, 1.0, 0.0, -0.5, np.float32(0.5)]
VERTICES = [
    [], [0], [33, 0, 33], [34], [-1], [2**31], [2**63], [2**64 - 1], [10**30], [0.0], [0.5],
    [None], ["0"], [True], [1, "1"], np.array([5, 0], "uint64"), pd.Series([3, 3]), pd.Index([2]),
    pd.Categorical([1]), range(3), (0, 1), {0}, {0: 1}, "0", 0, np.zeros((1, 1), int),
]  # fmt: skip
LIMITS = [
    0, 1, -1, 2**31, 2**63, 2**64, 10**30, np.int8(3), np.int64(2**63 - 1), np.uint64(2**64 - 1),
    True, 2.0, float("nan"), "8", [3], None,
]  # fmt: skip
LENGTHS = [
    *NUMBERS, *OTHERS, "1h", "1ME", pd.Timedelta("1h"), np.timedelta64(1, "M"), pd.NaT, 1e300, 0.5,
]  # fmt: skip
COLUMNS = [["triangles"], ["cosine", "trussness"], ["src"], [], [3], [None], ["triangles"] * 2]


def sampled(edges, **given):
    return tc.approximate_count(edges, **{"colors": 2, "seed": 1, **given})


def listed(edges, **given):
    return list(tc.iter_triangles(edges, **given))


def added(edges, columns):
    return tc.annotate(edges, *columns)


def measured(edges, **given):
    return tc.annotate_vertices(edges, "degree", "closure", **given)


def close(edges, **given):
    return tc.count(edges, **{"time": "src", "within": 3, **given})


def over_time(edges, **given):
    return tc.triangles_over_time(edges, **{"time": "src", "window": 10, **given})


ASKED = {  # an option: the functions that take it, and what they are given
    "k": ([tc.k_truss, tc.truss_communities], [*NUMBERS, *OTHERS]),
    "colors": ([sampled], [*NUMBERS, *OTHERS]),
    "seed": ([sampled], [*NUMBERS, *OTHERS]),
    "confidence": ([sampled], [*NUMBERS, *OTHERS, *SHARES]),
    "max_rows": ([tc.list_triangles, listed], [*NUMBERS, *OTHERS]),
    "count_zeros": ([tc.average_clustering], [*NUMBERS, *OTHERS]),
    "measure": ([tc.similarity], [*MEASURES, "Cosine", *OTHERS]),
    "columns": ([added], COLUMNS),
    "window": ([over_time], LENGTHS),
    "step": ([over_time], LENGTHS),
    "within": ([close], LENGTHS),
    "time": ([close, over_time], ["dst", "x", *OTHERS]),
    "vertices": (
        [
            tc.vertex_triangles, tc.clustering, tc.average_clustering, tc.list_triangles,
            tc.triad_counts, measured,
        ],
        VERTICES,
    ),
}  # fmt: skip
LIMITED = [
    tc.count, tc.vertex_triangles, tc.edge_triangles, tc.trussness, tc.similarity, tc.clustering,
    tc.average_clustering, tc.transitivity, tc.triad_counts, tc.simple_edges, tc.list_triangles,
    sampled, partial(listed, max_rows=9), partial(tc.k_truss, k=3), partial(tc.k_truss, k="max"),
]  # fmt: skip


@contextmanager
def whole():
    yield EDGES


@contextmanager
def prepared():
    yield tc.Graph(EDGES)


@contextmanager
def blocks():
    with in_blocks(2):
        yield EDGES


@contextmanager
def blocks_to_the_end():
    """Also when what is left of a truss would fit."""
    with in_blocks(2, peel_below=0):
        yield EDGES


@contextmanager
def on_a_cluster(n=1):
    with worked_on_here(), layout(n, 1, fits=20):
        yield from_parts([EDGES[:30], EDGES[30:]])


@contextmanager
def large():
    """A frame of more rows than an engine counts whole, however much memory there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(costs.MOST_GRAPH_ROWS, "cpu", 1)
        yield EDGES


PATHS = {
    "whole": whole, "prepared": prepared, "blocks": blocks, "blocks to the end": blocks_to_the_end,
    "cluster": on_a_cluster, "blocks of a cluster": partial(on_a_cluster, 2), "large": large,
}  # fmt: skip


def outcome(function, edges, **given):
    """What comes back, computed; or what is raised."""
    try:
        found = function(edges, **given)
        return found.compute(scheduler="sync") if hasattr(found, "dask") else found
    except Exception as error:  # whatever it is, it is to be the same
        return error


def same(found, expected):
    if isinstance(expected, Exception) or isinstance(found, Exception):
        assert (type(found), str(found)) == (type(expected), str(expected))
    elif isinstance(expected, list):  # frames of triangles: the same sizes, in any order of rows
        assert list(map(len, found)) == list(map(len, expected))
        if expected:
            assert_same(
                *(
                    pd.concat(frames).sort_values([*"uvw"], ignore_index=True)
                    for frames in (found, expected)
                )
            )
    elif isinstance(expected, tc.Estimate):
        assert found == expected
    else:
        assert_same(found, expected)


def is_served(found):
    """Whether a path has the function: frames of Dask are not taken by all."""
    return not (isinstance(found, TypeError) and "edges is a Dask DataFrame" in str(found))


@cache
def outcomes(option, path):
    """What comes of each function that takes an option, and of each value."""
    functions, values = ASKED[option]
    with PATHS[path]() as edges:
        return [outcome(f, edges, **{option: value}) for f in functions for value in values]


# How a truss is peeled, and how blocks of a cluster are answered, bears on some options alone.
SOME = {
    "whole": (), "large": (), "blocks to the end": ("k",),
    "blocks of a cluster": ("k", "columns", "vertices", "within"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("option", "path"),
    [(option, path) for path in PATHS for option in SOME.get(path, ASKED)],
)
def test_an_option_means_the_same_everywhere(option, path):
    functions, values = ASKED[option]
    asked = [value for _ in functions for value in values]
    both = zip(asked, outcomes(option, path), outcomes(option, "whole"), strict=True)
    for value, found, expected in both:
        try:
            if is_served(found):
                same(found, expected)
        except AssertionError as error:
            raise AssertionError(f"{option}={value!r}") from error


@pytest.mark.parametrize("k", [k for k in NUMBERS if k >= 2])
def test_a_truss_of_any_k_is_that_of_its_definition(k):
    found = tc.k_truss(EDGES, k)
    assert list(found.columns) == list(EDGES.columns)
    rows = sorted(tuple(sorted(row)) for row in found.itertuples(index=False, name=None))
    assert rows == reference.k_truss(ROWS, int(k))


@pytest.mark.parametrize("function", LIMITED)
@pytest.mark.parametrize("path", ["whole", "cluster", "large"])
def test_a_limit_of_any_size(function, path):
    """It is refused, too little, or changes nothing."""
    expected = outcome(function, EDGES)
    with PATHS[path]() as edges:
        if not is_served(outcome(function, edges)):
            return
        for limit in LIMITS:
            found = outcome(function, edges, memory_limit=limit)
            wrong = outcome(tc.memory_estimate, EDGES, memory_limit=limit)
            if isinstance(wrong, Exception):
                same(found, wrong)
            elif limit is None or int(limit) > 2**24 or not isinstance(found, tc.CapacityError):
                same(found, expected)


@pytest.mark.parametrize("unit", ["", "B", "kB", "K", "mb", "MiB", "Gi", "GB", "TiB", "PB"])
def test_sizes_are_read_as_dask_reads_them(unit):
    for text in (f"5{unit}", f"1e2 {unit}", f" 2.5{unit}"):
        assert as_bytes(text) == parse_bytes(text)


def test_a_size_as_text_is_that_many_bytes(backend):
    edges = backend.frame(complete(60).frame())
    for limit in (60_000, "60kB", " 0.06 MB"):
        with pytest.raises(tc.CapacityError, match="29,160 may be taken"):
            tc.list_triangles(edges, vertices=[0], memory_limit=limit)
    assert tc.Graph(edges, memory_limit="1GiB").count(memory_limit="1 gb") == 34_220
    for wrong in ("", "-1", "0", "0 GB", "1e999", "GB", "1 XB", "1.5.2 MB", 0, 1.5, True):
        with pytest.raises(ValueError, match=r'memory_limit=.*such as "8GB"'):
            tc.count(edges, memory_limit=wrong)
