"""The protocol of engines, CPU and CUDA: what each does for a graph, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from rapids_tc._parallel import limit_threads as limit_threads
from rapids_tc.engines.wedge_ends import MOST_DEGREE

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rapids_tc.engines.as_of import TimedRows
    from rapids_tc.engines.neighbor_rows import NeighborRows, RowSlots
    from rapids_tc.engines.quantity import Quantity
    from rapids_tc.engines.similarity_formulas import Ranking
    from rapids_tc.engines.wedge_ends import WedgeEnds
    from rapids_tc.engines.wedges import WedgeRows
    from rapids_tc.preparation.code_tables import CodeTable
    from rapids_tc.preparation.csr import Array, Csr

ProgressCallback = Callable[..., None]  # (done), or (done, note)
PivotRange = tuple[int, int]  # the first pivot vertex, and one past the last
Residues = tuple[int, int, int]  # of the corners u, v and w of a task

SHORT = 1 << 16  # windows below which a span takes 32 bits: less memory traffic


class RowColumn(NamedTuple):
    """A column of rows that is made from values of edges.

    Attributes
    ----------
    values : array, shape (m,)
        Aligned with ``csr.columns``.
    absent : int
        What a row without an edge holds.
    dtype : str
        Of the column, which holds all values.
    """

    values: Array
    absent: int
    dtype: str


Stored = TypeVar("Stored")  # an array outside of the memory where the engine works
StoredInput = TypeVar("StoredInput", contravariant=True)


@dataclass(frozen=True)
class Costs:
    """Bytes that an engine takes for the blocks of a graph: figures of `rapids_tc.plan.costs`.

    Attributes
    ----------
    tables : callable
        (vertices, are edges counted?) to the bytes of the look-up tables of all threads.
    positions : int
        A limit: the blocks in memory, and one more if edges are counted, have fewer edges together.
    text : int
        Bytes per distinct text id, while a graph in blocks is numbered.
    order : int
        Bytes per number, while vertices are ordered by degree.
    sort : int
        Bytes per row of the frame in a block, while the keys of the block are sorted.
    row : int
        Bytes per row of a chunk of the frame, while degrees are counted and keys are made.
    uv_stays_loaded : bool
        Whether block uv is still read after it has been transposed.
    prefetch : bool
        Whether blocks of the next task are copied while a task is counted.
    slots : callable
        (are edges counted?) to the least number of blocks that are in memory.
    local_graphs : callable
        (rows of the frame) to the bytes of the bits of local graphs, while cliques are counted.
    wedge_counters : callable
        (rows of the frame, vertices) to the bytes of counters of wedges, while squares are counted.
    timed_tables : callable
        (rows of the frame, vertices) to the bytes of tables of neighbors, while rows are counted as
        of their time.
    similarity_tables : callable
        (vertices) to the bytes of the tables in which the neighbors of vertices are compared.
    task : callable
        (edges, rows, are edges counted?, slots) to the bytes of a task and of blocks that large.
    levels : int
        Further bytes per edge of a block, while levels of a peel are counted.
    levels_of_slot : int
        Further bytes for these levels, per edge of each slot and of one slot more.
    """

    tables: Callable[[int, bool], int]
    positions: int
    text: int
    order: int
    sort: int
    row: int
    uv_stays_loaded: bool
    prefetch: bool
    slots: Callable[[bool], int]
    local_graphs: Callable[[int], int]
    wedge_counters: Callable[[int, int], int]
    timed_tables: Callable[[int, int], int]
    similarity_tables: Callable[[int], int]
    task: Callable[[int, int, bool, int], int]
    levels: int
    levels_of_slot: int


@dataclass(frozen=True)
class Spans:
    """The windows, numbered from 0, in which each edge is present.

    Attributes
    ----------
    first, last : array of uint32
        Intervals of windows, both ends inclusive. An interval with first > last is empty.
    offsets : array of int64, shape (m + 1,), optional
        Edge e has the intervals offsets[e] to offsets[e + 1] - 1, which ascend, and do not
        overlap. Without `offsets`, interval e is the only one of edge e.
    """

    first: Array
    last: Array
    offsets: Array | None = None

    @property
    def size(self) -> int:
        """How many edges there are."""
        return len(self.first) if self.offsets is None else len(self.offsets) - 1


@dataclass(frozen=True)
class Coded:
    """What decides which triangles are of a kind.

    Attributes
    ----------
    codes : array of uint8
        The code of each edge, or of each interval of `spans`.
    table : CodeTable
        Which three codes go together.
    spans : Spans, optional
        When codes hold: a triangle counts if in some window those of its sides go together.
    """

    codes: Array
    table: CodeTable
    spans: Spans | None = None

    @property
    def size(self) -> int:
        """How many edges there are."""
        return len(self.codes) if self.spans is None else self.spans.size


Kind = Spans | Coded  # of the edges of a graph: which of its triangles count


class Layout(Protocol):
    """What an engine keeps of a graph, or of a task on blocks, between calls."""

    @property
    def csr(self) -> Csr:
        """The rows of the pivot vertices."""

    @property
    def in_edges(self) -> Array:
        """The edges (u, v) whose triangles are counted, grouped by pivot vertex: uint64."""

    @property
    def whole(self) -> bool:
        """Whether the layout is made of a graph, not of blocks."""


class BlockStore(Protocol[Stored]):
    """Arrays outside of the memory where the engine works: pinned memory, or a temporary file."""

    def close(self) -> None:
        """Free what the store takes."""

    def reserve(self, size: int) -> None:
        """Take memory for arrays of so many bytes, plus eight bytes for each array."""

    def store(self, array: Array, over: Stored | None = None) -> Stored:
        """Keep an array, in place of the array `over`, if any, which is no smaller in bytes.

        Nobody may write to the array before `synchronize` returns; kernels may, if they are
        launched after `release`.
        """

    def load(self, stored: Stored) -> Array:
        """Return an array where the engine works."""

    def synchronize(self) -> None:
        """Return when all arrays that were stored are kept."""

    def release(self) -> None:
        """Let arrays that are made from now on take the memory of arrays that were stored."""

    def pooled(self, size: int) -> AbstractContextManager[None]:
        """Within the context, make all arrays parts of one piece of `size` bytes."""

    def apart(self) -> AbstractContextManager[None]:
        """Within the context, make arrays apart from that piece, so that they may outlive it."""


class SlotPool(Protocol[StoredInput]):
    """Slots where blocks of a store are loaded to be counted."""

    def load(self, slot: int, lengths: StoredInput, columns: StoredInput) -> None:
        """Load a block, the lengths of its rows and its columns, in place of the block before."""

    def block(self, slot: int) -> Csr:
        """Return the block of a slot, ready to be read."""

    def release(self, slot: int) -> None:
        """Promise that nothing reads the slot from now on, until another block is loaded."""


class SmallGraph(Protocol):
    """A graph whose triangles are counted from its keys: first degrees, then the count."""

    @property
    def ends(self) -> Any:
        """The numbers of both ends of every row, after `degrees`: see `Engine.degrees`."""

    def degrees(self) -> Array:
        """Count how often each number below `size` occurs."""

    def count(self, keys: Array) -> int:
        """Count the triangles from packed keys, which are sorted, of `size` ranks.

        Whatever another thread has written to the numbers meanwhile is an error here at the latest.
        """


class IdNumbers(Protocol):
    """The numbers of ids that come and go."""

    def __len__(self) -> int:
        """Return a number that is larger than all."""

    def find(self, ids: Array) -> Array:
        """Return the numbers (uint32) of ids; each that comes may take a number of its own."""

    def keep(self, numbers: list[Array], room: int) -> list[Array]:
        """Forget the ids of other numbers, and return what these are from now on.

        About `room` ids come before the next call.
        """


class KeptRows(Protocol):
    """Rows in the order of time, to which later ones are added."""

    def drop(self, since: int) -> None:
        """Forget the rows from `since` on. Their arrays are as they were when they were added."""

    def add(self, rows: TimedRows, oldest: int) -> bool:
        """Take all rows, of which those that are new follow the others, in arrays of any buffers.

        Rows before `oldest` are in no window any more. Return False if there is no room; the rows
        have to be kept anew then.
        """

    def counts(self, since: int = 0, *, on_progress: ProgressCallback | None = None) -> Array:
        """Count what the rows from `since` on form with earlier rows: int64, (asked, rows)."""


class Engine(Protocol):
    """What an engine does for a graph.

    An engine takes only layouts and stores that it has made itself, so parameters of these are
    `Any` here. `on_progress` is called now and then with the part of the work that is done, 0 to 1;
    `truss` adds a note on its level.
    """

    @property
    def costs(self) -> Costs:
        """The bytes that the engine takes."""

    def degrees(self, src: Array, dst: Array, size: int, out: Array = None) -> tuple[Array, int]:
        """Count how often each number below `size` occurs in both arrays, and how many occur.

        The engine of a GPU copies the numbers to `out`, if given: uint32, shape (2, rows). Whatever
        another thread writes to the arrays meanwhile, the copies are what is counted.
        """

    def csr(self, keys: Array, n: int) -> Csr:
        """Build the CSR of `n` ranks from packed keys in any order, without repeats and loops.

        The array of keys is used as scratch memory: its content is undefined afterwards.
        """

    def csr_of_rows(self, keys: Array, n: int) -> tuple[Csr, Array | None]:
        """Build the CSR as `csr` does, and find the position of each key's edge on the way.

        The positions (int32) are -1 for loops. None if `find_edges` is left to find them.
        """

    def small_graph(self, src: Array, dst: Array, size: int) -> SmallGraph | None:
        """Return what counts the triangles of so few rows, and numbers below `size`.

        None if a layout is better.
        """

    def split(
        self,
        ends: tuple[Array, Array],
        rank: Array | None,
        n: int,
        group: tuple[int, int],
        *,
        free: Array,
        keys: Array,
    ) -> None:
        """Write the keys, row << 32 | column, of rows whose edges lie in some of n x n blocks.

        `ends` are the numbers of both ends of every row (uint32), `rank` (uint32) is by number;
        without `rank`, the ends are ranks.
        `group` is the first block, i * n + j, and one past the last. free[i] (uint64, n * n) is
        the place of the next key of block i, and counts on; a key past the end of `keys` (uint64)
        is only counted. Loops are dropped. Within a block keys are in no order.
        """

    def sum_counts(self, csr: Csr, counts: Array) -> tuple[Array, Array]:
        """Sum the counts (uint32 or int64) of edges by row, and by column: int64, n each."""

    def prepare(self, csr: Csr, pivot_range: PivotRange | None = None) -> Layout:
        """Make the layout of a graph, or of a range of its pivot vertices.

        A layout of a range counts the triangles u > v > w whose v is in the range.
        """

    def bare(self, csr: Csr, method: str, *, sides: bool = False) -> Layout | None:
        """Return a layout of the CSR alone, if the method can count from it; else None.

        It serves nothing but the total, or with `sides` nothing but edge counts. With "auto", it is
        returned where a full layout does not pay.
        """

    def to_csc(self, uv: Csr) -> Any:
        """Group the edges of a block uv by column, once for all blocks uw and vw that it meets."""

    def csc(self, csr: Csr) -> tuple[Array, Array, Array]:
        """Return the CSC of a graph: its edges by column.

        The arrays are the offsets (int64, n + 1) of every column, the rows of its edges, ascending,
        and their positions in ``csr.columns`` (uint32, m).
        """

    def prepare_blocks(
        self,
        uv: Any,
        uw: Csr,
        vw: Csr,
        residues: Residues,
        *,
        pivot_range: PivotRange | None = None,
    ) -> Layout:
        """Make the layout of a task on blocks: see `rapids_tc.blocks.grid`.

        `uv` is a Csr, or what `to_csc` made of it; `pivot_range` are columns of it.
        """

    def probe_counts(self, uv: Any, uw: Csr | None = None, residues: Residues = (0, 0, 0)) -> Array:
        """Count the probes that each pivot vertex costs: int64, by column of `uv`.

        For a graph that is whole, `uv` is the graph, and there is no `uw`.
        """

    def count(
        self, layout: Any, *, method: str = "auto", on_progress: ProgressCallback | None = None
    ) -> int:
        """Count the triangles of the graph, or the triangles of a task."""

    def edge_counts(
        self,
        layout: Any,
        *,
        method: str = "auto",
        on_progress: ProgressCallback | None = None,
    ) -> Any:
        """Count the triangles of every oriented edge: uint32, aligned with ``csr.columns``.

        A task on blocks gives the triangles that it finds: three arrays, aligned with the columns
        of uv, uw and vw.
        """

    def visit(
        self,
        layout: Any,
        quantity: Quantity,
        values: Any,
        *,
        on_progress: ProgressCallback | None = None,
    ) -> Any:
        """Combine what the visitor of a quantity makes of every triangle u > v > w.

        Parameters
        ----------
        values
            What the quantity takes. Values of sides, a `Spans` or a `Coded` are aligned with
            ``csr.columns``; on blocks they are three, aligned with the columns of uv, uw and vw.
            Values of corners are by rank; on blocks they are three: of u by row of uv, of v by
            column of uv, and of w by column of uw.

        Returns
        -------
        sums
            For each edge, aligned with ``csr.columns``; on blocks three, aligned with the columns
            of uv, uw and vw. Or for each rank; on blocks three: of u by row of uv, of v by column
            of uv, and of w by column of uw, of which the last two may be longer than there are
            columns. The order of summation is left open, so that only sums of floats depend on it.
            Or a total, in the shape of the quantity.
        """

    def neighbors(self, csr: Csr) -> Csr:
        """Return the rows of all neighbors of every rank, ascending: 8 bytes per edge."""

    def common_sums(self, rows: Csr, u: Array, v: Array, values: Array) -> Array:
        """Sum for pairs of ranks the values of the common neighbors: int64, which are exact.

        `rows` is of `neighbors`; `values` (int64) are by rank, and if there are none, common
        neighbors are counted. The sums of loops are left open.
        """

    def prepare_ends(
        self,
        rows: Csr,
        asked: Array,
        most_degree: int = MOST_DEGREE,
        values: Array | None = None,
    ) -> WedgeEnds:
        """Count the wedges that begin at each of some ranks, to be added up by their other ends.

        Parameters
        ----------
        rows : Csr
            Of `neighbors`.
        asked : array of integers
            The ranks.
        most_degree : int, optional
            Middles of more neighbors are left out.
        values : array of int64, optional
            By rank: what a middle adds to a sum; by default middles are counted.
        """

    def most_similar(
        self,
        ends: Any,
        starts: Array,
        ranking: Ranking,
        *,
        on_progress: ProgressCallback | None = None,
    ) -> tuple[Array, Array]:
        """Find the most similar vertices of some ranks, of those with a wedge between them.

        Parameters
        ----------
        ends : WedgeEnds
        starts : array of int64, shape (asked + 1,)
            Where the answer of each rank begins. It has at most as much room as wedges.
        ranking : Ranking

        Returns
        -------
        best : array of uint32
            The ranks that are found, the best first; then `costs.NO_RANK`.
        sums : array of int64
            The wedges to each, or their values added up.
        """

    def count_pairs(self, ends: Any, places: Array, at_least: int) -> Array:
        """Count, for each of some ranks, the others with enough neighbors in common: int64.

        `ends` is a `WedgeEnds` whose middles are of any degree, and counted. `places` (uint32) are
        by rank: a pair belongs to its vertex of the lower place, and is counted if this is one of
        ``ends.asked``. `at_least` common neighbors are enough, 1 or more.
        """

    def list_pairs(
        self,
        ends: Any,
        places: Array,
        at_least: int,
        starts: Array,
        first: int,
        last: int,
    ) -> tuple[Array, Array]:
        """List the pairs that `count_pairs` counts, those of ``ends.asked[first:last]``.

        Parameters
        ----------
        ends, places, at_least
            As `count_pairs` got them.
        starts : array of int64, shape (asked + 1,)
            The running sum of what `count_pairs` returned.
        first, last : int
            The range of ``ends.asked``.

        Returns
        -------
        ranks : array of uint32
            The other vertex of each pair: those of asked[i] from starts[i] - starts[first] on, by
            place.
        common : array of int64
            The common neighbors of each pair.
        """

    def join_triangles(
        self,
        layout: Any,
        levels: Array,
        *,
        kind: Kind | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Join the edges of each triangle, level by level: a forest of the edges, uint64, m.

        `levels` (uint32, below 2**24) is aligned with ``csr.columns``. An edge is present at all
        levels from 1 to its own, and absent if its own is 0. A triangle is present at the levels at
        which its three sides are, and makes them members of one set there.

        The word of an edge names its parent in the forest: the parent's level, no higher than the
        edge's own, << 40 | the parent's position; 0 is a root. The edges of a tree whose
        paths to the root keep to one level and those above are one set of that level. The sets are
        always the same, but which of a set's edges is the parent of others is left open.

        Given a `kind`, other triangles join nothing.
        """

    def join_levels(
        self, csr: Csr, levels: Array, *, on_progress: ProgressCallback | None = None
    ) -> Array:
        """Join as `join_triangles` does, faster if the levels are many.

        Levels are trussnesses, or at least below 2**16 on a GPU, and edges fewer than 2**31 there.
        """

    def join_ends(self, csr: Csr, levels: Array) -> Array:
        """Join the edges that share an end, as `join_triangles` joins the edges of triangles."""

    def triangles_per_in_edge(
        self, layout: Any, *, on_progress: ProgressCallback | None = None
    ) -> Array:
        """Count the triangles u > v > w of each in-edge (u, v): uint32, m, in the layout's order.

        Each triangle has one such edge, so that the counts add up to the total.
        """

    def list_triangles(self, layout: Any, starts: Array, first: int, last: int) -> Array:
        """List the ranks u > v > w of triangles `first` to `last` - 1: uint32, (3, last - first).

        `starts` (int64, m + 1) is the place of the first triangle of each in-edge: the running sum
        of `triangles_per_in_edge`. Triangles of one in-edge are in ascending w. If an in-edge has
        fewer places than triangles, the first of these are listed.

        On blocks, u is listed by row of uv, v by column of uv, and w by column of uw.
        """

    def kind_test(self, values: Any, choices: int = 1) -> Callable[[Sequence[Array]], Array]:
        """Return a function that says which triangles are of a kind: bool, one each.

        `values` are three `Spans` or `Coded`, aligned with the columns of uv, uw and vw. The
        function takes the positions (int64) of the sides of triangles there. With `choices` of arcs
        (see `Quantity`), values are of arcs, and a triangle is of the kind for any choice.
        """

    def memory(self) -> int:
        """Return the bytes of memory where the engine works."""

    def free(self) -> int:
        """Return how many of these bytes may be taken, as far as is known."""

    def block_store(self) -> BlockStore[Any]:
        """Make a store for arrays outside of the memory where the engine works."""

    def slot_pool(self, store: Any, slots: int, edges: int, rows: int) -> SlotPool[Any]:
        """Make slots for blocks of a store, of up to so many edges and rows each."""

    def truss(
        self,
        layout: Any,
        counts: Array,
        *,
        k: int | None = None,
        levels: tuple[int, int] | None = None,
        kind: Kind | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Find the trussness of every oriented edge: int32, aligned with ``csr.columns``.

        `counts` are what `edge_counts` returns. With `k`, all levels below k are peeled as one,
        which is faster: edges of the k-truss get k, the others less. `levels` are the first and the
        last that are told apart, each a trussness less 2: edges of lower levels get the first or
        less, and edges of higher levels get a trussness of the last level + 3. Given a `kind`, only
        triangles of it count, here and in `counts`.
        """

    def cliques(
        self, csr: Csr, k: int, *, per: str = "row", on_progress: ProgressCallback | None = None
    ) -> tuple[Array, Array | None]:
        """Count the cliques of k vertices, 3 to 5: int64, n, each at its largest rank.

        With `per`, "vertex" or "edge", the second array has the cliques of every rank, or of every
        oriented edge, aligned with ``csr.columns``: int64. No layout is needed.

        Numbers below 2**63 are exact, and so is their sum in Python, however large. If that sum is
        no less than 2**63, the second array may be wrong.
        """

    def prepare_wedges(self, csr: Csr) -> WedgeRows:
        """Make the layout from which squares are counted.

        Raises
        ------
        CapacityError
            The graph has too many edges.
        """

    def squares(
        self,
        wedges: Any,
        *,
        per: str = "graph",
        share: tuple[int, int] = (0, 1),
        on_progress: ProgressCallback | None = None,
    ) -> tuple[int, Array | None]:
        """Count the squares: cycles of four vertices, induced or not.

        With `per`, "vertex" or "edge", the array has the squares of every rank, or of every
        oriented edge, aligned with ``csr.columns``: int64.

        `share` is a part, and of how many: only squares whose lowest rank is this part modulo this
        number are counted, so that all numbers of all parts add up to those of the graph.
        """

    def bitruss(
        self,
        wedges: Any,
        squares: Array,
        memory: int,
        *,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Find the bitruss number of every oriented edge: int32, aligned with ``csr.columns``.

        `squares` are those of every edge. `memory` is the bytes that the index of wedges may take.

        Raises
        ------
        CapacityError
            The index takes more.
        """

    def as_of(
        self,
        rows: TimedRows,
        asked: Sequence[str],
        *,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Count what each row forms with earlier rows: int64, (asked, rows).

        `asked` are some of `rapids_tc.engines.as_of.COLUMNS`, each once.
        """

    def keep_rows(self, rows: TimedRows, asked: Sequence[str], room: int) -> KeptRows:
        """Keep rows to which others are added, about `room` of them, to count the same of these."""

    def find_edges(self, csr: Csr, u: Array, v: Array, rank: Array | None = None) -> Array:
        """Find the position (int64) in ``csr.columns`` of the edge {u, v} for pairs of ranks.

        The position is -1 if there is no such edge, as for loops. With `rank` (uint32), the pairs
        are numbers of vertices, whose ranks it holds.
        """

    def take(self, values: Array, positions: Array) -> Array:
        """Return the value at each position, and 0 for the position -1.

        Positions are those of `find_edges` (int64), or of `csr_of_rows` (int32).
        """

    def row_values(
        self, csr: Csr, u: Array, v: Array, rank: Array, columns: Sequence[RowColumn]
    ) -> list[Array]:
        """Find the edge of each row as `find_edges` does, and return its value of every column."""

    def rank_finder(self, part: Any, rank: Array) -> Callable[[Array], Array] | None:
        """Return a function that finds the ranks of ids; None if their part finds ids as fast.

        `part` has the ids of a graph by number, and `rank` (uint32) their ranks. The function takes
        integers as words of 64 bits (uint64), and returns the rank of each (uint32): `NO_VERTEX` of
        an id without a number. What it needs is kept with it.
        """

    def number_ids(self) -> IdNumbers | None:
        """Return what numbers integers, as words of 64 bits; None if a dict does it as fast."""

    def find_slots(self, near: NeighborRows, u: Array, v: Array, states: Array) -> RowSlots:
        """Find the slot of the edge {u, v} for pairs of vertices (uint32), in either order.

        A vertex that is not known is `NO_VERTEX`. For `states` see `add_changes`.
        """

    def add_changes(
        self, near: NeighborRows, slots: Array, states: Array, sign: int
    ) -> tuple[int, Any]:
        """Take edges out, or put them in, and count the triangles that go, or come.

        Parameters
        ----------
        near : NeighborRows
        slots : array of int64
            The slots of the edges, in any order, with repeats; negative ones are left out. Of the
            edges with the sign 1, those that are there stay as they are.
        states : array of uint32, shape (slots, WORDS)
            `WHEN`, 0 of an edge that is not there, else `LIVE`; `CHANGE`, modulo 2**32, to which
            `sign` is added for each triangle; `COUNT`; and the larger end, `END`. While edges
            change, each has another value of `WHEN`, less than `LIVE`: a triangle belongs to its
            edge of the least one.
        sign : int
            -1 for edges that leave, 1 for edges that come.

        Returns
        -------
        triangles : int
            How many triangles there are.
        changed
            What `settle` needs to find the changes.
        """

    def settle(
        self,
        near: NeighborRows,
        changed: list[Any],
        states: Array,
        of_vertex: Array,
        at_vertex: Array,
    ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Add the changes in `states` to the counts there, and set them to 0.

        `changed` is what calls of `add_changes` have returned. `of_vertex` (uint64, zeros before
        and afterwards) is scratch memory; `at_vertex` (int64) are the triangles of vertices, which
        change, too.

        Returns
        -------
        edges
            The larger and the smaller end (uint32) of each edge with a change, each once, in any
            order; the count that the edge has now, and its change (int64).
        vertices
            The vertices with a change (uint32), the count that each has now, and its change
            (int64).
        """


def column_counts(engine: Any, csr: Csr, size: int) -> Array:
    """Count the entries of each column below `size`, in the integer dtype that the engine uses."""
    return engine.degrees(csr.columns, csr.columns[:0], size)[0]


def take_columns(engine: Any, positions: Array, columns: Sequence[RowColumn]) -> list[Array]:
    """Return the values of every column at positions of edges (int64); -1 is no edge."""
    taken = []
    for values, absent, dtype in columns:
        taken.append(engine.take(values.astype(dtype, copy=False), positions))
        if absent:
            taken[-1][positions < 0] = absent
    return taken


def shifts(residues: Residues) -> tuple[int, int]:
    """Return the steps from a row of uv to u's row in uw, and from a column of uv to v's in vw."""
    i, j, k = residues
    return (i > k) - (i > j), int(j > k)
