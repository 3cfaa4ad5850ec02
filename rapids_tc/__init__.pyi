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
from rapids_tc.errors import (CapacityError as CapacityError,
    ColumnNotFoundError as ColumnNotFoundError, IdTypeError as IdTypeError,
    KernelError as KernelError, NullIdError as NullIdError, RapidsTCError as RapidsTCError)

__version__: str
__all__ = ["CapacityError", "ColumnNotFoundError", "Delta", "Estimate", "Graph", "IdTypeError",
    "KernelError", "NullIdError", "RapidsTCError", "Triangles", "annotate", "annotate_vertices",
    "approximate_count", "average_clustering", "balance", "bitruss", "cliques", "clustering",
    "count", "datasets", "edge_cliques", "edge_squares", "edge_triangles", "files",
    "graphlet_counts", "graphlets", "iter_project", "iter_triangles", "k_truss",
    "list_triangles", "memory_estimate", "methods", "most_similar", "plot", "project",
    "register_accessor", "release_memory", "similarity", "simple_edges", "spark", "squares",
    "transitivity", "triad_counts", "triangles_by_type", "triangles_over_time",
    "truss_communities", "truss_hierarchy", "trussness", "vertex_cliques", "vertex_squares",
    "vertex_triangles"]

Function = Literal["Graph", "annotate", "annotate_vertices", "approximate_count",
    "average_clustering", "balance", "bitruss", "cliques", "clustering", "count",
    "edge_cliques", "edge_squares", "edge_triangles", "graphlet_counts", "graphlets",
    "iter_project", "iter_triangles", "k_truss", "list_triangles", "most_similar", "project",
    "similarity", "simple_edges", "squares", "transitivity", "triad_counts",
    "triangles_by_type", "triangles_over_time", "truss_communities", "truss_hierarchy",
    "trussness", "vertex_cliques", "vertex_squares", "vertex_triangles"]
Measure = Literal["jaccard", "overlap", "sorensen", "cosine", "adamic_adar",
    "resource_allocation", "forman", "edge_clustering"]
Method = Literal["auto", "bitmap", "tricore", "binary_search", "trust", "hash", "short-rows",
    "polak", "green", "merge_path", "bisson", "fox", "hu", "h-index", "grouptc", "radix",
    "vertex-elimination"]

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

class Graph(_Graph, Generic[_F_co]):
    @overload
    def __new__(cls, edges: _Lazy, *, vertices: Vertices | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: None = None,
        bipartite: bool = False, time: Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Graph[pl.DataFrame]: ...
    @overload
    def __new__(cls, edges: _Lazy, *, vertices: Vertices | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups,
        bipartite: bool = False, time: Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _GroupedGraph[pl.DataFrame]: ...
    @overload
    def __new__(cls, edges: _F, *, vertices: Vertices | None = None, source: Labels | None = None,
        destination: Labels | None = None, by: None = None, bipartite: bool = False,
        time: Label | None = None, within: Length | None = None, lateness: Length | None = None,
        columns: Sequence[str] | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Graph[_F]: ...
    @overload
    def __new__(cls, edges: _F, *, vertices: Vertices | None = None, source: Labels | None = None,
        destination: Labels | None = None, by: Groups, bipartite: bool = False,
        time: Label | None = None, within: Length | None = None, lateness: Length | None = None,
        columns: Sequence[str] | None = None, engine: EngineName | None = None,
        progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _GroupedGraph[_F]: ...
    @overload
    def __new__(cls, edges: _Stream, *, vertices: Vertices | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: None = None,
        bipartite: bool = False, time: Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Graph[Any]: ...
    @overload
    def __new__(cls, edges: _Stream, *, vertices: Vertices | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups,
        bipartite: bool = False, time: Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _GroupedGraph[Any]: ...
    @overload
    def __new__(cls, edges: _Arrays, *, vertices: Vertices | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: None = None,
        bipartite: bool = False, time: _Array | Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Graph[Any]: ...
    @overload
    def __new__(cls, edges: _Arrays, *, vertices: Vertices | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups,
        bipartite: bool = False, time: _Array | Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _GroupedGraph[Any]: ...
    @overload
    def __new__(cls, *, vertices: Vertices | None = None, source: Labels | None = None,
        destination: Labels | None = None, by: None = None, bipartite: bool = False,
        time: _Array | Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None, edge_index: _Array) -> Graph[Any]: ...
    @overload
    def __new__(cls, *, vertices: Vertices | None = None, source: Labels | None = None,
        destination: Labels | None = None, by: Groups, bipartite: bool = False,
        time: _Array | Label | None = None, within: Length | None = None,
        lateness: Length | None = None, columns: Sequence[str] | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None, edge_index: _Array) -> _GroupedGraph[Any]: ...
    def annotate(self, *columns: str, time: Label | None = None, within: Length | None = None,
        where: Triangles | None = None, out: str | PathLike[str] | None = None, force: bool = False,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def approximate_count(self, *, colors: int = 4, seed: int = 0, confidence: float = 0.95,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Estimate: ...
    @overload
    def bitruss(self: Graph[pd.DataFrame], *, bipartite: bool = False,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pd.Series[Any]: ...
    @overload
    def bitruss(self: Graph[pl.DataFrame], *, bipartite: bool = False,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pl.Series: ...
    @overload
    def bitruss(self: Graph[Any], *, bipartite: bool = False, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
    def cliques(self, k: int = 4, *, engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> int: ...
    def vertex_cliques(self, k: int = 4, *, vertices: Vertices | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def edge_cliques(self: Graph[pd.DataFrame], k: int = 4, *, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> pd.Series[Any]: ...
    @overload
    def edge_cliques(self: Graph[pl.DataFrame], k: int = 4, *, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> pl.Series: ...
    @overload
    def edge_cliques(self: Graph[Any], k: int = 4, *, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
    def clustering(self, *, vertices: Vertices | None = None, weight: Label | None = None,
        aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def average_clustering(self, *, vertices: Vertices | None = None, count_zeros: bool = True,
        weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
        where: Triangles | None = None, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> float: ...
    def transitivity(self, *, weight: Label | None = None,
        mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
        aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> float: ...
    @overload
    def trussness(self: Graph[pd.DataFrame], *, where: Triangles | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pd.Series[Any]: ...
    @overload
    def trussness(self: Graph[pl.DataFrame], *, where: Triangles | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pl.Series: ...
    @overload
    def trussness(self: Graph[Any], *, where: Triangles | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    def k_truss(self, k: int | Literal['max'], *, where: Triangles | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def truss_communities(self, k: int | Literal['max'], *, connected: Connected = "triangles",
        where: Triangles | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def truss_hierarchy(self, *, connected: Connected = "triangles", where: Triangles | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def graphlets(self, *, vertices: Vertices | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def graphlet_counts(self, *, engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def triangles_over_time(self, *, time: Label, window: Length | None = None,
        step: Length | None = None, origin: Moment = "start", engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def list_triangles(self, *, vertices: Vertices | None = None, where: Triangles | None = None,
        directed: bool = False, max_rows: int | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def iter_triangles(self: Graph[_Partitioned], *, max_rows: int,
        vertices: Vertices | None = None, where: Triangles | None = None, directed: bool = False,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def iter_triangles(self, *, max_rows: int, vertices: Vertices | None = None,
        where: Triangles | None = None, directed: bool = False, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Iterator[_F_co]: ...
    def project(self, *, side: Side = "source", at_least: int = 1,
        measure: ProjectionMeasure | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def iter_project(self, *, max_rows: int, side: Side = "source", at_least: int = 1,
        measure: ProjectionMeasure | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Iterator[_F_co]: ...
    def most_similar(self, top: int = 10, *, measure: RankingMeasure = "jaccard",
        most_degree: int | None = None, exclude_neighbors: bool = False,
        vertices: Vertices | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def similarity(self, *, measure: Measure = "jaccard", pairs: _Getting[_Column],
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _Column: ...
    @overload
    def similarity(self, *, measure: Measure = "jaccard", pairs: _Popping[_Column],
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _Column: ...
    @overload
    def similarity(self, *, measure: Measure = "jaccard", pairs: _Stream,
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def similarity(self, *, measure: Measure = "jaccard", pairs: _A | tuple[_A, _A],
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _A: ...
    @overload
    def similarity(self, *, measure: Measure = "jaccard", pairs: _Matrix,
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def similarity(self, *, measure: Measure = "jaccard", pairs: _Partitioned,
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def similarity(self: Graph[pd.DataFrame], *, measure: Measure = "jaccard", pairs: None = None,
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pd.Series[Any]: ...
    @overload
    def similarity(self: Graph[pl.DataFrame], *, measure: Measure = "jaccard", pairs: None = None,
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pl.Series: ...
    @overload
    def similarity(self: Graph[Any], *, measure: Measure = "jaccard", pairs: None = None,
        weight: Label | None = None, aggregate: Aggregate | None = None,
        source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    def squares(self, *, bipartite: bool = False, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> int: ...
    def vertex_squares(self, *, vertices: Vertices | None = None, bipartite: bool = False,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def edge_squares(self: Graph[pd.DataFrame], *, bipartite: bool = False,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pd.Series[Any]: ...
    @overload
    def edge_squares(self: Graph[pl.DataFrame], *, bipartite: bool = False,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pl.Series: ...
    @overload
    def edge_squares(self: Graph[Any], *, bipartite: bool = False, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def triad_counts(self: Graph[_Partitioned], *, vertices: Vertices | None = None,
        directed: bool = False, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def triad_counts(self, *, vertices: Vertices | None = None, directed: bool = False,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def count(self, *, time: Label | None = None, within: Length | None = None,
        where: Triangles | None = None, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> int: ...
    def vertex_triangles(self, *, vertices: Vertices | None = None, time: Label | None = None,
        within: Length | None = None, where: Triangles | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def edge_triangles(self: Graph[pd.DataFrame], *, time: Label | None = None,
        within: Length | None = None, where: Triangles | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pd.Series[Any]: ...
    @overload
    def edge_triangles(self: Graph[pl.DataFrame], *, time: Label | None = None,
        within: Length | None = None, where: Triangles | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> pl.Series: ...
    @overload
    def edge_triangles(self: Graph[Any], *, time: Label | None = None, within: Length | None = None,
        where: Triangles | None = None, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
    def simple_edges(self, *, engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def triangles_by_type(self: Graph[_Partitioned], *, edge_type: Label | None = None,
        vertex_type: Any = None, directed: bool = False,
        per: Literal['vertex', 'edge'] | None = None, aggregate: Aggregate | None = None,
        engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def triangles_by_type(self, *, edge_type: Label | None = None, vertex_type: Any = None,
        directed: bool = False, per: Literal['vertex', 'edge'] | None = None,
        aggregate: Aggregate | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    @overload
    def balance(self: Graph[_Partitioned], *, sign: Label, per: Literal['vertex'] | None = None,
        aggregate: Aggregate | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
    @overload
    def balance(self, *, sign: Label, per: Literal['vertex'] | None = None,
        aggregate: Aggregate | None = None, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def annotate_vertices(self, *columns: str, vertices: Vertices | None = None,
        weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
        where: Triangles | None = None, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def memory_estimate(self, *, function: Function = "count", bipartite: bool = False,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> dict[str, int]: ...

class _GroupedGraph(Graph[_F_co]):  # made with by=
    def approximate_count(self, *, colors: int = 4, seed: int = 0, confidence: float = 0.95,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def cliques(self, k: int = 4, *, engine: EngineName | None = None, progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def average_clustering(self, *, vertices: Vertices | None = None, count_zeros: bool = True,
        weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
        where: Triangles | None = None, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def transitivity(self, *, weight: Label | None = None,
        mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
        aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
        engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
        memory_limit: ByteSize | None = None) -> _F_co: ...
    def squares(self, *, bipartite: bool = False, engine: EngineName | None = None,
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...
    def count(self, *, time: Label | None = None, within: Length | None = None,
        where: Triangles | None = None, engine: EngineName | None = None, method: Method = "auto",
        progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F_co: ...

@overload
def annotate(edges: _F | Graph[_F], *columns: str, time: Label | None = None,
    within: Length | None = None, where: Triangles | None = None,
    out: str | PathLike[str] | None = None, force: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def annotate(edges: _Stream | Graph[_Stream], *columns: str, time: Label | None = None,
    within: Length | None = None, where: Triangles | None = None,
    out: str | PathLike[str] | None = None, force: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def annotate(edges: _A | tuple[_A, _A], *columns: str, time: _Array | Label | None = None,
    within: Length | None = None, where: Triangles | None = None,
    out: str | PathLike[str] | None = None, force: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def annotate(edges: _Matrix, *columns: str, time: Label | None = None,
    within: Length | None = None, where: Triangles | None = None,
    out: str | PathLike[str] | None = None, force: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def annotate(*columns: str, time: _Array | Label | None = None, within: Length | None = None,
    where: Triangles | None = None, out: str | PathLike[str] | None = None, force: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def approximate_count(edges: _GroupedGraph[_F], *, colors: int = 4, seed: int = 0,
    confidence: float = 0.95, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F: ...
@overload
def approximate_count(edges: _GroupedGraph[_Stream], *, colors: int = 4, seed: int = 0,
    confidence: float = 0.95, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
@overload
def approximate_count(edges: _Edges, *, colors: int = 4, seed: int = 0,
    confidence: float = 0.95, source: Labels | None = None, destination: Labels | None = None,
    by: None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Estimate: ...
@overload
def approximate_count(edges: _F, *, colors: int = 4, seed: int = 0, confidence: float = 0.95,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def approximate_count(edges: _Stream, *, colors: int = 4, seed: int = 0,
    confidence: float = 0.95, source: Labels | None = None, destination: Labels | None = None,
    by: Groups, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
@overload
def approximate_count(*, colors: int = 4, seed: int = 0, confidence: float = 0.95,
    source: Labels | None = None, destination: Labels | None = None, by: None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _Array) -> Estimate: ...
@overload
def approximate_count(edges: _A | tuple[_A, _A], *, colors: int = 4, seed: int = 0,
    confidence: float = 0.95, source: Labels | None = None, destination: Labels | None = None,
    by: Groups, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def approximate_count(*, colors: int = 4, seed: int = 0, confidence: float = 0.95,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def bitruss(edges: _Getting[_Column] | Graph[_Getting[_Column]], *, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def bitruss(edges: _Popping[_Column] | Graph[_Popping[_Column]], *, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def bitruss(edges: _Stream | Graph[_Stream], *, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def bitruss(edges: _A | tuple[_A, _A], *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _A: ...
@overload
def bitruss(edges: _Matrix, *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def bitruss(*, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> _A: ...
@overload
def cliques(edges: _GroupedGraph[_F], k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def cliques(edges: _GroupedGraph[_Stream], k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def cliques(edges: _Edges, k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> int: ...
@overload
def cliques(edges: _F, k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F: ...
@overload
def cliques(edges: _Stream, k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
@overload
def cliques(k: int = 4, *, source: Labels | None = None, destination: Labels | None = None,
    by: None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _Array) -> int: ...
@overload
def cliques(edges: _A | tuple[_A, _A], k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def cliques(k: int = 4, *, source: Labels | None = None, destination: Labels | None = None,
    by: Groups, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def vertex_cliques(edges: _F | Graph[_F], k: int = 4, *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def vertex_cliques(edges: _Stream | Graph[_Stream], k: int = 4, *,
    vertices: Vertices | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def vertex_cliques(edges: _A | tuple[_A, _A], k: int = 4, *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def vertex_cliques(edges: _Matrix, k: int = 4, *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def vertex_cliques(k: int = 4, *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def edge_cliques(edges: _Getting[_Column] | Graph[_Getting[_Column]], k: int = 4, *,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def edge_cliques(edges: _Popping[_Column] | Graph[_Popping[_Column]], k: int = 4, *,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def edge_cliques(edges: _Stream | Graph[_Stream], k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def edge_cliques(edges: _A | tuple[_A, _A], k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _A: ...
@overload
def edge_cliques(edges: _Matrix, k: int = 4, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def edge_cliques(k: int = 4, *, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> _A: ...
@overload
def clustering(edges: _F | Graph[_F], *, vertices: Vertices | None = None,
    weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def clustering(edges: _Stream | Graph[_Stream], *, vertices: Vertices | None = None,
    weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def clustering(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    weight: _Array | Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def clustering(edges: _Matrix, *, vertices: Vertices | None = None, weight: Label | None = None,
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def clustering(*, vertices: Vertices | None = None, weight: _Array | Label | None = None,
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def average_clustering(edges: _GroupedGraph[_F], *, vertices: Vertices | None = None,
    count_zeros: bool = True, weight: Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def average_clustering(edges: _GroupedGraph[_Stream], *, vertices: Vertices | None = None,
    count_zeros: bool = True, weight: Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def average_clustering(edges: _Edges, *, vertices: Vertices | None = None,
    count_zeros: bool = True, weight: Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> float: ...
@overload
def average_clustering(edges: _F, *, vertices: Vertices | None = None, count_zeros: bool = True,
    weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def average_clustering(edges: _Stream, *, vertices: Vertices | None = None,
    count_zeros: bool = True, weight: Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def average_clustering(*, vertices: Vertices | None = None, count_zeros: bool = True,
    weight: _Array | Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None, memory_limit: ByteSize | None = None,
    edge_index: _Array) -> float: ...
@overload
def average_clustering(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    count_zeros: bool = True, weight: _Array | Label | None = None,
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def average_clustering(*, vertices: Vertices | None = None, count_zeros: bool = True,
    weight: _Array | Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None, memory_limit: ByteSize | None = None,
    edge_index: _A) -> dict[str, _A]: ...
@overload
def transitivity(edges: _GroupedGraph[_F], *, weight: Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def transitivity(edges: _GroupedGraph[_Stream], *, weight: Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def transitivity(edges: _Edges, *, weight: Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> float: ...
@overload
def transitivity(edges: _F, *, weight: Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def transitivity(edges: _Stream, *, weight: Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def transitivity(*, weight: _Array | Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _Array) -> float: ...
@overload
def transitivity(edges: _A | tuple[_A, _A], *, weight: _Array | Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def transitivity(*, weight: _Array | Label | None = None,
    mean: Literal['arithmetic', 'geometric', 'max', 'min'] = "arithmetic",
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def trussness(edges: _Getting[_Column] | Graph[_Getting[_Column]], *,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def trussness(edges: _Popping[_Column] | Graph[_Popping[_Column]], *,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def trussness(edges: _Stream | Graph[_Stream], *, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def trussness(edges: _A | tuple[_A, _A], *, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _A: ...
@overload
def trussness(edges: _Matrix, *, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def trussness(*, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> _A: ...
@overload
def k_truss(edges: _F | Graph[_F], k: int | Literal['max'], *, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def k_truss(edges: _Stream | Graph[_Stream], k: int | Literal['max'], *,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def k_truss(edges: _A | tuple[_A, _A], k: int | Literal['max'], *,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def k_truss(edges: _Matrix, k: int | Literal['max'], *, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def k_truss(k: int | Literal['max'], *, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def truss_communities(edges: _F | Graph[_F], k: int | Literal['max'], *,
    connected: Connected = "triangles", where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def truss_communities(edges: _Stream | Graph[_Stream], k: int | Literal['max'], *,
    connected: Connected = "triangles", where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def truss_communities(edges: _A | tuple[_A, _A], k: int | Literal['max'], *,
    connected: Connected = "triangles", where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def truss_communities(edges: _Matrix, k: int | Literal['max'], *,
    connected: Connected = "triangles", where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def truss_communities(k: int | Literal['max'], *, connected: Connected = "triangles",
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def truss_hierarchy(edges: _F | Graph[_F], *, connected: Connected = "triangles",
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def truss_hierarchy(edges: _Stream | Graph[_Stream], *, connected: Connected = "triangles",
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def truss_hierarchy(edges: _A | tuple[_A, _A], *, connected: Connected = "triangles",
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def truss_hierarchy(edges: _Matrix, *, connected: Connected = "triangles",
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def truss_hierarchy(*, connected: Connected = "triangles", where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def graphlets(edges: _F | Graph[_F], *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def graphlets(edges: _Stream | Graph[_Stream], *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def graphlets(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def graphlets(edges: _Matrix, *, vertices: Vertices | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def graphlets(*, vertices: Vertices | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def graphlet_counts(edges: _F | Graph[_F], *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def graphlet_counts(edges: _Stream | Graph[_Stream], *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def graphlet_counts(edges: _A | tuple[_A, _A], *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def graphlet_counts(edges: _Matrix, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def graphlet_counts(*, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def triangles_over_time(edges: _F | Graph[_F], *, time: Label, window: Length | None = None,
    step: Length | None = None, origin: Moment = "start", source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def triangles_over_time(edges: _Stream | Graph[_Stream], *, time: Label,
    window: Length | None = None, step: Length | None = None, origin: Moment = "start",
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def triangles_over_time(edges: _A | tuple[_A, _A], *, time: _Array | Label,
    window: Length | None = None, step: Length | None = None, origin: Moment = "start",
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def triangles_over_time(edges: _Matrix, *, time: Label, window: Length | None = None,
    step: Length | None = None, origin: Moment = "start", source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def triangles_over_time(*, time: _Array | Label, window: Length | None = None,
    step: Length | None = None, origin: Moment = "start", source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def list_triangles(edges: _F | Graph[_F], *, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, max_rows: int | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def list_triangles(edges: _Stream | Graph[_Stream], *, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, max_rows: int | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def list_triangles(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, max_rows: int | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def list_triangles(edges: _Matrix, *, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, max_rows: int | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def list_triangles(*, vertices: Vertices | None = None, where: Triangles | None = None,
    directed: bool = False, max_rows: int | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def iter_triangles(edges: _Partitioned | Graph[_Partitioned], *, max_rows: int,
    vertices: Vertices | None = None, where: Triangles | None = None, directed: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def iter_triangles(edges: _Lazy | Graph[_Lazy], *, max_rows: int,
    vertices: Vertices | None = None, where: Triangles | None = None, directed: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[pl.DataFrame]: ...
@overload
def iter_triangles(edges: _F | Graph[_F], *, max_rows: int, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[_F]: ...
@overload
def iter_triangles(edges: _Stream | Graph[_Stream], *, max_rows: int,
    vertices: Vertices | None = None, where: Triangles | None = None, directed: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[Any]: ...
@overload
def iter_triangles(edges: _A | tuple[_A, _A], *, max_rows: int,
    vertices: Vertices | None = None, where: Triangles | None = None, directed: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[dict[str, _A]]: ...
@overload
def iter_triangles(edges: _Matrix, *, max_rows: int, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[dict[str, Any]]: ...
@overload
def iter_triangles(*, max_rows: int, vertices: Vertices | None = None,
    where: Triangles | None = None, directed: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> Iterator[dict[str, _A]]: ...
@overload
def project(edges: _F | Graph[_F], *, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def project(edges: _Stream | Graph[_Stream], *, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def project(edges: _A | tuple[_A, _A], *, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def project(edges: _Matrix, *, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def project(*, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def iter_project(edges: _Lazy | Graph[_Lazy], *, max_rows: int, side: Side = "source",
    at_least: int = 1, measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[pl.DataFrame]: ...
@overload
def iter_project(edges: _F | Graph[_F], *, max_rows: int, side: Side = "source",
    at_least: int = 1, measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[_F]: ...
@overload
def iter_project(edges: _Stream | Graph[_Stream], *, max_rows: int, side: Side = "source",
    at_least: int = 1, measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[Any]: ...
@overload
def iter_project(edges: _A | tuple[_A, _A], *, max_rows: int, side: Side = "source",
    at_least: int = 1, measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[dict[str, _A]]: ...
@overload
def iter_project(edges: _Matrix, *, max_rows: int, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Iterator[dict[str, Any]]: ...
@overload
def iter_project(*, max_rows: int, side: Side = "source", at_least: int = 1,
    measure: ProjectionMeasure | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> Iterator[dict[str, _A]]: ...
@overload
def most_similar(edges: _F | Graph[_F], top: int = 10, *, measure: RankingMeasure = "jaccard",
    most_degree: int | None = None, exclude_neighbors: bool = False,
    vertices: Vertices | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def most_similar(edges: _Stream | Graph[_Stream], top: int = 10, *,
    measure: RankingMeasure = "jaccard", most_degree: int | None = None,
    exclude_neighbors: bool = False, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def most_similar(edges: _A | tuple[_A, _A], top: int = 10, *,
    measure: RankingMeasure = "jaccard", most_degree: int | None = None,
    exclude_neighbors: bool = False, vertices: Vertices | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def most_similar(edges: _Matrix, top: int = 10, *, measure: RankingMeasure = "jaccard",
    most_degree: int | None = None, exclude_neighbors: bool = False,
    vertices: Vertices | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def most_similar(top: int = 10, *, measure: RankingMeasure = "jaccard",
    most_degree: int | None = None, exclude_neighbors: bool = False,
    vertices: Vertices | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def similarity(edges: _Edges, *, measure: Measure = "jaccard", pairs: _Getting[_Column],
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def similarity(edges: _Edges, *, measure: Measure = "jaccard", pairs: _Popping[_Column],
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def similarity(edges: _Edges, *, measure: Measure = "jaccard", pairs: _Stream,
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def similarity(edges: _Edges, *, measure: Measure = "jaccard", pairs: _A | tuple[_A, _A],
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _A: ...
@overload
def similarity(edges: _Edges, *, measure: Measure = "jaccard", pairs: _Matrix,
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def similarity(edges: _Edges, *, measure: Measure = "jaccard", pairs: _Partitioned,
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def similarity(edges: _Getting[_Column] | Graph[_Getting[_Column]], *,
    measure: Measure = "jaccard", pairs: None = None, weight: Label | None = None,
    aggregate: Aggregate | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def similarity(edges: _Popping[_Column] | Graph[_Popping[_Column]], *,
    measure: Measure = "jaccard", pairs: None = None, weight: Label | None = None,
    aggregate: Aggregate | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def similarity(edges: _Stream | Graph[_Stream], *, measure: Measure = "jaccard",
    pairs: None = None, weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def similarity(edges: _A | tuple[_A, _A], *, measure: Measure = "jaccard", pairs: None = None,
    weight: _Array | Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def similarity(edges: _Matrix, *, measure: Measure = "jaccard", pairs: None = None,
    weight: Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def similarity(*, measure: Measure = "jaccard", pairs: None = None,
    weight: _Array | Label | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def squares(edges: _GroupedGraph[_F], *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def squares(edges: _GroupedGraph[_Stream], *, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def squares(edges: _Edges, *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> int: ...
@overload
def squares(edges: _F, *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F: ...
@overload
def squares(edges: _Stream, *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
@overload
def squares(*, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None,
    edge_index: _Array) -> int: ...
@overload
def squares(edges: _A | tuple[_A, _A], *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def squares(*, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    progress: bool | None = None, memory_limit: ByteSize | None = None,
    edge_index: _A) -> dict[str, _A]: ...
@overload
def vertex_squares(edges: _F | Graph[_F], *, vertices: Vertices | None = None,
    bipartite: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def vertex_squares(edges: _Stream | Graph[_Stream], *, vertices: Vertices | None = None,
    bipartite: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def vertex_squares(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    bipartite: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def vertex_squares(edges: _Matrix, *, vertices: Vertices | None = None, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def vertex_squares(*, vertices: Vertices | None = None, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def edge_squares(edges: _Getting[_Column] | Graph[_Getting[_Column]], *,
    bipartite: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def edge_squares(edges: _Popping[_Column] | Graph[_Popping[_Column]], *,
    bipartite: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def edge_squares(edges: _Stream | Graph[_Stream], *, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def edge_squares(edges: _A | tuple[_A, _A], *, bipartite: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _A: ...
@overload
def edge_squares(edges: _Matrix, *, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def edge_squares(*, bipartite: bool = False, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> _A: ...
@overload
def triad_counts(edges: _Partitioned | Graph[_Partitioned], *, vertices: Vertices | None = None,
    directed: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
@overload
def triad_counts(edges: _F | Graph[_F], *, vertices: Vertices | None = None,
    directed: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> _F: ...
@overload
def triad_counts(edges: _Stream | Graph[_Stream], *, vertices: Vertices | None = None,
    directed: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> Any: ...
@overload
def triad_counts(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    directed: bool = False, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def triad_counts(edges: _Matrix, *, vertices: Vertices | None = None, directed: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def triad_counts(*, vertices: Vertices | None = None, directed: bool = False,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def count(edges: _GroupedGraph[_F], *, time: Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def count(edges: _GroupedGraph[_Stream], *, time: Label | None = None,
    within: Length | None = None, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def count(edges: _Edges, *, time: Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> int: ...
@overload
def count(edges: _F, *, time: Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def count(edges: _Stream, *, time: Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def count(*, time: _Array | Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: None = None, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None, memory_limit: ByteSize | None = None,
    edge_index: _Array) -> int: ...
@overload
def count(edges: _A | tuple[_A, _A], *, time: _Array | Label | None = None,
    within: Length | None = None, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def count(*, time: _Array | Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups, engine: EngineName | None = None,
    method: Method = "auto", progress: bool | None = None, memory_limit: ByteSize | None = None,
    edge_index: _A) -> dict[str, _A]: ...
@overload
def vertex_triangles(edges: _F | Graph[_F], *, vertices: Vertices | None = None,
    time: Label | None = None, within: Length | None = None, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def vertex_triangles(edges: _Stream | Graph[_Stream], *, vertices: Vertices | None = None,
    time: Label | None = None, within: Length | None = None, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def vertex_triangles(edges: _A | tuple[_A, _A], *, vertices: Vertices | None = None,
    time: _Array | Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def vertex_triangles(edges: _Matrix, *, vertices: Vertices | None = None,
    time: Label | None = None, within: Length | None = None, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def vertex_triangles(*, vertices: Vertices | None = None, time: _Array | Label | None = None,
    within: Length | None = None, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def edge_triangles(edges: _Getting[_Column] | Graph[_Getting[_Column]], *,
    time: Label | None = None, within: Length | None = None, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def edge_triangles(edges: _Popping[_Column] | Graph[_Popping[_Column]], *,
    time: Label | None = None, within: Length | None = None, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _Column: ...
@overload
def edge_triangles(edges: _Stream | Graph[_Stream], *, time: Label | None = None,
    within: Length | None = None, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def edge_triangles(edges: _A | tuple[_A, _A], *, time: _Array | Label | None = None,
    within: Length | None = None, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _A: ...
@overload
def edge_triangles(edges: _Matrix, *, time: Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def edge_triangles(*, time: _Array | Label | None = None, within: Length | None = None,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> _A: ...
@overload
def simple_edges(edges: _F | Graph[_F], *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def simple_edges(edges: _Stream | Graph[_Stream], *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def simple_edges(edges: _A | tuple[_A, _A], *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def simple_edges(edges: _Matrix, *, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def simple_edges(*, source: Labels | None = None, destination: Labels | None = None,
    by: Groups | None = None, engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def triangles_by_type(edges: _Partitioned | Graph[_Partitioned], *,
    edge_type: Label | None = None, vertex_type: Any = None, directed: bool = False,
    per: Literal['vertex', 'edge'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def triangles_by_type(edges: _F | Graph[_F], *, edge_type: Label | None = None,
    vertex_type: Any = None, directed: bool = False,
    per: Literal['vertex', 'edge'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def triangles_by_type(edges: _Stream | Graph[_Stream], *, edge_type: Label | None = None,
    vertex_type: Any = None, directed: bool = False,
    per: Literal['vertex', 'edge'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def triangles_by_type(edges: _A | tuple[_A, _A], *, edge_type: _Array | Label | None = None,
    vertex_type: Any = None, directed: bool = False,
    per: Literal['vertex', 'edge'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def triangles_by_type(edges: _Matrix, *, edge_type: Label | None = None,
    vertex_type: Any = None, directed: bool = False,
    per: Literal['vertex', 'edge'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def triangles_by_type(*, edge_type: _Array | Label | None = None, vertex_type: Any = None,
    directed: bool = False, per: Literal['vertex', 'edge'] | None = None,
    aggregate: Aggregate | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def balance(edges: _Partitioned | Graph[_Partitioned], *, sign: Label,
    per: Literal['vertex'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def balance(edges: _F | Graph[_F], *, sign: Label, per: Literal['vertex'] | None = None,
    aggregate: Aggregate | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def balance(edges: _Stream | Graph[_Stream], *, sign: Label,
    per: Literal['vertex'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def balance(edges: _A | tuple[_A, _A], *, sign: _Array | Label,
    per: Literal['vertex'] | None = None, aggregate: Aggregate | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def balance(edges: _Matrix, *, sign: Label, per: Literal['vertex'] | None = None,
    aggregate: Aggregate | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def balance(*, sign: _Array | Label, per: Literal['vertex'] | None = None,
    aggregate: Aggregate | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def annotate_vertices(edges: _F | Graph[_F], *columns: str, vertices: Vertices | None = None,
    weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> _F: ...
@overload
def annotate_vertices(edges: _Stream | Graph[_Stream], *columns: str,
    vertices: Vertices | None = None, weight: Label | None = None,
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> Any: ...
@overload
def annotate_vertices(edges: _A | tuple[_A, _A], *columns: str,
    vertices: Vertices | None = None, weight: _Array | Label | None = None,
    aggregate: Aggregate | None = None, directed: bool = False, where: Triangles | None = None,
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, _A]: ...
@overload
def annotate_vertices(edges: _Matrix, *columns: str, vertices: Vertices | None = None,
    weight: Label | None = None, aggregate: Aggregate | None = None, directed: bool = False,
    where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None) -> dict[str, Any]: ...
@overload
def annotate_vertices(*columns: str, vertices: Vertices | None = None,
    weight: _Array | Label | None = None, aggregate: Aggregate | None = None,
    directed: bool = False, where: Triangles | None = None, source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _A) -> dict[str, _A]: ...
@overload
def memory_estimate(edges: _Edges, *, function: Function = "count",
    source: Labels | None = None, destination: Labels | None = None, by: Groups | None = None,
    bipartite: bool = False, engine: EngineName | None = None, method: Method = "auto",
    progress: bool | None = None, memory_limit: ByteSize | None = None) -> dict[str, int]: ...
@overload
def memory_estimate(*, function: Function = "count", source: Labels | None = None,
    destination: Labels | None = None, by: Groups | None = None, bipartite: bool = False,
    engine: EngineName | None = None, method: Method = "auto", progress: bool | None = None,
    memory_limit: ByteSize | None = None, edge_index: _Array) -> dict[str, int]: ...
@overload
def methods(*, library: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
@overload
def methods(*, library: Literal["polars"]) -> pl.DataFrame: ...
@overload
def methods(*, library: Literal["cudf", "pyarrow"]) -> Any: ...
def release_memory() -> int: ...
