"""What a `Graph` has had chosen, which the options of its calls may not contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_tc.frames.backend import check_engine
from rapids_tc.plan import needs
from rapids_tc.plan.answers import require_fields

if TYPE_CHECKING:
    from rapids_tc.plan.record import Analytic, Options, OwnOptions

CHOSEN = "a Graph has its columns chosen: give {}= to Graph() instead"
IS_GRAPH = "edges is a Graph already: give it to the functions, or its frame to Graph()"


def prepared_in(edges: Any) -> Any:
    """Return what a `Graph` holds, and of a frame None, or whatever it calls by that name."""
    return getattr(edges, "__dict__", {}).get("_prepared")  # pandas takes long to lack a name


def check_prepared(graph: Any, record: Analytic, options: Options, own: OwnOptions) -> None:
    """Raise ValueError if a call's options contradict those that its graph was prepared with.

    `graph` is an `InMemoryGraph` or a `KeptGraph`.
    """
    needs.require_method(options.method, record, graph.backend.engine)
    for option in ("source", "destination", "by"):
        if getattr(options, option) is not None:
            raise ValueError(CHOSEN.format(option))
    require_fields(record, own, graph.id_columns)
    check_engine(options.engine)
    if options.engine not in (None, graph.backend.engine):
        raise ValueError(
            f"this Graph lives on {graph.backend.engine!r}, not on {options.engine!r}: make "
            f"another, Graph(edges, engine={options.engine!r})"
        )
