"""What the catalogue says of a method: its kernels, their launches, and the sizes of tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WORK_PER_EDGE = 16  # a rough cost in probes, lists included
_PIECES, _RUNS = 32, 96  # tasks of blocks and of warps per multiprocessor, at least

Array = Any  # numpy.ndarray or cupy.ndarray


class Kernel(Protocol):
    """A kernel in CuPy's form."""

    max_dynamic_shared_size_bytes: int

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0
    ) -> None:
        """Launch the kernel."""


class KernelEngine(Protocol):
    """The engine that launches kernels: see `rapids_tc.engines.gpu.cuda.CudaEngine`."""

    @property
    def xp(self) -> Any:
        """CuPy or NumPy."""

    @property
    def compile(self) -> Callable[..., Mapping[str, Kernel]]:
        """The compiler: (source, names, options) to a mapping of kernels."""

    @property
    def sm_count(self) -> int:
        """The number of multiprocessors."""

    @property
    def shared_limit(self) -> int:
        """The bytes of shared memory that a block may use."""

    @property
    def most_shared(self) -> int:
        """The bytes of shared memory that a block may use if its kernel asks for so many."""

    @property
    def wait(self) -> Callable[[], None]:
        """A function that returns when all that was launched is done."""

    def rows(self, csr: Any, least: int, most: int) -> tuple[Array, int]:
        """List the rows of `least` to `most` entries, and count them."""

    def listed(
        self, kernel: Kernel, size: int, *arguments: Any, words: int = 1
    ) -> tuple[Array, int]:
        """Run a kernel that lists some of `size` elements: return the list, and its length."""


class KernelLayout(Protocol):
    """What kernels read: see `rapids_tc.engines.gpu.layout.GpuLayout`."""

    @property
    def csr(self) -> Any:
        """The graph."""

    @property
    def codes(self) -> Array:
        """The columns as codes of 16 bits."""

    @property
    def in_edges(self) -> Array:
        """The in-edges, by pivot vertex."""

    @property
    def in_offsets(self) -> Array:
        """Where the in-edges of each pivot vertex begin."""

    @property
    def heavy(self) -> Array:
        """The tasks of thread blocks."""

    @property
    def light(self) -> Array:
        """The tasks of warps."""

    @property
    def capacities(self) -> Capacities:
        """The sizes of tables."""

    @property
    def blocks(self) -> Any:
        """The blocks that the layout is made of, or None."""

    @property
    def bare(self) -> bool:
        """Whether nothing but the graph is there."""

    @property
    def hubs(self) -> Any:
        """The bit rows of hubs, or None."""


@dataclass(frozen=True)
class Capacities:
    """Sizes of tables and tasks. Any sizes give exact counts; small ones only take longer."""

    bits: int = 65536  # bitmap: bits of a block's map, a power of two from 64 to 65,536
    counters: int = 2048  # bitmap: shared counters for the edges of a pivot vertex
    shared_counters: int = 2048  # bitmap: counters of a visitor in shared memory, if no more
    drain_after: int = 2**22  # bitmap: additions of a thread before it adds them to 64-bit sums
    light_bits: int = 16384  # bitmap: bits of a warp's map, a power of two from 64 on
    # More hubs are more words per in-edge, fewer hubs have fewer of the triangles. Of rows with few
    # hubs a walk reads less than their words. In small graphs bits take longer than they spare.
    hubs: int = 2048  # bitmap: ranks that rows keep as bits: 1,024, 2,048 or 4,096
    least_hubs: int = 64  # bitmap: hubs from which a row has bits, a power of two
    hubs_from: int = 3_000_000  # bitmap: edges from which rows have bits
    edge_hubs_from: int = 12_000_000  # bitmap: edges from which bits serve counts of edges
    list_cost: int = 32  # bitmap: cost of a list in probes, besides its own probes
    entry_cost: int = 64  # bitmap: cost in probes of an entry of a light vertex's row
    run: int = 16384  # bitmap: cost of a warp's task, from 1 on
    heavy_from: int = 8192  # bitmap: cost from which a block takes a pivot vertex
    piece: int = 1048576  # bitmap: cost of a block's task
    least_run: int = 512  # bitmap: lower bounds of run, heavy_from and piece in `fitted`
    least_heavy: int = 1024
    least_piece: int = 8192
    in_lane: int = 6  # short-rows: entries of a row up to which a lane takes it, at most 6
    warps: int = 8192  # short-rows: warps among which rows are spread before a warp takes several
    nodes: int = 32  # tricore: nodes of the search tree that a warp keeps
    narrow_rows: int = 48  # trust: entries of a row up to which a warp takes it
    wide_buckets: int = 2048  # trust: buckets of a block's hash table, a power of two
    wide_bucket: int = 4  # trust: entries of a bucket of a block's table
    warp_buckets: int = 128  # trust: buckets of a warp's hash table, a power of two
    warp_bucket: int = 4  # trust: entries of a bucket of a warp's table
    narrow_buckets: int = 32  # h-index: buckets of a warp's table, a power of two
    bucket: int = 8  # h-index: entries of a bucket
    chunk: int = 256  # grouptc: edges that a block joins, at most 256
    kept: int = 2048  # hu: ids of a row that a block keeps
    team: int = 8  # green: threads per edge, a power of two up to 32
    warp_from: int = 4  # bisson: mean degree from which a warp takes a vertex
    block_from: int = 40  # bisson: mean degree from which a block takes a vertex
    filter: int = 64  # bisson: words of a filter, with a bit per 2,048 ids
    scratch: int = 2**30  # bisson: words of all bitmaps, past which fewer blocks run
    vector: int = 256  # vertex-elimination: entries of a vector that a team keeps
    batch: int = 2**23  # radix: wedges that are binned at once
    heads_from: int = 2**20  # look-ups: edges of a graph from which they begin with heads of groups
    tile: int = 1024  # radix: candidates that a warp takes
    steps: int = 16  # fox: steps of the largest intersection in the first bin
    small: int = 2**15  # preparation: rows up to which triangles are counted from keys
    small_sparse: int = 2**20  # the same, of graphs with at most `sparse` rows per vertex
    sparse: int = 24
    one_tile: int = 2048  # the same: keys up to which one block sorts and counts, at most 2,048
    bucketed_from: int = 2**22  # preparation: rows from which degrees are counted in buckets
    grouped_from: int = 2**22  # preparation: edges from which in-edges are grouped without a sort
    hot: int = 65536  # preparation: ranks grouped so, a multiple of 256 up to 65,536
    clique_row: int = 512  # cliques: entries of a row whose bits are in shared memory, at most 512
    clique_words: int = 2**24  # cliques: words of the bits of long rows that are made at once
    wedge_small: int = 16384  # squares: ranks up to which each vertex is one task, uncounted
    wedge_threads: int = 1024  # squares: threads of a block that counts in a table
    wedge_words: int = 55296  # squares: words of its table, at most
    wedge_halves: int = 4  # squares: halves of it up to which two blocks have a half each
    wedge_slots: int = 8192  # squares: slots of a block's hash table, a power of two
    wedge_warp_slots: int = 512  # squares: slots of a warp's hash table, a power of two
    wedge_list: int = 4096  # squares: neighbors from which all warps of a block share a list
    wedge_windows: int = 16  # squares: windows of about equal work, at least, if there is a table
    dense_threads: int = 1024  # wedges by ends: threads of a block of dense counters, at most 1,024
    dense_wedges: int = 6144  # wedges by ends: wedges of a vertex from which counters are dense
    brief_wedges: int = 256  # wedges by ends: wedges of a vertex up to which a warp takes it
    end_words: int = 2**16  # wedges by ends: words of a table in shared memory, at most
    counted: int = 24576  # preparation: ranks whose in-edges are counted in shared memory
    parted_from: int = 30_000_000  # preparation: rows from which keys are moved to buckets
    bucket_weight: int = 5700  # preparation: keys and rows of a bucket, about
    part_ranges: int = 4096  # preparation: ranges of rows that are counted in a part, 2 ** i
    sort_threads: int = 512  # preparation: threads of a block that sorts a bucket

    def fitted(self, edges: int, sm_count: int) -> Capacities:
        """Shrink the tasks of bitmap until `edges` in-edges give every multiprocessor enough."""
        work = _WORK_PER_EDGE * edges // sm_count
        piece, run = work // _PIECES, work // _RUNS
        return replace(
            self,
            piece=min(self.piece, max(self.least_piece, piece)),
            run=min(self.run, max(self.least_run, run)),
            heavy_from=min(self.heavy_from, max(self.least_heavy, run)),
        )


@dataclass(frozen=True)
class Launch:
    """A kernel of a method and its launch, as functions of a graph's layout."""

    kernel: str
    work: Callable[[KernelEngine, KernelLayout], tuple[Array, int]]  # the items and their number
    threads: int  # per block
    blocks_per_sm: int
    drawn: int  # items per block: sizes the grid if items are few
    width: Callable[[KernelLayout], int] = lambda layout: 0
    depth: Callable[[KernelLayout], int] = lambda layout: 0
    words: Callable[[int, int, bool], int] = lambda width, depth, edges: 0
    """Words of shared memory: (width, depth, are edges counted?)."""
    scratch: Callable[[KernelLayout], int] = lambda layout: 0
    """Words of global memory per block: zeros, left zero."""


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
    """A loop in place of launches, if any: (engine, layout, kernels, out, on_progress)."""
    memory: Callable[[int, int], int] = lambda edges, vertices: 0
    """Bytes that a count takes besides the layout, at most, with the default `Capacities`."""
    others: tuple[str, ...] = ()
    """Kernels that no launch names."""
    blocks: bool = False
    """Whether the method counts on blocks of a graph, too."""
    hubs: bool = False
    """Whether the method reads the bit rows of a layout, if it has some."""
    bare: bool = False
    """Whether the method reads the CSR alone, and so needs no layout."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that are compiled from the source."""
        return (*dict.fromkeys(launch.kernel for launch in self.launches), *self.others)
