"""The columns of an answer, from the record of its analytic and the columns of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.plan.record import Result
from rapids_tc.preparation.edge_columns import check_fields, ids_in_answers

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
        roles = PER[own["per"]] if own.get("per") else ID_ROLES.get(record.result, ())
        groups, ids = ([part.label for part in parts] for parts in (columns.groups, columns.ids))
        check_fields(groups, [*ids_in_answers(ids, roles), *record.fields(own)])
