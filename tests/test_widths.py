"""How wide the integers of answers are: one rule for every column of every function and path."""

from inspect import Parameter

import pandas as pd
import pytest
from every_path import CALLS, FRAME, NAMES, PATHS, error_of, names_vertices

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.record import ANALYTICS, Result, row_columns, vertex_columns

pytestmark = pytest.mark.cpu_only

IDS = ("vertex", "src", "dst", "u", "v", "w")
OF_ROWS = (Result.COLUMNS, Result.ROWS, Result.COMMUNITIES)  # which have the columns of the rows
LEVELS = ("trussness", "bitruss", "k")  # numbers of trusses
EDGES = FRAME.assign(
    src=FRAME["src"].astype("int16"), dst=FRAME["dst"].astype("int16"), g=(FRAME["t"] % 2)
).astype({"g": "int8", "t": "int32"})


def right(name, dtype, own):
    """The dtype that a column of an answer has to have, by its name and kind."""
    if name == own.get("time"):
        return "int32"
    if name in EDGES.columns and name not in ("w", "t"):
        return str(EDGES[name].dtype)
    if name in IDS:
        return "int16"
    if name == "parent":
        return "Int64"
    if name in LEVELS:
        return "int32"
    return {"i": "int64", "f": "float64"}.get(dtype.kind, str(dtype))


def columns_of(found):
    """The columns of an answer, by name."""
    if isinstance(found, PartitionedFrame):
        found = found.partitions[0]
    frames = found if isinstance(found, list) else [found]
    for frame in frames:
        if isinstance(frame, pd.Series):
            yield frame.name, frame
        elif isinstance(frame, pd.DataFrame):
            yield from frame.items()


def is_first_of_its_shape(name, own):
    """Whether the call is the first of its function, or its answer has other columns."""
    is_first = own is next(options for function, options in CALLS if function == name)
    return is_first or any(own.get(o) is not None for o in ("per", "pairs", "where", "window"))


@pytest.mark.parametrize(
    ("path", "by"), [("whole", None), ("whole", "g"), ("7 partitions, 2 x 2 blocks", None)]
)
def test_columns_of_answers_have_the_widths_of_the_rule(path, by):
    seen = set()
    for (name, own), shown in zip(CALLS, NAMES, strict=True):
        record = ANALYTICS[name]
        if not is_first_of_its_shape(name, own) or error_of(name, own, PATHS[path]) is not None:
            continue
        if by is not None and (names_vertices(own) or own.get("pairs") is not None):
            continue
        options = {**own, "by": by} if by else own
        for column, values in columns_of(PATHS[path].call(name, options, EDGES)):
            if column in EDGES and record.result in OF_ROWS:
                assert values.dtype == EDGES[column].dtype
                continue
            seen.add(str(values.dtype))
            assert str(values.dtype) == right(column, values.dtype, own), (shown, column)
    assert {"int64", "float64", "int32"} <= seen


def test_records_have_the_widths_of_the_rule():
    for name, column in {**row_columns(), **vertex_columns()}.items():
        assert column.dtype == ("int32" if name in LEVELS else column.dtype)
        assert column.dtype in ("int64", "float64") or name in LEVELS, name


def test_values_of_the_graph_are_plain_integers():
    for name, record in ANALYTICS.items():
        needed = [v for v in record.defaults.values() if v is Parameter.empty]
        if record.result is Result.VALUE and not needed and not record.is_bipartite({}):
            found = record.call(FRAME, source="src", destination="dst")
            assert type(found) in (int, float, tc.Estimate, pd.DataFrame), name
    assert isinstance(tc.Graph(FRAME, source="src", destination="dst").n_edges, int)
