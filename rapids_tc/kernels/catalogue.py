"""The intersection methods of the CUDA engine, a row each, which tests and benchmarks read, too.

To add a method: write ``cuda/<name>.cu`` with kernels of the one launch signature
(``RTC_METHOD_ARGS`` in ``device.cuh``) that report to the visitor ``RTC_VISIT``, and add its row
to `METHODS` or, if it gives the total alone, to `TOTALS` in ``_totals.py``. Add the closed form of
its probes to ``tests/test_kernels.py``. Each size that it must not take for granted (of a table, of
shared memory) becomes a field of `Capacities`, so that tests can force every fallback.
"""

from __future__ import annotations

from typing import Protocol

from rapids_tc.kernels._totals import TOTALS
from rapids_tc.kernels.method import Capacities, KernelLayout, Launch, Method

__all__ = ["METHODS", "Capacities", "Launch", "Method", "find"]


class GraphSize(Protocol):
    """The sizes of a graph, by which a method is chosen."""

    @property
    def n(self) -> int:
        """The number of vertices."""

    @property
    def m(self) -> int:
        """The number of edges."""

    @property
    def longest_row(self) -> int:
        """The number of entries of the longest row."""


_BITMAP = Method(
    name="bitmap",
    aliases=(),
    paper="rapids_tc",
    iterator="pivot vertex",
    intersection="bitmap of its smaller neighbors, past which lists stream",
    granularity="block per vertex, lanes per list; warp per run of light vertices",
    returns=("total", "edges"),
    source="bitmap.cu",
    blocks=True,
    hubs=True,
    launches=(
        Launch(
            kernel="bitmap_block",
            work=lambda engine, layout: (layout.heavy, len(layout.heavy) // 4),
            threads=128,
            blocks_per_sm=16,
            drawn=1,
            width=lambda layout: layout.capacities.bits,
            depth=lambda layout: layout.capacities.counters,
            words=lambda width, depth, edges: 64 + width // 32 + edges * (width // 32 + depth),
        ),
        Launch(
            kernel="bitmap_run",
            work=lambda engine, layout: (layout.light, len(layout.light) // 2),
            threads=256,
            blocks_per_sm=6,
            drawn=8 * 2,
            width=lambda layout: layout.capacities.light_bits,
            depth=lambda layout: layout.capacities.bits,
            words=lambda width, depth, edges: 8 * width // 32,
        ),
    ),
)


def _rows_per_warp(layout: KernelLayout) -> int:
    """Return the rows that a warp takes at a time: fewer if there are warps to spare."""
    vertices: int = layout.csr.n
    return max(1, min(32, vertices // layout.capacities.warps))


_SHORT_ROWS = Method(
    name="short-rows",
    aliases=(),
    paper="rapids_tc",
    iterator="vertex",
    intersection="comparison with a row in registers, or merge with two pointers",
    granularity="thread per short row, warp per longer row",
    returns=("total",),
    source="short_rows.cu",
    bare=True,
    launches=(
        Launch(
            kernel="short_rows",
            work=lambda engine, layout: (layout.light, layout.csr.n),  # rows: no list of items
            threads=256,
            blocks_per_sm=6,
            drawn=8,
            width=lambda layout: layout.capacities.in_lane if _rows_per_warp(layout) == 32 else 1,
            depth=_rows_per_warp,
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
    memory=lambda edges, vertices: 4 * vertices,
    launches=(
        Launch(
            kernel="trust_wide",
            work=lambda engine, layout: engine.rows(
                layout.csr, layout.capacities.narrow_rows + 1, layout.csr.m
            ),
            threads=256,
            blocks_per_sm=6,
            drawn=1,
            width=lambda layout: layout.capacities.wide_buckets,
            depth=lambda layout: layout.capacities.wide_bucket,
            words=lambda width, depth, edges: width * depth + 3 * 256,
        ),
        Launch(
            kernel="trust_narrow",
            work=lambda engine, layout: engine.rows(layout.csr, 2, layout.capacities.narrow_rows),
            threads=256,
            blocks_per_sm=8,
            drawn=8 * 2,
            width=lambda layout: layout.capacities.warp_buckets,
            depth=lambda layout: layout.capacities.warp_bucket,
            words=lambda width, depth, edges: 8 * width * depth,
        ),
    ),
)

METHODS: tuple[Method, ...] = (_BITMAP, _TRICORE, _TRUST, _SHORT_ROWS, *TOTALS)


# By measurement, of which the figures are in tests/test_methods.py.
SMALL, SPARSE = 400_000, 20  # edges, and edges per vertex, up to which one launch is faster
LOW, SHORT = 3, 16  # edges per vertex, and of the longest row, up to which lanes keep rows
# Up to so many edges per vertex, or edges, and entries of the longest row, a count without a layout
# takes less time than a layout and a count.
BARE_MEAN, BARE_EDGES, BARE_ROW = 8, 4_000_000, 150


def fastest(graph: GraphSize, *, bare: bool = False) -> str:
    """Return the method that "auto" is for the total of a whole graph on one GPU.

    `bare` says that the graph has no layout. By measurement (``benchmarks/STUDY.md``) the method is
    short-rows for graphs of low degree, which have little to intersect; polak for small graphs; and
    bitmap for others, whose two launches and tables pay from half a million edges on, or sooner in
    dense graphs.
    """
    if bare or (graph.m <= LOW * graph.n and graph.longest_row <= SHORT):
        return "short-rows"
    return "polak" if _is_small(graph) else "bitmap"


def needs_no_layout(method: str, graph: GraphSize) -> bool:
    """Return whether a graph without a layout is counted without one.

    The longest row is looked at only if there are not too many edges.
    """
    if method != "auto":
        return find(method).bare
    few = graph.m <= max(BARE_MEAN * graph.n, BARE_EDGES)
    return _is_small(graph) or (few and graph.longest_row <= BARE_ROW)


def _is_small(graph: GraphSize) -> bool:
    return graph.m <= min(SMALL, SPARSE * graph.n)


def find(name: str, returns: str = "total") -> Method:
    """Return the method of a name or alias; "auto" is bitmap, which counts all of any layout.

    Raises
    ------
    ValueError
        There is no such method, or it does not return `returns`; the message lists methods that do.
    """
    if not isinstance(name, str):
        raise ValueError(f"method={name!r} is no name: `methods` lists them")
    if name == "auto":
        return _BITMAP
    named = {name: method for method in METHODS for name in (method.name, *method.aliases)}
    if name in named and returns in named[name].returns:
        return named[name]
    accepted = ", ".join(name for name, method in named.items() if returns in method.returns)
    if name in named:
        raise ValueError(
            f"method={name!r} gives no counts of {returns}; choose auto, or of the CUDA kernels "
            f"{accepted}"
        )
    raise ValueError(
        f"method={name!r} is not known; choose auto, or of the CUDA kernels {accepted}"
    )
