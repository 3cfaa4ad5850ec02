"""The time that a process spends on compiled code: to compile it, once, and to load it.

Compiling takes seconds per function, in the first call of a machine. Loading what was compiled
takes half a second in the first call of each process.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock:
    """A clock that runs while at least one thread compiles, or loads."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._total = self._since = 0.0

    def start(self) -> None:
        """Note that a piece of work begins; it may be part of another."""
        with self._lock:
            if not self._depth:
                self._since = time.monotonic()
            self._depth += 1

    def stop(self) -> None:
        """Note that a piece of work ends."""
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._total += time.monotonic() - self._since

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the block."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    @property
    def busy(self) -> bool:
        """Whether any thread is at it."""
        return self._depth > 0

    @property
    def seconds(self) -> float:
        """The seconds that this process has spent so far."""
        with self._lock:
            return self._total + (time.monotonic() - self._since if self._depth else 0.0)


compiling, loading = Clock(), Clock()
