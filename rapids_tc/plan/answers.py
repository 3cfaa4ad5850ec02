"""The columns of an answer, from the record of its analytic and the columns of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.plan.record import Result
from rapids_tc.preparation.edge_columns import OF_ONE_SIDE, SIDE, check_fields, ids_in_answers

if TYPE_CHECKING:
    from rapids_tc.plan.record import Analytic, OwnOptions
    from rapids_tc.preparation.edge_columns import EdgeColumns

ID_ROLES = {  # by the shape of an answer: the ids in each of its rows
    Result.VERTICES: ("vertex",),
    Result.EDGES: ("src", "dst"),
    Result.TRIANGLES: ("u", "v", "w"),
    Result.PAIRS: ("u", "v"),
}
PER = {"vertex": ID_ROLES[Result.VERTICES], "edge": ID_ROLES[Result.EDGES]}  # by per=


def require_fields(record: Analytic, own: OwnOptions, columns: EdgeColumns) -> None:
    """Raise ValueError if two columns of the answer of a call would have one name."""
    if record.result is not Result.COLUMN:  # which is no frame
        groups, ids = ([part.label for part in parts] for parts in (columns.groups, columns.ids))
        side = [SIDE] * (columns.bipartite and names_sides(record, own))
        named = ids_in_answers(ids, _roles(record, own))
        check_fields(groups, [*named, *side, *record.fields(own)])


def names_sides(record: Analytic, own: OwnOptions) -> bool:
    """Return whether an answer says of which side of a bipartite graph its vertices are.

    A function of bipartite graphs alone answers for one side.
    """
    return not record.bipartite and _roles(record, own) in OF_ONE_SIDE


def _roles(record: Analytic, own: OwnOptions) -> tuple[str, ...]:
    """Return the ids in each row of an answer."""
    return PER[own["per"]] if own.get("per") else ID_ROLES.get(record.result, ())
