"""Write `rapids_tc/__init__.pyi`, what type checkers see of the package: `python .ci/stub.py`.

The functions come from their records: frames of a library go in and come out, and a value becomes a
frame with `by=`. `tests/test_house.py` says when the file has to be written again.
"""

import inspect
import sys
from pathlib import Path
from textwrap import fill, indent

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import rapids_tc as tc  # noqa: E402
from rapids_tc.analytics.similarity import MEASURES  # noqa: E402
from rapids_tc.kernels.catalogue import METHODS  # noqa: E402
from rapids_tc.plan.record import ANALYTICS, Result, estimated  # noqa: E402
from rapids_tc.plan.record import COLUMNS as NAMED  # noqa: E402

STUB = ROOT / "rapids_tc" / "__init__.pyi"
HEAD = """\
# What type checkers see of the package. Made by .ci/stub.py: change that, and run it.
# None is a Hashable, so by=None comes first, and with by= a value becomes a frame.
# mypy: disable-error-code="overload-overlap, override"
# fmt: off
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

import pandas as pd
import polars as pl

from rapids_tc import datasets as datasets, files as files, plot as plot, spark as spark
from rapids_tc._typing import Aggregate, ByteSize, EngineName, Groups, Label, Labels, Length, Moment
from rapids_tc._typing import ProjectionMeasure, RankingMeasure, Side, Vertices
from rapids_tc.analytics.approximate import Estimate as Estimate
from rapids_tc.analytics.communities import Connected
from rapids_tc.updates.batches import Delta as Delta
from rapids_tc.graphs.public import Graph as _Graph
from rapids_tc.interop.accessor import register_accessor as register_accessor
from rapids_tc.preparation.triangle_kinds import Triangles as Triangles
"""
# A library that is not installed is Any, which every argument fits: frames are known by methods.
KINDS = """
class _Frame(Protocol):  # of pandas, cuDF, Polars, Dask or narwhals: answers are of its class
    def pipe(self, *args: Any, **kwargs: Any) -> Any: ...

class _Arrow(Protocol):  # a table of PyArrow or DuckDB, say; answers are PyArrow's: no types
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

_Stream: TypeAlias = _Arrow | files.EdgeFile

class _Lazy(Protocol):  # a frame of Polars
    def collect(self, *args: Any, **kwargs: Any) -> Any: ...
    def sink_parquet(self, *args: Any, **kwargs: Any) -> Any: ...

class _Partitioned(Protocol):  # a frame of Dask
    def map_partitions(self, *args: Any, **kwargs: Any) -> Any: ...

class _Wrapped(Protocol):  # a frame of narwhals
    def to_native(self) -> Any: ...

class _Array(Protocol):  # of NumPy, CuPy, torch or another library: answers are of its class
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

class _Matrix(Protocol):  # a sparse matrix of SciPy or CuPy
    def tocoo(self, *args: Any, **kwargs: Any) -> Any: ...

_Column = TypeVar("_Column")
_Column_co = TypeVar("_Column_co", covariant=True)

class _Popping(Protocol[_Column_co]):  # a frame of pandas or cuDF, and the class of its columns
    def pop(self, item: Any) -> _Column_co: ...

class _Getting(Protocol[_Column_co]):  # a frame of Polars or narwhals
    def get_column(self, name: str) -> _Column_co: ...

_F = TypeVar("_F", bound=_Frame)
_F_co = TypeVar("_F_co", covariant=True)
_A = TypeVar("_A", bound=_Array)
_Arrays = _Array | tuple[_Array, _Array] | _Matrix
_Edges = TypeVar("_Edges", bound="_Frame | _Stream | Graph[Any] | _Arrays")  # for pipe()
"""
LIBRARIES = """\
@overload
def methods(*, library: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
@overload
def methods(*, library: Literal["polars"]) -> pl.DataFrame: ...
@overload
def methods(*, library: Literal["cudf", "pyarrow"]) -> Any: ...
def release_memory() -> int: ...
"""
# {class of edges: class of the answer}
FRAMES = {"_F": "_F", "_Stream": "Any"}
COLUMNS = {"_Getting[_Column]": "_Column", "_Popping[_Column]": "_Column", "_Stream": "Any"}
# {class of edges: class of their arrays}
ARRAYS = {"_A | tuple[_A, _A]": "_A", "_Matrix": "Any"}
# mypy does not infer the class of columns from that of a graph.
COLUMNS_OF_GRAPHS = {"pd.DataFrame": "pd.Series[Any]", "pl.DataFrame": "pl.Series", "Any": "Any"}
CHOSEN = ("source", "destination", "by")  # when a Graph is made
# Functions whose answers, of a Dask frame, are of the library of its partitions.
COLLECTED = ("balance", "iter_triangles", "triad_counts", "triangles_by_type")


def is_value(record):
    """Whether the answer is a frame with `by` alone."""
    answer = inspect.signature(record.call).return_annotation
    return record.result is Result.VALUE and answer != "Frame"


def answers(record, columns):
    """The class of the answer by the class of edges, without `by`; `columns` are of columns."""
    answer = inspect.signature(record.call).return_annotation
    collected = {"_Partitioned": "Any"} if record.name in COLLECTED else {}
    if record.result is Result.COLUMN:
        return columns
    if is_value(record):
        return {"_Edges": answer.removesuffix(" | Frame")}
    if answer == "Iterator[Frame]":
        frames = {"_Lazy": "pl.DataFrame", **FRAMES}
        return collected | {edges: f"Iterator[{frame}]" for edges, frame in frames.items()}
    return collected | FRAMES


def variants(record, columns):
    """(class of edges, classes of options, class of the answer) of each kind of frame."""
    if "pairs" in record.defaults:
        for pairs, answer in {**COLUMNS, **ARRAYS, "_Partitioned": "Any"}.items():
            yield "_Edges", {"pairs": pairs}, answer
    none = {"pairs": "None"} | ({"by": "None"} if is_value(record) else {})
    for edges, answer in answers(record, columns).items():
        yield edges, none, answer


def of_arrays(record):
    """(first parameter, classes of options, class of the answer) of edges that are arrays."""
    answer, none = inspect.signature(record.call).return_annotation, {"pairs": "None"}
    if not is_value(record):
        kinds = {"Series": "{0}", "Iterator[Frame]": "Iterator[dict[str, {0}]]"}
        made = kinds.get(answer, "dict[str, {0}]")
        for edges, array in ARRAYS.items():
            yield f"edges: {edges}", none, made.format(array)
        yield "", {**none, "edge_index": "_A"}, made.format("_A")
        return
    value, by = answer.removesuffix(" | Frame"), {"by": "Groups"}
    yield "", {"by": "None", "edge_index": "_Array"}, value
    yield "edges: _A | tuple[_A, _A]", by, "dict[str, _A]"
    yield "", {**by, "edge_index": "_A"}, "dict[str, _A]"


def functions():
    """The functions of edges."""
    for record in ANALYTICS.values():
        given = [
            (edges if edges == "_Edges" else f"{edges} | Graph[{edges}]", types, answer)
            for edges, types, answer in variants(record, COLUMNS)
        ]
        if is_value(record):
            grouped = [(f"_GroupedGraph[{edges}]", {}, FRAMES[edges]) for edges in FRAMES]
            by = [(edges, {"by": "Groups"}, FRAMES[edges]) for edges in FRAMES]
            given = [*grouped, *given, *by]
        given = [(f"edges: {edges}", *others) for edges, *others in given]
        yield from overloads(record, [*given, *of_arrays(record)])


def methods(*, grouped):
    """The methods of a graph."""
    for record in ANALYTICS.values():
        kinds = [*variants(record, COLUMNS_OF_GRAPHS)]
        if grouped and not is_value(record):
            continue
        if grouped:
            kinds = [("_F", {}, "_F")]
        elif {edges for edges, _, _ in kinds} >= FRAMES.keys():  # the graph knows its frames
            kinds = [kind for kind in kinds if kind[0] not in ("_Lazy", "_Stream")]
        given = [
            ("self", types, answer.replace("_F", "_F_co"))
            if edges in ("_F", "_Edges")
            else (f"self: Graph[{edges}]", types, answer)
            for edges, types, answer in kinds
        ]
        yield from overloads(record, given, () if "pairs" in record.defaults else CHOSEN)


def graphs():
    """The classes of graphs: how they are made, and their methods."""
    yield "class Graph(_Graph, Generic[_F_co]):"
    for edges, frame in {"_Lazy": "pl.DataFrame", **FRAMES}.items():
        for by, graph in {"None": "Graph", "Groups": "_GroupedGraph"}.items():
            others = parameters(tc.Graph, "", {"by": by})
            new = definition("__new__", ["cls", f"edges: {edges}", *others], f"{graph}[{frame}]")
            yield from inside(["@overload", new])
    for types in {}, {"edge_index": "_Array"}:
        for by, graph in {"None": "Graph", "Groups": "_GroupedGraph"}.items():
            first = "" if types else "edges: _Arrays"
            new = ["cls", *parameters(tc.Graph, first, {**types, "by": by})]
            yield from inside(["@overload", definition("__new__", new, f"{graph}[Any]")])
    yield from inside(methods(grouped=False))
    estimate = parameters(tc.memory_estimate, "self", {}, CHOSEN)
    yield from inside([definition("memory_estimate", estimate, "dict[str, int]")])
    yield "\nclass _GroupedGraph(Graph[_F_co]):  # made with by="
    yield from inside(methods(grouped=True))


def overloads(record, given, left_out=()):
    """The definitions of a function, one for each (first parameter, types of options, answer)."""
    for first, types, answer in given:
        if len(given) > 1:
            yield "@overload"
        yield definition(record.name, parameters(record.call, first, types, left_out), answer)


def parameters(function, first, types, left_out=()):
    """The parameters of a function as text; an option that gets a type must be given."""
    texts, named = [first] * bool(first), False
    _, *others = inspect.signature(function).parameters.values()
    takes_arrays = "_A" in first or "edge_index" in types
    for p in others:
        if p.name in left_out or (p.name == "edge_index" and p.name not in types):
            continue
        if p.kind is p.KEYWORD_ONLY and not named:
            texts.append("*")
        named = named or p.kind is not p.POSITIONAL_OR_KEYWORD
        needed = p.default is p.empty or types.get(p.name, "None") != "None"
        default = "" if needed else f" = {p.default!r}".replace("'", '"')
        stars = "*" * (p.kind is p.VAR_POSITIONAL)
        annotation = "_Array | " * (takes_arrays and p.name in NAMED) + p.annotation
        texts.append(f"{stars}{p.name}: {types.get(p.name, annotation)}{default}")
    return texts


def definition(name, parameters, answer):
    """The text of a function."""
    return wrapped(f"def {name}(", parameters, f") -> {answer}: ...")


def literal(name, values):
    """The definition of a type of some strings."""
    return wrapped(f"{name} = Literal[", [f'"{value}"' for value in values], "]")


def wrapped(start, parts, end):
    """A text of parts between commas, none of which is cut at the end of a line."""
    text = (start + ", ".join(part.replace(" ", "\0") for part in parts)) + end.replace(" ", "\0")
    lines = fill(text, 96, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def inside(lines):
    """The lines of a class."""
    return [indent(line, "    ") for line in lines]


def made():
    """What the file has to hold."""
    errors = [f"{name} as {name}" for name in tc.__all__ if name.endswith("Error")]
    estimates = [
        definition("memory_estimate", parameters(tc.memory_estimate, *given), "dict[str, int]")
        for given in (("edges: _Edges", {}), ("", {"edge_index": "_Array"}))
    ]
    lines = [
        HEAD + wrapped("from rapids_tc.errors import (", errors, ")"),
        "\n__version__: str",
        wrapped("__all__ = [", [f'"{name}"' for name in tc.__all__], "]"),
        "",
        literal("Function", sorted(estimated())),
        literal("Measure", MEASURES),
        literal("Method", ["auto", *(name for m in METHODS for name in (m.name, *m.aliases))]),
        KINDS,
        *graphs(),
        "",
        *functions(),
        *(line for estimate in estimates for line in ("@overload", estimate)),
        LIBRARIES.rstrip(),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(made())
