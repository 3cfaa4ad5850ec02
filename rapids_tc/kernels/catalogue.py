"""The intersection methods of the CUDA engine, a row each, which tests and benchmarks read, too.

To add a method: write ``cuda/<name>.cu`` with kernels of the one launch signature
(``RTC_METHOD_ARGS`` in ``device.cuh``) that report to the visitor ``RTC_VISIT``, and add its row
to `METHODS` or, if it gives the total alone, to `TOTALS` in ``_totals.py``. Add the closed form of
its probes to ``tests/test_kernels.py``. Each size that it must not take for granted (of a table, of
shared memory) becomes a field of `Capacities`, so that tests can force every fallback.
"""

from __future__ import annotations

from rapids_tc.kernels._totals import TOTALS
from rapids_tc.kernels.method import Capacities, Launch, Method

__all__ = ["METHODS", "Capacities", "Launch", "Method", "find"]

_BITMAP = Method(
    name="bitmap",
    aliases=(),
    paper="rapids_tc",
    iterator="middle vertex",
    intersection="bitmap of its smaller neighbours, past which lists stream",
    granularity="block per vertex, lanes per list; warp per run of light vertices",
    returns=("total", "edges"),
    source="bitmap.cu",
    blocks=True,
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

METHODS: tuple[Method, ...] = (_BITMAP, _TRICORE, _TRUST, *TOTALS)


SMALL, SPARSE = 400_000, 20  # edges, and edges per vertex, up to which one launch is faster


def fastest(vertices: int, edges: int) -> str:
    """Return the method that "auto" is for the total of a whole graph on one GPU.

    By measurement (``benchmarks/STUDY.md``) it is bitmap, whose two launches and tables pay from
    half a million edges on, or sooner in dense graphs, and polak below.
    """
    return "polak" if edges <= min(SMALL, SPARSE * vertices) else "bitmap"


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
