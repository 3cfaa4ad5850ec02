"""The height of what NumPy allocates in each stage of a call, by tracemalloc."""

import gc
import mmap
import tracemalloc
from contextlib import contextmanager
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import _progress, testing
from rapids_tc.engines import protocol, registry
from rapids_tc.engines.cpu import small
from rapids_tc.engines.gpu import device_slots
from rapids_tc.plan import budget, needs
from rapids_tc.plan import costs as model
from rapids_tc.plan.record import ANALYTICS, estimated

NAMED = {  # stages by the words of the bar; what comes after one is the last, "columns"
    "numbering the ids": "number",
    "ordering by degree": "order",
    "orienting and sorting": "orient",
    "cutting into blocks": "cut",
    "sampling the edges": "sample",
    "reading the values": "values",
    "laying out": "layout",
    "laying out wedges": "wedges",
    "counting": "count",
    "summing over triangles": "count",
    "peeling": "peel",
    "comparing vertices": "compare",
    "sorting by time": "earlier rows",
    "joining communities": "communities",
    "sorting the edges": "edges",
}
WEIGHTED = "clustering with weights"
OF_TIES = {  # calls with weights, of which each has its own function and options
    "constraint with weights": ("annotate_vertices", {"columns": ("constraint",)}),
    "transitivity with weights": ("transitivity", {"mean": "geometric"}),
    "transitivity of sorted weights": ("transitivity", {"mean": "max"}),
    "jaccard with weights": ("similarity", {}),
}
HIERARCHY = "all communities"
AS_OF, OF_SQUARES = "columns as of a time", "squares as of a time"
KINDS = {
    "trussness in time": tc.Triangles(time="t", within=50_000),
    "trussness of types": tc.Triangles(edge_type="t", types=(1, None, None)),
}


def of_ties(name, own, edges):
    """Call a function with weights."""
    own, ids = dict(own), {"source": "src", "destination": "dst"}
    return getattr(tc, name)(edges, *own.pop("columns", ()), weight="weight", **own, **ids)


CALLS = {
    "count": tc.count,
    "vertex_triangles": tc.vertex_triangles,
    "edge_triangles": tc.edge_triangles,
    "annotate": lambda edges: tc.annotate(edges, "triangles"),
    "annotate_vertices": lambda edges: tc.annotate_vertices(edges, "closure"),
    "similarity": tc.similarity,
    "adamic_adar": lambda edges: tc.similarity(edges, measure="adamic_adar"),
    "cliques": tc.cliques,
    "vertex_cliques": tc.vertex_cliques,
    "edge_cliques": tc.edge_cliques,
    "squares": tc.squares,
    "vertex_squares": tc.vertex_squares,
    "edge_squares": tc.edge_squares,
    "graphlets": tc.graphlets,
    "graphlet_counts": tc.graphlet_counts,
    "most_similar": tc.most_similar,
    "bitruss": tc.bitruss,
    "trussness": tc.trussness,
    "k_truss": lambda edges: tc.k_truss(edges, 3),
    "truss_communities": lambda edges: tc.truss_communities(edges, 3),
    HIERARCHY: lambda edges: tc.truss_hierarchy(edges),
    "simple_edges": tc.simple_edges,
    "list_triangles": tc.list_triangles,
    "approximate_count": lambda edges: tc.approximate_count(edges, colors=2, seed=1),
    "triangles_over_time": lambda edges: tc.triangles_over_time(edges, time="t"),
    AS_OF: lambda edges: tc.annotate(edges, "cycles_closed", time="t", within=99),
    OF_SQUARES: lambda edges: tc.annotate(edges, "scatter_gather", time="t", within=99),
    "trussness in time": partial(tc.trussness, where=KINDS["trussness in time"]),
    "trussness of types": partial(tc.trussness, where=KINDS["trussness of types"]),
    WEIGHTED: lambda edges: tc.clustering(edges, weight="weight", source="src", destination="dst"),
}
CALLS |= {name: partial(of_ties, *call) for name, call in OF_TIES.items()}


def work_of(function):
    """What the call of `CALLS` needs."""
    if function == WEIGHTED:
        record = ANALYTICS["clustering"]
        return record.work({**record.defaults, "weight": "weight"})
    if function in OF_TIES:
        name, own = OF_TIES[function]
        record = ANALYTICS[name]
        return record.work({**record.defaults, **own, "weight": "weight"})
    if function == "adamic_adar":
        record = ANALYTICS["similarity"]
        return record.work({**record.defaults, "measure": function})
    if function in (AS_OF, OF_SQUARES):
        record = ANALYTICS["annotate"]
        name = "cycles_closed" if function == AS_OF else "scatter_gather"
        return record.work({**record.defaults, "columns": (name,)})
    if function == HIERARCHY:
        record = ANALYTICS["truss_hierarchy"]
        return record.work(record.defaults)
    if function in KINDS:
        return ANALYTICS["trussness"].work({"where": KINDS[function]})
    own = {"annotate": {"columns": ("triangles",)}, "approximate_count": {"colors": 2}}
    own["annotate_vertices"] = {"columns": ("closure",)}
    own["truss_communities"] = {"k": 3}
    record = estimated()[function]
    return record.work({**record.defaults, **own.get(function, {})})


def circulant(vertices, steps):
    """Every vertex tied to the next `steps`: many rows for few vertices."""
    src = np.repeat(np.arange(vertices), steps)
    return src, (src + np.tile(np.arange(1, steps + 1), vertices)) % vertices


def pairs(edges):
    """Edges that have no vertex in common: many vertices for few rows, and some in any block."""
    return np.arange(edges), edges + np.random.default_rng(0).permutation(edges)


# By name: the ends of rows, and how many vertices there are.
GRAPHS = {"rows": (circulant(2000, 32), 2000), "vertices": (pairs(32_000), 64_000)}


def edges_of(graph, function="count"):
    frame = pd.DataFrame(dict(zip(("src", "dst"), GRAPHS[graph][0], strict=True)))
    if function in ("triangles_over_time", AS_OF, OF_SQUARES):
        return frame.assign(t=np.random.default_rng(0).permutation(len(frame)))
    if function in KINDS:
        times = np.random.default_rng(0).permutation(len(frame))
        return frame.assign(t=times if "time" in function else times % 3)
    return frame.assign(weight=1.0) if function in (WEIGHTED, *OF_TIES) else frame


@contextmanager
def on_all_cores():
    """Count as on large graphs, whose memory the model is about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "MOST_KEYS", -1)
        yield


def served_by(engine, **fields):
    return testing.host_engine(**fields) if engine == "cuda" else on_all_cores()


def heights(engine, function, graph):
    """Bytes by which memory rose, at most, in each stage of a call."""
    edges, call = edges_of(graph, function), CALLS[function]
    with protocol.limit_threads(1), served_by(engine):
        _count_once(engine, graph)
        return _watched(call, edges)


@cache
def _count_once(engine, graph):
    """Load what counts: a first load takes memory that no later call does."""
    tc.count(edges_of(graph))
    tc.edge_triangles(edges_of(graph))


def estimates(engine, function, graph):
    """Bytes that the model says of each stage."""
    (src, _), vertices = GRAPHS[graph]
    with protocol.limit_threads(1):
        stages = needs.stages(work_of(function), len(src), vertices, True, engine)
    return {stage.name: stage.bytes for stage in stages}


def heights_in_blocks(engine, function, graph):
    """As `heights`, of a graph in 2 x 2 blocks; and the edges, rows and slots of its largest."""
    edges, call, noted = edges_of(graph), CALLS[function], []
    slots = budget.Budget.slots

    def counted(self, edges, rows, *more):
        noted.append((edges, rows, slots(self, edges, rows, *more)))
        return noted[-1][-1]

    with (
        protocol.limit_threads(1),
        served_by(engine, copies=OutsideCopies),
        in_blocks(2),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(budget.Budget, "slots", counted)
        return _watched(call, edges), noted[-1]


def estimates_in_blocks(engine, function, graph, largest):
    """What the model says of the stages of a graph in 2 x 2 blocks."""
    (src, _), numbers = GRAPHS[graph]
    rows, (edges, longest, slots) = len(src), largest
    costs = registry.costs_of(engine)
    limit = budget.Budget(2**30, function, work_of(function), costs)
    held = 2**30 - limit.allowed(rows, numbers)
    chunk = (costs.row + model.ROW_CAST) * rows  # all rows, whose ids are cast
    made = limit.collecting(4 * [edges], longest)
    return {
        "order": costs.order * numbers + chunk,
        "cut": model.RANK * numbers + made + chunk,
        "count": held + costs.task(edges, longest, limit.sides, slots),
    }


def outside(size, dtype):
    """Zeros that are not taken for memory of the card: no array of NumPy's own."""
    return np.frombuffer(mmap.mmap(-1, max(size * np.dtype(dtype).itemsize, 1)), dtype, size)


class OutsideCopies(device_slots.HostCopies):
    """Pinned memory is no memory of the card."""

    def host(self, size, dtype):
        return outside(size, dtype)


def _watched(call, edges):
    call(edges)  # what is compiled is compiled before
    found, names = {}, [None]

    def mark(name):
        height = tracemalloc.get_traced_memory()[1] - before
        found[names[-1]] = max(found.get(names[-1], 0), height)
        names.append(name)
        tracemalloc.reset_peak()

    class Noted(_progress.Report):
        def stage(self, name, progress=None):
            mark(NAMED.get(name, "columns"))
            super().stage(name, progress)

        def end(self):
            mark("columns")
            super().end()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_progress, "Report", Noted)
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            call(edges)
            mark(None)
        finally:
            tracemalloc.stop()
    return found
