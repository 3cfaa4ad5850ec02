"""A command for every function: what it writes, its options, and how it ends."""

import gzip
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rapids_tc as tc
from rapids_tc.bench import OTHER_LIBRARIES
from rapids_tc.cli import analytics, main, output, reading, tables
from rapids_tc.cli.output import Command
from rapids_tc.datasets import karate
from rapids_tc.plan.record import ANALYTICS, Result

pytestmark = pytest.mark.cpu_only
CLUB = karate()


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def karate_file(tmp_path):
    path = tmp_path / "karate.csv"
    CLUB.to_csv(path, index=False)
    return path


def table(done, **options):
    assert done.exit_code == 0, done.output
    return pd.read_csv(io.StringIO(done.stdout), **options)


def assert_same(found, expected):
    pd.testing.assert_frame_equal(
        found, expected.reset_index(drop=True), check_dtype=False, rtol=1e-12
    )


# What is typed, and the answer of the function.
COMMANDS = {
    "vertex": lambda: tc.vertex_triangles(CLUB),
    "vertex-triangles --vertices 33,0": lambda: tc.vertex_triangles(CLUB, vertices=[33, 0]),
    "edge": lambda: CLUB.assign(triangles=tc.edge_triangles(CLUB)),
    "vertex-cliques --vertices 33,0": lambda: tc.vertex_cliques(CLUB, vertices=[33, 0]),
    "graphlets --vertices 33,0": lambda: tc.graphlets(CLUB, vertices=[33, 0]),
    "graphlet-counts": lambda: tc.graphlet_counts(CLUB),
    "project --side destination --at-least 2 --measure ratio": lambda: tc.project(
        CLUB, side="destination", at_least=2, measure="ratio"
    ),
    "vertex-squares --bipartite": lambda: tc.vertex_squares(CLUB, bipartite=True),
    "most-similar --top 3 --vertices 33,0": lambda: tc.most_similar(CLUB, 3, vertices=[0, 33]),
    "edge-cliques --k 5": lambda: CLUB.assign(cliques=tc.edge_cliques(CLUB, k=5)),
    "similarity": lambda: CLUB.assign(jaccard=tc.similarity(CLUB)),
    "similarity --measure cosine": lambda: CLUB.assign(
        cosine=tc.similarity(CLUB, measure="cosine")
    ),
    "trussness": lambda: CLUB.assign(trussness=tc.trussness(CLUB)),
    "k-truss --k 4": lambda: tc.k_truss(CLUB, 4),
    "truss-communities --k 4": lambda: tc.truss_communities(CLUB, 4),
    "truss-communities --k 3 --connected edges": lambda: tc.truss_communities(
        CLUB, 3, connected="edges"
    ),
    "truss-hierarchy": lambda: tc.truss_hierarchy(CLUB).astype({"parent": "float"}),
    "simple-edges": lambda: tc.simple_edges(CLUB),
    "clustering --directed": lambda: tc.clustering(CLUB, directed=True),
    "triads": lambda: tc.triad_counts(CLUB),
    "approximate --colors 1 --seed 3": lambda: pd.DataFrame(
        {"value": [45], "stderr": [0.0], "low": [45.0], "high": [45.0]}
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_what_its_function_says(karate_file, command):
    done = run(*command.split(), karate_file)
    assert_same(table(done), COMMANDS[command]())
    assert done.stderr.startswith("guessed: ")


def test_annotate_takes_the_columns_behind_the_file(karate_file):
    done = run("annotate", karate_file, "triangles", "overlap")
    assert_same(table(done), tc.annotate(CLUB, "triangles", "overlap"))


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("transitivity", tc.transitivity(CLUB)),
        ("average-clustering", tc.average_clustering(CLUB)),
        ("average --no-count-zeros", tc.average_clustering(CLUB, count_zeros=False)),
        ("transitivity --directed", tc.transitivity(CLUB, directed=True)),
    ],
)
def test_a_number_is_printed_or_written(tmp_path, karate_file, command, value):
    assert float(run(*command.split(), karate_file).stdout) == pytest.approx(value, abs=1e-15)
    out = tmp_path / "number.csv"
    run(*command.split(), karate_file, "--out", out)
    assert pd.read_csv(out).iloc[0, 0] == pytest.approx(value, abs=1e-12)


def test_the_count_is_called_as_with_groups(karate_file):
    assert run("count", karate_file, "--out", "-").stdout == "triangles\n45\n"


def test_every_function_has_a_command_and_every_option_its_own():
    for name, record in ANALYTICS.items():
        if record.result is Result.TRIANGLES or record.by_frames:
            continue
        command = main.commands[name.replace("_", "-")]
        names = {parameter.name for parameter in command.params}
        own = set(record.defaults) - set(analytics.UNTYPED)
        assert own | {"file", "source", "destination", "engine", "memory_limit", "out"} <= names
        assert "by" in names and ("method" in names) == record.takes_method
        options = [p for p in command.params if isinstance(p, click.Option)]
        assert all(option.help for option in options), name
        summary = inspect.getdoc(record.call).split("\n")[0]
        assert command.help.startswith(summary) or name == "count"


GROUPS = main.commands, main.commands["datasets"].commands
LONG = [c for group in GROUPS for c in group.values() if isinstance(c, Command) and not c.hidden]
OF_FILES = [command for command in LONG if command.params[0].name == "file"]


@pytest.mark.parametrize("command", LONG, ids=lambda command: command.name)
def test_an_example_is_right_and_options_are_in_groups(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    of_datasets = ["datasets"] * (command not in main.commands.values())
    shown = run(*of_datasets, command.name, "--help").stdout
    typed = [*of_datasets, command.name, *["edges.csv"] * (command in OF_FILES), command.example]
    assert f"Example:\n  main {' '.join(typed)}".rstrip() in shown
    headings = [line for line in shown.splitlines() if re.fullmatch(r"[A-Z][\w ]+:", line)]
    groups = output._GROUPS if command in OF_FILES else ("What is written",)
    assert headings[-1 - len(groups) :] == [f"{name}:" for name in (*groups, "Example")]
    assert {"--json", "--limit", "--out", "--force"} <= {*shown.split()}
    done = run(*" ".join(typed).split())
    if command in OF_FILES:
        assert "No such file" in done.stderr  # the options are checked before
    else:
        assert done.exit_code == 0 and done.stderr == ""


def test_k_is_taken_behind_the_file(karate_file):
    for command, k in (("k-truss", 4), ("truss-communities", 4), ("cliques", 5), ("most", 2)):
        option = "--top" if command == "most" else "--k"
        expected = run(command, karate_file, option, k).stdout
        assert expected and run(command, karate_file, k).stdout == expected
        done = run(command, karate_file, k, option, k)
        assert done.exit_code == 2 and "is given behind FILE and by" in done.stderr
    assert run("cliques", karate_file).stdout == run("cliques", karate_file, "--k", 4).stdout
    assert "Missing argument 'K'" in run("k-truss", karate_file).stderr


def test_json_has_an_object_per_row(karate_file):
    records = json.loads(run("vertex", karate_file, "--json", "--limit", 3).stdout)
    assert records == tc.vertex_triangles(CLUB).head(3).to_dict("records")
    assert json.loads(run("list", karate_file, "--json", "--vertices", "9").stdout) == []
    assert json.loads(run("transitivity", karate_file, "--json").stdout) == {
        "transitivity": tc.transitivity(CLUB)
    }
    parents = [row["parent"] for row in json.loads(run("truss-h", karate_file, "--json").stdout)]
    assert parents == [None, 0, None, 0, None]
    assert "leave out --json" in run("vertex", "unread", "--json", "--out", "x.csv").stderr


def test_what_is_told_comes_as_json_and_as_a_table_too(tmp_path):
    of_doctor = json.loads(run("doctor", "--json", "--limit", 1).stdout)
    assert of_doctor == [{"part": "rapids_tc", "finding": tc.__version__}]
    assert len(run("doctor", "--limit", 2).stdout.splitlines()) == 2
    rows = json.loads(run("functions", "--json").stdout)
    assert {row["function"] for row in rows} == {*ANALYTICS}
    assert run("functions", "--out", tmp_path / "f.csv", "--limit", 3).stdout == ""
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "f.csv"), pd.DataFrame(rows[:3]))
    assert run("functions", "--out", "-").stdout.startswith("function,answer,")
    assert len(run("functions", "--limit", 4).stdout.splitlines()) == 4
    some = json.loads(run("datasets", "karate", "--json", "--limit", 2).stdout)
    assert some == CLUB.head(2).to_dict("records")
    assert run("datasets", "rmat", 3, "--limit", 2, "--out", tmp_path / "g.npz").exit_code == 0
    assert len(np.load(tmp_path / "g.npz")["src"]) == 2


def test_a_terminal_gets_a_table_for_the_eye(monkeypatch, karate_file):
    monkeypatch.setattr(tables, "_on_terminal", lambda: True)
    done = run("edge", karate_file)
    lines = done.stdout.splitlines()
    assert lines[:2] == [" src  dst  triangles", "   0    1          7"] and len(lines) == 51
    assert "the first 50 rows: --limit N" in done.stderr
    assert len(run("edge", karate_file, "--limit", 60).stdout.splitlines()) == 61
    assert run("list", karate_file, "--vertices", "9").stdout == "u  v  w\n"
    assert run("edge", karate_file, "--out", "-").stdout.startswith("src,dst,triangles\n")


def test_a_file_that_is_there_is_replaced_by_force_alone(tmp_path, karate_file):
    out = tmp_path / "old.csv"
    for command in (["vertex", karate_file], ["list", karate_file], ["datasets", "karate"]):
        out.write_text("mine")
        done = run(*command, "--out", out)
        assert (done.exit_code, out.read_text()) == (2, "mine")
        assert "old.csv: is there already; --force replaces it" in done.stderr
        assert run(*command, "--out", out, "--force").exit_code == 0
        assert out.read_text() != "mine"


def test_list_takes_the_options_of_its_function(tmp_path, karate_file):
    some = table(run("list", karate_file, "--vertices", "5,31"))
    assert_same(some, tc.list_triangles(CLUB, vertices=[5, 31]))
    grouped = tmp_path / "days.csv"
    CLUB.assign(day=CLUB.index % 2).to_csv(grouped, index=False)
    found = table(run("list", grouped, "--by", "day", "--memory-limit", "1GB"))
    assert_same(found, tc.list_triangles(pd.read_csv(grouped), by="day"))


@pytest.mark.parametrize("value", ["nonsense", "-1"])
def test_errors_have_no_words_of_python(karate_file, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong, words = [], re.compile(r"None|DataFrame|True|False|Graph\(|\bedges\)|\b\w+=(?!1\.)|\['")
    for command in main.commands.values():
        if command not in OF_FILES:
            continue
        for option in command.params:
            if isinstance(option, click.Option) and not option.is_flag:
                typed = [option.opts[-1], value]
                done = run(command.name, karate_file, *command.example.split(), *typed)
                if words.search(done.stderr.replace("x>=1", "")):
                    wrong.append((command.name, typed, done.stderr))
    assert wrong == []


def test_the_beginning_of_a_name_is_enough_if_there_is_one():
    for typed in ("vertex", "triads", "edges", "approximate"):
        assert run(typed, "--help").exit_code == 0
    for typed in ("triangles", "tr", "nothing", "k"):
        assert run(typed, "--help").exit_code == 2


def test_isolated_vertices_of_the_file_count(tmp_path):
    path = tmp_path / "g.graph"
    path.write_text("4 3\n2 3\n1 3\n1 2\n\n")
    assert table(run("triads", path))["count"].tolist() == [0, 3, 0, 1]
    assert len(table(run("vertex", path))) == 4


KINDS = {
    "--time t --within 9 --edge-type kind --types 1,2,*": {
        "time": "t", "within": 9, "edge_type": "kind", "types": (1, 2, None)},
    "--sign w --unbalanced": {"sign": "w", "balanced": False},
    "--sign w --balanced --aggregate first": {
        "sign": "w", "balanced": True, "aggregate": "first"},
    "--vertex-type types.csv --types 0,*,1": {
        "vertex_type": {v: v % 2 for v in range(9)}, "types": (0, None, 1)},
}  # fmt: skip


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize(
    "command", ["count", "edge-triangles", "clustering", "list", "annotate-vertices"]
)
def test_triangles_of_a_kind(tmp_path, command, options, monkeypatch):
    """A type is written as text, and is what the column holds."""
    monkeypatch.chdir(tmp_path)
    types = pd.DataFrame({"vertex": range(9), "type": [v % 2 for v in range(9)]})
    types.to_csv(tmp_path / "types.csv", index=False)
    random = np.random.default_rng(0)
    src, dst, t, kind = random.integers(0, [[9], [9], [20], [4]], (4, 60))
    frame = pd.DataFrame({"src": src, "dst": dst, "t": t, "kind": kind})
    frame["w"] = random.choice([-1, 1], 60)
    frame.to_csv(path := tmp_path / "edges.csv", index=False)
    columns = ["clustering", "triangles"] if command == "annotate-vertices" else []
    found = run(command, path, *columns, *options.split())
    name = "list_triangles" if command == "list" else command.replace("-", "_")
    where, ids = tc.Triangles(**KINDS[options]), {"source": "src", "destination": "dst"}
    right = getattr(tc, name)(frame, *columns, where=where, **ids)
    if command == "count":
        assert int(found.stdout) == right > 0
    elif command in ("list", "annotate-vertices"):
        assert_same(table(found), right)
    else:
        column = right if command == "edge-triangles" else right["clustering"]
        assert table(found)[column.name].tolist() == pytest.approx(column.tolist())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("text", [False, True])
def test_types_of_vertices_are_read_from_a_file(tmp_path, kind, text):
    """Some types are numbers and the last is a word, so that all are text; so may ids be."""
    named = (lambda v: f"v{v}") if text else int
    edges, types = CLUB.map(named), [*map(str, range(33)), "last"]
    types = pd.DataFrame({"type": types, "vertex": [named(v) for v in range(34)]})
    path, beside = tmp_path / f"edges.{kind}", tmp_path / f"types.{kind}"
    for frame, to in ((edges, path), (types, beside)):
        frame.to_csv(to, index=False) if kind == "csv" else frame.to_parquet(to)
    found = table(run("triangles-by-type", path, "--vertex-type", beside), dtype=str)
    right = tc.triangles_by_type(edges, vertex_type=types)
    assert found.astype({"triangles": int}).to_dict() == right.astype({"triangles": int}).to_dict()
    done = run("count", path, "--vertex-type", beside, "--types", "last,*,*")
    assert int(done.stdout) == tc.vertex_triangles(CLUB, vertices=[33])["triangles"].iloc[0]


def test_errors_of_a_file_of_types(tmp_path, karate_file):
    (beside := tmp_path / "types.csv").write_text("vertex,kind\n0,a\n")
    done = run("triangles-by-type", karate_file, "--vertex-type", beside)
    assert done.exit_code == 2 and "'type'" in done.stderr
    beside.write_text("vertex,type\n0,a\n1,b\n")
    done = run("triangles-by-type", karate_file, "--vertex-type", beside)
    assert done.exit_code == 2 and "--vertex-type has no type for 32 of the vert" in done.stderr
    done = run("count", karate_file, "--vertex-type", beside)
    assert done.exit_code == 2 and "--types goes together with either" in done.stderr


# Options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["count", "--method", "nothing"], "--method 'nothing'"),
        (["count", "--method", "polak"], "only --method \"auto\" counts"),
        (["count", "--engine", "cuda"], 'needs cuDF and CuPy'),
        (["count", "--within", "5"], "--time"),
        (["k-truss", "--k", "1"], '--k 1; accepted: an integer from 2 on, or "max"'),
        (["truss", "--k", "most"], "--k 'most'"),
        (["clustering", "--aggregate", "sum"], "give --weight as well"),
        (["clustering", "--weight", "w", "--aggregate", "median"], "--aggregate 'median'"),
        (["balance"], "--sign"),
        (["approximate-count", "--seed", "1", "--colors", "0"], "--colors 0"),
        (["triangles-by-type"], "give either --edge-type or --vertex-type, the types"),
        (["annotate"], "names no column to add"),
        (["vertex", "--out", "x.txt"], "--out x.txt: the suffix says how"),
        (["count", "--memory-limit", "0"], "--memory-limit"),
        (["count", "--memory-limit", "1 giga"], "'1 giga' is no size above 0, such as 2GB"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_are_checked_before_the_file_and_named_as_typed(tmp_path, arguments, words):
    """The file is not there: an option that is wrong is told first."""
    done = run(*arguments, tmp_path / "unread.csv")
    assert done.exit_code == 2 and words in done.stderr
    assert "No such file" not in done.stderr and "guessed" not in done.stderr


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("'x' is not an integer (ids=string takes any text)",
         "'x' is not an integer (--ids string takes any text)"),
        ("source= and destination=; the frame", "--source and --destination; the frame"),
        ("Graph(vertices=[1]) adds", "Graph(vertices=[1]) adds"),
        ("comment='' (--comment '') reads", "--comment '' reads"),
        ("memory_limit=5 is too few", "--memory-limit 5 is too few"),
        ("a=1, resource=2, mysource=3", "a=1, resource=2, mysource=3"),
    ],
)  # fmt: skip
def test_messages_name_options_as_they_are_typed(text, typed):
    assert output.as_typed(text, main) == typed


def test_an_unknown_id_says_what_to_type(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("1,2\n2,3\n3,x\n")
    assert "--ids string" in run("count", path).stderr


# Streams ------------------------------------------------------------------------------------------


def test_quiet_prints_the_answer_alone_and_still_errors(karate_file, tmp_path):
    for command in ("count", "vertex", "transitivity", "trussness", "list"):
        assert run(command, "--quiet", karate_file).stderr == ""
        assert run(command, "-q", karate_file).stdout != ""
    assert run("count", karate_file).stderr.startswith("guessed: ")  # it is of one call
    assert "No such file" in run("count", "-q", tmp_path / "none").stderr


def test_quiet_shows_no_bar(monkeypatch, karate_file):
    from rapids_tc import _progress

    shown = []
    monkeypatch.setattr(_progress, "on_terminal", lambda: True)
    monkeypatch.setattr(reading, "Report", lambda progress: shown.append(_progress.Report(progress))
                        or shown[-1])  # fmt: skip
    run("count", karate_file, "--quiet")
    run("count", karate_file)
    assert [report._timer is not None for report in shown] == [False, True]


def test_a_dash_is_stdout_and_gz_is_compressed_with_commas(tmp_path, karate_file):
    expected = run("vertex", karate_file).stdout
    assert run("vertex", karate_file, "--out", "-").stdout == expected
    out = tmp_path / "vertices.csv.gz"
    assert run("vertex", karate_file, "--out", out).exit_code == 0
    assert gzip.decompress(out.read_bytes()).decode() == expected
    rows = tmp_path / "rmat.csv.gz"
    assert run("datasets", "rmat", 4, "--out", rows).exit_code == 0
    assert gzip.decompress(rows.read_bytes()).startswith(b"src,dst\n")


@pytest.mark.parametrize("suffix", ["", ".csv", ".npz", ".txt", ".parquet"])
def test_the_karate_club(tmp_path, suffix):
    if not suffix:
        assert_same(table(run("datasets", "karate")), CLUB)
        return
    out = tmp_path / f"club{suffix}"
    assert run("datasets", "karate", "--out", out).exit_code == 0
    assert "triangles     45" in run("count", out).stdout


def test_bench_says_what_it_cannot_time(monkeypatch, karate_file):
    from rapids_tc.bench import other_libraries

    monkeypatch.setattr(other_libraries, "find_spec", lambda name: None)
    command = __import__("rapids_tc.cli.bench", fromlist=["bench"])
    monkeypatch.setattr(command, "has_gpu", lambda: False)
    done = run("bench", karate_file, "--repeat", 1)
    missing = ", ".join(name for name in OTHER_LIBRARIES if name != "cugraph")
    assert f"not installed, so not timed: {missing}" in done.stderr
    assert "rapids_tc cpu auto" in done.stdout


# Ends ---------------------------------------------------------------------------------------------


def test_ctrl_c_ends_with_130_and_one_line(monkeypatch, karate_file):
    def stopped(*args, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "read_edges", stopped)
    for command in ("count", "vertex"):
        done = run(command, karate_file)
        assert (done.exit_code, done.stdout, done.stderr.strip()) == (130, "", "interrupted")


@pytest.mark.skipif(os.name != "posix", reason="no such signals here")
def test_ctrl_c_in_a_process(tmp_path):
    """It waits for its stdin, a pipe that says nothing, and is stopped there."""
    pipe = tmp_path / "edges.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "rapids_tc", "count", pipe], stderr=subprocess.PIPE, text=True
    )
    writer = os.open(pipe, os.O_WRONLY)  # returns once the command has opened the pipe
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    os.close(writer)
    assert (process.returncode, told.strip()) == (130, "interrupted")


def test_the_package_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "rapids_tc", "--version"], capture_output=True, text=True
    )
    assert done.stdout == f"rapids-tc, version {tc.__version__}\n"


@pytest.mark.parametrize("ids", [[33, 0, 5], ["x33", "x0", "x5"]], ids=["integers", "text"])
def test_pairs_are_a_file(tmp_path, ids):
    name = "{}" if isinstance(ids[0], int) else "x{}"
    club = CLUB.rename(columns={"src": "from", "dst": "to"})
    club.map(name.format).to_csv(tmp_path / "club.csv", index=False)
    pairs = pd.DataFrame({"src": ids, "dst": ids[::-1], "note": "n"})
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    done = run("similarity", tmp_path / "club.csv", "--pairs", tmp_path / "pairs.csv", "-q")
    numbers = pd.DataFrame({"src": [33, 0, 5], "dst": [5, 0, 33]})
    expected = pairs.assign(jaccard=tc.similarity(CLUB, pairs=numbers))
    assert_same(table(done), expected)
