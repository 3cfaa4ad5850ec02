"""Values of a partition that change between two reads, while its ids stay: told, never mixed."""

import decimal

import numpy as np
import pandas as pd
import pytest
from dask_support import Here, apart, layout, plain, worked_on_here
from every_path import CALLS, FRAME, IDS

import rapids_tc as tc
from rapids_tc.blocks import block_values
from rapids_tc.errors import CHANGED
from rapids_tc.frames.adapters import PandasAdapter
from rapids_tc.frames.backend import resolve_backend
from rapids_tc.graphs import stages
from rapids_tc.plan.record import ANALYTICS
from rapids_tc.preparation.fingerprints import Fingerprint

PARTITIONS, PLACE = 5, 3  # the one that changes


@pytest.fixture(autouse=True)
def every_worker_counts(monkeypatch):
    monkeypatch.setattr(stages, "LEAST_ROWS", 1)


def column_of(name, own):
    """The column of values that a call reads; None if it reads none."""
    record = ANALYTICS[name]
    if record.local(own, "Dask DataFrame") is not None:
        return None
    labels = [quantity.reading.label for quantity in record.sums(record.check(own))]
    return labels[0] if labels else None


GROUPED = [
    ("count", {"time": "t", "within": 4, "by": "kind"}),
    ("triangles_over_time", {"time": "t", "window": 5, "by": "kind"}),
]
ASKED = [  # kinds of triangles are read alike by all functions
    (name, own) for name, own in CALLS if own.get("where") is None or name == "count"
]
READING = [(*call, label) for call in ASKED if (label := column_of(*call))] + [
    (*call, "t") for call in GROUPED
]


def other_values(frame, column):
    values = frame[column].to_numpy()
    assert (np.roll(values, 1) != values).any()
    return frame.assign(**{column: np.roll(values, 1)})


def changing(backend, column, reader):
    """A `Here` in which one kind of task reads other values in a partition than all the others."""

    profiled = []

    class Changing(Here):
        def submit(self, stage, run, function, *args, **options):
            name = function.__name__ if stage == "values" else None
            if name == "profile":
                profiled.append((*self.changed(*args[:2]), *args[1:]))
            if name == reader == "resolve":  # profiles are made again, of others
                again = [run(block_values.profile, *each) for each in profiled]
                args = args[0], again, args[2]
            elif name == reader:
                args = *self.changed(*args[:2]), *args[1:]
            return super().submit(stage, run, function, *args, **options)

        def changed(self, partitions, prints):
            both = zip(partitions, prints, strict=True)
            return [
                [
                    backend.from_pandas(other_values(plain(backend, part), column))
                    if own.place == PLACE
                    else part
                    for part, own in both
                ]
            ]

    return Changing


def test_the_functions_that_read_values_are_known():
    names = {name for name, *_ in READING}
    assert names == {
        "annotate", "annotate_vertices", "average_clustering", "balance", "clustering", "count",
        "transitivity", "triangles_by_type", "triangles_over_time", "vertex_triangles",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "own", "column"), READING)
def test_values_that_change_between_two_reads_are_told(backend, name, own, column):
    edges = apart(backend, FRAME, PARTITIONS)
    for reader in ("profile", "read_batch", "resolve"):
        told = rf"partition {PLACE} .* values in \w+='{column}', or .*persist\(\)"
        with (
            worked_on_here(changing(backend, column, reader)),
            layout(2, 1),
            pytest.raises(tc.KernelError, match=told) as caught,
        ):
            options = dict(own)
            ANALYTICS[name].call(edges, *options.pop("columns", ()), **options, **IDS)
        assert "copy()" not in str(caught.value)


def test_rows_that_come_or_go_are_told_of_a_graph_that_is_kept(backend):
    """Its ids were looked at when it was made; its values are read by each call."""
    edges = apart(backend, FRAME, PARTITIONS)
    with worked_on_here(), layout(2, 1):
        graph = tc.Graph(edges, **IDS)
        graph._prepared._executor._edges = graph._prepared._executor.edges = apart(
            backend, FRAME.drop(index=FRAME.index[-1]), PARTITIONS
        )
        with pytest.raises(tc.KernelError, match=r"partition \d .*rows for|other values in column"):
            graph.balance(sign="trust", aggregate="last")


VALUES = {
    "integers": pd.Series([5, 0, 7, 7, 2**62], dtype="int64"),
    "bytes": pd.Series([5, 0, 7, 7, 1], dtype="uint8"),
    "floats": pd.Series([0.5, np.nan, -0.25, np.inf, 3.0]),
    "half floats": pd.Series([0.5, 2, 3, 4, 5], dtype="float32"),
    "truths": pd.Series([True, False, True, True, False]),
    "nullable": pd.Series([1, None, 0, 4, 5], dtype="Int64"),
    "text": pd.Series(["a", "", "longer than eight", "a\0b", "é"], dtype="str"),
    "text, some missing": pd.Series(["a", None, "", "b", "c"], dtype="str"),
    "objects": pd.Series([(1, 2), None, (2, 1), "x", 7], dtype="object"),
    "decimals": pd.Series([decimal.Decimal(n) / 4 for n in range(5)], dtype="object"),
    "categories": pd.Series(["b", None, "a", "a", "c"], dtype="category"),
    "datetimes": pd.to_datetime(pd.Series([1, 5, 3, 2, None]), unit="s"),
    "durations": pd.to_timedelta(pd.Series([1, 5, 3, 2, 4]), unit="s"),
}


def print_of(values, backend):
    return Fingerprint(0, len(values), {}).with_values("x", values, backend)


@pytest.mark.cpu_only
@pytest.mark.parametrize("held", VALUES)
def test_a_fingerprint_tells_any_values_apart(held):
    values = VALUES[held]
    backend = resolve_backend(PandasAdapter(), "cpu")
    seen = print_of(values, backend)
    again = pd.concat([values.iloc[:2], values.iloc[2:]], ignore_index=True).astype(values.dtype)
    assert print_of(again, backend) == seen
    for order in ([1, 0, 2, 3, 4], [0, 1, 3, 2, 4], [4, 1, 2, 3, 0], [0, 0, 2, 3, 4]):
        other = values.iloc[order]
        if other.reset_index(drop=True).equals(values):
            continue
        with pytest.raises(tc.KernelError, match=r"partition 0 .*other values in x, or the same"):
            seen.require(print_of(other, backend))


@pytest.mark.cpu_only
def test_the_order_of_categories_is_no_value():
    values = pd.Series(["b", "a", "a"])
    one, other = (values.astype(pd.CategoricalDtype(names)) for names in (["a", "b"], ["b", "a"]))
    backend = resolve_backend(PandasAdapter(), "cpu")
    assert print_of(one, backend) == print_of(other, backend)


def test_columns_that_a_later_read_does_not_ask_for_are_not_compared():
    seen = Fingerprint(2, 5, {"column 'a'": 1, "time='t'": 2})
    seen.require(Fingerprint(2, 5, {"column 'a'": 1}))
    with pytest.raises(tc.KernelError, match=r"partition 2 .*other values in time='t', or"):
        seen.require(Fingerprint(2, 5, {"column 'a'": 1, "time='t'": 3}))


def test_the_advice_for_a_partition_is_not_to_copy_the_frame(backend):
    """A Dask frame's copy() has the same partitions."""

    class Written(Here):
        def submit(self, stage, run, function, *args, **options):
            if function.__name__ == "degrees":
                run(raise_changed)
            return super().submit(stage, run, function, *args, **options)

    with (
        worked_on_here(Written),
        layout(2, 1),
        pytest.raises(tc.KernelError, match="Wait until nothing writes") as caught,
    ):
        tc.count(apart(backend, FRAME, PARTITIONS), **IDS)
    assert "copy()" not in str(caught.value)


def raise_changed():
    raise tc.KernelError(CHANGED)
