"""Dask frames for tests: laid out in partitions, and worked on by a cluster or by this process."""

from contextlib import contextmanager
from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from tlz import identity

import rapids_tc as tc
from rapids_tc.executors import registry
from rapids_tc.executors.local import LocalExecutor
from rapids_tc.frames.adapters import is_dask
from rapids_tc.plan.block_layout import BlockLayout, use_layout


def from_parts(parts):
    """A Dask frame of frames as they are, its divisions unknown."""
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(identity, list(parts), meta=parts[0].iloc[:0])


def apart(backend, frame, partitions):
    """A pandas frame in so many partitions of the library under test, some of them empty."""
    cuts = np.linspace(0, len(frame), partitions + 1).astype(int)
    parts = [frame.iloc[a:b] for a, b in pairwise(cuts)]
    return from_parts([backend.from_pandas(part) for part in parts])


def together(backend, result):
    """What came back, as pandas or as Python's own."""
    if not isinstance(result, dd.DataFrame):
        return result
    assert result.npartitions == len(result.divisions) - 1
    return backend.to_pandas(result.compute(scheduler="sync" if Here.working else None))


class Here(LocalExecutor):
    """Stands in for the cluster of Dask frames: three workers that are this process, in order."""

    kind = "Dask DataFrame"
    working = False

    @property
    def meta(self):
        return self.edges._meta

    @property
    def npartitions(self):
        return self.edges.npartitions

    def partitions(self, labels):
        frame = self.edges if labels is None else self.edges[list(labels)]
        return list(dask.compute(*frame.to_delayed(), scheduler="sync"))

    def heads(self):
        return [part.iloc[:0] for part in self.partitions(None)]

    def to_frame(self, parts, meta, lengths):
        for frame in parts:
            assert list(frame.columns) == list(meta.columns)
            assert (frame.dtypes == meta.dtypes).all()
        assert lengths is None or lengths == [len(frame) for frame in parts]
        return from_parts(parts)

    def in_process(self, values):
        return values.compute(scheduler="sync") if hasattr(values, "dask") else values


def innermost(function, args):
    """The function that a task is about, behind those that make its arguments."""
    for arg in args:
        if not callable(arg):
            break
        function = arg
    return function


@contextmanager
def worked_on_here(executor=Here):
    """No cluster in this block: the tasks of every call run in this process."""

    def load():
        return executor

    registry.register_executor(is_dask, load)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Here, "working", True)
            yield
    finally:
        registry.unregister_executor(load)


@contextmanager
def a_cluster(backend, **options):
    """Two worker processes; on cards a worker a card where there are two, else both on the one.

    ``device_memory_limit`` is for workers that have a card each.
    """
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"} | options
    start, workers = LocalCluster, options.pop("n_workers", 2)
    on_card = {"device_memory_limit": options.pop("device_memory_limit", None)}
    if backend.name == "cuda":
        import cupy

        if cupy.cuda.runtime.getDeviceCount() >= workers:
            from dask_cuda import LocalCUDACluster as start

            options |= {key: value for key, value in on_card.items() if value is not None}
    with start(n_workers=workers, **options) as cluster:
        yield cluster


def layout(n, m, fits=100, ranges=1):
    """Graphs are cut in n x n blocks, tasks in m parts; one machine peels `fits` edges."""
    return use_layout(BlockLayout(n, m, peel_below=fits if n > 1 else None, ranges=ranges))


def plain(backend, result):
    """A frame of the library as pandas, anything else as it is."""
    return backend.to_pandas(result) if hasattr(result, "columns") else result


ASKED = {
    "count": tc.count,
    "approximate_count": lambda edges: tc.approximate_count(edges, colors=2, seed=3),
    "vertex_triangles": tc.vertex_triangles,
    "clustering": tc.clustering,
    "average_clustering": lambda edges: tc.average_clustering(edges, count_zeros=False),
    "transitivity": tc.transitivity,
    "triad_counts": tc.triad_counts,
    "simple_edges": tc.simple_edges,
    "annotate": lambda edges: tc.annotate(edges, "jaccard", "triangles", "trussness", "cosine"),
    "k_truss 2": lambda edges: tc.k_truss(edges, 2),
    "k_truss 4": lambda edges: tc.k_truss(edges, 4),
    "k_truss max": lambda edges: tc.k_truss(edges, "max"),
}


def assert_same(found, expected):
    """A pandas frame, a series or a number is the expected one, dtypes and index included."""
    assert type(found) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-12)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(found, expected)
    else:
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
