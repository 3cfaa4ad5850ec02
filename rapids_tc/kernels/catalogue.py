"""The intersection methods of the CUDA engine: one row each, read by tests and benchmarks too.

To add a method: write ``cuda/<name>.cu`` with kernels of the one launch signature
(``RTC_METHOD_ARGS`` in ``device.cuh``) that report to the visitor ``RTC_VISIT``, and add its row
to `METHODS`. Whatever it must not take for granted (sizes of tables, of shared memory) becomes a
field of `Capacities`, so that tests can force every fallback.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc.kernels import launch
from rapids_tc.kernels.method import Capacities, Launch, Method

__all__ = ["METHODS", "Capacities", "Launch", "Method", "find"]

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
            width=lambda layout: layout.capacities.bits,
            depth=lambda layout: layout.capacities.counters,
            words=lambda width, depth, edges: 64 + width // 32 + edges * (width // 32 + depth),
        ),
        Launch(
            kernel="bitmap_warp",
            work=lambda engine, layout: (layout.light, len(layout.light)),
            threads=256,
            blocks_per_sm=6,
            drawn=8 * 4,
            width=lambda layout: layout.capacities.light_bits,
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
            width=lambda layout: layout.capacities.nodes,
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
            width=lambda layout: layout.capacities.wide_buckets,
            depth=lambda layout: layout.capacities.bucket,
            words=lambda width, depth, edges: width * (1 + depth),
        ),
        Launch(
            kernel="trust_narrow",
            work=lambda engine, layout: engine.rows(layout.csr, 2, layout.capacities.narrow_rows),
            threads=256,
            blocks_per_sm=6,
            drawn=8 * 4,
            width=lambda layout: layout.capacities.narrow_buckets,
            depth=lambda layout: layout.capacities.bucket,
            words=lambda width, depth, edges: 8 * width * (1 + depth),
        ),
    ),
)

_POLAK = Method(
    name="polak",
    aliases=(),
    paper="Polak: Counting triangles in large graphs on GPU. IPDPSW 2016",
    iterator="edge",
    intersection="merge with two pointers",
    granularity="thread per edge",
    returns=("total",),
    source="polak.cu",
    launches=(
        Launch(
            kernel="polak",
            work=lambda engine, layout: (layout.light, layout.csr.m),
            threads=256,
            blocks_per_sm=8,
            drawn=8 * 32,
        ),
    ),
)

_GROUPTC = Method(
    name="grouptc",
    aliases=(),
    paper="Li, Xu, Pham, Tu, Zhou: A comparative study of intersection-based triangle counting "
    "algorithms on GPUs. IPDPS 2024",
    iterator="edge",
    intersection="binary search from where the last one ended",
    granularity="block per chunk of edges, thread per id",
    returns=("total",),
    source="grouptc.cu",
    launches=(
        Launch(
            kernel="grouptc",
            work=lambda engine, layout: (layout.light, layout.csr.m),
            threads=256,
            blocks_per_sm=8,
            drawn=256,
            width=lambda layout: layout.capacities.chunk,
            words=lambda width, depth, edges: 4 * width,
        ),
    ),
)

_HU = Method(
    name="hu",
    aliases=(),
    paper="Hu, Guan, Zou: Triangle counting on GPU using fine-grained task distribution. "
    "ICDEW 2019",
    iterator="vertex",
    intersection="binary search in a row kept in shared memory",
    granularity="block per vertex, thread per two-hop neighbour",
    returns=("total",),
    source="hu.cu",
    launches=(
        Launch(
            kernel="hu",
            work=lambda engine, layout: engine.rows(layout.csr, 2, layout.csr.m),
            threads=256,
            blocks_per_sm=8,
            drawn=1,
            width=lambda layout: layout.capacities.kept,
            words=lambda width, depth, edges: width,
        ),
    ),
)

_H_INDEX = Method(
    name="h-index",
    aliases=(),
    paper="Pandey, Li, Buluc, Xu, Liu: H-INDEX: hash-indexing for parallel triangle counting on "
    "GPUs. HPEC 2019",
    iterator="edge",
    intersection="hash table of the shorter list, with interleaved buckets",
    granularity="warp per edge",
    returns=("total",),
    source="h_index.cu",
    launches=(
        Launch(
            kernel="h_index",
            work=lambda engine, layout: (layout.light, layout.csr.m),
            threads=256,
            blocks_per_sm=8,
            drawn=8 * 32,
            width=lambda layout: layout.capacities.narrow_buckets,
            depth=lambda layout: layout.capacities.bucket,
            words=lambda width, depth, edges: 8 * width * (1 + depth),
        ),
    ),
)

_GREEN = Method(
    name="green",
    aliases=("merge_path",),
    paper="Green, Yalamanchili, Munguia: Fast triangle counting on the GPU. IA3 2014",
    iterator="edge",
    intersection="merge, its path cut in equal parts",
    granularity="several threads per edge",
    returns=("total",),
    source="green.cu",
    launches=(
        Launch(
            kernel="green",
            work=lambda engine, layout: (layout.light, layout.csr.m),
            threads=256,
            blocks_per_sm=8,
            drawn=8 * 32,
            width=lambda layout: layout.capacities.team,
        ),
    ),
)


def _fox_bin(number: int) -> Launch:
    """The intersections of a bin: four times the steps of the bin before, twice the threads."""

    def work(engine: Any, layout: Any) -> tuple[Any, int]:
        csr, steps = layout.csr, layout.capacities.steps * 4**number
        source, options = launch.read("fox.cu"), ("-DRTC_VISIT=Total",)
        kernel = engine.compile(source, ("fox_bin",), options)["fox_bin"]
        least = steps // 4 + 1 if number else 0
        limits = (np.uint32(least), np.uint32(steps if number < 5 else 2**32 - 1))
        arrays = (csr.offsets, csr.columns, layout.in_edges)
        return engine.listed(kernel, csr.m, *arrays, np.uint32(csr.m), *limits)

    team = 2**number
    return Launch("fox", work, 256, 8, drawn=256 // team, width=lambda layout: team)


_FOX = Method(
    name="fox",
    aliases=(),
    paper="Fox, Green, Gabert, An, Bader: Fast and adaptive list intersections on the GPU. "
    "HPEC 2018",
    iterator="edge",
    intersection="merge or binary search, the cheaper by an estimate",
    granularity="1 to 32 threads per edge, by six bins of work",
    returns=("total",),
    source="fox.cu",
    launches=tuple(map(_fox_bin, range(6))),
)

METHODS: tuple[Method, ...] = (
    *(_BITMAP, _TRICORE, _TRUST, _POLAK, _GREEN, _FOX, _HU, _H_INDEX, _GROUPTC),
)


def find(name: str, returns: str = "total") -> Method:
    """The method of a name or alias; "auto" is the fastest on the graphs measured so far.

    Raises
    ------
    ValueError
        There is no such method, or it does not return what is asked for; with those that do.
    """
    if name == "auto":
        return _BITMAP
    named = {name: method for method in METHODS for name in (method.name, *method.aliases)}
    if name in named and returns in named[name].returns:
        return named[name]
    known = ", ".join(name for name, method in named.items() if returns in method.returns)
    if name in named:
        raise ValueError(f"method={name!r} gives no counts of {returns}; choose auto, {known}")
    raise ValueError(f"method={name!r} is not known; choose auto, {known}")
