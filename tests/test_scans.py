"""Files and queries that are read batch by batch: the answers of the frame, whole and in blocks."""

import os
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import reference
from every_path import FRAME, IDS, assert_right, expected
from needs import need_module
from pyarrow.dataset import dataset
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.files import EdgeFileError, scan
from rapids_tc.frames import written
from rapids_tc.frames.scans import Scan
from rapids_tc.graphs import resolve
from rapids_tc.plan.record import ANALYTICS, Result

pytestmark = pytest.mark.cpu_only

ROWS = list(zip(FRAME["src"].tolist(), FRAME["dst"].tolist(), strict=True))


def parquet(folder, name="e.parquet", frame=FRAME, **options):
    frame.to_parquet(folder / name, index=False, **options)
    return folder / name


def text(folder, name="e.csv", frame=FRAME, **options):
    frame.to_csv(folder / name, index=False, **options)
    return folder / name


def parts(folder):
    """A folder of parts, whose ids have several widths, with a key in their names."""
    for name, some in (("day=1", FRAME[:40].astype({"src": "int32"})), ("day=2", FRAME[40:])):
        (folder / "all" / name).mkdir(parents=True)
        parquet(folder / "all" / name, row_group_size=7, frame=some)
    (folder / "all" / "_SUCCESS").write_text("")
    return folder / "all"


def arrow(folder):
    pa.feather.write_feather(FRAME, folder / "e.arrow", compression="uncompressed", chunksize=9)
    return folder / "e.arrow"


SOURCES = {
    "parquet": lambda folder: scan(parquet(folder, row_group_size=11)),
    "csv": lambda folder: scan(text(folder)),
    "tabs, compressed": lambda folder: scan(text(folder, "e.tsv.gz", sep="\t")),
    "arrow": lambda folder: scan(arrow(folder)),
    "folder": lambda folder: scan(parts(folder)),
    "pattern": lambda folder: scan(f"{parts(folder)}/*/e.parquet"),
    "list": lambda folder: scan(
        [parquet(folder, "a.parquet", FRAME[:9]), str(text(folder, frame=FRAME[9:]))]
    ),
    "dataset": lambda folder: dataset(parts(folder), partitioning="hive"),
    "scanner": lambda folder: dataset(parquet(folder)).scanner(),
    "ParquetFile": lambda folder: pq.ParquetFile(parquet(folder)),
    "duckdb": lambda folder: duckdb.sql(f"SELECT *, 1 AS day FROM '{parquet(folder)}'"),
    "polars": lambda folder: pl.scan_parquet(parquet(folder)),
}
CALLS = [
    ("count", {}),
    ("vertex_triangles", {}),
    ("vertex_triangles", {"vertices": [3, 50, 3, 0]}),
    ("edge_triangles", {}),
    ("similarity", {"measure": "adamic_adar"}),
    ("trussness", {}),
    ("clustering", {"weight": "w", "aggregate": "sum"}),
    ("annotate", {"columns": ("triangles", "trussness", "jaccard")}),
    ("k_truss", {"k": 4}),
    ("list_triangles", {}),
    ("simple_edges", {}),
    ("transitivity", {}),
    ("triangles_over_time", {"time": "t", "window": 5, "step": None}),
    ("triangles_by_type", {"edge_type": "kind", "aggregate": "last"}),
    ("balance", {"sign": "trust", "aggregate": "last"}),
]  # fmt: skip


def plain(name, found):
    """An answer in Arrow as plain values, as `expected` has them."""
    if isinstance(found, pl.LazyFrame):
        found = found.collect().to_arrow()
    if isinstance(found, pa.ChunkedArray):
        return found.to_pylist()
    if not isinstance(found, pa.Table):
        return found
    if name == "annotate":
        return {c: found[c].to_pylist() for c in ("triangles", "trussness", "jaccard")}
    rows = list(zip(*found.to_pydict().values(), strict=True))
    return sorted(rows) if name == "list_triangles" else rows


@pytest.fixture(params=[0, 2], ids=["whole", "in blocks"])
def path(request, monkeypatch):
    """Whole in memory; or in blocks, with a temporary file for what is read once."""
    if request.param:
        monkeypatch.setattr(resolve, "HELD", 2**60)
    with in_blocks(2) if request.param else nullcontext([]) as made:
        yield made


@pytest.mark.parametrize("kind", SOURCES)
def test_the_answers_of_the_frame(kind, path, tmp_path):
    edges = SOURCES[kind](tmp_path)
    for name, own in CALLS:
        if kind == "polars" and ANALYTICS[name].result is Result.COLUMN:
            continue  # no Series is aligned with a lazy frame
        options = {**own, **IDS}
        found = getattr(tc, name)(edges, *options.pop("columns", ()), **options)
        values, right = plain(name, found), expected(name, own)
        if name == "k_truss":
            right = [*FRAME.iloc[right][[*FRAME]].itertuples(index=False, name=None)]
            values = [row[: len(FRAME.columns)] for row in values]
        if isinstance(right, dict):
            values, right = [*values.values()], [*right.values()]
        for one, other in zip(values, right, strict=True) if isinstance(right, list) else ():
            assert one == pytest.approx(other)
        assert isinstance(right, list) or values == pytest.approx(right)
    assert not path or kind == "polars" or len(path) >= len(CALLS) - 1


def test_rows_stay_as_they_are(path, tmp_path):
    for kind in ("parquet", "csv", "folder", "dataset", "duckdb"):
        (tmp_path / kind).mkdir()
        edges = SOURCES[kind](tmp_path / kind)
        wide = tc.annotate(edges, "triangles", **IDS).to_pandas()
        assert wide[[*FRAME]].astype(FRAME.dtypes).equals(FRAME)
        assert wide["triangles"].tolist() == reference.by_row(ROWS, reference.edge_triangles(ROWS))
        if kind in ("folder", "dataset"):
            assert wide["day"].astype("int64").tolist() == [1] * 40 + [2] * (len(FRAME) - 40)


@pytest.mark.parametrize("ids", ["text", "far apart", "dates", "groups", "two columns"])
def test_ids_of_every_kind(ids, path, tmp_path):
    frame, options = FRAME.copy(), dict(IDS)
    if ids == "text":
        frame[["src", "dst"]] = frame[["src", "dst"]].map("v{}".format)
    elif ids == "far apart":
        frame[["src", "dst"]] = frame[["src", "dst"]] * 2**55 - 2**60
    elif ids == "dates":
        days = frame[["src", "dst"]].apply(lambda c: pd.Timestamp("2020") + pd.to_timedelta(c, "D"))
        frame[["src", "dst"]] = days
    elif ids == "groups":
        options["by"] = "kind"
    else:
        frame = frame.assign(a=frame["src"] % 2, b=frame["dst"] % 2)
        options = {"source": ["src", "a"], "destination": ["dst", "b"]}
    for edges in (scan(parquet(tmp_path, frame=frame)), scan(text(tmp_path, frame=frame))):
        for function in (tc.count, tc.vertex_triangles, tc.simple_edges):
            found, right = function(edges, **options), function(frame, **options)
            if isinstance(right, int):
                assert found == right
                continue
            found = found.to_pandas()
            if ids == "dates":  # which are text in a text
                right = right.astype(found.dtypes)
                found = found.sort_values([*found], ignore_index=True)
                right = right.sort_values([*found], ignore_index=True)
            assert found.astype(right.dtypes).equals(right)


def test_only_the_columns_that_count_are_read(tmp_path):
    failing = duckdb.sql("SELECT range AS src, range + 1 AS dst, error('read') AS x FROM range(9)")
    assert tc.count(failing) == 0
    with pytest.raises(duckdb.Error, match="read"):
        tc.annotate(failing, "triangles")
    read, found = [], scan(parquet(tmp_path)).opened()

    def batches(columns):
        read.append(columns)
        return found.batches(columns)

    edges = Scan("e", lambda: replace(found, batches=batches))
    tc.clustering(edges, weight="w", aggregate="sum", **IDS)
    assert {name for names in read for name in names} == {"src", "dst", "w"}


def test_a_scan_is_edges_of_a_graph_and_a_stream(tmp_path):
    edges = scan(parquet(tmp_path))
    graph = tc.Graph(edges, **IDS)
    assert tc.count(graph) == tc.count(edges, **IDS) == reference.count(ROWS)
    assert tc.annotate(graph, "triangles").num_rows == len(FRAME)
    assert edges.columns == [*FRAME] and repr(edges).startswith("Scan(name=")
    assert pl.from_arrow(pa.table(edges)).equals(pl.from_pandas(FRAME))
    assert tc.Graph(dataset(tmp_path / "e.parquet"), **IDS).n_edges == graph.n_edges


def test_what_a_call_takes_is_told_without_reading_all(path, tmp_path):
    plain = tc.memory_estimate(FRAME, **IDS)
    for edges in (
        scan(parquet(tmp_path)),
        pl.from_pandas(FRAME).lazy(),
        pq.ParquetFile(tmp_path / "e.parquet"),
    ):
        found = tc.memory_estimate(edges, **IDS)
        assert [*found] == ["read", *plain]
        assert found["count"] == plain["count"] + found["read"] > plain["count"]
    found = tc.memory_estimate(
        scan(tmp_path / "e.parquet"), function="squares", bipartite=True, **IDS
    )
    assert found["read"] > 0


# Files that change --------------------------------------------------------------------------------


def changing(path, change):
    """A scan of a file that changes after its first pass."""

    def opened():
        found, passes = scan(path).opened(), []

        def batches(columns):
            passes.append(columns)
            if len(passes) == 2:
                change()
            return found.batches(columns)

        return replace(found, batches=batches)

    return Scan("changing", opened)


@pytest.mark.parametrize("change", ["rows", "values", "gone", "broken"])
@pytest.mark.parametrize("name", ["count", "annotate"])
def test_a_file_that_changes_is_refused(name, change, path, tmp_path):
    file = parquet(tmp_path)

    def changed():
        if change == "gone":
            file.unlink()
        elif change == "broken":
            file.write_bytes(b"PAR1 and no more")
        else:
            other = FRAME[:-1] if change == "rows" else FRAME[::-1]
            other.to_parquet(file, index=False)

    options = {"out": tmp_path / "out"} if name == "annotate" else {}
    with pytest.raises(tc.KernelError, match=r"e\.parquet changed during the call"):
        getattr(tc, name)(changing(file, changed), *["triangles"] * bool(options), **options, **IDS)
    assert not (tmp_path / "out").exists() and not [*tmp_path.glob(".out*")]
    if change != "gone" and change != "broken":
        assert tc.count(scan(file), **IDS) >= 0  # a new call reads what is there now


def test_a_temporary_file_that_does_not_fit(monkeypatch, tmp_path):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    parquet(tmp_path)
    monkeypatch.setattr(resolve, "HELD", 2**60)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(tc.CapacityError, match=r"the relation is kept in a temporary file.*TMPDIR"):
        tc.count(duckdb.sql(f"FROM '{tmp_path}/e.parquet'"), **IDS)


# Text ---------------------------------------------------------------------------------------------


def test_text_of_every_shape(tmp_path):
    shapes = {
        "1 2\n2 3\n3 1\n": 1,
        "# a comment\nfrom,to\n1,2\n2,3\n3,1\n": 1,
        "a\tb\nb\tc\nc\ta\n": 1,
        "1 2 x\n2 3\n3 1 y z\n": 1,
        'src;dst\n"a;1";b\nb;c\nc;"a;1"\n': 1,
        "src,dst,w\n1,2,\n2,3,5\n3,1,7\n": 1,
        f"{2**63} 2\n2 3\n3 {2**63}\n": 1,
        "% only\n1 1\n": 0,
    }
    for number, (content, triangles) in enumerate(shapes.items()):
        (tmp_path / f"{number}.txt").write_text(content)
        assert tc.count(scan(tmp_path / f"{number}.txt")) == triangles


def test_columns_of_text_have_types(tmp_path):
    frame = pd.DataFrame(
        {"src": [1, 2], "dst": [2, 3], "n": [5, 6], "x": [0.5, 2], "t": ["007", "8"], "e": ["", ""]}
    )
    types = pa.table(scan(text(tmp_path, frame=frame))).schema.types
    assert types == [pa.int64()] * 3 + [pa.float64(), pa.string(), pa.string()]


def test_a_wrong_line_is_named(tmp_path):
    rows = [f"{i},{i + 1},{i}" for i in range(40_000)]
    (tmp_path / "e.csv").write_text("\n".join(["src,dst,w", *rows, "7,x,1", *rows]))
    with pytest.raises(EdgeFileError, match=r"e\.csv, line 40002: 'x' is not an integer"):
        tc.count(scan(tmp_path / "e.csv"))
    (tmp_path / "e.csv").write_text("\n".join(["src,dst,w", *rows, "7,8,x", *rows]))
    assert tc.count(scan(tmp_path / "e.csv")) == 0
    with pytest.raises(EdgeFileError, match="is not what the first lines let expect"):
        tc.clustering(scan(tmp_path / "e.csv"), weight="w", aggregate="sum")
    (tmp_path / "e.csv").write_text(
        "\n".join(["src,dst", *(f"a{i},b{i}" for i in range(40_000)), ",b"])
    )
    with pytest.raises(EdgeFileError, match="line 40002: an id is empty"):
        tc.count(scan(tmp_path / "e.csv"))


def test_nulls_are_no_ids(path, tmp_path):
    frame = FRAME.astype({"src": "Int64"})
    frame.loc[70, "src"] = pd.NA
    with pytest.raises(tc.NullIdError, match="'src' has 1 null"):
        tc.count(scan(parquet(tmp_path, frame=frame, row_group_size=20)), **IDS)


# A folder of answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*SOURCES, "table"])
def test_rows_are_written_in_their_order(kind, path, tmp_path, monkeypatch):
    monkeypatch.setattr(written, "MOST", 13)
    (tmp_path / "in").mkdir()
    edges = pa.table(FRAME) if kind == "table" else SOURCES[kind](tmp_path / "in")
    out = tmp_path / "out"
    assert tc.annotate(edges, "triangles", "jaccard", "adamic_adar", out=out, **IDS) == out
    found, right = (
        pd.read_parquet(out),
        tc.annotate(FRAME, "triangles", "jaccard", "adamic_adar", **IDS),
    )
    assert found[[*right]].astype(right.dtypes).equals(right)
    assert [*out.parent.iterdir()] == [*out.parent.glob("*")] and len([*out.iterdir()]) == 1
    again = (
        tc.annotate(scan(out), "squares", out=str(tmp_path / "more"), **IDS) if not path else out
    )
    assert isinstance(again, str) or path
    chosen = tc.Triangles(edge_type="kind", types=("mail", "call", None))
    tc.annotate(
        scan(out).columns and scan(parquet(tmp_path / "in", "n.parquet")),
        "triangles",
        where=chosen,
        out=out,
        force=True,
        **IDS,
    )
    assert (
        pd.read_parquet(out)["triangles"].tolist()
        == tc.annotate(FRAME, "triangles", where=chosen, **IDS)["triangles"].tolist()
    )


def test_columns_as_of_a_time_are_written_too(tmp_path):
    options = {**IDS, "time": "t", "within": 4}
    out = tc.annotate(scan(parquet(tmp_path)), "u_in", out=tmp_path / "out", **options)
    assert pd.read_parquet(out).equals(tc.annotate(FRAME, "u_in", **options))


def test_no_rows_are_written_too(tmp_path):
    tc.annotate(scan(parquet(tmp_path, frame=FRAME[:0])), "triangles", out=tmp_path / "out", **IDS)
    assert [*pd.read_parquet(tmp_path / "out")] == [*FRAME, "triangles"]


def test_a_folder_that_is_there(tmp_path):
    edges, out = scan(parquet(tmp_path)), tmp_path / "out"
    out.mkdir()
    tc.annotate(edges, "triangles", out=out, **IDS)  # it is empty
    (out / "mine").write_text("mine")
    with pytest.raises(FileExistsError, match=r"is not empty; force=True replaces it"):
        tc.annotate(edges, "triangles", out=out, **IDS)
    assert (out / "mine").read_text() == "mine"
    tc.annotate(edges, "triangles", out=out, force=True, **IDS)
    assert [file.name for file in out.iterdir()] == [written.PART]
    for wrong in (tmp_path, tmp_path / "e.parquet"):
        with pytest.raises((ValueError, FileExistsError), match=r"holds the files|is a file"):
            tc.annotate(edges, "triangles", out=wrong, force=True, **IDS)
    (tmp_path / "in").mkdir()
    parquet(tmp_path / "in")
    with pytest.raises(ValueError, match="would be read as a part"):
        tc.annotate(scan(tmp_path / "in"), "triangles", out=tmp_path / "in" / "out", **IDS)


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_is_not_finished_is_not_there(fault, path, tmp_path, monkeypatch):
    edges, out = scan(parquet(tmp_path)), tmp_path / "out"
    tc.annotate(edges, "jaccard", out=out, **IDS)
    before, calls = pd.read_parquet(out), []
    write = pq.ParquetWriter.write_table

    def failing(self, table):
        calls.append(table)
        if len(calls) == 2:
            raise fault
        write(self, table)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", failing)
    monkeypatch.setattr(written, "MOST", 13)
    with pytest.raises(type(fault)) as caught:
        tc.annotate(edges, "triangles", out=out, force=True, **IDS)
    assert isinstance(fault, KeyboardInterrupt) or str(out) in str(caught.value)
    assert pd.read_parquet(out).equals(before)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["e.parquet", "out"]


@pytest.mark.parametrize(
    "edges",
    [FRAME, pl.from_pandas(FRAME), tc.Graph(FRAME, **IDS)],
    ids=["pandas", "Polars", "Graph"],
)
def test_frames_of_other_libraries_are_written_by_these(edges, tmp_path):
    ids = {} if isinstance(edges, tc.Graph) else IDS
    with pytest.raises(TypeError, match="write the frame that comes back"):
        tc.annotate(edges, "triangles", out=tmp_path / "out", **ids)
    assert not [*tmp_path.iterdir()]


# Memory -------------------------------------------------------------------------------------------


def test_the_peak_stays_below_the_limit():
    need_module("resource")
    child = Path(__file__).with_name("scan_peak.py")
    done = subprocess.run(
        [sys.executable, child], capture_output=True, text=True, timeout=250, env={**os.environ}
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


# On a GPU -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["count", "vertex_triangles", "trussness"])
def test_the_engine_of_a_gpu_reads_the_same_rows(tmp_path, name):
    """In memory and in blocks."""
    source, own = scan(parquet(tmp_path, row_group_size=11)), {"engine": "cuda"}
    with testing.host_engine():
        whole = getattr(tc, name)(source, **IDS, **own)
        with in_blocks(2):
            cut = getattr(tc, name)(source, **IDS, **own)
    for found in (whole, cut):
        found = found.to_pandas() if hasattr(found, "to_pandas") else found
        assert_right(name, dict.fromkeys(ANALYTICS[name].defaults), found)
