"""Ids made of several columns: graphs of tuples, against the same graph of plain ids."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import reference
from every_path import Path
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.frames.backend import open_frame
from rapids_tc.plan.block_layout import BlockLayout
from rapids_tc.preparation import ids, numbering
from rapids_tc.preparation.ids import MixedRadix
from rapids_tc.preparation.numbering import compact

pytestmark = pytest.mark.cpu_only

IDS = {"source": ["ip", "port"], "destination": ["ip2", "port2"]}
KINDS = {
    "integers": lambda n: n,
    "far apart": lambda n: n * 10**12,
    "strings": lambda n: np.array([f"10.0.0.{i}" for i in n], dtype=object),
    "categories": lambda n: pd.Categorical([f"h{i}" for i in n], [f"h{i}" for i in range(9)]),
}
ENDS = st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=40)


def frame_of(rows, kind="integers"):
    numbers = np.array(rows)
    ips = KINDS[kind](numbers[:, 0]), KINDS[kind](numbers[:, 2])
    return pd.DataFrame(
        {"ip": ips[0], "port": numbers[:, 1], "ip2": ips[1], "port2": numbers[:, 3]}
    )


def tuples(frame, *columns):
    return list(zip(*(frame[column].tolist() for column in columns), strict=True))


def ends(frame):
    sides = tuples(frame, "ip", "port"), tuples(frame, "ip2", "port2")
    return list(zip(*sides, strict=True))


def names(role):
    return f"{role}_ip", f"{role}_port"


def whole(found):
    """A frame of partitions in one."""
    return pd.concat(found.partitions) if isinstance(found, PartitionedFrame) else found


PATHS = [Path(), Path(layout=BlockLayout(2)), Path(3), Path(4, BlockLayout(2))]


@given(ENDS, st.sampled_from(list(KINDS)), st.sampled_from(PATHS))
@settings(max_examples=40)
def test_graphs_of_pairs(rows, kind, path):
    frame = frame_of(rows, kind)
    right = ends(frame)
    with path.edges(frame) as edges:
        assert tc.count(edges, **IDS) == reference.count(right)
        vertices = whole(tc.vertex_triangles(edges, **IDS))
        simple = whole(tc.simple_edges(edges, **IDS))
        sides = whole(tc.annotate(edges, "triangles", **IDS))["triangles"]
    listed = tc.list_triangles(frame, **IDS)
    assert list(vertices.columns) == ["vertex_ip", "vertex_port", "triangles"]
    assert vertices["vertex_ip"].dtype == frame["ip"].dtype
    corners = reference.vertex_triangles(right)
    assert tuples(vertices, *names("vertex")) == sorted(corners)
    assert vertices["triangles"].tolist() == [corners[v] for v in sorted(corners)]
    assert list(simple.columns) == ["src_ip", "src_port", "dst_ip", "dst_port"]
    pairs = zip(tuples(simple, *names("src")), tuples(simple, *names("dst")), strict=True)
    assert list(pairs) == reference.simple_edges(right)
    assert sides.tolist() == reference.by_row(right, reference.edge_triangles(right))
    corners = (tuples(listed, *names(role)) for role in "uvw")
    assert list(zip(*corners, strict=True)) == reference.list_triangles(right)


@given(ENDS, st.sampled_from(PATHS))
@settings(max_examples=25)
def test_groups_of_pairs(rows, path):
    frame = frame_of(rows).assign(day=lambda f: f.index % 3)
    with path.edges(frame) as edges:
        found = whole(tc.vertex_triangles(edges, by="day", **IDS))
    assert list(found.columns) == ["day", "vertex_ip", "vertex_port", "triangles"]
    right = [
        (day, *vertex, triangles)
        for day, own in frame.groupby("day")
        for vertex, triangles in sorted(reference.vertex_triangles(ends(own)).items())
    ]
    assert list(found.itertuples(index=False, name=None)) == right


@given(ENDS, st.integers(2, 40))
@settings(max_examples=8)
def test_keys_too_large_for_64_bits_are_folded(rows, most):
    """Three parts and a group, in a number system that has no room for them."""
    frame = frame_of(rows).assign(a=lambda f: f["port"] % 2, b=lambda f: f["port2"] % 2, day=1)
    columns = {"source": ["ip", "port", "a"], "destination": ["ip2", "port2", "b"], "by": "day"}
    right = tc.vertex_triangles(frame, **columns)
    for path in PATHS:
        with pytest.MonkeyPatch.context() as patch, path.edges(frame) as edges:
            patch.setattr(ids, "MOST", most)
            patch.setattr(numbering, "MARKED", 0)
            pd.testing.assert_frame_equal(whole(tc.vertex_triangles(edges, **columns)), right)
            named = right[["vertex_ip", "vertex_port", "vertex_a"]].iloc[::-1]
            chosen = whole(tc.vertex_triangles(edges, vertices=named, **columns))
            assert chosen["triangles"].tolist() == right["triangles"].tolist()[::-1]


def test_parts_whose_keys_exceed_64_bits():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 2**62, (3, 3000))
    parts = {f"s{i}": wide[i][rng.integers(0, 3000, 9000)] for i in range(3)}
    parts |= {f"d{i}": wide[i][rng.integers(0, 3000, 9000)] for i in range(3)}
    frame = pd.DataFrame(parts)
    found = tc.simple_edges(frame, source=["s0", "s1", "s2"], destination=["d0", "d1", "d2"])
    right = {
        tuple(sorted((s, d)))
        for s, d in zip(
            tuples(frame, "s0", "s1", "s2"), tuples(frame, "d0", "d1", "d2"), strict=True
        )
    }
    assert len(found) == len(right)
    ends_found = (
        tuples(found, "src_s0", "src_s1", "src_s2"),
        tuples(found, "dst_s0", "dst_s1", "dst_s2"),
    )
    assert set(zip(*ends_found, strict=True)) == right


ROWS = [(0, 1, 1, 1), (1, 1, 2, 1), (2, 1, 0, 1), (2, 1, 2, 2)]


def test_vertices_are_named_by_a_frame():
    frame = frame_of(ROWS, "strings")
    named = pd.DataFrame(
        {"vertex_port": [2, 1, 2], "vertex_ip": ["10.0.0.2", "10.0.0.0", "10.0.0.2"]}
    )
    found = tc.vertex_triangles(frame, vertices=named, **IDS)
    assert tuples(found, "vertex_ip", "vertex_port", "triangles") == [
        ("10.0.0.2", 2, 0),
        ("10.0.0.0", 1, 1),
        ("10.0.0.2", 2, 0),
    ]
    short = named.set_axis(["port", "ip"], axis=1)
    pd.testing.assert_frame_equal(tc.vertex_triangles(frame, vertices=short, **IDS), found)
    assert tc.average_clustering(frame, vertices=short, **IDS) == 0.5
    for port, ip in ((9, "10.0.0.0"), (2, "10.0.0.0"), (1, "x")):
        unknown = pd.DataFrame({"ip": [ip], "port": [port]})
        with pytest.raises(ValueError, match=r"1 of vertices= not in the graph: \('"):
            tc.vertex_triangles(frame, vertices=unknown, **IDS)
    with pytest.raises(TypeError, match="a frame with the columns 'vertex_ip', 'vertex_port'"):
        tc.vertex_triangles(frame, vertices=[1], **IDS)
    with pytest.raises(tc.ColumnNotFoundError, match="no column 'vertex_port'"):
        tc.vertex_triangles(frame, vertices=named[["vertex_ip"]], **IDS)
    with pytest.raises(tc.IdTypeError, match="vertices= has dtype int64"):
        tc.vertex_triangles(frame, vertices=short.assign(ip=1), **IDS)


def test_a_graph_of_pairs():
    frame = frame_of(ROWS)
    isolated = pd.DataFrame({"vertex_ip": [7, 0], "vertex_port": [7, 1]})
    graph = tc.Graph(frame, vertices=isolated, **IDS)
    assert (graph.n_vertices, graph.n_edges, graph.count()) == (5, 4, 1)
    assert tuples(graph.vertex_triangles(), *names("vertex"))[-1] == (7, 7)
    assert tc.memory_estimate(graph, function="trussness")["peel"] > 0


def test_a_column_may_serve_two_parts():
    """A user at two shops is two vertices."""
    frame = pd.DataFrame({"a": [1, 2, 3, 1], "b": [2, 3, 1, 3], "shop": [0, 0, 0, 1]})
    ids = {"source": ["a", "shop"], "destination": ["b", "copy"]}
    assert tc.count(frame.assign(copy=frame["shop"]), **ids) == 1


def test_parts_meet_under_the_rules_of_ids():
    frame = frame_of(ROWS).astype({"ip": "int8", "ip2": "float64"})
    assert tc.count(frame, **IDS) == 1
    assert tc.vertex_triangles(frame, **IDS)["vertex_ip"].dtype == "int64"
    with pytest.raises(tc.IdTypeError, match="'ip' has dtype int64 and column 'ip2'"):
        tc.count(frame_of(ROWS).astype({"ip2": "str"}), **IDS)
    with pytest.raises(tc.NullIdError, match="column 'port2' has 1 null"):
        tc.count(frame_of(ROWS).assign(port2=[1, None, 1, 1]), **IDS)
    with pytest.raises(tc.IdTypeError, match="'port' has dtype bool"):
        tc.count(frame_of(ROWS).assign(port=True, port2=True), **IDS)


@pytest.mark.parametrize(
    ("source", "destination", "error", "message"),
    [
        (["ip"], "ip2", ValueError, "give two lists of as many columns"),
        (["ip", "port"], ["ip2"], ValueError, "source= names 2 columns and destination= 1"),
        ([], [], ValueError, "at least one"),
        (["ip", "ip"], ["ip2", "port2"], ValueError, "source= names the column 'ip' twice"),
        (["ip", "port"], ["port2", "port"], ValueError, "the same column, 'port'"),
        (["ip", "prt"], ["ip2", "port2"], tc.ColumnNotFoundError, "source='prt' is not a column"),
    ],
)
def test_lists_that_name_no_ids(source, destination, error, message):
    for function in (tc.count, tc.Graph, tc.memory_estimate):
        with pytest.raises(error, match=message):
            function(frame_of(ROWS), source=source, destination=destination)


def test_an_estimate_of_the_ids():
    """As many as there are pairs, whatever the dtype, of few rows and of many."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 4, (1000, 4))
    small = [
        tc.memory_estimate(frame_of(rows, kind), **IDS)["order"]
        for kind in ("integers", "far apart")
    ]
    assert len(set(small)) == 1
    many = frame_of(rng.integers(0, 300, (200_000, 4)))
    estimated = tc.memory_estimate(many, **IDS)["order"]
    known = tc.Graph(many, **IDS)
    exact = tc.plan.needs.stages(
        tc.plan.record.ANALYTICS["count"].most, 200_000, known.n_vertices, False, "cpu"
    )
    assert estimated == pytest.approx(next(s.bytes for s in exact if s.name == "order"), rel=0.05)


def test_pictures_name_vertices_by_their_parts():
    graph = tc.Graph(frame_of(ROWS, "strings"), **IDS)._prepared
    assert sorted(graph.ids_of(np.arange(4)))[0] == "(10.0.0.0, 1)"


def test_a_group_is_not_one_of_the_only_two_columns():
    frame = pd.DataFrame({"a": [0, 1, 2], "b": [1, 2, 0]})
    with pytest.raises(ValueError, match="which columns hold the edges"):
        tc.count(frame, by="b")
    assert tc.count(frame.assign(c=[1, 1, 1]), by="c")["triangles"].tolist() == [1]


BACKEND = open_frame(pd.DataFrame({"src": [0], "dst": [1]}), None)[1]


@pytest.mark.parametrize("bits", range(61, 68))
@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_keys_at_the_end_of_64_bits(bits, beside):
    """Their order is that of the parts, and they come apart again, folded or not."""
    bases = [2**21, 2**20, 2 ** (bits - 41) + beside]
    ends = [sorted({0, 1, base // 2, base - 1}) for base in bases]
    digits = [np.array(part, "uint64") for part in zip(*product(*ends), strict=True)]
    radix = MixedRadix.of(bases)
    while (first := radix.overflow()) is not None:
        radix = radix.fold(first, np.unique(radix.join(digits[:first], np)))
    keys = radix.join(digits, np)
    assert keys.tolist() == sorted({*keys.tolist()})
    assert [part.tolist() for part in radix.split(keys)] == [part.tolist() for part in digits]


def test_a_key_that_another_thread_wrote_is_no_place():
    for key in (5, 2**63):
        with pytest.raises(tc.KernelError, match="changed during the call"):
            compact([np.array([0, key, 1], "uint64")], 5, BACKEND)


@pytest.mark.parametrize("path", [*PATHS, Path(3, BlockLayout(2, ranges=3))], ids=repr)
@pytest.mark.parametrize("kind", ["int64", "str"])
def test_a_list_of_one_column_names_ids_of_one_part(path, kind):
    """Answers are those of the column itself, under its name."""
    frame = pd.DataFrame({"a": [5, 1, 2, 2, 7], "b": [1, 2, 5, 3, 7]}).astype(kind)
    pairs = pd.DataFrame({"src": ["5", "3"], "dst": ["1", "5"]}).astype(kind)
    plain, named = {"source": "a", "destination": "b"}, {"source": ["a"], "destination": ["b"]}
    with path.edges(frame) as edges:
        for function in (tc.vertex_triangles, tc.simple_edges):
            right, found = (whole(function(edges, **columns)) for columns in (plain, named))
            roles = {role: f"{role}_a" for role in ("vertex", "src", "dst")}
            pd.testing.assert_frame_equal(found, right.rename(columns=roles))
    if path == Path():
        graph = tc.Graph(frame, **named)
        right = tc.similarity(tc.Graph(frame, **plain), pairs=pairs)
        assert graph.similarity(pairs=pairs).tolist() == right.tolist()
        delta = graph.update(delete=frame[:1])
        assert (graph.count(), delta.vertices.columns[0]) == (0, "vertex_a")
