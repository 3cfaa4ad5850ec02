"""Triangles of a kind: what the functions share that take ``where=``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rapids_tc.blocks.quantities import of_kind
from rapids_tc.plan.record import Needs, OwnOptions, Work
from rapids_tc.preparation.edge_values import check_aggregate
from rapids_tc.preparation.triangle_kinds import Triangles

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array
    from rapids_tc.blocks.quantities import Within
    from rapids_tc.graphs.edge_graph import VertexStatistics


OF_ARCS = 24, 64  # bytes of an edge whose two arcs have values and sums; with times
# What a call that is given a kind needs as it does without one, besides values of edges.
BESIDE = Needs.DEGREES | Needs.EDGE_SUMS | Needs.EDGE_COUNTS | Needs.TRUSSNESS | Needs.COMMUNITIES
BESIDE |= Needs.TRIANGLES


def check_where(own: OwnOptions) -> OwnOptions:
    """Return what `check_arcs` does; ValueError if triangles are directed."""
    own = check_arcs(own)
    if own["where"] is not None and own["where"].directed is not None:
        raise ValueError(
            f"where=Triangles(directed={own['where'].directed!r}): directed triangles are counted "
            'by count, vertex_triangles, edge_triangles and annotate(edges, "triangles"), and '
            "their corners listed by list_triangles and iter_triangles; this asks for triangles of "
            "edges"
        )
    return own


def check_arcs(own: OwnOptions) -> OwnOptions:
    """Return the own options, of which `where` says which triangles count; None stands for all.

    Raises
    ------
    ValueError
        `where` is no kind of triangles; or both it and its short form, `time` and `within`, are
        given, or half of the latter.
    """
    where, time, within = own["where"], own.get("time"), own.get("within")
    if time is None and within is None:
        if where is not None and not isinstance(where, Triangles):
            raise ValueError(
                f"where= is a {type(where).__name__}; give a kind of triangles, such as "
                'Triangles(time="t", within="1h")'
            )
        return own
    if where is not None:
        raise ValueError(
            "time= and within= are short for where=Triangles(time=, within=): give them there, "
            "with the other conditions"
        )
    return {**own, "where": Triangles(time=time, within=within)}


def check_weight(own: OwnOptions) -> OwnOptions:
    """Return the own options; ValueError for a wrong `aggregate`, or one without a weight."""
    check_aggregate(own["aggregate"])
    if own["aggregate"] is not None and own["weight"] is None:
        raise ValueError(f"aggregate={own['aggregate']!r} is about weights: give weight= as well")
    return own


def check_alone(
    own: OwnOptions, check: Callable[[OwnOptions], OwnOptions] = check_where
) -> OwnOptions:
    """Return what `check` does; ValueError if weights or directions are asked for as well."""
    own = check(own)
    asked = own.get("weight") is not None, own.get("directed", False)
    if own["where"] is not None and any(asked):
        other = "weight" if asked[0] else "directed"
        raise ValueError(
            f"where= and {other}= are not asked for together: triangles of a kind count as one each"
        )
    return own


def work_where(without: Work) -> Callable[[OwnOptions], Work]:
    """Return the work of a call by its options; if all triangles count it is `without`."""

    def work(own: OwnOptions) -> Work:
        if (where := own["where"]) is None:
            return without
        needs = Needs.WEIGHTS if where.time is None else Needs.SPANS
        needs |= without.needs & BESIDE
        by_time, coded = where.time is not None, not where.by_time_alone
        values = without.values if where.directed is None else OF_ARCS[by_time]
        return replace(without, needs=needs, by_time=by_time, coded=coded, values=values)

    return work


def sums_where(own: OwnOptions) -> list[Within]:
    """Return the sums of a call by its options: none if all triangles count."""
    where = own["where"]
    return [] if where is None else [of_kind("where", where.reading, by_vertex=True)]


def counts_where(graph: VertexStatistics, where: Triangles | None, method: str) -> Array:
    """Count the triangles of a kind at every rank, int64; None stands for all triangles."""
    if where is None:
        return graph.vertex_counts(method)
    require_auto(method, where)
    [counts] = graph.summed(of_kind("where", where.reading, by_vertex=True))
    return counts.values


def require_auto(method: str, where: Triangles | None) -> None:
    """Raise ValueError if a method is named beside a kind of triangles."""
    if where is not None and method != "auto":
        option = "within=" if where.by_time_alone else "where="
        raise ValueError(f'method={method!r}: with {option} only method="auto" works')
