"""Progress of a call on stderr: nothing for a call shorter than a second."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE = 1.0  # seconds before anything is shown


class Report:
    """Stages of one call, shown by rich once the call has taken longer than `PATIENCE`.

    Parameters
    ----------
    progress : bool or None
        True shows, False does not, None shows where stderr is a terminal.
    """

    def __init__(self, progress: bool | None) -> None:
        self.wanted = sys.stderr.isatty() if progress is None else progress
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def stage(self, name: str) -> None:
        """Say what comes next."""
        self._name = name
        self.tick(0.0)

    def tick(self, done: float) -> None:
        """Say which share of the stage is done, 0 to 1."""
        if not self.wanted or time.monotonic() - self._start < PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=1.0)
        self._bar.update(self._task, description=self._name, completed=done)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
