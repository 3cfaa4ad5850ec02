"""Reports of sanitizers, cut down to the kernel's part, with lines of the ``.cu`` file."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

from rapids_tc.testing import _build

if TYPE_CHECKING:
    from collections.abc import Iterator

_FRAME = re.compile(r"\s*#\d+ .*\((?P<module>\S+)\+(?P<offset>0x[0-9a-f]+)\)")
_OURS = re.compile(r"(?:.*/)?([0-9a-f]+\.so)$")
_EMULATOR = ("cuda_host.hpp", "host_runtime.cpp", "exports", "??")
_NOISE = re.compile(
    r"=====|SUMMARY|\s*Thread T\d+ .*created by|allocated by|.*swapcontext functions"
)
_END = re.compile(r"Shadow bytes around|HINT:")
_FIBER = re.compile(r"(Thread T\d+) '([^']*)'")


def readable(report: str) -> str:
    """Return a report with the kernel's own frames only, each as function and line."""
    lines = report.splitlines()
    places = _places(lines)
    # TSan names threads at the end of a report: put the names where the threads are mentioned.
    fibers = dict(_FIBER.findall(report))
    return "\n".join(_shortened(lines, places, fibers))


def _shortened(
    lines: list[str], places: dict[tuple[str, str], str], fibers: dict[str, str]
) -> Iterator[str]:
    """Yield the lines that concern the kernel."""
    skipping = False
    for line in lines:
        skipping = (skipping or bool(_END.match(line))) and not line.startswith("=====")
        if skipping or _NOISE.match(line) or not line.strip():
            continue
        if frame := _FRAME.match(line):
            if place := places.get((frame["module"], frame["offset"])):
                yield f"    {place}"
        else:
            yield re.sub(r"thread (T\d+)", lambda t: fibers.get(f"Thread {t[1]}", t[0]), line)


def _places(lines: list[str]) -> dict[tuple[str, str], str]:
    """Look up the function and the line of every frame that is in a kernel."""
    offsets: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        if (frame := _FRAME.match(line)) and _OURS.match(frame["module"]):
            offsets[frame["module"]].add(frame["offset"])
    places = {}
    for module, addresses in offsets.items():
        library = str(_build.library(module.rpartition("/")[2]))
        command = [_build.tool("addr2line"), "-Cfpse", library, *addresses]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        for offset, place in zip(addresses, done.stdout.splitlines(), strict=False):
            place = place.partition(" (discriminator")[0]
            if not place.partition(" at ")[2].startswith(_EMULATOR):
                places[module, offset] = place
    return places
