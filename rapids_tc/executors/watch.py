"""A watch on a cluster while a call waits for its tasks: which workers work, and if anything moves.

Dask waits for ever if no worker is left, or if all workers are paused. It also waits for ever after
the loss of a worker whose tasks go to a queue, which Dask reads only when some other task ends; for
a task that a worker was given before it was paused; and for one that depends on a task that failed
when it was made again. For a worker whose process is stopped it waits until ``worker-ttl``.
"""

from __future__ import annotations

import logging
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, Future, Status

from rapids_tc.errors import KernelError
from rapids_tc.executors.persisted import START
from rapids_tc.executors.protocol import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds
NO_WORKER_LIMIT = 60.0  # a call gives up if no worker has run for so long
NUDGE_AFTER = 4.0  # after such a standstill, the scheduler gets a task that ends at once
STANDSTILL_LIMIT = 60.0  # after such a standstill, a call gives up
HEARTBEAT_LIMIT = 10.0  # if it had no heartbeat for so long, a worker's report is out of date
SPEAK_AFTER = 30.0  # after such a standstill, the user is told
SILENT_LIMIT = 120.0  # if a worker with tasks had no heartbeat for so long, a call gives up
TELL_LOST_AFTER = 5.0  # if no task has ended for so long since a worker was lost, it is told

# Bytes of a worker's process with its libraries, which count against its limit. Measured after
# calls: 306 to 320 MiB. A measurement of Dask would be too early: a call loads the libraries.
PROCESS = 320 << 20
LEAST_SHARE = 16  # the plan counts on one part in so many of a limit, even if the process fills it

TIMEOUT = "distributed.comm.timeouts.connect"  # of Dask, for a worker that does not answer others
log = logging.getLogger("rapids_tc")

MOVING = ("executing", "flight", "cancelled", "resumed")  # states of tasks that occupy a worker


@dataclass
class Heartbeat:
    """The last heartbeat of a worker, by the scheduler's clock, and when a check first saw it."""

    last: float
    since: float
    told: bool = False  # whether the user has been told that no other came


class Watch:
    """The state of a cluster during one wait, checked at times; `check` ends a hopeless wait.

    Parameters
    ----------
    client : Client
    heartbeats : dict, optional
        By address, the last ones that earlier waits of the call have seen.
    ask : callable, optional
        Asks the scheduler for all workers, by address.
    """

    def __init__(
        self,
        client: Client,
        heartbeats: dict[str, Heartbeat] | None = None,
        ask: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        self._client, self._ask = client, ask or self._workers
        self._heartbeats = {} if heartbeats is None else heartbeats
        self._done = -1
        self._said = False
        self._nudge: Future[int] | None = None  # released with the next nudge, or with this object
        self._worked = self._moved = self._ended = time.monotonic()

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
        workers = self._ask()
        now = time.monotonic()
        running = {a: w for a, w in workers.items() if w["status"] == "running"}
        if done != self._done:
            self._done, self._ended = done, now
        if running:
            self._worked = now
        elif now - self._worked > NO_WORKER_LIMIT:
            raise KernelError(_no_worker(workers))
        self._tell_lost(workers, now)
        silent = self._silent(workers, now)
        if not running or self._ended == now or _moving(workers, silent):
            self._moved, self._said = now, False
            return running
        still, limit, tasks = now - self._moved, STANDSTILL_LIMIT, self._client.processing()
        if busy := [address for address in silent if tasks.get(address)]:
            limit = SILENT_LIMIT
        silence = max((silent[address] for address in busy), default=still)
        told = partial(_standstill, workers, busy or list(silent), tasks, silence, done, of)
        if silence > limit and still > NUDGE_AFTER:
            raise KernelError(f"{told()}, and call again")
        if silence > SPEAK_AFTER and not self._told(busy):
            log.warning("%s. The call waits for %.0f seconds more", told(), limit - silence)
        if still > NUDGE_AFTER:
            self._open_queue([address for address in running if address not in silent])
            if len(running) < len(workers):
                self._relieve_paused()
        return running

    def _workers(self) -> dict[str, Any]:
        return dict(self._client.scheduler_info(n_workers=-1).get("workers", {}))

    @property
    def stands(self) -> bool:
        """Whether nothing had moved for a while at the last check."""
        return time.monotonic() - self._moved > NUDGE_AFTER

    def require_open(self) -> None:
        """Raise KernelError if the client or its cluster is closed."""
        status = self._client.status
        if status == "running":  # a closing cluster waits for its tasks, but has no workers
            cluster = getattr(self._client.cluster, "status", None)
            status = cluster.name if cluster in (Status.closing, Status.closed) else status
        if status == "connecting":
            raise KernelError(
                "the scheduler of the cluster has ended, or cannot be reached: nothing that it had "
                f"is left. {START}"
            )
        if status != "running":
            raise KernelError(f"the client of the frame, or its cluster, is {status}. {START}")

    def _silent(self, workers: dict[str, Any], now: float) -> dict[str, float]:
        """Return the seconds since the last heartbeat of workers without one for long.

        Such workers are stopped, or a task of theirs holds Python's lock.
        """
        silent = {}
        for address, worker in workers.items():
            beat = self._heartbeats.get(address)
            if beat is None or beat.last != worker["last_seen"]:
                beat = self._heartbeats[address] = Heartbeat(worker["last_seen"], now)
            if now - beat.since > HEARTBEAT_LIMIT:
                silent[address] = now - beat.since
        return silent

    def _told(self, busy: list[str]) -> bool:
        """Note that the user is told of a silence or standstill; return whether they knew."""
        beats = [self._heartbeats[address] for address in busy]
        told = all(beat.told for beat in beats) if beats else self._said
        self._said = True
        for beat in beats:
            beat.told = True
        return told

    def _tell_lost(self, workers: dict[str, Any], now: float) -> None:
        """Tell of workers that are gone, if the call waits for others that still ask them."""
        lost, asked = sorted(self._heartbeats.keys() - workers.keys()), False
        if lost and now - self._ended > TELL_LOST_AFTER:
            asked = any(w["metrics"].get("task_counts", {}).get("flight") for w in workers.values())
        if asked:
            for address in lost:
                del self._heartbeats[address]
            log.warning(
                "%s left the cluster: Dask asks for its results for up to %s (%s), and then makes "
                "them again",
                ", ".join(lost), dask.config.get(TIMEOUT, "30s"), TIMEOUT,
            )  # fmt: skip

    def _open_queue(self, addresses: list[str]) -> None:
        """Submit a task that ends at once, after which the scheduler reads its queue."""
        if not addresses:
            return
        self._nudge = self._client.submit(
            int, key=f"rapids_tc-nudge-{uuid.uuid4().hex}", workers=addresses, priority=1000
        )

    def _relieve_paused(self) -> None:
        """Have other workers do what paused ones were given, if the scheduler lets tasks move.

        Dask steals from a worker only if it has more tasks than threads.
        """
        with suppress(Exception):  # the scheduler's process may lack rapids_tc
            self._client.run_on_scheduler(move_from_paused)


def _moving(workers: dict[str, Any], silent: dict[str, float]) -> bool:
    """Return whether a worker computes or fetches, as far as its report is not out of date.

    What is fetched while a worker is silent may be asked of that one, in vain.
    """
    states = [state for state in MOVING if state != "flight" or not silent]
    counts = [w["metrics"].get("task_counts", {}) for a, w in workers.items() if a not in silent]
    return any(of_worker.get(state) for of_worker in counts for state in states)


def _standstill(
    workers: dict[str, Any], silent: list[str], tasks: Any, seconds: float, done: int, of: int
) -> str:
    """Describe a cluster in which nothing moves, and say what to do."""
    if silent:
        return (
            f"no sign of life of {' and '.join(silent)} for {seconds:.0f} seconds, and {done} of "
            f"{of} tasks are done: the process is stopped, its machine is paused or swaps, or one "
            "task holds Python's lock. Let it go on, or end the process, so that others do its "
            "tasks"
        )
    listed = "; ".join(
        f"{address} is {worker['status']} and has {len(tasks.get(address, ()))} tasks to do"
        for address, worker in workers.items()
    )
    return (
        f"nothing has moved in the cluster for {seconds:.0f} seconds: {done} of {of} tasks are "
        f"done, no worker computes or fetches anything, and {listed}. Restart the workers, by "
        "client.restart() perhaps"
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
        "nobody restarts them, or none was started. client.restart() ends those without a nanny, "
        "such as the threads of LocalCluster(processes=False), and starts no others: make another "
        "cluster"
    )
