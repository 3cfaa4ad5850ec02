"""All analytics at a glance, derived from their records; for the command line and the pages."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from rapids_tc.plan.record import ANALYTICS, Analytic, Result


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
    """

    name: str
    topic: str
    summary: str
    result: str
    columns: tuple[str, ...]
    in_blocks: bool
    distributed: bool


def overview() -> list[Overview]:
    """Describe every analytic, in the order of their results."""
    order = list(Result)
    records = sorted(
        ANALYTICS.values(), key=lambda record: (order.index(record.result), record.name)
    )
    return [_of(record) for record in records]


def _of(record: Analytic) -> Overview:
    own = record.defaults
    return Overview(
        name=record.name,
        topic=record.call.__module__.rpartition(".")[2],
        summary=(inspect.getdoc(record.call) or "").partition("\n")[0],
        result=record.result.value,
        columns=tuple(record.columns),
        in_blocks=not record.in_memory(own),
        distributed=record.local(own, "partitioned frame") is None,
    )
