"""What the catalogue says of a method: its kernels, their launches, and the sizes of tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

_WORK_AN_EDGE = 16  # probes and what lists cost, roughly
_PIECES, _RUNS = 32, 96  # tasks of either kind that a multiprocessor has, at least


@dataclass(frozen=True)
class Capacities:
    """Sizes that only cost time when they are small: every method is exact with any of them."""

    bits: int = 65536  # bitmap: of a block's map, a power of two from 64 to 65,536
    counters: int = 2048  # bitmap: shared counters for the edges of a middle vertex
    light_bits: int = 16384  # bitmap: of a warp's map, a power of two from 64 on
    list_cost: int = 32  # bitmap: probes that a list costs besides its own
    entry_cost: int = 64  # bitmap: probes that an entry of a light vertex's row costs
    run: int = 16384  # bitmap: cost of a warp's task, from 1 on
    heavy_from: int = 8192  # bitmap: cost from which a middle vertex is work for blocks
    piece: int = 1048576  # bitmap: cost of a block's task
    least_run: int = 512  # bitmap: the three where a graph is small, see `fitted`
    least_heavy: int = 1024
    least_piece: int = 8192
    nodes: int = 32  # tricore: of the search tree, kept by a warp
    narrow_rows: int = 100  # trust: entries of a row up to which a warp takes it
    wide_buckets: int = 1024  # trust: of a block's hash table, a power of two
    narrow_buckets: int = 32  # trust and h-index: of a warp's, a power of two
    bucket: int = 8  # trust and h-index: entries of a bucket
    chunk: int = 256  # grouptc: edges that a block joins, at most 256
    kept: int = 2048  # hu: ids of a row that are kept by a block
    team: int = 8  # green: threads an edge, a power of two up to 32
    warp_from: int = 4  # bisson: mean degree from which a warp takes a vertex
    block_from: int = 40  # bisson: and from which a block does
    filter: int = 64  # bisson: words of a filter of 2,048 ids a bit
    scratch: int = 2**30  # bisson: words of all bitmaps, past which fewer blocks run
    vector: int = 256  # vertex-elimination: entries of a vector that a team keeps
    batch: int = 2**23  # radix: wedges that are binned at once
    tile: int = 1024  # radix: candidates that a warp takes
    steps: int = 16  # fox: of the first bin's largest intersection

    def fitted(self, edges: int, sm_count: int) -> Capacities:
        """Tasks of bitmap so small that all multiprocessors have some of so many in-edges."""
        work = _WORK_AN_EDGE * edges // sm_count
        piece, run = work // _PIECES, work // _RUNS
        return replace(
            self,
            piece=min(self.piece, max(self.least_piece, piece)),
            run=min(self.run, max(self.least_run, run)),
            heavy_from=min(self.heavy_from, max(self.least_heavy, run)),
        )


@dataclass(frozen=True)
class Launch:
    """One kernel of a method and how it is launched, as functions of a graph's layout."""

    kernel: str
    work: Callable[[Any, Any], tuple[Any, int]]  # (engine, layout) -> its items, how many
    threads: int  # of a block
    blocks_per_sm: int
    drawn: int  # items a block, by which the grid is sized while they are few
    width: Callable[[Any], int] = lambda layout: 0
    depth: Callable[[Any], int] = lambda layout: 0
    words: Callable[[int, int, bool], int] = lambda width, depth, edges: 0
    """Of shared memory: width, depth, edge counts wanted?"""
    scratch: Callable[[Any], int] = lambda layout: 0
    """Words of global memory for each block: zeros, left zero."""


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
    driver: Callable[..., None] | None = None
    """Where a loop is needed in place of launches: (engine, layout, kernels, out, on_progress)."""
    memory: Callable[[int, int], int] = lambda edges, vertices: 0
    """Bytes that a count takes besides the layout, at most, with `Capacities` as they are."""
    others: tuple[str, ...] = ()
    """The kernels that no launch names."""
    blocks: bool = False
    """Whether it counts on blocks of a graph too."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that are compiled from the source."""
        return (*dict.fromkeys(launch.kernel for launch in self.launches), *self.others)
