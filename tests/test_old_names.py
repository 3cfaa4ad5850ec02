"""Names that will go: each is taken with a FutureWarning, and means what it meant."""

import warnings

import pandas as pd
import pytest
from click.testing import CliRunner
from every_path import OPTIONS

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.cli import main
from rapids_tc.plan.record import ANALYTICS

pytestmark = pytest.mark.cpu_only

RENAMED = [(record, *names) for record in ANALYTICS.values() for names in record.renamed.items()]
EDGES = datasets.karate()


def plain(answer):
    return pd.concat(answer).to_dict("list") if not hasattr(answer, "value") else answer


def test_the_names_that_will_go():
    assert [(record.name, *names) for record, *names in RENAMED] == [
        ("approximate_count", "colours", "colors"),
        ("iter_triangles", "rows", "max_rows"),
        ("iter_project", "rows", "max_rows"),
    ]


@pytest.mark.parametrize(("record", "old", "new"), RENAMED)
def test_an_option_by_its_old_name(record, old, new):
    assert new in record.defaults and old not in record.defaults
    value = OPTIONS[new][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = plain(record.call(EDGES, **{new: value}))
    with pytest.warns(FutureWarning, match=f"{old}= of {record.name} is now {new}=") as told:
        assert plain(record.call(EDGES, **{old: value})) == expected
    assert told[0].filename == __file__
    with pytest.raises(TypeError, match=f"{old}= and {new}="):
        record.call(EDGES, **{old: value, new: value})


MOVED = [(record, *names) for record in ANALYTICS.values() for names in record.moved.items()]


@pytest.mark.parametrize(("record", "old", "new"), MOVED)
def test_an_answer_by_the_old_name_of_its_function(record, old, new):
    option, value = old
    with pytest.warns(
        FutureWarning, match=rf'{record.name}\(edges, "{value}"\) is now {new}'
    ) as told:
        found = record.call(EDGES, **{option: value})
    assert told[0].filename == __file__
    today = ANALYTICS[new].call(EDGES)
    pd.testing.assert_frame_equal(found.set_axis(today.columns, axis=1), today, check_dtype=False)


def test_the_hierarchy_by_its_old_name_keeps_its_columns():
    with pytest.warns(FutureWarning):
        found = tc.truss_communities(EDGES, "all")
    assert list(found.columns) == ["community", "k", "parent", "edges", "vertices"]
    assert found["k"].dtype == "int64"


def test_an_old_name_on_the_command_line(tmp_path):
    file = tmp_path / "club.csv"
    EDGES.to_csv(file, index=False)
    for typed in (["--colours", "1"], ["--colours=1"]):
        done = CliRunner().invoke(main, ["approximate-count", str(file), *typed])
        assert "deprecated: --colours is now --colors" in done.stderr
        assert done.stdout.splitlines()[1].startswith(f"{tc.count(EDGES)},")
