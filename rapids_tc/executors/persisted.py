"""What a Dask frame has on a cluster already: its client, and its partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from dask.dataframe import DataFrame
from distributed import Client, Future, default_client, futures_of, get_worker, worker_client

from rapids_tc.errors import KernelError

START = (
    "A Dask frame is worked on by the cluster of the current client; start one first:\n"
    "    from distributed import Client, LocalCluster; client = Client(LocalCluster())\n"
    "    from dask_cuda import LocalCUDACluster; client = Client(LocalCUDACluster())  # GPUs"
)


@contextmanager
def client_for(edges: DataFrame) -> Iterator[Client]:
    """The client that holds the frame's partitions, else the current one; in a task, its worker's.

    A task that waits for others makes way for them, as it does in Dask's own `compute`.
    """
    if _in_a_task():
        with worker_client() as client:
            yield client
        return
    holding = (future.client for future in futures_of(edges))
    try:
        found = next(filter(None, holding), None) or default_client()
    except ValueError as error:
        raise KernelError(f"there is no Dask client. {START}") from error
    yield found


def _in_a_task() -> bool:
    try:
        get_worker()
    except ValueError:
        return False
    return True


def held(edges: DataFrame) -> list[Future]:
    """The partitions of a frame where all of them are futures of a client, else none.

    Those of a frame that a task was given are of none.
    """
    graph, partitions = dict(edges.__dask_graph__()), []
    _require_all(graph, edges.__dask_keys__())
    for key in edges.__dask_keys__():
        task = graph[key]
        while not isinstance(task, Future):  # another name of one?
            names = set(_needs(task))
            if type(task).__name__ != "Alias" or len(names) != 1:
                return []
            task = graph[names.pop()]
        if task.client is None:
            return []
        partitions.append(task)
    return partitions


def _needs(task: Any) -> Iterable[Any]:
    return getattr(task, "dependencies", ())


def _require_all(graph: dict[Any, Any], keys: list[Any]) -> None:
    """KernelError where partitions of a frame are not there, though others of it are.

    A frame of files is persisted by Dask in fewer partitions than it has afterwards.
    """
    for key in chain(keys, *map(_needs, graph.values())):
        if isinstance(key, tuple) and key not in graph and (key[0], 0) in graph:
            raise KernelError(
                f"partition {key[1]} of the persisted frame is not there: Dask has read several "
                "files as one partition, and cannot compute the frame either. Pass the frame as it "
                "was before it was persisted, or persist frame.repartition(npartitions=...)"
            )
