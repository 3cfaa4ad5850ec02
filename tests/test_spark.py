"""Spark DataFrames: the functions of tables in this process, and whole calls in a local Spark."""

import os
import pickle
import shutil
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import spark_tables
from emulator_support import long
from graphs import small
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.plan import costs
from rapids_tc.spark import cells, plan

pytestmark = pytest.mark.cpu_only
COLUMNS = ["triangles", "jaccard", "overlap", "sorensen", "cosine", "forman", "edge_clustering"]
DOCS = Path(__file__).parents[1] / "docs"
PREFIXES = "\uffee\U0001f600é"
VERTICES = st.sampled_from([-(2**63), -5, *range(9), 2**63 - 1])
ROWS = st.lists(st.tuples(VERTICES, VERTICES), min_size=1, max_size=60)
HUB = [(0, v) for v in range(1, 30)]  # whose neighbors are in no other edge, but for a few


# Without Spark ------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, n=st.integers(1, 4), text=st.booleans())
def test_tasks_on_blocks_find_each_triangle_once(rows, n, text):
    rows = [*rows, *HUB]
    if text:
        rows = [(f"é{u}", f"é{v}") for u, v in rows]
    assert spark_tables.count(rows, n) == reference.count(rows)


@settings(max_examples=25, deadline=None)
@given(rows=ROWS, n=st.integers(1, 3), text=st.booleans())
def test_columns_of_blocks(rows, n, text):
    rows = [*rows, *HUB]
    if text:
        rows = [(f"é{u}", f"é{v}") for u, v in rows]
    answer, expected = spark_tables.annotate(rows, n, COLUMNS), reference.annotate(rows, COLUMNS)
    for name in COLUMNS:
        assert answer[name] == pytest.approx(expected[name], abs=1e-12)


def test_other_sources_are_refused():
    with pytest.raises(tc.KernelError, match="driver"):
        cells.require_same("other")


def edges_of_block(**columns):
    columns = {"i": [0], "j": [0], "u": [2], "v": [1], "u_degree": [3], "v_degree": [3]} | columns
    return pa.table(columns)


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


# With Spark ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    """A Spark of two threads in this process."""
    pyspark = pytest.importorskip("pyspark", reason="needs PySpark: pip install 'rapids_tc[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("needs Java 17 or later, for Spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    sql = import_module(f"{pyspark.__name__}.sql")
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def rows_of(frame):
    return [tuple(row) for row in frame.collect()]


@pytest.fixture(scope="module")
def rows():
    """Edges with repeats, both directions, loops, a hub and negative ids."""
    frame = datasets.rmat(6)
    pairs = [*zip(frame["src"].tolist(), frame["dst"].tolist(), strict=True)][:400]
    return [(u - 9, v - 9) for u, v in [*pairs, *pairs[:40], (3, 3), *HUB]]


@long
@pytest.mark.parametrize("kind", ["bigint", "mixed", "string"])
def test_whole_calls(spark, monkeypatch, rows, kind):
    """In one block and in several; the user's columns come back as they were."""
    types = {"mixed": ("smallint", "int")}.get(kind, (kind, kind))
    if kind == "string":  # ids whose order by bytes is another than by UTF-16
        rows = [tuple(PREFIXES[v % 3] + str(v) for v in row) for row in rows]
    data = [(u, v, f"row {i}", [i]) for i, (u, v) in enumerate(rows)]
    edges = spark.createDataFrame(data, ["a b", "x.y", "low", "High"])
    for label, name in zip(["a b", "x.y"], types, strict=True):
        edges = edges.withColumn(label, edges[f"`{label}`"].cast(name))
    ids = {"source": "a b", "destination": "x.y"}
    expected = reference.annotate(rows, COLUMNS)
    for worth, n in ((2**18, 1), (0, 2)):
        monkeypatch.setattr(plan, "WORTH_TASKS", worth)
        assert plan.choose(plan.Sizes(len(rows), 0), None, 2) == n
        assert tc.spark.count(edges, **ids) == reference.count(rows)
        wide = tc.spark.annotate(edges, *COLUMNS, **ids)
        assert wide.columns == [*edges.columns, *COLUMNS]
        assert wide.dtypes[: len(edges.columns)] == edges.dtypes
        made = sorted(rows_of(wide), key=lambda row: row[3])
        assert [row[:4] for row in made] == rows_of(edges)
        for place, name in enumerate(COLUMNS, 4):
            values = reference.by_row(rows, expected[name])
            assert [row[place] for row in made] == pytest.approx(values, abs=1e-12)


@long
def test_more_blocks_than_threads(spark, rows):
    """A limit asks for them; many have no edge, and many tasks no triangle."""
    edges = spark.createDataFrame(pd.DataFrame(rows, columns=["src", "dst"]))
    limit = 40_000
    assert plan.choose(plan.Sizes(len(rows), 0), limit, 2) > 2
    assert tc.spark.count(edges, memory_limit=limit) == reference.count(rows)


@long
def test_frames_without_edges(spark):
    none = spark.createDataFrame([], "src bigint, dst bigint, n int")
    loops = spark.createDataFrame([(1, 1), (2, 2)], ["src", "dst"])
    assert tc.spark.count(none) == tc.spark.count(loops) == 0
    assert rows_of(tc.spark.annotate(none, "triangles", "jaccard")) == []
    answer = rows_of(tc.spark.annotate(loops, "triangles", "forman"))
    assert sorted(answer) == [(1, 1, 0, 0.0), (2, 2, 0, 0.0)]


@long
def test_what_spark_frames_may_not_be(spark):
    frame = spark.createDataFrame([(0, 1.5, "a", None)], "a int, b double, c string, d int")
    for ids in (("a", "b"), ("a", "c")):
        with pytest.raises(tc.IdTypeError, match="cast"):
            tc.spark.count(frame, source=ids[0], destination=ids[1])
    with pytest.raises(tc.NullIdError, match=r"'d' has 1 missing.*dropna"):
        tc.spark.count(frame, source="a", destination="d")
    with pytest.raises(tc.ColumnNotFoundError):
        tc.spark.count(frame, source="a", destination="e")
    edges = spark.createDataFrame([(0, 1, 2)], ["src", "dst", "Triangles"])
    with pytest.raises(ValueError, match="'triangles' already"):
        tc.spark.annotate(edges, "triangles")


@long
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


@long
def test_the_pages_run_with_spark(spark, rows, capsys):
    exec("\n".join(code_of("howto/spark.md", "tc.spark.count(df)")), {})
    assert "|  b|  c|        1|    0.5|" in capsys.readouterr().out
    *code, last = code_of("coming_from/graphframes.md", "explode")
    names = {"tc": tc, "edges": spark.createDataFrame(rows, ["src", "dst"])}
    exec("\n".join(code), names)
    assert dict(rows_of(eval(last, names))) == reference.vertex_triangles(rows)


@long
def test_the_examples_run_with_spark(spark):
    import doctest

    for function in (tc.spark.count, tc.spark.annotate):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        for test in doctest.DocTestFinder(recurse=False).find(function, globs={}):
            runner.run(test)
        assert runner.tries > 3 and not runner.failures
