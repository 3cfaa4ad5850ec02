"""Jobs of Spark, done on Arrow tables in this process.

The functions that Spark would run in the Python of its executors are the package's own. As Spark
may, every slot runs twice, on rows in any order. Frames have the attributes of PySpark's that the
executor asks for.
"""

from itertools import groupby
from types import ModuleType, SimpleNamespace

import cloudpickle
import numpy as np
import pyarrow as pa

from rapids_tc.executors import spark_cluster, spark_rows, spark_tasks
from rapids_tc.executors.local import PartitionedFrame

SLOTS = 3
RANDOM = np.random.default_rng(0)


def modules(*, gpu=None):
    """PySpark's modules by name, as far as they are imported without Spark."""
    made = {name: ModuleType(name) for name in (
        "pyspark", "pyspark.sql", "pyspark.sql.pandas", "pyspark.sql.pandas.types",
    )}  # fmt: skip
    given = {} if gpu is None else {"gpu": SimpleNamespace(addresses=[gpu])}
    context = SimpleNamespace(resources=lambda: given)
    made["pyspark"].TaskContext = SimpleNamespace(get=lambda: context)
    made["pyspark.cloudpickle"] = cloudpickle
    made["pyspark.sql.pandas.types"].to_arrow_schema = lambda schema, timezone: schema
    return made


class Session(SimpleNamespace):
    """A session; after some jobs, `lose` more find that rows are lost."""

    def __init__(self, **conf):
        zone = {spark_cluster.ZONE: "UTC"}
        super().__init__(conf=zone | conf, lose=0, jobs=0, after=0)

    def createDataFrame(self, table):
        return table.to_pandas()


class DataFrame:
    """Tables, one per partition; `changing` is what each further read adds to the first column."""

    isStreaming, sparkSession = False, None

    def __init__(self, session, tables, changing=0):
        self.sparkSession, self.tables, self.changing = session, tables, changing

    columns = property(lambda self: self.tables[0].column_names)
    schema = property(lambda self: self.tables[0].schema)

    def count(self):
        return sum(map(len, self.tables))

    def toDF(self, *names):
        named = [table.rename_columns(list(names)) for table in self.tables]
        return DataFrame(self.sparkSession, named, self.changing)

    def select(self, *names):
        chosen = [table.select(list(names)) for table in self.tables]
        return DataFrame(self.sparkSession, chosen, self.changing)


DataFrame.__module__ = "pyspark.sql.dataframe"


def frame_of(session, frame, rows=20, **options):
    """A frame of a pandas one, in partitions of so many rows, and of none."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    starts = range(0, max(len(frame), 1), rows)
    return DataFrame(session, [table.slice(at, rows) for at in starts] + [table.slice(0, 0)],
                     **options)  # fmt: skip


class TableJobs(spark_tasks.Jobs):
    """The jobs of a session, whose rows are in lists of this process."""

    def __init__(self, session):
        self.session = session

    def read(self, node, of):
        frame, labels = of
        kept, parts = [], {}
        for partition, table in enumerate(frame.tables):
            batches = table.to_batches(max_chunksize=7)
            made = spark_rows.read_rows(batches, node, labels, partition, "binary")
            kept += [row for batch in made for row in copied(batch)]
        if frame.changing:
            first = frame.tables[0]
            changed = pa.compute.add(first.column(0), frame.changing)
            frame.tables[0] = first.set_column(0, first.field(0), changed)
        for _, item, piece, data in kept:
            if piece == spark_rows.OF_ALL:
                parts[item] = cloudpickle.loads(data)
        return kept, parts

    def run(self, calls, needed, kept):
        found = self._found(kept)
        told, result = {}, []
        for slot, own in enumerate(calls):
            data = cloudpickle.dumps(own)
            rows = [*spark_rows.pieces(spark_rows.CALLS, 0, data)]
            rows += [row for *key, at in needed if at == slot for row in found[tuple(key)]]
            for _ in range(2):  # the last one counts
                shuffled = [rows[place] for place in RANDOM.permutation(len(rows))]
                batches = [with_slot(spark_rows.to_batch([row], "binary"), slot)
                           for row in shuffled]  # fmt: skip
                made = [r for b in spark_rows.run_tasks(batches) for r in copied(b)]
            result += made
        for node, _, piece, data in result:
            if piece == spark_rows.OF_ALL:
                told[node] = cloudpickle.loads(data)
        self.session.jobs += 1
        return result, told

    def fetch(self, needed, kept):
        slot = spark_rows.Slot()
        for rows in self._found(kept).values():
            for node, item, piece, data in rows:
                slot.found[node, item].append((piece, data))
        return {key: next(slot.items(key[0], [key[1]])) for key in needed}

    def answer(self, needed, kept, schema, own, labels):
        types = list(schema.types)
        if own is not None:
            types[: len(own.columns)] = own.schema.types
        names, frames = [f"c{place}" for place in range(len(types))], []
        for key in needed:
            rows = self._found(kept)[key]
            batches = [spark_rows.to_batch([row], "binary") for row in rows]
            made = [*spark_rows.answers(batches, names, types)]
            table = pa.Table.from_batches(made, pa.schema(zip(names, types, strict=True)))
            frames.append(spark_rows.frame_of(table.combine_chunks(), labels))
        return PartitionedFrame(frames)

    def _found(self, kept):
        """The pieces of all rows by node and item."""
        if kept and self.session.lose and self.session.jobs >= self.session.after:
            self.session.lose -= 1
            raise spark_tasks.LostError
        rows = sorted((row for rows in kept for row in rows), key=lambda row: row[:3])
        rows = [row for row in rows if row[2] != spark_rows.OF_ALL]
        return {key: [*same] for key, same in groupby(rows, key=lambda row: row[:2])}


def copied(batch):
    return [(*row[:3], bytes(row[3])) for row in spark_rows.rows_of(batch)]


def with_slot(batch, slot):
    return batch.append_column("slot", pa.array([slot] * len(batch), "int32"))
