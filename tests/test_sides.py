"""Ids of bipartite frames: the side is a part of the id, so that user 5 is not item 5."""

import numpy as np
import pandas as pd
import pytest

from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation.edge_columns import edge_columns
from rapids_tc.preparation.numbering import number_edges

FRAMES = {
    "integers of one range": ([5, 0, 5, 3], [5, 5, 3, 0]),
    "small integers": (np.array([5, 0, 5, 3], "int8"), np.array([5, 5, 3, 0], "uint8")),
    "far integers": ([2**60, 7, 2**60, 9], [7, 7, -(2**61), 9]),
    "text": (["b", "a", "b", "c"], ["b", "b", "c", "a"]),
    "two kinds": ([5, 0, 5, 3], ["5", "5", "x", "0"]),
    "none": (np.zeros(0, "int64"), np.zeros(0, "int64")),
}


def numbered(frame, **columns):
    opened, backend = open_frame(frame, "cpu")
    labels = edge_columns(backend.adapter.labels(opened), **columns, bipartite=True)
    return number_edges(opened, labels, backend)


def named(ids, numbers, role="vertex"):
    """Some ids as rows of plain values."""
    return list(zip(*(c.tolist() for c in ids.columns([role], [numbers]).values()), strict=True))


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_equal_ids_of_both_columns_differ(name, several, grouped):
    source, destination = FRAMES[name]
    frame = pd.DataFrame({"a": source, "b": destination})
    columns = {"source": "a", "destination": "b"}
    if several:
        frame = frame.assign(a2=frame["b"], b2=frame["a"])
        columns = {"source": ["a", "a2"], "destination": ["b", "b2"]}
    if grouped:
        frame = frame.assign(day=["mon", "tue", "mon", "mon"][: len(frame)])
        columns["by"] = "day"
    before = frame.copy()
    edges = numbered(frame, **columns)
    ids, ends = edges.ids, [np.asarray(end).astype("int64") for end in edges.ends]
    sides = []
    for side, end, label in (("source", ends[0], "a"), ("destination", ends[1], "b")):
        assert (ids.is_destination(end) == (side == "destination")).all()
        of_rows = frame[["day"] * grouped + [label, f"{label}2"][: 1 + several]]
        right = list(of_rows.itertuples(index=False, name=None))
        assert named(ids.of_side(side), end) == right
        sides.append(dict(zip(end.tolist(), right, strict=True)))
        in_order = [sides[-1][number] for number in sorted(sides[-1])]  # numbers follow values
        assert in_order == sorted(set(right))
    assert not sides[0].keys() & sides[1].keys()
    both = np.concatenate(ends)
    of_both = [(n in sides[1], n) for n in both.tolist()]
    assert named(ids, both) == [(*sides[d][n], ("source", "destination")[d]) for d, n in of_both]
    assert both.max(initial=-1) < ids.size and frame.equals(before)
