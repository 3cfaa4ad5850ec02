"""The bytes of an edge file: decompressed, in whole lines, without comments."""

from __future__ import annotations

import io
import math
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from rapids_tc.engines.host import host_free
from rapids_tc.errors import CapacityError, RapidsTCError
from rapids_tc.files.unpack import DAMAGED, Unpacker, UnpackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Column = str | int | None

SHOWN = 60  # characters of a wrong line that a message shows
CHECK_BYTES = 2**24  # bytes that are read between two checks of the free memory: each takes 3 ms
_BLOCK = 2**20  # bytes of the decompressed file that are read at a time
_COPIES = 4  # of a long line: its parts, the whole, without comments, and in the parser
_SEPARATOR = re.compile(rb"sep=([,;|\t])(?=\r?\n)", re.I)
_SAMPLE = 2**16  # bytes by which format, separator and header are guessed


class EdgeFileError(RapidsTCError, ValueError):
    """A file that does not hold what its format promises; the message names file and line."""


class NoEdgeError(EdgeFileError):
    """A file whose lines hold no edge, which may be one of several parts."""


@dataclass(frozen=True)
class ReadOptions:
    """The options of `read_edges`; None for those that the user left out."""

    format: str | None
    separator: str | None
    header: bool | None
    comment: str | None
    ids: str | None
    columns: tuple[Column, Column]
    keep: tuple[str | int, ...] | str = ()  # further columns, or "all"
    named: bool = False  # whether ids keep their names without further columns, too
    directed: bool = False  # whether edges without a direction are read both ways


def check_choices(
    formats: Sequence[str], format: str | None, ids: str | None, *, header: bool | None
) -> None:
    """Raise ValueError for an option that has none of its values."""
    if format not in (None, *formats):
        raise ValueError(f"format must be one of {', '.join(formats)}, not {format!r}")
    if ids not in (None, "integer", "string"):
        raise ValueError(f"ids must be 'integer' or 'string', not {ids!r}")
    if not isinstance(header, bool | None):
        raise ValueError(f"header must be True, False or None (it is guessed), not {header!r}")


@dataclass
class Source:
    """An edge file, read from its start as often as needed, never held as a whole.

    Attributes
    ----------
    path : Path
        The file, or ``-`` for stdin.
    tick : callable or None
        Called now and then with the share of the file that has been read, 0 to 1.
    comments : int
        The number of comment lines that the last pass left out.
    ends : tuple of str
        The names of the id columns in the frame that was read.
    directed : bool, array of bool or None
        Whether the edges that were read have a direction, all or each; None if it is not said.
    numbered : bool
        Whether columns may be chosen by number.
    separator : str or None
        What the file says to be its separator, in a first line of Excel: ``sep=;``.
    """

    path: Path
    tick: Callable[[float], None] | None = None
    comments: int = 0
    ends: tuple[str, str] = ("src", "dst")
    directed: Any = None
    numbered: bool = True
    separator: str | None = None
    unpacker: Unpacker = field(default_factory=Unpacker)
    _spool: bytes | None = None  # the bytes of a pipe, which can be read only once

    @property
    def name(self) -> str:
        """The name of the file, as messages show it."""
        return "stdin" if str(self.path) == "-" else self.path.name

    def fault(self, what: str, line: int | None = None) -> EdgeFileError:
        """Return an error that says what is wrong, with the names of file and line before it."""
        place = self.name if line is None else f"{self.name}, line {line}"
        return EdgeFileError(f"{place}: {what}")

    def claim(self, what: str, need: int) -> None:
        """Raise CapacityError if contents that the file announces exceed the free memory."""
        self.require(f"the file says {what}, which takes", need)

    def require(self, what: str, need: int) -> None:
        """Raise CapacityError if `what`, a subject and a verb, `need` more bytes than are free."""
        if need > (free := host_free()):
            raise CapacityError(f"{what} {need:,} bytes to read; {free:,} are free")

    def head(self) -> bytes:
        """Return the first bytes of the decompressed file."""
        return next(self._read(_SAMPLE), b"")

    def blocks(
        self,
        marks: str,
        *,
        skip_first: bool = False,
        keep_ends: bool = True,
        longest: float = math.inf,
    ) -> Iterator[bytes]:
        """Yield whole lines, about a megabyte at a time; CR and CRLF at their ends become LF.

        Lines that begin with one of `marks` are emptied, and with `skip_first` so is the first
        other line. Their ends stay, so that lines keep their numbers, unless `keep_ends` is False.
        EdgeFileError is raised for a line of about `longest` bytes or more, CapacityError for one
        that needs more than the free memory.
        """
        self.comments = 0
        signs = [mark.encode() for mark in marks]
        comment = rb"(?m)^[ \t]*(?:" + b"|".join(map(re.escape, signs)) + rb").*"
        comment += b"" if keep_ends else rb"\n?"
        for block in self._whole_lines(longest):
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if any(sign in block for sign in signs):
                block, count = re.subn(comment, b"", block)
                self.comments += count
            if skip_first:
                block, count = re.subn(rb"(?m)^.*[^ \t\n].*", b"", block, count=1)
                skip_first = not count
            yield block

    def sample(self, marks: str) -> list[str]:
        """Return the first lines that are not empty."""
        for block in self.blocks(marks, longest=CHECK_BYTES):
            whole = block[:_SAMPLE].splitlines()
            if len(block) > _SAMPLE:
                whole.pop()
                if not whole:
                    raise self._too_long(_SAMPLE)
            if lines := [line.decode(errors="replace") for line in whole if line.strip(b" \t")]:
                return lines
        return []

    def locate(
        self,
        marks: str,
        wrong: Callable[[str], str],
        *,
        skip_first: bool = False,
        otherwise: object = "no line of it is wrong by itself",
    ) -> EdgeFileError:
        """Return the error for the first line that is `wrong`, which returns a reason or "".

        Lines are checked one by one, which is slow: it is done only after a bulk read has failed.
        """
        number = 0
        for block in self.blocks(marks, skip_first=skip_first):
            for raw in block.splitlines():
                number += 1
                try:
                    line = raw.decode()
                    reason = wrong(line) if line.strip(" \t") else ""
                except UnicodeDecodeError:
                    line, reason = raw.decode(errors="replace"), "not UTF-8 text"
                if reason:
                    return self.fault(f"{reason}: {shortened(line)}", number)
        return self.fault(str(otherwise))

    def _too_long(self, size: float) -> EdgeFileError:
        return self.fault(
            f"a line of more than {size:,} bytes; this does not look like an edge list (METIS and "
            "MatrixMarket files: name the format)"
        )

    def _whole_lines(self, longest: float) -> Iterator[bytes]:
        rest: list[bytes] = []
        held, checked = 0, 0
        for data in self._read(_BLOCK):
            # A CR at the end of the block may be the first half of a CRLF: do not cut behind it.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
            if cut:
                yield b"".join([*rest, data[:cut]])
                rest, held, checked = [], 0, 0
            rest.append(data[cut:])
            held += len(data) - cut
            if held > longest:
                raise self._too_long(longest)
            if held >= checked + CHECK_BYTES:
                checked = held
                self.require(f"a line of {held:,} bytes or more takes", _COPIES * held)
        if last := b"".join(rest):
            yield last

    def _read(self, size: int) -> Iterator[bytes]:
        with self.open() as (plain, packed):
            total = max(self.path.stat().st_size if self._spool is None else len(self._spool), 1)
            data = plain.read(size).removeprefix(b"\xef\xbb\xbf")
            if said := _SEPARATOR.match(data):
                self.separator, data = said[1].decode(), data[said.end() :]
            while data:
                if self.tick:
                    self.tick(packed.tell() / total)
                yield data
                data = plain.read(size)

    @contextmanager
    def open(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Open the file: as a stream of decompressed bytes, and as it is on the disk."""
        with self._open() as packed:
            plain = None
            try:
                plain = self.unpacker.open(packed)
                yield plain, packed
            except UnpackError as error:
                raise self.fault(str(error)) from error
            except (*DAMAGED, OSError) as error:
                # gzip and bz2 raise an OSError without a number; errors of the system have one.
                of_system = isinstance(error, OSError) and error.errno is not None
                if of_system or (isinstance(error, OSError) and plain is packed):
                    raise
                raise self.fault(f"the compressed data is damaged: {error}") from error

    def _open(self) -> IO[bytes]:
        if self._spool is None:
            if str(self.path) == "-":
                self._spool = sys.stdin.buffer.read()
            elif (file := self.path.open("rb")).seekable():
                return file
            else:
                with file:
                    self._spool = file.read()
        return io.BytesIO(self._spool)


def shortened(line: str) -> str:
    """Return the line as messages show it."""
    line = line.strip()
    return repr(line if len(line) <= SHOWN else line[:SHOWN] + "…")


class Stream(io.RawIOBase):
    """A file over blocks of bytes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy the next bytes into a buffer, and return how many; 0 at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._blocks, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
