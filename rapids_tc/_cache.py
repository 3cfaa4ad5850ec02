"""A cache of files on disk that can be made again, in folders that only their owner may write.

The files are code that gets run. So a folder that another user owns or may write is skipped, and
every file ends in a checksum. Without a usable folder nothing is cached, and all else works.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIGEST_BYTES = hashlib.sha256().digest_size


def cache_directory(name: str, base: str = "") -> Path | None:
    """Return folder `name` of the user's cache, made if missing; None if no folder is usable.

    The cache lies in ``RAPIDS_TC_CACHE``, else in `base`, else in the user's home; if that folder
    is not usable, in the folder for temporary files.
    """
    return next((folder for folder, fault in candidates(name, base) if not fault), None)


def candidates(name: str, base: str = "") -> Iterator[tuple[Path, str]]:
    """Yield the folders that `cache_directory` tries in turn, each with its fault, if any."""
    for parent in _parents(base):
        folder = parent / name
        if not folder.is_absolute():  # each working directory would have a cache of its own
            yield folder, "it is a relative path, from HOME or XDG_CACHE_HOME perhaps"
            continue
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            yield folder, _fault(folder)
        except OSError as error:
            yield folder, error.strerror or str(error)


def store(path: Path, data: bytes, stamp: bytes = b"") -> None:
    """Write a file and its checksum, whole or not at all; `load` needs the same `stamp`."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(data + hashlib.sha256(stamp + data).digest())
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def load(path: Path, stamp: bytes = b"") -> bytes | None:
    """Read the data that `store` wrote with this stamp; None if it is missing, old or damaged."""
    try:
        sealed = path.read_bytes()
    except OSError:
        return None
    data, digest = sealed[:-_DIGEST_BYTES], sealed[-_DIGEST_BYTES:]
    return data if hashlib.sha256(stamp + data).digest() == digest else None


def _parents(base: str) -> Iterator[Path]:
    if chosen := os.environ.get("RAPIDS_TC_CACHE") or base:
        yield Path(chosen).absolute()
    else:
        with suppress(RuntimeError):  # a user in a container may have no home
            yield _user_cache()
    with suppress(OSError):
        user = os.getuid() if hasattr(os, "getuid") else "cache"
        yield Path(tempfile.gettempdir(), f".rapids_tc-{user}")


def _user_cache() -> Path:
    """Return the cache folder in the user's home, by the conventions of the system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rapids_tc"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "rapids_tc"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rapids_tc"


def _fault(folder: Path) -> str:
    """Return why a folder cannot be the cache; an empty text if it can."""
    status = folder.lstat()  # not of the target of a link, where others may write
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if hasattr(os, "geteuid"):
        if status.st_uid != os.geteuid():
            return "another user owns it"
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return "others may write there: remove it"
        if folder.parent.stat().st_uid not in (0, os.geteuid()):  # its owner may swap the folder
            return "another user owns the folder that it is in"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written"
