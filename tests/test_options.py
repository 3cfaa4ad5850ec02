"""Where it runs, what it may use, and what is misuse: the options every function takes."""

import inspect
import re
import typing
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from checks import FUNCTIONS
from graphs import ROWS, TRIANGLES, complete, small, wheel
from stream_support import budget_of

import rapids_tc as tc
from rapids_tc import datasets, files, plot
from rapids_tc.engines import registry
from rapids_tc.plan import costs, record

RUNNING = [function for function in FUNCTIONS if function is not tc.memory_estimate]


def stage_bytes(edges, **options):
    """Bytes by stage, as promised: names and Python integers."""
    stages = dict(tc.memory_estimate(edges, **options))
    assert {(type(stage), type(need)) for stage, need in stages.items()} <= {(str, int)}
    return stages


def test_the_engine_by_name(backend):
    edges = backend.frame(small())
    named = tc.annotate(edges, "triangles", **backend.engine_kwargs)
    assert type(named) is type(edges)
    assert backend.to_pandas(named)["triangles"].tolist() == TRIANGLES
    assert tc.count(edges, **backend.engine_kwargs) == tc.count(edges, engine="cpu") == 1
    moved = tc.vertex_triangles(edges, engine="cpu")
    assert type(moved) is type(edges)
    assert backend.to_pandas(moved)["triangles"].tolist() == [1, 0, 1, 0, 1]


@pytest.mark.cpu_only
@pytest.mark.parametrize("function", RUNNING)
def test_no_gpu_says_what_to_install(backend, function):
    with pytest.raises(tc.KernelError, match=r"(?s)(?i:pip install|install).*rapids_tc\[cu1[23]\]"):
        function(small(), engine="cuda")


@pytest.mark.cpu_only
@pytest.mark.parametrize("method", ["polak", "bitmap", "trust", "nonsense"])
def test_a_method_needs_the_cuda_engine(backend, method):
    for function in (tc.count, tc.vertex_triangles, tc.edge_triangles, tc.transitivity):
        with pytest.raises(ValueError, match=r"(?i)cuda"):
            function(small(), method=method)
    assert tc.count(small(), method="auto") == 1


def test_a_memory_limit_that_cannot_hold(backend):
    edges = backend.frame(complete(60).frame())
    for function in RUNNING:
        with pytest.raises(tc.CapacityError, match=r"\d") as caught:
            function(edges, memory_limit=1000)
        assert isinstance(caught.value, MemoryError)
    assert tc.count(edges) == tc.count(edges, memory_limit=2**33) == 34220


def test_a_memory_limit_holds_for_a_prepared_graph(backend):
    edges = backend.frame(complete(60).frame())
    for function in (tc.count, tc.vertex_triangles, tc.edge_triangles):
        with pytest.raises(tc.CapacityError):
            function(tc.Graph(edges), memory_limit=1)


def test_memory_is_estimated_by_stage(backend):
    little = stage_bytes(backend.frame(complete(10).frame()))
    much = stage_bytes(backend.frame(complete(100).frame()))
    assert little.keys() == much.keys()
    assert all(need >= 0 for need in [*little.values(), *much.values()])
    assert sum(much.values()) > sum(little.values()) > 0
    more = stage_bytes(backend.frame(complete(100).frame()), function="edge_triangles")
    assert sum(more.values()) >= sum(much.values())
    with pytest.raises(ValueError, match="count"):
        tc.memory_estimate(backend.frame(small()), function="nonsense")


def test_progress_changes_no_answer_and_no_output(backend, capsys):
    edges = backend.frame(wheel(50).frame())
    assert tc.count(edges, progress=True) == tc.count(edges, progress=False) == 50
    assert capsys.readouterr().out == ""


def test_only_the_frame_is_positional(backend):
    edges = backend.frame(small())
    for function in FUNCTIONS:
        with pytest.raises(TypeError):
            function(edges, "src", "dst")
        with pytest.raises(TypeError):
            function()
        with pytest.raises(TypeError):
            function(edges, sauce="src")


@pytest.mark.parametrize(
    "wrong",
    [None, True, 3, "edges.csv", ROWS, {"src": [1]}, np.array(ROWS).T, object(), small],
    ids=lambda wrong: type(wrong).__name__,
)
def test_other_things_are_no_edges(backend, wrong):
    for function in FUNCTIONS:
        with pytest.raises(TypeError) as caught:
            function(wrong)
        assert "DataFrame" in str(caught.value)
        assert type(wrong).__name__ in str(caught.value)
    with pytest.raises(TypeError, match="DataFrame"):
        tc.annotate(wrong, "triangles")


def test_a_column_is_no_frame(backend):
    with pytest.raises((TypeError, ValueError)):
        tc.count(backend.frame(small())["src"])


@pytest.mark.parametrize("vertices", [{0, 1}, {0: 1}, "01", np.zeros((2, 2), int)], ids=str)
def test_vertices_have_an_order_and_one_dimension(backend, vertices):
    with pytest.raises(TypeError, match=r"vertices=.*list"):
        tc.vertex_triangles(backend.frame(small()), vertices=vertices)


def test_a_memory_limit_is_for_the_function_asked(backend):
    edges = backend.frame(small())
    need = max(tc.memory_estimate(edges, function="Graph").values())
    with pytest.raises(tc.CapacityError, match="the stage"):
        tc.Graph(edges, memory_limit=need - 1)
    assert tc.count(tc.Graph(edges, memory_limit=need)) == 1


def test_isolated_vertices_are_in_the_estimate_of_a_graph(backend):
    bare = tc.memory_estimate(tc.Graph(backend.frame(small())))
    more = tc.memory_estimate(tc.Graph(backend.frame(small()), vertices=range(1000)))
    assert all(more[stage] > bare[stage] for stage in ["count", *{"layout"} & bare.keys()])


OF_VERTICES = "trussness", "constraint", "closure"  # three, which need the most
# What is called for each of the functions that have an estimate.
ESTIMATED = {
    "Graph": lambda graph, **options: None,  # made already
    "annotate": lambda graph, **o: tc.annotate(graph, "truss_community", "jaccard", **o),
    "annotate_vertices": lambda graph, **o: tc.annotate_vertices(graph, *OF_VERTICES, **o),
    "approximate_count": lambda graph, **o: tc.approximate_count(graph, colors=2, seed=1, **o),
    "iter_triangles": lambda graph, **o: list(tc.iter_triangles(graph, max_rows=10**6, **o)),
    "k_truss": lambda graph, **o: tc.k_truss(graph, "max", **o),
    "truss_communities": lambda graph, **o: tc.truss_communities(graph, 3, **o),
    "balance": lambda graph, **o: tc.balance(graph, sign="w", **o),
    "triangles_by_type": partial(tc.triangles_by_type, edge_type="w", per="vertex"),
    "triangles_over_time": lambda graph, **o: tc.triangles_over_time(graph, time="t", **o),
}


OF_GRAPHS = [name for name, record in record.estimated().items() if not record.bipartite]


@pytest.mark.parametrize("function", sorted(OF_GRAPHS))
@pytest.mark.parametrize("ids", ["int64", "str"])
def test_stages_that_are_done_need_nothing(backend, function, ids):
    """Of every function on a prepared graph: what is told before it is what the limit asks for."""
    edges = backend.frame(complete(60).frame().astype(ids).assign(w=1, t=1))
    call = ESTIMATED.get(function) or getattr(tc, function)
    graph, whole = tc.Graph(edges), stage_bytes(edges, function=function)
    first = stage_bytes(graph, function=function)
    assert not first.keys() & {"number"}
    assert first.keys() <= whole.keys()
    assert all(first[stage] <= whole[stage] for stage in first)
    if function != "approximate_count":
        assert not first.keys() & {"order", "orient"}
    for again in (False, True):
        now = stage_bytes(graph, function=function)
        worst = max(now, key=now.get, default=None)
        if worst and now[worst] > 1 and function != "Graph":
            with pytest.raises(tc.CapacityError, match=f'"{worst}"') as caught:
                call(graph, memory_limit=now[worst] - 1)
            assert str(caught.value).endswith(": raise the limit")
        # Their rows come on top.
        listing = {"list_triangles", "iter_triangles", "triangles_by_type", "k_truss"}
        listing |= {"truss_communities"}
        more = (costs.LISTED + 3 * graph._prepared.ids.text) * 34220 if function in listing else 0
        more += (costs.PAIRED + 2 * graph._prepared.ids.text) * 600 * (function == "most_similar")
        if function in {"bitruss", "annotate"}:  # the index of wedges does
            more += (costs.WEDGE + costs.SORTED_WEDGE) * 60 * 59 * 58 // 3
        call(graph, memory_limit=max(now.get(worst, 1), 1) + more)
        # Of a sample, and for measures that were not asked for, there is a layout to be made.
        # A GPU counts the edges of so small a graph without one.
        laid_out = function not in {"approximate_count", "similarity"} and (
            function not in {"annotate", "truss_hierarchy"}
            or backend.engine_kwargs["engine"] == "cpu"
        )
        assert "layout" not in now or not again or not laid_out
    if function in {"trussness", "annotate", "annotate_vertices"}:
        assert "peel" not in stage_bytes(graph, function=function)


def test_what_was_counted_is_not_counted_again(backend):
    graph = tc.Graph(backend.frame(complete(60).frame()))
    tc.edge_triangles(graph)
    assert stage_bytes(graph) == {}
    assert tc.count(graph, memory_limit=1) == 34220
    assert list(stage_bytes(graph, function="vertex_triangles")) == ["columns"]
    layout = ["layout"] * ("layout" not in vars(graph._prepared))  # a small graph needs none before
    assert list(stage_bytes(graph, function="list_triangles")) == [*layout, "count", "columns"]


def test_narrower_ids_are_no_advice_for_a_graph(backend):
    edges = backend.frame(complete(60).frame())
    for call, given, told in (
        (tc.Graph, edges, "narrower"),
        (tc.trussness, tc.Graph(edges), "raise the limit$"),
    ):
        with pytest.raises(tc.CapacityError, match=told):
            call(given, memory_limit=1000)


# What no option takes; most cannot be hashed, or say neither yes nor no when they are compared.
ODD = [
    ["count"], {"count": 1}, {"count"}, ("count", 1), np.array(["count", "auto"]), np.array([2, 3]),
    pd.Series([2, 3]), pd.DataFrame({"a": [1]}), pd.NA, object(), len, b"count", 2.5, float("nan"),
    "nonsense", -1,
]  # fmt: skip
OPTIONS = [  # every one that names or counts something, with what its function needs beside it
    (function, option.name)
    for name, function in sorted(vars(tc).items())
    if name in tc.__all__ and (name == "Graph" or inspect.isfunction(function))
    for option in inspect.signature(function).parameters.values()
    if option.kind is option.KEYWORD_ONLY or option.name in ("k", "top")
    if name not in ("methods", "register_accessor") and option.name not in ("vertices", "pairs")
]
BESIDE = {"k_truss": {"k": 3}, "truss_communities": {"k": 3}, "iter_triangles": {"max_rows": 2}}
BESIDE["iter_project"] = {"max_rows": 2}
BESIDE["approximate_count"] = {"colors": 2, "seed": 1}
BESIDE |= {"balance": {"sign": "dst"}, "triangles_by_type": {"edge_type": "dst"}}
BESIDE["triangles_over_time"] = {"time": "src", "window": 2}


LABELS = ("weight", "sign", "edge_type")


def misused(function, edges, option, **beside):
    """An error that names the option: never what Python says of things it cannot compare."""
    named = function in (tc.annotate, tc.annotate_vertices)
    given, beside = ("triangles",) * named, {**beside}
    errors = ValueError, TypeError, tc.ColumnNotFoundError
    for wrong in ODD:
        if option == "origin" and repr(wrong) in ("2.5", "-1"):  # of times that are numbers
            continue
        with pytest.raises(errors, match=f"{option}=") as caught:
            function(edges, *given, **{**beside, option: wrong})
        assert "ambiguous" not in str(caught.value)


@pytest.mark.parametrize(
    ("function", "option"), OPTIONS, ids=[f"{f.__name__}-{name}" for f, name in OPTIONS]
)
def test_an_option_that_is_nothing_of_the_kind(backend, function, option):
    beside = BESIDE.get(function.__name__, {})
    edges = backend.frame(small())
    misused(function, edges, option, source="src", destination="dst", **beside)
    if function is not tc.Graph and option not in ("source", "destination", *LABELS):
        misused(function, tc.Graph(edges), option, **beside)


def test_columns_that_are_none(backend):
    for wrong in ODD:
        with pytest.raises(ValueError, match=r"columns=|annotate"):
            tc.annotate(backend.frame(small()), "triangles", wrong)


def test_an_estimate_takes_what_functions_take(backend):
    edges = backend.frame(small())
    plain = stage_bytes(edges)
    for progress in (None, True, False):
        assert stage_bytes(edges, progress=progress, memory_limit=1) == plain
    with pytest.raises(ValueError, match="memory_limit="):
        tc.memory_estimate(edges, memory_limit=0)


def test_an_estimate_takes_a_method_where_the_function_does(backend):
    edges = backend.frame(small())
    for function, own in record.estimated().items():
        takes = "method" in inspect.signature(getattr(tc, function)).parameters
        assert takes == own.takes_method
        if not takes:
            with pytest.raises(ValueError, match=f"method='polak': {function} takes none"):
                tc.memory_estimate(edges, function=function, method="polak")


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", ["str", "object"])
def test_the_text_of_long_ids_counts_where_every_row_has_it(dtype):
    """A frame of Arrow's text holds it in each row; rows of objects share Python's strings."""
    edges = ("x" * 1000 + complete(40).frame().astype("str")).astype(dtype)
    triangles, allowed = 9880, 2 * 10**6  # bytes beside what the graph takes
    limit = tc.memory_estimate(edges, function="list_triangles")["columns"] + allowed
    assert costs.LISTED * triangles < allowed < 3000 * triangles
    if dtype == "object":
        found = tc.list_triangles(edges, memory_limit=limit)
        assert len(found) == triangles and len({*map(id, found["u"])}) == found["u"].nunique()
    else:
        told = r"9,880 triangles takes about 3\d,\d{3},\d{3} bytes"
        with pytest.raises(tc.CapacityError, match=told):
            tc.list_triangles(edges, memory_limit=limit)
    free = replace(budget_of(10**9, "simple_edges", registry.costs_of("cpu")), with_answer=True)
    assert replace(free, text=1000).result(9) == free.result(9) + 18_000


@pytest.mark.cpu_only
def test_a_limit_is_beside_edges_of_long_text():
    rng = np.random.default_rng(0)
    ends = pd.DataFrame(rng.integers(0, 300, (40_000, 2)), columns=["src", "dst"])
    edges = "x" * 500 + ends.astype("str")
    assert tc.simple_edges(edges, memory_limit=5 * 10**6).equals(tc.simple_edges(edges))


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "function",
    [tc.count, tc.clustering, tc.triad_counts, partial(tc.k_truss, k=5), tc.edge_triangles],
)
def test_the_limit_that_an_error_asks_for_is_enough_for_what_it_names(backend, function):
    edges = datasets.rmat(12)
    with pytest.raises(tc.CapacityError, match="however the edges are cut up") as error:
        function(edges, memory_limit=2**17)
    asked = int(re.search(r"about ([\d,]+) bytes", str(error.value))[1].replace(",", ""))
    with pytest.raises(tc.CapacityError, match="however the edges are cut up"):
        function(edges, memory_limit=asked - 1)
    try:
        function(edges, memory_limit=asked)
    except tc.CapacityError as other:
        assert "however" not in str(other)


# A call that Python itself would refuse -----------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: tc.count(small(), "src"), r"count() takes 1 positional argument but 2 were"),
        (lambda g: tc.count(small(), nothing=1), r"unexpected keyword argument 'nothing'"),
        (lambda g: tc.k_truss(small(), sorce=3), r"k_truss() got an unexpected keyword argument"),
        (lambda g: tc.k_truss(small()), r"k_truss() missing 1 required positional argument: 'k'"),
        (lambda g: tc.balance(g, by="src"), r"missing 1 required keyword-only argument"),
        (lambda g: g.count(1), r"count() takes 1 positional argument but 2 were given"),
        (lambda g: g.annotate(columns="triangles"), r"annotate() got an unexpected keyword"),
        (lambda g: tc.count(g, edges=g), r"count() got multiple values for argument 'edges'"),
    ],
)
def test_a_wrong_call_is_refused_in_the_words_of_python(backend, call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call(tc.Graph(small()))


def _typed():
    yield from (getattr(tc, name) for name in tc.__all__ if name not in tc.MODULES)
    yield from (tc.Graph.__init__, tc.Graph.csr.fget, files.read_edges)
    for module in (datasets, plot):
        yield from (f for f in vars(module).values() if _is_public(f, module))


def _is_public(value, module):
    private = getattr(value, "__name__", "_").startswith("_")
    return not private and inspect.isfunction(value) and value.__module__ == module.__name__


@pytest.mark.parametrize("typed", list(_typed()), ids=lambda typed: typed.__qualname__)
def test_type_hints_can_be_evaluated(backend, typed):
    """Tools that make forms and command lines of functions evaluate them."""
    hints = typing.get_type_hints(typed)
    assert inspect.isclass(typed) or "return" in hints
