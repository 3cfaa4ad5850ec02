"""Memory: what a call will take, before anything is allocated for it, and what calls keep."""

from __future__ import annotations

from dataclasses import replace

from rapids_tc._arguments import check_flag, checked_limit, with_hints
from rapids_tc._progress import call_report
from rapids_tc._typing import Array, ByteSize, EngineName, Frame, Function, Groups, Labels, Method
from rapids_tc.executors.registry import executor_of
from rapids_tc.frames import device_memory
from rapids_tc.frames.backend import open_frame
from rapids_tc.frames.device import place
from rapids_tc.graphs.edge_graph import check_prepared, require_sides
from rapids_tc.graphs.public import Graph
from rapids_tc.graphs.resolve import read_ids, size_of, take_arrays, take_file
from rapids_tc.plan import needs
from rapids_tc.plan.record import Analytic, Options, OwnOptions, estimated
from rapids_tc.preparation.edge_columns import edge_columns
from rapids_tc.preparation.group_values import read_groups


@with_hints
def memory_estimate(
    edges: Frame = None,
    *,
    function: Function = "count",
    source: Labels | None = None,
    destination: Labels | None = None,
    by: Groups | None = None,
    bipartite: bool = False,
    engine: EngineName | None = None,
    method: Method = "auto",
    progress: bool | None = None,
    memory_limit: ByteSize | None = None,
    edge_index: Array | None = None,
) -> dict[str, int]:
    """Estimate the memory that a call will take on top of the frame, stage by stage.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge; the frame is only read, some rows at a time. Of a `files.scan`, a query
        or a lazy frame, the id columns are.
    function : str, optional
        The name of the function.
    source, destination, by, engine
        See `count`.
    bipartite : bool, optional
        As `Graph` and the functions of squares take it.
    method : str, optional
        The intersection method of the call; some methods take more memory.
    progress, memory_limit
        Accepted so that all functions take the same options. An estimate shows no progress; a limit
        has an effect on Dask and Spark frames alone, whose graphs it cuts in more blocks.
    edge_index : array of shape (2, m), optional
        As all functions take it, in place of `edges`.

    Returns
    -------
    dict
        The bytes (int) that each stage takes at most, on top of `edges`. For a `Graph`, only stages
        that are not done yet, on top of what the graph holds. Of files and queries, the first is
        ``read``, the id columns in memory, which the others hold.

        For a Dask or Spark frame, or the `Graph` of one:

        ====== ===================================================================
        worker bytes that a worker, or a task of Spark, takes beside its rows
        blocks the blocks on each side that the graph is cut in
        ====== ===================================================================

    Raises
    ------
    ValueError
        There is no such function or method, the function takes no `bipartite`, or how many rows a
        Dask frame has is not known before it is computed. Other errors, such as of ids that cannot
        name vertices: see `Graph`.
    TypeError
        A function does not take Dask or Spark frames.

    See Also
    --------
    count : And every other function of edges, with ``memory_limit=``.

    Notes
    -----
    Ids that are not dense integers are counted up to 65,536 rows; for more rows, a sketch estimates
    their number. Every row counts as an edge of its own: if rows repeat edges, in the same or the
    other direction, the estimate is too high by at most their share. Listed triangles, the rows
    of a truss, and those of `most_similar` and `project`, come on top: their number is not known
    before they are found. So do the counters of `triangles_by_type`, 24 bytes for each combination
    of three types: the estimate does not read their column. A limit holds for them.

    A Dask frame is not computed. The workers count the ids of a frame that they hold. Parquet files
    say how many rows they have, and each row is taken to have two ids of its own, which most graphs
    are far below. Of a Spark frame, a job of Spark counts the rows. Rows are taken to be dealt out
    evenly, and ids of files to be dense integers. How many tasks there are, and what moves between
    workers, depends on what is found.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> estimate = tc.memory_estimate(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]}))
    >>> list(estimate)
    ['number', 'order', 'orient', 'layout', 'count']
    """
    checked_limit(memory_limit)
    records = estimated()
    if not isinstance(function, str) or function not in records:
        raise ValueError(f"function={function!r}; accepted: {', '.join(sorted(records))}")
    record = records[function]
    own = _own(record, bipartite=bipartite)
    work = record.most_of(grouped=by is not None)
    options = Options(source, destination, by, engine, method, progress, edge_index=edge_index)
    edges, options, isolated = take_file(edges, options, {})
    edges, options, _ = take_arrays(edges, options, {})
    if executor := executor_of(edges):
        from rapids_tc.graphs import partitioned  # only a cluster's calls need it

        limited = replace(options, memory_limit=memory_limit)
        return partitioned.estimate(executor, edges, record, limited, own)
    with call_report(progress), place(edges):
        if isinstance(edges, Graph):
            check_prepared(edges._prepared, record, options, record.defaults)
            require_sides(edges._prepared, record, own)
            work = record.most_of(grouped=bool(edges._prepared.id_columns.groups))
            stages = edges._prepared.stages(work, method)
        else:
            edges, options, held = read_ids(edges, options)
            frame, backend = open_frame(edges, engine)
            needs.require_method(method, record, backend.engine)
            groups = read_groups(options.by, frame, backend)
            named = backend.adapter.labels(frame), options.source, options.destination, groups
            labels = edge_columns(*named, bipartite=record.is_bipartite(own))
            rows, ids, dense = size_of(frame, labels, backend)
            count = max(ids.count, backend.adapter.n_vertices or 0)
            count += 0 if isolated is None else len(isolated)
            size = rows, count, dense, backend.engine, method
            copied = backend.adapter.copied(frame)
            stages = needs.stages(work, *size, text=needs.Text.of(ids), snapshot=copied)
            if held := held or backend.adapter.loaded(frame):
                stages = [needs.Stage("read", held), *needs.beside(stages, held)]
    return {stage.name: stage.bytes for stage in stages}


def release_memory() -> int:
    """Give back to the GPUs the memory that is kept for the arrays of the next calls.

    Where neither RMM nor CuPy was given a memory by the user, calls on a GPU take their arrays from
    a pool, which keeps an eighth of the GPU's memory at most. ``RAPIDS_TC_POOL`` in the environment
    names another bound, "4GB" or bytes, before the first call; 0 is no pool.

    Returns
    -------
    int
        The bytes that were given back. The arrays of a `Graph` stay as long as the graph.

    See Also
    --------
    memory_estimate : What a call takes.

    Notes
    -----
    A call that runs out of memory gives back what is kept, and tries again. Answers do not lie in
    the pool.

    Examples
    --------
    >>> import rapids_tc as tc
    >>> tc.release_memory()  # without a GPU
    0
    """
    return device_memory.release()


def _own(record: Analytic, *, bipartite: bool) -> OwnOptions:
    """Return the own options that an estimate takes; ValueError if the function does not."""
    check_flag({"bipartite": bipartite}, "bipartite")
    if bipartite and not (record.bipartite or "bipartite" in record.defaults):
        raise ValueError(
            f"bipartite=True: {record.name} takes none; give Graph(edges, bipartite=True)"
        )
    return {"bipartite": True} if bipartite else {}


setattr(Graph, "memory_estimate", memory_estimate)  # noqa: B010 - a type checker knows no such name
