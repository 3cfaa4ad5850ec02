"""The examples of CONTRIBUTING, applied to a copy of the tree as they stand on the page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rapids_tc

pytestmark = pytest.mark.cpu_only

ROOT = Path(__file__).parents[1]
KEEPS = "rapids_tc/engines/cpu/compiled.py"  # whose place is that of compiled code in the cache
STEP = re.compile(
    r"^\d\\\. (?:.*\n)*?.*`([\w/.]+)`:\n\n(`{3,4})(python|diff|markdown)\n((?:.*\n)*?)\2\n", re.M
)
PAGE_TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def steps(heading):
    """{file: (kind, text)} of the steps below a heading."""
    section = PAGE_TEXT.partition(f"## {heading}")[2].partition("\n## ")[0]
    return {file: (kind, text) for file, _, kind, text in STEP.findall(section)}


STEPS = steps("A new analytic")
_, NAMES, DEFINITION, PAGE = STEPS


def written(file, kind, text, tree):
    """One step, done to the tree."""
    path = tree / file
    if kind == "diff":  # lines that come and go behind some that stand once in the file
        place = [], [], []
        for line in [*text.splitlines(), " "]:
            stays, goes, comes = place
            if line.startswith(" ") and (goes or comes):
                old, new = ("".join(f"{each}\n" for each in stays + some) for some in place[1:])
                assert path.read_text().count(old) == 1, old
                path.write_text(path.read_text().replace(old, new))
                place = stays, goes, comes = [], [], []
            {" ": stays, "-": goes, "+": comes}[line[0]].append(line[1:])
    elif path.exists():
        path.write_text(f"{path.read_text()}\n\n{text}")
    else:
        path.write_text(text)


@pytest.fixture
def tree(tmp_path):
    """A copy of what the tests need."""
    for folder in ("rapids_tc", "tests", "docs", "examples", "benchmarks", ".ci"):
        ignored = shutil.ignore_patterns("__pycache__", "_build", "generated", "plots")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff"):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def run(tree, *command):
    """Run a command of Python in the tree."""
    paths = f"{tree}{os.pathsep}{tree / 'tests'}"
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout


def run_tests(tree, *tests):
    """What pytest says of some tests in the tree."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


def apply(steps, tree, ask):
    """Write the files of an example to the tree, make its stub, and ask there.

    If its compiled loops are those of the package, they are not compiled again.
    """
    if not any(file.startswith("rapids_tc/engines/cpu/") for file in steps):
        (tree / KEEPS).unlink()
        (tree / KEEPS).symlink_to(Path(rapids_tc.__file__).parents[1] / KEEPS)
    for file, (kind, text) in steps.items():
        written(file, kind, text, tree)
    run(tree, ".ci/stub.py")
    run(tree, "-c", ask)


WITHOUT_A_PART = [
    "tests/test_house.py::test_every_topic_is_public",
    "tests/test_house.py::test_every_public_name_has_a_record",
    "tests/test_house.py::test_every_record_has_a_definition",
    "tests/test_docs.py::test_every_public_function_has_a_how_to",
]
ASK = """
import sys
import numpy as np, pandas as pd, reference, rapids_tc as tc
from every_path import FRAME, ROWS, PATHS, ENGINES, IDS
from rapids_tc.analytics.overview import overview
from click.testing import CliRunner
from rapids_tc.cli import main

right = reference.by_row(ROWS, reference.hub_depressed(ROWS))
names = "whole", "3 x 3 blocks", "7 partitions", "7 partitions, 2 x 2 blocks"
for engine, name in [*(("cpu", name) for name in names), ("emulated cuda", "3 x 3 blocks")]:
    path = PATHS[name]
    with ENGINES[engine]():
        if not path.partitions:
            found = path.call("hub_depressed", {})
            assert np.allclose(found, right, rtol=0, atol=1e-12), name
        frame = path.call("annotate", {"columns": ("hub_depressed", "triangles")})
        column = pd.concat(getattr(frame, "partitions", [frame]))["hub_depressed"]
        assert np.allclose(column, right, rtol=0, atol=1e-12), name
assert tc.memory_estimate(FRAME, function="hub_depressed", **IDS)["columns"] > 0
tc.register_accessor()
assert np.allclose(FRAME.tc.hub_depressed(**IDS), right)
assert "hub_depressed" in CliRunner().invoke(main, ["functions"]).output
[row] = [row for row in overview() if row.name == "hub_depressed"]
assert row.columns == ("hub_depressed",) and row.in_blocks and not row.distributed
sys.path[:0] = ["docs"]
import conf
assert "hub_depressed" in conf.functions()
"""


def test_the_example_is_right_everywhere(tree):
    apply(STEPS, tree, ASK)
    which = "hub_depressed or not public_name_ and not examples_run and not in_silence"
    done = run_tests(tree, "tests/test_house.py", *WITHOUT_A_PART[-1:], "-k", which)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("parts", [(NAMES,), (DEFINITION, PAGE), ("the record",)])
def test_a_part_that_is_left_out_is_named(tree, parts):
    for file, (kind, text) in STEPS.items():
        if "the record" in parts:
            text = re.sub(r"^@analytic.*\n", "", text, flags=re.M)
        if file not in parts:
            written(file, kind, text, tree)
    done = run_tests(tree, *WITHOUT_A_PART)
    assert done.returncode == 1, done.stdout
    assert "hub_depressed" in done.stdout
    assert done.stdout.count("\nFAILED ") >= len(parts), done.stdout


ASK_FOR_OPTION = """
import inspect
import pandas as pd, polars as pl, rapids_tc as tc
from rapids_tc.plan.record import ANALYTICS

rows = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
for edges in (rows, pl.from_pandas(rows), pl.from_pandas(rows).lazy()):
    assert [tc.count(edges, head=n) for n in (2, 3)] == [0, 1]
assert len(tc.trussness(rows, head=2)) == 2
assert all("head" in inspect.signature(each.call).parameters for each in ANALYTICS.values())
assert "    Read only so many rows" in tc.count.__doc__
assert "memory_limit, head, edge_index\\n    See `count`" in tc.k_truss.__doc__
assert "head: int | None = None" in open("rapids_tc/__init__.pyi").read()
"""


def test_a_shared_option_reaches_every_function(tree):
    apply(steps("An option that all functions share"), tree, ASK_FOR_OPTION)
    documented = "tests/test_house.py::test_a_public_name_is_documented"
    done = run_tests(tree, "tests/test_options.py::test_the_first_rows_alone", documented)
    assert done.returncode == 0, done.stdout


ASK_FOR_QUANTITY = """
import pandas as pd, reference, rapids_tc as tc
from distributed import Client
from every_path import ENGINES, FRAME, IDS, PATHS, check
import dask.dataframe as dd

own = {"weight": "w", "aggregate": "sum"}
for path in PATHS.values():
    check("strongest", own, path)
with ENGINES["emulated cuda"]():
    for name in ("whole", "2 x 2 blocks", "7 partitions, 2 x 2 blocks"):
        check("strongest", own, PATHS[name])
found = tc.strongest(FRAME, **own, **IDS)
assert tc.strongest(FRAME, **own, **IDS, memory_limit=20_000).equals(found)
with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None):
    asked = tc.strongest(dd.from_pandas(FRAME, npartitions=3), **own, **IDS)
    assert asked["strongest"].compute().equals(found["strongest"])
estimate = tc.memory_estimate(FRAME, function="strongest", **IDS)
assert {"values", "count", "columns"} <= estimate.keys()
"""


def test_a_quantity_is_right_everywhere(tree):
    asked = steps("What is made of each triangle")
    assert len(asked) <= 9
    apply(asked, tree, ASK_FOR_QUANTITY)
    which = "strongest or kernels_are"
    done = run_tests(tree, "tests/test_house.py", *WITHOUT_A_PART[-1:], "-k", which)
    assert done.returncode == 0, done.stdout
