"""The memory of the host that this process may take, by the machine and its control groups."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path("/")
GROUPS = PurePosixPath("sys/fs/cgroup")


class _Names(NamedTuple):
    """Two files of a control group, its limit and its use, and one line of its ``memory.stat``."""

    limit: str
    usage: str
    reclaimable: str


_V2 = _Names("memory.max", "memory.current", "inactive_file")
_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def host_memory(root: Path = ROOT) -> int:
    """Return the most bytes that this process may ever have; 2**63 if the system says nothing.

    `root` is the folder that holds ``proc`` and ``sys``.
    """
    return min([_physical(), *(limit for limit, _ in _limits(root))])


def host_free(root: Path = ROOT) -> int:
    """Return the bytes that may be taken now; all of the memory if the system says nothing."""
    return min([_physical(), *_available(root), *(free for _, free in _limits(root))])


def _physical() -> int:
    """Return the bytes of the machine's memory."""
    if not hasattr(os, "sysconf"):
        return 2**63
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def trim() -> None:
    """Give back to the system what allocators keep of memory that was freed.

    The C library keeps even arrays of up to 32 MiB, and Arrow keeps all its text: much of what a
    call may take if its limit is small.
    """
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        _malloc_trim()(0)


@cache
def _malloc_trim() -> Callable[[int], Any]:
    """Return the function of glibc: other libraries keep little. To find it takes 0.1 ms."""
    found: Callable[[int], Any] = getattr(ctypes.CDLL(None), "malloc_trim", bool)
    return found


def _available(root: Path) -> Iterator[int]:
    """Yield the bytes that the machine has left, if the system says so."""
    try:
        facts = dict(line.split(":", 1) for line in _lines(root / "proc/meminfo"))
        yield 1024 * int(facts["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each control group of this process, and the bytes that are left of it.

    A limit holds for all groups below it. A container sees its own group as the topmost folder,
    although ``proc/self/cgroup`` may name the path on the host: missing folders are skipped.
    """
    try:
        lines = _lines(root / "proc/self/cgroup")
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            tops, names = [GROUPS, GROUPS / "unified"], _V2
        elif "memory" in controllers.split(","):
            tops, names = [GROUPS / "memory"], _V1
        else:
            continue
        group_path = PurePosixPath(*(part for part in path.split("/") if part not in ("", "..")))
        for top in tops:
            for group in (group_path, *group_path.parents):
                yield from _of_group(root / top / group, names)


def _of_group(folder: Path, names: _Names) -> Iterator[tuple[int, int]]:
    """Yield the limit of one group and the bytes that are left of it; nothing without a limit."""
    try:
        limit = int((folder / names.limit).read_text())  # "max" is no number
        usage = int((folder / names.usage).read_text())
        stat = dict(line.split() for line in _lines(folder / "memory.stat"))
    except (OSError, ValueError):
        return
    held = usage - int(stat.get(names.reclaimable, 0))  # the system drops cached files on demand
    yield limit, min(limit, max(limit - held, 0))


def _lines(file: Path) -> list[str]:
    """Return the lines of a text file."""
    return file.read_text().splitlines()
