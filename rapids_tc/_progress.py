"""Progress of a call on stderr: nothing for a call shorter than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rapids_tc.errors import CapacityError

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

    def tick(self, done: float, note: str = "") -> None:
        """Say which share of the stage is done, 0 to 1, and perhaps where it is."""
        if not self.wanted or time.monotonic() - self._start < PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=1.0)
        name = f"{self._name}: {note}" if note else self._name
        self._bar.update(self._task, description=name, completed=done)

    @property
    def ticker(self) -> Callable[..., None] | None:
        """`tick` for an engine, which works in slices to call it; None where nobody looks."""
        return self.tick if self.wanted else None

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def reported(name: str, progress: bool | None, need: Callable[[], str]) -> Iterator[Report]:
    """Report a stage; where memory runs out, say so with what `need` tells."""
    report = Report(progress)
    report.stage(name)
    try:
        yield report
    except CapacityError:
        raise
    except MemoryError as error:
        raise CapacityError(f"out of memory while {name}: {need()}") from error
    finally:
        report.close()
