"""Kinds of triangles, and rows of multigraphs with times, types and signs."""

from contextlib import nullcontext

import pandas as pd
import reference
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

# Few vertices, times and types: many repeats, ties, loops, and rows of both directions.
ROW = st.fixed_dictionaries(
    {"time": st.integers(0, 8), "type": st.sampled_from("abc"), "sign": st.sampled_from((-2, 1))}
)
VERTEX = st.integers(0, 5)
ROWS = st.lists(st.tuples(VERTEX, VERTEX, ROW), max_size=30)
TYPES = {v: "ab"[v % 2] for v in range(12)}
THREE = st.lists(st.sampled_from(("a", "b", None, "z")), min_size=3, max_size=3).filter(any)


@st.composite
def kinds(draw):
    """Conditions: one, two or three of them."""
    chosen = draw(st.lists(st.sampled_from(("time", "types", "sign")), min_size=1, unique=True))
    given = {}
    if "time" in chosen:
        given |= {"time": "time", "within": draw(st.integers(0, 9))}
    if "types" in chosen:
        of = draw(st.sampled_from(({"edge_type": "type"}, {"vertex_type": TYPES})))
        given |= {"types": tuple(draw(THREE)), **of}
    if "sign" in chosen:
        given |= {"sign": "sign", "balanced": draw(st.booleans())}
    if chosen != ["time"] and draw(st.booleans()):
        accepted = ("first", "last") + ("sum", "min") * ("types" not in chosen)
        given["aggregate"] = draw(st.sampled_from(accepted))
    return tc.Triangles(**given)


def frame_of(rows):
    """The rows as a frame; a sum of signs may not be zero."""
    columns = ("time", "type", "sign")
    frame = pd.DataFrame(
        [(u, v, *(row[name] for name in columns)) for u, v, row in rows],
        columns=["src", "dst", *columns],
    )
    return frame.astype({"src": "int64", "dst": "int64", "time": "int64", "sign": "int64"})


def by_definition(rows, where):
    conditions = ("within", "types", "vertex_type", "balanced", "aggregate")
    given = {name: getattr(where, name) for name in conditions}
    return reference.list_triangles_where(rows, **given)


OF_EDGES = {"edge_type": "type", "types": ("a", "b", "b")}
SIGNS, TIMES = {"sign": "sign", "balanced": False}, {"time": "time", "within": 4}


def ways(frame):
    """The rows as a frame, prepared, and cut in blocks, on one machine and on a cluster."""
    yield frame, nullcontext()
    yield tc.Graph(frame), nullcontext()
    if len(frame):
        yield frame, use_layout(BlockLayout(3))
        third = len(frame) // 3
        parts = [frame.iloc[:third], frame.iloc[third:third], frame.iloc[third:]]
        yield PartitionedFrame(parts), use_layout(BlockLayout(2, 2))


def rows_of(backend, found):
    """The rows of a frame, or of a partitioned one."""
    parts = found.partitions if isinstance(found, PartitionedFrame) else [found]
    return [
        row for part in parts for row in backend.to_pandas(part).itertuples(index=False, name=None)
    ]
