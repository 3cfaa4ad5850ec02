"""Memory of the host, as the machine and the control groups of this process allow it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path("/")
GROUPS = PurePosixPath("sys/fs/cgroup")


class _Names(NamedTuple):
    """The files of a control group that say what it may take and takes, and a line of the third."""

    limit: str
    usage: str
    reclaimable: str


_V2 = _Names("memory.max", "memory.current", "inactive_file")
_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def host_memory(root: Path = ROOT) -> int:
    """Bytes that this process may have at most; more than there could be where nothing tells.

    `root` is the folder that holds ``proc`` and ``sys``.
    """
    there = 2**63
    if hasattr(os, "sysconf"):
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([there, *(limit for limit, _ in _limits(root))])


def host_free(root: Path = ROOT) -> int:
    """Bytes that may be taken now, or all that there are where nothing tells."""
    return min([host_memory(root), *_available(root), *(free for _, free in _limits(root))])


def _available(root: Path) -> Iterator[int]:
    """What the machine has left, if it tells."""
    try:
        facts = dict(line.split(":", 1) for line in _lines(root / "proc/meminfo"))
        yield 1024 * int(facts["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """What each control group of this process allows, and what it has left.

    A limit holds for all groups below it. A container sees its own group as the topmost folder,
    though its path may be the host's: folders that are not there are passed over.
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
        own = PurePosixPath(*(part for part in path.split("/") if part not in ("", "..")))
        for top in tops:
            for group in (own, *own.parents):
                yield from _of_group(root / top / group, names)


def _of_group(folder: Path, names: _Names) -> Iterator[tuple[int, int]]:
    """The limit of one group and what is left of it; nothing where it has none."""
    try:
        limit = int((folder / names.limit).read_text())  # "max" is no number
        usage = int((folder / names.usage).read_text())
        stat = dict(line.split() for line in _lines(folder / "memory.stat"))
    except (OSError, ValueError):
        return
    held = usage - int(stat.get(names.reclaimable, 0))  # files that were read are let go of
    yield limit, min(limit, max(limit - held, 0))


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines()
