"""The directive ``drawing``: the drawings with these names, in the form of the reader's theme."""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from drawings.registry import DRAWINGS, FORMS, of_function, write

FOLDER = "_drawings"


def figure(name):
    """A figure of both forms, of which Furo's style sheet shows one."""
    drawing, words = DRAWINGS[name], []
    images = [
        nodes.image(
            uri=f"/{FOLDER}/{name}-{form}.svg", alt=drawing.alt, classes=[f"only-{form}", "drawing"]
        )
        for form in FORMS
    ]
    for i, part in enumerate(drawing.caption.split("`")):
        words.append(nodes.literal(text=part) if i % 2 else nodes.Text(part))
    return nodes.figure("", *images, nodes.caption("", "", *words))


class DrawingDirective(SphinxDirective):
    """Figures of the drawings that are named."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        names = self.arguments[0].split()
        if unknown := [name for name in names if name not in DRAWINGS]:
            raise self.error(f"no drawing is named {', '.join(unknown)}: {', '.join(DRAWINGS)}")
        return [figure(name) for name in names]


def add_to_reference(app, what, name, obj, options, lines):
    """Put the drawings of a function behind the first paragraph of its docstring."""
    if what == "function" and (names := of_function(name.removeprefix("rapids_tc."))):
        first = next((i for i, line in enumerate(lines) if i and not line), len(lines))
        lines[first:first] = ["", f".. drawing:: {' '.join(names)}", ""]


def setup(app):
    """Draw, and let pages show it."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("drawing", DrawingDirective)
    app.connect("config-inited", lambda app, _: write(Path(app.srcdir) / FOLDER))
    app.connect("autodoc-process-docstring", add_to_reference, priority=900)  # after numpydoc
    return {"parallel_read_safe": True}
