"""The client of a Dask frame, and the partitions of the frame that are on a cluster already."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from dask.dataframe.dask_expr._expr import Literal
from dask.dataframe.dask_expr._reductions import Len
from distributed import Client, Future, default_client, futures_of, get_worker, worker_client

from rapids_tc.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dask.dataframe import DataFrame

START = (
    "A Dask frame is worked on by the cluster of the current client; start one first:\n"
    "    from distributed import Client, LocalCluster; client = Client(LocalCluster())\n"
    "    from dask_cuda import LocalCUDACluster; client = Client(LocalCUDACluster())  # GPUs"
)


@contextmanager
def client_for(edges: DataFrame, chosen: Client | None = None) -> Iterator[Client]:
    """Yield the client that has the frame's partitions, else the current one; in a task, its own.

    If a client is `chosen`, it is yielded in any case. A task that waits for others leaves its
    thread to them, as in Dask's own `compute`.
    """
    if _in_a_task():
        with worker_client() as client:
            yield chosen or client
        return
    if chosen is not None:
        yield chosen
        return
    clients = (future.client for future in futures_of(edges))
    try:
        client = next(filter(None, clients), None) or default_client()
    except ValueError as error:
        raise KernelError(f"there is no Dask client. {START}") from error
    yield client


def _in_a_task() -> bool:
    try:
        get_worker()
    except ValueError:
        return False
    return True


def persisted_partitions(edges: DataFrame) -> list[Future[Any]]:
    """Return the partitions of a frame if all of them are futures of a client, else an empty list.

    The futures of a frame that is the argument of a task have no client.
    """
    graph, partitions = dict(edges.__dask_graph__()), []
    _require_all(graph, edges.__dask_keys__())
    for key in edges.__dask_keys__():
        task = graph[key]
        while not isinstance(task, Future):  # it may be an alias of a future
            keys = set(_dependencies(task))
            if type(task).__name__ != "Alias" or len(keys) != 1:
                return []
            task = graph[keys.pop()]
        if task.client is None:
            return []
        partitions.append(task)
    return partitions


def known_rows(edges: DataFrame) -> int | None:
    """Return the rows of a frame, if Dask knows them without its partitions: of Parquet files."""
    length = Len(edges.expr).simplify()
    return int(length.value) if isinstance(length, Literal) else None


def _dependencies(task: Any) -> Iterable[Any]:
    dependencies: Iterable[Any] = getattr(task, "dependencies", ())
    return dependencies


def _require_all(graph: dict[Any, Any], keys: list[Any]) -> None:
    """Raise KernelError if the graph of a frame lacks partitions that it refers to.

    Dask persists a frame of files in fewer partitions than the persisted frame claims to have.
    """
    for key in chain(keys, *map(_dependencies, graph.values())):
        if isinstance(key, tuple) and key not in graph and (key[0], 0) in graph:
            raise KernelError(
                f"partition {key[1]} of the persisted frame is not there: Dask has read several "
                "files as one partition, and cannot compute the frame either. Pass the frame as it "
                "was before it was persisted, or persist frame.repartition(npartitions=...)"
            )


Placement = tuple[dict[Any, int], dict[Any, list[str]]]  # the bytes of results, and their holders


async def look(scheduler: Any, keys: list[Any]) -> tuple[dict[str, Any], Placement]:
    """Ask for the workers, by address, and for the placement of results at once."""
    with suppress(OSError):  # the client notices that the scheduler has gone
        both = scheduler.identity(n_workers=-1), placement(scheduler, keys)
        info, placed = await asyncio.gather(*both)
        return dict(info.get("workers", {})), placed
    return {}, ({}, {})


async def placement(scheduler: Any, keys: list[Any]) -> Placement:
    """Ask for the bytes of results, and for their holders, at once."""
    if not keys:
        return {}, {}
    asked = scheduler.nbytes(keys=keys, summary=False), scheduler.who_has(keys=keys)
    answers: Any = await asyncio.gather(*asked, return_exceptions=True)
    sizes, holders = answers
    if isinstance(holders, BaseException):
        raise holders
    if isinstance(sizes, KeyError):  # one is gone already: the task that needs it says so
        return {}, holders
    if isinstance(sizes, BaseException):
        raise sizes
    return sizes, holders


def same(partition: Any, _: str) -> Any:
    """Return a partition as it is, as the result of a task of another name."""
    return partition


def head(partition: Any) -> Any:
    """Return a partition without its rows."""
    return partition.iloc[:0]
