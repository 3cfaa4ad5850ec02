"""One record per analytic: what it needs of the graph, what it returns, and where it runs.

Plans, budgets, memory estimates, paths, the accessor, the command line, the documentation and the
tests are derived from these records. No other table of function names exists.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum, Flag, auto
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Protocol

from rapids_tc._arguments import checked_limit
from rapids_tc._typing import (
    Array,
    ArrayModule,
    ByteSize,
    EngineName,
    Groups,
    Label,
    Labels,
    Method,
)
from rapids_tc.preparation.triangle_kinds import Triangles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rapids_tc.engines.quantity import Quantity


class Needs(Flag):
    """What an analytic asks of the graph, besides its numbered ids."""

    NOTHING = 0
    EDGES = auto()  # each edge once, by id
    DEGREES = auto()
    NEIGHBOR_DEGREES = auto()  # of each vertex, added up over its neighbors
    TOTAL = auto()
    VERTEX_COUNTS = auto()
    EDGE_COUNTS = auto()
    TRUSSNESS = auto()
    WEIGHTS = auto()  # sums of products of weights by vertex
    TYPE_COUNTS = auto()  # the triangles by the types of their sides
    SPANS = auto()  # the times of each edge
    TRIANGLES = auto()  # each triangle, listed
    NEIGHBORS = auto()  # the rows of all neighbors, for pairs that need not be edges
    EDGE_SUMS = auto()  # what a quantity makes of the triangles of each edge
    SAMPLE = auto()  # the counts of a sample of the edges
    CLIQUES = auto()  # of three to five vertices, in memory
    SQUARES = auto()  # cycles of four vertices, in memory or in one block
    BITRUSS = auto()  # the bitruss number of each edge, in memory
    COMMUNITIES = auto()  # sets of edges that triangles join
    SIMILAR_PAIRS = auto()  # the vertices that have neighbors in common, in memory
    AS_OF = auto()  # what each row forms with earlier rows

    BY_EDGE = VERTEX_COUNTS | EDGE_COUNTS | TRUSSNESS | WEIGHTS | TYPE_COUNTS | SPANS | EDGE_SUMS
    VALUES = WEIGHTS | TYPE_COUNTS | SPANS  # of edges, read from the user's rows
    COUNTED = TOTAL | BY_EDGE | TRIANGLES
    ONE_MACHINE = CLIQUES | COMMUNITIES | BITRUSS  # neither in blocks nor on clusters
    IN_ONE_BLOCK = SQUARES  # on clusters, of a graph that fits a worker
    IN_MEMORY = ONE_MACHINE | IN_ONE_BLOCK  # not in blocks
    LAID_OUT = VALUES | EDGE_SUMS | TRIANGLES | SAMPLE | COMMUNITIES  # on a small graph, too


class Result(Enum):
    """The shape of an answer, which decides how each path makes it."""

    VALUE = "one value"
    TABLE = "a small table"
    VERTICES = "one row per vertex"
    COLUMN = "one value per row"
    COLUMNS = "the rows with further columns"
    ROWS = "some of the rows"
    COMMUNITIES = "some of the rows with a column, or a small table"
    EDGES = "one row per edge"
    TIMES = "one row per time"
    TRIANGLES = "one row per triangle"
    PAIRS = "one row per pair of vertices"
    GRAPH = "a prepared graph"


@dataclass(frozen=True)
class Work:
    """What one call needs: the input of plans and budgets.

    Attributes
    ----------
    needs : Needs
    result : Result
    columns : int
        The columns that the call adds to the user's rows.
    colors : int
        The number of colors of a sample: about one edge in `colors` is kept.
    values : int
        Bytes of the values of an edge that are read from the user's rows, or added up for it.
    pairs : int
        The pairs of vertices that the user gives.
    by_time : bool
        Whether the distinct times of all rows are held; one row per time of an answer is one of
        them.
    coded : bool
        Whether times are held with what else is asked of the rows.
    around : bool
        Whether only triangles at some vertices are listed, in a graph of these and their neighbors.
    levels : bool
        Whether the truss numbers of edges are found, and not one truss alone.
    """

    needs: Needs
    result: Result
    columns: int = 1
    colors: int = 1
    values: int = 0
    pairs: int = 0
    by_time: bool = False
    coded: bool = False
    around: bool = False
    levels: bool = False

    @property
    def by_edge(self) -> bool:
        """Whether the triangles of every edge are counted, not only their total."""
        return bool(self.needs & Needs.BY_EDGE)

    @property
    def of_kind(self) -> bool:
        """Whether only triangles of a kind count in trusses, for which values of edges are held."""
        return bool(self.needs & Needs.TRUSSNESS and self.needs & Needs.VALUES)


class EdgeValues(Protocol):
    """What the formula of a column may ask about some edges."""

    @property
    def xp(self) -> ArrayModule:
        """The array module of the values, numpy or cupy."""

    @property
    def counts(self) -> Array:
        """The triangles of each edge, as they were counted: unsigned, or int64."""

    @property
    def triangles(self) -> Array:
        """The triangles of each edge, int64, to compute with."""

    @property
    def degrees(self) -> tuple[Array, Array]:
        """The degrees of the two ends of each edge, int64 and at least 1."""

    @property
    def trussness(self) -> Array:
        """The trussness of each edge, int32."""

    def visited(self, quantity: Quantity) -> Array:
        """Return what a quantity makes of the triangles of each edge, of the column that asks."""

    @property
    def community(self) -> Array:
        """The community of each edge at its own trussness, int64; -1 for an edge in none."""

    @property
    def squares(self) -> Array:
        """The squares of each edge, int64."""

    @property
    def bitruss(self) -> Array:
        """The bitruss number of each edge, int32."""


@dataclass(frozen=True)
class Column:
    """A column aligned with the user's rows.

    Attributes
    ----------
    dtype : str
    formula : callable
        A function of `EdgeValues` that returns an array with one value per edge, of `dtype` or one
        that fits in it.
    needs : Needs
        What the formula reads.
    absent : int
        What self loops hold. Only columns of graphs in memory may hold anything but 0.
    quantity : Quantity, optional
        What the formula asks of the triangles of each edge; no other column has one of its name.
    """

    dtype: str
    formula: Callable[[EdgeValues], Array]
    needs: Needs = Needs.EDGE_COUNTS
    absent: int = 0
    quantity: Quantity | None = None

    @property
    def by_arc(self) -> bool:
        """Whether each arc has a value, not only each edge; no other column is asked for then."""
        return self.quantity is not None and self.quantity.by_arc

    @classmethod
    def of(cls, quantity: Quantity) -> Column:
        """Make the column of what a quantity makes of the triangles of each edge."""
        dtype = quantity.answer or quantity.dtype

        def formula(edges: EdgeValues) -> Array:
            return edges.visited(quantity).astype(dtype, copy=False)

        return cls(dtype, formula, Needs.EDGE_SUMS, quantity=quantity)


class VertexValues(Protocol):
    """What the formula of a column of vertices may ask about a graph: arrays by rank."""

    @property
    def xp(self) -> ArrayModule:
        """The array module of the values, numpy or cupy."""

    @property
    def triangles(self) -> Array:
        """The triangles of each vertex, int64."""

    @property
    def degrees(self) -> Array:
        """The neighbors of each vertex, int64."""

    @property
    def neighbor_degrees(self) -> Array:
        """The sum over the neighbors of each vertex of their degrees less one, int64."""

    @property
    def tie_squares(self) -> Array:
        """The sum over the neighbors of each vertex of (1 + resource allocation) ** 2, float64."""

    @property
    def trussness(self) -> Array:
        """The largest trussness of an edge of each vertex, int32; 0 without an edge."""

    @property
    def squares(self) -> Array:
        """The squares of each vertex, int64."""


@dataclass(frozen=True)
class VertexColumn:
    """A column of a frame with one row per vertex.

    Attributes
    ----------
    dtype : str
    formula : callable
        A function of `VertexValues` that returns an array by rank.
    needs : Needs
        What the formula reads.
    """

    dtype: str
    formula: Callable[[VertexValues], Array]
    needs: Needs


@dataclass(frozen=True)
class Options:
    """The options that analytics share; only those whose body names ``method`` take it.

    The docstring of every public function refers to this section, which stands in that of `count`.

    Parameters
    ----------
    source, destination : label or list of labels, optional
        The two id columns; see `Graph`. Lists name the parts of ids that are made of several
        columns: part i of the source, and of the destination, is in column i of its list.
    by : label, Series, array, pandas.Grouper, or list of these, optional
        Columns of groups: the function is applied to the rows of each group on its own, as if ids
        of different groups were different. A value becomes a frame with one row per group; other
        frames get the columns of groups in front. Values of any hashable dtype name a group. A
        Series of the frame's library, or an array, has one value per row, a Series of pandas or
        cuDF the index of the frame; what has no name is called "by", or "by_1", "by_2" and so on.
        ``pandas.Grouper(key=, freq=)`` has the periods of a column of datetimes as groups, with
        `closed`, `label`, `origin` and `offset` as in pandas; periods without a row are left out.
        Lazy and partitioned frames take labels alone.
    engine : {"cpu", "cuda"}, optional
        Where to work; by default where the frame is.
    method : str, optional
        An intersection method of `methods`, CUDA only; "auto" chooses.
    progress : bool, optional
        Show progress on stderr; by default if stderr is a terminal.
    memory_limit : int or str, optional
        Bytes that may be taken on top of the frame, and of columns and edges that are given back,
        or a text such as "2GB" or "512MiB"; by default, all that are free. A graph that needs more
        is cut into blocks, which are kept in host memory (for a GPU) or in a temporary file, and
        are counted in one task after another: slower, with the same answer.
    edge_index : array of shape (2, m), optional
        Sources and destinations, in place of `edges`; other positional arguments stay.
    """

    source: Labels | None = None
    destination: Labels | None = None
    by: Groups | None = None
    engine: EngineName | None = None
    method: Method = "auto"
    progress: bool | None = None
    memory_limit: ByteSize | None = None
    edge_index: Array | None = None

    @property
    def limit(self) -> int | None:
        """The bytes of `memory_limit`; ValueError if it names none."""
        return None if self.memory_limit is None else checked_limit(self.memory_limit)


COLUMNS = ("weight", "edge_type", "sign", "time")  # own options that name a column
SHARED = tuple(option.name for option in fields(Options))
OwnOptions = dict[str, Any]


def named_columns(own: OwnOptions) -> list[Label]:
    """Return the columns that the own options of a call name, which hold no ids."""
    where = own.get("where")
    named = [own[option] for option in COLUMNS if own.get(option) is not None]
    return named + (where.columns if isinstance(where, Triangles) else [])


@dataclass(frozen=True)
class Analytic:
    """The record of a public function.

    Attributes
    ----------
    name : str
    body : callable
        The function as it is written, which takes a resolved graph in place of the user's edges.
    call : callable
        The public function.
    most : Work
        The most that a call needs, with a typical number of columns.
    columns : mapping of str to Column
        The columns that the function can add to the user's rows.
    vertex_columns : mapping of str to VertexColumn
        The columns that the function can give each vertex.
    defaults : dict
        The own options of the function, which are not in `SHARED`, with their defaults.
    reads : frozenset of str
        The shared options that the body takes; it accepts ``method=`` only if it does.
    fields : callable
        A function of the own options. It returns the columns that an answer has beside ids and
        groups, if it is a new frame, or beside the columns of the user's rows.
    check : callable
        A function of the own options that returns their normalized values; ValueError for a bad
        one.
    work : callable
        A function of the own options that returns what the call needs without groups.
    in_memory : callable
        A function of the own options, and `by`, that returns an empty text if the call can be
        counted in blocks, and else the end of a sentence that names what the user may call instead.
    local : callable
        A function of the own options, and `by`, and the kind of a partitioned frame that returns
        None if a cluster can answer the call, and else the error to raise.
    sums : callable
        A function of the own options that returns every `rapids_tc.blocks.quantities.Sum` that
        the body asks of the graph.
    renamed : mapping of str to str
        The option of today by the name that it had, which is taken with a FutureWarning.
    moved : mapping
        By an option and a value of it, the function that has the answer now: FutureWarning.
    bipartite : bool
        Whether the ids of the two columns never meet; a function with an own option of this name
        lets each call say so.
    """

    name: str
    body: Callable[..., Any]
    call: Callable[..., Any]
    most: Work
    columns: Mapping[str, Column]
    vertex_columns: Mapping[str, VertexColumn]
    defaults: OwnOptions
    reads: frozenset[str]
    fields: Callable[[OwnOptions], Sequence[str]]
    check: Callable[[OwnOptions], OwnOptions]
    work: Callable[[OwnOptions], Work]
    in_memory: Callable[[OwnOptions], str]
    local: Callable[[OwnOptions, str], Exception | None]
    sums: Callable[[OwnOptions], Sequence[Any]]
    bipartite: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def takes_method(self) -> bool:
        """Whether the function accepts ``method=``."""
        return "method" in self.reads

    @property
    def needs(self) -> Needs:
        """The most that a call needs."""
        return self.most.needs

    @property
    def result(self) -> Result:
        """The shape of the answer."""
        return self.most.result

    @property
    def by_frames(self) -> bool:
        """Whether the answer is frame after frame, of so many rows each."""
        return self.defaults.get("max_rows") is Parameter.empty

    def is_bipartite(self, own: OwnOptions) -> bool:
        """Return whether the ids of the two columns never meet in a call."""
        return bool(own.get("bipartite", self.bipartite))

    def named(self, options: Options, own: OwnOptions) -> OwnOptions:
        """Return what a call says of the columns of ids, as `edge_columns` takes it."""
        return {
            "source": options.source, "destination": options.destination, "by": options.by,
            "besides": named_columns(own), "bipartite": self.is_bipartite(own),
        }  # fmt: skip

    def work_of(self, own: OwnOptions, *, grouped: bool) -> Work:
        """Return what a call needs.

        With groups, a total is a sum over the vertices of each, and types of triangles are listed.
        """
        return self._grouped(self.work(own), grouped=grouped)

    def most_of(self, *, grouped: bool) -> Work:
        """Return the most that a call needs; see `work_of`."""
        return self._grouped(self.most, grouped=grouped)

    @staticmethod
    def _grouped(work: Work, *, grouped: bool) -> Work:
        if grouped and work.needs & Needs.TYPE_COUNTS:
            work = replace(work, needs=work.needs | Needs.TRIANGLES)
        if not grouped or work.result is not Result.VALUE:
            return work
        needs = work.needs
        if needs & Needs.TOTAL:
            needs = needs & ~Needs.TOTAL | Needs.VERTEX_COUNTS
        return replace(work, needs=needs, result=Result.VERTICES)

    def arguments(self, options: Options, own: OwnOptions) -> OwnOptions:
        """Return the arguments of the body: its own options, and the shared options it reads."""
        read = {name: getattr(options, name) for name in self.reads}
        return {
            **own,
            **read,
            **({"memory_limit": options.limit} if "memory_limit" in read else {}),
        }


ANALYTICS: dict[str, Analytic] = {}  # by name; each module of `analytics` adds its own


ROWS_THAT_MATTER = "the rows that matter, such as k_truss(edges, k).compute()"


def of_one_machine(name: str, kind: str, rows: str = ROWS_THAT_MATTER) -> TypeError:
    """Return the error of a function that takes no partitioned frame, but perhaps some `rows`."""
    whole = "the frame itself by compute()" if kind.startswith("Graph") else "edges.compute()"
    given = f"{whole}, or {rows}" if rows else whole
    if kind.endswith("Spark DataFrame"):
        given = given.replace("compute()", "toArrow()")
    return TypeError(f"edges is a {kind}, and {name} runs on one machine: give it {given}")


def register(record: Analytic) -> None:
    """Add a record; each name and each column belongs to one analytic."""
    known = row_columns().keys() & record.columns.keys()
    known |= vertex_columns().keys() & record.vertex_columns.keys()
    if record.name in ANALYTICS or known:
        raise ValueError(f"{record.name} or one of its columns has a record already")
    ANALYTICS[record.name] = record


def row_columns() -> dict[str, Column]:
    """Return every column that some analytic can add to the user's rows, by its name."""
    return {name: column for a in ANALYTICS.values() for name, column in a.columns.items()}


def columns_of(asked: Sequence[str | Quantity]) -> dict[str, Column]:
    """Return columns of the user's rows: those that analytics can add, and those of quantities."""
    known, columns = row_columns(), {}
    for each in asked:
        if isinstance(each, str):
            columns[each] = known[each]
        else:
            columns[each.name] = Column.of(each)
    return columns


def vertex_columns() -> dict[str, VertexColumn]:
    """Return every column that some analytic can give each vertex, by its name."""
    columns = (analytic.vertex_columns.items() for analytic in ANALYTICS.values())
    return {name: column for several in columns for name, column in several}


GRAPH = Analytic(  # no analytic, but preparing a graph has a memory estimate, too
    name="Graph", body=dict, call=dict, most=Work(Needs.NOTHING, Result.GRAPH), columns={},
    vertex_columns={}, defaults={"bipartite": False}, reads=frozenset(), fields=lambda own: (),
    check=dict,
    work=lambda own: Work(Needs.NOTHING, Result.GRAPH),
    in_memory=lambda own: "give the frame itself to the functions, most of which are",
    local=lambda own, kind: of_one_machine(
        "Graph(bipartite=True)" if own.get("bipartite") else "Graph(time=)", kind, ""
    ) if own.get("bipartite") or own.get("time") is not None else None,
    sums=lambda own: (),
)  # fmt: skip


def estimated() -> dict[str, Analytic]:
    """Return the records that `memory_estimate` accepts, by name."""
    return {**ANALYTICS, GRAPH.name: GRAPH}
