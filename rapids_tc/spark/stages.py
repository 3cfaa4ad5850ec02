"""The stages of a call as transformations of Spark DataFrames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rapids_tc.engines.protocol import limit_threads
from rapids_tc.errors import IdTypeError, NullIdError
from rapids_tc.executors.versions import EDITION
from rapids_tc.frames.collected import is_spark, require_batch
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation.edge_columns import check_new, id_columns
from rapids_tc.spark import cells
from rapids_tc.spark.plan import Sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc._typing import Frame, Labels

SparkFrame = Any
Column = Any
INTEGERS = ("tinyint", "smallint", "int", "bigint")
LOW, HIGH = "__rapids_tc_low", "__rapids_tc_high"  # beside the user's columns
TOTAL = "decimal(38,0)"  # in which a sum of int64 is exact
COLUMN_TYPES = {"int64": "bigint", "float64": "double"}


def functions() -> Any:
    """Return the functions of Spark's columns."""
    try:
        from pyspark.sql import functions
    except ImportError as error:
        raise ImportError(
            f"Spark DataFrames need PySpark, and {error.name} is not installed: "
            "pip install 'rapids_tc[spark]'"
        ) from error
    return functions


def open_edges(edges: Frame, source: Labels | None, destination: Labels | None) -> SparkEdges:
    """Check a frame of edges, and count its rows.

    Raises
    ------
    TypeError
        It is no Spark DataFrame, or one of a stream.
    IdTypeError
        Its ids are not integers or text, or are both.
    NullIdError
        An id is missing.
    """
    if not is_spark(edges):
        raise TypeError(
            f"edges is a {type(edges).__name__}, and tc.spark takes a Spark DataFrame: other "
            "frames are for the functions of the package itself, such as tc.count"
        )
    require_batch(edges)
    all_labels = list(edges.columns)
    labels = id_columns(all_labels, source, destination)
    types = dict(edges.dtypes)
    kinds = ["bigint" if types[label] in INTEGERS else types[label] for label in labels]
    if kinds not in (["bigint"] * 2, ["string"] * 2):
        described = " and ".join(f"{label!r} is {types[label]}" for label in labels)
        raise IdTypeError(
            f"ids are integers or text, both columns alike, and {described}: cast both, by "
            'edges.withColumn(name, edges[name].cast("string")) perhaps'
        )
    places = [all_labels.index(label) for label in labels]
    checked = SparkEdges(
        edges.toDF(*map(_own, range(len(all_labels)))), all_labels, places, kinds[0]
    )
    for label, missing in zip(labels, checked.missing, strict=True):
        if missing:
            raise NullIdError(
                f"column {label!r} has {missing:,} missing ids: drop these rows, by "
                f"edges.dropna(subset={list(labels)!r})"
            )
    return checked


@dataclass(frozen=True)
class SparkEdges:
    """A Spark DataFrame of edges.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        With names of ours: the user's may occur twice, or differ in upper and lower case only.
    labels : list of str
        The names of the user's columns.
    places : list of int
        Where the two id columns stand.
    kind : str
        The type of Spark that ids get, "bigint" or "string".
    """

    frame: SparkFrame
    labels: list[str]
    places: list[int]
    kind: str

    @cached_property
    def _counted(self) -> Any:
        """The rows, the ids of both columns, and the bytes of their text, by one job."""
        f = functions()
        text = f.lit(0)
        if self.kind == "string":
            text = f.coalesce(f.sum(sum(f.octet_length(end) for end in self.ends)), f.lit(0))
        present = [f.count(end) for end in self.ends]
        return self.frame.agg(f.count(f.lit(1)), *present, text).first()

    @property
    def sizes(self) -> Sizes:
        """What the plan needs."""
        return Sizes(self._counted[0], int(self._counted[3]))

    @property
    def missing(self) -> list[int]:
        """The rows without an id, of either column."""
        return [self._counted[0] - self._counted[place] for place in (1, 2)]

    @property
    def parallelism(self) -> int:
        """The tasks that the cluster runs at once."""
        session = self.frame.sparkSession
        try:
            return int(session.sparkContext.defaultParallelism)
        except Exception:  # of Spark Connect, whose clients have no context
            return int(session.conf.get("spark.sql.shuffle.partitions"))

    @property
    def threads(self) -> int:
        """The cores of one task."""
        return int(self.frame.sparkSession.conf.get("spark.task.cpus", "1"))

    @property
    def ends(self) -> list[Column]:
        """The ids of both columns."""
        return [self.frame[_own(place)].cast(self.kind) for place in self.places]

    @property
    def pair(self) -> list[Column]:
        """The lesser and the greater id of each row."""
        f = functions()
        return [f.least(*self.ends).alias(LOW), f.greatest(*self.ends).alias(HIGH)]

    def require_new(self, columns: Sequence[str]) -> None:
        """Raise ValueError if the frame has one of the columns already, as Spark compares names."""
        taken = list(self.labels)
        if self.frame.sparkSession.conf.get("spark.sql.caseSensitive", "false") != "true":
            lower = {label.lower() for label in taken}
            taken += [name for name in columns if name.lower() in lower]
        check_new(columns, taken)


def _own(place: int) -> str:
    return f"__rapids_tc_{place}"


def total(edges: SparkEdges, n: int) -> int:
    """Count the triangles by one job; the sum alone comes back."""
    f = functions()
    tasks = _tasks(_blocks(edges, n), n).groupBy("task")
    counted = _on_workers(edges, tasks, partial(cells.count, n=n), "triangles bigint")
    result = counted.agg(f.sum(counted["triangles"].cast(TOTAL))).first()[0]
    return int(result or 0)


def with_columns(edges: SparkEdges, n: int, names: Sequence[str]) -> SparkFrame:
    """Add columns to the user's rows; self loops, which are no edges, get 0."""
    f, blocks = functions(), _blocks(edges, n)
    tasks, work = _tasks(blocks, n).groupBy("task"), partial(cells.edge_counts, n=n)
    counts = _on_workers(edges, tasks, work, "i int, j int, counts binary")
    types = {name: COLUMN_TYPES[row_columns()[name].dtype] for name in names}
    schema = ", ".join(
        f"{name} {kind}" for name, kind in {"low": edges.kind, "high": edges.kind, **types}.items()
    )

    def run(block: Any, of_tasks: Any) -> Any:
        cells.require_same(edition)
        return cells.columns(block, of_tasks, list(names))

    edition = EDITION
    by_place = (frame.groupBy("i", "j") for frame in (blocks, counts))
    values = next(by_place).cogroup(next(by_place)).applyInArrow(run, schema)
    values = values.withColumnsRenamed({"low": LOW, "high": HIGH})
    rows = edges.frame.select("*", *edges.pair).join(values, [LOW, HIGH], "left")
    added = [f.coalesce(f.col(name), f.lit(0).cast(types[name])).alias(name) for name in names]
    return rows.select(*edges.frame.columns, *added).toDF(*edges.labels, *names)


def _blocks(edges: SparkEdges, n: int) -> SparkFrame:
    """Cut the edges, each once and directed, in blocks: i, j and a cell, a row each.

    An edge leads from its end of lower degree, or of the greater id if degrees are equal: then few
    edges lead from any vertex, and tasks put their vertices in the same order.
    """
    f = functions()
    low, high = edges.pair
    simple = edges.frame.select(low.alias("l"), high.alias("h"))
    simple = simple.where(f.col("l") != f.col("h")).distinct()
    ends = simple.select(f.explode(f.array("l", "h")).alias("id"))
    degrees = ends.groupBy("id").agg(f.count(f.lit(1)).alias("degree"))
    for end in "lh":
        of_end = degrees.select(f.col("id").alias(end), f.col("degree").alias(f"{end}_degree"))
        simple = simple.join(of_end, end)
    first = f.col("h_degree") <= f.col("l_degree")  # whether the greater id is u
    directed = simple.select(
        *(
            f.when(first, f.col(a + of)).otherwise(f.col(b + of)).alias(name + of)
            for of in ("", "_degree")
            for name, a, b in (("u", "h", "l"), ("v", "l", "h"))
        )
    )
    places = (_residue(f.col(end), n).alias(name) for end, name in (("u", "i"), ("v", "j")))
    placed = directed.select("*", *places).repartition(n**2, "i", "j")
    # A column without values tells the workers which type of Arrow this Spark has for cells.
    typed = placed.withColumn("cell", f.lit(None).cast("binary"))
    return _on_workers(edges, typed.groupBy("i", "j"), cells.block, "i int, j int, cell binary")


def _residue(column: Column, n: int) -> Column:
    f = functions()
    return f.pmod(f.xxhash64(column), f.lit(n)).cast("int")


def _tasks(blocks: SparkFrame, n: int) -> SparkFrame:
    """Copy each block to its tasks: number, i, j and cell."""
    f = functions()
    i, j = f.col("i"), f.col("j")
    numbers = [
        number
        for k in range(n)
        for number in (
            i * n**2 + j * n + k,  # as uv
            i * n**2 + k * n + j,  # as uw
            k * n**2 + i * n + j,  # as vw
        )
    ]
    number = f.explode(f.array_distinct(f.array(*numbers)))
    return blocks.select(number.alias("task"), "i", "j", "cell").repartition(n**3, "task")


def _on_workers(
    edges: SparkEdges, groups: Any, work: Callable[[Any], Any], schema: str
) -> SparkFrame:
    """Run a function on the table of each group of rows, by as many threads as a task may use."""
    threads, edition = edges.threads, EDITION

    def run(table: Frame) -> Any:
        cells.require_same(edition)
        with limit_threads(threads):
            return work(table)

    return groups.applyInArrow(run, schema)
