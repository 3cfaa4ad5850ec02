"""The house rules of the code: who may import whom, how long, how documented, how told."""

import ast
import doctest
import inspect
import json
import re
import runpy
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from runpy import run_path

import networkx as nx
import pytest
import reference
from needs import need_module
from public_names import ERRORS, PUBLIC

import rapids_tc as tc
from rapids_tc.interop.accessor import _accessor
from rapids_tc.plan.record import ANALYTICS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "rapids_tc"
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
UNITS = {name.removesuffix(".py").split("/")[0] for name in MODULES} - {"__init__"}
KERNELS = sorted(PACKAGE.rglob("*.cu")) + sorted(PACKAGE.rglob("*.cuh"))

# The rooms from the lowest on: a module may import from its own tier and from those below it.
TIERS = [
    {"errors", "_arguments", "_cache", "_compiling", "_parallel", "_typing", "plan.costs"},
    {"_progress", "kernels"},
    {"frames"},
    {"preparation"},
    {"engines"},
    {"plan"},
    {"executors"},
    {"blocks"},
    {"graphs", "updates"},
    {"analytics"},
    {"datasets", "files", "plot", "spark", "testing"},
    {"interop"},
    {""},
    {"bench", "cli"},
    {"__main__"},
]
LEAVES = {"plan.costs"}  # modules that import nothing of ours, and so stand apart from their rooms
LAZY = {("", "interop"), ("interop", "")}  # other libraries' doors open on the whole package
LOADERS = ("import_module", "library")  # functions that import what they are given the name of
# The only files that import these, top level or not.
HOMES = {
    "matplotlib": {"plot/answers.py", "plot/style.py", "plot/trusses.py"},
    "networkx": {
        "bench/other_libraries.py",
        "files/networks.py",
        "interop/networkx.py",
        "interop/_networkx_bipartite.py",
        "interop/_networkx_graph.py",
        "interop/_networkx_pairs.py",
        "plot/answers.py",
        "plot/trusses.py",
    },
    "cupy": {
        "engines/gpu/cuda.py",
        "executors/spark_rows.py",
        "frames/adapters.py",
        "kernels/_nvrtc.py",
    },
    "dask": {f"executors/{name}.py" for name in ("dask_cluster", "messages", "persisted", "watch")},
    "distributed": {
        f"executors/{name}.py"
        for name in ("dask_cluster", "messages", "persisted", "waiting", "watch")
    },
    "pyspark": {f"executors/{name}.py" for name in ("registry", "spark_cluster", "spark_rows")},
    "dask_cudf": set(),  # nobody needs to
    "dask_cuda": set(),
    "numba": {
        "_parallel.py",
        "engines/cpu/compiled.py",
        "engines/cpu/parallel.py",
    },
}
# The public names themselves; NetworkX's names of its own functions.
TABLES = {"__init__.py", "interop/_networkx_info.py"}
# What is public and no analytic, and so has no record.
BESIDE = {
    "Delta", "Estimate", "Graph", "memory_estimate", "methods", "register_accessor",
    "release_memory", "Triangles",
}  # fmt: skip


def unit(name):
    """What the import rule calls a module: its first name, "" for the package itself."""
    first, *rest = name.removesuffix(".py").replace("/", ".").split(".")
    if ".".join([first, *rest[:1]]) in LEAVES:
        return f"{first}.{rest[0]}"
    return first if first in UNITS else ""


@cache
def parsed(text):
    """The tree of a module, which many rules read."""
    return ast.parse(text)


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
    return imported(path.read_text(), path.relative_to(root).with_suffix("").parts, nodes)


@cache
def imported(text, parts, nodes):
    """What `imports` says of the text of a module with this place."""
    found = []
    for node in nodes(parsed(text)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            found += [f"{module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called.endswith(LOADERS):
                found += [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return found


CLOCK = r"assert\b.*\b(perf_counter|monotonic|time\.time)\("


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("*.py")), ids=lambda p: p.name)
def test_no_test_fails_because_the_machine_is_busy(path):
    """What hangs is ended by pytest's own timeout, the one bar there is."""
    slow = [line.strip() for line in path.read_text().splitlines() if re.search(CLOCK, line)]
    assert not [line for line in slow if not line.startswith("CLOCK =")]


def ours(name):
    """The rooms that a module imports from."""
    for dotted in imports(MODULES[name]):
        if re.match(r"rapids_tc\b", dotted):
            yield unit(dotted.removeprefix("rapids_tc").lstrip("."))


def test_imports_never_go_upward():
    tier = {room: height for height, rooms in enumerate(TIERS) for room in rooms}
    assert tier.keys() == UNITS | LEAVES | {""}, "say in TIERS where a new room stands"
    upward = {
        (name, room)
        for name in MODULES
        for room in ours(name)
        if tier[room] > tier[unit(name)] and (unit(name), room) not in LAZY
    }
    assert upward == set()


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


def test_no_modules_import_each_other():
    """Imports inside of functions and for type checkers included."""
    assert circles(PACKAGE) == []


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


def test_libraries_are_imported_at_home_only():
    found = {library: set() for library in HOMES}
    for name, path in MODULES.items():
        for library in {dotted.split(".")[0] for dotted in imports(path)} & HOMES.keys():
            found[library].add(name)
    assert found == HOMES


def test_modules_are_short():
    lines = runpy.run_path(str(ROOT / ".ci/size.py"))["code_lines"]
    texts = {name: path.read_text() for name, path in MODULES.items()}
    long = {name: text for name, text in texts.items() if text.count("\n") > 400}  # docstrings too
    assert not {name: n for name, text in long.items() if (n := lines(text)) > 400}


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_are_short_and_keep_their_rules(path):
    source = path.read_text()
    assert len(source.splitlines()) <= 250
    assert "__activemask(" not in source
    assert not re.search(r"#\s*include\s*<", source)


def test_no_test_imports_another():
    """What tests share is in modules of their own."""
    files = sorted((ROOT / "tests").glob("*.py"))
    shared = {p.name: [n for n in imports(p) if n.startswith("test_")] for p in files}
    assert {name: found for name, found in shared.items() if found} == {}


SKIPS = ("pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.xfail")


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("*.py")), ids=lambda p: p.name)
def test_no_test_is_skipped_in_silence(path):
    """What is missing fails in CI, by `needs.need` and `need_module`; any other skip says why."""
    calls = [node for node in ast.walk(parsed(path.read_text())) if isinstance(node, ast.Call)]
    names = [ast.unparse(call.func) for call in calls]
    assert not [name for name in names if name.endswith("importorskip")]
    skips = [call for call, name in zip(calls, names, strict=True) if name in SKIPS]
    assert not [
        ast.unparse(call)
        for call in skips
        if not [word for word in call.keywords if word.arg == "reason"]
        and (not call.args or ast.unparse(call.func).endswith("skipif"))
    ]


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_what_is_missing_fails_in_ci_alone(monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="needs no_such_package, which cannot be imported"):
        need_module("no_such_package")
    assert need_module("json") is json


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_kernel_source_is_not_python_text():
    for name, path in MODULES.items():
        tree = parsed(path.read_text())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                kernel = re.search(r"(__global__|__device__)[^{]*{", node.value)
                assert id(node) in docstrings or not kernel, name


def sliced(node):
    """What a slice of an array is taken of, as text; None of anything else."""
    if not isinstance(node, ast.Subscript):
        return None
    has_slice = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
    return ast.unparse(node.value) if has_slice else None


def copies_within_an_array(tree):
    """The assignments of one slice of an array to another slice of it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = [*zip(target.elts, node.value.elts, strict=False)]  # but what is starred
            for to, of in pairs:
                if sliced(to) is not None and sliced(to) == sliced(of):
                    yield ast.unparse(node)


def test_no_array_is_copied_onto_itself():
    """CuPy makes one copy by CUDA of it, which may not overlap; NumPy would buffer it."""
    found = {name: [*copies_within_an_array(parsed(p.read_text()))] for name, p in MODULES.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("code", "overlaps"),
    [
        ("a[:-1] = a[1:]", True),
        ("b, a.x[1:] = c, a.x[:-1]", True),
        ("a[:, 1:] = a[:, :-1]", True),
        ("a[:-1] = a[1:].copy()", False),
        ("a[:-1] = b[1:]", False),
        ("a[0] = a[1]", False),
    ],
)
def test_a_copy_within_an_array_is_noticed(code, overlaps):
    assert len([*copies_within_an_array(ast.parse(code))]) == overlaps


def test_importing_the_package_loads_nothing_heavy():
    heavy = "pandas cupy cudf dask distributed numba networkx pyarrow polars matplotlib rich scipy"
    code = f"import sys, rapids_tc; print([m for m in {heavy.split()} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (out.stdout, out.stderr) == ("[]\n", "")


def test_the_modules_beside_the_functions_are_there_at_once():
    """Whatever the documentation writes as tc.module.name, without another import."""
    code = """
        import sys, rapids_tc as tc
        names = [n for n in dir(tc) if n in ("datasets", "files", "plot", "spark")]
        loaded = [n for n in names if f"rapids_tc.{n}" in sys.modules]
        print(names, loaded, [getattr(tc, n).__name__ for n in names], hasattr(tc, "nothing"))
    """
    run = [sys.executable, "-c", inspect.cleandoc(code)]
    out = subprocess.run(run, capture_output=True, text=True, check=True)
    names = ["datasets", "files", "plot", "spark"]
    assert out.stdout == f"{names} [] {[f'rapids_tc.{n}' for n in names]} False\n"


# Documentation ------------------------------------------------------------------------------------


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
    if name in ANALYTICS:
        others = re.findall(r"^(\w+) :", doc["See Also"], re.M)
        assert others and name not in others and set(others) <= PUBLIC.keys()


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


def test_every_public_name_has_a_record():
    recorded = set(ANALYTICS) | BESIDE | ERRORS | {*tc.MODULES}
    assert set(tc.__all__) - recorded == set(), (
        "give it a record: @analytic, in rapids_tc/analytics"
    )
    assert recorded - set(tc.__all__) == set(), "import it in rapids_tc/__init__.py, in __all__ too"


def test_every_topic_is_public():
    """A module that nobody imports registers nothing."""
    written = {
        node.name
        for path in (PACKAGE / "analytics").glob("*.py")
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any("analytic(" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    assert written - set(tc.__all__) == set(), "import it in rapids_tc/__init__.py"


def test_type_checkers_see_what_is_public():
    made = run_path(str(ROOT / ".ci" / "stub.py"))
    assert made["STUB"].read_text() == made["made"](), "run python .ci/stub.py"


def test_every_record_has_a_definition():
    missing = [name for name in ANALYTICS if not inspect.getdoc(getattr(reference, name, None))]
    assert missing == [], "say in tests/reference.py what they mean"


def test_no_other_table_has_the_names_of_functions():
    """A set, list or dict of three or more names of analytics is a table that can be forgotten."""
    tables = [
        (name, node.lineno)
        for name, path in MODULES.items()
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, ast.Set | ast.List | ast.Tuple | ast.Dict)
        and sum(
            isinstance(item, ast.Constant) and item.value in ANALYTICS
            for item in (node.keys if isinstance(node, ast.Dict) else node.elts)
        )
        > 2
    ]
    assert [at for at in tables if at[0] not in TABLES] == []


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


def test_the_frame_and_a_number_alone_are_positional():
    """As docs/stability.md says, in functions, in methods of `Graph` and in the accessor."""
    assert (
        "the frame (and `k`, or\n  `top`) by position" in (ROOT / "docs/stability.md").read_text()
    )
    accessor = vars(_accessor())
    for name in [*ANALYTICS, "Graph", "memory_estimate"]:
        function = getattr(tc, name)
        for call in (function, getattr(tc.Graph, name, function), accessor[name]):
            first, *others = inspect.signature(call).parameters.values()
            assert first.name == ("self" if call is accessor[name] else "edges")
            positional = [p.name for p in others if p.kind is p.POSITIONAL_OR_KEYWORD]
            keywords = {p.name for p in others if p.kind is p.KEYWORD_ONLY}
            assert positional == [name for name in ("k", "top") if name in {*positional, *keywords}]
            assert {"source", "destination", "engine", "progress", "memory_limit"} <= keywords
    for draw in (function for name, function in PUBLIC.items() if name.startswith("plot.")):
        first, *others = inspect.signature(draw).parameters.values()
        by_place = {p.name for p in others if p.kind is not p.KEYWORD_ONLY}
        assert first.name == "edges" and by_place == {"k"} & {p.name for p in others}


def test_a_small_count_crosses_few_files():
    moves = runpy.run_path(ROOT / ".ci/moves.py")
    edges = moves["pd"].DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    files, crossings = moves["crossed"](lambda: tc.count(edges))
    assert files <= 21
    assert crossings <= 64


def test_a_trussness_in_blocks_crosses_few_files():
    moves = runpy.run_path(ROOT / ".ci/moves.py")
    edges = moves["pd"].DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    files, crossings = moves["crossed"](lambda: moves["truss_of_blocks"](edges))
    assert files <= 66
    assert crossings <= 1_924
