"""Lazy frames of Polars: a frame in an answer is made when the lazy frame is collected."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from rapids_tc.frames.wrapped import is_narwhals, module_of, native, wrap
from rapids_tc.plan.record import Analytic, Options, OwnOptions, Result, named_columns
from rapids_tc.preparation.edge_columns import edge_columns

Call = Callable[[Any, OwnOptions], Any]
# Answers that hold the user's columns.
WHOLE_ROWS = (Result.COLUMNS, Result.ROWS, Result.COMMUNITIES)


def answer(record: Analytic, edges: Any, options: Options, own: OwnOptions, call: Call) -> Any:
    """Answer a call of an analytic on a lazy frame.

    `call` answers for a frame with own options. What it answers for a sample has the schema of the
    answer; the options are checked on the way.

    Raises
    ------
    TypeError
        The answer is a column, or `edges` wraps a lazy frame of another library than Polars.
    """
    if is_narwhals(edges):
        result = answer(record, polars_lazy(edges), options, own, call)
        return wrap(result, module_of(edges))
    polars = sys.modules["polars"]
    if record.result is Result.COLUMN:
        words = [*(value for value in own.values() if isinstance(value, str)), *record.columns]
        columns = [word for word in words if word in record.columns]
        lazily = f'annotate(edges, "{columns[0]}") adds the column lazily; ' if columns else ""
        raise TypeError(
            "edges is a polars.LazyFrame, to which no Series can be added: "
            f"{lazily}{record.name}(edges.collect()) returns it"
        )
    if record.result not in WHOLE_ROWS:
        edges = edges.select(_needed(edges.collect_schema().names(), options, own))
    of_sample = {**own, "vertices": None} if "vertices" in own else own
    sample = call(_sample(edges.collect_schema(), int(own.get("vertex_type") is None)), of_sample)
    if not isinstance(sample, polars.DataFrame):
        return call(edges.collect(), own)
    schema = sample.schema
    return edges.map_batches(
        lambda frame: call(frame, own).cast(schema),  # without rows, the dtype may be another
        schema=schema,
        predicate_pushdown=False,  # a row that is filtered away would be an edge less
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _sample(schema: Any, rows: int) -> Any:
    """Return a frame of no row, or of one that holds 1 or what is like it: a loop, if of ids."""
    polars = sys.modules["polars"]

    def one(dtype: Any) -> Any:
        value = dtype.categories.first() if isinstance(dtype, polars.Enum) else 1
        is_text = isinstance(dtype, polars.Categorical | polars.String | polars.Binary)
        series = polars.Series([str(value) if is_text else value])
        try:
            return series.cast(dtype)
        except polars.exceptions.PolarsError:  # lists and records, which are no ids
            return polars.Series([None], dtype=dtype)

    columns = {name: one(dtype) for name, dtype in schema.items()}
    return polars.DataFrame(columns).head(0 if polars.Null in schema.values() else rows)


def polars_lazy(edges: Any) -> Any:
    """Return the lazy frame of Polars that edges are or wrap.

    Raises
    ------
    TypeError
        They wrap a lazy frame of another library.
    """
    frame = native(edges)
    if type(frame).__name__ != "LazyFrame":
        inside = f"{type(frame).__module__}.{type(frame).__qualname__}"
        raise TypeError(
            f"edges is a narwhals.LazyFrame of a {inside}: call .collect() first, or give "
            "edges.to_native()"
        )
    return frame


def _needed(labels: list[str], options: Options, own: OwnOptions) -> list[str]:
    """Return the columns that a call reads, each once."""
    named = named_columns(own)
    ids = edge_columns(labels, options.source, options.destination, options.by, named)
    return [label for label in labels if label in {*ids.labels, *named}]
