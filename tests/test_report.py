"""The figures that the README shows are those that were measured."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
report = __import__("report")


def test_the_readme_shows_the_results():
    assert (ROOT / "README.md").read_text().endswith(f"\n## Speed\n{report.tables()}")


def test_every_figure_says_where_it_was_measured():
    for file in sorted((ROOT / "benchmarks" / "results").glob("*.jsonl")):
        for line in report.read(file.name):
            assert line["commit"] and line["command"] and line["versions"] and line["date"]
            assert line["least"] <= line["seconds"] <= line["most"] and line["repeat"] >= 1
            assert ("card" in line) == ("--library cudf" in line["command"])
            assert "card" not in line or line["driver"]
