"""A graph in blocks that are counted one after another: the same answers, within a limit."""

import json
import logging
import os
import re
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import reference
from answers import CASES
from checks import check
from emulator_support import long
from graphs import ID_DTYPES, SMALL, dense_edge_lists, edge_frames, edge_lists, small
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_support import FUNCTIONS, assert_same, in_blocks

import rapids_tc as tc
from rapids_tc import _progress, datasets, testing
from rapids_tc.analytics.overview import overview
from rapids_tc.blocks import rows
from rapids_tc.engines import registry
from rapids_tc.engines.cpu import host_slots
from rapids_tc.frames.backend import open_frame
from rapids_tc.graphs import spilled
from rapids_tc.plan import budget, costs, record
from rapids_tc.preparation.edge_columns import edge_columns

some = settings(max_examples=40, deadline=None)
SIDES = (1, 2, 3, 4)


def frame_of(rows):
    return pd.DataFrame(rows, columns=["src", "dst"])


def skewed_frame(scale):
    frame = datasets.rmat(scale, seed=3)
    return pd.concat([frame, frame[:500].rename(columns={"src": "dst", "dst": "src"})])


@pytest.fixture(scope="module")
def skewed():
    """A graph of hubs and cliques, with repeats and loops: large enough for limits to matter."""
    return skewed_frame(9)


@pytest.mark.cpu_only
def test_tasks_with_an_empty_block_are_not_laid_out(monkeypatch):
    engine, made = registry.load("cpu"), []
    prepare = engine.prepare_blocks

    def noted(*blocks, **options):
        made.append(blocks)
        return prepare(*blocks, **options)

    monkeypatch.setattr(engine, "prepare_blocks", noted)
    edges = frame_of([(0, 1), (1, 2), (2, 0)])
    with in_blocks(6):
        assert tc.count(edges) == 1
    assert 1 <= len(made) <= 36  # at most one for each block, of 216 tasks


@pytest.mark.cpu_only
def test_an_error_while_sums_are_added_gives_the_pool_back(monkeypatch):
    """Even while the error, whose traceback holds the tasks, is looked at."""
    pooled, opened = host_slots.BlockStore.pooled, []

    @contextmanager
    def noted(self, size):
        opened.append(size)
        try:
            with pooled(self, size):
                yield
        finally:
            opened.remove(size)

    def full(self, result):
        assert opened
        raise tc.CapacityError("no room for a sum")

    monkeypatch.setattr(host_slots.BlockStore, "pooled", noted)
    monkeypatch.setattr(spilled.RunningSum, "add", full)
    with in_blocks(3), pytest.raises(tc.CapacityError, match="no room for a sum"):
        try:
            tc.edge_triangles(datasets.rmat(6))
        except tc.CapacityError:
            assert not opened
            raise


@pytest.mark.parametrize("number", range(len(CASES)))
def test_reported_cases(backend, number):
    """Each in one number of blocks; all together, below, in every one."""
    [case], n = CASES[number].values, SIDES[number % len(SIDES)]
    rows = list(map(tuple, case["edges"]))
    if not rows:
        return  # nothing to cut
    edges = backend.frame(frame_of(rows))
    expected = {name: function(edges) for name, function in FUNCTIONS.items()}
    with in_blocks(n) as made:
        for name, function in FUNCTIONS.items():
            assert_same(backend, function(edges), expected[name])
        if not case["extra_vertices"]:
            assert tc.count(edges) == case["total"]
    assert len(made) >= len(FUNCTIONS)


@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("n", SIDES)
def test_all_reported_cases_at_once(backend, n, dtype):
    """Side by side, as numbers and as texts."""
    names, rows = {}, []
    for number, case in enumerate(case.values[0] for case in CASES):
        for row in case["edges"]:
            rows.append([names.setdefault((number, end), len(names)) for end in row])
    edges = backend.frame(frame_of(rows).astype(dtype))
    expected = {name: function(edges) for name, function in FUNCTIONS.items()}
    with in_blocks(n):
        for name, function in FUNCTIONS.items():
            assert_same(backend, function(edges), expected[name])


@pytest.mark.parametrize("n", SIDES)
@pytest.mark.parametrize("name", SMALL)
def test_closed_forms(backend, name, n):
    known = SMALL[name]
    edges = backend.frame(known.frame())
    with in_blocks(n):
        sides = backend.to_pandas(tc.edge_triangles(edges))
        assert tc.count(edges) == known.triangles
        assert sides.value_counts().to_dict() == known.by_edge
        vertices = backend.to_pandas(tc.vertex_triangles(edges))
    assert dict(vertices.itertuples(index=False)) == reference.vertex_triangles(known.rows)


@some
@given(edges=edge_frames(), n=st.integers(1, 4))
def test_raw_rows_of_any_dtype(backend, edges, n):
    if len(edges):
        with in_blocks(n):
            check(backend, edges)


@some
@given(rows=edge_lists() | dense_edge_lists(), n=st.integers(1, 4))
def test_trusses(backend, rows, n):
    if not rows:
        return
    edges = backend.frame(frame_of(rows))
    numbers = reference.trussness(rows)
    last = max(numbers.values(), default=2)
    with in_blocks(n, peel_below=0):  # never in memory
        for k in (2, 3, 4, last, last + 1, "max"):
            found = backend.to_pandas(tc.k_truss(edges, k))
            kept = {tuple(sorted(row)) for row in found.itertuples(index=False)}
            assert sorted(kept) == reference.k_truss(rows, last if k == "max" else k)
            assert len(kept) == len(found)
        found = backend.to_pandas(tc.trussness(edges))
        assert found.tolist() == reference.by_row(rows, numbers)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_chunks_of_few_rows(backend, skewed, function, monkeypatch):
    """Rows are read in many chunks, and repeats of an edge stand in different ones."""
    frame = skewed.sample(2000, random_state=1)
    edges = backend.frame(frame)
    expected = FUNCTIONS[function](edges)
    monkeypatch.setattr(budget.Budget, "chunk", property(lambda self: 100 * costs.ROW_WORK))
    monkeypatch.setattr(rows, "LEAST", 100)
    with in_blocks(2):
        assert_same(backend, FUNCTIONS[function](edges), expected)


@pytest.mark.parametrize("dtype", ID_DTYPES)
def test_chunks_of_every_dtype(backend, dtype, monkeypatch):
    rng = np.random.default_rng(2)
    ends = rng.integers(0, 16, (2, 300)).tolist()
    frame = pd.DataFrame(dict(zip(("src", "dst"), map(ID_DTYPES[dtype], ends), strict=True)))
    monkeypatch.setattr(budget.Budget, "chunk", property(lambda self: 7 * costs.ROW_WORK))
    monkeypatch.setattr(rows, "LEAST", 7)
    with in_blocks(3):
        check(backend, frame)


@pytest.mark.pandas_only
@pytest.mark.parametrize("dtype", ["category", "str"])
def test_dtypes_need_no_hash(backend, dtype, monkeypatch):
    """cuDF's CategoricalDtype has none."""
    ids = ID_DTYPES[dtype]([*range(16)] * 2)
    frame = pd.DataFrame({"src": ids, "dst": ids[::-1].array})
    monkeypatch.setattr(type(frame["src"].dtype), "__hash__", None)
    for way in (nullcontext(), in_blocks(2)):
        with way:
            check(backend, frame)
            tc.k_truss(frame, 2), tc.memory_estimate(frame), tc.Graph(frame, vertices=frame["src"])


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "Int32"])
@pytest.mark.parametrize("least", [0, -5])
def test_rows_are_read_where_they_are(backend, dtype, least):
    """Numbers of four bytes are not copied, and come in one piece where work takes no memory."""
    if least < 0 and dtype == "uint32":
        return
    frame = pd.DataFrame({"src": [least, 1, 2] * 9000, "dst": [1, 2, 3] * 9000}, dtype=dtype)
    place = backend.frame(frame)
    home, opened = open_frame(place, None)
    read = rows.Rows(home, edge_columns(["src", "dst"]), opened, 8 * 27000)
    read.number(registry.load("cpu").block_store())
    cuts = read.cuts(0)
    as_they_are = least == 0 and dtype in ("int32", "uint32")
    assert (len(cuts) == 1) == as_they_are
    assert [first for first, _ in cuts] == [0, *(last for _, last in cuts[:-1])]
    assert cuts[-1][1] == 27000 and len(read.cuts(96)) > 10
    found = np.concatenate([opened.host(ends[1]) for ends in read.chunks(0)])
    assert found.dtype == "uint32" and (found == frame["dst"].astype("int64") - least).all()


LIMITS = (
    0.97, 0.9, 0.75, 0.6, 0.5, 0.45, 0.4, 0.35, 0.32, 0.3, 0.27, 0.25, 0.22, 0.2, 0.17, 0.15, 0.12,
    0.1,
)  # fmt: skip


@pytest.mark.parametrize("function", sorted(FUNCTIONS.keys() - {"list_triangles"}))
def test_limits_make_blocks(backend, skewed, function, caplog):
    """Every limit gives the same answer, or says what is missing; the smaller, the more blocks."""
    names = {"jaccard": "similarity", "cosine": "similarity", "annotate with trusses": "trussness"}
    name = names.get(function, function)
    name = "k_truss" if name.endswith("truss") else name
    edges = backend.frame(skewed_frame(7) if "truss" in function else skewed)
    need = max(tc.memory_estimate(edges, function=name).values())
    expected, sides = FUNCTIONS[function](edges), []
    for share in LIMITS:
        caplog.clear()
        with caplog.at_level(logging.INFO, "rapids_tc"):
            try:
                found = FUNCTIONS[function](edges, memory_limit=int(need * share))
            except tc.CapacityError as error:
                limit = f"{int(need * share):,} may be taken: raise the limit"
                most = r"(cut in up to 16 x 16 blocks|sorted in up to 64 ranges)"
                cut = rf"do not fit [\d,]+ bytes, {most}: raise the limit"
                assert re.search(f"{limit}|{cut}", str(error))
                break
        assert_same(backend, found, expected)
        if not (caplog.records or sides):  # the estimate is for more columns than are asked for
            continue
        (record,) = caplog.records
        assert record.levelname == "INFO" and "one task after another" in record.message
        sides.append(record.args[-1])
        if sides[-1] >= 4:
            break
    assert sides == sorted(sides)
    assert len(sides) >= 2
    if name in ("count", "transitivity"):
        assert set(sides) | {1} == {1, 2, 3, 4}
    if name in ("vertex_triangles", "clustering"):  # a graph for which 2 do fits whole on a card
        assert set(sides) | {1, 2} == {1, 2, 3, 4}


def test_a_limit_too_small_for_arrays_by_vertex(backend, skewed):
    with pytest.raises(tc.CapacityError, match=r"vertices.*count.*take about [\d,]+ bytes"):
        tc.count(backend.frame(skewed), memory_limit=2000)
    with pytest.raises(tc.CapacityError, match="gives back"):
        tc.edge_triangles(backend.frame(skewed), memory_limit=20_000)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "8 GX", True])
def test_a_limit_that_is_no_number_of_bytes(backend, wrong):
    for function in FUNCTIONS.values():
        with pytest.raises(ValueError, match="memory_limit="):
            function(backend.frame(small()), memory_limit=wrong)


def test_what_needs_the_whole_graph_says_so(backend, skewed):
    edges, limit = backend.frame(skewed), 100_000
    for call in (
        lambda: tc.cliques(edges, memory_limit=limit),
        lambda: tc.graphlets(edges, memory_limit=limit),
        lambda: tc.Graph(edges, memory_limit=limit),
    ):
        told = "memory_limit= allows 100,000: raise the limit.* is not counted in blocks: "
        with pytest.raises(tc.CapacityError, match=told):
            call()


def test_a_method_that_needs_the_whole_graph():
    edges = datasets.rmat(9)
    need = max(tc.memory_estimate(edges).values())
    with testing.host_engine():
        assert tc.count(edges, method="bitmap", memory_limit=need // 2) == tc.count(edges)
        with pytest.raises(tc.CapacityError, match="memory_limit= allows"):
            tc.count(edges, method="trust", memory_limit=need // 2)


@pytest.mark.pandas_only
def test_too_little_free_memory_is_told(backend, skewed, monkeypatch, caplog):
    edges = backend.frame(skewed)
    expected, need = tc.count(edges), max(tc.memory_estimate(edges).values())
    assert caplog.records == []
    free = need // 2
    if on_cpu := backend.name == "pandas":
        monkeypatch.setattr(registry.load("cpu"), "free", lambda: free)
    with nullcontext() if on_cpu else testing.host_engine(free=lambda: free):
        assert tc.count(edges) == expected
        assert not caplog.records  # free memory is not asked for so little
        monkeypatch.setitem(costs.UNASKED, "cpu" if on_cpu else "cuda", 0)
        assert tc.count(edges) == expected
    (record,) = caplog.records
    assert record.levelname == "WARNING" and record.name == "rapids_tc"
    assert f"{need:,}" in record.message and f"{free:,}" in record.message


@pytest.mark.parametrize(
    "columns, error",
    [
        ({"src": [1.5, 2.0], "dst": [2.0, 3.0]}, tc.IdTypeError),
        ({"src": [True, False], "dst": [True, True]}, tc.IdTypeError),
        ({"src": ["a", None], "dst": ["b", "c"]}, tc.NullIdError),
        ({"src": [1, 2], "dst": ["b", "c"]}, tc.IdTypeError),
    ],
)
def test_what_is_wrong_is_told_alike(backend, columns, error):
    edges = backend.frame(columns)
    with pytest.raises(error) as whole:
        tc.count(edges)
    with in_blocks(2), pytest.raises(error) as streamed:
        tc.count(edges)
    assert str(streamed.value) == str(whole.value)


def test_vertices_are_chosen_and_refused(backend):
    edges = backend.frame(small())
    with in_blocks(2):
        found = backend.to_pandas(tc.vertex_triangles(edges, vertices=[9, 1, 9]))
        assert found.to_dict("list") == {"vertex": [9, 1, 9], "triangles": [1, 1, 1]}
        with pytest.raises(ValueError, match="not in the graph: 4"):
            tc.clustering(edges, vertices=[4])


def test_the_pages_list_what_is_not_served_in_blocks(backend):
    """Each function is asked for blocks; those that make none are named, and no other is."""
    beside = {
        "k_truss": (3,), "truss_communities": (3,), "annotate": ("triangles",),
        "annotate_vertices": ("triangles",),
    }  # fmt: skip
    options = {
        "iter_triangles": {"max_rows": 9}, "iter_project": {"max_rows": 9},
        "approximate_count": {"colors": 2, "seed": 1},
        "balance": {"sign": "w"}, "triangles_by_type": {"edge_type": "w"},
        "triangles_over_time": {"time": "w"},
    }  # fmt: skip
    served = set()
    for name in sorted(record.estimated()):
        with in_blocks(2) as made:
            edges = backend.frame(small().assign(w=1))
            getattr(tc, name)(edges, *beside.get(name, ()), **options.get(name, {}))
        if made:
            served.add(name)
    in_table = {each.name for each in overview() if not each.in_blocks}
    assert in_table == record.estimated().keys() - served - {"Graph"}
    page = Path(__file__).parents[1] / "CHANGELOG.md"
    [told] = re.findall(r"Serves all\s+functions but (.*?)\.\n", page.read_text(), re.S)
    assert {*re.findall(r"`(\w+)`", told)} == record.estimated().keys() - served


def test_progress_is_told(backend, skewed, monkeypatch):
    told = []
    advance = _progress.Report.advance
    monkeypatch.setattr(
        _progress.Report,
        "advance",
        lambda self, done: told.append((self._name, done)) or advance(self, done),
    )
    with in_blocks(3):
        tc.count(backend.frame(skewed))
    counting = [done for name, done in told if name == "counting"]
    assert counting == sorted(counting) and len(counting) == 27 and counting[-1] == 1
    assert ("cutting into blocks", 1) in told


@pytest.mark.pandas_only
@pytest.mark.cpu_only
def test_a_card_gives_the_same():
    """On the emulator: all cases, every function, and limits of what has stages of its own.

    Numbers of ids do not depend on blocks, so texts are cut once.
    """
    at_once, limits = "at_once and (3-int64 or 2-str)", "make_blocks and (count or edge or truss)"
    limits = f"{limits} and not last and not annotate"
    which = f"{at_once} or few_rows or {limits} or too_small"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--backend", "host"]
    done = subprocess.run([*command, __file__, "-k", which], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:]


# What is really taken -----------------------------------------------------------------------------

REAL = Path(__file__).with_name("stream_peak.py")


@pytest.mark.cpu_only
def test_the_peak_stays_below_the_limit():
    """Of the resident memory, in a process of its own; without a limit the same calls take more."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed goes back
    done = subprocess.run([sys.executable, REAL], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@long
@pytest.mark.cpu_only
def test_calls_on_text_stay_below_the_limit(tmp_path):
    """As a user's process has it: allocators keep memory, and strings are objects of Python."""
    out, script = tmp_path / "limits.jsonl", Path(__file__).parents[1] / "benchmarks/limits.py"
    names = ("annotate 3", "simple_edges", "list_triangles")
    words = [word for name in names for word in ("--function", name)]
    command = [sys.executable, script, "--scale", "15", "--ids", "object", "--jobs", "2", *words]
    done = subprocess.run([*command, "--out", out], capture_output=True, text=True)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert done.returncode == 0 and len(lines) == 12, done.stderr
    # Smaller limits are refused once some texts were read: within the 16 MB that the script allows.
    over = [line["over"] for line in lines if line["limit"] > 12 << 20]
    assert len(over) >= 8 and max(over) < 6 << 20, done.stderr


@pytest.mark.parametrize("limit", [1, 8, 100])
@pytest.mark.parametrize("columns", [{}, {"by": "g"}, {"source": ["src"], "destination": ["dst"]}])
def test_no_rows_under_a_limit_of_some_bytes(limit, columns):
    frame = pd.DataFrame({"src": [1], "dst": [2], "g": [3]}).iloc[:0]
    columns = {"source": "src", "destination": "dst"} | columns
    for function in (tc.count, tc.vertex_triangles, tc.edge_triangles):
        try:
            found = function(frame, memory_limit=limit, **columns)
        except tc.CapacityError as error:
            assert "raise the limit" in str(error) or "memory_limit=" in str(error)
        else:
            assert found == 0 if isinstance(found, int) else len(found) == 0
