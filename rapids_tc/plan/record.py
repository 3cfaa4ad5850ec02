"""One record per analytic: what it needs of the graph, what it returns, and where it runs.

Plans, budgets, memory estimates, paths, the accessor, the command line, the documentation and the
tests are derived from these records. No other table of function names exists.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc._typing import EngineName

Array = Any


class Needs(Flag):
    """What an analytic asks of the graph, besides its numbered ids."""

    NOTHING = 0
    EDGES = auto()  # each edge once, by id
    DEGREES = auto()
    TOTAL = auto()
    VERTEX_COUNTS = auto()
    EDGE_COUNTS = auto()
    TRUSSNESS = auto()
    WEIGHTS = auto()  # sums of products of weights by vertex
    TRIANGLES = auto()  # each triangle, listed
    SAMPLE = auto()  # the counts of a sample of the edges

    BY_EDGE = VERTEX_COUNTS | EDGE_COUNTS | TRUSSNESS | WEIGHTS
    COUNTED = TOTAL | BY_EDGE | TRIANGLES


class Result(Enum):
    """The shape of an answer, which decides how each path makes it."""

    VALUE = "one value"
    VERTICES = "one row per vertex"
    COLUMN = "one value per row"
    COLUMNS = "the rows with further columns"
    ROWS = "some of the rows"
    EDGES = "one row per edge"
    TRIANGLES = "one row per triangle"
    GRAPH = "a prepared graph"


@dataclass(frozen=True)
class Work:
    """What one call needs, which plans and budgets are made of.

    Attributes
    ----------
    needs : Needs
    result : Result
    columns : int
        The columns that the call adds to the user's rows.
    colours : int
        The colours of a sample, which keeps one edge in so many.
    """

    needs: Needs
    result: Result
    columns: int = 1
    colours: int = 1

    @property
    def by_edge(self) -> bool:
        """Whether the triangles of every edge are counted, not only their total."""
        return bool(self.needs & Needs.BY_EDGE)


class EdgeValues(Protocol):
    """What the formula of a column may ask about some edges."""

    @property
    def xp(self) -> Any:
        """The array module of the values, numpy or cupy."""

    @property
    def triangles(self) -> Array:
        """The triangles of each edge, int64."""

    @property
    def degrees(self) -> tuple[Array, Array]:
        """The degrees of the two ends of each edge, int64 and at least 1."""

    @property
    def trussness(self) -> Array:
        """The trussness of each edge, int32."""


@dataclass(frozen=True)
class Column:
    """A column aligned with the user's rows, in which self loops hold 0.

    Attributes
    ----------
    dtype : str
    formula : callable
        From `EdgeValues` to an array with one value per edge.
    needs : Needs
        What the formula reads.
    """

    dtype: str
    formula: Callable[[EdgeValues], Array]
    needs: Needs = Needs.EDGE_COUNTS


@dataclass(frozen=True)
class Options:
    """The options that analytics share. Each is described at `rapids_tc.count`."""

    source: Any = None
    destination: Any = None
    engine: EngineName | None = None
    method: str = "auto"
    progress: bool | None = None
    memory_limit: int | None = None


SHARED = tuple(field.name for field in fields(Options))
OwnOptions = dict[str, Any]


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
        What a call of it needs at most, with a typical number of columns.
    columns : mapping of str to Column
        The columns that it adds to the user's rows.
    defaults : dict
        Its own options, those that are not `SHARED`, with their defaults.
    takes_method : bool
        Whether it accepts ``method=``.
    check : callable
        From its own options to their normalized values; raises ValueError for a bad one.
    work : callable
        From its own options to the needs of the call and to the number of columns that it adds.
    in_memory : callable
        From its own options to what the user may call instead of a call that is never counted in
        blocks; an empty text for other calls.
    local : callable
        From its own options, and the kind of a partitioned frame, to the error of a call that no
        cluster answers; None for other calls.
    """

    name: str
    body: Callable[..., Any]
    call: Callable[..., Any]
    most: Work
    columns: Mapping[str, Column]
    defaults: OwnOptions
    takes_method: bool
    check: Callable[[OwnOptions], OwnOptions]
    work: Callable[[OwnOptions], Work]
    in_memory: Callable[[OwnOptions], str]
    local: Callable[[OwnOptions, str], Exception | None]

    @property
    def needs(self) -> Needs:
        """What a call of it needs at most."""
        return self.most.needs

    @property
    def result(self) -> Result:
        """The shape of its answer."""
        return self.most.result


ANALYTICS: dict[str, Analytic] = {}  # by name, filled while the topics are imported


def register(record: Analytic) -> None:
    """Add a record; each name and each column belongs to one analytic."""
    if record.name in ANALYTICS or row_columns().keys() & record.columns.keys():
        raise ValueError(f"{record.name} or one of its columns has a record already")
    ANALYTICS[record.name] = record


def row_columns() -> dict[str, Column]:
    """Return every column that some analytic can add to the user's rows, by its name."""
    return {name: column for a in ANALYTICS.values() for name, column in a.columns.items()}


def _functions(own: OwnOptions) -> str:
    return "give the frame itself to the functions, most of which are"


GRAPH = Analytic(  # the preparation of a graph, which is no analytic and has a memory estimate
    name="Graph", body=dict, call=dict, most=Work(Needs.NOTHING, Result.GRAPH), columns={},
    defaults={}, takes_method=False, check=dict, work=lambda own: Work(Needs.NOTHING, Result.GRAPH),
    in_memory=_functions, local=lambda own, kind: None,
)  # fmt: skip


def estimated() -> dict[str, Analytic]:
    """Return the records of all that `memory_estimate` knows, by name."""
    return {**ANALYTICS, GRAPH.name: GRAPH}
