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
    nodes: int = 32  # tricore: of the search tree, kept by a warp
    narrow_rows: int = 100  # trust: entries of a row up to which a warp takes it
    wide_buckets: int = 1024  # trust: of a block's hash table, a power of two
    narrow_buckets: int = 32  # trust: of a warp's, a power of two
    bucket: int = 8  # trust: entries of a bucket


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

_TRICORE = Method(
    name="tricore",
    aliases=("binary_search",),
    paper="Hu, Liu, Huang: TriCore: parallel triangle counting on GPUs. SC 2018",
    iterator="edge",
    intersection="binary search, top tree levels in shared memory",
    granularity="warp per edge",
    returns=("total", "edges"),
    source="tricore.cu",
    launches=(
        Launch(
            kernel="tricore",
            work=lambda engine, layout: (layout.light, layout.csr.m),  # in-edges: no list of items
            threads=256,
            blocks_per_sm=6,
            drawn=8 * 32,
            width=lambda sizes: sizes.nodes,
            depth=lambda sizes: 0,
            words=lambda width, depth, edges: 8 * width,
        ),
    ),
)

_TRUST = Method(
    name="trust",
    aliases=("hash",),
    paper="Pandey et al.: TRUST: triangle counting reloaded on GPUs. TPDS 32(11), 2021",
    iterator="vertex",
    intersection="hash table with interleaved buckets",
    granularity="block or warp per vertex, by degree",
    returns=("total", "edges"),
    source="trust.cu",
    launches=(
        Launch(
            kernel="trust_wide",
            work=lambda engine, layout: engine.rows(
                layout.csr, layout.capacities.narrow_rows + 1, layout.csr.m
            ),
            threads=1024,
            blocks_per_sm=2,
            drawn=1,
            width=lambda sizes: sizes.wide_buckets,
            depth=lambda sizes: sizes.bucket,
            words=lambda width, depth, edges: width * (1 + depth),
        ),
        Launch(
            kernel="trust_narrow",
            work=lambda engine, layout: engine.rows(layout.csr, 2, layout.capacities.narrow_rows),
            threads=256,
            blocks_per_sm=6,
            drawn=8 * 4,
            width=lambda sizes: sizes.narrow_buckets,
            depth=lambda sizes: sizes.bucket,
            words=lambda width, depth, edges: 8 * width * (1 + depth),
        ),
    ),
)

METHODS: tuple[Method, ...] = (_BITMAP, _TRICORE, _TRUST)


def find(name: str) -> Method:
    """The method of a name or alias; "auto" is the fastest on the graphs measured so far."""
    if name == "auto":
        return _BITMAP
    for method in METHODS:
        if name == method.name or name in method.aliases:
            return method
    known = ", ".join(name for method in METHODS for name in (method.name, *method.aliases))
    raise ValueError(f"method={name!r} is not known; choose auto, {known}")
