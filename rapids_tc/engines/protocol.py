"""The protocol of engines, CPU and CUDA: what each does for a graph, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from rapids_tc.preparation.csr import Array, Csr

ProgressCallback = Callable[..., None]  # (done), or (done, note)
PivotRange = tuple[int, int]  # the first middle vertex, and that past the last
Residues = tuple[int, int, int]  # of the corners u, v and w of a task

allowed: ContextVar[int | None] = ContextVar("allowed", default=None)  # threads of the CPU engine


@dataclass(frozen=True)
class Costs:
    """Bytes that an engine takes for a graph or for its blocks, read off the arrays that it makes.

    Attributes
    ----------
    stages : mapping
        Peak bytes per raw row and per vertex of each stage on a whole graph, beside ids, numbers
        and ranks; "numbers" is a copy of the numbers of both ends of a row.
    tables : callable
        (vertices, are edges counted?) to the bytes of the look-up tables of all threads.
    most : int
        Rows of a graph that is counted whole; with this many or more it is cut in blocks.
    positions : int
        All blocks in memory, and the counts of one more where edges are counted, have fewer edges.
    unasked : int
        That a call may need before it asks what is free: asking takes as long as a small count.
    text : int
        Bytes per distinct text id, while a graph in blocks is numbered.
    order : int
        For each number, while vertices are ordered by degree.
    sort : int
        For each row of the frame in a block, while the keys of the block are sorted.
    row : int
        For each row of a chunk of the frame, while degrees are counted and keys are made.
    stays : bool
        Whether block uv is read after it is transposed, too.
    ahead : bool
        Whether blocks of the next task are copied while this one is counted.
    slots : callable
        (are edges counted?) to the blocks that are in memory at least.
    task : callable
        (edges, rows, are edges counted?, slots) to the bytes of a task and of blocks that large.
    """

    stages: Mapping[str, tuple[int, int]]
    tables: Callable[[int, bool], int]
    most: int
    positions: int
    unasked: int
    text: int
    order: int
    sort: int
    row: int
    stays: bool
    ahead: bool
    slots: Callable[[bool], int]
    task: Callable[[int, int, bool, int], int]


class Engine(Protocol):
    """What an engine does for a graph. `layout` is the engine's own, made once by `prepare`.

    A `tick` is called now and then with the share that is done, 0 to 1; by `truss` also with a
    note on where it is.
    """

    @property
    def costs(self) -> Costs:
        """What it takes for blocks."""

    def degrees(self, src: Array, dst: Array, size: int) -> tuple[Array, int]:
        """How often each number below `size` stands in either array, and how many do."""

    def csr(self, keys: Array, n: int) -> Csr:
        """The CSR of `n` ranks from packed keys in any order; repeats and loops are dropped.

        The array of keys is used as scratch memory: its content is undefined afterwards.
        """

    def split(
        self,
        ends: tuple[Array, Array],
        rank: Array,
        n: int,
        group: tuple[int, int],
        free: Array,
        keys: Array,
    ) -> None:
        """Write the keys, row << 32 | column, of rows whose edges lie in some of n x n blocks.

        `ends` are the numbers of both ends of every row (uint32), `rank` (uint32) is by number;
        `group` is the first block, i * n + j, and that past the last. free[i] (uint64, n * n) is
        where the next key of block i goes, and counts on; what is past the end of `keys` (uint64)
        is only counted. Loops are dropped. Within a block keys are in no order.
        """

    def sum_counts(self, csr: Csr, counts: Array) -> tuple[Array, Array]:
        """The sums (int64, n each) of the counts (uint32) of edges by row, and by column."""

    def prepare(self, csr: Csr, pivot_range: PivotRange | None = None) -> Any:
        """What counting needs besides the CSR; of the middle vertices of a range alone, if given.

        What is then counted is the triangles u > v > w whose v is one of them.
        """

    def to_csc(self, uv: Csr) -> Any:
        """A block in the form in which `prepare_blocks` and `work` need it, for every uw and vw."""

    def prepare_blocks(
        self, uv: Any, uw: Csr, vw: Csr, residues: Residues, pivot_range: PivotRange | None = None
    ) -> Any:
        """As `prepare`, for a task on blocks: see `rapids_tc.blocks.grid`.

        `uv` is a Csr, or what `to_csc` made of it; `pivot_range` are columns of it.
        """

    def work(self, uv: Any, uw: Csr | None = None, residues: Residues = (0, 0, 0)) -> Array:
        """The probes that each middle vertex costs: int64, by column of `uv`.

        Those of a graph are told from the graph alone.
        """

    def count(
        self, layout: Any, *, method: str = "auto", tick: ProgressCallback | None = None
    ) -> int:
        """The triangles of the graph, or those of a task."""

    def edge_counts(
        self, layout: Any, *, method: str = "auto", tick: ProgressCallback | None = None
    ) -> Any:
        """The triangles of every oriented edge: uint32, aligned with ``csr.columns``.

        Of a task on blocks, the triangles that it finds: three arrays, aligned with the columns of
        uv, uw and vw.
        """

    def closed(self, layout: Any, *, tick: ProgressCallback | None = None) -> Array:
        """The triangles that each in-edge (u, v) of the layout closes: uint32, m, in its order.

        Each triangle u > v > w is one of (u, v)'s, so that they add up to the total.
        """

    def list_triangles(self, layout: Any, starts: Array, first: int, last: int) -> Array:
        """The ranks u > v > w of triangles `first` to `last` - 1: uint32, (3, last - first).

        `starts` (int64, m + 1) is where the triangles of each in-edge start: the sums of `closed`
        before it. Within an in-edge they are in ascending w.
        """

    def vertex_sums(
        self, layout: Any, sides: Array, *, tick: ProgressCallback | None = None
    ) -> Array:
        """For each rank the sum, over its triangles, of the products of their sides' values.

        `sides` and the sums are float64, the former aligned with ``csr.columns``. The order of
        summation is left open.
        """

    def memory(self) -> int:
        """Bytes of memory where the engine works."""

    def free(self) -> int:
        """Of those, how many may be taken, as far as is known."""

    def store(self) -> Any:
        """Return a `BlockStore` for arrays that are not in the memory where the engine works."""

    def room(self, store: Any, slots: int, edges: int, rows: int) -> Any:
        """Slots where blocks of a shelf are put to be counted: a `SlotPool` of the engine's."""

    def truss(
        self,
        layout: Any,
        counts: Array,
        *,
        k: int | None = None,
        tick: ProgressCallback | None = None,
    ) -> Array:
        """The trussness of every oriented edge: int32, aligned with ``csr.columns``.

        `counts` are what `edge_counts` returns. With `k`, all levels below it are one, which is
        faster: edges of the k-truss get k, the others less.
        """

    def find_edges(self, csr: Csr, u: Array, v: Array) -> Array:
        """Where in ``csr.columns`` the edge {u, v} is (int64), for pairs of ranks.

        -1 where there is none, as for loops.
        """


def column_counts(engine: Any, csr: Csr, size: int) -> Array:
    """How many entries each column below `size` has, in whatever integers the engine counts."""
    return engine.degrees(csr.columns, csr.columns[:0], size)[0]


def shifts(residues: Residues) -> tuple[int, int]:
    """From a row of uv to the row of u in uw, and from a column of uv to the row of v in vw."""
    i, j, k = residues
    return (i > k) - (i > j), int(j > k)


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Let the CPU engine use so many threads; None: as many as there are cores."""
    token = allowed.set(threads)
    try:
        yield
    finally:
        allowed.reset(token)
