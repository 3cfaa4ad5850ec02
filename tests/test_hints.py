"""What an error tells the user to do: a table of every place that raises one, and of its words."""

import ast
import gzip
import pickle
import re
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace as Fake

import numpy as np
import pandas as pd
import polars as pl
import pytest
import tensors
from file_kinds import zipped, zstandard
from graphs import complete

import rapids_tc as tc
from rapids_tc import _parallel, datasets, errors, files, plot, testing
from rapids_tc.analytics import cliques, graphlets, orbits, triads
from rapids_tc.blocks import codec, grid, time_slabs
from rapids_tc.cli import analytics as cli_analytics
from rapids_tc.cli import edges as cli_edges
from rapids_tc.cli import machine, tables, values
from rapids_tc.cli import reading as cli_reading
from rapids_tc.cli.edges import FileEdges
from rapids_tc.engines import peel
from rapids_tc.engines.blooms import require_index
from rapids_tc.engines.cpu import host_slots
from rapids_tc.engines.gpu import cuda, device_slots
from rapids_tc.executors import persisted, spark_cluster, watch
from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.files import arrays
from rapids_tc.files.formats import Format
from rapids_tc.frames import backend, device_memory
from rapids_tc.frames import written as frames_written
from rapids_tc.frames.adapters import PandasAdapter, pyarrow
from rapids_tc.graphs import resolve
from rapids_tc.graphs.resolve import polars_lazy
from rapids_tc.kernels import _source, catalogue, launch
from rapids_tc.plan import budget, costs, needs
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import ANALYTICS
from rapids_tc.preparation import (
    id_scheme,
    intervals,
    numbering,
    orient,
    time_order,
    times,
)
from rapids_tc.preparation.edge_columns import edge_columns
from rapids_tc.testing import _build, _sanitize
from rapids_tc.updates import kept_rows

pytestmark = pytest.mark.cpu_only
PACKAGE = Path(tc.__file__).parent

# Places of which no user reads the message, or where it is not ours to word.
INTERNAL = {
    "__init__:__getattr__": "Python's own words for a name that is not there",
    "blocks/ties:Steps.sorted_edges": "no graph in blocks is asked, as the record of means says",
    "bench/clock:measure": "becomes a remark in the table of times",
    "cli/machine:rapids_doctor_check": "a finding of the doctor: test_cli.py",
    "cli/output:_errors": "an exit code, behind the line that the error is printed as",
    "preparation/csr:Csr.validate": "for tests of engines: no public function takes a Csr",
    "engines/cpu/compiled:_Interruptible.__call__": "Ctrl-C",
    "engines/cpu/compiled:_stamp": "caught by Numba: nothing is cached then",
    "engines/cpu/host_slots:BlockStore._each_part": "caught by `_disk_errors`, which words it",
    "executors/spark_tasks:TaskGraph.gather": "of rows that Spark has lost: test_spark.py",
    "executors/spark_tasks:TaskGraph.run": "of rows that Spark has lost: test_spark.py",
    "executors/spark_tasks:TaskGraph._wave": "of a frame that is read again: test_spark.py",
    "executors/spark_cluster:_asked": "of Spark's own errors: test_spark.py",
    "executors/persisted:placement": "the cluster's own words, of keys that it lost",
    "files/beside:read_columns": "no file is known whose ids can be read, and whose columns cannot",
    "files/adjacency:_number_of_line": "only of a file that is cut short between two reads",
    "files/lines:_exact": "caught by `parse`, which names the line",
    "files/scans:_by_arrow.lines": "caught by `_text_batches`: pandas reads the file",
    "files/scans:_typed": "caught by `_text_batches`, which names the line",
    "files/lines:_parse_by_arrow": "caught by `parse`: pandas reads the file",
    "files/lines:_blocks_for_arrow": "caught by `parse`: pandas reads the file",
    "kernels/_nvrtc:_compile": "the compiler's own words: test_nvrtc.py",
    "kernels/_nvrtc:Awaited.__call__": "asked for by RAPIDS_TC_DEBUG=1: test_launches.py",
    "preparation/id_scheme:_resolve_part": "made elsewhere: ids.integers",
    "updates/tally:Tally.with_new": "caught by `_by_tally`, which makes another tally",
    "updates/updated:UnreadGraph.__getattr__": "Python's own words for a name that is not there",
    "graphs/edge_graph:VertexTotals.vertex_counts": "no public function asks it",
    "graphs/edge_graph:EdgeGraph.sample_moments": "samples are counted in memory alone",
    "blocks/quantities:TrianglesByType.resolved": "caught by `whole`, which lists the triangles",
    "graphs/pair_columns:_Rows.common": "each kind of graph has its own",
    "graphs/pair_columns:ValuesOfPairs.trussness": "no measure of pairs asks for it",
    "graphs/pair_columns:ValuesOfPairs.community": "no measure of pairs asks for it",
    "graphs/pair_columns:ValuesOfPairs.squares": "no measure of pairs asks for it",
    "graphs/pair_columns:ValuesOfPairs.bitruss": "no measure of pairs asks for it",
    "blocks/row_lookup:ValuesOfRows.bitruss": "a column of it is made in memory alone",
    "blocks/row_lookup:ValuesOfRows.community": "a column of it is made in memory alone",
    "plan/record:register": "a mistake of ours, told when the package is imported",
    "testing/_build:_compiled": "the compiler's own words: test_emulator.py",
    "testing/_launch:HostKernel.__call__": "of kernels under test: test_emulator.py",
    "testing/_launch:HostKernel._value": "of kernels under test: test_emulator.py",
    "preparation/edge_values:Reduced._require_finite": "caught by each path, which adds the ids",
    "preparation/edge_values:_Table._agree": "caught by each path, which adds the ids",
    "preparation/type_readers:require_signs": "caught by each path, which adds the ids",
    "preparation/entries:Entries.collect": "caught by each path, which adds the ids",
    "preparation/entries:Entries._of_edges": "caught by each path, which adds the ids",
    "blocks/block_values:read": "the same on this path: test_edge_values.py",
}
WORKBOOK = zipped(content_xml=b"", mimetype=b"")
TWO_FILES = zipped(a=b"1 2\n", b=b"1 2\n")
PARTLY = {"files/lines:parse": 1}  # raises of a function that it catches itself


def k3(**columns):
    return pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], **columns})


PAIR = np.array([0, 1, 2]), np.array([1, 2, 0])


def matrix(n=3):
    return import_module("scipy.sparse").eye_array(n)


def by_type(types):
    return tc.triangles_by_type(k3(t=types), edge_type="t")


def by_vertex_type(types):
    return tc.triangles_by_type(k3(), vertex_type=types)


class Sized:
    """Values of a kind that no library has."""

    dtype = "int64"

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)


def timed(t=(1, 2, 3), **options):
    return tc.triangles_over_time(k3(t=t), time="t", **options)


def two_weights():
    return pd.DataFrame({"src": [0, 1, 1], "dst": [1, 2, 0], "w": [1.0, 1.0, 2.0]})


def ends(src, dst=(1, 2, 0)):
    return pd.DataFrame({"src": src, "dst": dst})


def huge_of_polars():
    polars = import_module("polars")
    return polars.DataFrame({"src": [10**38], "dst": [1]}, schema_overrides={"src": polars.Int128})


def read(h, text, name="edges.txt", **options):
    data = text if isinstance(text, bytes) else text.encode()
    (h.path / name).write_bytes(data)
    return files.read_edges(h.path / name, **options)


def graphml(content):
    return lambda h: read(h, f"<graphml><graph>{content}</graph></graphml>")


SKEW = "%%MatrixMarket matrix coordinate real skew-symmetric\n"


def market(text):
    return lambda h: read(h, f"%%MatrixMarket matrix coordinate pattern general\n{text}", "m.mtx")


def metis(text):
    return lambda h: read(h, text, "g.graph")


def npz(**arrays):
    def call(h):
        np.savez(h.path / "g.npz", **arrays)
        return files.read_edges(h.path / "g.npz")

    return call


def npy(array):
    def call(h):
        np.save(h.path / "g.npy", array)
        return files.read_edges(h.path / "g.npy")

    return call


def sparse(**changes):
    """A matrix of SciPy, with other arrays than it has."""
    return npz(**{"indices": [0], "indptr": [0, 1], "shape": (1, 1), "format": b"csr"} | changes)


def dense(h, text):
    return read(h, f"%%MatrixMarket matrix array real general\n{text}")


def folder(h, contents, **options):
    for name, text in contents.items():
        (h.path / "g" / name).parent.mkdir(parents=True, exist_ok=True)
        (h.path / "g" / name).write_text(text)
    (h.path / "g").mkdir(exist_ok=True)
    return files.read_edges(h.path / "g", **options)


def file_edges(source=("src",)):
    return FileEdges(files.EdgeFile(k3(), "text"), [*source], ["dst"])


def several_columns_both_ways(h):
    (h.path / "e").write_text("src,a,dst,b,type\n1,1,2,2,undirected\n")
    ends = {"source": ("src", "a"), "destination": ("dst", "b"), "directed": True}
    return cli_edges.open_edges(h.path / "e", ends, ())


def texts(*values):
    return pd.Series(values, name="t", dtype="str")


def npz_with(change):
    """An archive whose array src has other bytes than NumPy writes."""

    def call(h):
        import io
        import zipfile

        file = io.BytesIO()
        np.save(file, np.arange(3))
        with zipfile.ZipFile(h.path / "g.npz", "w") as archive:
            archive.writestr("src.npy", change(file.getvalue()))
            archive.writestr("dst.npy", file.getvalue())
        return files.read_edges(h.path / "g.npz")

    return call


def parquet(h, data=None, hide=False, **columns):
    path = h.path / "g.parquet"
    pd.DataFrame(columns or {"a": [1], "b": [2], "c": [3]}).to_parquet(path)
    if data:
        path.write_bytes(data)
    if hide:
        h.patch.setitem(sys.modules, "pyarrow.parquet", None)
    return files.read_edges(path)


GML = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"


def scan(h, content, name="g.txt", **options):
    data = content if isinstance(content, bytes) else content.encode()
    (h.path / name).write_bytes(data)
    return files.scan(h.path / name, **options)


def scan_of_parts(contents):
    """A scan of a folder of files by name."""

    def call(h):
        for name, content in contents.items():
            (h.path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
            (h.path / "in" / name).write_text(content)
        return files.scan(h.path / "in")

    return call


def changed_scan(h):
    found = scan(h, "1 2\n2 3\n").opened()
    (h.path / "g.txt").write_text("1 2\n")
    return tc.count(found)


def no_space(*args, **options):
    raise OSError(28, "No space left on device")


def full_of_queries(h):
    h.patch.setattr(resolve, "HELD", 2**60)
    h.patch.setattr(tempfile, "TemporaryFile", no_space)
    return tc.count(import_module("duckdb").sql("SELECT 1 AS src, 2 AS dst"))


def twice_named(h):
    table = pyarrow().Table.from_arrays([pyarrow().array([1])] * 3, ["src", "dst", "src"])
    import_module("pyarrow.parquet").write_table(table, h.path / "g.parquet")
    return files.read_edges(h.path / "g.parquet", source=1, destination=2)


def without(name, call):
    """The call, where a module cannot be imported."""

    def hidden(h):
        h.patch.setitem(sys.modules, name, None)
        return call(h)

    return hidden


def two_groups():
    return pd.concat([k3(day=1), k3(day=2)])


def blocks_of(frame, **columns):
    with use_layout(BlockLayout(2)):
        return tc.count(frame, **columns)


def squares_of_blocks(h):
    with use_layout(BlockLayout(2)):
        tc.Graph(PartitionedFrame([k3()])).squares()


def having(target, name, value, call):
    """The call, with another value of something."""

    def changed(h):
        h.patch.setattr(target, name, value)
        return call(h)

    return changed


def edge_table():
    return pyarrow().table({"src": [0], "dst": [1]})


def one_shot():
    return pyarrow().RecordBatchReader.from_stream(edge_table())


def read_twice(*tables):
    """Count a stream that gives one table for each reading, and then fails."""
    left = list(tables)
    return tc.count(Fake(__arrow_c_stream__=lambda schema=None: left.pop(0).__arrow_c_stream__()))


def union():
    """A type that Arrow does not give pandas."""
    arrow = pyarrow()
    return arrow.UnionArray.from_sparse(arrow.array([0], "int8"), [arrow.array([1])])


def no_place(h):
    """An archive whose directory says that it begins before the file does."""

    def seek(*args):
        raise OSError(22, "Invalid argument")

    h.patch.setattr(arrays.zipfile, "is_zipfile", seek)
    return npz(src=[1], dst=[1])(h)


def no_threads(h):
    def start(thread):
        raise RuntimeError("can't start new thread")

    h.patch.setattr("threading.Thread.start", start)
    _parallel.run_together(int, 2, lambda: None, lambda: None)


def int_of(layout):
    return 1


def dask_of(frame, partitions=1):
    from dask_support import from_parts

    return from_parts(np.array_split(frame, partitions) if partitions > 1 else [frame])


def no_dask(h):
    edges = dask_of(k3())
    h.patch.delattr(import_module("rapids_tc.executors"), "dask_cluster", raising=False)
    h.patch.setitem(sys.modules, "rapids_tc.executors.dask_cluster", None)
    return tc.count(edges)


def no_spark(h):
    h.patch.setitem(sys.modules, "pyspark", None)
    return tc.count(a_spark_frame())


def a_spark_frame():
    """What is taken for a DataFrame of Spark."""
    kind = {"sparkSession": None, "__module__": "pyspark.sql.dataframe"}
    return type("DataFrame", (), kind)()


def on_dask(call):
    def here(h):
        from dask_support import worked_on_here

        with worked_on_here():
            return call(dask_of(k3()))

    return here


def budgeted(**options):
    work = ANALYTICS["count"].most
    given = {"limit": 1000, "name": "count", "work": work, "costs": cpu_costs()} | options
    return budget.Budget(**given)


def cpu_costs():
    from rapids_tc.engines import registry

    return registry.costs_of("cpu")


def emulated(call):
    def here(h):
        with testing.host_engine() as engine:
            return call(engine)

    return here


def watched(status="running", workers=None, **times):
    """One look at a cluster of made-up state, though all time for it has passed."""

    def call(h):
        for name in ("NO_WORKER_LIMIT", "STANDSTILL_LIMIT", "NUDGE_AFTER"):
            h.patch.setattr(watch, name, -1.0)
        client = Fake(
            status=status,
            cluster=None,
            scheduler_info=lambda n_workers: {"workers": workers or {}},
            processing=dict,
        )
        look = watch.Watch(client)
        look._done = 0
        return look.check(0, 3)

    return call


WORKER = {"status": "running", "metrics": {}, "last_seen": 0.0}


def card(error):
    """CuPy on a machine without a card: every call of the runtime fails."""

    class CUDARuntimeError(Exception):
        pass

    def fail(*args):
        raise CUDARuntimeError(error)

    runtime = Fake(CUDARuntimeError=CUDARuntimeError)
    return Fake(cuda=Fake(Device=fail, runtime=runtime, alloc_pinned_memory=fail))


def no_card(h):
    h.patch.setitem(sys.modules, "cupy", card("no device"))
    return cuda.engine()


def several_columns(h):
    class Graph:
        source_columns, destination_columns = ["a", "b"], "c"

        def view_edge_list(self):
            return pd.DataFrame()

    h.patch.setitem(sys.modules, "cugraph", Fake(Graph=Graph))
    return tc.count(Graph())


def driver(h, library):
    h.patch.setattr(machine.ctypes, "CDLL", library)
    return machine.find_driver()


class OldLibrary:
    """A driver that lacks what is asked."""

    def __init__(self, name):
        self.cuInit = lambda *args: 999
        self.cuGetErrorString = lambda code, text: None


def no_memory(*args, **options):
    raise MemoryError


def no_library(*args, **options):
    raise OSError("no such file")


def networkx_call(name):
    def call(h):
        import networkx as nx

        from rapids_tc.interop import networkx as ours

        looped = nx.Graph([(0, 0), (0, 1)])
        one_way = nx.subgraph_view(nx.Graph([(0, 1)]), filter_edge=lambda u, v: u < v)
        texts, light = nx.Graph(), nx.Graph()
        texts.add_edge(0, 1, weight="x")
        light.add_weighted_edges_from([(0, 1, 0), (1, 2, 1)], "w")
        convert = ours.convert_from_nx
        return {
            "multi": lambda: convert(nx.MultiGraph([(0, 1)])),
            "view": lambda: convert(one_way),
            "loops": lambda: ours.k_truss(convert(looped), 3),
            "looped holes": lambda: ours.constraint(convert(looped)),
            "weight 0": lambda: ours.constraint(
                convert(light, edge_attrs={"w": 1}), [0], weight="w"
            ),
            "loop as a pair": lambda: ours.jaccard_coefficient(
                convert(nx.Graph([(0, 1)])), [(0, 0)]
            ),
            "unknown node": lambda: ours.jaccard_coefficient(convert(nx.Graph([(0, 1)])), [(0, 5)]),
            "three sides": lambda: ours.latapy_clustering(convert(nx.complete_graph(3))),
            "mode": lambda: ours.latapy_clustering(convert(nx.path_graph(4)), mode="mean"),
            "all nodes": lambda: ours.weighted_projected_graph(convert(nx.path_graph(4)), range(4)),
            "no side": lambda: ours.weighted_projected_graph(convert(nx.path_graph(4)), [0, 1]),
            "pairs": lambda: ours.latapy_clustering(convert(nx.path_graph(4))),
            "nothing": lambda: ours.constraint(convert(nx.Graph())),
            "nodelist": lambda: ours.triadic_census(convert(nx.DiGraph([(0, 1)])), [0, 0]),
            "weights": lambda: convert(texts, edge_attrs={"weight": 1}).weighted("cpu", "weight"),
        }[name]()

    return call


def accessor(h, name, present=False):
    from rapids_tc.interop.accessor import register_accessor

    if present:
        h.patch.setattr(pd.DataFrame, name, 1, raising=False)
    return register_accessor(name)


def in_ranges(h):
    """Types of vertices of a graph whose ids are ranked in two ranges."""
    from dask_support import layout

    with layout(1, 1, ranges=2):
        on_dask(lambda e: tc.triangles_by_type(e, vertex_type={0: "a"}))(h)


def spread_on_blocks(h):
    from dask_support import layout, worked_on_here

    with worked_on_here(), layout(2, 1), testing.host_engine():
        return tc.count(dask_of(k3()), method="polak", engine="cuda")


def other_edition(h):
    from rapids_tc.blocks.context import WorkerContext

    site = WorkerContext(PandasAdapter(), edge_columns(["src", "dst"]), "cpu", 1)
    object.__setattr__(site, "edition", "another")
    with site.here():
        pass


def written_to(h):
    from rapids_tc.blocks.context import WorkerContext

    site = WorkerContext(PandasAdapter(), edge_columns(["src", "dst"]), "cpu", 1)
    site.run(errors.require_unchanged, 1)


def fingerprint(h):
    from rapids_tc.preparation.fingerprints import Fingerprint

    Fingerprint(3, 5, {}).require(Fingerprint(3, 6, {}))


def versions(h):
    from rapids_tc.executors.versions import require_same

    def run(function, name, workers, on_error):
        return dict.fromkeys(workers, "0.1")

    class Client:
        pass

    client = Client()
    client.run = run
    require_same(client, {"tcp://a": {"local_directory": "/a"}})


def cluster(h, **fields):
    from rapids_tc.executors import dask_cluster as module

    @contextmanager
    def client_for(edges, chosen):
        yield Fake(asynchronous=True)

    h.patch.setattr(module, "client_for", client_for)
    return module.DaskExecutor(dask_of(k3()), False).__enter__()


def kept_and_lost(h):
    graph = tc.Graph(PartitionedFrame([k3()]))

    def lost(*_):
        raise tc.KernelError("persist the frame again")

    h.patch.setattr(LocalExecutor, "as_completed", lost)
    graph.count()


def rows_unknown(h):
    h.patch.setattr(LocalExecutor, "is_held", lambda _: False)
    tc.memory_estimate(PartitionedFrame([k3()]))


def kept_and_longer(h):
    graph = tc.Graph(frame := PartitionedFrame([k3()]))
    frame.partitions.append(k3())
    graph.annotate("triangles")


def checked(h, status):
    from distributed import KilledWorker

    from rapids_tc.executors.waiting import require_done

    def result():
        raise KilledWorker("task", Fake(address="tcp://a"), 3)

    client = Fake(status="running", cluster=None)
    require_done(client, [Fake(status=status, result=result, key="count-1")])


def no_client(h):
    def none():
        raise ValueError("no clients found")

    h.patch.setattr(persisted, "default_client", none)
    with persisted.client_for(dask_of(k3())):
        pass


def listed(h, **options):
    return tc.list_triangles(k3(), **options)


def disagreeing(h):
    from rapids_tc.bench.clock import AnswerCheck

    job = Fake(question="triangles", tool="igraph", what="list")
    AnswerCheck({"triangles": 1}).add(Fake(job=job, answer=2))


def written(h):
    with tables.whole(h.path / "out.csv"):
        raise OSError(28, "No space left on device")


def moment(unit, **zone):
    return pd.Series(pd.date_range("2020", periods=3, **zone).as_unit(unit))


# By module: for every raise in it, a call that ends there, and words of its hint.
HINTS = {
    "frames/backend": [
        (lambda h: backend.open_frame(a_spark_frame(), None), r"edges\.toArrow\(\)"),
        (lambda h: tc.vertex_triangles(k3(), vertices={1}), "give a list, an array"),
        (lambda h: tc.vertex_triangles(k3(), vertices=np.zeros(2, [("a", int)])),
         "cast it to integers or strings"),
        (lambda h: backend.open_frame(dask_of(k3()), None),
         r"\.compute\(\) brings.*annotate and others"),
        (lambda h: backend.open_frame(import_module("polars").LazyFrame(), None),
         r"call \.collect\(\)"),
        (lambda h: tc.count([1]), r"accepted: .*pandas"),
        (lambda h: tc.count(k3(), engine="gpu"), 'accepted: "cpu", "cuda", None'),
        (lambda h: tc.count(one_shot()), r"\.read_all\(\) makes.*tc\.Graph\(reader\)"),
        (lambda h: read_twice(edge_table()), r"second reading failed: .*\.read_all\(\) makes"),
        (lambda h: read_twice(edge_table(), edge_table()[:0]), r"\.read_all\(\) makes"),
        (lambda h: backend.gather(np.arange(3), np.array([3])),
         r"a copy \(df\.copy\(\)\), or wait until nothing writes"),
        (several_columns, "one is accepted"),
    ],
    "analytics/analytic": [
        (lambda h: tc.count(), "missing 1 required positional argument: 'edges'"),
        (lambda h: tc.similarity(k3(), where=None), "takes no where=: .* of a kind count in"),
    ],
    "frames/arrays": [
        (lambda h: tc.clustering(PAIR, weight=tensors.Tensor(np.ones(3))),
         "give both in one library and memory"),
        (lambda h: tc.clustering(PAIR, weight=np.ones(2)), "give one value per edge"),
        (lambda h: tc.count(PAIR, edge_index=np.ones((2, 2))), "give one of them"),
        (lambda h: tc.count(edge_index=[[0], [1]]), "give an array of NumPy, CuPy or torch"),
        (lambda h: tc.count(edge_index=np.ones((3, 2))), r"it takes \(2, m\), .*given as edges"),
        (lambda h: tc.count((PAIR[0], tensors.Tensor(PAIR[1]))), "give both in one library and"),
        (lambda h: tc.count((PAIR[0], PAIR[1][1:])), "give as many sources as destinations"),
        (lambda h: tc.count((PAIR[0] > 0, PAIR[1])), "a frame of two columns takes text"),
        (lambda h: tc.count(np.ma.ones((3, 2))), "give the rows that are not masked"),
        (lambda h: tc.count(tensors.Tensor(np.ones((3, 2)), 8)), "copy it to the CPU or to a GPU"),
        (lambda h: tc.count(tensors.Unreadable(np.ones((3, 2)))), "it requires a gradient"),
        (lambda h: tc.clustering(PAIR, weight="w"), "give an array with one value per edge"),
        (lambda h: tc.count(PAIR, by=k3()["src"]), "give an array with one value per edge"),
    ],
    "analytics/methods": [
        (lambda h: tc.methods(library="dask"), "accepted: pandas, cudf, polars, pyarrow"),
    ],
    "frames/adapters": [
        (lambda h: tc.count(pyarrow().table({"src": union(), "dst": [1]})),
         "cast it to integers or strings"),
        (lambda h: tc.count(huge_of_polars()), "cast it to strings"),
        (without("pyarrow", lambda h: pyarrow()), r"'rapids_tc\[arrow\]'"),
        (without("cudf", lambda h: tc.count(k3(), engine="cuda")),
         r"pip install 'rapids_tc\[cu13\]'.*'rapids_tc\[cu12\]'.*`rapids-tc doctor`"),
    ],
    "_arguments": [
        (lambda h: tc.count(k3(), memory_limit="1 giga"), r'number of bytes.*such as "8GB"'),
        (lambda h: list(tc.iter_triangles(k3(), rows=1, max_rows=1)), "leave rows= out"),
        (lambda h: listed(h, max_rows=-1), "max_rows=-1; accepted: an integer from 0 on, or None"),
        (lambda h: tc.average_clustering(k3(), count_zeros=2), "accepted: True, False"),
        (lambda h: tc.project(k3(), measure="no"), "accepted: 'jaccard', .*, or None"),
        (lambda h: tc.count(k3(), "src", "dst"), "name the id columns: count.*source='src', dest"),
    ],
    "executors/local": [
        (lambda h: PartitionedFrame(k3()), "give a list of pandas or cuDF DataFrames"),
        (lambda h: PartitionedFrame([]), "give at least one pandas or cuDF DataFrame"),
    ],
    "executors/spark_cluster": [
        (lambda h: spark_cluster.require_batch(Fake(isStreaming=True)),
         r"spark\.read, or give each batch .*foreachBatch"),
        (lambda h: spark_cluster.require_same([("/bin/python", None, "none")]),
         r"pip install 'rapids_tc==.*PYSPARK_PYTHON"),
    ],
    "executors/registry": [
        (no_spark, r"pip install 'rapids_tc\[spark\]'"),
        (no_dask, r"pip install 'rapids_tc\[dask\]'"),
    ],
    "_progress": [
        (lambda h: tc.count(k3(), progress="yes"), "accepted: True, False, None"),
        (having(orient, "degree_order", no_memory, lambda h: tc.count(k3())),
         "need about.*memory_estimate lists the stages.*narrower integer ids"),
        (having(resolve, "edge_columns", no_memory, lambda h: tc.count(k3())),
         "out of memory in count: memory_estimate lists the stages.*give fewer rows"),
    ],
    "_parallel": [
        (no_threads, "NUMBA_NUM_THREADS sets how many"),
    ],
    "analytics/annotate": [
        (lambda h: tc.annotate(k3(), "triangles", force=True), "give that as well"),
        (lambda h: tc.annotate(k3(), "nothing"), "name each of .*'triangles'.*at most once"),
        (lambda h: tc.annotate(k3(t=1), "jaccard", where=tc.Triangles(time="t", within=1)),
         'where= counts triangles of a kind: beside it, name none but "triangles", "truss'),
        (lambda h: tc.annotate(k3(t=1), "jaccard", time="t", within=1),
         'none but .*, or columns as of a time, such as "triangles_closed"'),
        (lambda h: tc.annotate(k3(t=1), "u_out", "jaccard", time="t"), "add them in two calls"),
        (lambda h: tc.annotate(k3(t=1), "u_out", where=tc.Triangles(time="t", within=1)),
         "leave one out"),
        (lambda h: tc.annotate(k3(t=1), "u_out"), "name the column of times by time="),
        (lambda h: ANALYTICS["annotate"].body(
            Fake(labels=["t"]), columns=("u_out",), time="t", method="bitmap"),
         'with "u_out" only method="auto" works'),
    ],
    "graphs/as_of": [
        (having(costs, "MOST_TIMED_ROWS", 3,
                lambda h: tc.Graph(k3(t=1)).annotate("u_out", time="t")),
         "fewer than 3: give the frame itself, which is cut by time"),
    ],
    "plan/slabs": [
        (lambda h: tc.annotate(k3(t=1), "u_out", time="t", memory_limit=100),
         "give a shorter within=.*raise memory_limit=, or give more memory"),
    ],
    "blocks/time_slabs": [
        (lambda h: time_slabs.by_row([], ((0, 1),), 1, xp=np), "Give the call a copy"),
    ],
    "preparation/time_order": [
        (having(time_order, "all_below", lambda *_: False,
                lambda h: tc.annotate(k3(t=1), "u_out", time="t")), "Give the call a copy"),
    ],
    "preparation/named_ids": [
        (lambda h: tc.vertex_triangles(k3(), vertices=["a"]), "ids of the graph are integers: "),
        (lambda h: tc.vertex_triangles(k3(), vertices=[9]), r"9; isolated.*Graph\(vertices=\.\.\."),
        (lambda h: tc.Graph(k3(day=1), by="day", vertices=[1]),
         "a list; give a frame with the columns 'day', 'vertex'"),
        (lambda h: tc.Graph(k3(day=1), by="day", vertices=k3(day=1)),
         "no column 'vertex': give a frame with the columns 'day', 'vertex'"),
        (lambda h: tc.similarity(k3(), pairs=pd.DataFrame({"src": [0], "dst": [9]})),
         r"in the graph: \(0, 9\); isolated vertices are added with Graph"),
    ],
    "analytics/approximate": [
        (lambda h: tc.approximate_count(k3(), colors=0, seed=1),
         r"colors=0; accepted: an integer from 1 to"),
        (lambda h: tc.approximate_count(k3(), colors=1, seed=1, confidence=2),
         "accepted: a share between 0 and 1"),
    ],
    "bench/clock": [
        (disagreeing, "1 says the closed form, 2 says igraph"),
    ],
    "cli/bench": [
        (lambda h: import_module("rapids_tc.cli.bench")._number(None, None, np.nan),
         "nan is no number"),
        (lambda h: import_module("rapids_tc.cli.bench")._contestants("cpu", ["polak"]),
         "`rapids-tc doctor` tells what is missing; without --method"),
    ],
    "cli/machine": [
        (lambda h: driver(h, no_library), "no NVIDIA driver is visible.*no such file"),
        (lambda h: driver(h, lambda name: Fake()), "library has no cuInit"),
        (lambda h: driver(h, OldLibrary), "cuInit: unknown error"),
    ],
    "cli/analytics": [
        (lambda h: cli_analytics._from_places(ANALYTICS["k_truss"], {"k": "3", "k_behind": "3"}),
         "K is given behind FILE and by --k"),
        (lambda h: cli_analytics._from_places(ANALYTICS["k_truss"], {"k": None, "k_behind": None}),
         "Missing argument 'K'"),
        (lambda h: cli_analytics.split_options(
            ANALYTICS["vertex_squares"],
            {"bipartite": True, "vertices": "1", "by": (), "memory_limit": None}, None),
         "vertices= names no sides: leave out bipartite= or vertices=; in Python"),
    ],
    "cli/edges": [
        (lambda h: file_edges().labels("day"), "no column 'day' in the file; it has 'src', 'dst'"),
        (lambda h: file_edges().labels("2"), "column 2 has ids; the columns are 'src', 'dst'"),
        (lambda h: file_edges(source=("src", "dst")).ids("1"), "in Python, frames of several"),
        (lambda h: file_edges().ids("1;2"), "'1;2' is no integer, as the ids are"),
        (lambda h: file_edges(source=("src", "dst")).pairs(h.path), "in Python, frames of several"),
        (lambda h: cli_edges.open_edges(h.path, {"source": "ab", "destination": "c"}, ()),
         "source= is given for 2 columns and destination= for 1: an id of several .* both ends"),
        (several_columns_both_ways, "ids of one column each"),
    ],
    "cli/reading": [
        (lambda h: cli_reading.read(h.path, {"source": ("a", "b"), "destination": ()}),
         "give source= once"),
    ],
    "cli/values": [
        (lambda h: values.as_numbers(texts("1,234"), "weight"), "with a point, or without a comma"),
        (lambda h: values.as_numbers(texts("5 kg"), "weight"), "weight='t': '5 kg' is no number"),
        (lambda h: values.as_times(texts("1/2/2026"), "time"), "ISO 8601, such as 2026-02-13"),
        (lambda h: values.as_times(texts("2026-01-01T10:00", "2026-01-01T10:00Z"), "time"),
         "write it in all times, or in none"),
    ],
    "cli/tables": [
        (lambda h: tables.require_out(tables.Output(h.path / "a.csv", as_json=True)), "leave out"),
        (lambda h: (h.path / "b.csv").write_text("") or tables._check_file(
            h.path / "b.csv", (".csv",), force=False), "--force replaces it"),
        (written, "No space left on device.*out.csv"),
        (lambda h: tables._check_file(h.path / "a.txt", (".csv",), force=False), r"one of \.csv"),
        (having(tables, "find_spec", lambda name: None, lambda h:
         tables._check_file(h.path / "a.parquet", (".csv", ".parquet"), force=False)),
         r"pip install 'rapids_tc\[arrow\]'"),
        (lambda h: [(h.path / "a.csv").mkdir(),
                    tables._check_file(h.path / "a.csv", (".csv",), force=False)],
         "Is a directory.*a.csv"),
        (lambda h: tables._check_file(h.path / "no/a.csv", (".csv",), force=False),
         "No such file.*no'$"),
    ],
    "analytics/directions": [
        (emulated(lambda e: tc.clustering(k3(w=1.0), weight="w", source="src", destination="dst",
         engine="cuda", method="bitmap")), 'with weight= only method="auto"'),
    ],
    "analytics/types": [
        (lambda h: tc.triangles_by_type(k3()), "give either edge_type= or vertex_type="),
        (lambda h: tc.triangles_by_type(k3(), directed=True, aggregate="last"), "is about types:"),
        (lambda h: tc.triangles_by_type(k3(t=1), edge_type="t", per="row"),
         'accepted: "vertex", "edge", None'),
    ],
    "blocks/tallies": [
        (lambda h: tc.triangles_by_type(tc.Graph(complete(60).frame().assign(t=1)), edge_type="t",
         per="edge", memory_limit=150_000), "without per= it is one row per combination"),
    ],
    "preparation/type_readers": [
        (lambda h: by_type([{1: 2}] * 3), "'t' holds values that cannot be grouped"),
        (lambda h: by_type([1, "a", 2]), "'t' holds values that cannot be sorted"),
        (lambda h: tc.triangles_by_type(complete(24).frame().assign(t=range(276)), edge_type="t"),
         "more than 255 types: .*group some of them"),
        (lambda h: by_type(["a", None, "b"]), "has 1 null: every edge needs a type. Drop those"),
    ],
    "preparation/entries": [
        (lambda h: tc.count(k3(a=1), where=tc.Triangles(edge_type="a", types=("1", None, None))),
         "'1' is text, and edge_type='a' holds int64"),
    ],
    "preparation/ids": [
        (lambda h: tc.vertex_squares(pd.DataFrame({"a": [1], "b": ["x"]}), bipartite=True),
         "int64 and of destinations str, .*convert one of them"),
    ],
    "preparation/vertex_types": [
        (lambda h: tc.Graph(k3(), bipartite=True).triangles_by_type(vertex_type={0: "a"}),
         "an id of each side may be the same: give edge_type="),
        (lambda h: tc.triangles_by_type(k3(a=1, b=1), source=["src", "a"],
         destination=["dst", "b"], vertex_type={0: "a"}),
         "several: give edge_type=, or one column of ids"),
        (lambda h: by_vertex_type(pd.Series([*"abca"], index=[0, 1, 2, 1])),
         '1 has several types; aggregate="first" or "last" takes one'),
        (lambda h: by_vertex_type({0: "a", 1: None}), "no type for 2 of the vertices: 1, 2; every"),
        (lambda h: by_vertex_type("kind"), "vertex_type= is a str; give a Series by vertex"),
        (lambda h: by_vertex_type(pd.DataFrame({"vertex": [0]})), "no column 'type'; give a Ser"),
        (lambda h: by_vertex_type(Fake(columns=[])), "vertex_type=: give a Series by vertex"),
    ],
    "graphs/in_memory": [
        (lambda h: tc.clustering(two_weights(), weight="w", source="src", destination="dst"),
         "the rows of the edge 0, 1 say 1.0 and 2.0; aggregate= says which value"),
    ],
    "preparation/edge_values": [
        (lambda h: tc.clustering(k3(w=1.0), weight="w", aggregate="median"),
         r'accepted: "first", "last", .*None \(rows must agree\)'),
    ],
    "preparation/readers": [
        (lambda h: tc.clustering(k3(w="a"), weight="w"), "accepted: integers, floats"),
        (lambda h: tc.clustering(k3(w=2**53 + 1), weight="w"), "divide them, or cast the column"),
        (lambda h: tc.clustering(k3(w=-1.0), weight="w"), "row 0; drop those rows or fill them"),
    ],
    "analytics/clustering": [
        (lambda h: tc.transitivity(k3(), mean="max"), "mean='max' is about weights: give weight="),
        (lambda h: tc.transitivity(k3(w=1), weight="w", directed=True), "aggregate= says what an"),
    ],
    "analytics/similarity": [
        (lambda h: tc.similarity(k3(w=1), weight="w", measure="cosine"), '"jaccard" alone does'),
        (lambda h: tc.similarity(k3(w=1), weight="w", pairs=k3()), "of the edges alone"),
    ],
    "analytics/vertices": [
        (lambda h: tc.annotate_vertices(k3(), "closure", where=tc.Triangles(directed="cycle")),
         'where= counts triangles of a kind: name "degree", "triangles", "clustering" alone'),
        (lambda h: tc.annotate_vertices(k3(w=1), "degree", "constraint", weight="w"),
         'alone: ask for "degree" in a call of its own'),
    ],
    "datasets": [
        (lambda h: datasets.rmat("a"), "scale must be an integer"),
        (lambda h: datasets.rmat(99), "scale must be from 1 to 48"),
        (lambda h: datasets.rmat(2, edge_factor=-1), "must not be negative"),
        (having(datasets, "_library", lambda name: (pd, np), lambda h:
         datasets.rmat(40, library="cudf")), "lower scale or edge_factor"),
        (lambda h: datasets.karate(library="polars"), 'must be "pandas" or "cudf"'),
        (without("cudf", lambda h: datasets.karate(library="cudf")),
         r'pip install "rapids_tc\[cu13\]"'),
    ],
    "preparation/edge_columns": [
        (lambda h: tc.annotate(k3(triangles=0), "triangles"), "rename or drop it first"),
        (lambda h: tc.count(k3(), source="src"), "destination=: name both, or neither"),
        (lambda h: tc.count(pd.DataFrame(columns=["a", "b", "c"])),
         "source= and destination=; the frame has the columns 'a', 'b', 'c'"),
        (lambda h: tc.count(k3(), source="src", destination="src"), "name two"),
        (lambda h: tc.count(pd.DataFrame(columns=["Src", "SRC", "dst"])),
         "'Src' and 'SRC' differ.*name the id columns with source= and destination="),
        (lambda h: tc.clustering(k3(), weight=["src", "dst"]),
         "name one column here; combine several into one"),
        (lambda h: tc.clustering(k3(), weight=k3()["src"]),
         "^weight= is of type Series: name a column of the frame; add the values to it first$"),
        (lambda h: tc.count(k3(), source="a", destination="dst"),
         "the frame has the columns 'src', 'dst'"),
        (lambda h: tc.count(k3().set_axis(["src", "src"], axis=1), source="src",
         destination="src"), "rename"),
        (lambda h: tc.count(k3(triangles=1), by="triangles"), "'triangles'.*: rename it first"),
        (lambda h: tc.vertex_triangles(pd.DataFrame({1: [0], "1": [0], "c": [1], "d": [1]}),
         source=[1, "1"], destination=["c", "d"]), "rename a column of source="),
        (lambda h: tc.count(k3(), by=[]), "name a column of groups, or leave by= out"),
        (lambda h: tc.count(k3(), source=["src"], destination="dst"),
         "give two lists of as many columns, or two columns"),
        (lambda h: tc.count(k3(), source=["src"], destination=[]),
         "give as many, and at least one"),
        (lambda h: tc.count(k3(), source=["src"], destination=["src"]), "name two"),
        (lambda h: tc.count(k3(day=1), by=["day", "day"]), "'day' twice: name it once"),
        (lambda h: tc.count(k3(), by=[k3()["src"], k3()["src"]]), "called 'src': rename one"),
    ],
    "preparation/group_values": [
        (lambda h: tc.count(PartitionedFrame([k3()]), by=np.arange(3)),
         "add the groups, .*, to it as a column, and name that as by="),
        (lambda h: tc.count(k3(), by=pl.Series([1, 2, 3])), "give a column of the same library"),
        (lambda h: tc.count(k3(), by=Sized(np.arange(3))),
         "give a Series of the frame's library, an array, or the label of a column"),
        (lambda h: tc.count(k3(), by=np.arange(2)), "give one value per row"),
        (lambda h: tc.count(k3(), by=k3()["src"][::-1]),
         r"align it by series\.reindex\(edges\.index\), or give series\.to_numpy\(\)"),
        (lambda h: tc.count(k3(), by=pd.Grouper(freq="D")), r"such as pd\.Grouper\(key="),
        (lambda h: tc.count(k3(), by=pd.Grouper(key="src", freq="D")),
         r"convert it, such as by pandas\.to_datetime"),
    ],
    "preparation/numbering": [
        (having(numbering, "MAX_NUMBERS", 2, lambda h: tc.count(k3())),
         "at most 2: pass fewer edges"),
        (lambda h: numbering.compact([np.array([3])], 2, Fake(xp=np)),
         r"Give the call a copy \(df\.copy\(\)\)"),
        (lambda h: tc.count(k3(day=[[1], [1], [2]]), by="day"), "'day' holds .* no hash.*to text"),
        (lambda h: tc.count(k3(day=[1, "a", 2]), by="day"), "'day' holds .* no order.*to text"),
        (lambda h: tc.count(ends(np.array([2**63] * 3, "uint64"), [-1, 0, 1])),
         r"'src'.*'dst'.*convert them to strings"),
    ],
    "preparation/id_columns": [
        (lambda h: tc.Graph(k3(day=1), by="day",
         vertices=pd.DataFrame({"day": ["a"], "vertex": 1})),
         "and vertices= str: groups need one kind of values; convert one of them"),
        (lambda h: tc.count(k3(g=np.arange(3).astype("longdouble")), by="g"),
         "convert the column to text"),
        (lambda h: tc.count(ends([True] * 3)), "'src' has dtype bool.*convert the column to one"),
        (lambda h: tc.count(ends(["a"] * 3)), "convert one of them"),
        (lambda h: tc.count(ends(moment("ns"), moment("s"))),
         r"with \.dt\.as_unit, \.dt\.tz_convert or \.dt\.tz_localize"),
        (lambda h: tc.count(ends([0.5] * 3)), r"below 2\*\*53; convert the column to integers"),
        (lambda h: tc.count(ends(pd.Series(["\ud800"] * 3, dtype=object), ["a"] * 3)),
         "UTF-8 cannot encode: .*map it to other text"),
        (having(pd, "StringDtype", lambda *a, **k: (_ for _ in ()).throw(ImportError), lambda h:
         tc.count(ends(["a\0b"] * 3, ["a"] * 3))), "install PyArrow"),
        (lambda h: tc.count(ends([None, 1.0, 2.0])),
         r"'src' has 1 null: .*Drop those rows; isolated.*Graph\(vertices=\.\.\.\)"),
    ],
    "engines/cpu/host_slots": [
        (having(host_slots.tempfile, "TemporaryFile", no_library, lambda h:
         host_slots.BlockStore()), "TMPDIR names a folder that is there.*more room"),
    ],
    "frames/device_memory": [
        (lambda h: h.patch.setenv("RAPIDS_TC_POOL", "4 giga") or device_memory._bound(1),
         "RAPIDS_TC_POOL='4 giga'.*bytes.*0 for no pool"),
    ],
    "engines/gpu/device_slots": [
        (lambda h: device_slots.CardCopies.host(Fake(_cuda=card("full").cuda), 9, "uint8"),
         "9 bytes.*full; .*raise memory_limit="),
    ],
    "engines/peel": [
        (lambda h: peel.decompose(Fake(xp=np), Fake(m=2**32), None),
         r"k_truss\(edges, k, memory_limit="),
    ],
    "engines/gpu/keys": [
        (emulated(lambda e: e.csr(np.zeros(0, "uint64"), 2**32)), "memory_limit=.*in blocks"),
    ],
    "engines/gpu/block_layout": [
        (emulated(lambda e: e.edge_counts(
         Fake(csr=Fake(m=2**32, columns=None), blocks=None, in_edges=()))),
         "cut the graph in more blocks"),
    ],
    "engines/gpu/cuda": [
        (emulated(lambda e: e.prepare(Fake(n=1, m=2**31))), "memory_limit=.*in blocks"),
        (without("cupy", lambda h: cuda.engine()), r'pip install "rapids_tc\[cu13\]"'),
        (no_card, "needs an NVIDIA GPU and its driver: no device"),
    ],
    "errors": [
        (lambda h: errors.require_unchanged(1),
         r"a copy \(df\.copy\(\)\), or wait until nothing writes"),
    ],
    "files/__init__": [
        (lambda h: files.read_edges(""), "name of the file is empty"),
        (lambda h: files.read_edges(["a.csv", "b.csv"]), "of type list: .* a folder or a pattern"),
        (lambda h: read(h, "1 2\n", library="dask"), "one of pandas, polars, pyarrow, cudf"),
        (lambda h: read(h, "1 2\n", columns="w"), 'columns must be a list of columns, or "all"'),
        (lambda h: read(h, "1 2\n", directed="no"), "directed must be True or False"),
        (having(files, "_FORMATS", {"text": Format(no_memory)}, lambda h: read(h, "")),
         "edges.txt: "),
        (lambda h: read(h, f"src,dst,type\n{2**63},-1,undirected\n", directed=True, name="g.csv"),
         "ids='string' takes both"),
        (without("polars", lambda h: read(h, "1 2\n", library="polars")), 'pip install "polars"'),
    ],
    "files/formats": [
        (lambda h: read(h, b"a\0b"), "text, matrixmarket, metis"),
        (lambda h: read(h, "%PDF-1.4"), "a PDF; this format is not read, CSV and Parquet are"),
        (lambda h: read(h, "1 2\n", "g.graph", header=True), "metis has no use for.*header"),
    ],
    "files/adjacency": [
        (lambda h: read(h, "4 3\n0 1\n1 2\n0 4\n"),
         "header=True leaves the line out, header=False"),
        (metis("1\n"), r'must be "vertices edges \[format \[weights\]\]"'),
        (metis("3 1\n2\n"), "says 3 vertices, 1 lines follow"),
        (metis("1 0\n\n1\n"), "line 3: a line more than the 1 vertices"),
        (metis("2 1 1\n2\n1\n"), r"line 2: a number is missing \(format 1\)"),
        (metis("2 1\n3\n1\n"), "line 2: ids run from 1 to 2, not 3"),
        (metis("2 3\n2\n1\n"), "says 3 edges, once in each direction; .* 2 ends instead of 6"),
        (metis("3 1\n2\n3\n\n"), "line 2: vertex 1 names 2, and line 3 .*format text reads"),
        (market(f"{2**33} {2**33} 0\n"), r"more than a graph holds \(4,294,967,295\)"),
        (metis("2 1\nx\n"), "line 2: 'x' is not an integer"),
    ],
    "files/matrix_market": [
        (lambda h: read(h, "%%MatrixMarket vector\n"), "a coordinate or an array matrix"),
        (market("1 2\n"), r"size line \(rows columns entries\)"),
        (market("2 3 0\n"), "2 rows and 3 columns"),
        (market("3 3 2\n1 2\n"), "says 2 entries, the file has 1"),
        (market("3 3 1\n1 4\n"), "line 3: ids run from 1 to 3"),
        (lambda h: read(h, f"{SKEW}2 2 1\n2 1 1\n", directed=True, columns="all"),
         "save it as general to read values with directed=True"),
        (without("scipy.io", lambda h: dense(h, "1 1\n0\n")), "pip install scipy"),
        (lambda h: dense(h, "1\n"), r"size line \(rows columns\)"),
        (lambda h: dense(h, "1 2\n0\n0\n"), "1 rows and 2 columns are no adjacency matrix"),
        (lambda h: dense(h, "2 2\n0\n"), "edges.txt: "),
    ],
    "files/arrays": [
        (lambda h: read(h, "1 2\n", format="npz"), "as numpy.savez writes them"),
        (npz(src=[0.5], dst=[1], n=1), "all three must be integers"),
        (npz(src=[1], dst=[1], n=-1), "is -1"),
        (npz(src=[1], dst=[1], n=1), "from 0 to n - 1 = 0"),
        (npz_with(lambda data: b"junk" + data), "magic string"),
        (no_place, "a position in it is wrong"),
        (npy(np.eye(3)), "adjacency matrix, not edges: save numpy.argwhere"),
        (npy([1]), r"two columns or two rows, not of shape \(1,\)"),
        (sparse(shape=(1, 2)), r"of shape \[1, 2\] is no adjacency matrix"),
        (sparse(format=b"bsr"), "of format b'bsr': save it as csr"),
        (sparse(indices=[0.5]), "must be integers"),
        (sparse(indptr=[1, 1]), "indptr does not say where the rows"),
        (npz(a=[1]), r"the arrays src and dst, not \['a'\]; .* csr, csc and coo"),
        (npz(src=[1], dst=[1, 2]), r"shapes \(1,\) and \(2,\)"),
        (npz(src=[1], dst=[1], n=[1]), "must be one of the integers"),
        (npz(src=np.array([{}]), dst=[1]), "src is an array of objects"),
        (npz_with(lambda data: data[:-8]), "src says 24 bytes of values, the file has 16"),
    ],
    "files/columnar": [
        (lambda h: parquet(h, hide=True), r'pip install "rapids_tc\[arrow\]"'),
        (lambda h: parquet(h, b"PAR1 and no more"), r"g\.parquet: "),
        (parquet, r"name source= and destination=; columns: \['a', 'b', 'c'\]"),
        (twice_named, "2 columns are called 'src': rename"),
    ],
    "files/guess": [
        (lambda h: read(h, "a b\n1 2\n", source="a", destination="a"), "are both column 'a'"),
        (lambda h: read(h, "a b\n1 2\n", source="a"), "given together or not at all"),
        (lambda h: read(h, "a b c\n1 2 3\n"), "name source= and destination=; columns: 'a', 'b'"),
        (lambda h: read(h, "src,dst,src\n1,2,3\n"),
         "2 columns are called 'src': rename them, or choose columns of text by their numbers"),
        (lambda h: read(h, "a b\n1 2\n", source="c", destination="a"), "columns: 'a', 'b'"),
        (lambda h: read(h, "3 2\n1 2\n1 3\n"), "say which, header=False or header=True"),
    ],
    "files/dimacs": [
        (lambda h: read(h, "p e\n", format="dimacs"), "the line 'p edge vertices edges'"),
        (lambda h: read(h, "p edge 3 5\ne 1 2\n"), "line p says 5 edges, the file has 1"),
        (lambda h: read(h, "p edge 1 1\ne 1 2\n"), "from 1 to 1"),
    ],
    "files/networks": [
        (without("networkx", lambda h: read(h, "graph [\n]\n")), r"rapids_tc\[networkx\]"),
        (lambda h: read(h, "graph [\n"), "edges.txt: "),
        (lambda h: read(h, "A\nA\n", "g.g6"), "2 graphs: split the file, one graph is read"),
        (lambda h: read(h, '{"nodes": []'), "the file may be cut short"),
        (lambda h: read(h, '{"nodes": []}'), r'{"nodes": \[.* is read, as NetworkX, D3'),
        (lambda h: read(h, '{"nodes": [], "links": [{}]}'), "no source or no target: .* is read"),
        (lambda h: read(h, '{"nodes": [{"id": 1}, {}], "links": []}'),
         "no 'id', which others have"),
    ],
    "files/elements": [
        (lambda h: read(h, '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}'),
         "edge 1 of 1 ends at 2, which is no vertex of the file; vertices are such as 1"),
        (lambda h: read(h, '{"nodes": [{"id": 1}, {"id": "1"}], "links": []}'), "as a number"),
    ],
    "files/xml_networks": [
        (graphml("</graph><graph>"), "save each alone, one is read"),
        (graphml("<hyperedge/>"), "save an edge for each pair of vertices"),
        (graphml("<edge source='a' target='b' weight='x'/>"), "edge is 'x', and no number"),
        (graphml("<edge/>"), "edge 1 has no source or no target"),
        (graphml("<node>"), "the file may be cut short"),
    ],
    "files/beside": [
        (lambda h: read(h, "p sp 2 1\na 1 2 x\n", "g.gr", columns="all"),
         "the weight of an edge is no number"),
        (lambda h: read(h, "src,dst,type\n" + "1,2,directed\n" * 9000 + "1,2,x\n"),
         "say which each edge is, or rename the column"),
    ],
    "files/pajek": [
        (lambda h: read(h, "*Vertices 1\n*Matrix\n0\n"), "Matrix is not read: save .Edges"),
        (lambda h: read(h, "*Vertices 2\n*Edges\n1\n"), "line 3: no line of Pajek's edges: '1'"),
        (lambda h: read(h, "*Vertices 1\n*Edges\n1 2\n"), "ids run from 1 to 1"),
        (lambda h: read(h, "*Vertices 2\n1\n1\n"), "save the network with its section"),
    ],
    "files/sif": [
        (lambda h: read(h, "a pp\n", "g.sif"), "line 1: expected an id, a relation and ids"),
    ],
    "files/parts": [
        (lambda h: folder(h, {"_SUCCESS": ""}), "a folder without files"),
        (lambda h: folder(h, {"_delta_log/0": "1"}), "a Delta table.* read it by a library"),
        (lambda h: folder(h, {"a=1/x": "a,src,dst\n5,1,2\n"}, columns="all"), "rename one of them"),
        (lambda h: folder(h, {"a": "#\n"}), "1 parts, and no edge in any"),
        (lambda h: folder(h, {"a.csv": "1 2\n", "b.py": "a = 1\n"}),
         r"b\.py.*; there are \.csv, \.py files: name those .* by a pattern, '.*\*\.csv'"),
        (lambda h: folder(h, {"a.csv": "1 2\n", "b.py": "import os\n"}),
         r"ids are integers in some parts, text in others; there are \.csv, \.py files"),
        (lambda h: folder(h, {"a": "1 2\n", "b.g6": "Bw\n"}), "several formats: graph6, text"),
        (lambda h: folder(h, {"a=1/x": "1 2\n", "y": "1 2\n"}, columns=["a"]),
         "not all folders have the keys a"),
    ],
    "files/unpack": [
        (lambda h: read(h, TWO_FILES), r"2 files \(a, b\): unpack it, and name one file or"),
        (lambda h: read(h, WORKBOOK), "a workbook of Excel or LibreOffice: save the sheet as CSV"),
        (without("pyarrow", lambda h: read(h, b"\x28\xb5\x2f\xfd")), r"rapids_tc\[arrow\]"),
        (lambda h: read(h, zstandard(b"PAR1" + bytes(999))), "decompress the file first"),
    ],
    "files/shapes": [
        (lambda h: read(h, "{}\n"), "JSON without nodes and links.* make it an edge list"),
        (lambda h: read(h, "1 2 3 4\n"), "1 line of 4 fields.* put each edge in a line"),
        (lambda h: read(h, "3\n1 2\n2 3\n"), "header=True leaves it out"),
        (lambda h: read(h, "1: 2 3\n"), "adjacency lists.* make it an edge list"),
        (lambda h: read(h, "a b\nb c\nd e f\n"), "leave one table in the file, and put fields"),
        (lambda h: read(h, "7 1 2\n8 2 1\n"),
         "source=2 and destination=3, or source=1 and destination=2"),
        (lambda h: read(h, "1 -> 2\n"), "an arrow.* source=1 and destination=3"),
        (lambda h: read(h, "a b c\nb c a\n"), "adjacency lists.* source=1 and destination=2"),
        (lambda h: read(h, "a pp c\nb pp a\n"), "format='sif', or choose.* source=1 and dest"),
        (lambda h: read(h, ",a,b\na,0,1\nb,1,0\n"), "adjacency matrix.* save it as MatrixMarket"),
        (lambda h: read(h, "0 1 0\n1 0 1\n0 1 0\n"), "adjacency matrix.* save it as MatrixMarket"),
        (lambda h: read(h, "0 5 5\n5 0 5\n5 5 0\n"), r"its numpy\.argwhere as \.npy"),
        (lambda h: read(h, "1 2\n1 2\n1 2 3\n1 2 3 4\n"), "name the format metis, or make it"),
        (lambda h: read(h, "5 1 0 1 0 1 0 1 0 1\n" * 10),
         r"an adjacency matrix.* save it as MatrixMarket, or its numpy\.argwhere"),
    ],
    "files/header": [
        (lambda h: read(h, "a b t\nx y 2026-01-01 10:00\n"),
         "write one field, such as 2026-01-01T"),
    ],
    "files/scans": [
        (lambda h: files.scan(3), "of type int: give a path, or a list of paths"),
        (lambda h: files.scan([]), "path is an empty list"),
        (without("pyarrow", lambda h: scan(h, "1 2\n")), r'pip install "rapids_tc\[arrow\]"'),
        (lambda h: scan(h, "# nothing\n"), r"g\.txt: no edges"),
        (scan_of_parts({"day=1/a": "1 2\n", "b": "1 2\n"}), "the same keys, day=mo"),
        (scan_of_parts({"a": "src,dst\n1,2\n", "b": "src,dst,w\n1,2,3\n"}),
         "all parts need the same"),
        (scan_of_parts({"a": "src,dst\n1,2\n", "b": "src,dst\na,b\n"}),
         "columns of the parts have other types"),
        (lambda h: scan(h, "3 1\n2 3\n1 3\n1 2\n", "g.graph"), r"give files\.read_edges\("),
        (lambda h: scan(h, b"PAR1 and no more"), r"g\.txt: "),
        (lambda h: scan(h, "src,dst,a,a\n1,2,3,4\n"), "2 columns are called 'a': rename them"),
        (scan_of_parts({"src=1/a": "src,dst\n1,2\n"}), "rename one of them"),
        (lambda h: scan(h, gzip.compress(b"PAR1 and no more")),
         "decompress it, or use files.read_edges"),
        (lambda h: files.scan("-", format="text"), "there for every call: use read_edges"),
        (lambda h: scan(h, "3 3\n1 2\n2 3\n3 1\n"), "header=False or header=True"),
        (lambda h: tc.clustering(scan(h, "src,dst,w\n1,2,3\n" + "1,2,3\n" * 20_000 + "1,2,x\n"),
                                 weight="w", aggregate="sum"), "read_edges takes it for text"),
    ],
    "frames/scans": [
        (changed_scan, "Wait until nothing writes to it"),
        (having(resolve, "host_free", lambda: 1,
                lambda h: tc.annotate(scan(h, "1 2\n2 3\n"), "triangles")), "out=folder writes"),
        (full_of_queries, "TMPDIR names a folder that has more room"),
    ],
    "frames/written": [
        (lambda h: tc.annotate(k3(), "triangles", out=""), "give the name of a folder"),
        (lambda h: tc.annotate(k3(), "triangles", out=__file__), "give the name of a folder"),
        (lambda h: tc.annotate(k3(), "triangles", out=h.path / "no" / "out"), "there is no folder"),
        (lambda h: tc.annotate(k3(), "triangles", out=Path(__file__).parent),
         "force=True replaces"),
        (lambda h: tc.annotate(k3(), "triangles", out=h.path / "o"),
         "write the frame that comes back"),
        (lambda h: tc.annotate(scan(h, "1 2\n"), "triangles", out=h.path, force=True),
         "name another"),
        (lambda h: tc.annotate(scan_of_parts({"a": "1 2\n"})(h),
         "triangles", out=h.path / "in" / "o"),
         "read as a part of them: name another"),
        (having(frames_written, "import_module", no_space,
                lambda h: tc.annotate(edge_table(), "triangles", out=h.path / "o")),
         "No space left"),
    ],
    "files/source": [
        (lambda h: read(h, "1 2\n", format="xls"), "one of text, matrixmarket, metis, npz"),
        (lambda h: read(h, "1 2\n", ids="float"), "'integer' or 'string'"),
        (lambda h: read(h, "1 2\n", header="no"), "header must be True, False or None"),
        (having(files.source, "host_free", lambda: 0, market("3 3 0\n")),
         "3 vertices, which takes 27 bytes to read; 0 are free"),
        (lambda h: read(h, "1" * 70_000 + "\n"), r"\(METIS and MatrixMarket files: name the form"),
        (having(files.source, "CHECK_BYTES", 99, lambda h: read(h, "1" * 2**20)),
         r"a line of more than 99 bytes.*\(METIS and MatrixMarket files: name the form"),
        (lambda h: read(h, gzip.compress(b"1 2\n" * 99)[:-9]), "compressed data is damaged"),
        (lambda h: read(h, TWO_FILES), "unpack it"),
    ],
    "files/text": [
        (lambda h: read(h, "1 2\n", separator="ab"), "one character, 'tab' or 'blanks'"),
        (lambda h: read(h, "who,whom,how\n" + "a,b,x\n" * 16),
         "say which, header=True or header=False"),
        (lambda h: read(h, "src,dst\na,b\nsrc,dst\n"), "as if several tables .* leave one"),
        (lambda h: read(h, "#a #b\n"), "comment='' reads lines that begin"),
    ],
    "files/lines": [
        (lambda h: read(h, "1 2\n1 2\nx 3\n"), "line 3: 'x' is not an integer"),
    ],
    "interop/_networkx_bipartite": [
        (networkx_call("three sides"), "is not bipartite"),
        (networkx_call("mode"), "dot, min or max"),
        (networkx_call("all nodes"), r"the size of the nodes to project onto \(4\)"),
        (networkx_call("no side"), "not one side of a bipartite graph"),
        (having(needs, "require_pairs", lambda *given, check=needs.require_pairs: check(9, 1, ""),
         networkx_call("pairs")), "more pairs of nodes than memory holds"),
    ],
    "interop/_networkx_graph": [
        (networkx_call("weights"), "'weight' of the edges are no numbers from 0 on"),
        (networkx_call("looped holes"), "rapids_tc leaves out"),
    ],
    "interop/accessor": [
        (lambda h: accessor(h, "a b"), "letters, digits and _, no keyword"),
        (lambda h: accessor(h, "odd", present=True), "already: choose another"),
    ],
    "interop/networkx": [
        (networkx_call("multi"), "multi"),
        (networkx_call("view"), "mind its filter"),
        (networkx_call("nothing"), "no nodes or edges"),
        (networkx_call("nodelist"), "duplicate nodes"),
        (networkx_call("weight 0"), "an edge of weight 0, which NetworkX takes for a tie"),
        (networkx_call("loops"), r"G\.remove_edges_from"),
    ],
    "interop/_networkx_pairs": [
        (networkx_call("loop as a pair"), "is no pair in rapids_tc"),
        (networkx_call("unknown node"), "Node 5 not in G"),
    ],
    "kernels/_source": [
        (lambda h: [(h.path / "a.cu").write_text("#include <b>\n"), _source.read(h.path / "a.cu")],
         'a.cu:1: cannot inline <b>: .*in "quotes", files beside it'),
    ],
    "kernels/catalogue": [
        (lambda h: tc.count(k3(), method=3), "`methods` lists them"),
        (lambda h: tc.count(k3(), method="none"), "choose auto, or of the CUDA kernels bitmap"),
        (lambda h: catalogue.find("polak", "nothing"),
         "no counts of nothing; choose auto, or of the CUDA kernels"),
    ],
    "kernels/launch": [
        (lambda h: launch.run(Fake(xp=np), Fake(csr=None, blocks=True, bare=False),
         catalogue.find("polak"), "Total", None, on_progress=None), "on blocks, auto does"),
        (lambda h: launch.run(Fake(xp=np), Fake(csr=None, blocks=None, bare=True),
         catalogue.find("polak"), "Total", None, on_progress=None),
         "needs a layout: engine.prepare makes it"),
        (lambda h: launch._shared(Fake(shared_limit=64), Fake(capacities="Capacities()"),
         Fake(width=int_of, depth=int_of, words=lambda *a: 9, kernel="count"), "Total"),
         r"36 bytes of shared memory per block, of 64: lower Capacities"),
    ],
    "analytics/chosen": [
        (lambda h: tc.list_triangles(complete(60).frame(), vertices=[0], memory_limit=60_000),
         "raise the limit, give fewer vertices, or list all triangles, without vertices="),
    ],
    "analytics/triangle_lists": [
        (lambda h: listed(h, max_rows=0), r"max_rows=0: iter_triangles\(edges, max_rows=\.\.\.\)"),
    ],
    "analytics/memory": [
        (lambda h: tc.memory_estimate(k3(), function="no"), "accepted: .*count.*vertex_triangles"),
        (lambda h: tc.memory_estimate(k3(), bipartite=True),
         r"count takes none; give Graph\(edges, bipartite=True\)"),
    ],
    "preparation/moments": [
        (lambda h: tc.vertex_triangles(ends(moment("s"), moment("s")),
         vertices=moment("s", tz="UTC")), r"convert vertices= with \.dt\.tz_localize"),
        (lambda h: tc.Graph(ends(moment("s"), moment("s")),
         vertices=moment("ns") + pd.Timedelta(1)),
         r"convert the ids to a unit that can, with \.dt\.as_unit"),
    ],
    "plan/needs": [
        (lambda h: tc.Graph(k3(), memory_limit=1),
         r'the stage ".*" needs about .*memory_limit= allows 1: raise the limit'),
        (lambda h: needs.require_listing(9, 1, "ask for fewer rows"),
         "720 bytes.*and take 1 bytes: ask for fewer rows"),
        (lambda h: needs.require_pairs(9, 1, "ask for less"),
         "9 rows.*720 bytes.*1 bytes are allowed: ask for less"),
        (lambda h: needs.require_method("polak", ANALYTICS["k_truss"], "cuda"),
         "k_truss takes none"),
        (lambda h: tc.count(k3(), method="polak"), r'Pass a cuDF frame, or engine="cuda"'),
    ],
    "graphs/row_values": [
        (lambda h: tc.k_truss(k3(**dict.fromkeys("abcdefghijklmnop", 1.0)), 3, memory_limit=500),
         "the 3 rows of the answer take about .* bytes, and .* are left: raise the limit"),
    ],
    "blocks/codec": [
        (lambda h: codec.require(False, "a"), r"edges\.persist\(\), and the same versions"),
    ],
    "graphs/edge_graph": [
        (lambda h: tc.project(tc.Graph(k3())), "give project the frame itself, or make Graph"),
        (lambda h: tc.count(tc.Graph(k3()), source="src", destination="dst"),
         r"give source= to Graph\(\) instead"),
        (lambda h: tc.count(tc.Graph(k3()), engine="cuda"),
         r"'cpu', not on 'cuda': make another, Graph\(edges, engine='cuda'\)"),
        (lambda h: tc.clustering(tc.Graph(PAIR), weight="w"),
         "give the arrays to the function itself, with an array of one value per edge as weight="),
    ],
    "graphs/resolve": [
        (lambda h: tc.Graph(k3(), vertices=[7], bipartite=True), "leave it out of Graph"),
        (lambda h: tc.Graph(PartitionedFrame([k3()]), bipartite=True),
         r"Graph\(bipartite=True\) runs on one machine: give it edges\.compute\(\)"),
        (on_dask(plot.truss_profile), r"give it edges\.compute\(\)"),
        (lambda h: plot.truss_profile(tc.Graph(k3()), source="src", destination="dst"),
         r"give source= to Graph\(\) instead"),
        (lambda h: tc.Graph(tc.Graph(k3())), "give it to the functions"),
        (lambda h: tc.Graph(matrix(), vertices=[7]), "leave vertices= out"),
        (lambda h: tc.count(matrix(), by=np.ones(3)), r"give the pair \(m\.row, m\.col\) of m"),
        (lambda h: tc.trussness(import_module("polars").LazyFrame({"src": [0], "dst": [1]})),
         r'annotate\(edges, "trussness"\) adds.*trussness\(edges\.collect\(\)\)'),
        (lambda h: polars_lazy(k3()), r"call \.collect\(\) first, or give edges\.to_native\(\)"),
        (lambda h: tc.transitivity(read(h, GML, "g.gml"), directed=True), "reads each both ways"),
        (lambda h: tc.count(read(h, "3 1\n2\n1\n\n", "g.graph"), by="src"), "give edges.frame"),
        (lambda h: tc.transitivity(scan(h, "src,dst,type\n1,2,undirected\n"), directed=True),
         "reads each both ways"),
    ],
    "plot/style": [
        (without("matplotlib.pyplot", lambda h: plot.truss_profile(k3())),
         r"pip install 'rapids_tc\[plot\]'"),
        (lambda h: plot.triads(k3(), ax="x"), "give flat axes of matplotlib, one of those of fig"),
        (lambda h: plot.triads(tc.Graph(k3(t=[1] * 3), by="t")), "give the rows of one group"),
    ],
    "plot/trusses": [
        (lambda h: plot.draw_truss(k3()[:0]), "no edge, and so no truss"),
        (lambda h: plot.draw_truss(k3(), k=9), r"drawn are 1 to \d+; the last one is the 3-truss"),
        (lambda h: plot.hierarchy(k3()[:2]), "no triangle, and so no community"),
        (lambda h: plot.hierarchy(k3(), at_least=9), r"drawn are 1 to \d+; the largest one has 3"),
    ],
    "blocks/distributed_triangles": [
        (lambda h: tc.list_triangles(PartitionedFrame([complete(40).frame()]),
         memory_limit=60_000),
         r"iter_triangles\(edges, max_rows=\.\.\.\) gives them frame by frame, or raise memory_"),
    ],
    "blocks/grid": [
        (lambda h: grid.choose(9, 9, 1), "1 are free: raise memory_limit=, or give more memory"),
        (spread_on_blocks, 'method="auto" counts it in blocks'),
        (lambda h: tc.squares(PartitionedFrame([k3()]), memory_limit=200),
         r"about \d+ bytes of it, and 200 may be taken: raise memory_limit=, take workers"),
        (squares_of_blocks, "cut into 2 x 2 blocks: give the frame in place of its Graph"),
    ],
    "plan/budget": [
        (lambda h: budgeted().check_text(9), "raise the limit, or give integers"),
        (lambda h: budgeted().allowed(9, 999), "raise the limit, or pass fewer edges"),
        (lambda h: list(budgeted().blocks_per_side(9, 9, 1)),
         "raise the limit, or pass fewer edges"),
        (lambda h: budgeted().ranges(9, 1), "raise the limit, or pass fewer edges"),
    ],
    "blocks/context": [
        (other_edition, "install the same version on both, and start"),
        (written_to, "Wait until nothing writes to what the partition is made of"),
    ],
    "executors/dask_cluster": [
        (cluster, "(?s)asynchronous.*client = Client"),
    ],
    "executors/waiting": [
        (lambda h: checked(h, "error"), "memory_limit= makes the tasks smaller"),
        (lambda h: checked(h, "cancelled"), "Persist or read the frame again"),
    ],
    "updates/updates": [
        (lambda h: tc.Graph(k3(), bipartite=True).update(insert=k3()),
         r"make Graph\(edges, bipartite=True\) of the new frame"),
        (on_dask(lambda edges: tc.Graph(edges).update(insert=k3())),
         r"Graph\(edges\.compute\(\)\)"),
        (lambda h: tc.Graph(k3(), by=PAIR[0]).update(insert=k3()),
         "make the Graph of a frame that has it as a column"),
    ],
    "updates/sliding": [
        (lambda h: tc.Graph(k3(), within=1), r"within= is of a window of time: .* by time="),
        (lambda h: tc.Graph(k3(t=1), time="t"), 'give its length, such as within="3d"'),
        (lambda h: tc.Graph(k3(), time=np.arange(3), within=1), "name a column of a frame"),
        (lambda h: tc.Graph(k3(t=1), time="t", within=1, columns=["u_outs"]),
         "'u_outs' is no column as of a time, did you mean 'u_out'"),
        (lambda h: tc.Graph(k3(t=1), time="t", within=1, columns=[]), "name each of .*u_out"),
        (lambda h: tc.Graph(k3(t=1), time="t", within=1).update(delete=k3()),
         r"by their age: leave it out, or make Graph\(edges\) without time="),
    ],
    "updates/kept_rows": [
        (having(kept_rows, "MOST", 2, lambda h: tc.Graph(k3(t=1), time="t", within=1)),
         "3 rows in a window, and at most 2 are kept: shorten within="),
    ],
    "graphs/public": [
        (lambda h: tc.Graph(k3(t=1), time="t", within=1, memory_limit=99),
         "leave it out beside time="),
    ],
    "updates/batches": [
        (lambda h: tc.Graph(k3()).update(), "give insert= or delete="),
        (lambda h: tc.Graph(k3()).update(insert=dask_of(k3())), r"on one machine: \.compute\(\)"),
        (lambda h: tc.Graph(k3()).update(insert=[1]), "give a frame of edges"),
        (lambda h: tc.Graph(k3()).update(insert=pyarrow().table(k3())), "of Pandas: convert it"),
        (lambda h: tc.Graph(matrix()).update(delete=matrix(4)), "one of the same shape"),
        (lambda h: tc.Graph(k3()).update(delete=k3()[["src"]]), "it needs 'src', 'dst'"),
        (lambda h: tc.Graph(k3()).update(insert=k3(w=1)), "drop it, or make another Graph"),
        (lambda h: tc.Graph(k3()).update(insert=k3().astype("str")), "int64 in the rows.*convert"),
        (lambda h: tc.Graph(k3()).update(delete=ends([5], [1])), r"not in the graph: \(5, 1\)"),
    ],
    "graphs/partitioned": [
        (on_dask(tc.trussness), r'annotate\(edges, "trussness"\) adds it'),
        (on_dask(lambda e: tc.Graph(tc.Graph(e))), "give it to the functions"),
        (on_dask(lambda e: tc.Graph(e, vertices=[7])), "append a row to it for each isolated"),
        (on_dask(partial(tc.memory_estimate, function="trussness")), r"annotate\(edges, "),
        (rows_unknown, r"persist\(\) it, or read it from Parquet"),
    ],
    "preparation/fingerprints": [
        (fingerprint, r"partition 3.*6 rows for 5.*edges\.persist\(\)"),
    ],
    "preparation/id_scheme": [
        (lambda h: id_scheme.require_numbers(2**32), "pass fewer edges"),
        (having(id_scheme, "MAX_NUMBERS", 3, lambda h: blocks_of(two_groups(), by="day")),
         "pass fewer edges"),
    ],
    "executors/persisted": [
        (no_client, "(?s)start one first:.*client = Client"),
        (lambda h: persisted._require_all({("a", 0): 1}, [("a", 1)]),
         r"before it was persisted, or persist frame\.repartition"),
    ],
    "blocks/block_map": [
        (in_ranges, r"cut in 2 ranges by use_layout\(\): give it ranges=1"),
        (kept_and_longer, "had 1 when.*: make another"),
    ],
    "graphs/kept": [
        (on_dask(lambda e: tc.Graph(e).csr), r"frame\.compute\(\)"),
        (on_dask(lambda e: pickle.dumps(tc.Graph(e))), "make another of the same frame in the"),
        (kept_and_lost, "persist.*make another Graph of it"),
        (on_dask(lambda e: tc.Graph(e).count(memory_limit=80)),
         r"raise the limit, or make another, Graph\(edges, memory_limit="),
    ],
    "executors/versions": [
        (versions, "pip install 'rapids_tc==.* start them again"),
    ],
    "executors/watch": [
        (watched(), "no worker .*nobody restarts them, or none was started"),
        (watched(workers={"tcp://a": WORKER}), r"0 of 3 tasks.*client\.restart\(\)"),
        (watched("closed"), "(?s)is closed.*client = Client"),
        (watched("connecting"), "(?s)scheduler .* has ended, or cannot.*client = Client"),
    ],
    "graphs/pair_columns": [
        (lambda h: tc.similarity(k3(a=1), by="a", pairs=k3()), "combine the columns of an id"),
        (lambda h: tc.Graph(k3(), bipartite=True).similarity(pairs=k3()), r"project\(\) lists the"),
        (lambda h: tc.similarity(k3(), pairs=[(0, 1)]), "give a frame of one machine with two"),
    ],
    "graphs/distributed_pairs": [
        (lambda h: tc.similarity(PartitionedFrame([k3(a=1)]), by="a", pairs=k3()),
         "combine the columns of an id"),
        (on_dask(lambda e: tc.similarity(e, pairs=PartitionedFrame([k3()]))),
         "give a frame of one machine, or one that is partitioned as edges"),
    ],
    "engines/gpu/similar": [
        (emulated(lambda e: e.prepare_ends(Fake(m=2**32), None)),
         'fewer than 2,147,481,600: give the rows that matter, or engine="cpu"'),
    ],
    "analytics/cliques": [
        (lambda h: tc.cliques(k3(), k=6),
         r"k=6; accepted: 3 \(triangles, which count finds faster"),
        (lambda h: cliques.require_int64(2**63, 5),
         r"9,223,372,036,854,775,808 cliques of 5 .*cliques\(edges, k=5\) without by="),
    ],
    "analytics/orbits": [
        (having(orbits, "MOST_NEIGHBORS", 1, lambda h: tc.graphlets(k3())),
         "2 neighbors, and graphlets are counted around vertices of at most 1, .*; drop the rows"),
    ],
    "analytics/graphlets": [
        (lambda h: graphlets._require_int64(np.full((1, 9), 2**63, object)),
         r"g0 occurs 9,223,372,036,854,775,808 times.* drop the rows of the vertices with"),
    ],
    "engines/local_graphs": [
        (having(costs, "MOST_CLIQUE_ROW", 1, lambda h: tc.cliques(k3())),
         r"2 neighbors of a degree no lower.*at most 1: .*k_truss\(edges, 4\)"),
    ],
    "engines/blooms": [
        (lambda h: require_index(10, 239),
         "10 wedges, paths of two edges, takes about 240 bytes; .* those that edge_squares"),
    ],
    "engines/wedges": [
        (having(costs, "MOST_SQUARE_EDGES", 3, lambda h: tc.squares(k3())),
         "3 edges, and squares are counted of fewer than 3: give fewer, such as those between"),
    ],
    "analytics/triads": [
        (having(triads, "MOST_VERTICES", 2, lambda h: tc.triad_counts(k3(day=1), by="day")),
         "give the rows of that group alone, without by="),
    ],
    "testing/_build": [
        (having(_build.tempfile, "mkdtemp", no_library, lambda h:
         _build._private_folder.__wrapped__()), "name a folder that can be written in TMPDIR"),
        (having(_build.shutil, "which", lambda name: None, lambda h:
         _build._compiler.__wrapped__()), r"apt install g\+\+.*name a compiler in CXX"),
        (having(_build, "_printed", lambda what, name: name, lambda h:
         _build.compiler_library("tsan")), "install its sanitizers"),
    ],
    "testing/_sanitize": [
        (having(_sanitize.sys, "platform", "win32", lambda h: testing.run_sanitized("thread", [])),
         "needs Linux"),
    ],
    "analytics/over_time": [
        (lambda h: tc.triangles_over_time(k3(formed=1), time="formed"), "another column"),
        (lambda h: timed(step=2), "without window=: name the length of a window"),
        (lambda h: timed(window="MS", step="1D"), 'leave it out, or give a window .* such as "7D"'),
    ],
    "analytics/kinds": [
        (emulated(lambda e: tc.count(k3(t=1), time="t", within=1, method="polak")),
         'with within= only method="auto" works'),
        (lambda h: tc.count(k3(), where="t"), r'where= is a str; give a kind .*\(time="t"'),
        (lambda h: tc.count(k3(), time="t", within=1, where=tc.Triangles(sign="w", balanced=True)),
         "time= and within= are short for where=Triangles.*: give them there"),
        (lambda h: tc.transitivity(k3(), directed=True, where=tc.Triangles(time="t", within=1)),
         "where= and directed= are not asked for together"),
        (lambda h: tc.clustering(k3(w=1), aggregate="sum"), "give weight= as well"),
        (lambda h: tc.clustering(k3(), where=tc.Triangles(directed="flow")),
         "directed triangles are counted by count, vertex_triangles, edge_triangles and annotate"),
    ],
    "preparation/triangle_kinds": [
        (lambda h: tc.Triangles(directed="loop"), 'directed=.loop.; accepted: "cycle", "flow", N'),
        (lambda h: tc.Triangles(), "asks for nothing: give time= and within=, types= and"),
        (lambda h: tc.Triangles(sign="w"), "sign= and balanced= go together: .*plus .True. or min"),
        (lambda h: tc.Triangles(sign="w", balanced="yes"), "balanced='yes'; accepted: True, False"),
        (lambda h: tc.Triangles(edge_type="t"), "types= goes together with either edge_type= or"),
        (lambda h: tc.Triangles(edge_type="t", types="ab"), "accepted: three types, None for any"),
        (lambda h: tc.Triangles(edge_type="t", types=[None] * 3), "names no type: any triangle"),
        (lambda h: tc.Triangles(edge_type="t", types=([1], 2, None)), "None stands for any type"),
        (lambda h: tc.Triangles(time="t", within=1, aggregate="last"),
         "settles types and signs: give types= or sign= as well"),
    ],
    "preparation/time_values": [
        (lambda h: tc.count(k3(), within=1), "within= was given without time=: give both"),
        (lambda h: timed([0, 1, 10**17], window=1), "give a longer step="),
    ],
    "preparation/intervals": [
        (lambda h: intervals.merged(*[np.zeros(0, "int64")] * 2, 2**32 + 1, None),
         "times are kept of at most 4,294,967,296"),
    ],
    "preparation/windows": [
        (lambda h: timed([1e15, 1e15, 2e15], window=1e-3), "subtract the first time"),
        (lambda h: timed(pd.Series(["0001-01-01"] * 3, dtype="datetime64[s]"), window="1ns"),
         "give a whole number of 's'"),
        (lambda h: timed(window="MS"), "has dtype int64: give a number"),
        (lambda h: timed(np.arange(3, dtype="uint8"), window=2, origin=-1),
         "the least uint8, the dtype of time='t': cast it to a wider one"),
        (lambda h: timed(pd.date_range("2026", periods=3, tz="Europe/Paris"), window="1D",
         step="6h"), 'give the window in hours, such as "24h", or the step in days'),
        (lambda h: timed([1.0, 2.0, 3.0], window=1, origin=1e300), "give one that is nearer"),
    ],
    "preparation/calendars": [
        (lambda h: timed(window="W-JAN"), 'accepted are "W-MON" and the like, "MS" and "ME"'),
        (lambda h: timed([pd.Timestamp.min] * 3, window="YS"), "convert it to a coarser one"),
        (lambda h: timed(window=1, origin="epoch"), 'int64: give a number, or "start"'),
        (lambda h: timed(window=1, origin=0.5), "give a whole number"),
        (lambda h: timed(pd.date_range("2026", periods=3), window="1h",
         origin=pd.Timestamp("2026", tz="UTC")), "an origin with a time zone, or both without"),
        (lambda h: timed(pd.date_range("2026", periods=3, tz="Europe/Paris", unit="s"),
         window="1D", origin=pd.Timestamp("2026-01-01 00:00:00.5", tz="UTC")),
         "give a whole number of it"),
        (lambda h: timed(window=1, origin="noon"), 'accepted: "start", "start_day", "epoch"'),
    ],
    "preparation/times": [
        (lambda h: timed(window=1, step="1ME"),
         "accepted: a number .* months have no fixed length"),
        (lambda h: timed(window="4000000D"), "292 years .*: give a timedelta64 of NumPy"),
        (lambda h: timed(window=0), "a length of time above 0 is accepted"),
        (lambda h: timed(window="1h"), "time='t' has dtype int64: give a number"),
        (lambda h: timed(window=0.5), "give a whole number"),
        (lambda h: timed(["a", "b", "c"]),
         "accepted: integers, floats, datetimes; convert the column to one of them"),
        (lambda h: timed(list(map(Decimal, ("0.1", "1", "2")))),
         "multiply them, and lengths of time, to whole numbers, and cast these to integers"),
        (lambda h: timed([0, 1, np.inf]), "drop those rows, or give them finite times"),
        (lambda h: times.joined_column(
         [times.TimeColumn("t", kind, np.dtype(kind)) for kind in ("int64", "float64")]),
         "in some partitions and float64 in others: give all one dtype"),
    ],
    "analytics/communities": [
        (lambda h: tc.truss_communities(k3(), 3, connected="no"),
         'accepted: "triangles" or "edges"'),
    ],
    "analytics/trusses": [
        (lambda h: tc.k_truss(k3(), 1), 'accepted: an integer from 2 on, or "max"'),
    ],
}  # fmt: skip


def raises(tree, name):
    """Every raise in a module that makes or names an error, with the function it is in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # which holds no statements
            continue
        inner = name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{name}.{node.name}" if not name.endswith(":") else name + node.name
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield inner, node
        yield from raises(node, inner)


SITES = {}  # by function: the lines of its raises
for path in sorted(PACKAGE.rglob("*.py")):
    module = path.relative_to(PACKAGE).with_suffix("").as_posix()
    for site, node in raises(ast.parse(path.read_text(encoding="utf-8")), f"{module}:"):
        SITES.setdefault(site, []).append((path, range(node.lineno, node.end_lineno + 1)))


def module_of(site):
    return site.partition(":")[0]


RAISES = Counter()  # by module: how many rows it has
for site in SITES.keys() - INTERNAL.keys():
    RAISES[module_of(site)] += len(SITES[site]) - PARTLY.get(site, 0)


def where(error):
    """Where an error, or what it was raised from, came by: functions, and the lines of raises."""
    found = {}
    while error is not None:
        last, step = (None, 0), error.__traceback__
        while step is not None:
            file = Path(step.tb_frame.f_code.co_filename)
            for site, places in SITES.items():
                for path, lines in places:
                    if step.tb_lineno in lines and file == path:
                        last = site, lines[0]
            step = step.tb_next
        found.setdefault(*last)
        error = error.__cause__
    return found


@pytest.mark.parametrize("module", HINTS)
def test_an_error_says_what_to_do(module, tmp_path):
    seen = set()
    for number, (call, words) in enumerate(HINTS[module]):
        (folder := tmp_path / str(number)).mkdir()
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Exception) as caught:
            call(Fake(path=folder, patch=patch))
        message = str(caught.value)
        assert re.search(words, message), f"{type(caught.value).__name__}: {message}"
        found = where(caught.value).items()
        here = [(s, line) for s, line in found if s in SITES and module_of(s) == module]
        fresh = [raised for raised in here if raised[0] not in INTERNAL and raised not in seen]
        assert fresh, f"none of the raises that no row before has met: {message}"
        seen.add(fresh[0])


def test_every_error_is_in_the_table():
    assert INTERNAL.keys() <= SITES.keys()
    assert {module: len(rows) for module, rows in HINTS.items()} == RAISES, "a row for each raise"
