"""Spark DataFrames: the functions of tables in this process, and whole calls in a local Spark."""

import importlib
import os
import pickle
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import spark_tables
from graphs import small
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.plan import costs
from rapids_tc.spark import cells, plan, stages

pytestmark = pytest.mark.cpu_only
COLUMNS = ["triangles", "jaccard", "overlap", "sorensen", "cosine", "forman", "edge_clustering"]
DOCS = Path(__file__).parents[1] / "docs"
PREFIXES = "\uffee\U0001f600é"
VERTICES = st.sampled_from([-(2**63), -5, *range(9), 2**63 - 1])
ROWS = st.lists(st.tuples(VERTICES, VERTICES), min_size=1, max_size=60)
HUB = [(0, v) for v in range(1, 30)]  # whose neighbors are in no other edge, but for a few


with_spark = pytest.mark.skipif(
    not os.environ.get("RAPIDS_TC_SPARK"),
    reason="runs Spark, by Java 17: RAPIDS_TC_SPARK=1 pytest tests/test_spark.py",
)


# Without Spark ------------------------------------------------------------------------------------


def test_other_sources_are_refused():
    with pytest.raises(tc.KernelError, match="driver"):
        cells.require_same("other")


def edges_of_block(**columns):
    columns = {"i": [0], "j": [0], "u": [2], "v": [1], "u_degree": [3], "v_degree": [3]} | columns
    return pa.table({**columns, "cell": pa.nulls(1, "binary")})


def test_what_differs_from_one_read_to_the_next_is_refused():
    """Compiled code relies on the order of vertices, which follows from their degrees."""
    block = cells.block(edges_of_block())
    with pytest.raises(tc.KernelError, match="another order"):  # were ids compared in another way
        cells.block(edges_of_block(u=[1], v=[2]))
    with pytest.raises(tc.KernelError, match="two degrees"):
        cells.block(pa.concat_tables([edges_of_block(), edges_of_block(u=[3], v_degree=[4])]))
    both = pa.concat_tables([block, cells.block(edges_of_block(j=[1], v=[0], u_degree=[2]))])
    task = both.append_column("task", pa.array([1] * 2))  # (0, 0, 1), of two blocks
    with pytest.raises(tc.KernelError, match="two degrees"):
        cells.count(task, 2)
    counts = pa.table({"i": [0], "j": [0], "counts": [pickle.dumps(np.zeros(2, "uint32"))]})
    with pytest.raises(tc.KernelError, match="2 counts of edges for 1"):
        cells.columns(block, counts, ["triangles"])


@pytest.mark.parametrize(
    "rows, text, limit, cores, n",
    [
        (0, 0, None, 2, 1),
        (plan.WORTH_TASKS, 0, None, 200, 1),
        (plan.WORTH_TASKS + 1, 0, None, 8, 2),
        (plan.WORTH_TASKS + 1, 0, None, 9, 3),
        (10**9, 0, None, 8, 23),
        (10**9, 0, 2**40, 8, 12),
        (10**9, 30 * 10**9, None, 8, 27),
        (1000, 0, 537_600, 1, 1),
        (1000, 0, 537_599, 1, 2),
        (1000, 0, 134_400, 1, 2),
        (1000, 0, 134_399, 1, 3),
    ],
)
def test_the_number_of_blocks(rows, text, limit, cores, n):
    assert plan.choose(plan.Sizes(rows, text), limit, cores) == n


def test_blocks_that_cannot_fit():
    with pytest.raises(tc.CapacityError, match=r"memory_limit=.*per core"):
        plan.choose(plan.Sizes(10**9, 0), 2**20, 8)
    assert plan.MOST_BLOCKS == costs.MOST_CLUSTER_BLOCKS


def test_columns_that_spark_cannot_make():
    with pytest.raises(TypeError, match=r'"trussness" needs.*triangles.*Parquet'):
        plan.check_columns(("triangles", "trussness"))
    with pytest.raises(ValueError, match=r"twice.*triangles.*at most once"):
        plan.check_columns(("triangles", "triangles"))
    plan.check_columns(COLUMNS)


def test_other_frames_are_refused():
    with pytest.raises(TypeError, match="Spark DataFrame"):
        tc.spark.count(small())


# On Arrow tables, and with Spark ------------------------------------------------------------------


@pytest.fixture(scope="module", params=["tables", pytest.param("spark", marks=with_spark)])
def spark(request):
    """Spark's calls on Arrow tables, in this process; or a Spark of two threads."""
    if request.param == "tables":
        with pytest.MonkeyPatch.context() as patch:
            for name, module in spark_tables.modules().items():
                patch.setitem(sys.modules, name, module)
            yield spark_tables.Session()
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    builder = importlib.import_module("pyspark.sql").SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


only_tables = pytest.mark.parametrize("spark", ["tables"], indirect=True)


def frame_of(spark, rows, kind="bigint", names=("src", "dst")):
    return spark.createDataFrame(rows, ", ".join(f"`{name}` {kind}" for name in names))


def rows_of(frame):
    return [tuple(row) for row in frame.collect()]


@pytest.fixture(scope="module")
def rows():
    """Edges with repeats, both directions, loops, a hub and negative ids."""
    frame = datasets.rmat(6)
    pairs = [*zip(frame["src"].tolist(), frame["dst"].tolist(), strict=True)][:400]
    return [(u - 9, v - 9) for u, v in [*pairs, *pairs[:40], (3, 3), (2**40, 2**40), *HUB]]


def named(rows):
    """The ids as text, whose order by bytes is another than by UTF-16."""
    return [tuple(PREFIXES[v % 3] + str(v) for v in row) for row in rows]


def assert_annotated(edges, rows, columns, **ids):
    """The user's columns as they were, whatever the order of rows, and the right values."""
    wide = tc.spark.annotate(edges, *columns, **ids)
    own = edges.columns
    assert wide.columns == [*own, *columns]
    assert wide.dtypes[: len(own)] == edges.dtypes
    expected = reference.annotate(rows, columns)
    values = [reference.by_row(rows, expected[name]) for name in columns]
    right = [(*row, *of_row) for row, *of_row in zip(rows_of(edges), *values, strict=True)]
    made = sorted(rows_of(wide), key=repr)
    for row, other in zip(made, sorted(right, key=repr), strict=True):
        assert row[: len(own)] == other[: len(own)]
        assert row[len(own) :] == pytest.approx(other[len(own) :], abs=1e-12)


@only_tables
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, n=st.integers(1, 3), text=st.booleans())
def test_any_graph_in_any_number_of_blocks(spark, rows, n, text):
    rows = [*rows, *HUB]
    if text:
        rows = [(f"é{u}", f"é{v}") for u, v in rows]
    edges = frame_of(spark, rows, "string" if text else "bigint")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "choose", lambda *_: n)
        assert tc.spark.count(edges) == reference.count(rows)
        assert_annotated(edges, rows, ["triangles", "overlap"])


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("kind", ["bigint", "mixed", "string"])
def test_whole_calls(spark, monkeypatch, rows, kind, n):
    """In one block and in several; the user's columns come back as they were."""
    types = {"mixed": ("smallint", "int")}.get(kind, (kind, kind))
    rows = named(rows) if kind == "string" else [row for row in rows if max(row) < 2**15]
    data = [(u, v, f"row {i}", i) for i, (u, v) in enumerate(rows)]
    schema = f"`a b` {types[0]}, `x.y` {types[1]}, `low` string, `High` int"
    edges, ids = spark.createDataFrame(data, schema), {"source": "a b", "destination": "x.y"}
    monkeypatch.setattr(plan, "WORTH_TASKS", 2**18 if n == 1 else 0)
    assert plan.choose(plan.Sizes(len(rows), 0), None, 2) == n
    assert tc.spark.count(edges, **ids) == reference.count(rows)
    assert_annotated(edges, rows, COLUMNS, **ids)


def test_more_blocks_than_threads(spark, rows):
    """A limit asks for them; many have no edge, and many tasks no triangle."""
    limit = 40_000
    assert plan.choose(plan.Sizes(len(rows), 0), limit, 2) > 2
    assert tc.spark.count(frame_of(spark, rows), memory_limit=limit) == reference.count(rows)


def test_frames_without_edges(spark):
    none = spark.createDataFrame([], "src bigint, dst bigint, n int")
    loops = frame_of(spark, [(1, 1), (2, 2)])
    assert tc.spark.count(none) == tc.spark.count(loops) == 0
    assert rows_of(tc.spark.annotate(none, "triangles", "jaccard")) == []
    answer = rows_of(tc.spark.annotate(loops, "triangles", "forman"))
    assert sorted(answer) == [(1, 1, 0, 0.0), (2, 2, 0, 0.0)]


def test_a_sum_that_64_bits_do_not_hold(spark, monkeypatch):
    """Of eight tasks at most; each says that it has half of what they hold."""
    half = 2**62
    monkeypatch.setattr(
        cells, "count", lambda blocks, n: pa.table({"triangles": pa.array([half], "int64")})
    )
    monkeypatch.setattr(plan, "choose", lambda *_: 2)
    found = tc.spark.count(frame_of(spark, HUB))
    assert found > 2**63 and found % half == 0


@pytest.mark.parametrize("kind", ["bigint", "string"])
def test_large_types_of_arrow(spark, rows, monkeypatch, kind):
    """What Spark asks for by itself, if a cell has more than 2 GiB."""
    rows = named(rows[:200]) if kind == "string" else rows[:200]
    edges, large = frame_of(spark, rows, kind), "spark.sql.execution.arrow.useLargeVarTypes"
    monkeypatch.setattr(plan, "choose", lambda *_: 2)
    spark.conf.set(large, "true")
    try:
        assert tc.spark.count(edges) == reference.count(rows)
        assert_annotated(edges, rows, ["triangles"])
    finally:
        spark.conf.set(large, "false")


@pytest.mark.parametrize("names", [("src", "dst", "w", "w"), ("src", "dst", "Src", "DST"),
                                   ("SRC", "dst", "w", "W"), ("u", "src", "dst", "v")])  # fmt: skip
def test_names_that_occur_twice_or_differ_in_case(spark, names):
    """Spark allows them in a frame, and refuses to read either column by its name."""
    first = names.index("dst") - 1
    rows = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]
    data = [[7 + i] * first + [u, v] + [9 - i] * (2 - first) for i, (u, v) in enumerate(rows)]
    edges = frame_of(spark, [tuple(row) for row in data], names=names)
    assert tc.spark.count(edges) == 1
    assert_annotated(edges, rows, ["triangles", "jaccard"])


@pytest.mark.parametrize(
    ("names", "ids", "words"),
    [
        (("src", "dst", "src"), {}, "'src' occurs 2 times"),
        (("Src", "SRC", "dst"), {}, "differ in upper and lower case only"),
        (("a", "b"), {"source": "A", "destination": "b"}, "source='A' is not a column"),
    ],
)
def test_ids_of_a_name_that_is_not_one_column(spark, names, ids, words):
    with pytest.raises((ValueError, tc.ColumnNotFoundError), match=words):
        tc.spark.count(frame_of(spark, [(1,) * len(names)], names=names), **ids)


def test_what_spark_frames_may_not_be(spark):
    frame = spark.createDataFrame([(0, 1.5, "a", None)], "a int, b double, c string, d int")
    for ids in (("a", "b"), ("a", "c"), ("d", "c")):
        with pytest.raises(tc.IdTypeError, match="cast"):
            tc.spark.count(frame, source=ids[0], destination=ids[1])
    for ids in (("a", "d"), ("d", "a")):
        with pytest.raises(tc.NullIdError, match=r"'d' has 1 missing.*dropna"):
            tc.spark.count(frame, source=ids[0], destination=ids[1])
    with pytest.raises(tc.ColumnNotFoundError):
        tc.spark.count(frame, source="a", destination="e")
    edges = frame_of(spark, [(0, 1, 2)], names=("src", "dst", "Triangles"))
    with pytest.raises(ValueError, match="'triangles' already"):
        tc.spark.annotate(edges, "triangles")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert tc.spark.annotate(edges, "triangles").columns == [*edges.columns, "triangles"]
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


def test_few_edges_in_many_blocks(spark, monkeypatch):
    """Most blocks have no edge, and most tasks lack a block."""
    monkeypatch.setattr(plan, "choose", lambda *_: 4)
    rows = [(0, 1), (1, 2), (2, 0), (2, 3)]
    assert tc.spark.count(frame_of(spark, rows)) == 1
    assert_annotated(frame_of(spark, rows), rows, ["triangles"])


@only_tables
@pytest.mark.parametrize("n", [1, 2, 3])
def test_each_task_gets_its_blocks_once(spark, rows, n):
    """Twice would be right, and cost three times as much."""
    blocks = stages._blocks(stages.open_edges(frame_of(spark, rows), None, None), n)
    sent = [(task, i, j) for task, i, j, _ in stages._tasks(blocks, n).collect()]
    needed = {
        ((i * n + j) * n + k, *place)
        for i, j, k in product(range(n), repeat=3)
        for place in ((i, j), (i, k), (j, k))
    }
    filled = {(i, j) for i, j, _ in blocks.collect()}
    assert sorted(sent) == sorted(of for of in needed if of[1:] in filled)


def test_the_sizes_that_the_plan_needs(spark):
    """By one job; text is measured in bytes."""
    edges = frame_of(spark, [("é", "bc"), ("é", "d"), ("é", "é")], "string")
    assert stages.open_edges(edges, None, None).sizes == plan.Sizes(3, 11)
    numbers = frame_of(spark, [(1, 2)])
    assert stages.open_edges(numbers, None, None).sizes == plan.Sizes(1, 0)


@only_tables
def test_other_functions_collect_the_frame_once(spark, rows):
    edges, spark.jobs = frame_of(spark, rows), 0
    assert (tc.count(edges), spark.jobs) == (reference.count(rows), 1)
    wide = tc.annotate(edges, "triangles")
    assert isinstance(wide, pa.Table) and wide.column_names == ["src", "dst", "triangles"]
    assert tc.Graph(edges).count() == reference.count(rows)


@only_tables
def test_a_column_is_no_frame(spark):
    """Though it has every attribute that is asked for."""
    edges = frame_of(spark, [(0, 1)])
    for function in (tc.count, tc.spark.count):
        with pytest.raises(TypeError, match=r"edges is .*Column"):
            function(edges["src"])
    with pytest.raises(TypeError, match="vertices= is a Column"):
        tc.vertex_triangles(edges, vertices=edges["src"])


def annotate_triangles(edges):
    return tc.spark.annotate(edges, "triangles")


@only_tables
def test_streams_are_refused_before_a_job(spark):
    edges, spark.jobs = frame_of(spark, [(0, 1)]), 0
    edges.isStreaming = True
    for function in (tc.count, tc.Graph, tc.spark.count, annotate_triangles):
        with pytest.raises(TypeError, match=r"streaming.*spark\.read.*foreachBatch"):
            function(edges)
    assert spark.jobs == 0


# With Spark alone ---------------------------------------------------------------------------------

only_spark = pytest.mark.parametrize(
    "spark", [pytest.param("spark", marks=with_spark)], indirect=True
)


@only_spark
def test_timestamps(spark):
    edges = spark.sql(
        "select 1 src, 2 dst, timestamp'2026-01-01 10:00:00' t union all "
        "select 2, 3, timestamp'2026-01-01 10:10:00' union all "
        "select 3, 1, timestamp'2026-01-01 10:20:00'"
    )
    assert (
        tc.count(edges) == tc.spark.count(edges) == tc.count(edges, time="t", within="20min") == 1
    )
    assert tc.count(edges, time="t", within="19min") == 0
    assert_annotated(edges, [(1, 2), (2, 3), (3, 1)], ["triangles"])


@only_spark
def test_streams(spark):
    edges = spark.readStream.format("rate").load()
    for function in (tc.count, tc.spark.count):
        with pytest.raises(TypeError, match=r"streaming.*foreachBatch"):
            function(edges)


@only_spark
def test_a_hub(spark):
    """Of 200,000 neighbors, and half a million rows: in 8 tasks, within their memory."""
    rng = np.random.default_rng(5)
    around = rng.integers(1, 200_000, (300_000, 2))
    frame = pd.DataFrame(around, columns=["src", "dst"])
    hub = pd.DataFrame({"src": 0, "dst": np.arange(1, 200_000)})
    frame = pd.concat([frame, hub], ignore_index=True)
    edges = spark.createDataFrame(frame).persist()
    assert tc.spark.count(edges) == tc.count(frame)


def code_of(page, sign):
    """The code of a block of a page, line by line, after its prompts; `sign` is in it."""
    [block] = [b for b in (DOCS / page).read_text().split("```") if sign in b]
    return block.replace(">>> ", "").splitlines()[1:]


@only_spark
def test_the_pages_run_with_spark(spark, rows, capsys):
    exec("\n".join(code_of("howto/spark.md", "tc.spark.count(df)")), {})
    assert "|  b|  c|        1|    0.5|" in capsys.readouterr().out
    *code, last = code_of("coming_from/graphframes.md", "explode")
    names = {"tc": tc, "edges": spark.createDataFrame(rows, ["src", "dst"])}
    exec("\n".join(code), names)
    joined = [row for row in rows if row[0] != row[1]]  # the page leaves out loops
    assert dict(rows_of(eval(last, names))) == reference.vertex_triangles(joined)


@only_spark
def test_the_examples_run_with_spark(spark):
    import doctest

    for function in (tc.spark.count, tc.spark.annotate):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        for test in doctest.DocTestFinder(recurse=False).find(function, globs={}):
            runner.run(test)
        assert runner.tries > 3 and not runner.failures
