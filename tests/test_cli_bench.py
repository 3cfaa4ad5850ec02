"""``rapids-tc bench``: every contestant once, the fastest told, and what cannot run said."""

import csv
import io
import json
from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner
from emulator_support import compiler  # noqa: F401 - a fixture
from needs import need

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.bench import OTHER_LIBRARIES, installed
from rapids_tc.cli import bench, main
from rapids_tc.datasets import karate
from rapids_tc.graphs.in_memory import InMemoryGraph

pytestmark = pytest.mark.cpu_only
command = __import__("rapids_tc.cli.bench", fromlist=["bench"])


def run(*arguments):
    return CliRunner().invoke(main, ["bench", *map(str, arguments)])


@pytest.fixture
def karate_file(tmp_path):
    path = tmp_path / "karate.csv"
    karate().to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(command, "has_gpu", lambda: False)


def figures(done):
    return {(line["tool"], line["what"]): line for line in json.loads(done.stdout)["figures"]}


def test_json(karate_file):
    done = run(karate_file, "--json", "--repeat", 3)
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["file"], answer["rows"], answer["triangles"]) == (str(karate_file), 78, 45)
    found = figures(done)
    tools = {"rapids_tc cpu auto", *installed("cpu")}
    assert found.keys() == {(tool, what) for tool in tools for what in command.FIGURES}
    for line in found.values():
        assert 0 < line["least"] <= line["seconds"] <= line["most"] and line["first"] > 0
        assert (line["calls"], line["remark"]) == (3, "")
    assert done.stderr.startswith("guessed: ")


def test_csv(karate_file):
    done = run(karate_file, "--out", "-", "--repeat", 1)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["tool"], row["what"]) for row in rows[:2]] == [
        ("rapids_tc cpu auto", "count"),
        ("rapids_tc cpu auto", "frame to count"),
    ]
    assert all(float(row["seconds"]) > 0 for row in rows)


def test_as_is_an_old_name(karate_file):
    for shape, today in (("json", "--json"), ("csv", "--out -"), ("table", "left out")):
        done = run(karate_file, "--as", shape, "--repeat", 1, "--limit", 1)
        assert f"deprecated: --as {shape} is now {today}" in done.stderr
        if shape == "json":
            assert [line["what"] for line in json.loads(done.stdout)["figures"]] == ["count"]
        else:
            assert len(done.stdout.splitlines()) == 2 + 2 * (shape == "table")


def test_the_table_begins_with_the_fastest(karate_file):
    done = run(karate_file)
    lines = done.stdout.splitlines()
    assert "count stage" in lines[0] and "frame to count" in lines[0] and "least" in lines[0]
    tools = [line.split("  ")[0] for line in lines[1:-2]]
    assert set(tools) == {"rapids_tc cpu auto", *installed("cpu")}
    assert lines[-2].startswith("fastest, count stage: ")
    assert lines[-1] == f"fastest, frame to count: {tools[0]}"


def test_seconds_are_readable():
    shown = [command._seconds(value) for value in (None, 1.234e-5, 0.0123, 0.9, 12.345)]
    assert shown == ["", "0.0123 ms", "12.3 ms", "900 ms", "12.3 s"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "polak"], "error: --method polak names a CUDA kernel and needs a GPU"),
        (["--engine", "cpu", "--method", "auto", "--method", "trust"], "error: --method trust"),
        (["--method", "no-such"], "error: --method 'no-such' is not known; choose auto"),
        (["--engine", "cuda"], 'error: --engine "cuda" needs'),
        (["--repeat", "0"], "0 is not in the range x>=1"),
        (["--patience", "0"], "0.0 is not in the range x>0"),
        (["--out", "figures.xls"], "error: --out figures.xls: the suffix says how"),
        (["--json", "--out", "x.csv"], "error: --json goes to stdout"),
    ],
)
def test_what_cannot_run_is_told_before_the_file_is_read(arguments, words):
    done = run("unread.csv", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr.splitlines()[-1]


def test_on_a_gpu_all_methods_and_the_cpu_engine(monkeypatch, karate_file):
    """What would be timed on a machine with a GPU, with the emulator as the GPU."""
    made = []
    monkeypatch.setattr(command, "has_gpu", lambda: True)
    monkeypatch.setattr(command, "ours", lambda engine, methods: made.append((engine, [*methods])))
    every = ["auto", *tc.methods()["name"]]
    for arguments, expected in [
        ((None, ()), [("cuda", every), ("cpu", ["auto"])]),
        (("cuda", ()), [("cuda", every)]),
        ((None, ("trust", "polak", "trust")), [("cuda", ["trust", "polak"])]),
        (("cpu", ()), [("cpu", ["auto"])]),
    ]:
        made.clear()
        command._contestants(*arguments)
        assert made == expected


@pytest.mark.usefixtures("compiler")
def test_methods_on_the_emulator(karate_file):
    with testing.host_engine():
        done = run(
            karate_file, "--engine", "cuda", "--method", "polak", "--method", "binary_search",
            "--json", "--repeat", 1,
        )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    tools = {tool for tool, _ in figures(done)}
    assert {"rapids_tc cuda polak", "rapids_tc cuda binary_search"} <= tools
    assert "cugraph" not in tools and json.loads(done.stdout)["triangles"] == 45


def test_a_table_is_of_plain_characters(karate_file):
    """For terminals and files that know no others."""
    done = run(karate_file, "--repeat", 1)
    assert done.exit_code == 0 and done.stdout.isascii()


def test_patience_is_a_number(karate_file):
    for wrong in ("nan", "0", "-1"):
        assert run(karate_file, "--patience", wrong).exit_code == 2


def test_a_wrong_answer_is_an_error(monkeypatch, karate_file):
    from rapids_tc.engines.cpu import engine as cpu

    right = cpu.count
    monkeypatch.setattr(cpu, "count", lambda *given, **more: right(*given, **more) + 1)
    need("networkx" in installed("cpu"), "NetworkX, to disagree with")
    done = run(karate_file, "--repeat", 1)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "disagree on triangles: 46 says rapids_tc cpu auto, 45 says" in done.stderr


def test_what_takes_too_long_or_too_much_is_a_remark(monkeypatch, karate_file):
    assert (
        "left out: of more than"
        in command._other_libraries(10**7, command._contestants(None, ()))[1][0].remark
    )

    def fail(*given, **more):
        raise MemoryError

    monkeypatch.setattr(InMemoryGraph, "count", fail)
    found = figures(run(karate_file, "--patience", 1e-9, "--json"))
    assert found["rapids_tc cpu auto", "count"]["remark"] == "out of memory"
    assert found["networkx", "count"]["seconds"] is None
    assert found["networkx", "count"]["remark"].endswith("patience is 1e-09 s")
    assert run(karate_file, "--patience", 1e-9).exit_code == 0  # nobody is fastest


@pytest.mark.parametrize(
    ("error", "remark"),
    [
        (MemoryError(), "out of memory"),
        (RuntimeError("std::bad_alloc:\n no memory"), "failed: std::bad_alloc: no memory"),
        (ImportError("no libcuda"), "failed: no libcuda"),
        (ZeroDivisionError(), "failed: ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("step", ["convert", "build", "count", "frame to count"])
def test_whoever_fails_is_a_remark_and_the_others_are_timed(
    monkeypatch, karate_file, step, error, remark
):
    def fail(given):
        raise error

    def broken():
        made = contestant()
        if step in ("convert", "build"):
            return replace(made, **{step: fail})
        jobs = (replace(job, call=fail) for job in (*made.stages, *made.whole) if job.what == step)
        return replace(made, **{"stages" if step == "count" else "whole": tuple(jobs)})

    contestant = OTHER_LIBRARIES["networkx"]
    monkeypatch.setitem(OTHER_LIBRARIES, "networkx", broken)
    monkeypatch.setattr(command, "installed", lambda engine: ["networkx"])
    done = run(karate_file, "--json", "--repeat", 1)
    found = figures(done)
    assert done.exit_code == 0
    assert found["rapids_tc cpu auto", "frame to count"]["seconds"] > 0
    remarks = {
        line["what"]: line["remark"] for (tool, _), line in found.items() if tool == "networkx"
    }
    failed = command.FIGURES if step in ("convert", "build") else (step,)
    assert remarks == {what: remark if what in failed else "" for what in command.FIGURES}


def test_progress_is_told(monkeypatch, karate_file):
    told = []

    class Report(command.Report):
        def advance(self, done, note=""):
            told.append((done, note))

        def close(self):
            told.append("closed")

    monkeypatch.setattr(command, "Report", Report)
    assert run(karate_file, "--repeat", 1).exit_code == 0
    assert told.pop() == "closed" and told[0] == (0.0, "rapids_tc cpu auto, count")
    assert [done for done, _ in told] == sorted(done for done, _ in told) and told[-1][0] < 1


def test_ids_of_text(tmp_path):
    path = tmp_path / "edges.csv"
    pd.DataFrame({"src": [*"abca"], "dst": [*"bcad"]}).to_csv(path, index=False)
    done = run(path, "--json", "--repeat", 1)
    assert json.loads(done.stdout)["triangles"] == 1, done.stderr


def test_help():
    assert bench is main.commands["bench"]
    assert all(name in run("--help").stdout for name in ("--method", "--patience", "--json"))
    assert "--as" not in run("--help").stdout
    assert set(installed("cpu")) <= OTHER_LIBRARIES.keys() - {"cugraph"}
