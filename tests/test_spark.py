"""Spark DataFrames: tasks on Arrow tables in this process, and whole calls in a local Spark."""

import importlib
import inspect
import os
import pickle
import re
import subprocess
import sys
from contextlib import nullcontext
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import duckdb
import every_path
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import spark_tables
from every_path import CALLS, FRAME, IDS
from needs import need_module

import rapids_tc as tc
from rapids_tc.executors import spark_cluster, spark_rows, spark_tasks
from rapids_tc.executors.protocol import Executor
from rapids_tc.frames.backend import open_frame
from rapids_tc.graphs import partitioned
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import ANALYTICS, Result

pytestmark = pytest.mark.cpu_only
DOCS = Path(__file__).parents[1] / "docs"
KIND = spark_cluster.SparkExecutor.kind
GPU = "spark.task.resource.gpu.amount"
TWO = BlockLayout(2, 2, peel_below=20)
FEW = {name: [own for one, own in CALLS if one == name][:1] for name, _ in CALLS}


# Without Spark ------------------------------------------------------------------------------------


@pytest.fixture
def session(monkeypatch):
    """A session whose jobs run in this process."""
    for name, module in spark_tables.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(spark_cluster, "SparkJobs", spark_tables.TableJobs)
    monkeypatch.setattr(spark_cluster, "slots_of", lambda _: spark_tables.SLOTS)
    return spark_tables.Session()


def assert_right(name, own, found):
    """Rows of Spark have no index, by which others are told."""
    if isinstance(found, pd.DataFrame) and list(found) == ["triad", "count"]:
        found = dict(zip(found["triad"], found["count"], strict=True))
    if ANALYTICS[name].result is not Result.ROWS:
        return every_path.assert_right(name, own, found)
    right = FRAME.loc[every_path.expected(name, own)]
    rows = pd.concat(found.partitions).itertuples(index=False, name=None)
    assert [*rows] == [*right.itertuples(index=False, name=None)]


@pytest.mark.parametrize("one_slot", [True, False])
def test_tasks_answer_what_a_cluster_answers(session, monkeypatch, one_slot):
    """Every slot runs twice, and some rows are lost on the way."""
    monkeypatch.setattr(spark_tasks, "SMALL", 2**20 if one_slot else -1)
    answered = 0
    for number, (name, [own]) in enumerate(FEW.items()):
        if ANALYTICS[name].local(own, KIND) is not None or number % 2 == one_slot:
            continue
        layout = TWO if number % 4 < 2 and every_path.in_blocks(name, own, TWO) is None else None
        frame, own = spark_tables.frame_of(session, FRAME), dict(own)
        columns, session.lose = own.pop("columns", ()), number % 3
        with use_layout(layout) if layout else nullcontext():
            found = ANALYTICS[name].call(frame, *columns, **own, **IDS)
        own |= {"columns": columns} if columns else {}
        try:
            assert_right(name, own, found)
        except AssertionError as error:
            error.add_note(f"{name} {own}")
            raise
        answered += 1
    assert answered > 6


@pytest.mark.parametrize("lost", [0, 2])
def test_columns_as_of_a_time(session, lost):
    session.lose, own = lost, {"columns": every_path.AS_OF, "within": 4}
    with use_layout(TWO):
        frame = spark_tables.frame_of(session, FRAME)
        found = tc.annotate(frame, *every_path.AS_OF, time="t", within=4, **IDS)
    assert_right("annotate", own, found)


def test_a_graph_answers_many_calls(session):
    graph = tc.Graph(spark_tables.frame_of(session, FRAME), **IDS)
    assert graph.count() == reference.count(every_path.ROWS)
    assert_right("k_truss", {"k": 3}, graph.k_truss(3))


def test_frames_without_edges(session):
    none = spark_tables.frame_of(session, FRAME.iloc[:0])
    assert tc.count(none, **IDS) == 0
    assert [len(part) for part in tc.k_truss(none, 2, **IDS).partitions] == [0]
    assert [len(part) for part in tc.vertex_triangles(none, **IDS).partitions] == [0]


def test_what_changes_between_two_reads_is_refused(session, monkeypatch):
    """A lost executor has Spark read the frame again; the call begins again, a few times."""
    frame = spark_tables.frame_of(session, FRAME, changing=1)
    session.lose, session.after = 1, 1
    assert tc.count(frame, memory_limit="1GB", **IDS) == reference.count(every_path.ROWS)
    assert session.lose == 0
    monkeypatch.setattr(partitioned, "CALLS", 1)
    session.lose, session.after = 1, session.jobs + 1
    with pytest.raises(tc.KernelError, match="changed"):
        tc.count(frame, memory_limit="1GB", **IDS)
    session.lose = 10**9
    with pytest.raises(tc.KernelError, match=r"lost again and again.*memory_limit="):
        tc.count(spark_tables.frame_of(session, FRAME), **IDS)


def test_other_partitions_of_a_second_read_are_refused(session):
    frame = spark_tables.frame_of(session, FRAME)
    read, times = spark_tables.TableJobs.read, []

    def fewer(jobs, node, of):
        times.append(node)
        part, labels = of
        part.tables = part.tables[: -len(times)]
        return read(jobs, node, (part, labels))

    session.lose, session.after = 1, 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitioned, "CALLS", 1)
        patch.setattr(spark_tables.TableJobs, "read", fewer)
        with pytest.raises(tc.KernelError, match="other partitions"):
            tc.count(frame, memory_limit="1GB", **IDS)


def test_what_is_refused_names_the_way(session):
    """In one sentence, and before a job."""
    edges = spark_tables.frame_of(session, FRAME)
    refused = [name for name, own in FEW.items() if ANALYTICS[name].local(own[0], KIND)]
    assert {"edge_triangles", "iter_triangles", "project"} <= {*refused}
    for name in refused:
        error = str(ANALYTICS[name].local(FEW[name][0], KIND))
        assert "annotate(" in error or "toArrow()" in error, name
        assert "compute()" not in error
    with pytest.raises(TypeError, match=r"insert= is a Spark DataFrame.*\.toArrow\(\)"):
        tc.Graph(FRAME[["src", "dst"]]).update(insert=edges)
    with pytest.raises(TypeError, match=r"edges\.toArrow\(\)"):
        open_frame(edges, None)
    edges.isStreaming = True
    for function in (tc.count, tc.Graph, tc.spark.count):
        with pytest.raises(TypeError, match=r"streaming.*spark\.read.*foreachBatch"):
            function(edges)
    column = type("Column", (), {"__module__": "pyspark.sql.column"})()
    with pytest.raises(TypeError, match=r"edges is .*Column"):
        tc.count(column)
    assert session.jobs == 0


def test_the_memory_of_a_task_is_estimated(session):
    """Spark counts the rows, each of which may have two ids of its own; a limit makes blocks."""
    edges = spark_tables.frame_of(session, FRAME)
    small, wide = (tc.memory_estimate(edges, function=name, **IDS) for name in ("count", "k_truss"))
    assert small["blocks"] == 1 and 20 * len(FRAME) < small["worker"] < wide["worker"] < 10**6
    many = tc.memory_estimate(edges, memory_limit=1000, **IDS)
    assert many["blocks"] > 1
    with pytest.raises(TypeError, match=r"Spark DataFrame, and project runs on one.*toArrow\(\)"):
        tc.memory_estimate(edges, function="project", **IDS)
    assert session.jobs == 0
    graph = tc.Graph(edges, **IDS)
    assert 0 < graph.memory_estimate()["worker"] < small["worker"]


@pytest.mark.parametrize("by", ["setting", "context", None])
def test_what_tasks_return_is_kept_where_no_executor_can_lose_it(monkeypatch, by):
    """In files, if the session has a folder for checkpoints."""
    functions = SimpleNamespace(col=lambda name: SimpleNamespace())
    monkeypatch.setattr(spark_cluster, "functions", lambda: functions)
    monkeypatch.setattr(spark_cluster, "_asked", lambda action: action())
    session, asked = spark_tables.Session(), []
    if by == "setting":
        session.conf[spark_cluster.FOLDER] = "hdfs:/folder"
    else:
        folder = "hdfs:/folder" if by else None
        session.sparkContext = SimpleNamespace(getCheckpointDir=lambda: folder)

    class Made:
        def checkpoint(self):
            return asked.append("files") or self

        def localCheckpoint(self, eager):
            return asked.append("disks") or self

        def where(self, _):
            return self

        def select(self, *_):
            return self

        def collect(self):
            return [(3, -1, b"told")]

    _, told = spark_cluster.SparkJobs(session)._kept(Made())
    assert asked == ["files" if by else "disks"] and told == [(3, -1, b"told")]


def test_executors_have_the_whole_protocol():
    public = [name for name in vars(Executor) if not name.startswith("_")]
    ours = spark_cluster.SparkExecutor
    assert [name for name in public if not hasattr(ours, name)] == []
    for name in public:
        if callable(asked := getattr(Executor, name)):
            both = inspect.signature(asked), inspect.signature(getattr(ours, name))
            assert [*both[0].parameters] == [*both[1].parameters]


def test_new_columns_differ_from_others_as_spark_compares_them(session):
    named = spark_tables.frame_of(session, FRAME.rename(columns={"w": "Triangles"}))
    with pytest.raises(ValueError, match="'triangles' already"):
        tc.annotate(named, "triangles", **IDS)
    session.conf[spark_cluster.CASE] = "true"
    assert list(tc.annotate(named, "triangles", **IDS).partitions[0])[-2:] == [
        "Triangles",
        "triangles",
    ]


def test_values_in_pieces(session, monkeypatch):
    """In any order; items of a list apart, and what is small beside them."""
    monkeypatch.setattr(spark_rows, "PIECE", 1000)
    for value in (np.arange(5000), [np.arange(9000), "b"], (), {"a": 1}, None, [2, 3]):
        rows = [*spark_rows.written(7, value)]
        told = pickle.loads(rows[0][3])
        slot = spark_rows.Slot()
        for batch in spark_rows.to_batches(reversed(rows[1:]), "large_binary"):
            for node, item, piece, data in spark_rows.rows_of(batch):
                slot.found[node, item].append((piece, data))
        items = [*slot.items(7, range(len(told.sizes)))]
        found = told.kind(items) if told.kind else items[0]
        assert repr(found) == repr(value)
        assert told.value in (None, (value,))
    assert told.value == ([2, 3],)


def test_frames_keep_what_arrow_tells_apart():
    """NaN and null, and times with their zone; numbers without a null are NumPy's."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    table = pa.table({
        "a": [1.5, float("nan"), None], "b": [1, 2, 3], "c": [b"x", None, b""],
        "d": pa.array([at, None, at], pa.timestamp("us", "Asia/Tokyo")), "e": [[1], [], None],
        "f": [float("nan"), 0.0, 1.0],
    })  # fmt: skip
    frame = spark_rows.frame_of(table, ["a", "b", "b", "x.y", 5, ""])
    assert str(frame.iloc[:, 1].dtype) == "int64" and [*frame.columns][3] == "x.y"
    rows = [row for row in spark_rows.written(1, frame) if row[2] >= 0]
    batches = [spark_rows.to_batch(rows, "binary")]
    made = pa.Table.from_batches(
        spark_rows.answers(batches, table.column_names, table.schema.types)
    )
    assert repr(made.to_pylist()) == repr(table.to_pylist())


def test_an_error_of_a_task_comes_as_it_is(session):
    null = FRAME.assign(src=FRAME["src"].astype("Int64").mask(FRAME.index == 3))
    with pytest.raises(tc.NullIdError, match="'src'"):
        tc.count(spark_tables.frame_of(session, null), **IDS)
    with pytest.raises(tc.ColumnNotFoundError, match="'nothing'"):
        tc.count(spark_tables.frame_of(session, FRAME), source="nothing", destination="dst")
    unsent = type("Unsent", (Exception,), {})("why")
    assert "Unsent: why" in str(spark_rows._sent(unsent))


def test_tasks_take_the_gpu_that_spark_gives_them(monkeypatch):
    """By its address, or its only one where others are hidden."""
    used = []

    class Device:
        def __init__(self, number):
            used.append(number)

        __enter__ = __exit__ = lambda *_: None

    runtime = SimpleNamespace(getDeviceCount=lambda: 4)
    cuda = SimpleNamespace(Device=Device, runtime=runtime)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    for name, module in spark_tables.modules(gpu="3").items():
        monkeypatch.setitem(sys.modules, name, module)
    assert [*spark_rows.run_tasks([])] == []
    runtime.getDeviceCount = lambda: 1
    assert [*spark_rows.run_tasks([])] == []
    assert used == [3, 0]
    frame = spark_tables.frame_of(spark_tables.Session(**{GPU: "1"}), FRAME)
    assert spark_cluster.SparkExecutor(frame, None).engine == "cuda"
    assert spark_cluster.SparkExecutor(spark_tables.frame_of(spark_tables.Session(), FRAME),
                                       None).engine is None  # fmt: skip


def test_executors_are_asked_for_the_package():
    """By a function that travels as a whole, and needs nothing of it."""
    space = {"__name__": "__main__"}
    exec(spark_cluster._ASK, space)
    [answer] = next(space["ask"]([])).to_pylist()
    assert answer["python"] == sys.executable and answer["version"] == tc.__version__
    told = [(answer["python"], answer["version"], answer["edition"])]
    assert spark_cluster.require_same(told) == 1
    for version, has in [("1.0", "1.0 of other sources"), (None, r"none \(No module")]:
        with pytest.raises(tc.KernelError, match=rf"/bin/python, has .*{has}.*PYSPARK_PYTHON"):
            spark_cluster.require_same([("/bin/python", version, "No module named 'rapids_tc'")])


CALLED = (
    "An error occurred while calling o65.collect.\n: org.apache.spark.SparkException: Job aborted "
    "due to stage failure: Task 1 failed 4 times, most recent failure: Lost task 1.0 in stage 0.0: "
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[X] Job aborted.\n  at org.Error\nValueError: not so\n", "ValueError: not so"),
        ("no sign", "no sign"),
        ("PYTHON_VERSION_MISMATCH 3.9 3.11", "PYSPARK_PYTHON"),
        ("ModuleNotFoundError: No module named 'pyarrow'", "PYSPARK_PYTHON"),
        (
            f'{CALLED}java.io.IOException: Cannot run program "/a": error=2\n\tat org.X',
            'IOException: Cannot run program "/a": error=2; have executors run .* PYSPARK_PYTHON',
        ),
        (
            f"{CALLED}ExecutorLostFailure (executor 0 exited) Reason: killed\nDriver stacktrace:",
            "^Lost task 1.0.*: ExecutorLostFailure.*killed$",
        ),
        ("An error occurred while calling o65.collect.", "^no word of why$"),
    ],
)
def test_errors_of_spark_in_a_sentence(text, sentence):
    found = spark_cluster._sentence(text)
    assert re.search(sentence, found) and "org." not in found


# With Spark ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    """A Spark of two threads."""
    if not os.environ.get("RAPIDS_TC_SPARK"):
        pytest.skip("runs Spark, by Java 17: RAPIDS_TC_SPARK=1 pytest tests/test_spark.py")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session_of = importlib.import_module("pyspark.sql").SparkSession
    builder = session_of.builder.master("local[2]").config("spark.ui.enabled", "false")
    zone = builder.config("spark.sql.session.timeZone", "America/Lima")
    session = zone.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    yield session
    session.stop()


def rows_of(frame):
    return [tuple(row) for row in frame.collect()]


def random_edges(seed):
    """Edges with repeats, both ways, loops, a hub, and rows without what is not asked."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    ends = rng.integers(0, n, (int(rng.integers(1, 6 * n)), 2))
    ends = np.vstack([ends, ends[::3, ::-1], np.column_stack([[0] * n, range(n)])])
    frame = pd.DataFrame(ends, columns=["src", "dst"])
    frame["kind"] = np.array(["mail", "call", "visit"])[ends.sum(axis=1) % 3]
    frame["t"] = rng.integers(0, 9, len(frame))
    frame["g"] = rng.integers(0, 2, len(frame))
    frame["h"] = frame["g"]
    frame["note"] = np.where(frame.index % 4, "x", None)
    if seed % 3 == 0:
        frame[["src", "dst"]] = frame[["src", "dst"]].map(lambda v: "é\U0001f600"[v % 2] + str(v))
    if seed % 3 == 1:
        frame[["src", "dst"]] = (frame[["src", "dst"]] - 2**31).astype("int32")
    return frame


def assert_equal(answer, right, by=None):
    """The rows of an answer, in any order, are those of the one in memory."""
    answer = answer.toPandas()
    assert [*answer.columns] == [*right.columns]
    keys = by or [*right.columns]
    both = (x.astype(object).where(x.notna(), None) for x in (answer, right))
    one, other = (x.sort_values(keys, ignore_index=True, na_position="first") for x in both)
    for name in right.columns:
        assert one[name].tolist() == pytest.approx(other[name].tolist(), abs=1e-12), name


def by_duckdb(frame):
    """The triangles of a frame by a query."""
    text = frame[["src", "dst"]].astype(str)
    return duckdb.sql(
        "with e as (select distinct least(src, dst) a, greatest(src, dst) b from text "
        "where src <> dst) select count(*) from e x join e y on x.b = y.a "
        "join e z on z.a = x.a and z.b = y.b"
    ).fetchall()[0][0] if len(text) else 0  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_in_spark(spark, monkeypatch, seed):
    """By waves or in one slot, in partitions some of which have no row."""
    monkeypatch.setattr(spark_tasks, "SMALL", [2**20, -1][seed % 2])
    frame = random_edges(seed)
    edges = spark.createDataFrame(frame).repartition(5)
    assert tc.count(edges) == by_duckdb(frame) == tc.count(frame)
    ids = ["src", "dst", "kind", "t", "g", "h", "note"]
    columns = "triangles", "trussness", "jaccard"
    assert_equal(tc.annotate(edges, *columns), tc.annotate(frame, *columns), by=ids)
    ends = {"source": ["src", "g"], "destination": ["dst", "h"]}
    assert tc.count(edges, **ends) == tc.count(frame, **ends)
    assert_equal(tc.clustering(edges, by="g"), tc.clustering(frame, by="g"))
    assert_equal(tc.list_triangles(edges), tc.list_triangles(frame))
    assert tc.transitivity(edges) == pytest.approx(tc.transitivity(frame))


def test_more_functions_in_spark(spark):
    frame = random_edges(2)
    edges = spark.createDataFrame(frame)
    for function, options in [
        (tc.vertex_triangles, {}),
        (tc.count, {"by": "g"}),
        (tc.triangles_by_type, {"edge_type": "kind"}),
        (tc.triangles_over_time, {"time": "t"}),
        (tc.simple_edges, {}),
        (tc.triad_counts, {}),
    ]:
        assert_equal(function(edges, **options), function(frame, **options))
    assert tc.average_clustering(edges) == pytest.approx(tc.average_clustering(frame))
    within = {"time": "t", "within": 2}
    assert tc.count(edges, **within) == tc.count(frame, **within)
    found = sorted(rows_of(tc.k_truss(edges, 4).select("src", "dst")))
    kept = tc.k_truss(frame, 4)
    pairs = {frozenset(p) for p in zip(kept["src"], kept["dst"], strict=True)}
    assert {frozenset(p) for p in found} == pairs and len(found) == len(kept)
    graph = tc.Graph(edges)
    assert graph.count() == tc.count(frame)
    assert_equal(graph.vertex_triangles(), tc.vertex_triangles(frame))


def test_columns_of_any_type_come_back(spark):
    """Also of names that occur twice, or differ in case only."""
    utc = datetime(2026, 1, 1, 10, tzinfo=UTC)
    rows = [
        (u, v, [1, None], {"k": 1.5}, Decimal("1.20"), date(2026, 1, 2), b"\0", utc, None, "w")
        for u, v in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]
    ]
    schema = (
        "src smallint, dst int, `a b` array<int>, m map<string,double>, d decimal(10,2), day date, "
        "x binary, at timestamp, z timestamp_ntz, low string"
    )
    edges = spark.createDataFrame(rows, schema)
    edges = edges.toDF(*[*edges.columns[:-1], "M"])
    wide = tc.annotate(edges, "triangles")
    assert wide.dtypes == [*edges.dtypes, ("triangles", "bigint")]
    right = sorted(((*row, int(row[1] < 3 and row[0] < 3)) for row in rows_of(edges)), key=repr)
    assert sorted(rows_of(wide), key=repr) == right
    twice = edges.toDF(*["src", "dst", *["w"] * 8])
    assert tc.count(twice) == 1 and tc.annotate(twice, "triangles").count() == 5
    taken = edges.withColumnRenamed("x", "Triangles")
    with pytest.raises(ValueError, match="'triangles' already"):
        tc.annotate(taken, "triangles")
    with pytest.raises(tc.IdTypeError):
        tc.count(edges, source="day", destination="dst")
    assert tc.count(edges.withColumn("t", edges["at"]), time="t", within="20min") == 1


def test_large_types_of_arrow(spark):
    frame, large = random_edges(3), spark_cluster.LARGE
    spark.conf.set(large, "true")
    try:
        edges = spark.createDataFrame(frame)
        assert_equal(tc.vertex_triangles(edges), tc.vertex_triangles(frame))
        wide = tc.annotate(edges, "triangles")
        assert (
            wide.agg({"triangles": "sum"}).first()[0]
            == tc.annotate(frame, "triangles")["triangles"].sum()
        )
    finally:
        spark.conf.set(large, "false")


def test_streams(spark):
    with pytest.raises(TypeError, match=r"streaming.*foreachBatch"):
        tc.count(spark.readStream.format("rate").load())


CONNECT = """
import rapids_tc as tc, test_spark as t
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[2]").getOrCreate()
frame = t.random_edges(2)
edges = spark.createDataFrame(frame).repartition(5)
assert type(edges).__module__.startswith("pyspark.sql.connect")
assert tc.count(edges) == t.by_duckdb(frame)
ids = ["src", "dst", "kind", "t", "g", "h", "note"]
added = "triangles", "trussness"
t.assert_equal(tc.annotate(edges, *added), tc.annotate(frame, *added), ids)
t.assert_equal(tc.vertex_triangles(edges), tc.vertex_triangles(frame))
t.assert_equal(tc.list_triangles(edges), tc.list_triangles(frame))
one, other = (
    sorted(sorted(ends) for ends in zip(kept["src"], kept["dst"]))
    for kept in (tc.k_truss(edges, 4).toPandas(), tc.k_truss(frame, 4))
)
assert one == other
assert tc.Graph(edges).count() == tc.count(frame)
t.test_columns_of_any_type_come_back(spark)
t.test_streams(spark)
spark.stop()
"""


def test_spark_connect(spark):
    """In a process of its own, whose server is on this machine."""
    need_module("grpc")
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": paths})  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def code_of(page, sign):
    """The code of a block of a page, line by line, after its prompts; `sign` is in it."""
    [block] = [b for b in (DOCS / page).read_text().split("```") if sign in b]
    return block.replace(">>> ", "").splitlines()[1:]


def test_the_pages_run_with_spark(spark, capsys):
    exec("\n".join(code_of("howto/spark.md", "tc.count(df)")), {})
    assert "|  b|  c|        1|    0.5|" in capsys.readouterr().out
    frame = random_edges(3)
    names = {"tc": tc, "edges": spark.createDataFrame(frame)}
    exec("\n".join(code_of("coming_from/graphframes.md", "total = tc.count")), names)
    assert names["total"] == tc.count(frame)
