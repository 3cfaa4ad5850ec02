"""Triangles by the types of their sides or corners, and by the signs of their sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rapids_tc._arguments import check_flag
from rapids_tc._typing import Aggregate, Array, ArrayModule, Frame, Label
from rapids_tc.analytics import directions, triangle_types
from rapids_tc.analytics.analytic import analytic
from rapids_tc.blocks.quantities import SmallProducts, TrianglesByType
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work
from rapids_tc.preparation.edge_values import PICKS, EndTypes, Reading, Reduced, check_aggregate
from rapids_tc.preparation.type_readers import POSITIVE, SignReader, Signs, TypeReader
from rapids_tc.preparation.vertex_types import VertexTypes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.frames.backend import Backend
    from rapids_tc.graphs.edge_graph import EdgeGraph

SIGNS = ("+++", "++-", "+--", "---")  # by the number of minus signs


# Types --------------------------------------------------------------------------------------------


def _check_types(own: OwnOptions) -> OwnOptions:
    check_aggregate(own["aggregate"], PICKS)
    by_type = own["edge_type"] is not None, own["vertex_type"] is not None
    if sum((*by_type, check_flag(own)["directed"])) != 1:
        raise ValueError(
            "give either edge_type= or vertex_type=, the types to count by, or directed=True"
        )
    if own["directed"] and own["aggregate"] is not None:
        raise ValueError(
            f"aggregate={own['aggregate']!r} is about types: leave it out with directed=True"
        )
    return _check_per(own, ("vertex", "edge"))


def _check_per(own: OwnOptions, accepted: Sequence[str]) -> OwnOptions:
    per = own["per"]
    if per is not None and not (isinstance(per, str) and per in accepted):
        names = ", ".join(f'"{name}"' for name in accepted)
        raise ValueError(f"per={per!r}; accepted: {names}, None (the whole graph)")
    return own


def _type_reading(own: OwnOptions) -> Reading:
    if own["directed"]:
        return directions.STATES
    if own["vertex_type"] is not None:
        return Reading(EndTypes(), vertex_types=VertexTypes(own["vertex_type"], own["aggregate"]))
    return Reading(Reduced(own["aggregate"], dtype="uint8"), (TypeReader(own["edge_type"]),))


def _by_type(own: OwnOptions) -> TrianglesByType:
    types = directions.STATE_TYPES if own["directed"] else 0
    return TrianglesByType("types", _type_reading(own), types, by=own["per"] or "")


def _type_sums(own: OwnOptions) -> list[Sum]:
    return [_by_type(own)]


def _type_fields(own: OwnOptions) -> tuple[str, ...]:
    kinds = ("triad",) if own["directed"] else ("type_1", "type_2", "type_3")
    return (*kinds, "triangles")


def _type_work(own: OwnOptions) -> Work:
    if own["per"] is None:
        return Work(Needs.TYPE_COUNTS, Result.TABLE)
    return Work(Needs.TYPE_COUNTS | Needs.TRIANGLES, Result.TRIANGLES, values=1)


@analytic(
    Work(Needs.TYPE_COUNTS | Needs.TRIANGLES, Result.TABLE, values=1),
    check=_check_types,
    work=_type_work,
    fields=_type_fields,
    sums=_type_sums,
)
def triangles_by_type(
    graph: EdgeGraph,
    *,
    edge_type: Label | None = None,
    vertex_type: Any = None,
    directed: bool = False,
    per: Literal["vertex", "edge"] | None = None,
    aggregate: Aggregate | None = None,
    memory_limit: int | None = None,
) -> Frame:
    """Count the triangles of each combination of three types, or of directions.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    edge_type : label, optional
        A column of types, of any dtype that can be grouped and sorted.
    vertex_type : Series, mapping or DataFrame, optional
        In place of `edge_type`, the types of vertices: a Series by vertex, a mapping, or a frame
        with the columns ``vertex`` and ``type``. Vertices that are not in the graph are ignored.
    directed : bool, optional
        In place of types, count by how the sides lead: the rows a, b and b, a are two edges.
    per : {"vertex", "edge"}, optional
        What to count triangles of; by default of the whole graph.
    aggregate : {"first", "last"}, optional
        The type of an edge that several rows name, or of a vertex that is given several times; by
        default these must agree.

    Returns
    -------
    DataFrame
        ====================== ======== ====================================================
        vertex, or src and dst as ids   with `per`: src is the smaller of both by value
        type_1, type_2, type_3 as types the three types of the triangles, ascending
        triangles              int64    how many triangles have these types; never 0
        ====================== ======== ====================================================

        Sorted by all columns but the last; with `by`, the columns of groups stand in front. Of a
        partitioned frame, a frame of its partitions' library.

        With `directed`, a column ``triad``, text, stands for the types: "030T", "030C", "120D",
        "120U", "120C", "210" or "300", in this order, named as in `triad_counts`.

    Raises
    ------
    ColumnNotFoundError
        There is no column `edge_type`.
    NullIdError
        The type of an edge, or of a vertex of the graph, is missing.
    CapacityError
        There are more than 255 types; or the answer for each vertex or edge does not fit in memory.
    ValueError
        Rows of one edge have different types, and `aggregate` is None; not exactly one of
        `edge_type`, `vertex_type` and `directed` is given. Other errors: see `Graph`.

    See Also
    --------
    triad_counts : All triads of a directed graph, closed or not.
    balance : Triangles by the signs of their sides.

    Notes
    -----
    The types of the three sides, or of the three corners, in ascending order: by value, or of an
    ordered categorical by its categories. Cost: as `edge_triangles`, and a counter for each
    combination of types, which takes 24 bytes with its part of the answer: 40 MB for 120 types, 400
    MB for 255. If these are more than memory, or `memory_limit`, allows, the triangles are listed,
    some millions at a time, as in `iter_triangles`; so they are with `per` and with `by`. On a
    cluster, workers list the triangles of their tasks, and add the counts up.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 1], "dst": [1, 2, 0, 3, 3]})
    >>> df["kind"] = ["pay", "call", "call", "pay", "pay"]
    >>> tc.triangles_by_type(df, edge_type="kind")
      type_1 type_2 type_3  triangles
    0   call    call    pay          1
    1   call     pay    pay          1
    """
    own = {
        "edge_type": edge_type, "vertex_type": vertex_type, "directed": directed,
        "aggregate": aggregate, "per": per,
    }  # fmt: skip
    if per is not None:
        return triangle_types.per(graph, _type_reading(own), per, memory_limit)
    return triangle_types.whole(graph, _by_type(own), memory_limit)


# Signs --------------------------------------------------------------------------------------------


def _check_balance(own: OwnOptions) -> OwnOptions:
    check_aggregate(own["aggregate"])
    return _check_per(own, ("vertex",))


def _balance_fields(own: OwnOptions) -> tuple[str, ...]:
    return ("signs", "triangles", "balanced") if own["per"] is None else ("balanced", "unbalanced")


def _balance_sums(own: OwnOptions) -> list[Sum]:
    aggregate = own["aggregate"]
    reader = SignReader(label=own["sign"], signs_alone=aggregate is None)
    if own["per"] is None:
        return [TrianglesByType("signs", Reading(Signs(aggregate), (reader,)), 2)]
    reading = Reading(Signs(aggregate), (reader,), _sides)
    return [SmallProducts("triangles", reading, 0), SmallProducts("signed", reading, 1)]


def _sides(arrays: list[Array], largest: float, xp: ArrayModule) -> list[Array]:
    """Return 1.0 for every edge, and its sign: the sums of both give the balanced triangles."""
    signs = 2.0 * arrays[0] - 1.0
    return [xp.ones(len(signs), "float64"), signs]


def _balance_work(own: OwnOptions) -> Work:
    if own["per"] is None:
        return Work(Needs.TYPE_COUNTS, Result.TABLE)
    return Work(Needs.WEIGHTS, Result.VERTICES)


@analytic(
    Work(Needs.TYPE_COUNTS | Needs.WEIGHTS, Result.TABLE, values=8),
    check=_check_balance,
    work=_balance_work,
    fields=_balance_fields,
    sums=_balance_sums,
)
def balance(
    graph: EdgeGraph,
    *,
    sign: Label,
    per: Literal["vertex"] | None = None,
    aggregate: Aggregate | None = None,
) -> Frame:
    """Count the triangles by the signs of their sides, and which of them are balanced.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    sign : label
        A column of numbers, of which the signs count.
    per : {"vertex"}, optional
        What to count triangles of; by default of the whole graph.
    aggregate : {"first", "last", "sum", "mean", "min", "max"}, optional
        The number of an edge that several rows name, whose sign counts; by default the rows must
        agree in their signs.

    Returns
    -------
    DataFrame
        ========= ===== =======================================
        signs     text  ``+++``, ``++-``, ``+--`` and ``---``
        triangles int64 how many triangles have these signs
        balanced  bool  whether their product is positive
        ========= ===== =======================================

        With `by`, four rows for each group, behind its columns. With ``per="vertex"``, every vertex
        sorted by id:

        ========== ====== ==================================
        vertex     as ids every id seen in either column
        balanced   int64  its balanced triangles
        unbalanced int64  its other triangles
        ========== ====== ==================================

    Raises
    ------
    ColumnNotFoundError
        There is no column `sign`.
    ValueError
        A number is missing or infinite; the number of an edge is 0; rows of one edge have different
        signs, and `aggregate` is None. Other errors: see `Graph`.

    See Also
    --------
    triangles_by_type : Triangles by the types of their sides.

    Notes
    -----
    A triangle is balanced if the product of its signs is positive: the friend of a friend is a
    friend. Cartwright and Harary, "Structural balance: a generalization of Heider's theory",
    Psychological Review 63 (1956). Cost: as `edge_triangles`; per vertex, two sums over all
    triangles; with `by`, triangles are listed.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> df = pd.DataFrame({"src": [0, 1, 2, 2, 1], "dst": [1, 2, 0, 3, 3], "w": [1, -2, -1, 3, 1]})
    >>> tc.balance(df, sign="w")
      signs  triangles  balanced
    0   +++          0      True
    1   ++-          1     False
    2   +--          1      True
    3   ---          0     False
    """
    backend, sums = graph.backend, _balance_sums({"sign": sign, "aggregate": aggregate, "per": per})
    if graph.groups is not None and per is None:
        tallied = triangle_types.tally(graph, sums[0].reading, "group")
        minus_signs = 3 - sum(tallied.codes)
        counts = triangle_types.sum_by_group(graph, tallied, minus_signs, 4)
        group = backend.xp.repeat(backend.xp.arange(len(counts)), 4)
        return _signs_frame(backend, counts.ravel(), graph.groups.group_columns(group))
    values = [summed.values for summed in graph.summed(*sums)]
    if per is None:
        counts = np.zeros(4, "int64")
        for signs, number in directions.closed_triangles(backend.host(values[0])):
            counts[3 - signs.count(POSITIVE)] += number
        return _signs_frame(backend, counts, {})
    triangles, signed = (backend.xp.rint(sums).astype("int64") for sums in values)
    balanced = (triangles + signed) // 2
    columns = {"balanced": balanced, "unbalanced": triangles - balanced}
    return graph.vertex_frame(columns, None)


def _signs_frame(backend: Backend, counts: Array, groups: dict[Any, Any]) -> Frame:
    """Return the frame of the four combinations of signs, for each group."""
    many, series = len(counts) // 4, backend.library.Series
    columns = {
        **groups,
        "signs": series([*SIGNS] * max(many, 1)).iloc[: len(counts)],  # without rows, of a dtype
        "triangles": counts,
        "balanced": series([True, False, True, False] * max(many, 1)).iloc[: len(counts)],
    }
    return backend.answer(columns)
