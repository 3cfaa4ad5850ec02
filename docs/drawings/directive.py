"""Directives of pictures, each in the form of the reader's theme.

``drawing`` shows drawings of ideas, and charts, by their names; ``picture`` the pictures of
examples; ``gallery`` all of these as cards.
"""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from drawings.pictures import PICTURES
from drawings.registry import DRAWINGS, FORMS, of_function, write

FOLDER = "_drawings"


def images(folder, name, alt, *classes):
    """Both forms, of which Furo's style sheet shows one."""
    return [
        nodes.image(uri=f"/{folder}/{name}-{form}.svg", alt=alt, classes=[f"only-{form}", *classes])
        for form in FORMS
    ]


def caption(text):
    """A caption, in which backquotes name code."""
    words = [
        nodes.literal(text=part) if i % 2 else nodes.Text(part)
        for i, part in enumerate(text.split("`"))
    ]
    return nodes.caption("", "", *words)


class Figures(SphinxDirective):
    """Figures of the names that are given."""

    required_arguments = 1
    final_argument_whitespace = True
    known = DRAWINGS

    def run(self):
        names = self.arguments[0].split()
        if unknown := [name for name in names if name not in self.known]:
            raise self.error(f"no picture is named {', '.join(unknown)}: {', '.join(self.known)}")
        return [self.figure(name, self.known[name]) for name in names]

    def figure(self, name, drawing):
        wide = [] if drawing.narrow else ["wide"]
        shown = images(FOLDER, name, drawing.alt, "drawing", *wide)
        return nodes.figure("", *shown, caption(drawing.caption))


class Pictures(Figures):
    """Pictures of examples, each with a link to its page."""

    known = PICTURES

    def figure(self, name, picture):
        shown = images("images", name, picture.alt, "wide")
        return nodes.figure("", *shown, caption(picture.caption))


class Gallery(SphinxDirective):
    """Every example as a card: its picture, small, its title, and what it is about."""

    def run(self):
        cards = nodes.container(classes=["cards"])
        for name, picture in PICTURES.items():
            shown = [
                self.link(name, image) for image in images("images", name, picture.alt, "wide")
            ]
            title = nodes.paragraph("", "", self.link(name, nodes.strong(text=picture.title)))
            about = nodes.paragraph(text=picture.about)
            card = nodes.container("", nodes.figure("", *shown), title, about, classes=["card"])
            cards += card
        return [cards]

    def link(self, name, inside):
        """A link to the page of an example."""
        page = self.env.app.builder.get_relative_uri(self.env.docname, PICTURES[name].page)
        return nodes.reference("", "", inside, refuri=page, internal=True)


def add_to_reference(app, what, name, obj, options, lines):
    """Put the drawings of a function behind the first paragraph of its docstring."""
    if what == "function" and (names := of_function(name.removeprefix("rapids_tc."))):
        first = next((i for i, line in enumerate(lines) if i and not line), len(lines))
        lines[first:first] = ["", f".. drawing:: {' '.join(names)}", ""]


def setup(app):
    """Draw, and let pages show it."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("drawing", Figures)
    app.add_directive("picture", Pictures)
    app.add_directive("gallery", Gallery)
    app.connect("config-inited", lambda app, _: write(Path(app.srcdir) / FOLDER))
    app.connect("autodoc-process-docstring", add_to_reference, priority=900)  # after numpydoc
    return {"parallel_read_safe": True}
