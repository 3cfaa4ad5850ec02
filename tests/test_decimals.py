"""Decimals and integers of 128 bits, as databases have them, wherever a number is taken."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from needs import need_module
from stream_support import in_blocks

import rapids_tc as tc

duckdb = need_module("duckdb")
pa = need_module("pyarrow")
pl = need_module("polars")
pytestmark = pytest.mark.cpu_only

HUGE = pa.decimal128(38, 0)
# A triangle 1, 2, 3 and a fourth vertex.
SRC, DST = [1, 2, 3, 3], [2, 3, 1, 4]


def database(columns):
    """A relation of DuckDB, whose whole decimals are HUGEINT."""
    connection = duckdb.connect()
    connection.register("given", pa.table(columns))
    huge = ", ".join(
        f"{name}::HUGEINT AS {name}" if column.type == HUGE else name
        for name, column in columns.items()
    )
    return connection.sql(f"SELECT {huge} FROM given")


LIBRARIES = {
    "pandas": lambda columns: pd.DataFrame(
        {name: pd.Series(column.to_pylist(), dtype=object) for name, column in columns.items()}
    ),
    "pandas of Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pyarrow": pa.table,
    "polars": lambda columns: pl.from_arrow(pa.table(columns)),
    "polars of 128 bits": lambda columns: pl.from_arrow(pa.table(columns)).with_columns(
        pl.col(pl.Decimal(38, 0)).cast(pl.Int128)
    ),
    "duckdb": database,
}
library = pytest.mark.parametrize("library", LIBRARIES)


def frame_of(library, kind, **columns):
    made = {
        name: pa.array(list(map(Decimal, map(str, values)))).cast(kind)
        for name, values in columns.items()
    }
    return LIBRARIES[library](made)


def values_of(answer):
    return answer.to_pylist() if hasattr(answer, "to_pylist") else answer.to_list()


def test_integers_of_more_digits_than_decimals_have():
    frame = pl.DataFrame({"src": [10**38, 2], "dst": [1, 2]}, schema_overrides={"src": pl.Int128})
    with pytest.raises(tc.IdTypeError, match="column 'src' holds more than 38 digits: cast it to"):
        tc.count(frame)
    assert tc.vertex_triangles(frame.cast(pl.String))["vertex"].to_list() == ["1", str(10**38), "2"]


@library
@pytest.mark.parametrize("kind", [HUGE, pa.decimal128(9, 2)], ids=str)
def test_ids(library, kind):
    frame = frame_of(library, kind, src=SRC, dst=DST)
    assert tc.count(frame) == 1
    answers = [tc.vertex_triangles(frame)]
    with in_blocks(2):
        answers.append(tc.vertex_triangles(frame))
    for answer in answers:
        assert values_of(answer["vertex"]) == [1, 2, 3, 4]
        assert values_of(answer["triangles"]) == [1, 1, 1, 0]


@library
def test_ids_of_64_bits_keep_every_digit(library):
    big = 2**64 - 2
    frame = frame_of(library, HUGE, src=[big, big - 1, 5], dst=[big - 1, 5, big])
    assert values_of(tc.vertex_triangles(frame)["vertex"]) == [5, big - 1, big]
    for values in ([2**64, 1], [-1, 2**63]):
        with pytest.raises(tc.IdTypeError, match=r"decimal.*whole numbers"):
            tc.count(frame_of(library, HUGE, src=values, dst=[2, 3]))


@library
def test_ids_with_places_and_missing_ones_are_refused(library):
    with pytest.raises(tc.IdTypeError, match=r"holds 1\.5: float ids must be whole numbers"):
        tc.count(frame_of(library, pa.decimal128(9, 2), src=["1.50", "2"], dst=[2, 3]))
    columns = {"src": pa.array([Decimal(1), None], HUGE), "dst": pa.array([2, 3])}
    with pytest.raises(tc.NullIdError, match="column 'src' has 1 null"):
        tc.count(LIBRARIES[library](columns))


@library
@pytest.mark.parametrize("kind", [HUGE, pa.decimal128(9, 2)], ids=str)
def test_weights_and_signs(library, kind):
    weights = [5, 2, 7, 1] if kind == HUGE else ["0.10", "2.25", "7", "1"]
    frame = frame_of(library, kind, src=SRC, dst=DST, w=weights)
    plain = pd.DataFrame({"src": SRC, "dst": DST, "w": np.array(weights, float)})
    expected = tc.clustering(plain, weight="w")["clustering"].to_list()
    assert values_of(tc.clustering(frame, weight="w")["clustering"]) == expected
    with in_blocks(2):
        assert values_of(tc.clustering(frame, weight="w")["clustering"]) == expected
    signs = frame_of(library, kind, src=SRC, dst=DST, s=[-1, "2", "-3", 1])
    plain = plain.assign(s=[-1, 2, -3, 1])
    assert values_of(tc.balance(signs, sign="s")["triangles"]) == (
        tc.balance(plain, sign="s")["triangles"].to_list()
    )


@library
@pytest.mark.parametrize(
    ("kind", "times", "within", "count"),
    [
        (HUGE, [10, 20, 30, 0], 20, 1),
        (HUGE, [10, 20, 30, 0], 19, 0),
        (HUGE, [2**62, 2**62 + 1, 2**62 + 2, 0], 1, 0),
        (pa.decimal128(9, 2), ["0.5", "1.25", "2", "0"], 1.5, 1),
        (pa.decimal128(9, 2), ["0.5", "1.25", "2", "0"], 1.25, 0),
    ],
    ids=str,
)
def test_times(library, kind, times, within, count):
    frame = frame_of(library, kind, src=SRC, dst=DST, t=times)
    if library == "pandas" and max(map(float, times)) > 2**53:  # whose decimals have no type
        with pytest.raises(ValueError, match="decimals that float64 rounds: multiply"):
            tc.count(frame, time="t", within=within)
        return
    assert tc.count(frame, time="t", within=within) == count
    with in_blocks(2):
        assert tc.count(frame, time="t", within=within) == count


@library
def test_times_that_float64_would_round_are_refused(library):
    frame = frame_of(library, pa.decimal128(9, 1), src=SRC, dst=DST, t=["0.3", "0.4", "0.3", "0"])
    with pytest.raises(ValueError, match="time='t' holds decimals that float64 rounds: multiply"):
        tc.count(frame, time="t", within=0.1)


@library
def test_groups_of_decimals_stay_decimals(library):
    frame = frame_of(library, pa.decimal128(9, 2), src=SRC, dst=DST, g=["1.50", "1.5", "1.5", 2])
    assert values_of(tc.count(frame, by="g")["g"]) == [Decimal("1.50"), Decimal("2.00")]
