"""The bytes of an edge file: decompressed, cut into whole lines, comments left out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rapids_tc.engines.host import host_free
from rapids_tc.errors import CapacityError, RapidsTCError

Column = str | int | None

SHOWN = 60  # characters of a wrong line that a message shows
_BLOCK = 2**20
_SAMPLE = 2**16
_COMPRESSED: dict[bytes, Any] = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ\x00": lzma}
_DAMAGED = (EOFError, lzma.LZMAError, zlib.error)


class EdgeFileError(RapidsTCError, ValueError):
    """A file does not hold what its format promises; the message has its name and line."""


@dataclass(frozen=True)
class Options:
    """What the user said of a file, None where nothing; see `read_edges`."""

    format: str | None
    separator: str | None
    header: bool | None
    comment: str | None
    ids: str | None
    columns: tuple[Column, Column]


@dataclass
class Source:
    """An edge file, read from its start as often as needed, never held as a whole.

    Attributes
    ----------
    path : Path
        The file; its first bytes say whether it is compressed by gzip, bzip2 or xz.
    tick : callable or None
        Told the share read, 0 to 1, now and then.
    comments : int
        Comment lines that the last pass left out.
    """

    path: Path
    tick: Callable[[float], None] | None = None
    comments: int = 0
    _spool: bytes | None = None  # of a pipe, which can be read only once

    def fault(self, what: str, line: int | None = None) -> EdgeFileError:
        """The error to raise: the place and what is wrong there."""
        place = self.path.name if line is None else f"{self.path.name}, line {line}"
        return EdgeFileError(f"{place}: {what}")

    def claim(self, what: str, need: int) -> None:
        """Raise CapacityError if the contents that a file announces exceed the free memory."""
        if need > (free := host_free()):
            raise CapacityError(
                f"the file says {what}, which takes {need:,} bytes to read; {free:,} are free"
            )

    def head(self) -> bytes:
        """The first bytes of the decompressed file."""
        return next(self._read(_SAMPLE), b"")

    def blocks(
        self, marks: str, *, skip_first: bool = False, keep_ends: bool = True
    ) -> Iterator[bytes]:
        """Whole lines, about a megabyte at a time, each with LF at its end, whatever it was.

        Lines that begin with one of `marks` are blanked, and with `skip_first` the first other
        line. Their ends stay, so that lines keep their numbers, unless `keep_ends` is False.
        """
        self.comments = 0
        signs = [mark.encode() for mark in marks]
        comment = rb"(?m)^[ \t]*(?:" + b"|".join(map(re.escape, signs)) + rb").*"
        comment += b"" if keep_ends else rb"\n?"
        for block in self._whole_lines():
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
        """The first lines that hold anything."""
        for block in self.blocks(marks):
            whole = block[:_SAMPLE].splitlines()
            if len(block) > _SAMPLE:
                whole.pop()
                if not whole:
                    raise self.fault(
                        f"a line of more than {_SAMPLE:,} bytes; this does not look like an edge "
                        "list (METIS and MatrixMarket files: name the format)"
                    )
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
        """The error to raise, for the first line of which `wrong` says something.

        Called only when a bulk read has failed: it looks at one line after the other.
        """
        number = 0
        for block in self.blocks(marks, skip_first=skip_first):
            for raw in block.splitlines():
                number += 1
                try:
                    line = raw.decode()
                    what = wrong(line) if line.strip(" \t") else ""
                except UnicodeDecodeError:
                    line, what = raw.decode(errors="replace"), "not UTF-8 text"
                if what:
                    return self.fault(f"{what}: {shortened(line)}", number)
        return self.fault(str(otherwise))

    def _whole_lines(self) -> Iterator[bytes]:
        rest: list[bytes] = []
        for data in self._read(_BLOCK):
            # The last byte may be the first half of a CRLF: never cut behind a CR there.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
            if cut:
                yield b"".join([*rest, data[:cut]])
                rest = []
            rest.append(data[cut:])
        if last := b"".join(rest):
            yield last

    def _read(self, size: int) -> Iterator[bytes]:
        with self.open() as (plain, packed):
            total = len(self._spool or b"") or max(self.path.stat().st_size, 1)
            data = plain.read(size).removeprefix(b"\xef\xbb\xbf")
            while data:
                if self.tick:
                    self.tick(packed.tell() / total)
                yield data
                data = plain.read(size)

    @contextmanager
    def open(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """The file decompressed, and as it is on the disk."""
        with self._open() as packed:
            magic = packed.read(6)
            packed.seek(0)
            module = next((m for sign, m in _COMPRESSED.items() if magic.startswith(sign)), None)
            plain = module.open(packed) if module else packed
            try:
                yield plain, packed
            except (*_DAMAGED, OSError) as error:
                # bz2 raises a bare OSError; one of the system has a number.
                if isinstance(error, OSError) and (error.errno is not None or not module):
                    raise
                raise self.fault(f"the compressed data is damaged: {error}") from error

    def _open(self) -> IO[bytes]:
        if self._spool is None:
            file = self.path.open("rb")
            if file.seekable():
                return file
            with file:
                self._spool = file.read()
        return io.BytesIO(self._spool)


def shortened(line: str) -> str:
    """The line as a message shows it."""
    line = line.strip()
    return repr(line if len(line) <= SHOWN else line[:SHOWN] + "…")


class Stream(io.RawIOBase):
    """Blocks of bytes as a file to read from."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._left = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = memoryview(next(self._blocks, b""))
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size
