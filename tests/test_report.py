"""The figures that the README and STUDY.md show are those that were measured."""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rapids_tc.plan import needs
from rapids_tc.plan.record import estimated

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
report = __import__("report")

CARD = {"card": "NVIDIA H100", "driver": "580.1"}
ORIGIN = {"cpu": "a CPU", "cores": 2, "versions": {"numba": "0.64"}, "commit": "abc", "rows": 1000,
          "command": "python bench.py", "date": "2027-01-01"}  # fmt: skip


def lines(*figures, **origin):
    names = ("graph", "tool", "what")
    return [
        ORIGIN | origin | dict(zip(names, figure, strict=False)) | figure[3] for figure in figures
    ]


def timed(seconds):
    return {"seconds": seconds, "least": seconds, "most": seconds, "repeat": 1, "answer": 5}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """An empty folder of results, and how to put a file there."""
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "PLOTS", tmp_path)

    def write(name, made):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in made))

    return write


def test_the_readme_shows_the_results():
    assert (ROOT / "README.md").read_text().endswith(f"\n## Speed\n{report.tables()}")


def test_the_study_shows_the_results():
    assert report.STUDY.read_text() == report.study()


@pytest.mark.parametrize("argument", ["--help", "--plot", "h100"])
def test_nothing_is_written_where_it_is_not_asked_for(tmp_path, monkeypatch, argument):
    monkeypatch.setattr(report, "HERE", tmp_path / "benchmarks")  # its README.md is not there
    monkeypatch.setattr(report, "STUDY", tmp_path / "STUDY.md")
    done = CliRunner().invoke(report.main, [argument])
    assert done.exit_code == (0 if argument == "--help" else 2), done.output
    assert "--plots" in CliRunner().invoke(report.main, ["--help"]).output
    assert not [*tmp_path.iterdir()]


def test_the_tables_are_written_to_their_places(results, tmp_path, monkeypatch):
    figure = ("rmat:18", "rapids_tc cuda auto", "count", timed(0.002))
    results("study-1.jsonl", lines(figure, **CARD))
    monkeypatch.setattr(report, "HERE", tmp_path / "benchmarks")
    monkeypatch.setattr(report, "STUDY", tmp_path / "STUDY.md")
    readme = tmp_path / "README.md"
    readme.write_text("# Title\n\n## Speed\nold\n")
    assert CliRunner().invoke(report.main, []).exit_code == 0
    assert readme.read_text() == f"# Title\n\n## Speed\n{report.tables()}"
    assert (tmp_path / "STUDY.md").read_text() == report.study()


def test_every_figure_says_where_it_was_measured():
    for file in sorted(report.RESULTS.glob("*.jsonl")):
        for line in report.read(file.name):
            assert line["commit"] and line["command"] and line["versions"] and line["date"]
            if "cuda" in line["tool"] or line["tool"] == "cugraph":
                assert line["card"] and line["driver"]
            if "seconds" in line:
                assert line["least"] <= line["seconds"] <= line["most"] and line["repeat"] >= 1
            else:
                assert {"bytes", "skipped", "counters"} & line.keys(), (
                    "a figure, or why there is none"
                )


def test_all_answers_of_a_results_file_agree():
    for file in sorted(report.RESULTS.glob("*.jsonl")):
        answers = {}
        for line in report.read(file.name):
            assert "failed" not in line, f"{file.name}: {line}"
            if line["what"] in ("count", "frame to count", "cold start"):
                answers.setdefault(line["graph"], set()).add(line.get("answer"))
        assert all(len(found - {None}) <= 1 for found in answers.values()), file.name


def test_three_digits_that_count():
    shown = [report.three(x) for x in (0, 0.00123456, 0.0999, 1, 9.876, 12.345, 999.9, 123456)]
    assert shown == ["0", "0.00123", "0.0999", "1.00", "9.88", "12.3", "1,000", "123,456"]


def test_the_readme_shows_the_newest_of_each_kind(results):
    old = lines(("rmat:18", "rapids_tc cuda auto", "count", timed(0.5)), **CARD)
    new = lines(("rmat:18", "rapids_tc cuda auto", "count", timed(0.25)), **CARD)
    new[0]["remark"] = "Before the change."
    several = lines(("rmat:18", "rapids_tc dask tcp", "frame to count", timed(0.75)), **CARD)
    several[0]["statistic"] = "the least of two"
    results("speed-h200-2026-01-01.jsonl", old)
    assert "| R-MAT 18 | 0.0 M | 500 |" in report.tables()
    results("speed-h200-2026-01-02.jsonl", new)
    results("dask-2026-01-01.jsonl", several)
    results("h200-2026-01-01.jsonl", lines(("rmat:18", "cugraph", "count", timed(9)), **CARD))
    text = report.tables()
    assert "| 250 |" in text and "| 750 |" in text and "| 500 |" not in text
    assert text.count("medians") == text.count("the least of two") == 1
    assert "one GPU" not in text  # of which nothing is known
    assert text.endswith(f"\n\n{report.LINK}\n")
    assert "\n\nBefore the change.\n\n" in report.study()


def test_the_sections_of_the_study(results, tmp_path):
    cuda = "rapids_tc cuda "
    counters = {"warp efficiency": 87.5, "sectors a load": 4.0}
    made = lines(
        ("rmat:18", cuda + "auto", "count", timed(0.002)),
        ("rmat:18", cuda + "polak", "count", timed(0.001)),
        ("rmat:18", cuda + "tricore", "count", timed(0.008)),
        ("rmat:16", cuda + "tricore", "count", timed(0.004) | {"rows": 10}),
        ("rmat:18", cuda + "auto", "frame to count", timed(0.01)),
        ("rmat:18", "cugraph", "frame to count", timed(0.25)),
        ("rmat:18", cuda + "auto", "peak memory", {"bytes": 29_700}),
        ("rmat:18", "cugraph", "peak memory", {"bytes": 101_000}),
        ("rmat:18", cuda + "auto", "cold start", timed(4.0) | {"imports": 3.5}),
        ("rmat:18", cuda + "auto", "frame to trussness", timed(0.2)),
        ("rmat:18", cuda + "radix", "count", {"skipped": "about 9 s, told from rmat:16"}),
        ("rmat:18", cuda + "trust", "ncu, count",
         {"kernel": "trust_wide", "kernel_seconds": 0.003, "launches": 1, "counters": counters}),
        **CARD,
    )  # fmt: skip
    results("study-x.jsonl", made)
    (tmp_path / "study-x-count.png").touch()
    text = report.study()
    rows = {
        heading: re.findall(r"^\|(?! ---)(.*) \|$", body, re.M)
        for heading, body in re.findall(r"^### ([^\n]*)\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    }
    assert rows["Count stage, milliseconds"] == [
        " graph | auto | polak | tricore | auto ÷ best method",
        " R-MAT 16 |  |  | **4.00** | ",
        " R-MAT 18 | 2.00 | **1.00** | 8.00 | 2.00",
    ]
    assert rows["Speed-up of frame to count over cuGraph"][1] == " R-MAT 18 | 25.0"
    assert rows["Speed-up of the count stage over tricore"][2] == " R-MAT 18 | 4.00 | 8.00"
    assert rows["Peak memory on top of the frame, bytes a row"][1] == " R-MAT 18 | 29.7 | 101"
    assert rows["Cold start to answer, seconds"][1] == " R-MAT 18 | auto | cold start | 4.00 | 3.50"
    assert rows["Kernels, by Nsight Compute"][1] == (
        " R-MAT 18 | trust | trust_wide | 3.00 | 87.5 | 4.00"
    )
    assert rows["Other figures, milliseconds"][1] == " rapids_tc: frame to trussness | 200"
    assert "- R-MAT 18: radix (count): about 9 s, told from rmat:16" in text
    assert "![study-x-count](plots/study-x-count.png)" in text


def test_the_error_stands_beside_the_time(results):
    tool, off = "rapids_tc approximate", {"error": 0.0123, "stated": 0.0119, "held": 0.94}
    made = lines(
        ("rmat:18", tool, "exact", timed(0.5)),
        ("rmat:18", tool, "8 colours", timed(0.0625) | off),
        ("rmat:18", "igraph", "count", timed(1)),
    )
    results("approximate-x.jsonl", made)
    text = report.study().partition("### Approximate counts")[2]
    assert "\n| R-MAT 18 | exact | 500 | 1.0 |  |  |  |\n" in text
    assert "\n| R-MAT 18 | 8 colors | 62.5 | 8.0 | 1.2 | 1.2 | 94 |\n" in text
    assert "Other figures" not in text


def test_plots(results, tmp_path):
    plots = __import__("plots")
    cuda = "rapids_tc cuda "
    figures = [
        (graph, cuda + tool, what, timed(seconds))
        for graph, scale in (("rmat:16", 1), ("rmat:18", 4), ("grid:20", 3))
        for tool, seconds in (("auto", 0.001 * scale), ("tricore", 0.004 * scale))
        for what in ("count", "frame to count")
    ]
    counters = {"warp efficiency": 87.5, "sectors a load": 4.0}
    figures += [
        (graph, tool, "peak memory", {"bytes": 500})
        for graph in ("rmat:16", "rmat:18", "grid:20")
        for tool in (cuda + "auto", "cugraph")
    ]
    figures += [
        ("rmat:16", "cugraph", "frame to count", timed(0.1)),
        ("rmat:16", cuda + "trust", "ncu, count",
         {"kernel": "trust_wide", "kernel_seconds": 0.003, "counters": counters}),
    ]  # fmt: skip
    made = plots.draw("study", lines(*figures, **CARD), tmp_path)
    assert [path.stem for path in made] == [
        "study-count", "study-frame-to-count", "study-memory", "study-speed-up", "study-kernels"
    ]  # fmt: skip
    assert all(path.stat().st_size > 10_000 for path in made)
    assert plots.draw("none", lines(("rmat:16", "igraph", "count", timed(1))), tmp_path) == []


NEWEST = max(file.name for file in report.RESULTS.glob("limits-h200-*.jsonl"))
PEAKS = [
    line for line in report.read(NEWEST)
    if line["share"] == 1 and line["ids"] == "int64" and "list" not in line["what"]
]  # fmt: skip


@pytest.mark.parametrize("line", PEAKS, ids=lambda line: line["what"])
def test_estimates_are_upper_bounds_of_what_was_measured_on_a_gpu(line):
    ids = 1 << int(line["graph"].removeprefix("rmat:"))
    name = line["what"].removeprefix("limit: ").split()[0]
    record = estimated()[name]
    own = record.defaults | {"columns": ("triangles",), "colours": 2}
    stages = needs.stages(record.work(own), line["rows"], ids, True, "cuda")
    assert 1 <= max(stage.bytes for stage in stages) / line["bytes"] <= 1.5
