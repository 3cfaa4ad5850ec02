"""The house rules of the code: who may import whom, how long, how documented, how told."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import networkx as nx
import pytest
import reference

import rapids_tc as tc
from rapids_tc import datasets, files, plot

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "rapids_tc"
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
UNITS = {name.removesuffix(".py").split("/")[0] for name in MODULES} - {"__init__"}
KERNELS = sorted(PACKAGE.rglob("*.cu")) + sorted(PACKAGE.rglob("*.cuh"))

# What a file or folder of ours may import of ours; a folder's files may also import each other.
BASE = {"errors", "_progress", "frames"}
ALLOWED = {
    "errors": set(),
    "_cache": set(),
    "_compiling": set(),
    "_progress": {"errors", "_compiling"},
    "frames": {"errors", "_progress", "executors"},
    "kernels": {"errors", "_compiling"},
    "preparation": BASE,
    "engines": {"errors", "frames", "_cache", "_compiling", "preparation", "kernels"},
    "plan": {"engines", "errors", "kernels", "blocks", "frames", "preparation"},
    "blocks": BASE | {"preparation", "engines", "plan", "analytics", "graphs"},
    "graphs": BASE | {"preparation", "engines", "plan", "blocks", "kernels", "executors"},
    "executors": BASE | {"preparation", "engines", "plan", "blocks", "graphs", "analytics"},
    "analytics": BASE | {"preparation", "engines", "plan", "blocks", "graphs", "kernels"},
    "bench": BASE | {"preparation", "engines", "plan", "graphs", "analytics", "kernels"},
    "plot": BASE | {"preparation", "graphs", "analytics"},
    "datasets": {"errors"},
    "files": {"errors", "engines"},
    "testing": {"errors", "frames", "_cache", "_compiling", "engines", "kernels"},
    "interop": {""},
    "cli": {"", "_cache", "_compiling", "_progress", "bench", "datasets", "files"},
    "": {"analytics", "datasets", "errors", "files", "graphs", "interop", "plot"},
}
LOADERS = ("import_module", "_library")  # functions that import what they are given the name of
# The only files that import these, top level or not.
HOMES = {
    "matplotlib": {"plot.py"},
    "networkx": {
        "bench/neighbours.py",
        "interop/networkx.py",
        "interop/_networkx_graph.py",
        "plot.py",
    },
    "cupy": {"engines/gpu/cuda.py", "kernels/_nvrtc.py", "frames/backend.py"},
    "dask": {"executors/dask_frames.py", "executors/dask_cluster.py", "executors/persisted.py"},
    "distributed": {"executors/dask_cluster.py", "executors/persisted.py", "executors/watch.py"},
    "dask_cudf": set(),  # nobody needs to
    "dask_cuda": set(),
    "numba": {
        "engines/cpu/counting.py",
        "engines/cpu/truss.py",
        "engines/cpu/raw_rows.py",
        "engines/cpu/compiled.py",
        "engines/cpu/parallel.py",
    },
}
# The definition in reference.py of every function that computes an answer.
DEFINITIONS = {
    "annotate": "edge_triangles",
    "approximate_count": "approximate_count",
    "average_clustering": "average_clustering",
    "clustering": "clustering",
    "count": "count",
    "edge_triangles": "edge_triangles",
    "k_truss": "k_truss",
    "iter_triangles": "list_triangles",
    "list_triangles": "list_triangles",
    "similarity": "similarity",
    "simple_edges": "simple_edges",
    "transitivity": "transitivity",
    "triad_counts": "triad_counts",
    "trussness": "trussness",
    "vertex_triangles": "vertex_triangles",
}
NO_ANSWERS = {"Graph", "memory_estimate"}
NO_GRAPH = {"Estimate", "methods", "register_accessor"}


def unit(name):
    """What the import rule calls a module: its first name, "" for the package itself."""
    first = name.removesuffix(".py").replace("/", ".").split(".")[0]
    return first if first in UNITS else ""


def at_once(tree):
    """The nodes of a module that run when it is imported."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not later and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            yield node
            waiting += ast.iter_child_nodes(node)


def imports(path, nodes=ast.walk, root=ROOT):
    """Absolute dotted names that a module imports, wherever in it."""
    parts = path.relative_to(root).with_suffix("").parts
    for node in nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            yield from (f"{module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(LOADERS):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


CLOCK = r"assert\b.*\b(perf_counter|monotonic|time\.time)\("


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("*.py")), ids=lambda p: p.name)
def test_no_test_fails_because_the_machine_is_busy(path):
    """What hangs is ended by pytest's own timeout, the one bar there is."""
    slow = [line.strip() for line in path.read_text().splitlines() if re.search(CLOCK, line)]
    assert not [line for line in slow if not line.startswith("CLOCK =")]


@pytest.mark.parametrize("name", MODULES)
def test_imports_never_go_upward(name):
    assert unit(name) in ALLOWED, f"say in ALLOWED what {name} may import"
    for dotted in imports(MODULES[name]):
        if re.match(r"rapids_tc\b", dotted):
            target = unit(dotted.removeprefix("rapids_tc").lstrip("."))
            assert target in ALLOWED[unit(name)] | {unit(name)}, f"{name} imports {dotted}"


def circles(package, nodes=ast.walk):
    """Sets of modules of a package that import each other in a circle."""
    root = package.parent
    paths = {path.with_suffix(""): path for path in sorted(package.rglob("*.py"))}
    names = {".".join(at.relative_to(root).parts): path for at, path in paths.items()}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    graph = nx.DiGraph()
    for name, path in names.items():
        for dotted in imports(path, nodes, root):
            target = dotted if dotted in names else dotted.rpartition(".")[0]
            graph.add_edges_from([(name, target)] * (target in names))
    return [found for found in nx.strongly_connected_components(graph) if len(found) > 1]


# What imports each other today; it may become less. The first do so when they are imported.
CIRCLES = [
    {"", "interop.accessor"},
    {"blocks.truss", "graphs.out_of_core"},
    {f"analytics.{name}" for name in ("annotate", "approximate", "similarity", "truss")}
    | {f"blocks.{name}" for name in ("counting", "id_tasks", "peeling", "row_lookup")}
    | {f"blocks.{name}" for name in ("sorting", "sums", "worker_tasks")}
    | {f"graphs.{name}" for name in ("distributed", "in_memory", "resolve")}
    | {"executors.dask_frames", "frames.device"},
]


@pytest.mark.parametrize("nodes, known", [(at_once, CIRCLES[:1]), (ast.walk, CIRCLES)])
def test_no_more_modules_import_each_other(nodes, known):
    for circle in circles(PACKAGE, nodes):
        found = {name.removeprefix("rapids_tc").lstrip(".") for name in circle}
        assert any(found <= those for those in known), f"a new circle of imports in {sorted(found)}"


def test_a_circle_of_imports_is_found(tmp_path):
    package = tmp_path / "ours"
    (package / "room").mkdir(parents=True)
    texts = {
        "__init__.py": "",
        "a.py": "from ours.room import b\n",
        "room/__init__.py": "",
        "room/b.py": "from . import c\nimport os\n",
        "room/c.py": "def f():\n    from ours.a import g\n",
        "d.py": "from ours.room.c import f\n",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    assert circles(package) == [{"ours.a", "ours.room.b", "ours.room.c"}]
    assert circles(package, at_once) == []
    (package / "room/c.py").write_text("import ours.a\n")
    assert circles(package, at_once) == circles(package)


@pytest.mark.parametrize("name", MODULES)
def test_libraries_are_imported_at_home_only(name):
    for library in {dotted.split(".")[0] for dotted in imports(MODULES[name])} & HOMES.keys():
        assert name in HOMES[library], f"{name} imports {library}"


def test_the_allow_lists_name_no_ghosts():
    assert ALLOWED.keys() | set().union(*ALLOWED.values()) == UNITS | {""}
    for library, names in HOMES.items():
        for name in names:
            assert library in {dotted.split(".")[0] for dotted in imports(MODULES[name])}, name


def code_lines(path):
    """The number of lines of a module that belong to no docstring."""
    source = path.read_text()
    docs = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            docs += node.body[0].end_lineno - node.body[0].lineno + 1
    return len(source.splitlines()) - docs


def test_modules_are_short():
    assert not {name: n for name, path in MODULES.items() if (n := code_lines(path)) > 300}


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_are_short_and_keep_their_rules(path):
    source = path.read_text()
    assert len(source.splitlines()) <= 250
    assert "__activemask(" not in source
    assert not re.search(r"#\s*include\s*<", source)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize("name", MODULES)
def test_kernel_source_is_not_python_text(name):
    tree = ast.parse(MODULES[name].read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            kernel = re.search(r"(__global__|__device__)[^{]*{", node.value)
            assert id(node) in docstrings or not kernel


def test_importing_the_package_loads_nothing_heavy():
    heavy = "pandas cupy cudf dask distributed numba networkx pyarrow polars matplotlib rich scipy"
    code = f"import sys, rapids_tc; print([m for m in {heavy.split()} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (out.stdout, out.stderr) == ("[]\n", "")


def test_the_modules_beside_the_functions_are_there_at_once():
    """Whatever the documentation writes as tc.module.name, without another import."""
    code = """
        import sys, rapids_tc as tc
        names = [n for n in dir(tc) if n in ("datasets", "files", "plot")]
        loaded = [n for n in names if f"rapids_tc.{n}" in sys.modules]
        print(names, loaded, [getattr(tc, n).__name__ for n in names], hasattr(tc, "nothing"))
    """
    run = [sys.executable, "-c", inspect.cleandoc(code)]
    out = subprocess.run(run, capture_output=True, text=True, check=True)
    names = ["datasets", "files", "plot"]
    assert out.stdout == f"{names} [] {[f'rapids_tc.{n}' for n in names]} False\n"


# Documentation ------------------------------------------------------------------------------------


ERRORS = {name for name in tc.__all__ if name.endswith("Error")}
PUBLIC = {name: getattr(tc, name) for name in tc.__all__} | {
    "datasets.karate": datasets.karate,
    "datasets.rmat": datasets.rmat,
    "files.read_edges": files.read_edges,
    "plot.clustering_by_degree": plot.clustering_by_degree,
    "plot.draw_truss": plot.draw_truss,
    "plot.triangle_distribution": plot.triangle_distribution,
    "plot.truss_profile": plot.truss_profile,
}
DOCUMENTED = sorted(PUBLIC.keys() - ERRORS)


def sections(text):
    """{heading: body} of a numpydoc docstring."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", inspect.cleandoc(text), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_a_summary_line(name):
    summary = inspect.getdoc(PUBLIC[name]).splitlines()[0]
    assert summary.endswith(".") and len(summary) > 10


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_name_is_documented(name):
    value = PUBLIC[name]
    doc = sections(value.__doc__)
    parameters = re.findall(r"^(\S.*?) ?(?::|$)", doc.get("Parameters", ""), re.M)
    named = set(re.findall(r"\w+", " ".join(parameters)))
    for parameter in inspect.signature(value).parameters:
        assert parameter in named, f"{parameter} is not in the docstring"
    if inspect.isfunction(value):
        assert doc["Returns"].strip()
    assert ">>>" in doc["Examples"]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_examples_run(name):
    finder = doctest.DocTestFinder(recurse=inspect.isclass(PUBLIC[name]))
    tests = finder.find(PUBLIC[name], name, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report = []
    for test in tests:
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
    assert runner.tries > 0


def test_what_a_graph_shows_is_documented():
    attributes = sections(tc.Graph.__doc__)["Attributes"]
    assert {"n_vertices", "n_edges"} <= set(re.findall(r"^(\w+) :", attributes, re.M))
    for name, member in inspect.getmembers(tc.Graph):
        if not name.startswith("_"):
            assert inspect.getdoc(member) or re.search(rf"^{name}\b", attributes, re.M), name


# The steps of a new analytic ----------------------------------------------------------------------


def test_every_answer_has_a_definition():
    assert set(tc.__all__) == DEFINITIONS.keys() | NO_ANSWERS | NO_GRAPH | ERRORS
    for definition in DEFINITIONS.values():
        assert inspect.getdoc(getattr(reference, definition))


def test_every_function_is_in_the_changelog():
    told = (ROOT / "CHANGELOG.md").read_text()
    names = DEFINITIONS.keys() | NO_ANSWERS | NO_GRAPH
    assert [name for name in names if not re.search(rf"\b{name}\b", told)] == []


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert tc.__version__ == project["version"] == citation[1]
    assert re.search(
        rf"^## {re.escape(tc.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M
    )


def test_every_error_is_ours_and_a_builtin():
    builtin = {
        "ColumnNotFoundError": KeyError,
        "IdTypeError": TypeError,
        "NullIdError": ValueError,
        "CapacityError": MemoryError,
        "KernelError": RuntimeError,
    }
    assert {*builtin, "RapidsTCError"} == ERRORS
    for name, base in builtin.items():
        assert issubclass(getattr(tc, name), base)
        assert issubclass(getattr(tc, name), tc.RapidsTCError)


def test_the_frame_alone_is_positional():
    for name in DEFINITIONS.keys() | NO_ANSWERS:
        parameters = list(inspect.signature(getattr(tc, name)).parameters.values())
        assert parameters[0].name == "edges"
        positional = [p.name for p in parameters[1:] if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert positional == (["k"] if name == "k_truss" else [])
        keywords = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
        assert {"source", "destination", "engine", "progress", "memory_limit"} <= keywords
