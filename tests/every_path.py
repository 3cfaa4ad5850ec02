"""Every analytic on every path, compared with its definition: derived from the records.

A new analytic is tested here without a change, if its options are among `OPTIONS`.
"""

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from checks import by_triad
from emulator_support import Numpy

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.analytics.similarity import MEASURES
from rapids_tc.engines.as_of import COLUMNS as AS_OF
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.graphs.edge_graph import POOLED
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import ANALYTICS, Needs, Result, row_columns, vertex_columns


def frame_of(seed=0):
    """A graph with hubs, repeats, both directions, self loops, and a vertex of a loop alone."""
    rng = np.random.default_rng(seed)
    src = np.minimum(rng.integers(0, 20, 90), rng.integers(0, 20, 90))
    dst = rng.integers(0, 20, 90)
    frame = pd.DataFrame({"src": [*src, 50], "dst": [*dst, 50]})
    kinds = np.array(["mail", "call", "visit"])[frame.index % 3]
    frame = frame.assign(kind=kinds, trust=(-1.5) ** (frame.index % 7), t=frame.index % 13)
    return frame.assign(w=1.0 + frame.index % 5)


FRAME = frame_of()
TYPES = {int(v): "ab"[v % 2] for v in {*FRAME["src"], *FRAME["dst"]}}  # of vertices
ROWS = list(zip(FRAME["src"].tolist(), FRAME["dst"].tolist(), strict=True))
PAIRS = pd.DataFrame({"src": [0, 3, 5, 5, 50, 2, 1], "dst": [3, 0, 5, 50, 1, 9, 0]})
IDS = {"source": "src", "destination": "dst"}

SERVED = tuple(  # in blocks on clusters, too
    name for name, column in row_columns().items() if not column.needs & Needs.IN_MEMORY
)
OF_ROWS = [  # sets of columns
    tuple(row_columns()), SERVED, ("jaccard", "trussness"), ("squares", "triangles"), AS_OF,
]  # fmt: skip
SERVED_VERTICES = tuple(
    name for name, column in vertex_columns().items() if not column.needs & Needs.IN_MEMORY
)
OF_VERTICES = [
    tuple(vertex_columns()), SERVED_VERTICES, ("closure", "degree"),
    ("effective_size", "clustering"), ("squares", "square_clustering"),
    ("effective_size", "constraint"),
]  # fmt: skip
OF_TIES = OF_VERTICES[-1]  # which take weights and directions

# By option: the values that are tried, the first of them beside those of other options.
OPTIONS = {
    "at_least": [1, 3],
    "aggregate": ["last", "first", "sum", "mean", "min", "max"],
    "bipartite": [False, True],
    "colors": [1],
    "columns": [("triangles",), *OF_ROWS, *OF_VERTICES],
    "confidence": [0.95],
    "connected": ["triangles", "edges"],
    "count_zeros": [True, False],
    "directed": [False, True],
    "edge_type": ["kind"],
    "k": [3, 2, 4, 5, 6, "max"],
    "max_rows": [10**4, 7, None],
    "exclude_neighbors": [False, True],
    "mean": ["arithmetic", "geometric", "max", "min"],
    "force": [False],
    "measure": [*MEASURES, "common_neighbors", "newman", "ratio", None],
    "most_degree": [None, 8],
    "origin": ["start", -2],
    "out": [None],
    "pairs": [None, PAIRS],
    "per": [None, "vertex", "edge"],
    "seed": [3],
    "side": ["source", "destination"],
    "sign": ["trust"],
    "step": [None, 3],
    "time": ["t"],
    "top": [10, 2, 40],
    "vertex_type": [None, TYPES],
    "vertices": [None, [3, 50, 3, 0, 0]],
    "weight": ["w", None],
    "where": [
        None,
        tc.Triangles(edge_type="kind", types=("mail", "call", None), sign="trust", balanced=False),
        tc.Triangles(time="t", within=3, edge_type="kind", types=("call", "mail", "call")),
        tc.Triangles(
            time="t",
            within=6,
            vertex_type=TYPES,
            types=("a", None, "b"),
            sign="trust",
            balanced=True,
        ),
        tc.Triangles(time="t", within=5, sign="trust", balanced=True, aggregate="sum"),
    ],
    "window": [None, 5],
    "within": [None, 4],
}


def choices(record):
    """What to call an analytic with: each option over its values, beside the first of others."""
    unknown = record.defaults.keys() - OPTIONS.keys()
    assert not unknown, f"say in OPTIONS of tests/every_path.py what to try for {sorted(unknown)}"
    first = {name: OPTIONS[name][0] for name in record.defaults}
    yield together(first)
    for name in record.defaults:
        for value in OPTIONS[name][1:]:
            if value is None and record.defaults[name] is Parameter.empty:
                continue
            own = {**first, name: value}
            if own.get("vertex_type"):
                own["edge_type"] = None
            if value not in REFUSED.get((record.name, name), ()):
                yield together(own)
    if record.defaults.keys() >= {"aggregate", "directed"}:  # of which each has its own rows
        beside = "per" if "per" in record.defaults else "aggregate"
        for value in OPTIONS[beside][1:]:
            yield together({**first, beside: value, "directed": True})


REFUSED = {  # by function and option: values of `OPTIONS` that others take
    ("list_triangles", "max_rows"): (7,),
    ("triangles_by_type", "aggregate"): ("sum", "mean", "min", "max"),
    ("balance", "per"): ("edge",),
    ("similarity", "measure"): ("common_neighbors", "newman", "ratio", None),
    ("most_similar", "measure"): ("forman", "edge_clustering", "newman", "ratio", None),
    **{
        (name, "measure"): ("forman", "edge_clustering", "common_neighbors")
        for name in ("project", "iter_project")
    },
    ("annotate", "columns"): OF_VERTICES,
    ("annotate_vertices", "columns"): OF_ROWS,
    **{(name, "k"): (2, 6, "max") for name in ("cliques", "vertex_cliques", "edge_cliques")},
}


def together(own):
    """Options with what they need beside them: no time without within, no aggregate without weight.

    A step, or an origin, needs a window, and directions take the place of types.
    """
    own = with_weights_served(own)
    if own.get("weight", "") is None:
        own = {**own, "aggregate": None}
        own |= {"mean": "arithmetic"} if "mean" in own else {}
    if own.get("columns") == AS_OF:
        own = {**own, "time": "t", "within": own["within"] or OPTIONS["within"][1]}
    if own.get("within", "") is None:
        own = {**own, "time": None}
    if own.get("where") is not None:
        alone = {"weight": None, "aggregate": None, "directed": False, "mean": "arithmetic"}
        own |= {name: value for name, value in alone.items() if name in own}
    if own.get("directed") and "edge_type" in own:  # which stands for types
        own = {**own, "edge_type": None, "aggregate": None}
    if own.get("step") is not None or own.get("origin", "start") != "start":
        own = {**own, "window": OPTIONS["window"][1]}
    return own


def with_weights_served(own):
    """Options without weights where a function does without them."""
    of_vertices = {"columns", "directed"} <= own.keys()
    if of_vertices and own["directed"]:
        own = {**own, "columns": OF_TIES}
    refused = (
        (of_vertices and own["columns"] != OF_TIES)
        or ("mean" in own and own["directed"])
        or own.get("pairs") is not None
        or ("weight" in own and own.get("measure", "jaccard") != "jaccard")
    )
    return {**own, "weight": None} if refused and "weight" in own else own


def names_vertices(own):
    """Whether options name vertices, each by one value: for ids of one column alone."""
    of_types = own.get("vertex_type") or getattr(own.get("where"), "vertex_type", None)
    return own.get("vertices") is not None or of_types is not None


CALLS = [(name, own) for name, record in ANALYTICS.items() for own in choices(record)]
NAMES = [f"{name} {[*own.values()]}" for name, own in CALLS]


def share(way=0, ways=1):
    """Calls, and what they are shown as, for one of several ways that have all calls together.

    Each has the first call of every function, and the others in turn.
    """
    seen = set()
    for turn, ((name, own), shown) in enumerate(zip(CALLS, NAMES, strict=True)):
        if name not in seen or turn % ways == way:
            yield (name, own), shown
        seen.add(name)


# What is right ------------------------------------------------------------------------------------


def expected(name, own, frame=FRAME):
    """The answer by the definition, as plain Python values."""
    rows = list(zip(frame["src"].tolist(), frame["dst"].tolist(), strict=True))
    record, own = ANALYTICS[name], dict(own)
    if own.get("columns") == AS_OF:
        timed = list(frame[["src", "dst", "t"]].itertuples(index=False, name=None))
        return reference.as_of(timed, AS_OF, within=own["within"])
    definition = getattr(reference, name)
    vertices, where = own.pop("vertices", None), kind_of(own)
    if (pairs := own.pop("pairs", None)) is not None:
        pairs = list(pairs.itertuples(index=False, name=None))
        values = reference.similarity(rows, own["measure"], pairs)
        return [values[pair] for pair in pairs]
    if is_bipartite := own.pop("bipartite", False):
        rows = reference.sided(rows)
    timed = list(frame[["src", "dst", "t"]].itertuples(index=False, name=None))
    if own.pop("time", None) is not None:
        return definition(timed, **own)
    if where is not None:
        own.pop("directed", None)
        triangles, of = of_kind(where, frame), getattr(reference, f"{name}_of")
        definition = lambda rows, **own: of(triangles, rows, **own)  # noqa: E731
    for ignored in ("max_rows", "confidence", "seed", "out", "force"):
        own.pop(ignored, None)
    if name in ("triangles_by_type", "balance"):
        column = own.pop("edge_type", None) or own.pop("sign", "kind")
        valued = list(frame[["src", "dst", column]].itertuples(index=False, name=None))
        return definition(valued, **own)
    if record.needs & Needs.SAMPLE:  # of one colour: all edges are in the sample
        return float(reference.count(rows))
    aggregate = own.pop("aggregate", None)
    if own.pop("weight", None) is not None:
        own.pop("pairs", None)
        weighted = list(frame[["src", "dst", "w"]].itertuples(index=False, name=None))
        directed = "directed_" * own.pop("directed", False)
        of_weights = getattr(reference, f"{directed}weighted_{name}", definition)
        if record.result is Result.VALUE and vertices is not None:
            own["among"] = vertices
        values = of_weights(weighted, aggregate=aggregate, **own)
    elif record.result in (Result.VALUE, Result.TRIANGLES, Result.PAIRS):
        own.pop("mean", None)
        if vertices is not None:
            own["among"] = vertices
        return definition(rows, **own)
    elif own.get("k") == "max":
        number = reference.trussness(rows)
        if where is not None:
            number = reference.trussness_of(triangles, rows)
        values = definition(rows, max(number.values(), default=2))
    else:
        values = definition(rows, **own)
    if record.result is Result.VERTICES and is_bipartite:
        sides = ("source", "destination")
        return [(v, sides[side], value) for (side, v), value in sorted(values.items())]
    if record.result is Result.VERTICES:
        chosen = sorted(values) if vertices is None else vertices
        several = isinstance(next(iter(values.values())), tuple)
        return [(v, *values[v]) if several else (v, values[v]) for v in chosen]
    if record.result is Result.COLUMN:
        return reference.by_row(rows, values)
    if record.result is Result.COLUMNS:
        absent = {column: known.absent for column, known in row_columns().items()}
        return {
            column: reference.by_row(rows, by_edge, absent.get(column, 0))
            for column, by_edge in values.items()
        }
    if isinstance(values, list) and record.result is Result.COMMUNITIES:
        return values
    if record.result in (Result.ROWS, Result.COMMUNITIES):
        first = {}
        for place, (u, v) in enumerate(rows):
            first.setdefault((min(u, v), max(u, v)), place)
        if record.result is Result.COMMUNITIES:
            return sorted((first[edge], number) for edge, number in values.items())
        return sorted(first[edge] for edge in values)
    return values  # edges and triangles are listed


def kind_of(own):
    """The kind of triangles that options ask for, which are taken out; None for all."""
    where = own.pop("where", None)
    if (within := own.pop("within", None)) is None:
        return where
    return tc.Triangles(time=own.pop("time"), within=within)


def of_kind(where, frame):
    """The triangles of a kind."""
    read = {"time": where.time, "type": where.edge_type, "sign": where.sign}
    columns = {name: frame[label].tolist() for name, label in read.items() if label is not None}
    given = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    values = given or [{}] * len(frame)
    rows = zip(frame["src"].tolist(), frame["dst"].tolist(), values, strict=True)
    conditions = ("within", "types", "vertex_type", "balanced", "aggregate")
    return reference.list_triangles_where(
        list(rows), **{name: getattr(where, name) for name in conditions}
    )


def plain(name, found):
    """An answer as plain Python values."""
    record = ANALYTICS[name]
    if isinstance(found, PartitionedFrame):
        found = pd.concat(found.partitions)
    if record.needs & Needs.SAMPLE:
        return float(found.value)
    if record.result is Result.VALUE:
        return by_triad(found) if isinstance(found, pd.DataFrame) else found
    if record.result is Result.COLUMN:
        return found.tolist()
    if record.result is Result.COLUMNS:
        return {c: found[c].tolist() for c in found.columns if c not in FRAME.columns}
    if record.result is Result.ROWS:
        return found.index.tolist()
    if record.result is Result.COMMUNITIES or "parent" in getattr(found, "columns", ()):
        return plain_communities(found)
    frames = [found] if isinstance(found, pd.DataFrame) else list(found)
    rows = [row for frame in frames for row in frame.itertuples(index=False, name=None)]
    return sorted(rows) if record.result is Result.TRIANGLES else rows


def plain_communities(found):
    """Rows with their communities, or the hierarchy, as plain Python values."""
    if "parent" not in found:
        return list(zip(found.index.tolist(), found["community"].tolist(), strict=True))
    return list(found.astype("object").replace({pd.NA: None}).itertuples(index=False, name=None))


def assert_right(name, own, found):
    """The answer is the definition's, and its columns have the dtypes of the record."""
    right, values = expected(name, own), plain(name, found)
    if isinstance(right, dict):
        assert values.keys() == right.keys()
        values, right = ([pairs[key] for key in right] for pairs in (values, right))
        for one, other in zip(values, right, strict=True):
            assert one == pytest.approx(other, abs=1e-12)
    elif isinstance(right, list) and right and isinstance(right[0], tuple):
        assert len(values) == len(right)
        for one, other in zip(values, right, strict=True):
            assert one == pytest.approx(other, abs=1e-12, nan_ok=True)
    else:
        assert values == pytest.approx(right, abs=1e-12, nan_ok=True)
    if ANALYTICS[name].result is Result.COLUMNS:
        assert_dtypes(found, row_columns())
    elif "columns" in own:
        assert_dtypes(found, vertex_columns())


def assert_dtypes(found, columns):
    """The columns of a frame have the dtypes of their records."""
    frame = found.partitions[0] if isinstance(found, PartitionedFrame) else found
    for column, known in columns.items():
        assert column not in frame or frame[column].dtype == known.dtype


# Paths --------------------------------------------------------------------------------------------


def in_parts(frame, partitions):
    """A frame in so many partitions of this process."""
    cuts = np.linspace(0, len(frame), partitions + 1).astype(int)
    return PartitionedFrame([frame.iloc[a:b] for a, b in pairwise(cuts)])


@dataclass(frozen=True)
class Path:
    """A way to an answer: what stands for the edges, and how the graph is cut."""

    partitions: int = 0
    layout: BlockLayout | None = None
    prepared: bool = False

    @contextmanager
    def edges(self, frame=FRAME):
        with use_layout(self.layout) if self.layout else nullcontext():
            if self.partitions:
                yield in_parts(frame, self.partitions)
            else:
                yield tc.Graph(frame, **IDS) if self.prepared else frame

    def call(self, name, own, frame=FRAME):
        """Ask an analytic, given as users give it."""
        own, record = dict(own), ANALYTICS[name]
        star = own.pop("columns", ())
        columns = {} if self.prepared else IDS
        with self.edges(frame) as edges:
            found = record.call(edges, *star, **own, **columns)
            return list(found) if record.by_frames else found


PATHS = {
    "whole": Path(),
    "prepared": Path(prepared=True),
    **{f"{n} x {n} blocks": Path(layout=BlockLayout(n, peel_below=0)) for n in (1, 2, 3)},
    "blocks, the rest in memory": Path(layout=BlockLayout(2, peel_below=30)),
    **{f"{parts} partitions": Path(partitions=parts) for parts in (1, 7)},
    "7 partitions, 2 x 2 blocks": Path(7, BlockLayout(2, 1, peel_below=20)),
    "7 partitions, 3 x 3 blocks to the end": Path(7, BlockLayout(3, 2, peel_below=0)),
}


def error_of(name, own, path):
    """The error with which a call is refused on a path; None if it is answered."""
    if path.prepared and ANALYTICS[name].is_bipartite(own):
        return ValueError(POOLED.format(name))
    if not path.partitions:
        return None
    record = ANALYTICS[name]
    return record.local(own, "PartitionedFrame") or in_blocks(name, own, path.layout)


def in_blocks(name, own, layout):
    """The error of a call that counts on a whole graph, if a layout cuts it; else None."""
    record = ANALYTICS[name]
    cut = layout is not None and layout.n > 1
    if not cut or not record.work(record.check(own)).needs & Needs.IN_ONE_BLOCK:
        return None
    return tc.CapacityError(
        f"{name}, as it is called, counts a whole graph on each worker, and this one is cut into "
        f"{layout.n} x {layout.n} blocks: give the frame in place of its Graph, or leave out "
        "vertices of one neighbor"
    )


def check(name, own, path):
    """An analytic answers on a path as its definition does, or refuses as its record does."""
    if (refusal := error_of(name, own, path)) is not None:
        with pytest.raises(type(refusal)) as caught:
            path.call(name, own)
        assert str(caught.value) == str(refusal)
    else:
        assert_right(name, own, path.call(name, own))


ENGINES = {
    "cpu": nullcontext,
    "emulated cuda": partial(testing.host_engine, xp=Numpy(None)),
}
