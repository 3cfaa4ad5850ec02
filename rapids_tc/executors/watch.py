"""Watch a cluster while a call waits for its tasks: which workers work, and whether anything moves.

Dask waits for ever if no worker is left, or if all are paused. It also does so after a worker was
lost: the tasks of that worker go to a queue, which Dask reads only when some other task ends.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from distributed import Client, Future, Status

from rapids_tc.errors import KernelError
from rapids_tc.executors.persisted import START

LONELY = 60.0  # seconds without any worker that works after which a call gives up
QUIET = 4.0  # seconds in which nothing moves after which the scheduler is given a task that ends
STUCK = 60.0  # seconds in which nothing moves after which a call gives up
SILENT = 10.0  # seconds without a heartbeat after which a worker's last report is out of date
MOVING = ("executing", "flight", "cancelled", "resumed")  # states of tasks that occupy a worker


class Watch:
    """Look at the cluster now and then during one wait, and give up if waiting is hopeless."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._done = -1
        self._nudge: Future | None = None  # released with the next one, or with this object
        self._worked = self._moved = time.monotonic()
        self._heard: dict[str, tuple[float, float]] = {}  # the last heartbeat, and when it was seen

    def look(self, done: int = 0, of: int = 0) -> dict[str, Any]:
        """Return the workers that take tasks; KernelError if none works, or nothing moves.

        Dask pauses a worker whose memory is full: it goes on with its tasks, and takes no others.

        Parameters
        ----------
        done, of : int
            How many of the awaited tasks have ended, and how many there are.
        """
        self._require_open()
        workers = dict(self._client.scheduler_info(n_workers=-1).get("workers", {}))
        now = time.monotonic()
        takers = {a: w for a, w in workers.items() if w["status"] == "running"}
        if takers:
            self._worked = now
        elif now - self._worked > LONELY:
            raise KernelError(_nobody(workers))
        if not takers or done != self._done or self._moving(workers, now):
            self._done, self._moved = done, now
        elif now - self._moved > STUCK:
            raise KernelError(self._stuck(workers, done, of))
        elif now - self._moved > QUIET:
            self._open_queue(list(takers))
        return takers

    def _require_open(self) -> None:
        status = self._client.status
        if status == "running":  # a cluster that closes waits for tasks, and has no workers
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
            if self._heard.get(address, (None, now))[0] != worker["last_seen"]:
                self._heard[address] = worker["last_seen"], now
            silent |= now - self._heard[address][1] > SILENT
        return silent and any(self._client.processing().values())

    def _open_queue(self, addresses: list[str]) -> None:
        """Give the workers a task that ends at once: the scheduler then looks at its queue."""
        self._nudge = self._client.submit(
            int, key=f"rapids_tc-nudge-{uuid.uuid4().hex}", workers=addresses, priority=1000
        )

    def _stuck(self, workers: dict[str, Any], done: int, of: int) -> str:
        """Describe a cluster in which nothing moves."""
        given = self._client.processing()
        seen = "; ".join(
            f"{address} is {worker['status']} and has {len(given.get(address, ()))} tasks to do"
            for address, worker in workers.items()
        )
        return (
            f"nothing has moved in the cluster for {STUCK:.0f} seconds: {done} of {of} tasks are "
            f"done, no worker computes or fetches anything, and {seen}. Restart the workers, by "
            "client.restart() perhaps, and call again"
        )


def _nobody(workers: dict[str, Any]) -> str:
    if any(worker["status"] == "paused" for worker in workers.values()):
        return (
            f"all workers have been paused for {LONELY:.0f} seconds, for they have no memory "
            "left: give the cluster more, or more workers, or make its partitions smaller"
        )
    return (
        f"no worker has been in the cluster for {LONELY:.0f} seconds: they died and nobody "
        "restarts them, or none was started"
    )
