"""The example that learns: its payments, its columns, and what it prints."""

import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pandas as pd
import pytest
from needs import need_module

need_module("sklearn")
SCRIPT = Path(__file__).parents[1] / "examples" / "laundering.py"
laundering = run_path(str(SCRIPT))
pytestmark = pytest.mark.cpu_only


@pytest.fixture(scope="module")
def frame():
    return laundering["payments"](10_000, 0)


def test_patterns_are_what_they_are_called():
    pairs = laundering["pairs"]
    assert pairs("cycle", [1, 2, 3]) == [(1, 2), (2, 3), (3, 1)]
    assert pairs("fan-in", [1, 2, 3]) == [(1, 3), (2, 3)]
    assert pairs("scatter-gather", [1, 2, 3, 4]) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_amounts_and_hours_do_not_tell_what_is_planted(frame):
    planted = frame["pattern"] != ""
    assert set(frame["pattern"]) == {"", "fan-in", "cycle", "scatter-gather"}
    assert 0.008 < planted.mean() < 0.02
    assert frame["time"].is_monotonic_increasing and (frame["payer"] != frame["payee"]).all()
    by_kind = frame.groupby(planted)
    medians = by_kind["amount"].median()
    assert 1 / 2 < medians[True] / medians[False] < 2
    daily = by_kind["time"].apply(lambda times: times.dt.hour.between(8, 19).mean())
    assert daily.between(0.7, 0.9).all()


def test_no_column_knows_a_later_row(frame):
    whole, sets = laundering["features"](frame)
    early = frame[frame["time"] < "2026-02-01"]
    alone, _ = laundering["features"](early)
    pd.testing.assert_frame_equal(alone, whole.loc[early.index])
    assert all(set(names) <= set(whole) - {"pattern"} for names in sets.values())


def run(*arguments):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_it_prints_a_table_for_each_set_of_columns(tmp_path):
    picture = tmp_path / "laundering.svg"
    done = run("--rows", "10000", "--seeds", "2", "--picture", str(picture))
    assert done.returncode == 0, done.stderr
    assert picture.read_text().startswith("<?xml")
    for name in ("accounts", "+ fans", "+ fans, shapes"):
        lines = done.stdout.split(f"\n{name}\n")[1].splitlines()[:5]
        assert lines[0].split()[:2] == ["F1", "AP"]  # then patterns of the last days
        assert [line.split()[0] for line in lines[1:]] == ["0", "1", "mean", "std"]
        scores = [float(cell) for line in lines[1:] for cell in line.split()[1:3]]
        assert all(0 <= score <= 1 for score in scores)


def test_too_few_rows_are_refused():
    done = run("--rows", "99")
    assert done.returncode == 2 and "--rows is at least 10000" in done.stderr
