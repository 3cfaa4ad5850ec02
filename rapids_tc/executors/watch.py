"""A watch on a cluster while a call waits for its tasks: which workers work, and if anything moves.

Dask waits for ever if no worker is left, or if all workers are paused. It also waits for ever after
the loss of a worker whose tasks go to a queue, which Dask reads only when some other task ends; and
for a task that a worker was given before it was paused.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from typing import Any

from distributed import Client, Future, Status

from rapids_tc.errors import KernelError
from rapids_tc.executors.persisted import START
from rapids_tc.executors.protocol import Worker

# Seconds
NO_WORKER_LIMIT = 60.0  # a call gives up if no worker has run for so long
NUDGE_AFTER = 4.0  # after such a standstill, the scheduler gets a task that ends at once
STANDSTILL_LIMIT = 60.0  # after such a standstill, a call gives up
HEARTBEAT_LIMIT = 10.0  # if it had no heartbeat for so long, a worker's report is out of date

# Bytes of a worker's process with its libraries, which count against its limit. Measured after
# calls: 306 to 320 MiB. A measurement of Dask would be too early: a call loads the libraries.
PROCESS = 320 << 20
LEAST_SHARE = 16  # the plan counts on one part in so many of a limit, even if the process fills it

MOVING = ("executing", "flight", "cancelled", "resumed")  # states of tasks that occupy a worker


class Watch:
    """The state of a cluster during one wait, checked at times; `check` ends a hopeless wait."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._done = -1
        self._nudge: Future[int] | None = None  # released with the next nudge, or with this object
        self._worked = self._moved = time.monotonic()
        # By address, the last heartbeat and the time of the check that first saw it.
        self._heartbeats: dict[str, tuple[float, float]] = {}

    def check(self, done: int = 0, of: int = 0) -> dict[str, Any]:
        """Return the workers that accept tasks; KernelError if no worker does, or nothing moves.

        Dask pauses a worker whose memory is full: the worker continues its tasks, but accepts no
        others.

        Parameters
        ----------
        done, of : int
            The number of awaited tasks that have ended, and the number of all awaited tasks.
        """
        self.require_open()
        workers = dict(self._client.scheduler_info(n_workers=-1).get("workers", {}))
        now = time.monotonic()
        running = {a: w for a, w in workers.items() if w["status"] == "running"}
        if running:
            self._worked = now
        elif now - self._worked > NO_WORKER_LIMIT:
            raise KernelError(_no_worker(workers))
        if not running or done != self._done or self._moving(workers, now):
            self._done, self._moved = done, now
        elif now - self._moved > STANDSTILL_LIMIT:
            raise KernelError(self._standstill(workers, done, of))
        elif now - self._moved > NUDGE_AFTER:
            self._open_queue(list(running))
            if len(running) < len(workers):
                self._relieve_paused()
        return running

    def require_open(self) -> None:
        """Raise KernelError if the client or its cluster is closed."""
        status = self._client.status
        if status == "running":  # a closing cluster waits for its tasks, but has no workers
            cluster = getattr(self._client.cluster, "status", None)
            status = cluster.name if cluster in (Status.closing, Status.closed) else status
        if status != "running":
            raise KernelError(f"the client of the frame, or its cluster, is {status}. {START}")

    def _moving(self, workers: dict[str, Any], now: float) -> bool:
        """Return whether a worker computes or fetches, or is too busy for a heartbeat."""
        silent = False
        for address, worker in workers.items():
            counts = worker["metrics"].get("task_counts", {})
            if any(counts.get(state) for state in MOVING):
                return True
            if self._heartbeats.get(address, (None, now))[0] != worker["last_seen"]:
                self._heartbeats[address] = worker["last_seen"], now
            silent |= now - self._heartbeats[address][1] > HEARTBEAT_LIMIT
        return silent and any(self._client.processing().values())

    def _open_queue(self, addresses: list[str]) -> None:
        """Submit a task that ends at once, after which the scheduler reads its queue."""
        self._nudge = self._client.submit(
            int, key=f"rapids_tc-nudge-{uuid.uuid4().hex}", workers=addresses, priority=1000
        )

    def _relieve_paused(self) -> None:
        """Have other workers do what paused ones were given, if the scheduler lets tasks move.

        Dask steals from a worker only if it has more tasks than threads.
        """
        with suppress(Exception):  # the scheduler's process may lack rapids_tc
            self._client.run_on_scheduler(move_from_paused)

    def _standstill(self, workers: dict[str, Any], done: int, of: int) -> str:
        """Describe a cluster in which nothing moves."""
        tasks = self._client.processing()
        listed = "; ".join(
            f"{address} is {worker['status']} and has {len(tasks.get(address, ()))} tasks to do"
            for address, worker in workers.items()
        )
        return (
            f"nothing has moved in the cluster for {STANDSTILL_LIMIT:.0f} seconds: {done} of {of} "
            f"tasks are done, no worker computes or fetches anything, and {listed}. Restart the "
            "workers, by client.restart() perhaps, and call again"
        )


def described(workers: dict[str, Any]) -> list[Worker]:
    """List workers of `Watch.check` by address, with the memory that data may take."""
    return [
        Worker(
            address,
            worker["nthreads"],
            max((limit := worker["memory_limit"] or 0) - PROCESS, limit // LEAST_SHARE),
        )
        for address, worker in sorted(workers.items())
    ]


def move_from_paused(dask_scheduler: Any) -> None:
    """Ask paused workers for the tasks that they have not begun, for workers that are running.

    The request is the one of Dask's work stealing: a worker that has begun a task keeps it.
    """
    running = dask_scheduler.running
    for victim in dask_scheduler.workers.values():
        for task in list(victim.processing) if victim.status == Status.paused else ():
            choice = dask_scheduler.valid_workers(task)
            if not choice and (choice is None or task.loose_restrictions):
                choice = running
            if choice:
                thief = min(choice, key=lambda worker: len(worker.processing))
                dask_scheduler.extensions["stealing"].move_task_request(task, victim, thief)


def _no_worker(workers: dict[str, Any]) -> str:
    """Describe a cluster in which no worker accepts tasks."""
    if any(worker["status"] == "paused" for worker in workers.values()):
        return (
            f"all workers have been paused for {NO_WORKER_LIMIT:.0f} seconds, for they have no "
            "memory left: give the cluster more, or more workers, or make its partitions smaller"
        )
    return (
        f"no worker has been in the cluster for {NO_WORKER_LIMIT:.0f} seconds: they died and "
        "nobody restarts them, or none was started"
    )
