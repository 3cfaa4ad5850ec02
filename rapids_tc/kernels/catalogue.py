"""The intersection methods of the CUDA engine: one row each, read by tests and benchmarks too.

To add a method: write ``cuda/<name>.cu`` with kernels of the one launch signature
(``RTC_METHOD_ARGS`` in ``device.cuh``) that report to the visitor ``RTC_VISIT``, and add its row
to `METHODS`. Whatever it must not take for granted (sizes of tables, of shared memory) becomes a
field of `Capacities`, so that tests can force every fallback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Capacities:
    """Sizes that only cost time when they are small: every method is exact with any of them."""

    bits: int = 65536  # bitmap: of a block's map, a power of two from 64 to 65,536
    counters: int = 2048  # bitmap: shared counters for the edges of a middle vertex
    light_bits: int = 4096  # bitmap: of a warp's map, a power of two from 32 on
    heavy_from: int = 8192  # bitmap: probes from which a middle vertex is work for blocks
    piece: int = 524288  # bitmap: probes of a block's task


@dataclass(frozen=True)
class Launch:
    """One kernel of a method, and how it is launched."""

    kernel: str
    work: Callable[[Any, Any], tuple[Any, int]]  # (engine, layout) -> its items, how many
    threads: int  # of a block
    blocks_per_sm: int
    drawn: int  # items that a block's threads draw from the ticket at once
    width: Callable[[Capacities], int]
    depth: Callable[[Capacities], int]
    words: Callable[[int, int, bool], int]  # of shared memory: width, depth, edge counts wanted?


@dataclass(frozen=True)
class Method:
    """An intersection method, as ``rapids_tc.methods()`` lists it."""

    name: str
    aliases: tuple[str, ...]
    paper: str
    iterator: str
    intersection: str
    granularity: str
    returns: tuple[str, ...]
    source: str
    launches: tuple[Launch, ...]


_BITMAP = Method(
    name="bitmap",
    aliases=(),
    paper="rapids_tc",
    iterator="middle vertex",
    intersection="bitmap of its smaller neighbours, past which lists stream",
    granularity="block or warp per vertex, lanes per list",
    returns=("total", "edges"),
    source="bitmap.cu",
    launches=(
        Launch(
            kernel="bitmap_block",
            work=lambda engine, layout: (layout.heavy, len(layout.heavy) // 4),
            threads=128,
            blocks_per_sm=10,
            drawn=1,
            width=lambda sizes: sizes.bits,
            depth=lambda sizes: sizes.counters,
            words=lambda width, depth, edges: 64 + width // 32 + edges * (width // 32 + depth),
        ),
        Launch(
            kernel="bitmap_warp",
            work=lambda engine, layout: (layout.light, len(layout.light)),
            threads=256,
            blocks_per_sm=6,
            drawn=8 * 4,
            width=lambda sizes: sizes.light_bits,
            depth=lambda sizes: 0,
            words=lambda width, depth, edges: 8 * width // 32,
        ),
    ),
)

METHODS: tuple[Method, ...] = (_BITMAP,)


def find(name: str) -> Method:
    """The method of a name or alias; "auto" is the fastest on the graphs measured so far."""
    if name == "auto":
        return _BITMAP
    for method in METHODS:
        if name == method.name or name in method.aliases:
            return method
    known = ", ".join(name for method in METHODS for name in (method.name, *method.aliases))
    raise ValueError(f"method={name!r} is not known; choose auto, {known}")
