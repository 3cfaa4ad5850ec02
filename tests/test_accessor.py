"""`df.tc`: the functions as methods, registered by the user and by nothing else."""

import inspect
import subprocess
import sys
import types
import warnings

import pandas as pd
import pytest
from graphs import small

import rapids_tc as tc

ARGUMENTS = {
    "approximate_count": ([], {"colors": 2, "seed": 5}),
    "annotate": (["triangles", "jaccard"], {}),
    "annotate_vertices": (["degree", "trussness"], {}),
    "iter_project": ([], {"max_rows": 2}),
    "iter_triangles": ([], {"max_rows": 2}),
    "balance": ([], {"sign": "to"}),
    "k_truss": ([3], {}),
    "truss_communities": ([3], {}),
    "triangles_by_type": ([], {"edge_type": "to", "aggregate": "last"}),
    "triangles_over_time": ([], {"time": "from"}),
}
TAKING_EDGES = [
    name
    for name in tc.__all__
    if not name.endswith("Error")
    and name not in ("Delta", *tc.MODULES)
    and "edges" in inspect.signature(getattr(tc, name)).parameters
]


@pytest.fixture(autouse=True)
def unregistered():
    """No frame has an accessor of ours before a test or after it."""
    yield
    libraries = ("pandas", "cudf", "dask.dataframe", "polars")
    classes = [(library, "DataFrame") for library in libraries] + [("polars", "LazyFrame")]
    for library, kind in classes:
        frame = getattr(sys.modules.get(library), kind, None)
        for name in list(vars(frame or object)):
            if getattr(getattr(frame, name), "__name__", "") == "Accessor":
                delattr(frame, name)
                frame._accessors.discard(name)


def plain(backend, result):
    """A result as something that `==` compares."""
    if inspect.isgenerator(result):
        return [plain(backend, part) for part in result]
    if isinstance(result, tc.Graph):
        return result.n_vertices, result.n_edges
    if hasattr(result, "columns") or hasattr(result, "index"):
        frame = backend.to_pandas(result)
        return frame.astype(object).where(frame.notna(), None).to_dict()
    return result


@pytest.mark.parametrize("name", TAKING_EDGES)
def test_every_function_is_a_method(backend, name):
    edges = backend.frame(small("from", "to"))
    tc.register_accessor()
    args, keywords = ARGUMENTS.get(name, ([], {}))
    keywords = {**keywords, "source": "from", "destination": "to"}
    function, method = getattr(tc, name), getattr(edges.tc, name)
    found = plain(backend, method(*args, **keywords))
    assert found == plain(backend, function(edges, *args, **keywords))
    assert method.__doc__ == function.__doc__
    theirs = list(inspect.signature(function).parameters.values())[1:]
    assert list(inspect.signature(method).parameters.values()) == theirs


def test_there_is_a_method_for_each_and_no_more(backend):
    tc.register_accessor()
    methods = {name for name in dir(backend.frame(small()).tc) if not name.startswith("_")}
    assert methods == set(TAKING_EDGES)
    assert {"count", "Graph", "trussness"} <= methods
    assert "methods" not in methods


def test_twice_is_as_once(backend):
    edges = backend.frame(small())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tc.register_accessor() == tc.register_accessor()
        assert "pandas" in tc.register_accessor("triads")
    assert edges.tc.count() == edges.triads.count() == 1


def test_a_name_that_is_taken(backend):
    for name in ("count", "columns", "str"[:0], "a b", "1", None, "class"):
        with pytest.raises(ValueError, match=r"name|attribute"):
            tc.register_accessor(name)

    @pd.api.extensions.register_dataframe_accessor("mine")
    class Mine:
        def __init__(self, frame):
            pass

    try:
        with pytest.raises(ValueError, match=r"pandas\.DataFrame has an attribute 'mine'"):
            tc.register_accessor("mine")
    finally:
        del pd.DataFrame.mine
        pd.DataFrame._accessors.discard("mine")


@pytest.mark.pandas_only
def test_an_attribute_that_is_none_is_not_replaced(monkeypatch):
    monkeypatch.setattr(pd.DataFrame, "nothing", None, raising=False)
    with pytest.raises(ValueError, match="an attribute 'nothing' already"):
        tc.register_accessor("nothing")


@pytest.mark.pandas_only
def test_a_library_imported_later_is_registered_by_another_call(monkeypatch):
    """A stand-in for cuDF, which registers in the same words."""
    before = tc.register_accessor("later")
    cudf, extensions = map(types.ModuleType, ("cudf", "cudf.api.extensions"))
    cudf.DataFrame = frame = type("DataFrame", (), {"_accessors": set()})
    extensions.register_dataframe_accessor = lambda name: lambda it: setattr(frame, name, it)
    monkeypatch.setitem(sys.modules, "cudf", cudf)
    monkeypatch.setitem(sys.modules, "cudf.api", types.ModuleType("cudf.api"))
    monkeypatch.setitem(sys.modules, "cudf.api.extensions", extensions)
    assert set(tc.register_accessor("later")) == {*before, "cudf"}
    assert frame.later is pd.DataFrame.later


def test_frames_of_dask():
    import dask.dataframe as dd

    edges = dd.from_pandas(small(), npartitions=2)
    assert "dask.dataframe" in tc.register_accessor()
    assert edges.tc._frame is edges
    assert {"count", "clustering"} <= set(dir(edges.tc))


def test_nothing_is_registered_by_import():
    code = (
        "import rapids_tc as tc, pandas as pd, sys;"
        "before = hasattr(pd.DataFrame, 'tc');"
        "print(before, tc.register_accessor(), hasattr(pd.DataFrame, 'tc'), 'dask' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False ('pandas',) True False\n"
