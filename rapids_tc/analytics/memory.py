"""Memory: what a call will take, before anything is allocated for it."""

from __future__ import annotations

from typing import Any

from rapids_tc.frames.backend import open_frame
from rapids_tc.frames.device import placed
from rapids_tc.graphs.in_memory import Graph
from rapids_tc.graphs.protocol import check_prepared
from rapids_tc.plan import needs
from rapids_tc.preparation.edges import id_columns, size_bound


@placed
def memory_estimate(
    edges: Any,
    *,
    function: str = "count",
    source: Any = None,
    destination: Any = None,
    engine: str | None = None,
    method: str = "auto",
    progress: bool | None = None,
    memory_limit: int | None = None,
) -> dict[str, int]:
    """Estimate the memory that a call will take on top of the frame, stage by stage.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row an edge; only read, nothing is allocated for it.
    function : str, optional
        The function that would be called.
    source, destination, engine
        See `count`.
    method : str, optional
        The intersection method that it would be given; some keep more beside the graph.
    progress, memory_limit
        Taken as by any function, so that all can be given the same. An estimate has no stage to
        show, and takes no memory: it is the same under any limit.

    Returns
    -------
    dict
        Bytes (int) that each stage holds at its height, on top of `edges`. Of a `Graph`, the stages
        that are still to be made, on top of what it holds.

    Raises
    ------
    ValueError
        No such function or method. Further, of ids that cannot name vertices too: see `Graph`.

    Notes
    -----
    Ids that are not dense integers count as if each were seen once: an upper bound. Triangles that
    are listed come on top: how many there are is not known before they are counted.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> estimate = tc.memory_estimate(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]}))
    >>> list(estimate)
    ['number', 'order', 'orient', 'layout', 'count']
    """
    needs.check_limit(memory_limit)
    if not isinstance(function, str) or function not in needs.FUNCTIONS:
        raise ValueError(f"function={function!r}; accepted: {', '.join(sorted(needs.FUNCTIONS))}")
    if isinstance(edges, Graph):
        given = check_prepared(edges, (source, destination, engine), function, method)
        stages = given.stages(function, method)
    else:
        frame, backend = open_frame(edges, engine)
        needs.require_method(method, function, backend.engine)
        labels = id_columns(backend.adapter.labels(frame), source, destination)
        size = size_bound(frame, *labels, backend)
        stages = needs.stages(function, *size, backend.engine, method)
    return {stage.name: stage.bytes for stage in stages}
