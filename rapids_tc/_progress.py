"""Progress of a call on stderr: the stage it is in, and how long each took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from threading import Lock, Timer
from typing import Any

import numpy as np

from rapids_tc._compiling import clock
from rapids_tc.errors import CapacityError

BAR_DELAY = 1.0  # seconds of a call before its bar is shown


def on_terminal() -> bool:
    """Whether somebody may be looking at stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def check_progress(progress: bool | None) -> bool | None:
    """Raise ValueError unless it says yes, no, or nothing."""
    if progress is None or isinstance(progress, bool | np.bool_):
        return progress if progress is None else bool(progress)
    raise ValueError(f"progress={progress!r}; accepted: True, False, None (on a terminal)")


class Report:
    """The stages of one call: on a terminal a bar, once the call has taken longer than `BAR_DELAY`.

    A timer shows it, so that a stage is seen that has no news of itself; rich is imported then.

    Parameters
    ----------
    progress : bool or None
        True also writes a line at the end of each stage, terminal or not. False shows nothing. None
        leaves it to the first stage, as the graph of the call may have been told.
    """

    def __init__(self, progress: bool | None) -> None:
        self._progress = check_progress(progress)
        self._name, self._begun = "reading the frame", time.monotonic()
        self._compiled = clock.seconds  # when the stage began
        self._where: tuple[float, str] | None = None  # the share that is done, and a note
        self._bar: Any = None
        self._task: Any = None
        self.resources = ExitStack()  # of files and the like, until the call ends
        self._lock, self._timer = Lock(), Timer(BAR_DELAY, self._show)
        self._timer.daemon = True
        if self.shows_bar:
            self._timer.start()

    @property
    def shows_bar(self) -> bool:
        """Whether there is a bar, by and by."""
        return self._progress is not False and on_terminal()

    def stage(self, name: str, progress: bool | None = None) -> None:
        """Say what comes next, and whether it is shown where the call left that open."""
        if self._progress is None:
            self._progress = progress
        with self._lock:
            self._name, self._begun, self._where = name, time.monotonic(), None
            self._compiled = clock.seconds
            self._draw(new=True)

    def end(self) -> None:
        """Say that the stage is done."""
        if self._progress and sys.stderr is not None:
            seconds, compiling = time.monotonic() - self._begun, clock.seconds - self._compiled
            line = f"{self._name}: {seconds:.2f} s"
            if compiling:
                line += f", of which compiling (once) {compiling:.2f} s"
            print(line, file=sys.stderr, flush=True)

    def advance(self, done: float, note: str = "") -> None:
        """Say which share of the stage is done, 0 to 1, and perhaps where it is."""
        self._where = done, note
        if self._bar is not None:
            with self._lock:
                self._draw()

    @property
    def callback(self) -> Callable[..., None] | None:
        """`advance` for an engine, which works in slices to call it; None where nobody looks."""
        return self.advance if self.shows_bar else None

    def close(self) -> None:
        """Take the bar away, and close all that the call held open."""
        self._timer.cancel()
        with self._lock:
            self._progress = False
            bar, self._bar = self._bar, None
        if bar is not None:
            bar.stop()
        self.resources.close()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, TextColumn

        class Compiling(TextColumn):
            """Add a remark to the text of the bar while code is being compiled."""

            def render(self, task: Any) -> Any:
                text = super().render(task)
                return text.append(", compiling (once)") if clock.busy else text

        with self._lock:
            if self.shows_bar:
                columns = [
                    Compiling("[progress.description]{task.description}"),
                    *Progress.get_default_columns()[1:],
                ]
                self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
                self._draw(new=True)
                self._bar.start()

    def _draw(self, new: bool = False) -> None:
        if self._bar is None:
            return
        if new:  # without a share the bar tells no more than that something is going on
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(self._name, total=None)
        if self._where is not None:
            done, note = self._where
            name = f"{self._name}: {note}" if note else self._name
            self._bar.update(self._task, description=name, total=1.0, completed=done)


_current: ContextVar[Report | None] = ContextVar("_current", default=None)


@contextmanager
def call_report(progress: bool | None) -> Iterator[Report]:
    """The report of the call that is running, or of one that begins here."""
    report = _current.get()
    if report is not None:
        yield report
        return
    report = Report(progress)
    token = _current.set(report)
    try:
        yield report
    finally:
        _current.reset(token)
        report.close()


def at_end(close: Callable[[], None]) -> None:
    """Register a function to run when the current call ends, also after an error."""
    report = _current.get()
    if report is not None:
        report.resources.callback(close)


@contextmanager
def report_stage(name: str, progress: bool | None, need: Callable[[], str]) -> Iterator[Report]:
    """Report a stage; where memory runs out, say so with what `need` tells."""
    with call_report(progress) as report:
        report.stage(name, progress)
        try:
            yield report
        except CapacityError:
            raise
        except MemoryError as error:
            raise CapacityError(f"out of memory while {name}: {need()}") from error
        finally:
            report.end()
