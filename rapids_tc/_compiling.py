"""Measure the time that goes into compiling, which a machine does once: seconds per function."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Clock:
    """Measure the time in which at least one thread compiles."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._total = self._since = 0.0

    def start(self) -> None:
        """Note that a compilation begins; it may be part of another."""
        with self._lock:
            if not self._depth:
                self._since = time.monotonic()
            self._depth += 1

    def stop(self) -> None:
        """Note that a compilation ends."""
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
        """Return whether any code is being compiled."""
        return self._depth > 0

    @property
    def seconds(self) -> float:
        """Return the seconds that this process has spent compiling so far."""
        with self._lock:
            return self._total + (time.monotonic() - self._since if self._depth else 0.0)


clock = Clock()
