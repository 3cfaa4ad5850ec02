"""The documentation site: ``sphinx-build -W -b html docs docs/_build/html``."""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "docs")]

import notebooks  # noqa: E402
import report  # noqa: E402
from drawings import charts, study  # noqa: E402

import rapids_tc as tc  # noqa: E402
from rapids_tc.analytics.overview import OPTIONS, overview  # noqa: E402
from rapids_tc.interop._networkx_info import FUNCTIONS  # noqa: E402

project = "rapids_tc"
author = "the authors of rapids_tc"
copyright = f"{author}, Apache-2.0"
release = version = tc.__version__

extensions = [
    "drawings.directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_notebooks", "drawings"]
templates_path = ["_templates"]

# Markdown: pages link to headings, and show what is made from the package and from figures.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "substitution"]

# The functions in the order in which people ask for them, with the words of the side bar.
GROUPS = {
    "Count": [
        "count", "vertex_triangles", "edge_triangles", "annotate", "clustering",
        "average_clustering", "transitivity", "annotate_vertices", "list_triangles",
        "iter_triangles", "triad_counts", "graphlets", "graphlet_counts", "approximate_count",
        "simple_edges",
    ],
    "Compare": ["similarity", "most_similar", "project", "iter_project"],
    "Dense parts": [
        "k_truss", "trussness", "truss_communities", "truss_hierarchy", "cliques",
        "vertex_cliques", "edge_cliques", "squares", "vertex_squares", "edge_squares", "bitruss",
    ],
    "By type, sign and time": ["triangles_by_type", "balance", "triangles_over_time"],
}  # fmt: skip


def grouped():
    """The records of the functions by group; one that no group names is among the first."""
    rows = {row.name: row for row in overview()}
    named = [name for names in GROUPS.values() for name in names]
    new = [name for name in rows if name not in named]
    return {
        title: [rows[name] for name in names + new * (title == "Count") if name in rows]
        for title, names in GROUPS.items()
    }


def methods():
    """The catalogue as a Markdown table, and the papers as a list."""
    frame = tc.methods()
    shown = frame[["name", "iterator", "intersection", "granularity", "returns"]]
    rows = [shown.columns, ["---"] * shown.shape[1], *shown.itertuples(index=False)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{table}\n\n{papers()}"


def papers():
    """The papers of the methods as a list, with their other names."""
    frame = tc.methods()
    also = frame["aliases"].map(lambda names: f", also `{names}`" if names else "")
    return "\n".join("- `" + frame["name"] + "`" + also + ": " + frame["paper"])


def bibtex():
    """An entry for this version."""
    lines = [
        "@software{rapids_tc,",
        "  author  = {{The authors of rapids\\_tc}},",
        "  title   = {rapids\\_tc: exact triangle analytics for dataframes},",
        f"  version = {{{release}}},",
        "  license = {Apache-2.0},",
        "}",
    ]
    return "\n".join(["```bibtex", *lines, "```"])


def headline():
    """The figure of the front page: the largest graph of the newest run that cuGraph counted."""
    lines = report.read(sorted(report.RESULTS.glob("speed-h*.jsonl"))[-1].name)
    found = {
        (x["tool"], x["graph"], x["what"]): x
        for x in lines if x["what"].startswith("frame to count") and "seconds" in x
    }  # fmt: skip
    first = max(
        (x for (tool, *_), x in found.items() if tool == "cugraph"), key=lambda x: x["rows"]
    )

    def said(tool, pool=""):
        return report.milliseconds(found[tool, first["graph"], f"frame to count{pool}"]["seconds"])

    ours, theirs, pool = "rapids_tc cuda auto", "cugraph", ", rmm pool"
    return (
        f"On one {first['card']}, the triangles of {first['rows'] / 1e6:,.0f} million rows are "
        f"counted in {said(ours)} ms ({said(ours, pool)} with an RMM memory pool). cuGraph takes "
        f"{said(theirs)} ms ({said(theirs, pool)}) in the same run."
    )


def laptop():
    """Frame to count on real graphs, beside the libraries that people have on a laptop."""
    lines = report.read(sorted(report.RESULTS.glob("laptop-*.jsonl"))[-1].name)
    found = {(x["graph"], x["tool"], x["what"]): x for x in lines if "seconds" in x}
    table = report.times(lines, found, "frame to count").replace("| auto |", "| rapids_tc |", 1)
    return f"On {report.about(lines)}\n\n{table}"


def calls():
    """Whole calls of most functions, from the newest file of each kind that has them."""
    tables = []
    for pattern in ("speed-h*.jsonl", "cpu-*.jsonl"):
        lines = report.read(sorted(report.RESULTS.glob(pattern))[-1].name)
        lines = [x for x in lines if x["command"].startswith("python calls.py")]
        found = {(x["graph"], x["tool"], x["what"]): x for x in lines if "seconds" in x}
        if found:
            table = report.others(lines, found).replace("rapids_tc: frame to ", "")
            tables.append(f"Milliseconds, medians, on {report.about(lines)}\n\n{table}")
    return "\n\n".join(tables)


def threads():
    """The CPU engine from the frame to the answer, by the number of threads."""
    lines = report.read(sorted(report.RESULTS.glob("threads-*.jsonl"))[-1].name)
    calls = "Seconds, after a call that warms up, of one call or the median of two"
    return f"{calls}, on {report.about(lines)}\n\n{report.scaling(lines)}"


def functions():
    """Every analytic as a row of a Markdown table per group, from the records."""
    head = ["function", "returns", "columns for `annotate`", "in blocks", "on a cluster"]
    parts = []
    for title, records in grouped().items():
        rows = [
            [
                f"[`{row.name}`](#rapids_tc.{row.name})", row.result,
                ", ".join(f"`{column}`" for column in row.columns),
                "yes" if row.in_blocks else "", "yes" if row.distributed else "",
            ]
            for row in records
        ]  # fmt: skip
        table = "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
        parts.append(f"**{title}**\n\n{table}")
    return "\n\n".join(parts)


WHERE = {  # served in blocks, and on a cluster
    (True, True): "yes",
    (True, False): "one machine",
    (False, True): "in memory, Dask",
    (False, False): "in memory",
}


def options():
    """Which function takes which option, and where, as a Markdown table, from the records."""
    head = ["function", *(f"`{name.replace(', ', '=, ')}=`" for name in OPTIONS)]
    rows = [
        [
            f"[`{row.name}`](#rapids_tc.{row.name})",
            *(WHERE[row.options[name]] if name in row.options else "" for name in OPTIONS),
        ]
        for row in overview()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def write_reference():
    """Write the page of the API reference that lists the analytics, by group."""
    text = "# Functions of edges\n\n"
    for title, records in grouped().items():
        text += f"## {title}\n```{{eval-rst}}\n"
        text += ".. currentmodule:: rapids_tc\n.. autosummary::\n   :toctree: generated\n"
        text += "   :nosignatures:\n\n" + "".join(f"   {row.name}\n" for row in records)
        text += "```\n\n"
    (Path(__file__).parent / "api" / "functions.md").write_text(text)


def raw():
    """{name of a substitution: a link that downloads the newest file of some figures}."""
    patterns = {
        "study": study.STUDY, "gpu": study.GPU, "trusses": study.TRUSSES, "blocks": study.BLOCKS,
        "approximate": study.APPROXIMATE, "kinds": study.KINDS, "cold": study.COLD,
        "laptop": "laptop-*", "cores": "gapbs-*", "threads": "threads-*", "cluster": "dask-*",
        "ncu": "ncu-*",
    }  # fmt: skip
    files = {name: charts.file_of(pattern) for name, pattern in patterns.items()}
    return {
        f"raw_{name}": f"{{download}}`{file} <../benchmarks/results/{file}>`"
        for name, file in files.items()
    }


def add_new_guides(app, docname, source):
    """Put guides that no list of the front page has at the end of the last list of guides."""
    if docname == "index":
        pages = {f"howto/{path.stem}" for path in (Path(app.srcdir) / "howto").glob("*.md")}
        new = sorted(pages - {*re.findall(r"^howto/\w+$", source[0], re.M)})
        source[0] = source[0].replace("\nhowto/plots\n", "\n".join(["", "howto/plots", *new, ""]))


def setup(app):
    app.connect("source-read", add_new_guides)


myst_substitutions = (
    {
        "functions": functions(),
        "options": options(),
        "methods": methods(),
        "papers": papers(),
        "bibtex": bibtex(),
        "headline": headline(),
        "calls": calls(),
        "laptop": laptop(),
        "networkx": "\n".join(
            f"- `{name}`: {say}" if say else f"- `{name}`" for name, say in FUNCTIONS.items()
        ),
        "threads": threads(),
        "speed": report.tables().replace(report.LINK, ""),
    }
    | study.findings()
    | raw()
)

# Docstrings: single backquotes name an object of ours where there is one.
default_role = "autolink"
autosummary_generate = True
autodoc_typehints = "signature"
maximum_signature_line_length = 70
numpydoc_show_class_members = False
write_reference()
notebooks.write(Path(__file__).parent / "_notebooks")
shutil.rmtree(Path(__file__).parent / "api" / "generated", ignore_errors=True)  # none left behind

html_theme = "furo"
html_theme_options = {"light_logo": "logo-light.svg", "dark_logo": "logo-dark.svg"}
html_favicon = "_static/favicon.svg"
pygments_dark_style = "github-dark"
html_title = f"rapids_tc {version}"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
