"""The documentation: every example on every page runs, every public name has its place."""

import ast
import doctest
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
import yaml
from click.testing import CliRunner
from emulator_support import long
from nbclient import NotebookClient
from needs import need_module
from public_names import PUBLIC

from rapids_tc import plot
from rapids_tc.cli import main
from rapids_tc.interop._networkx_info import FUNCTIONS
from rapids_tc.plan.record import ANALYTICS

pytestmark = pytest.mark.usefixtures("networkx_backend")
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
import drawings  # noqa: E402
import notebooks  # noqa: E402
from drawings.style import COLORS, Sheet  # noqa: E402

PAGES = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# What a fence holds: run here; run on a card; a command of ours and what it prints; not run.
PYTHON, CARD, CONSOLE, SHELL = "python", "python gpu", "console", "sh"
# Code for libraries that are not here.
ELSEWHERE = {f"python {name}" for name in ("cugraph", "graphframes", "scanpy", "spark", "torch")}
# Programs of `sh` fences: they install, build, measure.
NOT_RUN = {"conda", "docker", "pip", "python", "rattler-build", "sbatch", "sphinx-build"}
FENCE = re.compile(r"^```(.*)\n((?:(?!```).*\n)*)```$", re.M)


def fences(text):
    """(what it holds, number of its first line, its lines) of every fenced block."""
    for found in FENCE.finditer(text):
        yield found[1], text[: found.start(2)].count("\n"), found[2]


def examples(page, *kinds):
    """The doctest of a page: its examples of these kinds in one namespace, at their own lines."""
    parser, text, found = doctest.DocTestParser(), page.read_text(), []
    for kind, line, body in fences(text):
        if kind in kinds:
            for example in parser.get_examples(body):
                example.lineno += line
                found.append(example)
    return doctest.DocTest(found, {}, page.name, str(page), 0, text)


def run(page, *kinds):
    runner, report = doctest.DocTestRunner(optionflags=OPTIONS), []
    runner.run(examples(page, *kinds), out=report.append)
    assert not runner.failures, "".join(report)


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """Examples read files of the repository and write into a folder of their own."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page_run(name):
    run(PAGES[name], PYTHON)


@pytest.mark.card_only
@pytest.mark.parametrize("name", [n for n, page in PAGES.items() if examples(page, CARD).examples])
def test_the_examples_of_a_page_run_on_a_card(name):
    if re.search(r"^>>> import polars", PAGES[name].read_text(), re.M):
        need_module("polars")
    run(PAGES[name], PYTHON, CARD)


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(name):
    bodies = [body for kind, _, body in fences(PAGES[name].read_text()) if kind == CONSOLE]
    for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(bodies), re.M):
        program, *arguments = shlex.split(command)
        assert program == "rapids-tc"
        got = CliRunner().invoke(main, arguments).output
        assert doctest.OutputChecker().check_output(wanted, got, OPTIONS), f"{command}\n{got}"


@pytest.mark.parametrize("name", PAGES)
def test_every_block_of_a_page_is_an_example_that_runs(name):
    text = PAGES[name].read_text()
    assert text.count("```") == 2 * len(list(fences(text)))
    for kind, line, body in fences(text):
        if kind in (PYTHON, CARD):
            assert body.startswith(">>> "), f"line {line}: only prompts are run"
        elif kind == CONSOLE:
            assert body.startswith("$ "), f"line {line}: only prompts are run"
        elif kind == SHELL:
            assert {command.split()[0] for command in body.splitlines()} <= NOT_RUN
        elif kind in ELSEWHERE:
            assert compile(body.replace(">>> ", ""), name, "exec")
        else:
            assert kind.startswith("{"), f"line {line}: {kind!r} is not known"


def test_the_install_page_asks_for_what_the_package_does():
    text = PAGES["install.md"].read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = {name for found in re.findall(r"'\.\[([\w,-]+)\]'", text) for name in found.split(",")}
    assert named == extras.keys() - {"docs", "test", "dev"}
    cudf = next(x for x in extras["cu13"] if x.startswith("cudf"))
    release = re.search(r"==([\d.]+)\.\*", cudf)[1]
    assert {*re.findall(r"rapidsai/base:([\d.]+)-", text)} == {release}
    assert f"cudf={release}" in text
    [kubernetes] = [body for kind, _, body in fences(text) if kind == "{code-block} yaml"]
    job = yaml.safe_load(kubernetes)
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][:2] == ["rapids-tc", "count"]


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[long] * (page != "tutorial")) for page in notebooks.PAGES]
)  # the code of all of them runs as that of their pages, too
def test_a_notebook_runs_from_top_to_bottom(page):
    """As a reader's Jupyter would, and shows below each cell what it came with."""
    book = notebooks.notebook(page)
    nbformat.validate(book)
    came_with = [shown(cell) for cell in book.cells]
    assert page.startswith("examples/") or sum(map(bool, came_with)) > 5
    NotebookClient(book, kernel_name="python3", timeout=300).execute()
    if page == "examples/python_imports":  # another Python has other files
        return
    for cell, wanted in zip(book.cells, came_with, strict=True):
        got = shown(cell)
        if "Traceback" not in wanted:
            assert doctest.OutputChecker().check_output(wanted, got, OPTIONS), f"{cell}\n{wanted}"


def test_a_notebook_has_all_of_its_page_but_what_the_site_alone_has():
    """Examples end with their script, and the picture that it draws."""
    for page in notebooks.PAGES:
        book, text = notebooks.notebook(page), (DOCS / f"{page}.md").read_text()
        words = "".join(cell["source"] for cell in book.cells if cell["cell_type"] == "markdown")
        assert not re.search(r"`{3}\{|\{download\}|\]\((?!https:)", words), page
        assert f"_notebooks/{Path(page).name}.ipynb>" in text
        if page.startswith("examples/"):
            *_, last = book.cells
            assert last["source"].count("plt.show()") == 1 and "sys.argv" not in last["source"]
            assert last["outputs"][-1]["data"]["image/svg+xml"].startswith("<?xml")


def shown(cell):
    """The text of what is below a cell."""
    texts = [
        output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        for output in cell.get("outputs", ())
        if output["output_type"] in ("stream", "execute_result") and output.get("name") != "stderr"
    ]
    return "".join(f"{text.rstrip()}\n" for text in texts)


@pytest.mark.cpu_only
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run([*command, DOCS, tmp_path / "site"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    made = (tmp_path / "site" / "performance.html").read_text()
    assert "frame to count" in made and "{{" not in made
    for page in notebooks.PAGES:
        [link] = re.findall(
            r'href="([^"]*\.ipynb)"', (tmp_path / "site" / f"{page}.html").read_text()
        )
        book = (tmp_path / "site" / page).parent / link
        assert nbformat.read(book, as_version=4) == notebooks.notebook(page)
    for page in ("howto/trusses", "api/generated/rapids_tc.k_truss"):
        shown = (tmp_path / "site" / f"{page}.html").read_text()
        for form in drawings.FORMS:
            [image] = re.findall(rf"<img[^>]*k_truss-{form}\.svg[^>]*>", shown)
            assert f"only-{form}" in image and 'alt="Four pictures of one graph.' in image


COLOR = re.compile(r"#[0-9a-f]{6}\b")


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_a_drawing_can_be_read_in_both_forms(name):
    made = drawings.DRAWINGS[name]
    assert made.alt.endswith(".") and len(made.alt) > 80 and made.caption.endswith(".")
    sheet = made.draw()
    assert sheet.clashes() == []
    assert min(text.get_size() for panel in sheet.panels for text in panel.texts) >= 9
    light, dark = sheet.svg(), sheet.svg(dark=True)
    assert COLOR.sub("", light) == COLOR.sub("", dark)
    assert {*COLOR.findall(light)} <= {x for x, _ in COLORS.values()}
    assert {*COLOR.findall(dark)} <= {x for _, x in COLORS.values()}
    ground = re.search(r'<g id="patch_1">\s*<path [^>]*style="([^"]*)"', light)[1]
    assert "fill: none" in ground  # the page shows through
    assert "<rect" not in re.sub(r"<defs>.*?</defs>", "", light, flags=re.S)


def test_words_that_cannot_be_read_are_found():
    sheet = Sheet(1)
    panel = sheet.panel(0, 0, 1, 1)
    panel.text((0.5, 0.5), "in")
    assert sheet.clashes() == []
    panel.text((0.5, 0.52), "over")
    panel.text((0.9, 0.2), "outside")
    assert sheet.clashes() == ["'outside' leaves its panel", "'in' and 'over' overlap"]


def test_every_drawing_is_on_the_page_of_its_idea():
    texts = [page.read_text() for name, page in PAGES.items() if name != "glossary.md"]
    shown = re.findall(r"^```\{drawing\} (.*)$", "".join(texts), re.M)
    assert {*" ".join(shown).split()} == {*drawings.DRAWINGS}
    assert {f for drawing in drawings.DRAWINGS.values() for f in drawing.functions} <= {*PUBLIC}


@pytest.mark.cpu_only
def test_drawings_are_made_again_only_after_a_change(tmp_path, monkeypatch):
    some, folder = dict([*drawings.DRAWINGS.items()][:3]), tmp_path / "drawn"
    monkeypatch.setattr(drawings.registry, "DRAWINGS", some)
    drawings.write(folder)
    files = {path: path.read_text() for path in folder.glob("*.svg")}
    assert len(files) == 2 * len(some)
    for path in files:
        path.write_text("kept")
    drawings.write(folder)
    assert {path.read_text() for path in files} == {"kept"}
    (folder / "made_by").write_text("other code")
    (folder / "gone-dark.svg").write_text("")
    drawings.write(folder)
    assert {path: path.read_text() for path in folder.glob("*.svg")} == files


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api" / "index.md").read_text(), re.M)
    listed += ANALYTICS  # on a page that conf.py writes
    assert len(listed) == len(set(listed))
    assert PUBLIC.keys() - set(listed) == set()


def test_every_public_function_has_a_how_to():
    told = "".join(path.read_text() for name, path in PAGES.items() if not name.startswith("api/"))
    functions = {name for name in PUBLIC if not name.endswith("Error")}
    assert {n for n in functions if f"](#rapids_tc.{n})" not in told} == set()


def cells(name):
    """The cells of every row of every table of a page."""
    text = PAGES[name].read_text()
    rows = re.findall(r"^\| (.*) \|$", text, re.M)
    return [row.split(" | ") for row in rows if not row.startswith("---")]


def test_the_readme_and_the_front_page_name_every_function():
    for text in ((ROOT / "README.md").read_text(), PAGES["index.md"].read_text()):
        assert {name for name in ANALYTICS if not re.search(rf"`(tc\.)?{name}\b", text)} == set()


def calls(text):
    """(name, keywords) of every call of a public function in the words of a page, not its code."""
    for span in re.findall(r"`([^`]+)`", FENCE.sub("", text)):
        try:
            nodes = [*ast.walk(ast.parse(span.replace("\n", " ").strip(), mode="eval"))]
        except SyntaxError:
            continue  # words, options, names of files
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            if name.startswith("tc.") or name in PUBLIC:
                yield name.removeprefix("tc."), [keyword.arg for keyword in call.keywords]


def test_calls_in_the_words_of_pages_are_those_of_functions():
    """Prose and tables, whose calls no other test runs."""
    seen = 0
    for page in (*PAGES.values(), ROOT / "README.md"):
        for name, keywords in calls(page.read_text()):
            taken = inspect.signature(PUBLIC[name]).parameters
            stars = any(p.kind is p.VAR_KEYWORD for p in taken.values())
            assert stars or {*keywords} <= {*taken}, f"{page.name}: {name}({keywords})"
            seen += 1
    assert seen > 100


def test_tables_name_every_picture_and_guide():
    table = [row for row in cells("howto/plots.md") if row[0].startswith("[")]
    assert {re.search(r"rapids_tc\.plot\.(\w+)", row[0])[1] for row in table} == {*plot.__all__}
    told = [row for row in cells("index.md") if row[0] != "guide"]
    named = {name for _, names in told for name in re.findall(r"`(?:\w+\.)*(\w+)[`(]", names)}
    assert {n for n in named if n in PUBLIC} >= {*ANALYTICS} - {"edge_squares"}
    linked = {path for first, _ in told for path in re.findall(r"\((howto/\w+)\.md\)", first)}
    assert linked == {n.removesuffix(".md") for n in PAGES if n.startswith("howto/")}


def test_the_page_of_networkx_says_what_the_backend_serves():
    """In its second column, which has a dash for what is left to NetworkX."""
    served = {name.removeprefix("bipartite_") for name in FUNCTIONS}
    told = {}
    for theirs, backend, *_ in cells("coming_from/networkx.md")[1:]:
        for name in re.findall(r"nx\.(?:bipartite\.)?(\w+)\(", theirs):
            told[name] = "backend=" in backend
    assert {name for name, yes in told.items() if yes} == served
    assert {name for name, yes in told.items() if not yes} == {"common_neighbors"}


def test_every_error_has_its_place_in_troubleshooting():
    text = PAGES["troubleshooting.md"].read_text()
    assert {name for name in PUBLIC if name.endswith("Error") and name not in text} == set()


@pytest.mark.parametrize("name", PAGES)
def test_links_to_elsewhere_are_well_formed(name):
    for link in re.findall(r"\]\((https?:[^)]*)\)", PAGES[name].read_text()):
        parts = urlsplit(link)
        assert parts.scheme == "https" and "." in parts.netloc and not re.search(r"\s", link), link
