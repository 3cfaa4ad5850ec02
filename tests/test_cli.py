"""The command line: what it prints where, and how it fails."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name

import pandas as pd
import pytest
from click.testing import CliRunner
from needs import need_module

import rapids_tc as tc
from rapids_tc.cli import machine, main, reading, tables, truss_and_list
from rapids_tc.cli.machine import Driver, DriverError, Gpu
from rapids_tc.datasets import karate, rmat
from rapids_tc.files import read_edges

pytestmark = pytest.mark.cpu_only

NO_SUCH = "No such file or directory"
H100 = Gpu("NVIDIA H100", 80 * 2**30, (9, 0))


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def karate_file(tmp_path):
    path = tmp_path / "karate.csv"
    karate().to_csv(path, index=False)
    return path


def table(output):
    return {line[:14].strip(): line[14:].strip() for line in output.splitlines()}


def test_count(karate_file):
    done = run("count", karate_file)
    assert done.exit_code == 0
    shown = table(done.stdout)
    assert list(shown) == [
        "vertices", "edges", "triangles", "transitivity", "read time", "prepare time", "count time",
        "load time", "compile time",
    ]  # fmt: skip
    assert [*shown.values()][:4] == ["34", "78", "45", "0.255682"]
    assert all(value.endswith(" s") for name, value in shown.items() if name.endswith(" time"))
    assert done.stderr.splitlines() == [
        "guessed: text separated by commas",
        "guessed: the first line 'src,dst' names the columns",
        "guessed: ids are integers",
        "guessed: first edge: 0 to 1",
    ]


def test_count_as_json(karate_file):
    done = run("count", "--json", "--engine", "cpu", karate_file)
    answer = json.loads(done.stdout)
    assert answer.pop("seconds").keys() == {"read", "prepare", "count", "load", "compile"}
    assert answer.pop("guesses") == [line[9:] for line in done.stderr.splitlines()]
    assert answer == {
        "file": str(karate_file),
        "format": "text",
        "vertices": 34,
        "edges": 78,
        "triangles": 45,
        "transitivity": pytest.approx(tc.transitivity(karate()), abs=1e-15),
        "engine": "cpu",
        "method": "auto",
    }


def test_vertices_without_edges_are_counted_where_the_file_names_them(tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("5 3\n2 3\n1 3\n1 2\n\n\n")
    assert json.loads(run("count", "--json", path).stdout)["vertices"] == 5


def test_large_numbers_are_readable(tmp_path):
    path = tmp_path / "edges.npz"
    assert run("datasets", "rmat", 10, "--out", path).exit_code == 0
    shown = table(run("count", path).stdout)
    assert shown["triangles"] == f"{tc.count(rmat(10)):,}" and "," in shown["triangles"]


def test_options_override_every_guess(tmp_path):
    path = tmp_path / "edges"
    path.write_text("9:1:2\n9:2:3\n9:3:1\n!:x\n")
    done = run(
        "count", "--format", "text", "--separator", ":", "--no-header", "--comment", "!",
        "--ids", "string", "--source", 2, "--destination", 3, "--json", path,
    )  # fmt: skip
    assert (json.loads(done.stdout)["triangles"], done.stderr) == (1, "")
    done = run("count", "--separator", ":", "--header", "--comment", "!", "--json", path)
    assert json.loads(done.stdout)["edges"] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "error: nothing.csv: No such file or directory"),
        (["empty"], "error: empty: a folder without files"),
        ([""], "the name of the file is empty"),
        (["bad.csv"], "error: bad.csv, line 3: 'x' is not an integer"),
        (["bad.csv", "--source", "a", "--destination", "b"], "error: no column 'a'"),
        (["good.csv", "--separator", "::"], "error: separator must be one character"),
        (["good.csv", "--method", "no-such"], "error: --method 'no-such'"),
        (["good.csv", "--engine", "cuda"], 'error: --engine "cuda" needs'),
        (["good.csv", "--engine", "tpu"], "'tpu' is not one of 'cpu', 'cuda'"),
        (["good.csv", "--format", "xls"], "'xls' is not one of 'text'"),
        ([], "Missing argument 'FILE'"),
    ],
)
def test_errors_are_told_without_a_traceback(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("1,2\n2,3\n3,x\n")
    (tmp_path / "good.csv").write_text("1,2\n2,3\n3,1\n")
    (tmp_path / "empty").mkdir()
    done = run("count", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert isinstance(done.exception, SystemExit)
    assert words in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "error: MemoryError"),
        (ImportError("no engine:\n- pyarrow"), "error: no engine: - pyarrow"),
        (tc.CapacityError("too large:\n  try less"), "error: too large: try less"),
        (OSError(28, "No space left on device"), "error: [Errno 28] No space left on device"),
    ],
)
def test_an_error_is_one_line(monkeypatch, karate_file, error, line):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(reading, "read_edges", fail)
    done = run("count", karate_file)
    assert (done.exit_code, done.stderr) == (2, f"{line}\n")


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch, karate_file):
    monkeypatch.setattr(reading, "read_edges", lambda *args, **kwargs: 1 / 0)
    assert isinstance(run("count", karate_file).exception, ZeroDivisionError)


def test_reading_reports_its_progress(monkeypatch, karate_file):
    told = []

    class Report(reading.Report):
        def stage(self, name):
            told.append(name)

        def advance(self, done):
            told.append(done)

        def close(self):
            told.append("closed")

    monkeypatch.setattr(reading, "Report", Report)
    run("count", karate_file)
    assert told[0] == "reading karate.csv" and told[-1] == "closed"
    assert 1.0 in told


def test_a_real_process(karate_file):
    command = [sys.executable, "-m", "rapids_tc.cli", "count", "--json", str(karate_file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["triangles"] == 45
    karate_file.write_text("1,2\n2,3\n3\n")
    done = subprocess.run(
        [*command[:-1], "karate.csv"], cwd=karate_file.parent, capture_output=True
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"error: karate.csv, line 3" in done.stderr and b"Traceback" not in done.stderr


def process(*arguments, unbuffered, **streams):
    """The command in a process of its own: pytest replaces the streams of this one."""
    command = [sys.executable, "-m", "rapids_tc.cli", *map(str, arguments)]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(command, env=environment, text=True, **streams)


full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@full
@pytest.mark.parametrize(
    ("command", "unbuffered"), [("--help", ""), ("list --help", "1"), ("trussness FILE", "")]
)
def test_an_answer_that_cannot_be_printed_is_an_error(karate_file, command, unbuffered):
    words = [str(karate_file) if word == "FILE" else word for word in command.split()]
    with open("/dev/full", "w") as out:
        done = process(*words, unbuffered=unbuffered, stdout=out, stderr=subprocess.PIPE)
    told = [line for line in done.stderr.splitlines() if not line.startswith("guessed: ")]
    assert (done.returncode, told) == (2, ["error: [Errno 28] No space left on device"])


@full
@pytest.mark.parametrize("command", ["trussness FILE", "nothing", "count nothing.csv"])
def test_notes_that_cannot_be_printed_lose_no_answer(karate_file, command):
    words = [str(karate_file) if word == "FILE" else word for word in command.split()]
    with open("/dev/full", "w") as out:
        streams = {"stdout": subprocess.PIPE, "stderr": out}
        done = process(*words, unbuffered="1" if command == "nothing" else "", **streams)
    answer = TABLES["truss"](karate()).to_csv(index=False)
    assert (done.returncode, done.stdout) == ((0, answer) if "FILE" in command else (2, ""))


@pytest.mark.skipif(os.name != "posix", reason="no pipes of that kind here")
@pytest.mark.parametrize(("command", "unbuffered"), [("--help", ""), ("trussness FILE", "1")])
def test_a_reader_that_has_enough_ends_the_command_as_any_other(karate_file, command, unbuffered):
    """As shells tell of programs that SIGPIPE has ended."""
    words = [str(karate_file) if word == "FILE" else word for word in command.split()]
    reader, writer = os.pipe()
    os.close(reader)
    done = process(*words, unbuffered=unbuffered, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    told = [line for line in done.stderr.splitlines() if not line.startswith("guessed: ")]
    assert (done.returncode, told) == (141, [])


def test_help_and_version():
    assert run("--version").stdout == f"rapids-tc, version {tc.__version__}\n"
    for arguments in (["--help"], ["-h"], ["count", "-h"], ["doctor", "-h"], ["datasets", "-h"],
        ["clustering", "-h"], ["truss", "-h"], ["list", "-h"], ["bench", "-h"],
    ):  # fmt: skip
        done = run(*arguments)
        assert done.exit_code == 0 and done.stdout.startswith("Usage: ")
        assert "..." not in done.stdout.replace("[ARGS]...", "")  # no summary is cut short


def test_the_command_is_installed():
    entries = metadata.entry_points(group="console_scripts", name="rapids-tc")
    assert next(iter(entries)).load() is main


@pytest.mark.parametrize("suffix", [".npz", ".NPZ", ".parquet", ".csv", ".CSV", ".txt"])
def test_rmat(tmp_path, suffix):
    path = tmp_path / f"edges{suffix}"
    done = run("datasets", "rmat", 6, "--edge-factor", 4, "--seed", 3, "--out", path)
    assert (done.exit_code, done.output) == (0, "")
    written = read_edges(path).frame
    pd.testing.assert_frame_equal(written, rmat(6, edge_factor=4, seed=3), check_dtype=False)
    if suffix == ".csv":
        assert path.read_text().startswith("src,dst\n")
    assert run("datasets", "rmat", 99, "--out", path).exit_code == 2


def test_rmat_that_cannot_be_written(tmp_path, monkeypatch):
    done = run("datasets", "rmat", 4, "--out", tmp_path / "none" / "a.csv")
    assert (done.exit_code, done.stderr) == (2, f"error: {tmp_path / 'none'}: {NO_SUCH}\n")
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    done = run("datasets", "rmat", 4, "--out", tmp_path / "a.parquet")
    assert done.exit_code == 2 and "needs PyArrow: pip install" in done.stderr
    assert list(tmp_path.iterdir()) == []


# Tables -------------------------------------------------------------------------------------------

TABLES = {
    "clustering": tc.clustering,
    "truss": lambda graph: tc.annotate(graph, "trussness"),
    "truss --k 4": lambda graph: tc.k_truss(graph, 4).reset_index(drop=True),
    "truss --k max": lambda graph: tc.k_truss(graph, "max").reset_index(drop=True),
    "list": tc.list_triangles,
}


@pytest.mark.parametrize("rows", [7, 10_000_000])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("command", TABLES)
def test_tables(tmp_path, monkeypatch, karate_file, command, suffix, rows):
    monkeypatch.setattr(truss_and_list, "_ROWS", rows)
    out = tmp_path / f"table{suffix}"
    done = run(*command.split(), karate_file, "--out", out)
    assert (done.exit_code, done.stdout) == (0, "")
    found = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    if command == "list" and rows == 7:  # sorted within each seven rows
        found = found.sort_values(["u", "v", "w"], ignore_index=True)
    expected = TABLES[command](karate())
    pd.testing.assert_frame_equal(found, expected, check_dtype=suffix == ".parquet", rtol=1e-14)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["karate.csv", f"table{suffix}"]


@pytest.mark.parametrize("command", TABLES)
def test_tables_go_to_stdout(karate_file, command):
    done = run(*command.split(), karate_file)
    assert done.stdout == TABLES[command](karate()).to_csv(index=False)
    assert done.stderr.startswith(("guessed: ", "deprecated: truss is now "))


def test_a_table_of_nothing_has_its_columns(tmp_path):
    path, out = tmp_path / "edges", tmp_path / "list.parquet"
    path.write_text("1 2\n2 3\n")
    assert run("list", path).stdout == "u,v,w\n"
    assert run("list", path, "--out", out).exit_code == 0
    assert [*pd.read_parquet(out).dtypes] == ["int64"] * 3


def test_an_isolated_vertex_has_a_row(tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("4 3\n2 3\n1 3\n1 2\n\n")
    assert run("clustering", path).stdout == "vertex,clustering\n1,1.0\n2,1.0\n3,1.0\n4,0.0\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["list", "--out", "x.txt"],
            "error: --out x.txt: the suffix says how, one of .csv, .parquet",
        ),
        (["list", "--out", "no/x.csv"], "error: no: No such file or directory"),
        (["truss", "--k", "1"], "error: --k 1"),
        (["truss", "--k", "-3"], "error: --k -3"),
        (["truss", "--k", "most"], "error: --k 'most'"),
    ],
)
def test_tables_that_cannot_be_written(tmp_path, monkeypatch, karate_file, arguments, words):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, karate_file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr.splitlines()[-1]
    assert [*tmp_path.iterdir()] == [karate_file]


def test_what_stands_behind_the_file_has_no_dashes(karate_file):
    assert run("k-truss", karate_file, "1").stderr.splitlines()[-1].startswith("error: K 1; acc")
    assert run("k-truss", karate_file, "--k", "1").stderr.splitlines()[-1].startswith("error: --k")


def test_a_warning_is_a_line(tmp_path):
    file = tmp_path / "e.csv"
    file.write_text("src,dst,kind\n1,2,1\n2,3,1\n3,1,2\n")
    done = run("count", file, "--edge-type", "kind", "--types", "1,1,7")
    assert done.stdout == "0\n"
    assert "warning: --types (1, 1, 7): nothing has the type 7, so that no" in done.stderr
    done = run("count", file, "--edge-type", "kind", "--types", "1,1,pays")
    assert "'pays' is text, and --edge-type 'kind' holds int64" in done.stderr


@pytest.mark.parametrize("text", ["src,dst,kind\n", ""])
def test_a_file_without_a_row_is_an_empty_graph(tmp_path, text):
    file = tmp_path / "e.csv"
    file.write_text(text)
    assert json.loads(run("count", file, "--json").stdout)["triangles"] == 0
    assert run("edge-triangles", file).stdout.endswith(",triangles\n")


def test_parquet_without_pyarrow(monkeypatch, karate_file):
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    done = run("list", karate_file, "--out", "x.parquet")
    assert (done.exit_code, "pip install 'rapids_tc[arrow]'" in done.stderr) == (2, True)
    assert "guessed" not in done.stderr  # said before the file is read


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("none/x.csv", f"none: {NO_SUCH}"),
        ("folder.csv", "folder.csv: Is a directory"),
        ("", "the name of the file is empty"),
    ],
)
def test_out_is_looked_at_before_the_file(tmp_path, monkeypatch, out, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    done = run("list", "unread.csv", "--out", out)
    assert done.exit_code == 2 and words in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("suffix", [".CSV", ".Parquet"])
def test_a_part_of_the_user_is_left_alone(tmp_path, karate_file, suffix):
    (tmp_path / f"part.x{suffix}").write_text("mine")
    assert run("list", karate_file, "--out", tmp_path / f"x{suffix}").exit_code == 0
    assert (tmp_path / f"part.x{suffix}").read_text() == "mine"
    assert (tmp_path / f"x{suffix}").stat().st_size > 100
    assert len([*tmp_path.iterdir()]) == 3


def test_a_table_that_fails_half_way_leaves_what_was_there(tmp_path, monkeypatch, karate_file):
    def fail(*args, **kwargs):
        yield tc.list_triangles(karate())
        raise OSError(28, "No space left on device")

    out = tmp_path / "old.csv"
    out.write_text("as it was")
    monkeypatch.setattr(tc, "iter_triangles", fail)
    assert run("list", karate_file, "--out", out, "--force").exit_code == 2
    assert out.read_text() == "as it was"
    assert len([*tmp_path.iterdir()]) == 2


def test_a_link_stays_and_what_is_no_file_is_written_to(tmp_path, karate_file):
    pipe, link, file = (tmp_path / name for name in ("pipe.csv", "link.csv", "folder/file.csv"))
    file.parent.mkdir()
    link.symlink_to(file)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for command in (["truss", karate_file], ["datasets", "rmat", 3]):
        for out in (link, pipe):
            assert run(*command, "--out", out, "--force").exit_code == 0
        assert os.read(reader, 1 << 16) == file.read_bytes() != b""
    os.close(reader)
    assert link.is_symlink() and pipe.is_fifo() and len([*tmp_path.rglob("*")]) == 5


WRITERS = (".csv", ".parquet")
WRITING = [  # every command that writes a file, and how
    *((command, suffix) for command in ("list", "truss", "clustering") for suffix in WRITERS),
    *(("datasets rmat 7", suffix) for suffix in (".npz", *WRITERS, ".txt", ".gz")),
]


@pytest.mark.parametrize(("command", "suffix"), WRITING)
@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_leaves_what_was_there(tmp_path, karate_file, command, suffix, room):
    """A file that may not grow fails as one on a full disk does."""
    resource = need_module("resource")
    out = tmp_path / f"old{suffix}"
    out.write_text("as it was")
    given = () if "rmat" in command else (karate_file,)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        done = run(*command.split(), *given, "--out", out, "--force")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"error: {out}: " in done.stderr.splitlines()[-1]
    assert "File too large" in done.stderr.splitlines()[-1]
    assert out.read_text() == "as it was" and {*tmp_path.iterdir()} == {out, karate_file}
    assert run(*command.split(), *given, "--out", out, "--force").exit_code == 0
    assert out.stat().st_size > 100 and {*tmp_path.iterdir()} == {out, karate_file}


# Doctor -------------------------------------------------------------------------------------------


@pytest.fixture
def pretend(monkeypatch):
    """Pretend to be a machine with these distributions and this driver."""

    def imagine(driver, *distributions, trial="ready"):
        def version(name):
            if name in distributions:
                return "26.10"
            raise metadata.PackageNotFoundError(name)

        def find():
            if isinstance(driver, str):
                raise DriverError(driver)
            return driver

        monkeypatch.setattr(machine.metadata, "version", version)
        monkeypatch.setattr(machine, "find_driver", find)
        monkeypatch.setattr(machine, "_trial", lambda: trial)
        return dict(machine.findings())

    return imagine


def test_doctor_here():
    done = run("doctor")
    assert done.exit_code == 0 and done.stderr == ""
    assert f"pandas      {pd.__version__}" in done.stdout
    assert "GPU" in done.stdout


def test_doctor_without_a_driver(pretend):
    found = pretend("no libcuda", "cupy-cuda13x", "cudf-cu13")
    assert found["driver"] == "none: no libcuda"
    assert found["cupy"] == "cupy-cuda13x 26.10"
    assert found["to install"].startswith("a driver, then ")
    assert found["pyarrow"] == 'not installed: pip install "rapids_tc[arrow]"'


@pytest.mark.parametrize(
    ("cuda", "capability", "distributions", "verdict", "command"),
    [
        ((13, 0), (9, 0), [], "cupy and cudf missing", 'pip install "rapids_tc[cu13]"'),
        ((14, 2), (9, 0), [], "cupy and cudf missing", 'pip install "rapids_tc[cu13]"'),
        ((12, 8), (9, 0), [], "cupy and cudf missing", 'pip install "rapids_tc[cu12]"'),
        ((13, 0), (7, 0), [], "cupy and cudf missing", 'pip install "rapids_tc[cu12]"'),
        ((13, 0), (9, 0), ["cupy-cuda12x"], "cudf missing", 'pip install "rapids_tc[cu12]"'),
        ((13, 0), (9, 0), ["cudf-cu13"], "cupy missing", 'pip install "rapids_tc[cu13]"'),
        ((13, 0), (9, 0), ["cupy", "cudf"], "ready", None),
        ((13, 0), (9, 0), ["cupy-cuda12x", "cudf-cu12"], "ready", None),
        ((13, 0), (9, 0), ["cupy-cuda13x", "cudf-cu13"], "ready", None),
        (
            (12, 8),
            (9, 0),
            ["cupy-cuda13x", "cudf-cu13"],
            "not usable: cupy-cuda13x, cudf-cu13",
            'pip uninstall -y cupy-cuda13x cudf-cu13 && pip install "rapids_tc[cu12]"',
        ),
        (
            (13, 0),
            (9, 0),
            ["cupy-cuda12x", "cudf-cu13"],
            "not usable: cupy-cuda12x, cudf-cu13",
            'pip uninstall -y cupy-cuda12x cudf-cu13 && pip install "rapids_tc[cu13]"',
        ),
        ((11, 8), (9, 0), [], "CUDA 12 or newer", None),
        ((13, 0), (6, 1), [], "compute capability 7.0", None),
    ],
)
def test_doctor_advice(pretend, cuda, capability, distributions, verdict, command):
    driver = Driver("580.1", cuda, (Gpu("GPU", 2**30, capability),))
    found = pretend(driver, *distributions)
    assert verdict in found["GPU"]
    assert found.get("to install") == command


def test_doctor_names_the_gpus(pretend):
    found = pretend(Driver("580.1", (13, 0), (H100, H100)))
    assert found["driver"] == "580.1, serves CUDA up to 13.0"
    assert found["GPU 0"] == found["GPU 1"] == "NVIDIA H100, 80 GiB, compute capability 9.0"
    assert "not usable" in pretend(Driver("580.1", (13, 0), ()))["GPU"]


class Cuda:
    """The driver's library, as far as the doctor asks it."""

    start = 0

    def cuInit(self, flags):
        return self.start

    def cuDriverGetVersion(self, version):
        version._obj.value = 13010
        return 0

    def cuDeviceGetCount(self, count):
        count._obj.value = 1
        return 0

    def cuDeviceGetName(self, name, size, device):
        name.value = b"NVIDIA H100"
        return 0

    def cuDeviceTotalMem_v2(self, size, device):
        size._obj.value = 80 * 2**30
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):
        value._obj.value = {75: 9, 76: 0}[attribute]
        return 0

    def cuGetErrorString(self, code, text):
        text._obj.value = b"no CUDA-capable device is detected"
        return 0


def test_the_driver_is_asked(monkeypatch):
    monkeypatch.setattr(machine.ctypes, "CDLL", lambda name: Cuda())
    driver = machine.find_driver()
    assert (driver.cuda, driver.gpus) == ((13, 1), (H100,))
    monkeypatch.setattr(Cuda, "start", 100)
    with pytest.raises(DriverError, match="cuInit: no CUDA-capable device"):
        machine.find_driver()
    monkeypatch.setattr(machine.ctypes, "CDLL", lambda name: object())
    with pytest.raises(DriverError, match="no cuInit"):
        machine.find_driver()


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("print(45)", "ready: "),
        ("print(44)", "failed: 44"),
        ("raise ImportError('no libcudf.so')", "failed: ImportError: no libcudf.so"),
        (f"import os; os.kill(os.getpid(), {9 if os.name == 'posix' else 15})", "exit code -9"),
    ],
)
def test_the_trial_cannot_crash_the_doctor(monkeypatch, code, verdict):
    monkeypatch.setattr(machine, "_TRIAL", code)
    assert verdict in machine._trial()


def test_rapids_doctor_finds_the_check_and_hears_of_a_failure(monkeypatch):
    """rapids-cli calls what an entry point names, shows a sentence, and catches exceptions."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    check = resolve_name(project["entry-points"]["rapids_doctor_check"]["rapids_tc"])
    assert check.__doc__.splitlines()[0].endswith(".")
    monkeypatch.setattr(machine, "_TRIAL", "print(45)")
    assert check(verbose=True, gpu_info=None) == "ready: a trial count on the GPU was right"
    monkeypatch.setattr(machine, "_TRIAL", "raise OSError('no device')")
    with pytest.raises(DriverError, match=r"not usable: .* OSError: no device"):
        check(verbose=False, gpu_info=None)


ACCOUNTS = "bank,acct,bank2,acct2\n1,5,1,6\n1,6,2,5\n2,5,1,5\n"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (ACCOUNTS, ("bank", "acct", "bank2", "acct2")),
        (ACCOUNTS, ("1", "acct", "3", "4")),
        (ACCOUNTS.partition("\n")[2], ("1", "2", "3", "4")),
        (ACCOUNTS.replace("5", "x"), ("bank", "acct", "bank2", "acct2")),
        (ACCOUNTS.replace(",5", ",05"), ("bank", "acct", "bank2", "acct2")),
        ("acct,bank2,bank,acct2\n5,1,1,6\n6,2,1,5\n5,1,2,5\n", ("bank", "acct", "bank2", "acct2")),
    ],
)
def test_ids_of_several_columns_are_given_by_repeating_the_option(tmp_path, text, ends):
    path = tmp_path / "accounts.csv"
    path.write_text(text)
    typed = ["--source", ends[0], "--source", ends[1], "--destination", ends[2], "--destination",
             ends[3], "--quiet"]  # fmt: skip
    answer = json.loads(run("count", path, *typed, "--json").stdout)
    assert [answer[name] for name in ("vertices", "edges", "triangles")] == [3, 3, 1]
    assert len(run("vertex", path, *typed).stdout.splitlines()) == 4
    assert run("edge", path, *typed).stdout.splitlines()[1].endswith(",1")
    assert len(run("list", path, *typed).stdout.splitlines()) == 2
    assert "ids of one column" in run("vertex", path, *typed, "--vertices", "1").stderr


def test_vertices_are_typed_as_csv(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('src,dst\n"Doe, J",b\nb,c\nc,"Doe, J"\nc,d\n')
    done = run("vertex", path, "--quiet", "--vertices", 'd, "Doe, J",d')
    assert done.stdout.splitlines() == ["vertex,triangles", "d,0", '"Doe, J",1', "d,0"]
    path.write_text("src,dst\n1,2\n2,3\n")
    assert run("vertex", path, "--quiet", "--vertices", "3\n+1").stdout.endswith("\n3,0\n1,0\n")


@pytest.mark.parametrize("typed", ["", "1,", "1; 2", "a", "1.0", "1_0"])
def test_vertices_that_are_no_integers_are_named(tmp_path, typed):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n1,2\n2,3\n")
    done = run("vertex", path, "--quiet", "--vertices", typed)
    assert done.exit_code == 2
    assert f"{typed.removeprefix('1,')!r} is no integer, as the ids are" in done.stderr
    assert done.stderr.startswith("error: --vertices")


def test_ids_of_several_columns_need_as_many_for_both_ends(tmp_path):
    path = tmp_path / "accounts.csv"
    path.write_text(ACCOUNTS)
    two = ("--source", "bank", "--source", "acct")
    done = run("count", path, *two, "--destination", "bank2")
    assert done.exit_code == 2
    assert (
        "--source is given for 2 columns and --destination for 1: an id of several" in done.stderr
    )
    done = run("bench", path, *two, "--destination", "bank2", "--destination", "acct2")
    assert "ids of several columns are not taken here: give --source once" in done.stderr


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("count", ("--separator", ",", "--separator", ";")),
        ("count", ("--header", "--no-header")),
        ("count", ("--time", "t", "--within", "1", "--time", "u")),
        ("vertex", ("--vertices", "1", "--vertices", "2")),
        ("truss", ("--k", "3", "--k", "4")),
        ("list", ("--out", "a.csv", "--out", "b.csv")),
        ("bench", ("--repeat", "1", "--repeat", "2")),
    ],
)
def test_an_option_of_one_value_is_given_once(tmp_path, command, typed):
    """Before the file is read, which is not there; never the last alone in silence."""
    done = run(command, tmp_path / "unread.csv", *typed)
    assert done.exit_code == 2
    assert re.search(rf"Option '{typed[0]}' is given 2 times", done.stderr)
    done = run("datasets", "rmat", 3, "--out", tmp_path / "a", "--seed", 1, "--seed", 2)
    assert done.exit_code == 2 and "Option '--seed' is given 2 times" in done.stderr
