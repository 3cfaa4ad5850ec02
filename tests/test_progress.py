"""What a call shows on stderr: nothing, a bar once it takes long, or a line a stage."""

import os
import re
import subprocess
import sys
import threading
import time
from collections import namedtuple

import pytest
from checks import Terminal
from graphs import complete
from stream_support import in_blocks

import rapids_tc as tc
from rapids_tc import _compiling, _progress
from rapids_tc._compiling import compiling, loading
from rapids_tc.executors.waiting import PREFIX, TaskStages

READ = ["numbering the ids", "ordering by degree", "orienting and sorting"]
COUNT = [*READ, "laying out", "counting"]
CUT = [*READ[:2], "cutting into blocks"]
LOOK = "looking rows up"


def blockwise(function):
    """A function that is served in blocks."""

    def served(edges, **options):
        with in_blocks(2):
            function(edges, **options)

    return served


# What counts edges, or peels them, and no more: a GPU needs no layout of a small graph.
BARE = {
    "count", "vertex_triangles", "edge_triangles", "similarity", "clustering", "average_clustering",
    "transitivity", "triad_counts", "approximate_count", "trussness", "k_truss", "annotate",
}  # fmt: skip


def stages(backend, name):
    """The stages of a function, in order."""
    bare = ("count",) if backend.name == "pandas" else BARE
    without = {"laying out"} if name in bare else set()
    return [stage for stage in STAGES[name][1] if stage not in without]


# What is shown of every function, and with how much memory: each of its stages, in order.
STAGES = {
    "Graph": (tc.Graph, READ),
    "count": (tc.count, COUNT),
    "vertex_triangles": (tc.vertex_triangles, [*COUNT, "summing by vertex"]),
    "edge_triangles": (tc.edge_triangles, [*COUNT, LOOK]),
    "trussness": (tc.trussness, [*COUNT, "peeling", LOOK]),
    "k_truss": (lambda e, **o: tc.k_truss(e, 4, **o), [*COUNT, "peeling", LOOK]),
    "similarity": (tc.similarity, [*COUNT, LOOK]),
    "annotate": (
        lambda e, **o: tc.annotate(e, "trussness", "jaccard", **o),
        [*COUNT, "peeling", LOOK],
    ),
    "clustering": (tc.clustering, [*COUNT, "summing by vertex"]),
    "clustering by weight": (
        lambda e, **o: tc.clustering(e, weight="weight", **o),
        [*READ, "reading the values", "laying out", "summing over triangles"],
    ),
    "average_clustering": (tc.average_clustering, [*COUNT, "summing by vertex"]),
    "transitivity": (tc.transitivity, COUNT),
    "triad_counts": (tc.triad_counts, COUNT),
    "simple_edges": (tc.simple_edges, [*READ, "sorting the edges"]),
    "approximate_count": (
        lambda e, **o: tc.approximate_count(e, colors=2, seed=1, **o),
        [READ[0], "sampling the edges", *READ[1:], "laying out", "counting"],
    ),
    "list_triangles": (tc.list_triangles, [*READ, "laying out", "counting", "listing"]),
    "iter_triangles": (
        lambda e, **o: list(tc.iter_triangles(e, max_rows=300, **o)),
        [*READ, "laying out", "counting", "listing", "listing"],
    ),
    "count in blocks": (blockwise(tc.count), [*CUT, "counting"]),
    "edge_triangles in blocks": (blockwise(tc.edge_triangles), [*CUT, "counting", LOOK]),
    "k_truss in blocks": (blockwise(lambda e, **o: tc.k_truss(e, 4, **o)), [*CUT, "peeling", LOOK]),
    "simple_edges in blocks": (blockwise(tc.simple_edges), [CUT[0], "sorting the edges"]),
}
ASIDE = r", (?:of which )?(?:compiling \(once\)|loading compiled code) \d+\.\d\d s"
LINE = rf"([a-z ]+): (\d+\.\d\d) s((?:{ASIDE})*)"
STAGED = pytest.mark.parametrize("name", STAGES)


@pytest.fixture
def edges(backend):
    """Five hundred triangles and some."""
    return backend.frame(complete(16).frame().assign(weight=1.0))


def run(name, edges, **options):
    STAGES[name][0](edges, source="src", destination="dst", **options)


def terminal(monkeypatch, patience=0.0):
    """Something in place of stderr that says it is a terminal; pytest's own comes back."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_progress, "BAR_DELAY", patience)
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    return screen


def told(text):
    """The stages that have a line, in order."""
    lines = [re.fullmatch(LINE, line) for line in text.splitlines()]
    assert all(lines), text
    return [line[1] for line in lines]


def lasting(monkeypatch, seconds):
    """Make each stage last so long at least."""
    after_each(monkeypatch, lambda name: time.sleep(seconds))


def after_each(monkeypatch, act):
    stage = _progress.Report.stage

    def slow(self, name, *given):
        stage(self, name, *given)
        act(name)

    monkeypatch.setattr(_progress.Report, "stage", slow)


def seen(monkeypatch, screen):
    """Make each stage last until its bar is on the screen; machines may be slow."""
    after_each(monkeypatch, lambda name: until(lambda: barred(name, screen.getvalue())))


def barred(stage, text):
    return re.search(rf"{stage}[^:\n]*━", text)


def until(true):
    """Wait; a test that waits in vain is ended as one that hangs is."""
    while not true():
        time.sleep(0.01)


# Lines --------------------------------------------------------------------------------------------


@STAGED
def test_a_line_a_stage_however_short_the_call(backend, edges, name, capsys):
    run(name, edges, progress=True)
    shown = capsys.readouterr()
    assert (shown.out, told(shown.err)) == ("", stages(backend, name))


@STAGED
@pytest.mark.parametrize("progress", [None, False])
def test_nothing_elsewhere(backend, edges, name, progress, capsys, monkeypatch):
    monkeypatch.setattr(_progress, "BAR_DELAY", 0.0)
    run(name, edges, progress=progress)
    assert capsys.readouterr() == ("", "")


def test_seconds_are_those_of_the_stage(backend, edges, capsys, monkeypatch):
    lasting(monkeypatch, 0.03)
    tc.count(edges, source="src", destination="dst", progress=True)
    lines = capsys.readouterr().err.splitlines()
    seconds = [float(re.fullmatch(LINE, line)[2]) for line in lines]
    assert len(seconds) == len(stages(backend, "count")) and min(seconds) >= 0.03


@pytest.mark.parametrize("made", [None, False, True])
@pytest.mark.parametrize("asked", [None, False, True])
def test_a_graph_remembers_for_calls_that_do_not_say(backend, edges, made, asked, capsys):
    graph = tc.Graph(edges, source="src", destination="dst", progress=made)
    assert told(capsys.readouterr().err) == READ * (made is True)
    tc.count(graph, progress=asked)
    wanted = made if asked is None else asked
    like = "transitivity" if backend.name == "pandas" else "count"  # a kept graph has rows already
    counted = stages(backend, like)[len(READ) :]
    assert told(capsys.readouterr().err) == counted * (wanted is True)
    list(tc.iter_triangles(graph, max_rows=10**6, progress=asked))
    laid_out = ["laying out"] * ("laying out" not in counted)  # once, when it is needed
    assert told(capsys.readouterr().err) == [*laid_out, "counting", "listing"] * (wanted is True)


def test_without_stderr_nothing_breaks(backend, edges, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    for progress in (None, True, False):
        assert tc.count(edges, source="src", destination="dst", progress=progress) == 560


# The bar ------------------------------------------------------------------------------------------


@STAGED
@pytest.mark.parametrize("progress", [None, True])
def test_on_a_terminal_every_stage_is_seen(backend, edges, name, progress, monkeypatch, capsys):
    """Also one that has no news of itself; the bar is gone when the call returns."""
    screen = terminal(monkeypatch)
    seen(monkeypatch, screen)
    run(name, edges, progress=progress)
    shown = screen.getvalue()
    assert all(barred(stage, shown) for stage in stages(backend, name))
    lines = [line[0] for line in re.findall(rf"{LINE}\n", shown)]
    assert lines == stages(backend, name) * (progress is True)
    until(lambda: not [t for t in threading.enumerate() if isinstance(t, threading.Timer)])
    assert screen.getvalue() == shown
    assert capsys.readouterr() == ("", "")


def test_patience_is_one_a_call(backend, edges, monkeypatch):
    screen = terminal(monkeypatch, patience=60.0)
    tc.count(edges, source="src", destination="dst")
    assert screen.getvalue() == ""
    tc.count(edges, source="src", destination="dst", progress=False)
    timers = []

    class Timer(threading.Timer):
        """One that goes off when the test says so."""

        def __init__(self, seconds, show):
            super().__init__(3600.0, show)
            timers.append((seconds, show))

    monkeypatch.setattr(_progress, "Timer", Timer)

    def act(name):
        if name == "counting":
            assert [seconds for seconds, _ in timers] == [60.0]
            timers[0][1]()
            until(lambda: barred(name, screen.getvalue()))

    after_each(monkeypatch, act)
    tc.count(edges, source="src", destination="dst")
    assert "numbering" not in screen.getvalue() and "counting" in screen.getvalue()


def test_shares_and_notes_are_in_the_bar(monkeypatch):
    screen = terminal(monkeypatch)
    with _progress.report_stage("working", None, str) as report:
        until(lambda: barred("working", screen.getvalue()))
        for done in range(5):
            report.advance(done / 4, f"on {done}")
    assert "working: on 4" in screen.getvalue() and "100%" in screen.getvalue()


# Compiling ----------------------------------------------------------------------------------------


def test_the_bar_says_that_code_is_compiled(monkeypatch):
    screen = terminal(monkeypatch)
    with _progress.report_stage("working", None, str) as report:
        until(lambda: barred("working", screen.getvalue()))
        assert "compiling" not in screen.getvalue()
        with loading.running():
            until(lambda: barred("working, loading compiled code", screen.getvalue()))
        with compiling.running():
            until(lambda: barred(r"working, compiling \(once\)", screen.getvalue()))
            report.advance(0.5, "on 7")
            until(lambda: "on 7, compiling (once)" in screen.getvalue())
        report.advance(0.6, "on 8")
        until(lambda: re.search(r"on 8 [^c\n]*━", screen.getvalue()))


def test_lines_tell_compiling_apart(capsys):
    with _progress.report_stage("working", True, str), compiling.running():
        time.sleep(0.02)
    with _progress.report_stage("working", True, str):
        for clock in (compiling, loading):
            with clock.running():
                time.sleep(0.02)
    with _progress.report_stage("working", True, str):
        pass
    first, both, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"working: (\S+) s, of which compiling \(once\) (\1) s", first)
    times = r"compiling \(once\) 0.0\d s, loading compiled code 0.0\d s"
    assert re.fullmatch(rf"working: \S+ s, of which {times}", both)
    assert re.fullmatch(r"working: \S+ s", last)


def test_the_clock_counts_nested_and_concurrent_compilations_once(monkeypatch):
    times = iter([1.0, 4.0, 10.0, 11.0, 15.0])
    monkeypatch.setattr(_compiling.time, "monotonic", lambda: next(times))
    measured = _compiling.Clock()
    with measured.running(), measured.running():
        pass
    assert (measured.seconds, measured.busy) == (3.0, False)
    measured.start()
    assert (measured.seconds, measured.busy) == (4.0, True)
    measured.stop()
    assert measured.seconds == 8.0


COMPILES = """
from rapids_tc._compiling import compiling as clock
from rapids_tc.engines.cpu.compiled import compiled

def ours(n):
    return n + 1

def failing(n):
    return n.what

told = []
def call(function, *given):
    before = clock.seconds
    try:
        function(*given)
    except Exception:
        pass
    told.append((clock.seconds > before, clock.busy))

for name in (None, "rapids_tc.test"):  # of the user, then of the package
    for function in (ours, failing):
        function.__module__ = name or "__main__"
        call(compiled(function), 3 if name else 3.0)
print(told)
"""


def test_only_what_numba_compiles_for_us_counts(tmp_path):
    """Also if it fails; what the user compiles meanwhile is none of our business."""
    environment = os.environ | {"RAPIDS_TC_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", COMPILES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == f"{[(False, False)] * 2 + [(True, False)] * 2}\n"


def test_the_command_line_tells_compiling_apart(monkeypatch):
    from rapids_tc import cli

    times = iter([0.0, 10.0])
    seconds = {"read": 1.0}
    monkeypatch.setattr(cli.time, "perf_counter", lambda: next(times))
    read = {loading: iter([1.0, 1.5]), compiling: iter([5.0, 8.0])}
    monkeypatch.setattr(type(loading), "seconds", property(lambda clock: next(read[clock])))
    with cli._timed(seconds, "count"):
        pass
    right = {"read": 1.0, "count": 6.5, "load": 0.5, "compile": 3.0}
    assert list(seconds.items()) == list(right.items())


def test_a_call_that_fails_takes_its_bar_away(backend, edges, monkeypatch):
    screen = terminal(monkeypatch)
    seen(monkeypatch, screen)
    with pytest.raises(ValueError, match="not in the graph"):
        tc.vertex_triangles(edges, source="src", destination="dst", vertices=[99])
    shown = screen.getvalue()
    assert "counting" in shown
    assert tc.count(edges, source="src", destination="dst", progress=False) == 560
    assert screen.getvalue() == shown


def test_a_call_that_has_ended_leaves_no_timer(monkeypatch):
    """It would hold on to the call, and draw into what is written next."""
    terminal(monkeypatch)
    monkeypatch.setattr(_progress, "BAR_DELAY", 60.0)
    with _progress.call_report(None) as report:
        timer = report._timer
        assert timer.daemon and not timer.finished.is_set()
    assert timer.finished.is_set()


def test_what_draws_the_bar_is_imported_when_it_is_shown():
    code = (
        "import sys, pandas as pd, rapids_tc as tc\n"
        "from rapids_tc import _progress\n"
        "sys.stderr.isatty, _progress.BAR_DELAY = lambda: True, 60.0\n"
        "tc.Graph(pd.DataFrame({'src': [0], 'dst': [1]}), progress=True)\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_values_are_a_stage_of_a_cluster(capsys):
    Task = namedtuple("Task", "key")
    with _progress.call_report(True) as report:
        stages = TaskStages(report)
        for name in ("merge", "values", "merge", "count"):
            stages.begin([Task(f"{PREFIX}{name}-1")], 1)
        stages.close()
    lines = re.findall(LINE, capsys.readouterr().err)
    shown = ["cutting into blocks", "reading the values", "counting"]
    assert [line[0] for line in lines if line[0] in shown] == shown
