"""Planted faults are those of today's package; `tests/planted/run.py` plants them."""

from dataclasses import replace

import pytest
from planted.run import problem_of, read_faults

FAULTS = read_faults()
ROOMS = {
    "analytics", "blocks", "cli", "datasets", "engines", "executors", "files", "frames", "graphs",
    "interop", "kernels", "plan", "preparation", "updates",
}  # fmt: skip


def test_every_fault_is_one_of_todays_package():
    """Its text stands once in its file, and its tests exist; after a change, mend the record."""
    problems = {fault.title: problem_of(fault) for fault in FAULTS}
    assert {title: problem for title, problem in problems.items() if problem} == {}


def test_all_rooms_have_faults_of_different_names():
    assert {fault.room for fault in FAULTS} == ROOMS
    assert len(FAULTS) == len({fault.title for fault in FAULTS}) >= 80
    assert all(fault.file.startswith(fault.room) for fault in FAULTS)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"old": "no such text"}, "frames/backend.py has the text 0 times"),
        ({"old": "return"}, "frames/backend.py has the text"),
        ({"file": "frames/none.py"}, "there is no frames/none.py"),
        ({"tests": ("test_none.py",)}, "there is no test test_none.py"),
        ({"tests": ("test_backend.py::test_none",)}, "there is no test test_backend.py::test_none"),
        ({"new": "return bool(values.max() < limit)"}, "changes nothing"),
    ],
)
def test_a_record_that_is_out_of_date_is_told(changed, problem):
    fault = next(fault for fault in FAULTS if fault.file == "frames/backend.py")
    text = "return bool(values.max() < limit)"
    assert problem_of(replace(fault, **{"old": text, **changed})).startswith(problem)
