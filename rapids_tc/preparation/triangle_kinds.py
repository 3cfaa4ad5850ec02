"""A kind of triangles: what is asked of their times, types and signs, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from rapids_tc._typing import Aggregate, Array, Label, Length
from rapids_tc.errors import shown
from rapids_tc.preparation.code_tables import SLOTS
from rapids_tc.preparation.edge_values import AGGREGATES, PICKS, Reading, check_aggregate
from rapids_tc.preparation.entries import Entries, SlotReader, SlotsOfVertices
from rapids_tc.preparation.time_values import Intervals, TimeReader, check_together
from rapids_tc.preparation.times import check_length
from rapids_tc.preparation.type_readers import SignReader

if TYPE_CHECKING:
    from rapids_tc.preparation.entries import Types
    from rapids_tc.preparation.readers import Reader

COLUMNS = ("time", "edge_type", "sign")  # options that name a column
KINDS = ("cycle", "flow")  # of directed triangles


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Triangles:
    """A kind of triangles, which ``where=`` of many functions takes.

    A triangle is of the kind if there is a choice of one row for each of its three edges for which
    all conditions hold together.

    Parameters
    ----------
    time : label, optional
        A column of times: integers, floats or datetimes. Give `within`, too.
    within : number, str, Timedelta, timedelta or timedelta64, optional
        The most that the times of the three rows span: a number for times that are numbers,
        ``"1h"`` and the like for datetimes, 0 for equal times.
    edge_type : label, optional
        A column of types, of any dtype that can be grouped and sorted. Give `types`, too.
    vertex_type : Series, mapping or DataFrame, optional
        In place of `edge_type`, the types of vertices: see `triangles_by_type`.
    types : sequence of three types, optional
        The types of the three rows, or of the three corners, in any order. None stands for any
        type, and a type that no row has for none.
    sign : label, optional
        A column of numbers, of which the signs count. Give `balanced`, too.
    balanced : bool, optional
        Whether the product of the three signs is plus, or minus.
    directed : {"cycle", "flow"}, optional
        Take u to v and v to u as two arcs, and count directed triangles, which are choices of one
        arc for each side: "cycle" of those that lead around, u to v to w to u, and "flow" of the
        others, u to v, v to w and u to w. Other conditions hold for rows of these arcs.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        Settle first which type and which sign an edge (or arc) has that several rows name; times
        remain those of all rows. With types, "first" and "last" alone. By default each row has its
        own.

    Raises
    ------
    ValueError
        No condition is given, or one without what it needs; a value is none of those above; a
        type has no hash, or is a missing value other than None.

    See Also
    --------
    count : The triangles of a graph, of a kind.
    triangles_by_type : The triangles of all combinations of types.
    balance : The triangles by their signs.

    Notes
    -----
    A kind is a plain value: it can be compared, hashed, pickled, and used in several calls. Two
    that hold arrays or types of vertices are equal only if these are the same objects. Columns are
    looked up when a function is called; beside edges that are arrays, a column may be an array with
    a value per edge. Self loops do not count, and direction does not either without `directed`.
    Times are compared exactly, as in `count`.

    With `directed`, three sides have up to two cycle triangles and six flow triangles, each of
    which counts. A row gets the number of those that its own arc is in. Both kinds are of
    Takaguchi and Yoshida, "Cycle and flow trusses in directed networks" (2016).

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 3], "dst": [1, 2, 0, 3, 0], "t": [1, 2, 3, 9, 9]})
    >>> df["kind"] = ["pays", "owns", "pays", "owns", "owns"]
    >>> tc.count(df, where=tc.Triangles(time="t", within=5))
    1
    >>> rings = tc.Triangles(edge_type="kind", types=("pays", "owns", None))
    >>> tc.count(df, where=rings)
    2
    >>> rings
    Triangles(edge_type='kind', types=('pays', 'owns', None))
    """

    time: Label | Array | None = None
    within: Length | None = None
    edge_type: Label | Array | None = None
    vertex_type: Any = None
    types: Sequence[Any] | None = None
    sign: Label | Array | None = None
    balanced: bool | None = None
    directed: Literal["cycle", "flow"] | None = None
    aggregate: Aggregate | None = None

    def __post_init__(self) -> None:
        check_together(self.time, self.within)
        if self.within is not None:
            check_length("within", self.within, zero=True)
        self._check_types()
        if (self.sign is None) != (self.balanced is None):
            raise ValueError(
                "sign= and balanced= go together: the column of signs, and whether their product "
                "is plus (True) or minus (False)"
            )
        if self.balanced is not None and not isinstance(self.balanced, bool | np.bool_):
            raise ValueError(f"balanced={self.balanced!r}; accepted: True, False")
        if self.directed is not None and self.directed not in (*KINDS,):
            raise ValueError(f'directed={self.directed!r}; accepted: "cycle", "flow", None')
        if not any(each is not None for each in (self.time, self.types, self.sign, self.directed)):
            raise ValueError(
                "Triangles() asks for nothing: give time= and within=, types= and edge_type= or "
                "vertex_type=, sign= and balanced=, or directed="
            )
        names = AGGREGATES if self.types is None else PICKS
        check_aggregate(self.aggregate, names, "each row has its own type and sign")
        if self.aggregate is not None and self.types is None and self.sign is None:
            raise ValueError(
                f"aggregate={self.aggregate!r} settles types and signs: give types= or sign= as "
                "well"
            )

    def _check_types(self) -> None:
        """Make a tuple of the types; ValueError unless they are three, of edges or of vertices."""
        given = [self.edge_type is not None, self.vertex_type is not None]
        if self.types is None and not any(given):
            return
        if self.types is None or sum(given) != 1:
            raise ValueError(
                "types= goes together with either edge_type= or vertex_type=, whose types it names"
            )
        if not isinstance(self.types, list | tuple) or len(self.types) != SLOTS:
            raise ValueError(f"types={shown(self.types)}; accepted: three types, None for any")
        if all(each is None for each in self.types):
            raise ValueError(f"types={self.types!r} names no type: any triangle has these")
        if not all(map(_is_type, self.types)):
            raise ValueError(
                f"types={shown(self.types)}: a type is a single value that has a hash and is not "
                "missing; None stands for any type"
            )
        object.__setattr__(self, "types", tuple(self.types))

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in self._given().items())
        return f"{type(self).__name__}({', '.join(options)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Triangles) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _given(self) -> dict[str, Any]:
        """Return the options that are given, by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if value is not None}

    def _key(self) -> tuple[tuple[str, Any], ...]:
        """Return what tells kinds apart; types of vertices and arrays have no hash: by object."""
        given = self._given()
        for name, value in given.items():
            if name == "vertex_type" or hasattr(value, "__dlpack__"):
                given[name] = id(value)
        return tuple(given.items())

    @property
    def columns(self) -> list[Label]:
        """The columns that are read."""
        return [getattr(self, option) for option in COLUMNS if getattr(self, option) is not None]

    @property
    def by_time_alone(self) -> bool:
        """Whether only times are asked for, perhaps of arcs."""
        return self.time is not None and self.types is None and self.sign is None

    @property
    def reading(self) -> Reading:
        """What is read from the rows."""
        arcs = self.directed or ""
        if self.by_time_alone:
            return Reading(Intervals(arcs), (self._time,))
        asked = cast("Types", self.types)
        readers: list[Reader] = [] if self.time is None else [self._time]
        if self.edge_type is not None:
            readers.append(SlotReader(self.edge_type, asked=asked))
        if self.sign is not None:
            readers.append(SignReader(label=self.sign, signs_alone=self.aggregate is None))
        vertex_types, of = None, "edge" if self.types else ""
        if self.vertex_type is not None:
            vertex_types = SlotsOfVertices(self.vertex_type, self.aggregate, asked=asked)
            of = "vertex"
        product = "" if self.balanced is None else "-+"[self.balanced]
        rule = Entries(of, product, self.time is not None, self.aggregate, arcs)
        return Reading(rule, tuple(readers), vertex_types=vertex_types)

    @property
    def _time(self) -> TimeReader:
        within = check_length("within", self.within, zero=True)
        return TimeReader(self.time, within=within)


def _is_type(value: Any) -> bool:
    """Return whether a value can be a type, or is None: no list, no array, and none missing."""
    from pandas import isna
    from pandas.api.types import is_scalar

    try:
        hash(value)
    except TypeError:
        return False
    return value is None or not (is_scalar(value) and isna(value))
