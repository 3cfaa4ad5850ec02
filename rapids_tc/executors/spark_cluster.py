"""The executor of Spark DataFrames, and the jobs by which Spark runs its tasks.

All work is jobs on DataFrames, of a classic session or of Spark Connect. What tasks return is kept
by `localCheckpoint` on the disks of the executors, and lost with them; it is gone once no task and
no answer holds it. If the session has a folder for checkpoints, files there keep it instead.
"""

from __future__ import annotations

import pickle
import pkgutil
import sys
from decimal import Decimal
from functools import reduce
from itertools import cycle
from math import ceil
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rapids_tc._progress import Choice, check_progress
from rapids_tc.errors import KernelError
from rapids_tc.executors import spark_rows, versions
from rapids_tc.executors.protocol import Batch, Worker
from rapids_tc.executors.spark_rows import CALLS, OF_ALL, OUT, Header
from rapids_tc.executors.spark_tasks import LostError, Task, TaskGraph
from rapids_tc.preparation.edge_columns import check_new

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from rapids_tc._typing import EngineName
    from rapids_tc.executors.protocol import Name
    from rapids_tc.executors.spark_rows import Calls
    from rapids_tc.frames.backend import Frame

SparkFrame = Any
TASK_MEMORY = 2**30  # bytes of a task in Python: executors have one or a few GiB per core
BATCH_SHARE = 16  # partitions are taken together up to this part of the memory of a task
LOST = ("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", "Checkpoint block", "MetadataFetchFailed",
        "FetchFailed", "BLOCK_NOT_FOUND")  # fmt: skip
CALLING, RECENT = "An error occurred while calling", "most recent failure: "  # in errors of Spark
CASE = "spark.sql.caseSensitive"
ZONE = "spark.sql.session.timeZone"
LARGE = "spark.sql.execution.arrow.useLargeVarTypes"
FOLDER = "spark.checkpoint.dir"


def functions() -> Any:
    """Return the functions of Spark's columns."""
    from pyspark.sql import functions

    return functions


class SparkJobs:
    """The jobs of a session."""

    def __init__(self, session: Any) -> None:
        self.session = session

    @property
    def is_large(self) -> bool:
        """Whether text and bytes have the large types of Arrow on their way to Python."""
        return bool(self.session.conf.get(LARGE, "false") == "true")

    @property
    def has_folder(self) -> bool:
        """Whether the session has a folder for checkpoints, which executors cannot lose."""
        context = getattr(self.session, "sparkContext", None)  # which Spark Connect has not
        named = self.session.conf.get(FOLDER, "") or (context and context.getCheckpointDir())
        return bool(named)

    def read(self, node: int, of: SparkFrame) -> tuple[Any, dict[int, tuple[int, int]]]:
        """Keep the rows of a frame, whose labels come with it, as frames of pandas."""
        frame, labels = of
        kind = "large_binary" if self.is_large else "binary"

        def read(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            context: Any = TaskContext.get()  # of PySpark, whose types not every checker has
            partition = context.partitionId()
            yield from spark_rows.read_rows(batches, node, labels, partition, kind)

        kept, told = self._kept(frame.mapInArrow(read, OUT))
        return kept, {item: pickle.loads(data) for _, item, data in told}

    def run(
        self, calls: list[Calls], needed: list[tuple[int, int, int]], kept: list[Any]
    ) -> tuple[Any, dict[int, Header]]:
        """Run the calls, one per slot, and return their rows and headers by node."""
        f = functions()
        rows = [
            (slot, *piece)
            for slot, of_slot in enumerate(calls)
            for piece in spark_rows.pieces(CALLS, 0, pickle.dumps(of_slot, protocol=5))
        ]
        given = self._frame(rows, ["slot", "node", "item", "piece", "data"])
        if needed:
            places = f.broadcast(self._frame(needed, ["node", "item", "slot"]))
            stored = self._stored(kept).join(places, ["node", "item"])
            given = given.unionByName(stored.select(*given.columns))
        made = given.repartitionById(len(calls), given["slot"]).mapInArrow(
            spark_rows.run_tasks, OUT
        )
        result, told = self._kept(made)
        return result, {node: pickle.loads(data) for node, _, data in told}

    def fetch(self, needed: list[tuple[int, int]], kept: list[Any]) -> dict[tuple[int, int], Any]:
        """Return items of nodes in this process."""
        places = functions().broadcast(self._frame(needed, ["node", "item"]))
        table = _asked(lambda: self._stored(kept).join(places, ["node", "item"]).toArrow())
        slot = spark_rows.Slot()
        for batch in table.to_batches():
            for node, item, piece, data in spark_rows.rows_of(batch):
                slot.found[node, item].append((piece, data))
        return {key: next(slot.items(key[0], [key[1]])) for key in needed}

    def answer(
        self, needed: list[tuple[int, int]], kept: list[Any], schema: Any, own: Any,
        labels: list[str],
    ) -> SparkFrame:  # fmt: skip
        """Return the rows of frames that are kept, under labels.

        `schema` is Arrow's; `own` is a frame of Spark whose types the first columns have.
        """
        from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
        from pyspark.sql.types import StructType

        fields = from_arrow_schema(schema, prefer_timestamp_ntz=True).fields
        types = [field.dataType for field in fields]
        if own is not None:
            types[: len(own.columns)] = [field.dataType for field in own.schema.fields]
        made = StructType()
        for place, kind in enumerate(types):
            made = made.add(f"c{place}", kind)
        zone = self.session.conf.get(ZONE)
        wanted = to_arrow_schema(made, timezone=zone, prefers_large_types=self.is_large)
        names, kinds = wanted.names, wanted.types
        places = functions().broadcast(self._frame(needed, ["node", "item"]))
        stored = self._stored(kept).join(places, ["node", "item"], "leftsemi")
        rows = stored.mapInArrow(lambda batches: spark_rows.answers(batches, names, kinds), made)
        return rows.toDF(*labels)

    def _stored(self, kept: list[Any]) -> SparkFrame:
        f = functions()
        return reduce(lambda a, b: a.unionByName(b), kept).where(f.col("piece") != OF_ALL)

    def _kept(self, made: SparkFrame) -> tuple[SparkFrame, list[Any]]:
        """Have rows made and kept; return their frame, and what is told of them."""
        f = functions()
        if self.has_folder:
            kept = _asked(made.checkpoint)  # at once: later, all would be made twice
        else:
            kept = _asked(lambda: made.localCheckpoint(eager=False))  # shuffles run at once
        told = kept.where(f.col("piece") == OF_ALL).select("node", "item", "data")
        rows = _asked(told.collect)
        return kept, [(row[0], row[1], bytes(row[2])) for row in rows]

    def _frame(self, rows: list[Any], names: list[str]) -> SparkFrame:
        """Make a small frame of rows."""
        import pyarrow as pa

        types = {"slot": "int32", "node": "int64", "item": "int64", "piece": "int32",
                 "data": "binary"}  # fmt: skip
        columns = zip(*rows, strict=True)
        arrays = [pa.array(c, types[name]) for c, name in zip(columns, names, strict=True)]
        return self.session.createDataFrame(pa.Table.from_arrays(arrays, names))


def _asked(action: Any) -> Any:
    """Run a job.

    Raises
    ------
    LostError
        Rows that were kept are lost.
    KernelError
        Spark cannot run it.
    """
    from pyspark.errors import PySparkException

    try:
        return action()
    except Exception as error:
        text = str(error)
        if any(sign in text for sign in LOST):
            raise LostError from error
        if not isinstance(error, PySparkException) and "Py4J" not in type(error).__name__:
            raise
        raise KernelError(f"Spark could not run a job of the call: {_sentence(text)}") from error


OTHER_PYTHON = "No module named", "PYTHON_VERSION_MISMATCH", "Cannot run program"


def _sentence(text: str) -> str:
    """Return the line of an error of Spark that says what is wrong."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", CALLING))]
    told = [line for line in lines if "Error" in line][-1:] or lines or ["no word of why"]
    why = told[0].removeprefix(": ").removeprefix("Caused by: ").rpartition(RECENT)[2]
    why = why[:300].rstrip(".")
    if any(sign in why for sign in OTHER_PYTHON):
        why += f"; have executors run a Python like this one, by PYSPARK_PYTHON={sys.executable}"
    return why


class SparkExecutor:
    """The tasks of one call on a Spark DataFrame.

    Parameters
    ----------
    edges : pyspark.sql.DataFrame
    progress : bool or None
        Checked alone: Spark has a bar of its own.
    """

    kind = "Spark DataFrame"

    def __init__(self, edges: SparkFrame, progress: Choice) -> None:
        require_batch(edges)
        self.progress = check_progress(progress)
        self._edges, self._labels = edges, list(edges.columns)
        self._session = edges.sparkSession
        self._graph = TaskGraph(SparkJobs(self._session))
        self._workers: list[Worker] | None = None
        self._meta: Any = None

    @property
    def engine(self) -> EngineName | None:
        """CUDA, if Spark gives each task a GPU."""
        amount = self._session.conf.get("spark.task.resource.gpu.amount", "0")
        return "cuda" if float(amount) > 0 else None

    @property
    def meta(self) -> Frame:
        """A frame of pandas without rows."""
        if self._meta is None:
            from pyspark.sql.pandas.types import to_arrow_schema

            zone = self._session.conf.get(ZONE)
            schema = to_arrow_schema(self._edges.schema, timezone=zone)
            self._meta = spark_rows.frame_of(schema.empty_table(), self._labels)
        return self._meta

    npartitions = -1  # which is not known; so calls on a Graph read whole rows, in the same parts

    def is_held(self) -> bool:
        """Return False: rows are read by each call."""
        return False

    def rows(self) -> int | None:
        """Have Spark count the rows."""
        return int(self._edges.count())

    def renewed(self, progress: Choice) -> SparkExecutor:
        """Return the executor of a call on a graph that this one has prepared."""
        other = SparkExecutor(self._edges, progress)
        other.kind = f"Graph of a {self.kind}"
        other._graph, other._workers = self._graph, self._workers
        return other

    def beside(self, frame: SparkFrame) -> SparkExecutor:
        """Return an executor of the same call for another frame."""
        other = SparkExecutor(frame, self.progress)
        other._graph, other._workers = self._graph, self._workers
        return other

    def __enter__(self) -> SparkExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        return None

    def workers(self) -> list[Worker]:
        """List as many workers as Spark runs tasks at once; KernelError if versions differ."""
        if self._workers is None:
            threads = int(self._session.conf.get("spark.task.cpus", "1"))
            slots = slots_of(self._session)
            self._workers = [Worker(f"spark-{at}:0", threads, TASK_MEMORY) for at in range(slots)]
        return self._workers

    def partitions(self, labels: Sequence[Any] | None) -> list[Task]:
        """Read the rows once, with some columns or all; a partition may give several parts."""
        chosen = self._labels if labels is None else list(labels)
        own = [f"c{place}" for place in range(len(self._labels))]
        frame = self._edges.toDF(*own)
        names = own if labels is None else [own[self._labels.index(label)] for label in chosen]
        empty = self.meta if labels is None else self.meta[chosen]
        return self._graph.read((frame.select(*names), chosen), empty)

    def heads(self) -> list[Frame]:
        """Return a partition without its rows."""
        return [self.meta]

    def holder(self, partitions: list[Task]) -> tuple[str, int] | None:
        """Return a worker, and the bytes of all partitions."""
        sizes = (task.node.parts[task.path[0]][1] for task in partitions if task.path)
        return self.workers()[0].address, sum(sizes)

    def batches(
        self, partitions: list[Task], workers: list[Worker], limit: int | None
    ) -> list[Batch]:
        """Group the partitions, together while they are small, so that every worker has some."""
        sizes = [task.node.parts[task.path[0]][1] if task.path else 0 for task in partitions]
        most = (limit or workers[0].memory) // BATCH_SHARE
        most = min(most, ceil(sum(sizes) / len(workers)))
        result: list[Batch] = []
        held, at = 0, cycle(workers)
        for place, (task, size) in enumerate(zip(partitions, sizes, strict=True)):
            if not result or held + size > most:
                result.append(Batch(next(at).address, [], []))
                held = 0
            result[-1].places.append(place)
            result[-1].partitions.append(task)
            held += size
        return result

    def submit(
        self, stage: str, function: Any, *args: Any, on: str | None = None, first: bool = False
    ) -> Task:
        """Note a task; where it runs is Spark's choice."""
        return self._graph.submit(function, args)

    def submit_to_new(self, stage: str, function: Any, *args: Any) -> None:
        """Do nothing: Spark chooses where tasks run."""

    def gather(self, tasks: Any) -> Any:
        """Wait for tasks, and return their results."""
        return self._graph.gather(tasks)

    def as_completed(
        self, tasks: Iterator[tuple[Name, Task]], at_once: int, total: int
    ) -> Iterator[tuple[Name, Task]]:
        """Run all tasks, and yield them; how many run at once is Spark's choice."""
        drawn = list(tasks)
        self._graph.run(task for _, task in drawn)
        yield from drawn

    def to_frame(self, parts: list[Task], meta: Frame, lengths: list[int] | None) -> SparkFrame:
        """Make a Spark DataFrame of the frames that tasks return; its rows are kept by Spark."""
        labels = list(meta.columns)
        own = self._edges if labels[: len(self._labels)] == self._labels else None
        if own is not None and self._session.conf.get(CASE, "false") != "true":
            lower = {label.lower() for label in self._labels}
            taken = [name for name in labels[len(self._labels) :] if name.lower() in lower]
            check_new(taken, taken)  # as Spark compares names
        return self._graph.answer(parts, spark_rows.schema_of(meta), own, [*map(str, labels)])

    def small_table(self, table: Any) -> Any:
        """Return a frame of counts, which may exceed 64 bits, as a Spark DataFrame."""
        import pandas as pd
        import pyarrow as pa

        if not isinstance(table, pd.DataFrame):
            return table
        columns = {
            str(name): pa.array([Decimal(value) for value in column], pa.decimal128(38))
            if column.dtype == object and isinstance(next(iter(column), None), int)
            else pa.array(column, from_pandas=True)
            for name, column in table.items()
        }
        return self._session.createDataFrame(pa.table(columns))

    def in_process(self, values: Any) -> Any:
        """Return the values as they are."""
        return values


def require_batch(edges: SparkFrame) -> None:
    """Raise TypeError if a DataFrame of Spark is a stream, whose rows have no end."""
    if edges.isStreaming:
        raise TypeError(
            "edges is a streaming DataFrame, whose rows have no end: read what the stream has "
            "written by spark.read, or give each batch to the function, by "
            "edges.writeStream.foreachBatch(lambda batch, number: ...)"
        )


_ASK = """
def ask(batches):
    import sys
    import pyarrow
    try:
        import rapids_tc
        from rapids_tc.executors.versions import EDITION
        told = [rapids_tc.__version__, EDITION]
    except Exception as error:
        told = [None, str(error)]
    for _ in batches:
        pass
    yield pyarrow.RecordBatch.from_pydict(
        {"python": [sys.executable], "version": told[:1], "edition": told[1:]},
        pyarrow.schema([(name, "string") for name in ("python", "version", "edition")])
    )
"""


_asked_sessions: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def slots_of(session: Any) -> int:
    """Return how many tasks of a session run at once; its executors are asked once for versions."""
    if session not in _asked_sessions:
        _asked_sessions[session] = ask_executors(session)
    return _asked_sessions[session]


def ask_executors(session: Any) -> int:
    """Ask the executors for their rapids_tc; return how many tasks run at once."""
    space: dict[str, Any] = {"__name__": "__main__"}  # so that the function travels as a whole
    exec(_ASK, space)
    asked = session.range(2**20).mapInArrow(
        space["ask"], "python string, version string, edition string"
    )
    return require_same([tuple(row) for row in _asked(asked.collect)])


def require_same(answers: list[tuple[str, str | None, str]]) -> int:
    """Return the number of answers: the Python, version and sources of an executor.

    Raises
    ------
    KernelError
        One has other sources than the driver, or none.
    """
    here = pkgutil.resolve_name("rapids_tc:__version__")
    for python, version, edition in answers:
        if edition != versions.EDITION:
            has = f"rapids_tc {version} of other sources" if version else f"none ({edition})"
            raise KernelError(
                f"this process has rapids_tc {here}, and an executor's Python, {python}, has "
                f"{has}: pip install 'rapids_tc=={here}' there, or name the Python that has it by "
                "PYSPARK_PYTHON before the session starts"
            )
    return max(len(answers), 1)
