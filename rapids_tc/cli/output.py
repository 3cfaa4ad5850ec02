"""Printing to stdout and stderr that may be full, closed, or a pipe that nobody reads."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

import rapids_tc as tc

if TYPE_CHECKING:
    from collections.abc import Iterator

ERROR = 2  # the exit code of every expected error
UNREAD = 141  # shells report it for programs that end when nobody reads their output: 128 + SIGPIPE


class Commands(click.Group):
    """The commands; an expected error ends in one line on stderr and exit code 2."""

    def main(self, *args: Any, **keywords: Any) -> Any:
        """Run a command; an error that cannot be printed leaves its exit code alone."""
        try:
            return super().main(*args, **keywords)
        except OSError:  # click failed to print an error of usage
            _discard()
            sys.exit(ERROR)

    def make_context(self, *args: Any, **keywords: Any) -> click.Context:
        """Read the options; some of them, such as --help, print."""
        with _errors():
            return super().make_context(*args, **keywords)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the options name."""
        with _errors():
            return super().invoke(ctx)


@contextmanager
def _errors() -> Iterator[None]:
    """Turn expected errors, of printing too, into a line on stderr and an exit code."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()  # Python would do so after the exit code is set
    except (tc.RapidsTCError, ValueError, OSError, MemoryError, ImportError) as error:
        _discard()
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise Exit(UNREAD) from error
        text = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            text = f"{error.filename}: {error.strerror}"
        note(f"error: {' '.join(text.split()) or type(error).__name__}")
        raise Exit(ERROR) from error


def note(text: str) -> None:
    """Print a line on stderr; if that fails, the answer on stdout is still of use."""
    try:
        click.echo(text, err=True)
    except OSError:
        _discard()


def _discard() -> None:
    """Drop what stdout and stderr cannot write: Python would try again when it ends, and fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, AttributeError):  # a stream that is closed is None
            with suppress(OSError, AttributeError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
