"""How far the tasks of a call on a cluster are: a bar like Dask's, on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rapids_tc._progress import BAR_DELAY, on_terminal

SHORT = 1.0  # seconds that tasks take together before they have a bar
WIDTH = 40


class Bar:
    """So many tasks together: a terminal sees it fill up; elsewhere it is left when it is full.

    Parameters
    ----------
    of : int
        How many tasks there are.
    since : float or None
        When the call began, which shows nothing at first; None shows nothing at all.
    """

    def __init__(self, of: int, since: float | None) -> None:
        self._of, self._since, self._done = of, since, 0
        self._start, self._shown = time.monotonic(), False

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._shown and on_terminal():
            self._write("\33[2K\r")
        elif self._shown and kind is None:
            self._done = self._of
            self._write(f"{self}\n")

    def draw(self, done: int) -> None:
        """Show how many are done."""
        self._done, now = done, time.monotonic()
        if self._since is None or now - self._since < BAR_DELAY or now - self._start < SHORT:
            return
        self._shown = True
        if on_terminal():
            self._write(f"\r{self}")

    def __str__(self) -> str:
        share, seconds = self._done / self._of, time.monotonic() - self._start
        filled = "#" * int(WIDTH * share)
        return f"[{filled:<{WIDTH}}] | {share:.0%} completed | {seconds:.1f} s"

    @staticmethod
    def _write(text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
