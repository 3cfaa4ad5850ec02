"""What `rapids_tc.spark` asks of PySpark, done by DuckDB on Arrow tables in this process.

The calls are PySpark's, and so is what they take and refuse: the tests that run here run in Spark
as well, where it is installed. As Spark's, frames are lazy, and what functions of Arrow tables make
is made again for everybody who reads it, of rows in another order. The functions are pickled.
"""

from functools import cache
from types import ModuleType, SimpleNamespace

import cloudpickle
import duckdb
import numpy as np
import pyarrow as pa

NAMES = {  # of Arrow's types in Spark
    "int8": "tinyint", "int16": "smallint", "int32": "int", "int64": "bigint", "double": "double",
    "string": "string", "binary": "binary",
}  # fmt: skip
TYPES = {spark: arrow for arrow, spark in NAMES.items()}
RANDOM = np.random.default_rng(0)


class Column:
    """An expression of SQL."""

    def __init__(self, sql, kind="", name=None):
        self.sql, self.kind, self.name = sql, kind, name

    def __getattr__(self, name):
        """A field of a struct, as any attribute is in PySpark."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Column(f"{self.sql}.{name}")

    def __bool__(self):
        raise ValueError("Cannot convert column into bool")

    def __iter__(self):
        raise TypeError("Column is not iterable")

    def alias(self, name):
        return Column(self.sql, self.kind, name)

    def cast(self, kind):
        return Column(f"cast({self.sql} as {kind})", kind)

    def otherwise(self, value):
        return Column(f"{self.sql} else {of(value)} end")

    def selected(self):
        return self.sql if self.name is None else f'{self.sql} as "{self.name}"'


def of(value):
    return value.sql if isinstance(value, Column) else repr(value)


def operator(sign, *, turned=False):
    def apply(self, other):
        ends = [of(other), of(self)] if turned else [of(self), of(other)]
        return Column(f"({ends[0]} {sign} {ends[1]})")

    return apply


for name, sign in {"add": "+", "mul": "*", "eq": "=", "ne": "<>", "le": "<="}.items():
    setattr(Column, f"__{name}__", operator(sign))
for name, sign in {"radd": "+", "rmul": "*"}.items():
    setattr(Column, f"__{name}__", operator(sign, turned=True))


def function(template):
    """A function of columns, or of their names."""

    def apply(*columns):
        named = [Column(f'"{c}"') if isinstance(c, str) else c for c in columns]
        return Column(template.format(", ".join(map(of, named))))

    return apply


def _sum(column):
    """Of integers in 64 bits, whose overflow is an error, as Spark's."""
    total = Column(f"sum({column.sql})")
    return total if column.kind.startswith("decimal") else total.cast("bigint")


FUNCTIONS = {
    "lit": lambda value: Column("null" if value is None else repr(value)),
    "col": lambda name: Column(f'"{name}"'),
    "sum": _sum,
    "when": lambda condition, value: Column(f"case when {condition.sql} then {of(value)}"),
    "xxhash64": lambda column: Column(
        f"cast(cast(hash({column.sql}) as hugeint) - 9223372036854775808 as bigint)"
    ),
    "pmod": lambda a, b: Column(f"(({of(a)} % {of(b)}) + {of(b)}) % {of(b)}"),
    "octet_length": function("strlen({})"),
    "count": function("count({})"),
    "coalesce": function("coalesce({})"),
    "least": function("least({})"),
    "greatest": function("greatest({})"),
    "array": function("[{}]"),
    "array_distinct": function("list_distinct({})"),
    "explode": function("unnest({})"),
}


def modules():
    """PySpark's modules by name, as far as the package imports them."""
    functions = ModuleType("pyspark.sql.functions")
    vars(functions).update(FUNCTIONS)
    sql, pyspark = ModuleType("pyspark.sql"), ModuleType("pyspark")
    sql.functions, pyspark.sql = functions, sql
    return {"pyspark": pyspark, "pyspark.sql": sql, "pyspark.sql.functions": functions}


class Conf(dict):
    set = dict.__setitem__


class Session:
    """A SparkSession; `jobs` is how many it has run."""

    def __init__(self):
        self.conf = Conf({"spark.task.cpus": "1"})
        self.sparkContext = SimpleNamespace(defaultParallelism=2)
        self.duckdb = duckdb.connect(config={"threads": 1})
        self.jobs = 0

    def createDataFrame(self, rows, schema):
        """A frame of tuples, under names, or as a schema of Spark says."""
        names = [name.rpartition(" ")[::2] for name in schema.split(", ")]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        arrays = [pa.array(c, TYPES[kind]) for c, (_, kind) in zip(columns, names, strict=True)]
        table = pa.Table.from_arrays(arrays, [name.strip("`") for name, _ in names])
        return DataFrame(self, lambda: table)

    @property
    def large(self):
        return self.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "true"

    def typed(self, table):
        """A table with the types that text and bytes have on the way to Python."""
        wide = {"string": pa.large_string(), "binary": pa.large_binary()} if self.large else {}
        kinds = [wide.get(str(kind), kind) for kind in table.schema.types]
        return table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))

    def run(self, work, schema, *tables):
        """The table that a function makes of tables; TypeError if it is none of the schema."""
        made = cloudpickle.loads(cloudpickle.dumps(work))(*map(self.typed, tables))
        fields = [field.split() for field in schema.split(", ")]
        wanted = pa.schema([(name, TYPES[kind]) for name, kind in fields])
        expected = self.typed(wanted.empty_table()).schema
        if made.select(expected.names).schema.types != expected.types:
            raise TypeError(f"expected {expected}, actual {made.schema}")
        return made.select(expected.names).cast(wanted)


class DataFrame:
    """A frame: the function that computes its table."""

    isStreaming, sparkSession = False, None

    def __init__(self, session, compute):
        self.sparkSession, self.compute = session, compute

    columns = property(lambda self: self.compute().column_names)
    dtypes = property(lambda self: [(f.name, NAMES[str(f.type)]) for f in self.compute().schema])

    def __getitem__(self, name):
        label = name.strip("`")
        if [other.lower() for other in self.columns].count(label.lower()) != 1:
            raise ValueError(f"{label} is none or ambiguous")
        return Column(f'"{label}"')

    def toDF(self, *names):
        return DataFrame(self.sparkSession, lambda: self.compute().rename_columns(list(names)))

    def withColumnsRenamed(self, names):
        def compute():
            table = self.compute()
            return table.rename_columns([names.get(name, name) for name in table.column_names])

        return DataFrame(self.sparkSession, compute)

    def repartition(self, number, *names):
        return self

    def _query(self, query, other=None):
        @cache
        def compute():
            tables = {"l": self, "r": other} if other else {"l": self}
            cursor = self.sparkSession.duckdb.cursor()
            for name, frame in tables.items():
                cursor.register(name, frame.compute())
            return cursor.sql(query).to_arrow_table()

        return DataFrame(self.sparkSession, compute)

    def select(self, *columns):
        chosen = [f'"{c}"' if isinstance(c, str) and c != "*" else c for c in columns]
        chosen = [c if isinstance(c, str) else c.selected() for c in chosen]
        return self._query(f"select {', '.join(chosen)} from l")

    def withColumn(self, name, column):
        return self.select("*", column.alias(name))

    def where(self, condition):
        return self._query(f"select * from l where {condition.sql}")

    def distinct(self):
        return self._query("select distinct * from l")

    def join(self, other, on, how="inner"):
        names = ", ".join([on] if isinstance(on, str) else on)
        return self._query(f"select * from l {how} join r using ({names})", other)

    def agg(self, *columns):
        return self.select(*columns)

    def groupBy(self, *names):
        return Grouped(self, names)

    def toArrow(self):
        self.sparkSession.jobs += 1
        return self.compute()

    def collect(self):
        columns = [column.to_pylist() for column in self.toArrow().columns]
        return list(zip(*columns, strict=True))

    def first(self):
        return self.collect()[0]


DataFrame.__module__, Column.__module__ = "pyspark.sql.dataframe", "pyspark.sql.column"


class Grouped:
    def __init__(self, frame, names):
        self.frame, self.names = frame, names

    def agg(self, *columns):
        names = ", ".join(self.names)
        chosen = ", ".join(column.selected() for column in columns)
        return self.frame._query(f"select {names}, {chosen} from l group by {names}")

    def tables(self):
        """The rows of each group, in any order; and a table without rows."""
        table, places = self.frame.compute(), {}
        keys = zip(*(table[name].to_pylist() for name in self.names), strict=True)
        for place, key in enumerate(keys):
            places.setdefault(key, []).append(place)
        groups = {key: table.take(RANDOM.permutation(rows)) for key, rows in places.items()}
        return groups, table.slice(0, 0)

    def applyInArrow(self, work, schema):
        session = self.frame.sparkSession

        def compute():
            groups, _ = self.tables()
            return joined([session.run(work, schema, group) for group in groups.values()], schema)

        return DataFrame(session, compute)

    def cogroup(self, other):
        session = self.frame.sparkSession

        def apply(work, schema):
            def compute():
                (left, no_left), (right, no_right) = self.tables(), other.tables()
                pairs = [(left.get(key, no_left), right.get(key, no_right))
                         for key in {**left, **right}]  # fmt: skip
                return joined([session.run(work, schema, *pair) for pair in pairs], schema)

            return DataFrame(session, compute)

        return SimpleNamespace(applyInArrow=apply)


def joined(tables, schema):
    fields = [field.split() for field in schema.split(", ")]
    wanted = pa.schema([(name, TYPES[kind]) for name, kind in fields])
    return pa.concat_tables([wanted.empty_table(), *tables])
