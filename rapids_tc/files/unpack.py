"""Compression, archives and UTF-16: what lies between the bytes on the disk and the edges."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Any

# What these layers raise for damaged data; bz2 and gzip raise an OSError without a number, too.
DAMAGED = (
    EOFError,
    UnicodeDecodeError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
)
_COMPRESSED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_LAYERS = 4  # of one file: a zip of a .tar.gz of UTF-16
_SIGNS = 262  # bytes that say what a layer is: tar's stand at the end
# Files beside the edges: descriptions, and KONECT's files of metadata.
_BESIDE = re.compile(r"(readme|license|meta\.|ent\.|__macosx|\.)", re.I)


class UnpackError(Exception):
    """A layer that cannot be opened; the message says what to do."""


class Unpacker:
    """The layers around an edge file, each recognized by its first bytes.

    Attributes
    ----------
    notes : list of str
        The facts about the layers that are guesses.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._members: dict[int, str] = {}  # by layer: an archive is listed once

    def open(self, file: IO[bytes]) -> IO[bytes]:
        """Return the stream below all layers; UnpackError for an archive of several files."""
        self.notes = []
        for layer in range(_LAYERS):
            head = file.read(_SIGNS)
            file.seek(0)
            opener = self._opener(head, layer)
            inner = opener(file) if opener else None
            if inner is None:
                break
            file = inner
        return file

    def _opener(self, head: bytes, layer: int) -> Callable[[Any], Any] | None:
        for sign, opener in _COMPRESSED.items():
            if head.startswith(sign):
                return opener
        if head.startswith(b"\x28\xb5\x2f\xfd"):
            return _zstandard
        if head.startswith(b"PK\x03\x04"):
            return lambda file: self._zip(file, layer)
        if head[257:262] == b"ustar":
            return lambda file: self._tar(file, layer)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return self._utf16
        return None

    def _zip(self, file: IO[bytes], layer: int) -> Any:
        archive = zipfile.ZipFile(file)
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if any(name.endswith(".npy") for name in names):  # an .npz file is read as a whole
            file.seek(0)
            return None
        if any(name == "content.xml" or name.startswith("xl/") for name in names):
            raise UnpackError("a workbook of Excel or LibreOffice: save the sheet as CSV")
        return archive.open(self._member(names, layer))

    def _tar(self, file: IO[bytes], layer: int) -> Any:
        if layer not in self._members:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                self._member([entry.name for entry in archive if entry.isfile()], layer)
            file.seek(0)
        name = self._member([], layer)
        archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115
        return archive.extractfile(next(entry for entry in archive if entry.name == name))

    def _member(self, names: list[str], layer: int) -> str:
        """Return the one file of an archive that is to be read."""
        if layer not in self._members:
            files = [name for name in names if not any(map(_BESIDE.match, name.split("/")))]
            if len(files) != 1:
                raise UnpackError(
                    f"an archive of {len(files)} files ({', '.join(files[:5] or names[:5])}): "
                    "unpack it, and name one file or the folder"
                )
            self._members[layer] = files[0]
        note = f"{self._members[layer]} of the archive is read"
        self.notes += [note] * (note not in self.notes)
        return self._members[layer]

    def _utf16(self, file: IO[bytes]) -> Any:
        self.notes.append("the text is UTF-16")
        return codecs.EncodedFile(file, "utf-8", "utf-16")


def _zstandard(file: IO[bytes]) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise UnpackError('zstd needs PyArrow: pip install "rapids_tc[arrow]"') from error
    return _Forward(pyarrow.CompressedInputStream(file, "zstd"))


class _Forward:
    """A stream that goes back to its start as long as no more than its first bytes are read."""

    closed = False  # PyArrow asks

    def __init__(self, stream: Any) -> None:
        self._stream, self._head = stream, stream.read(_SIGNS)
        self._rest: bytes | None = self._head

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        head, self._rest = self._rest or b"", None
        if 0 <= size <= len(head) or len(self._head) < _SIGNS:
            cut = len(head) if size < 0 else size
            self._rest = head[cut:]
            return head[:cut]
        more: bytes = self._stream.read(size - len(head) if size > 0 else None)
        return head + more

    def tell(self) -> int:
        """Refuse: who asks means to go back later."""
        return self.seek(0, 1)

    def seek(self, place: int, whence: int = 0) -> int:
        """Go back to the start."""
        if self._rest is None or place or whence:
            raise UnpackError("this format is not read from zstd: decompress the file first")
        self._rest = self._head
        return 0
