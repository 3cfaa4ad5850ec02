"""The rows of the catalogue for published methods that give the total alone."""

from __future__ import annotations

import numpy as np

from rapids_tc.kernels import launch, radix
from rapids_tc.kernels.method import (
    Array,
    Capacities,
    KernelEngine,
    KernelLayout,
    Launch,
    Method,
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
    granularity="block per vertex, thread per two-hop neighbor",
    returns=("total",),
    source="hu.cu",
    memory=lambda edges, vertices: 4 * vertices,
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
    """Launch a bin of intersections: four times the steps of the bin before, twice the threads."""

    def work(engine: KernelEngine, layout: KernelLayout) -> tuple[Array, int]:
        csr, steps = layout.csr, layout.capacities.steps * 4**number
        source, options = launch.read(_FOX.source), ("-DRTC_VISIT=Total",)
        kernel = engine.compile(source, _FOX.kernels, options)["fox_bin"]
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
    memory=lambda edges, vertices: 4 * edges,
    launches=tuple(map(_fox_bin, range(6))),
    others=("fox_bin",),
)


def _bisson(team: str, maps: int) -> Launch:
    """Launch a block, a warp or a thread per vertex; the two other launches have no work."""

    def work(engine: KernelEngine, layout: KernelLayout) -> tuple[Array, int]:
        csr, sizes = layout.csr, layout.capacities
        mean = 2 * csr.m / max(csr.n, 1)
        chosen = (
            "block" if mean >= sizes.block_from else "warp" if mean >= sizes.warp_from else "thread"
        )
        return engine.rows(csr, 2, csr.m) if chosen == team else (layout.light, 0)

    def width(layout: KernelLayout) -> int:
        vertices: int = layout.csr.n
        return -(-vertices // 32) if maps else 0

    return Launch(
        kernel=f"bisson_{team}",
        work=work,
        threads=256,
        blocks_per_sm=8,
        drawn={"block": 1, "warp": 8 * 4, "thread": 256}[team],
        width=width,
        depth=lambda layout: layout.capacities.filter if maps else 0,
        words=lambda width, depth, edges: maps * depth,
        scratch=lambda layout: maps * width(layout),
    )


def _bitmaps(edges: int, vertices: int) -> int:
    """Return the bytes of the list of rows, and of the bitmaps on the largest GPU."""
    sizes, words = Capacities(), -(-vertices // 32)
    maps = 8 * min(vertices, 8 * 256) if 2 * edges >= sizes.warp_from * vertices else 0
    return 4 * (vertices + max(words, min(sizes.scratch, maps * words)))


_BISSON = Method(
    name="bisson",
    aliases=(),
    paper="Bisson, Fatica: Static graph challenge on GPU. HPEC 2017",
    iterator="vertex",
    intersection="bitmap of all vertices in global memory",
    granularity="block, warp or thread per vertex, by mean degree",
    returns=("total",),
    source="bisson.cu",
    memory=_bitmaps,
    launches=(_bisson("block", maps=1), _bisson("warp", maps=8), _bisson("thread", maps=0)),
)


def _elimination(team: str, teams: int) -> Launch:
    """Launch the tasks that bitmap has for thread blocks, or for warps."""

    def work(engine: KernelEngine, layout: KernelLayout) -> tuple[Array, int]:
        if team == "block":
            return layout.heavy, len(layout.heavy) // 4
        return layout.light, len(layout.light) // 2

    return Launch(
        kernel=f"elimination_{team}",
        work=work,
        threads=256,
        blocks_per_sm=8,
        drawn=teams,
        width=lambda layout: layout.capacities.vector,
        words=lambda width, depth, edges: teams * width,
    )


_ELIMINATION = Method(
    name="vertex-elimination",
    aliases=(),
    paper="Low, Rao, Lee, Popovici, Franchetti, McMillan: First look: linear algebra-based "
    "triangle counting without matrix multiplication. HPEC 2017",
    iterator="pivot vertex",
    intersection="sparse dot product of a row and a vector",
    granularity="block per vertex, warp per run of light vertices, thread per row",
    returns=("total",),
    source="vertex_elimination.cu",
    launches=(_elimination("block", teams=1), _elimination("warp", teams=8)),
)

_RADIX = Method(
    name="radix",
    aliases=(),
    paper="Cohen: Graph twiddling in a MapReduce world. CiSE 11(4), 2009; binned by rapids_tc",
    iterator="wedge",
    intersection="stable radix binning of closing edges against edges",
    granularity="warp per tile of candidates",
    returns=("total",),
    source="radix.cu",
    launches=(),
    driver=radix.count,
    memory=radix.memory,
    others=radix.KERNELS,
)

TOTALS = (*(_POLAK, _GREEN, _BISSON, _FOX, _HU, _H_INDEX, _GROUPTC, _RADIX, _ELIMINATION),)
