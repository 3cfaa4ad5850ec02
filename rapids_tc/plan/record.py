"""One record per analytic: what it needs of the graph, what it returns, and where it runs.

Plans, budgets, memory estimates, paths, the accessor, the command line, the documentation and the
tests are derived from these records. No other table of function names exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Any, Protocol

Array = Any


class Needs(Flag):
    """What an analytic asks of the graph besides its vertices and edges."""

    NOTHING = 0
    TOTAL = auto()
    VERTEX_COUNTS = auto()
    EDGE_COUNTS = auto()
    DEGREES = auto()
    TRUSSNESS = auto()
    TRIANGLES = auto()


class Result(Enum):
    """The shape of an answer, which decides how each path makes it."""

    VALUE = "a value"
    VERTICES = "one row per vertex"
    COLUMN = "one value per row"
    COLUMNS = "the rows, with further columns"
    ROWS = "some of the rows"
    EDGES = "one row per edge"
    TRIANGLES = "one row per triangle"
    GRAPH = "a prepared graph"


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
    """A column aligned with the user's rows. Rows that are self loops hold 0.

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
    needs: Needs


@dataclass(frozen=True)
class Analytic:
    """The record of a public function.

    Attributes
    ----------
    name : str
        The name of the function.
    body : callable
        The function itself, given a resolved graph in place of the user's edges.
    needs : Needs
        All that any call of it may need.
    result : Result
    columns : mapping of str to Column
        The columns that it can add to the user's rows.
    check : callable
        From its own options to the same options, normalized; raises ValueError for bad ones.
    options : tuple of str
        The names of its own options.
    has_method : bool
        Whether it accepts ``method=``.
    in_memory : callable
        From its own options to the reason why the call is never counted in blocks, and an
        alternative; an empty text if it is.
    local : callable
        From its own options to the reason why the call is not answered on a cluster, and an
        alternative; an empty text if it is.
    """

    name: str
    body: Callable[..., Any]
    needs: Needs
    result: Result
    columns: Mapping[str, Column] = field(default_factory=dict)
    check: Callable[[dict[str, Any]], dict[str, Any]] = dict
    options: tuple[str, ...] = ()
    has_method: bool = False
    in_memory: Callable[[dict[str, Any]], str] = lambda options: ""
    local: Callable[[dict[str, Any]], str] = lambda options: ""


ANALYTICS: dict[str, Analytic] = {}  # by name, filled as the topics are imported


def register(record: Analytic) -> None:
    """Add a record; each name and each column belongs to one analytic."""
    columns = row_columns()
    if record.name in ANALYTICS or columns.keys() & record.columns.keys():
        raise ValueError(f"{record.name} or one of its columns has a record already")
    ANALYTICS[record.name] = record


def row_columns() -> dict[str, Column]:
    """Return every column that some analytic can add to the user's rows, by its name."""
    return {name: column for a in ANALYTICS.values() for name, column in a.columns.items()}
