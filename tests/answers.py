"""Known answers as test parameters: the reported cases, and the real graphs beside the checkout."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("RAPIDS_TC_SHARED", Path(__file__).parents[2] / "shared"))
GRAPHS = SHARED / "graphs"
MISSING = f"real graphs at {GRAPHS}: RAPIDS_TC_SHARED names the folder that has graphs/"

with (Path(__file__).parent / "data" / "cases.json").open() as _file:
    CASES = [pytest.param(case, id=case["id"]) for case in json.load(_file)]


def graph_rows(table: str) -> list[Any]:
    """The rows of a table of the real graphs, a parameter each, named by the first column.

    On a machine without the folder a single parameter remains: its test takes the fixture
    `shared_graphs`, which skips or fails.
    """
    if not (GRAPHS / table).exists():
        return [pytest.param(None, id="no-shared-graphs")]
    with (GRAPHS / table).open(newline="") as file:
        return [pytest.param(row, id=row["name"]) for row in csv.DictReader(file)]
