"""Whether code is being compiled, and how long that has taken: once a machine, seconds each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Clock:
    """Measures the time in which any thread compiles; time of several threads counts once."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._total = self._since = 0.0

    def start(self) -> None:
        """Say that a compilation begins; it may be part of another."""
        with self._lock:
            if not self._depth:
                self._since = time.monotonic()
            self._depth += 1

    def stop(self) -> None:
        """Say that a compilation ends."""
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
        """Whether something is being compiled."""
        return self._depth > 0

    @property
    def seconds(self) -> float:
        """Seconds that compilations of this process took so far."""
        with self._lock:
            return self._total + (time.monotonic() - self._since if self._depth else 0.0)


clock = Clock()
