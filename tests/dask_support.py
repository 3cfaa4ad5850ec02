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
from rapids_tc.blocks import grid
from rapids_tc.blocks.grid import Partition
from rapids_tc.executors import dask_frames as executor
from rapids_tc.executors.dask_cluster import Group, Worker
from rapids_tc.graphs import distributed


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


class Here:
    """Stands in for the cluster: three workers that are this process, at once and in order."""

    working = False

    def __init__(self, edges, progress):
        """They need nothing of the frame, and show nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def workers(self):
        return [Worker(f"tcp://{name}", 1, 0) for name in "abc"]

    def submit(self, stage, function, *args, on=None, first=False):
        return function(*args)

    def get(self, tasks):
        return tasks

    def flow(self, tasks, at_once, of):
        return tasks

    def persist(self, edges):
        parts = [edges.get_partition(i) for i in range(edges.npartitions)]
        return [part.compute(scheduler="sync") for part in parts]

    def groups(self, partitions, workers, limit):
        """Every worker has two groups, where there are enough partitions."""
        groups = [Group(worker.address, [], []) for worker in [*workers, *workers]]
        for place, partition in enumerate(partitions):
            group = groups[place % len(groups)]
            group.places.append(place)
            group.partitions.append(partition)
        return [group for group in groups if group.places]

    def persisted(self, frames, meta, divisions):
        for frame in frames:
            assert list(frame.columns) == list(meta.columns)
            assert (frame.dtypes == meta.dtypes).all()
        return from_parts(frames)


@contextmanager
def worked_on_here():
    """No cluster in this block: the tasks of every call run in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "Cluster", Here)
        patch.setattr(Here, "working", True)
        yield


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


@contextmanager
def layout(n, m, fits=100):
    """Graphs are cut in n x n blocks, tasks in m parts; one machine peels so many edges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "choose", lambda *_: Partition(n, m))
        if n > 1:
            patch.setattr(distributed.DistributedGraph, "fits", lambda self, edges: edges < fits)
        yield


def plain(backend, result):
    """A frame of the library as pandas, anything else as it is."""
    return backend.to_pandas(result) if hasattr(result, "columns") else result


ASKED = {
    "count": tc.count,
    "approximate_count": lambda edges: tc.approximate_count(edges, colours=2, seed=3),
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
