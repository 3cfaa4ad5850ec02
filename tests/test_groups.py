"""Groups: a function of the rows of each group, against the definition applied to each."""

import datetime
import logging
from contextlib import nullcontext
from decimal import Decimal
from functools import cache

import every_path
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from every_path import CALLS, ENGINES, FRAME, NAMES, PATHS, Path
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan import answers
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import ANALYTICS, Result

pytestmark = pytest.mark.cpu_only

# Ids that groups share, groups without a triangle, and one of a self loop alone.
DAYS = np.array(["tue", "mon", "wed"])[np.arange(len(FRAME)) * 7 % 11 % 3]
GROUPED = FRAME.assign(day=np.where(FRAME["src"] == 50, "sun", DAYS))
GROUPED = pd.concat([GROUPED, FRAME.iloc[:2].assign(day="sat")], ignore_index=True)
GROUPED["w"] = 1.0 + (GROUPED["src"] + GROUPED["dst"]) % 5  # the same in all rows of an edge


def by_group(name, own, frame=GROUPED):
    """The answer by the definition, from the rows of each group."""
    record, listed, aligned, kept = ANALYTICS[name], [], {}, []
    for group, rows in frame.groupby("day", observed=True):
        options = dict(own)
        if own.get("vertices") is not None:
            ids = {*rows["src"], *rows["dst"]}
            options["vertices"] = [v for v in own["vertices"] if v in ids]
        right = every_path.expected(name, options, rows)
        if record.result is Result.VALUE:
            values = right.values() if isinstance(right, dict) else [right]
            listed.append((group, *values))
        elif record.result is Result.COLUMN:
            aligned.setdefault(name, []).append(pd.Series(right, rows.index))
        elif record.result is Result.COLUMNS:
            for column, values in right.items():
                aligned.setdefault(column, []).append(pd.Series(values, rows.index))
        elif record.result is Result.ROWS:
            kept += rows.index[right].tolist()
        elif record.result is Result.COMMUNITIES:
            listed += [(rows.index[place], number) for place, number in right]
        else:
            listed += [(group, *row) for row in right]
    if aligned:
        return {column: pd.concat(parts).sort_index().tolist() for column, parts in aligned.items()}
    if record.result is Result.COMMUNITIES:
        return sorted(listed)
    return sorted(kept) if record.result is Result.ROWS else listed


def plain(name, found):
    """An answer by group as plain Python values, as `by_group` gives it."""
    record = ANALYTICS[name]
    if isinstance(found, PartitionedFrame):
        found = pd.concat(found.partitions)
    if record.result is Result.COLUMN:
        return {name: found.tolist()}
    if record.result is Result.COLUMNS:
        return {c: found[c].tolist() for c in found.columns if c not in GROUPED.columns}
    if record.result is Result.ROWS:
        return found.index.tolist()
    if record.result is Result.COMMUNITIES or "parent" in getattr(found, "columns", ()):
        return every_path.plain_communities(found)
    frames = [found] if isinstance(found, pd.DataFrame) else found
    rows = [row for frame in frames for row in frame.itertuples(index=False, name=None)]
    if name == "approximate_count":
        return [(day, float(value)) for day, value, *_ in rows]
    return sorted(rows) if record.result is Result.TRIANGLES else rows


def assert_same(found, right):
    """Rows are the same, but for rounding."""
    if isinstance(right, dict):
        assert found.keys() == right.keys()
        for column, values in right.items():
            assert found[column] == pytest.approx(values, abs=1e-12)
        return
    assert len(found) == len(right)
    for one, other in zip(found, right, strict=True):
        if isinstance(other, tuple):
            assert one[0] == other[0]
            one, other = one[1:], other[1:]
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


def call(path, name, own, **columns):
    """Ask an analytic by group on a path."""
    own, record = dict(own), ANALYTICS[name]
    star = own.pop("columns", ())
    shared = every_path.IDS | {"by": "day"} | columns
    with path.edges(GROUPED) as edges:
        if path.prepared:
            edges, shared = tc.Graph(GROUPED, **shared), {}
        found = record.call(edges, *star, **own, **shared)
        return list(found) if record.by_frames else found


def refusal(name, own, path):
    """The error with which the record refuses a call by group on a path."""
    if path.prepared:
        return every_path.error_of(name, own, path)
    if not path.partitions:
        return None
    record = ANALYTICS[name]
    checked = {**record.check(record.defaults | own), "by": "day"}
    error = record.local(checked, "PartitionedFrame")
    return error or every_path.in_blocks(name, own, path.layout)


def check(shown, path):
    name, own = WITH_GROUPS[shown]
    error = refusal(name, own, path)
    if error is not None:
        with pytest.raises(type(error)) as caught:
            call(path, name, own)
        assert str(caught.value) == str(error)
    else:
        assert_same(plain(name, call(path, name, own)), right(shown))


CUT = "7 partitions, 3 x 3 blocks to the end"
# Each has a share of the calls, as in `test_every_path`; kernels know no groups.
WAYS = [
    ("whole", "cpu", 0, 1),
    ("prepared", "cpu", 0, 1),
    ("2 x 2 blocks", "cpu", 0, 3),
    ("7 partitions", "cpu", 1, 3),
    (CUT, "cpu", 2, 3),
    ("whole", "emulated cuda", 0, 2),
]
WITH_GROUPS = {
    shown: call
    for shown, call in zip(NAMES, CALLS, strict=True)
    if call[1].get("pairs") is None  # which take no groups
}


@cache
def right(shown):
    """The answer by the definition, on whatever path."""
    return by_group(*WITH_GROUPS[shown])


@pytest.mark.parametrize(
    ("path", "engine", "way", "ways"), WAYS, ids=[f"{path}-{engine}" for path, engine, *_ in WAYS]
)
def test_every_call_is_right_by_group(path, engine, way, ways):
    with ENGINES[engine]():
        for _, shown in every_path.share(way, ways):
            if shown not in WITH_GROUPS:
                continue
            try:
                check(shown, PATHS[path])
            except BaseException as error:
                error.add_note(shown)
                raise


# Values of groups ---------------------------------------------------------------------------------

KINDS = {
    "integers": lambda n: pd.Series(n, dtype="int16"),
    "integers far apart": lambda n: pd.Series(n) * 10**15 - 10**9,
    "nullable": lambda n: pd.Series(n, dtype="Int64"),
    "booleans": lambda n: pd.Series(n % 2 == 0),
    "floats": lambda n: pd.Series(n) / 4 - 0.5,
    "strings": lambda n: pd.Series([f"g{i}" for i in n], dtype=object),
    "text": lambda n: pd.Series([f"g{i}\0" for i in n], dtype="str"),
    "dates": lambda n: pd.Series([datetime.date(2024, 1, 1 + i) for i in n], dtype=object),
    "datetimes": lambda n: pd.Series(pd.Timestamp("2024", tz="UTC") + pd.to_timedelta(n, "h")),
    "durations": lambda n: pd.Series(pd.to_timedelta(n, "min")),
    "decimals": lambda n: pd.Series([Decimal(int(i)) / 4 for i in n], dtype=object),
    "categories": lambda n: pd.Series(
        pd.Categorical([f"g{i}" for i in n], [f"g{i}" for i in range(20, -1, -1)])
    ),
    "ordered": lambda n: pd.Series(
        pd.Categorical([f"g{i}" for i in n], [f"g{i}" for i in range(20, -1, -1)], ordered=True)
    ),
    "intervals": lambda n: pd.cut(pd.Series(n), np.arange(-1, 22)),
}
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1)


@given(ROWS, st.sampled_from(list(KINDS)), st.booleans())
@settings(max_examples=100)
def test_counts_of_random_groups(rows, kind, together):
    groups, src, dst = (np.array(column) for column in zip(*rows, strict=True))
    if together:
        groups = groups * 0 + 3
    frame = pd.DataFrame({"src": src, "dst": dst, "day": KINDS[kind](groups)})
    before = frame.copy(deep=True)
    found = tc.count(frame, by="day")
    right = {
        day: reference.count(list(zip(own["src"], own["dst"], strict=True)))
        for day, own in frame.groupby("day", observed=True)
    }
    assert found.columns.tolist() == ["day", "triangles"]
    assert found["day"].dtype == frame["day"].dtype
    assert found["triangles"].dtype == "int64"
    days = found["day"].tolist()
    assert dict(zip(days, found["triangles"].tolist(), strict=True)) == right
    assert days == (list(right) if kind == "ordered" else sorted(right))
    pd.testing.assert_frame_equal(frame, before)


@given(ROWS, st.sampled_from([(0, 0), (0, 2), (3, 0), (4, 2)]))
@settings(max_examples=40)
def test_several_columns_of_groups(rows, way):
    frame = pd.DataFrame(rows, columns=["day", "a", "b"]).assign(half=lambda f: f.index % 2 == 0)
    partitions, blocks = way
    with Path(partitions, BlockLayout(blocks) if blocks else None).edges(frame) as edges:
        found = tc.vertex_triangles(edges, by=["half", "day"], source="a", destination="b")
    found = pd.concat(found.partitions) if partitions else found
    right = [
        (*group, vertex, triangles)
        for group, own in frame.groupby(["half", "day"])
        for vertex, triangles in sorted(
            reference.vertex_triangles(list(zip(own["a"], own["b"], strict=True))).items()
        )
    ]
    assert found.columns.tolist() == ["half", "day", "vertex", "triangles"]
    assert list(found.itertuples(index=False, name=None)) == right


@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_every_kind_in_partitions(kind):
    numbers = np.arange(60) % 7 // 2
    frame = pd.DataFrame({"src": np.arange(60) % 5, "dst": np.arange(60) % 4})
    frame["day"] = KINDS[kind](numbers)
    right = tc.count(frame, by="day")
    for path in (Path(3), Path(3, BlockLayout(2)), Path(layout=BlockLayout(2))):
        with path.edges(frame) as edges:
            found = tc.count(edges, by="day")
        found = pd.concat(found.partitions) if path.partitions else found
        pd.testing.assert_frame_equal(found, right)


def test_groups_of_partitions_of_other_kinds():
    one, other = (pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]}) for _ in range(2))
    parts = [one.assign(day=pd.Categorical(["a"] * 3)), other.assign(day=pd.Categorical(["b"] * 3))]
    [found] = tc.count(PartitionedFrame(parts), by="day").partitions
    assert found["day"].tolist() == ["a", "b"]
    assert found["triangles"].tolist() == [1, 1]
    parts = [one.assign(day=[0.5, 1, 1]), other.assign(day=[True] * 3)]
    with pytest.raises(tc.IdTypeError, match="float64 and column 'day' bool: groups need one kind"):
        tc.count(PartitionedFrame(parts), by="day")
    parts = [one.assign(day=[None, None, "a"]), other.assign(day=[None, "a", "a"])]
    with pytest.raises(tc.NullIdError, match="'day' has 3 nulls: a row needs a group"):
        tc.count(PartitionedFrame(parts), by="day")
    parts = [one.assign(day=1), other]
    with pytest.raises(tc.ColumnNotFoundError, match="partition 1: by='day' is not a column"):
        tc.count(PartitionedFrame(parts), by="day")


def test_groups_of_half_precision():
    frame = GROUPED.assign(day=(np.arange(len(GROUPED)) % 3 / 4).astype("float16"))
    found = tc.count(frame, by="day")
    right = tc.count(frame.astype({"day": "float64"}), by="day")
    assert found["day"].tolist() == right["day"].tolist()
    assert found["triangles"].tolist() == right["triangles"].tolist()


def test_as_many_groups_as_rows():
    frame = FRAME.assign(row=FRAME.index[::-1])
    found = tc.count(frame, source="src", destination="dst", by="row")
    assert found["row"].tolist() == list(range(len(FRAME)))
    assert not found["triangles"].any()


def test_a_frame_without_rows():
    frame = GROUPED.iloc[:0]
    for edges in (frame, tc.Graph(frame, by="day")):
        by = {} if isinstance(edges, tc.Graph) else {"by": "day"}
        assert tc.count(edges, **by).columns.tolist() == ["day", "triangles"]
        assert tc.vertex_triangles(edges, **by).columns.tolist() == ["day", "vertex", "triangles"]
        for function in (tc.triad_counts, tc.average_clustering, tc.simple_edges, tc.transitivity):
            assert len(function(edges, **by)) == 0
        assert len(tc.approximate_count(edges, colors=2, seed=1, **by)) == 0
        assert len(tc.list_triangles(edges, max_rows=1, **by)) == 0
        assert len(tc.k_truss(edges, "max", **by)) == 0
        found = tc.balance(edges, sign="w", **by)
        dtypes = tc.balance(GROUPED, sign="w", by="day").dtypes  # as with rows
        assert len(found) == 0 and found.dtypes.equals(dtypes)


@pytest.mark.parametrize("ids", ["integers", "strings", "categories"])
def test_samples_are_those_of_each_group_alone(ids):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"src": rng.integers(0, 30, 600), "dst": rng.integers(0, 30, 600)})
    if ids != "integers":
        names = np.array([f"v{i}" for i in rng.permutation(30)])
        dtype = pd.CategoricalDtype(names) if ids == "categories" else object
        frame = frame.apply(lambda column: pd.Series(names[column]).astype(dtype))
    frame["day"] = rng.integers(0, 3, 600) * 10**15
    found = tc.approximate_count(frame, colors=3, seed=5, by="day")
    for day, value, stderr, low, high in found.itertuples(index=False, name=None):
        own = tc.approximate_count(frame[frame["day"] == day], colors=3, seed=5)
        assert (own.value, own.stderr, own.low, own.high) == (value, stderr, low, high)


def test_known_values_by_group():
    frames = {
        "bow": pd.DataFrame({"src": [0, 1, 2, 2, 3, 4], "dst": [1, 2, 0, 3, 4, 2]}),
        "c4": pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0]}),
        "k5": pd.DataFrame([(a, b) for a in range(5) for b in range(a)], columns=["src", "dst"]),
        "karate": datasets.karate()[["src", "dst"]],
    }
    frame = pd.concat([rows.assign(graph=name) for name, rows in frames.items()])
    right = {  # found by NetworkX and by a self join in DuckDB
        tc.count: [2, 0, 10, 45],
        tc.transitivity: [0.6, 0, 1, 0.255681818182],
        tc.average_clustering: [0.866666666667, 0, 1, 0.570638478208],
    }
    for function, values in right.items():
        found = function(frame, by="graph")
        assert found["graph"].tolist() == list(frames)
        assert found.iloc[:, 1].tolist() == pytest.approx(values)
    assert tc.count(frame) == 51  # ids pooled


# Graphs and selected vertices ---------------------------------------------------------------------


def test_isolated_vertices_of_groups():
    further = pd.DataFrame({"day": ["thu", "mon", "mon"], "vertex": [1, 77, 0]})
    graph = tc.Graph(GROUPED, vertices=further, by="day")
    rows = {
        day: list(zip(own["src"], own["dst"], strict=True)) for day, own in GROUPED.groupby("day")
    }
    added = {day: own["vertex"].tolist() for day, own in further.groupby("day")}
    found = graph.vertex_triangles()
    right = [
        (day, vertex, triangles)
        for day in sorted({*rows, *added})
        for vertex, triangles in sorted(
            reference.vertex_triangles(rows.get(day, []), added.get(day, [])).items()
        )
    ]
    assert list(found.itertuples(index=False, name=None)) == right
    assert graph.average_clustering().set_index("day").loc["thu", "average_clustering"] == 0
    assert graph.triad_counts()["day"].tolist() == sorted({*rows, *added})


def test_a_graph_keeps_its_groups():
    import pickle

    graph = tc.Graph(GROUPED, by="day", source="src", destination="dst")
    right = tc.count(GROUPED, by="day")
    for known in (graph, pickle.loads(pickle.dumps(graph))):
        pd.testing.assert_frame_equal(known.count(), right)
    assert ", 5 groups, cpu>" in repr(graph)
    assert graph.n_vertices == len(tc.vertex_triangles(GROUPED, by="day"))
    assert graph.n_edges == len(tc.simple_edges(GROUPED, by="day"))
    with pytest.raises(ValueError, match=r"a Graph has its columns chosen.*by= to Graph"):
        tc.count(graph, by="day")


def test_vertices_are_those_of_every_group_that_has_them():
    found = tc.vertex_triangles(GROUPED, vertices=[3, 50, 0, 3], by="day")
    for day, own in GROUPED.groupby("day"):
        ids = {*own["src"], *own["dst"]}
        assert found.loc[found["day"] == day, "vertex"].tolist() == [
            v for v in (3, 50, 0, 3) if v in ids
        ]
    with pytest.raises(ValueError, match=r"2 of vertices= not in the graph: 99, -1; isolated"):
        tc.vertex_triangles(GROUPED, vertices=[3, 99, -1], by="day")


def test_the_most_rows_are_those_of_a_group():
    counts = tc.count(GROUPED, by="day")
    most = int(counts["triangles"].max())
    day = counts.loc[counts["triangles"].idxmax(), "day"]
    total = tc.list_triangles(GROUPED, by="day", max_rows=most)
    assert len(total) == counts["triangles"].sum() > most
    with pytest.raises(tc.CapacityError, match=f"the group 'day': {day} has {most} triangles"):
        tc.list_triangles(GROUPED, by="day", max_rows=most - 1)


def test_weights_are_scaled_by_the_largest_of_their_group():
    weights = GROUPED.assign(
        w=GROUPED["w"] * GROUPED["day"].map(len).where(GROUPED["day"] != "mon", 90)
    )
    weights.loc[weights["day"] == "tue", "w"] = 0.0  # nothing to divide by
    found = tc.clustering(weights, weight="w", by="day")
    for day, own in weights.groupby("day"):
        right = reference.weighted_clustering(
            list(own[["src", "dst", "w"]].itertuples(index=False, name=None))
        )
        values = found[found["day"] == day].set_index("vertex")["clustering"].to_dict()
        assert values == pytest.approx(right, abs=1e-12)
    options = {"weight": "w", "by": "day", **every_path.IDS, "aggregate": "max"}
    for directed in (False, True):
        expected = tc.clustering(weights, directed=directed, **options)
        for path in map(PATHS.get, ("whole", "2 x 2 blocks", CUT)):
            with path.edges(weights) as edges:
                apart = tc.clustering(edges, directed=directed, **options)
            apart = pd.concat(apart.partitions) if path.partitions else apart
            pd.testing.assert_frame_equal(apart, expected, rtol=0, atol=1e-15)


# What is refused ----------------------------------------------------------------------------------


PARTS = {"source": ["a", "a2"], "destination": ["b", "b2"]}
CLASHES = [  # a function, and columns of groups that its answer has otherwise
    (tc.count, {}, "triangles"),
    (tc.transitivity, {}, "transitivity"),
    (tc.average_clustering, {}, "average_clustering"),
    (tc.triad_counts, {}, "wedge"),
    (tc.triad_counts, {"directed": True}, "300"),
    (tc.vertex_triangles, {}, "vertex"),
    (tc.vertex_triangles, PARTS, "vertex_a2"),
    (tc.clustering, {}, "clustering"),
    (tc.annotate_vertices, {"columns": ["degree"]}, "degree"),
    (tc.list_triangles, {}, "v"),
    (tc.list_triangles, PARTS, "w_a"),
    (tc.simple_edges, {}, "dst"),
    (tc.simple_edges, PARTS, "src_a2"),
    (tc.balance, {"sign": "trust"}, "signs"),
    (tc.balance, {"sign": "trust", "per": "vertex"}, "vertex"),
    (tc.balance, {"sign": "trust", "per": "vertex"} | PARTS, "vertex_a"),
    (tc.triangles_by_type, {"edge_type": "kind"}, "type_2"),
    (tc.triangles_by_type, {"edge_type": "kind", "per": "vertex"} | PARTS, "vertex_a2"),
    (tc.triangles_by_type, {"edge_type": "kind", "per": "edge"} | PARTS, "dst_a"),
    (tc.triangles_by_type, {"edge_type": "kind", "per": "edge"}, "src"),
    (tc.triangles_over_time, {"time": "t"}, "formed"),
    (tc.truss_hierarchy, {}, "parent"),
    (tc.vertex_cliques, PARTS, "vertex_a"),
    (tc.most_similar, PARTS, "v_a"),
    (tc.most_similar, {"measure": "cosine"}, "cosine"),
]


@pytest.mark.parametrize(("function", "options", "column"), CLASHES)
def test_a_group_named_like_an_answer(function, options, column):
    frame = GROUPED.rename(columns={"day": column, "src": "a", "dst": "b"})
    frame = frame.assign(a2=frame["a"], b2=frame["b"])
    shared = {"source": "a", "destination": "b", "by": column}
    shared |= {name: options[name] for name in shared if name in options}
    own = {name: value for name, value in options.items() if name not in shared}
    record, named = ANALYTICS[function.__name__], own.pop("columns", ())
    asked = [(frame, shared), (tc.Graph(frame, **shared), {})]
    if record.local(record.defaults | {"columns": named} | own, "") is None:
        asked.append((PartitionedFrame([frame]), shared))
    for edges, columns in asked:
        with pytest.raises(
            ValueError, match=f"by= names the column '{column}', and the answer has"
        ):
            function(edges, *named, **own, **columns)
    assert len(tc.edge_triangles(frame, **shared)) == len(frame)


def test_a_group_named_like_ids_that_are_not_in_the_answer():
    """It keeps its own dtype, and ids have theirs."""
    ends = {"a": [0, 0, 1], "b": [5, 6, 5], "vertex": ["mon", "mon", "tue"]}
    shared = {"source": "a", "destination": "b", "by": "vertex"}
    small = pl.DataFrame(ends).cast({"a": pl.Int8})
    found = tc.project(small, side="destination", **shared)
    assert found.rows() == [("mon", 5, 6, 1)] and found.schema["vertex"] == pl.String
    kinds = pl.Enum(["0", "1", "5", "6"])
    named = small.cast({"a": pl.String, "b": pl.String}).cast({"a": kinds, "b": kinds})
    assert tc.count(named, **shared).rows() == [("mon", 0), ("tue", 0)]
    named = named.with_columns(vertex=pl.Series([1, 1, 2], dtype=pl.Int16))
    assert tc.count(named, **shared).schema["vertex"] == pl.Int16


def test_the_columns_of_a_record_are_those_of_its_answer():
    """So are those of ids, in groups of which each id has two columns, for every value of `per`."""
    ids = {"source": ["src", "s2"], "destination": ["dst", "d2"], "by": "day"}
    frame = GROUPED.assign(s2=GROUPED["src"], d2=GROUPED["dst"])
    frames = (Result.VALUE, Result.VERTICES, Result.TABLE, Result.TIMES, Result.EDGES)
    for name, record in ANALYTICS.items():
        for own in every_path.choices(record) if record.result in frames else ():
            if not every_path.names_vertices(own):
                options = {n: value for n, value in own.items() if n != "columns"}
                found = record.call(frame, *own.get("columns", ()), **options, **ids)
                with pytest.raises(RuntimeError) as caught, pytest.MonkeyPatch.context() as patch:
                    patch.setattr(answers, "check_fields", refuse_all)
                    record.call(frame, *own.get("columns", ()), **options, **ids)
                assert [*found.columns] == caught.value.args[0], name


def refuse_all(groups, others):
    """Raise an error with the columns of an answer."""
    raise RuntimeError([*groups, *others])


def test_parts_of_an_id_named_alike():
    """A number and its text as labels: both would be a column vertex_1."""
    frame = pd.DataFrame({1: [0, 1, 2], "1": [0, 1, 2], "b": [1, 2, 0], "c": [1, 2, 0]})
    with pytest.raises(ValueError, match="two columns of the answer would be called 'vertex_1'"):
        tc.vertex_triangles(frame, source=[1, "1"], destination=["b", "c"])
    assert tc.count(frame, source=[1, "1"], destination=["b", "c"]) == 1


@pytest.mark.parametrize("column", ["vertex_a", "src_a2", "delta", "triangles"])
def test_a_group_named_like_a_column_of_a_delta(column):
    frame = GROUPED.rename(columns={"day": column, "src": "a", "dst": "b"})
    graph = tc.Graph(frame.assign(a2=frame["a"], b2=frame["b"]), by=column, **PARTS)
    with pytest.raises(ValueError, match=f"by= names the column '{column}', and the answer has"):
        graph.update(delete=frame.assign(a2=frame["a"], b2=frame["b"]).iloc[:1])


def test_columns_of_partitions_name_their_groups_in_a_list():
    parts = PartitionedFrame([GROUPED])
    for function in (tc.edge_triangles, tc.trussness, tc.similarity):
        with pytest.raises(TypeError, match="can be aligned without a shuffle: annotate"):
            function(parts, by=["day", "w"], **every_path.IDS)


def test_a_missing_group():
    frame = GROUPED.assign(day=GROUPED["day"].where(GROUPED.index != 4))
    for function in (tc.count, tc.Graph, tc.edge_triangles, tc.memory_estimate):
        with pytest.raises(tc.NullIdError, match="'day' has 1 null: a row needs a group"):
            function(frame, by="day")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1]] * len(GROUPED), "'day' holds values that have no hash"),
        ([1, "a"] * (len(GROUPED) // 2) + [1] * (len(GROUPED) % 2), "have no order"),
    ],
)
def test_values_that_name_no_group(values, message):
    with pytest.raises(tc.IdTypeError, match=message):
        tc.count(GROUPED.assign(day=pd.Series(values, dtype=object)), by="day")


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ("dya", tc.ColumnNotFoundError, "by='dya' is not a column"),
        ([], ValueError, "name a column of groups"),
        (["day", "day"], ValueError, "by= names the column 'day' twice"),
        ({"day": 1}, ValueError, "by="),
    ],
)
def test_columns_that_are_none(by, error, message):
    for function in (tc.count, tc.Graph, tc.memory_estimate):
        with pytest.raises(error, match=message):
            function(GROUPED, by=by)


def test_the_only_two_columns_beside_the_groups():
    frame = GROUPED[["src", "dst", "day"]].set_axis(["a", "b", "day"], axis=1)
    assert tc.count(frame, by="day")["triangles"].sum() > 0
    with pytest.raises(ValueError, match="which columns hold the edges"):
        tc.count(frame)


def test_columns_that_options_name_hold_no_ids():
    frame = GROUPED[["src", "dst", "w"]].set_axis(["a", "b", "w"], axis=1)
    ids = {"source": "a", "destination": "b"}
    for edges in (frame, frame.assign(day=1)):
        by = {"by": "day"} if "day" in edges else {}
        found = tc.clustering(edges, weight="w", **by)
        pd.testing.assert_frame_equal(found, tc.clustering(edges, weight="w", **by, **ids))
        found = tc.triangles_over_time(edges, time="w", **by)
        pd.testing.assert_frame_equal(found, tc.triangles_over_time(edges, time="w", **by, **ids))
    assert tc.balance(PartitionedFrame([frame]), sign="w") is not None
    with pytest.raises(ValueError, match="which columns hold the edges"):
        tc.clustering(frame[["a", "b"]], weight="b")


def test_further_vertices_of_groups_are_a_frame():
    with pytest.raises(TypeError, match="a list; give a frame with the columns 'day', 'vertex'"):
        tc.Graph(GROUPED, vertices=[1], by="day")
    with pytest.raises(tc.ColumnNotFoundError, match="no column 'vertex'"):
        tc.Graph(GROUPED, vertices=GROUPED[["day", "src"]], by="day")


def test_the_last_truss_of_each_group_is_found_in_blocks(caplog):
    edges = datasets.rmat(8, seed=3)
    edges["day"] = edges.index % 3
    expected = tc.k_truss(edges, "max", by="day")
    limit = max(tc.memory_estimate(edges, function="k_truss", by="day").values()) // 2
    with caplog.at_level(logging.INFO, "rapids_tc"):
        found = tc.k_truss(edges, "max", by="day", memory_limit=limit)
    assert "counted in" in caplog.text
    pd.testing.assert_frame_equal(found, expected)
    for day, own in edges.groupby("day"):
        rows = [*own[["src", "dst"]].itertuples(index=False, name=None)]
        numbers = reference.trussness(rows)
        last = sum(number == max(numbers.values()) for number in numbers.values())
        assert (found["day"] == day).sum() == last


def test_memory_is_estimated():
    plain, grouped = (tc.memory_estimate(GROUPED, **by) for by in ({}, {"by": "day"}))
    assert grouped["number"] > plain["number"] >= 0
    needs = max(grouped.values())
    with pytest.raises(tc.CapacityError):
        tc.approximate_count(GROUPED, by="day", colors=2, seed=1, memory_limit=needs // 4)
    assert tc.memory_estimate(tc.Graph(GROUPED, by="day"))["layout"] > 0


def test_sets_of_three_beyond_64_bits():
    """One group of many vertices: C(n, 3) is exact as long as int64 holds it."""
    n = 3_000_000
    rows = pd.DataFrame({"src": np.arange(0, n, 2), "dst": np.arange(1, n, 2), "day": 1})
    found = tc.triad_counts(rows, by="day").iloc[0]
    assert found["edge"] == n // 2 * (n - 2)
    assert found["empty"] == n * (n - 1) * (n - 2) // 6 - n // 2 * (n - 2)


# Frames of other libraries ------------------------------------------------------------------------


def polars_columns():
    import polars as pl

    days = [datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)] * 3
    return {
        "enum": pl.Series(["b", "a"] * 3, dtype=pl.Enum(["b", "a", "unused"])),
        "categorical": pl.Series(["b", "a"] * 3, dtype=pl.Categorical),
        "text": pl.Series(["b", "a"] * 3),
        "date": pl.Series(days),
        "time": pl.Series(days).cast(pl.Datetime("ms", "UTC")),
        "duration": pl.Series(days).cast(pl.Datetime("us")) - datetime.datetime(2024, 1, 1),
        "float": pl.Series([0.5, -0.5] * 3, dtype=pl.Float32),
        "boolean": pl.Series([True, False] * 3),
        "small": pl.Series([2, 1] * 3, dtype=pl.UInt8),
        "decimal": pl.Series([Decimal("1.50"), Decimal("0.25")] * 3, dtype=pl.Decimal(10, 2)),
    }


@pytest.mark.parametrize("library", ["polars", "arrow"])
@pytest.mark.parametrize("kind", polars_columns())
def test_groups_come_back_as_they_were(library, kind):
    import polars as pl

    column = polars_columns()[kind]
    frame = pl.DataFrame({"src": [0, 0, 1, 1, 2, 2], "dst": [1, 1, 2, 2, 0, 3], "day": column})
    edges = frame if library == "polars" else frame.to_arrow()
    found = tc.count(edges, by="day")
    assert type(found) is type(edges)
    own = found.schema["day"] if library == "polars" else found.schema.field("day").type
    right = edges.schema["day"] if library == "polars" else edges.schema.field("day").type
    assert own == right or (library == "arrow" and kind in ("enum", "categorical"))
    found = found if library == "polars" else pl.from_arrow(found)
    counts = dict(zip(found["day"].to_list(), found["triangles"].to_list(), strict=True))
    assert counts == {column[0]: 1, column[1]: 0}
    if kind not in ("enum", "categorical"):
        assert found["day"].to_list() == sorted(column.unique().to_list())
    vertices = tc.vertex_triangles(edges, by="day")
    names = vertices.columns if library == "polars" else vertices.column_names
    assert names == ["day", "vertex", "triangles"]


# Any call: options, libraries, names and paths drawn together -------------------------------------

LABELS = [
    "day", "vertex", "src", "dst", "u", "w_a", "src_a", "vertex_a", "dst_b", "type_1", "triangles",
    "signs", "balanced", "clustering", "cliques", "edge", "300", "value", "stderr", "parent", "k",
    "community", "degree", "jaccard", "trussness", "formed",
]  # fmt: skip
TEXTS = ["call", "mail", "mon", "sat", "sun", "tue", "visit", "wed"]


def cast_texts(dtype):
    return lambda frame: pl.from_pandas(frame).with_columns(pl.col(pl.String).cast(dtype))


LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars categories": cast_texts(pl.Categorical),
    "polars enums": cast_texts(pl.Enum(TEXTS)),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}
BASE = 7  # an id of two columns is a number divided by this, and the rest
ONE = {"source": "a", "destination": "b"}
IDS_OF_ROWS = {Result.VERTICES: 1, Result.EDGES: 2, Result.TRIANGLES: 3, Result.PAIRS: 2}


def in_parts(name, own, right):
    """Rows of an answer with their ids in two columns each."""
    ids = IDS_OF_ROWS.get(ANALYTICS[name].result, 0)
    if "per" in own:
        ids = {None: 0, "vertex": 1, "edge": 2}[own["per"]]
    for group, *row in right:
        yield (group, *(part for i in row[:ids] for part in divmod(i, BASE)), *row[ids:])


def pandas_of(found):
    """A frame or column of any library, as pandas."""
    return found if isinstance(found, pd.DataFrame | pd.Series) else found.to_pandas()


def of_any_library(name, own, found, label):
    """An answer as `by_group` gives it; its columns have a name each."""
    record = ANALYTICS[name]
    if record.result is Result.COLUMN:
        return {name: pandas_of(found).tolist()}
    frames = [pandas_of(frame) for frame in (found if isinstance(found, list) else [found])]
    for frame in frames:
        assert label in frame and frame.columns.is_unique
    if record.result is Result.COLUMNS:
        return {column: frames[0][column].tolist() for column in own["columns"]}
    if record.result is Result.ROWS:
        return frames[0]["row"].tolist()
    if record.result is Result.COMMUNITIES:
        return list(zip(frames[0]["row"].tolist(), frames[0]["community"].tolist(), strict=True))
    rows = []
    for frame in frames:
        if "parent" in frame:  # of which the first communities have none
            parent = frame["parent"].astype("object")
            frame = frame.assign(parent=parent.where(parent.notna(), None))
        assert frame.columns[0] == label
        rows += frame.astype("object").itertuples(index=False, name=None)
    if name == "approximate_count":
        return [(group, float(value)) for group, value, *_ in rows]
    return sorted(rows) if record.result is Result.TRIANGLES else rows


@given(
    st.sampled_from([*WITH_GROUPS]),
    st.sampled_from(LABELS),
    st.sampled_from([*LIBRARIES]),
    st.sampled_from(["whole", "prepared", "2 x 2 blocks"]),
    st.booleans(),
)
@settings(max_examples=60)
def test_any_call_by_a_group_of_any_name(shown, label, library, way, several):
    """The answer is the definition's, with a column of each name, or says what to rename."""
    name, own = WITH_GROUPS[shown]
    path, record, expected = PATHS[way], ANALYTICS[name], right(shown)
    if path.prepared and record.is_bipartite(own):  # which takes no such Graph
        path = PATHS["whole"]
    several = several and not every_path.names_vertices(own)
    frame = GROUPED.rename(columns={"src": "a", "dst": "b"}).assign(row=range(len(GROUPED)))
    if several:
        parts = {end: divmod(frame[end], BASE) for end in "ab"}
        frame = frame.assign(
            **{end: high for end, (high, _) in parts.items()},
            **{f"{end}2": low for end, (_, low) in parts.items()},
        )
    frame = LIBRARIES[library](frame.rename(columns={"day": label}))
    shared, options = (PARTS if several else ONE) | {"by": label}, dict(own)
    star = options.pop("columns", ())
    try:
        with use_layout(path.layout) if path.layout else nullcontext():
            edges, shared = (tc.Graph(frame, **shared), {}) if path.prepared else (frame, shared)
            found = record.call(edges, *star, **options, **shared)
            found = list(found) if record.by_frames else found
    except ValueError as error:
        assert label != "day" and repr(label) in str(error) and "rename" in str(error)
        return
    if several and isinstance(expected, list) and all(isinstance(row, tuple) for row in expected):
        expected = list(in_parts(name, own, expected))
    assert_same(of_any_library(name, own, found, label), expected)
