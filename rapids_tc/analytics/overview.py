"""All analytics at a glance, derived from their records; for the command line and the pages."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from rapids_tc.plan.record import ANALYTICS, Analytic, Needs, OwnOptions, Result
from rapids_tc.preparation.triangle_kinds import Triangles

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a call is asked with, by the options that a table of all functions has a column for.
OPTIONS: dict[str, OwnOptions] = {
    "by": {},
    "where": {"where": Triangles(edge_type="kind", types=("a", "a", None))},
    "time, within": {"time": "t", "within": 1},
    "directed": {"directed": True},
    "weight": {"weight": "w"},
    "vertices": {"vertices": [0]},
    "bipartite": {"bipartite": True},
}
# Beside it, of options without a default, and of those that say what is counted.
_NEEDED = {
    "columns": ("triangles",), "edge_type": "kind", "k": 3, "max_rows": 10, "side": "source",
    "sign": "trust", "time": "t", "top": 2,
}  # fmt: skip
_OF_TIES = ("constraint",)  # a column of vertices that has weights and directions


@dataclass(frozen=True)
class Overview:
    """An analytic as users see it.

    Attributes
    ----------
    name, topic, summary : str
        The function, the module that defines it, and the first line of its documentation.
    result : str
        The shape of the answer.
    columns : tuple of str
        The columns that the function, and `annotate`, can add to the user's rows.
    in_blocks, distributed : bool
        Whether graphs larger than memory are counted in blocks, and partitioned frames accepted.
    options : mapping of str to (bool, bool)
        The same by option of `OPTIONS`, of those that the function takes.
    """

    name: str
    topic: str
    summary: str
    result: str
    columns: tuple[str, ...]
    in_blocks: bool
    distributed: bool
    options: Mapping[str, tuple[bool, bool]]


def overview() -> list[Overview]:
    """Describe every analytic, in the order of their results."""
    order = list(Result)
    records = sorted(
        ANALYTICS.values(), key=lambda record: (order.index(record.result), record.name)
    )
    return [_of(record) for record in records]


def options_of(record: Analytic) -> dict[str, OwnOptions]:
    """Return the own options of a call with each option of `OPTIONS` that the function takes."""
    return {
        name: _own(record, asked)
        for name, asked in OPTIONS.items()
        if asked.keys() <= record.defaults.keys()
    }


def _of(record: Analytic) -> Overview:
    in_blocks, distributed = _served(record, record.defaults, None)
    return Overview(
        name=record.name,
        topic=record.call.__module__.rpartition(".")[2],
        summary=(inspect.getdoc(record.call) or "").partition("\n")[0],
        result=_result(record),
        columns=tuple(record.columns),
        in_blocks=in_blocks,
        distributed=distributed,
        options={
            name: _served(record, record.check(own), "g" if name == "by" else None)
            for name, own in options_of(record).items()
        },
    )


def _result(record: Analytic) -> str:
    """Return the shape of the answer; several values are a table."""
    several = record.result is Result.VALUE and len(record.fields(record.defaults)) > 1
    several = several and not record.needs & Needs.SAMPLE  # an estimate is one, with its error
    return (Result.TABLE if several else record.result).value


def _served(record: Analytic, own: OwnOptions, by: Any) -> tuple[bool, bool]:
    """Return whether a call is answered in blocks, and on a cluster."""
    own = {**own, "by": by}
    return not record.in_memory(own), record.local(own, "partitioned frame") is None


def _own(record: Analytic, asked: OwnOptions) -> OwnOptions:
    """Return the own options of a call that asks for some, and for what it cannot do without."""
    own = {
        name: _NEEDED.get(name) if default is Parameter.empty or default == () else default
        for name, default in record.defaults.items()
    }
    if asked.keys() & {"weight", "directed"} and "columns" in own:
        own["columns"] = _OF_TIES
    if record.name == "triangles_by_type" and "directed" not in asked:
        own["edge_type"] = _NEEDED["edge_type"]
    return {**own, **asked}
