"""Progress of a call on stderr: its current stage, and the time that each stage took."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock, Timer
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc._compiling import compiling, loading
from rapids_tc.errors import CapacityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, Task, TaskID
    from rich.text import Text

FEWER = "memory_estimate lists the stages of a graph; give fewer rows or a machine of more memory"
Choice = bool | None  # of `progress`; None leaves it to the terminal

SILENT: ContextVar[bool] = ContextVar("silent", default=False)  # of the command line

# What takes time beside the work of a stage.
ASIDE = {"compiling (once)": compiling, "loading compiled code": loading}
BAR_DELAY = 1.0  # seconds of a call before its bar is shown


def on_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def check_progress(progress: Choice) -> Choice:
    """Return the argument `progress` as a bool or None; ValueError if it is neither."""
    if progress is None or isinstance(progress, bool | np.bool_):
        return progress if progress is None else bool(progress)
    raise ValueError(f"progress={progress!r}; accepted: True, False, None (on a terminal)")


class Report:
    """The stages of one call: on a terminal a bar, once the call has taken longer than `BAR_DELAY`.

    A timer shows the bar, so that also a stage that reports nothing is seen; rich is imported then.

    Parameters
    ----------
    progress : bool or None
        True also writes a line at the end of each stage, terminal or not. False shows nothing. None
        leaves the choice to the first stage, which may use the choice of a prepared graph.
    """

    def __init__(self, progress: Choice) -> None:
        self._progress = check_progress(progress)
        self._name, self._start = "reading the frame", time.monotonic()
        self._before: dict[str, float] = {}  # seconds of `ASIDE` as a stage with a line began
        self._done: tuple[float, str] | None = None  # the share of the stage, and a note
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self.resources = ExitStack()  # such as files, until the call ends
        self._lock = Lock()
        self._timer: Timer | None = None
        if self.shows_bar:
            self._timer = Timer(BAR_DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()

    @property
    def shows_bar(self) -> bool:
        """Whether the call shows a bar once it has taken long enough."""
        return self._progress is not False and on_terminal() and not SILENT.get()

    def stage(self, name: str, progress: Choice = None) -> None:
        """Begin a stage; its `progress` counts if the call left the choice open."""
        if self._progress is None:
            self._progress = progress
        with self._lock:
            self._name, self._start, self._done = name, time.monotonic(), None
            if self._progress:
                self._before = {name: clock.seconds for name, clock in ASIDE.items()}
            if self._bar is not None:
                self._draw(new=True)

    def end(self) -> None:
        """End the stage, and write its line."""
        if self._progress and sys.stderr is not None:
            seconds = time.monotonic() - self._start
            line, word = f"{self._name}: {seconds:.2f} s", "of which "
            for name, clock in ASIDE.items():
                aside = f"{clock.seconds - self._before.get(name, clock.seconds):.2f}"
                if aside != "0.00":
                    line, word = f"{line}, {word}{name} {aside} s", ""
            print(line, file=sys.stderr, flush=True)

    def advance(self, done: float, note: str = "") -> None:
        """Report the share of the stage that is done, 0 to 1, with a note, if any."""
        self._done = done, note
        if self._bar is not None:
            with self._lock:
                self._draw()

    @property
    def on_progress(self) -> Callable[..., None] | None:
        """`advance` for an engine, which works in slices to call it; None if no bar is shown."""
        return self.advance if self.shows_bar else None

    def close(self) -> None:
        """Remove the bar, and release the resources of the call."""
        if self._timer is not None:
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

        class Remarked(TextColumn):
            """The text of the bar, with a remark while code is being compiled, or loaded."""

            def render(self, task: Task) -> Text:
                text = super().render(task)
                busy = next((name for name, clock in ASIDE.items() if clock.busy), "")
                return text.append(f", {busy}") if busy else text

        with self._lock:
            if self.shows_bar:
                columns = [
                    Remarked("[progress.description]{task.description}"),
                    *Progress.get_default_columns()[1:],
                ]
                self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
                self._draw(new=True)
                self._bar.start()

    def _draw(self, *, new: bool = False) -> None:
        if self._bar is None:
            return
        if new or self._task is None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(self._name, total=None)  # pulses without a share
        if self._done is not None:
            share, note = self._done
            name = f"{self._name}: {note}" if note else self._name
            self._bar.update(self._task, description=name, total=1.0, completed=share)


_current: ContextVar[Report | None] = ContextVar("_current", default=None)


@contextmanager
def call_report(progress: Choice) -> Iterator[Report]:
    """Yield the report of the running call, or of a call that begins and ends with the block."""
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
    """Register a function that runs when the current call ends, also after an error."""
    report = _current.get()
    if report is not None:
        report.resources.callback(close)


def outlive() -> ExitStack:
    """Take over what would run when the current call ends, for an answer that is made later."""
    report = _current.get()
    return ExitStack() if report is None else report.resources.pop_all()


@contextmanager
def report_stage(name: str, progress: Choice, need: Callable[[], str]) -> Iterator[Report]:
    """Report a stage; if memory runs out, raise CapacityError with the text that `need` returns."""
    running = _current.get()  # asked here: a small call feels each generator that it enters
    with call_report(progress) if running is None else nullcontext(running) as report:
        report.stage(name, progress)
        try:
            yield report
        except CapacityError:
            raise
        except MemoryError as error:
            raise _out_of_memory(error, f"while {name}", need) from error
        finally:
            report.end()


@contextmanager
def memory_errors(when: str, need: Callable[[], str] = lambda: FEWER) -> Iterator[None]:
    """Turn MemoryError into CapacityError, with what is known of the need."""
    try:
        yield
    except CapacityError:
        raise
    except MemoryError as error:
        raise _out_of_memory(error, when, need) from error


def _out_of_memory(error: MemoryError, when: str, need: Callable[[], str]) -> CapacityError:
    """Return the error of a step without memory.

    NumPy and CuPy say which array had no room. If the error says nothing, the need is what `need`
    returns.
    """
    known = f"{error}; {FEWER}" if str(error) else need()
    return CapacityError(f"out of memory {when}: {known}")
