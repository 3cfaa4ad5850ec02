"""The cluster of one call: it names tasks, says where they go, and waits for them.

Dask is the engine: it moves the results, runs a task again where a worker died, and refuses to
after some deaths. What is added here is an eye on the cluster while a call waits (`watch.py`).
"""

from __future__ import annotations

import asyncio
import time
import uuid
import weakref
from concurrent.futures import wait as futures_wait
from contextlib import ExitStack
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from dask.dataframe import DataFrame, Index, Series
from dask.dataframe.dask_expr import from_graph
from distributed import Client, futures_of

from rapids_tc._progress import Choice, call_report, check_progress
from rapids_tc.errors import KernelError
from rapids_tc.executors import versions
from rapids_tc.executors.messages import Unsent, let_go_later
from rapids_tc.executors.persisted import (
    START,
    Placement,
    client_for,
    head,
    known_rows,
    look,
    persisted_partitions,
    placement,
    same,
)
from rapids_tc.executors.protocol import Batch
from rapids_tc.executors.waiting import (
    ENDED,
    PREFIX,
    Future,
    Joined,
    TaskStages,
    ended,
    gathered,
    require_done,
    require_none_failed,
)
from rapids_tc.executors.watch import Heartbeat, Watch, described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from rapids_tc.executors.protocol import Worker

LOOK = 1.0  # seconds between looks at the cluster
_begun: weakref.WeakKeyDictionary[Client, set[str]] = weakref.WeakKeyDictionary()  # workers
BATCH_SHARE = 16  # a worker takes its partitions together up to this part of its memory


class DaskExecutor:
    """The tasks of one call. Leaving the block forgets them, after an error too.

    Parameters
    ----------
    edges : Dask DataFrame
        Where it is persisted already, its client's cluster is taken, else the current client's.
    progress : bool or None
        See `rapids_tc._progress.Report`.
    client : Client, optional
        The client to take instead.
    """

    kind = "Dask DataFrame"
    engine = None

    def __init__(
        self, edges: DataFrame, progress: bool | None, client: Client | None = None
    ) -> None:
        self._chosen = client
        self.progress = check_progress(progress)
        self._edges = edges
        self._token = uuid.uuid4().hex
        self._tasks: weakref.WeakSet[Future] = weakref.WeakSet()
        self._kept: weakref.WeakSet[Future] = weakref.WeakSet()  # of the graph that is asked
        self._keys: list[Any] = []  # of all tasks of the call, and of the graph
        self._unsent = Unsent()
        self._heartbeats: dict[str, Heartbeat] = {}
        self._joined = Joined(lambda task: task.status in ENDED)
        self._drawing, self._looked = False, time.monotonic()
        self._made = 0
        self._workers: list[Worker] | None = None
        # The bytes of partitions by key, and the workers that hold each, until the call waits.
        self._placement: Placement | None = None
        self._held: list[Any] = []  # the keys of what the frame has on the cluster
        self._reads = True  # partitions, in any case
        self._at_new_workers: list[Future] = []

    @property
    def meta(self) -> Any:
        """The frame without rows that Dask keeps beside its partitions."""
        return self._edges._meta

    @property
    def npartitions(self) -> int:
        """The partitions of the frame before Dask optimizes it."""
        return int(self._edges.npartitions)

    def is_held(self) -> bool:
        """Return whether the partitions are futures."""
        return bool(persisted_partitions(self._edges.optimize()))

    def rows(self) -> int | None:
        """Ask Dask, which reads what Parquet files say of themselves."""
        return known_rows(self._edges)

    def renewed(self, progress: Choice) -> DaskExecutor:
        """Return an executor with the client of this one, whose futures it may use."""
        other = DaskExecutor(self._edges, progress, self.client)
        other.kind = f"Graph of a {self.kind}"
        other._kept, other._keys = self._tasks, [*self._keys]
        other._reads = False
        other._heartbeats, other._joined = self._heartbeats, self._joined
        return other

    def beside(self, frame: DataFrame) -> DaskExecutor:
        """Return an executor with the client, the stages and the tasks of this one."""
        other = DaskExecutor(frame, self.progress, self.client)
        other.client, other._stages, other._tasks = self.client, self._stages, self._tasks
        other._unsent = self._unsent
        other._keys, other._heartbeats = self._keys, self._heartbeats
        return other

    def __enter__(self) -> DaskExecutor:
        """Find the client, and look at its cluster once."""
        with ExitStack() as stack:
            self.client = stack.enter_context(client_for(self._edges, self._chosen))
            if self.client.asynchronous:
                raise KernelError(f"the client is asynchronous, and functions wait. {START}")
            Watch(self.client).require_open()
            if self._reads:
                self._held = [future.key for future in futures_of(self._edges)]
            self._stages = TaskStages(stack.enter_context(call_report(self.progress)))
            stack.callback(self._stages.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Release the tasks of a failed call, which its traceback may keep alive: Dask drops them.

        Canceling would endanger the client's other data: Dask fails half way if one of our tasks
        depends on another, and then drops the client.
        """
        with self._stack:
            if kind is None:
                self.send()
                return
            for task in list(self._tasks):
                task.release()

    def workers(self) -> list[Worker]:
        """All workers that work, once there is any; KernelError where they have other versions.

        They are asked for again if the call has waited since: meanwhile some may have come or gone.
        What a graph keeps is lost if the cluster has been restarted, perhaps without workers.
        """
        if self._workers is None:
            watch = Watch(self.client, self._heartbeats, self._look)
            while not (found := watch.check()):
                gone = [task for task in self._kept if task.status == "cancelled"]
                require_done(self.client, gone)
                time.sleep(0.05)
            versions.require_same(self.client, found)
            self._workers = described(found)
            self._joined.look(self._workers)
        return self._workers

    def _look(self) -> dict[str, Any]:
        """Ask for the workers, and where the partitions are, if they are on the cluster already."""
        asked: Any = self.client.sync(look, self.client.scheduler, self._held)
        workers: dict[str, Any] = asked[0]
        self._placement = asked[1]
        return workers

    def submit(
        self,
        stage: str,
        function: Callable[..., Any],
        *args: Any,
        on: str | None = None,
        first: bool = False,
    ) -> Future:
        """Have a chunk run, at a worker of choice while that lives, or before all others.

        It is sent with all others of its stage, before the call waits.
        """
        joined = self._joined.place() if self._drawing and on is None else None
        key = f"{PREFIX}{stage}-{self._token}-{self._made}"
        task = self._unsent.add(self.client, key, function, args, on or joined, int(first))
        self._made += 1
        self._note([task])
        if joined:
            self._joined.gave(joined, task)
        return task

    def send(self) -> None:
        """Send the tasks that were submitted."""
        self._unsent.send(self.client)

    def _note(self, tasks: list[Future]) -> None:
        self._tasks.update(tasks)
        self._keys += [task.key for task in tasks]

    def submit_to_new(self, stage: str, function: Callable[..., Any], *args: Any) -> None:
        """Have a task run, after others, at each worker that this client has given none such.

        Nobody waits for it; a worker that does not get to it before the call ends never does.
        """
        known = _begun.setdefault(self.client, set())
        for worker in self.workers():
            if worker.address not in known:
                known.add(worker.address)
                self._at_new_workers.append(self.submit(stage, function, *args, on=worker.address))

    def gather(self, tasks: Any) -> Any:
        """Wait for tasks, and return their results."""
        self.send()
        self._stages.begin(several := futures_of(tasks), len(several))
        result = self._watched(gathered(self.client, tasks, several), several)
        let_go_later(self.client, several)
        return result

    def as_completed(
        self, tasks: Iterator[tuple[Any, Future]], at_once: int, total: int
    ) -> Iterator[tuple[Any, Future]]:
        """Yield all `total` named tasks as they end, drawing (so submitting) a few at a time.

        More are drawn for workers that join meanwhile, which get them if they may run anywhere.
        """
        running, done = self._drawn(tasks, at_once), 0
        self._stages.begin([task for _, task in running], total)
        while running:
            self._wait([task for _, task in running], "FIRST_COMPLETED", done)
            done_now: list[tuple[Any, Future]] = []
            left: list[tuple[Any, Future]] = []
            for name, task in running:  # each is asked once: it may end at any time
                (done_now if task.status in ENDED else left).append((name, task))
            require_done(self.client, [task for _, task in done_now])
            done += len(done_now)
            self._stages.draw(done)
            if time.monotonic() - self._looked > LOOK:
                self._looked = time.monotonic()
                self.workers()
            running = [*left, *self._drawn(tasks, at_once + self._joined.room - len(left))]
            yield from done_now

    def _drawn(self, tasks: Iterator[tuple[Any, Future]], most: int) -> list[tuple[Any, Future]]:
        self._drawing = True
        try:
            return list(islice(tasks, max(most, 0)))
        finally:
            self._drawing = False
            self.send()

    def wait(self, tasks: list[Future]) -> None:
        """Return when all are done; raise what went wrong in one of them."""
        self.send()
        self._stages.begin(tasks, len(tasks))
        if not all(task.status in ENDED for task in tasks):
            self._wait(tasks, "ALL_COMPLETED")
        require_done(self.client, tasks)

    def _wait(self, tasks: list[Future], how_many: str, before: int = 0) -> None:
        self._watched(ended(self.client, tasks, how_many), tasks, before)

    def _watched(self, awaited: Any, tasks: list[Future], before: int = 0) -> Any:
        """Return the result of a coroutine, and watch the cluster meanwhile."""
        self._workers = self._placement = None
        loop: Any = self.client.loop
        watch = Watch(self.client, self._heartbeats)
        waited = asyncio.run_coroutine_threadsafe(awaited, loop.asyncio_loop)
        try:
            while not futures_wait([waited], LOOK).done:
                done = sum(task.status in ENDED for task in tasks)
                self._stages.draw(before + done)
                watch.check(done, len(tasks))
                if watch.stands:
                    require_none_failed(self.client, self._keys)
        finally:
            waited.cancel()
        try:
            return waited.result()
        except Exception:
            require_done(self.client, tasks)  # one was lost on its way, and cannot be made again
            raise

    def partitions(self, labels: Sequence[Any] | None) -> list[Future]:
        """Evaluate the partitions once, in order, with some columns or all.

        Those of a frame that is persisted already are its own. Others get names of this call: by
        the names of the call before, which has just let them go, they may count as done meanwhile.
        They are asked for one by one: `persist` may read several files as one partition, and the
        frame that it gives back does not know.
        """
        edges = self._edges
        if labels is not None and list(labels) != list(edges.columns):
            edges = edges[list(labels)]
        frame = edges.optimize()
        # Of what is read, which is perhaps several files per partition.
        self._divisions: tuple[Any, ...] = frame.divisions
        return self._evaluate(frame)

    def heads(self) -> list[Any]:
        """Return every partition without its rows."""
        heads = self._edges.map_partitions(head, meta=self.meta, enforce_metadata=False)
        return list(self.gather(self._evaluate(heads.optimize())))

    def _evaluate(self, frame: DataFrame) -> list[Future]:
        if not (partitions := persisted_partitions(frame)):
            renamed = frame.map_partitions(
                same, self._token, meta=frame._meta, enforce_metadata=False
            )
            partitions = self.client.compute(renamed.to_delayed(optimize_graph=False))
            self._note(partitions)
        self.wait(partitions)
        return partitions

    def to_frame(self, parts: list[Future], meta: Any, lengths: list[int] | None) -> DataFrame:
        """Wait for partitions that tasks make, and return them as a persisted frame.

        Without the wait, another client could ask for the frame before the scheduler knows its
        tasks, and lose it. The graph is made by hand: `from_delayed` turns objects into Arrow text.
        """
        self.wait(parts)
        layer = {part.key: part for part in parts}
        divisions = self._divisions_of(lengths)
        frame: DataFrame = from_graph(layer, meta, divisions, list(layer), "rapids_tc")
        return frame

    def _divisions_of(self, lengths: list[int] | None) -> tuple[Any, ...]:
        """Return the user's divisions, or the divisions of rows that are numbered through."""
        if lengths is None:
            return self._divisions
        starts = [0, *accumulate(lengths)]
        return (*starts[:-1], starts[-1] - 1) if all(lengths) else (None,) * len(starts)

    def small_table(self, table: Any) -> Any:
        """Return it as it is."""
        return table

    def in_process(self, values: Any) -> Any:
        """Compute values that are a Dask series, index or frame."""
        lazy: Any = values if isinstance(values, Series | Index | DataFrame) else None
        return values if lazy is None else lazy.compute()

    def holder(self, partitions: list[Future]) -> tuple[str, int] | None:
        """Return the worker that holds the most of evaluated partitions, and the bytes of all."""
        of_all, holders = self._placed(partitions)
        sizes = {part.key: of_all[part.key] for part in partitions if part.key in of_all}
        held = dict.fromkeys((worker.address for worker in self.workers()), 0)
        for key, size in sizes.items():
            for worker in holders.get(key, ()):
                if worker in held:
                    held[worker] += size
        if not sizes:
            return None
        return max(held, key=lambda worker: held[worker]), sum(sizes.values())

    def _placed(self, partitions: list[Future]) -> Placement:
        """Return the sizes and the holders of evaluated partitions; no sizes if one is lost."""
        keys = [partition.key for partition in partitions]
        if self._placement is None or not all(key in self._placement[1] for key in keys):
            placed: Any = self.client.sync(placement, self.client.scheduler, keys)
            self._placement = placed
        return self._placement

    def batches(
        self, partitions: list[Future], workers: list[Worker], limit: int | None
    ) -> list[Batch]:
        """Group the partitions by the worker that holds them, together while they are small."""
        sizes, holders = self._placed(partitions)
        room = {w.address: (limit or w.memory or 2**40) // BATCH_SHARE for w in workers}
        result: dict[str, list[tuple[Batch, int]]] = {}
        for place, partition in enumerate(partitions):
            there = [w for w in holders.get(partition.key, ()) if w in room]
            worker = there[0] if there else workers[place % len(workers)].address
            size, groups = sizes.get(partition.key, 0), result.setdefault(worker, [])
            if not groups or groups[-1][1] + size > room[worker]:
                groups.append((Batch(worker, [], []), 0))
            group, held = groups[-1]
            group.places.append(place)
            group.partitions.append(partition)
            groups[-1] = group, held + size
        return [group for groups in result.values() for group, _ in groups]
