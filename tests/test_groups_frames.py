"""Groups, and ids of several columns, in the frames of every library."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame

SIZE = 120
random = np.random.default_rng(5)
ROWS = random.integers(0, 9, (SIZE, 2))
GROUPS = {
    "int": pd.Series(random.integers(-2, 3, SIZE)),
    "text": pd.Series(random.choice(["mon", "tue", "", "é"], SIZE)),
    "bool": pd.Series(random.random(SIZE) < 0.5),
    "float": pd.Series(random.choice([-1.5, 0.25, 3.0], SIZE)),
    "date": pd.Series(pd.to_datetime(random.choice(["2026-01-01", "2025-06-01"], SIZE))),
    "category": pd.Series(pd.Categorical(random.choice(list("ba"), SIZE), categories=list("abc"))),
}
IDS = {"int": lambda ids: ids, "text": lambda ids: [f"v{i}" for i in ids]}


def frame_of(kind, ids="int"):
    ends = {name: IDS[ids](ROWS[:, i]) for i, name in enumerate(["src", "dst"])}
    return pd.DataFrame({"g": GROUPS[kind], **ends})


def apart(frame):
    """The rows of each group, and the labels of these rows."""
    for group, own in frame.groupby("g", observed=True):
        yield group, list(zip(own["src"], own["dst"], strict=True)), own.index


def tuples(backend, frame):
    return list(backend.to_pandas(frame).itertuples(index=False, name=None))


ANY_GROUP = pytest.mark.parametrize("kind", GROUPS)
ANY_ID = pytest.mark.parametrize("ids", IDS)


@ANY_GROUP
@ANY_ID
def test_values_by_group(backend, kind, ids):
    frame = frame_of(kind, ids)
    edges = backend.frame(frame)
    for name in ("count", "transitivity", "average_clustering"):
        found = backend.to_pandas(getattr(tc, name)(edges, by="g"))
        right = {group: getattr(reference, name)(rows) for group, rows, _ in apart(frame)}
        assert found["g"].tolist() == list(right)
        assert found.iloc[:, 1].tolist() == pytest.approx([*right.values()])
    triads = backend.to_pandas(tc.triad_counts(edges, by="g")).set_index("g")
    for group, rows, _ in apart(frame):
        assert triads.loc[group].to_dict() == reference.triad_counts(rows)


@ANY_GROUP
@ANY_ID
def test_frames_by_group(backend, kind, ids):
    frame = frame_of(kind, ids)
    edges, parts = backend.frame(frame), list(apart(frame))
    for name, right in {
        "vertex_triangles": lambda rows: sorted(reference.vertex_triangles(rows).items()),
        "clustering": lambda rows: sorted(reference.clustering(rows).items()),
        "simple_edges": reference.simple_edges,
        "list_triangles": reference.list_triangles,
    }.items():
        found = tuples(backend, getattr(tc, name)(edges, by="g"))
        expected = [(group, *row) for group, rows, _ in parts for row in right(rows)]
        assert [row[:-1] for row in found] == [row[:-1] for row in expected]
        last = [row[-1] for row in expected]
        close = last if ids == "text" and isinstance(last[0], str) else pytest.approx(last)
        assert [row[-1] for row in found] == close


@ANY_GROUP
def test_columns_by_group(backend, kind):
    frame = frame_of(kind).set_index(np.arange(SIZE) * 3)
    edges = backend.frame(frame)
    triangles, jaccard, truss = (pd.Series(0.0, frame.index) for _ in range(3))
    kept = []
    for _, rows, index in apart(frame):
        numbers = reference.trussness(rows)
        triangles[index] = reference.by_row(rows, reference.edge_triangles(rows))
        jaccard[index] = reference.by_row(rows, reference.similarity(rows, "jaccard"))
        truss[index] = reference.by_row(rows, numbers)
        largest, seen = max(numbers.values()), set()
        for (u, v), label in zip(rows, index, strict=True):
            edge = min(u, v), max(u, v)
            if numbers.get(edge) == largest and edge not in seen:
                seen.add(edge)  # the first row of an edge stands for it
                kept.append(label)
    found = backend.to_pandas(tc.annotate(edges, "triangles", "jaccard", "trussness", by="g"))
    assert found.index.tolist() == frame.index.tolist()
    for name, right in (("triangles", triangles), ("jaccard", jaccard), ("trussness", truss)):
        assert found[name].tolist() == pytest.approx(right.tolist())
    assert backend.to_pandas(tc.edge_triangles(edges, by="g")).tolist() == triangles.tolist()
    rows = backend.to_pandas(tc.k_truss(edges, "max", by="g"))
    assert rows.index.tolist() == sorted(kept)


def test_a_graph_keeps_its_groups(backend):
    frame = frame_of("text", "text")
    graph = tc.Graph(backend.frame(frame), by="g")
    right = [(group, reference.count(rows)) for group, rows, _ in apart(frame)]
    assert tuples(backend, graph.count()) == right
    assert tuples(backend, tc.count(graph)) == right


def test_ids_and_groups_of_several_columns(backend):
    frame = frame_of("int").assign(port=GROUPS["text"], port2=GROUPS["text"][::-1].to_numpy())
    names = {"source": ["src", "port"], "destination": ["dst", "port2"], "by": ["g", "h"]}
    frame["h"] = GROUPS["bool"]
    found = tuples(backend, tc.vertex_triangles(backend.frame(frame), **names))
    right = []
    for group, own in frame.groupby(["g", "h"]):
        ends = [zip(own[a], own[b], strict=True) for a, b in (("src", "port"), ("dst", "port2"))]
        counts = reference.vertex_triangles(list(zip(*ends, strict=True)))
        right += [(*group, *vertex, triangles) for vertex, triangles in sorted(counts.items())]
    assert found == right


def test_missing_groups_are_refused(backend):
    frame = backend.frame(frame_of("text").assign(g=[None, *["a"] * (SIZE - 1)]))
    with pytest.raises(tc.NullIdError, match="'g'"):
        tc.count(frame, by="g")


REFUSED = {
    "struct": pa.struct([("a", pa.int64())]), "list": pa.list_(pa.int64()),
    "dictionary": pa.dictionary(pa.int8(), pa.string()),
}  # fmt: skip


@pytest.mark.parametrize("column", [*REFUSED, "longdouble", "lists of Python"])
def test_columns_that_pandas_cannot_group(column):
    values = {"struct": [{"a": 1}] * 3, "list": [[1]] * 3, "dictionary": [*"aba"]}.get(column)
    if column in REFUSED:
        x = pd.array(values, dtype=pd.ArrowDtype(REFUSED[column]))
    else:
        x = np.arange(3).astype("longdouble") if column == "longdouble" else [[1], [2], [3]]
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "x": x})
    ids = {"source": "src", "destination": "dst"}
    for edges in (frame, PartitionedFrame([frame.iloc[:2], frame.iloc[2:]])):
        with pytest.raises(tc.IdTypeError, match=r"column 'x'.*; convert the column to text"):
            tc.count(edges, by="x", **ids)
        with pytest.raises(ValueError, match=r"edge_type='x' holds.*; convert the column to text"):
            tc.triangles_by_type(edges, edge_type="x", **ids)
        if column != "longdouble":  # whole floats are ids
            with pytest.raises(tc.IdTypeError, match=r"'x' has dtype .* cannot name vertices"):
                tc.count(edges, source="src", destination="x")
