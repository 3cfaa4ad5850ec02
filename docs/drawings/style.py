"""The house style of the drawings: sheets of panels with vertices, edges, arrows and words.

Lengths are inches. A sheet is drawn once, in the colors of its light form; the dark form is the
same file with the other color of each role, so that both have the same lines.
"""

import io
import re
from dataclasses import dataclass, field
from itertools import combinations

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle

# {role: (light, dark)}; "paper" is Furo's background, on which labels interrupt lines.
COLORS = {
    "ink": ("#1f2937", "#e2e8f0"),
    "faint": ("#a9b4c2", "#5d6876"),
    "paper": ("#fffffe", "#131416"),
    "main": ("#2b6cb0", "#78b4f0"),
    "accent": ("#c2570c", "#f7a35c"),
    "third": ("#2f855a", "#68d391"),
    "fourth": ("#7c51c9", "#b79cf5"),
}
WIDTH = 7.3  # of a page's text
RADIUS = 0.14
SMALL, NORMAL = 9, 10.5  # points
_DARK = dict(COLORS.values())
FIXED = {"svg.fonttype": "path", "svg.hashsalt": "rapids_tc", "path.simplify": False}


def color(role):
    """The color of a role in the light form."""
    return COLORS[role][0]


class Sheet:
    """A drawing: panels on a transparent ground."""

    def __init__(self, height, width=WIDTH):
        self.width, self.height, self.panels = width, height, []
        self.figure = Figure(figsize=(width, height))
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, width), ylim=(0, height))
        self.axes.set_axis_off()

    def panel(self, x, y, width, height, title="", frame=True):
        """Add a panel with its lower left corner here, and a title at its top."""
        panel = Panel(self.axes, x, y, width, height)
        self.panels.append(panel)
        if frame:
            panel.box((width / 2, height / 2), "", width - 0.06, height - 0.06, "faint")
        if title:
            panel.text((width / 2, height - 0.23), title, size=NORMAL, weight="bold")
        return panel

    def row(self, *titles, frame=True):
        """Add panels of equal width, side by side."""
        width = self.width / len(titles)
        return [
            self.panel(i * width, 0, width, self.height, title, frame)
            for i, title in enumerate(titles)
        ]

    def svg(self, dark=False):
        """The text of the file."""
        with matplotlib.rc_context(FIXED):
            file = io.StringIO()
            self.figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        if not dark:
            return file.getvalue()
        return re.sub(r"#[0-9a-f]{6}\b", lambda x: _DARK.get(x[0], x[0]), file.getvalue())

    def clashes(self):
        """What cannot be read: words past the edge of their panel, or over other words."""
        self.figure.canvas.draw()
        found, texts = [], []
        for panel in self.panels:
            inside = self.axes.transData.transform(
                [(panel.x, panel.y), (panel.x + panel.width, panel.y + panel.height)]
            )
            for text in panel.texts:
                box = text.get_window_extent()
                texts.append((text.get_text(), box.padded(-1)))
                if (box.min < inside[0]).any() or (box.max > inside[1]).any():
                    found.append(f"{text.get_text()!r} leaves its panel")
        for (one, box), (other, second) in combinations(texts, 2):
            if box.overlaps(second):
                found.append(f"{one!r} and {other!r} overlap")
        return found


@dataclass
class Panel:
    """A part of a sheet; points are inches from its lower left corner."""

    axes: object
    x: float
    y: float
    width: float
    height: float
    texts: list = field(default_factory=list)

    def at(self, point):
        """A point of the panel on its sheet."""
        return self.x + point[0], self.y + point[1]

    def text(self, at, words, role="ink", size=SMALL, **options):
        """Write words, centered here."""
        options = {"ha": "center", "va": "center", "zorder": 5, "linespacing": 1.3} | options
        written = self.axes.text(*self.at(at), words, color=color(role), size=size, **options)
        self.texts.append(written)

    def vertex(self, at, label="", role="ink", radius=RADIUS):
        """Draw a vertex, with its name inside."""
        shape = Circle(self.at(at), radius, facecolor=color(role), lw=0, zorder=3)
        self.axes.add_patch(shape)
        if label:
            self.text(at, label, "paper", weight="bold")

    def edge(self, a, b, role="ink", label="", style="-", width=1.8):
        """Draw an edge, with a label in its middle."""
        (x, y), (u, v) = self.at(a), self.at(b)
        self.axes.plot([x, u], [y, v], style, color=color(role), lw=width, zorder=2)
        if label:
            middle = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
            ground = {"boxstyle": "circle,pad=0.12", "fc": color("paper"), "lw": 0}
            self.text(middle, label, role, weight="bold", bbox=ground, zorder=4)

    def arrow(self, a, b, role="ink", both=False, gap=RADIUS, bend=0.0, width=1.6):
        """Draw an arrow that leaves room for the vertices at its ends."""
        self.axes.add_patch(
            FancyArrowPatch(
                self.at(a), self.at(b), arrowstyle="<|-|>" if both else "-|>", lw=width,
                mutation_scale=10, shrinkA=72 * gap + 1, shrinkB=72 * gap + 1, zorder=2,
                color=color(role), connectionstyle=f"arc3,rad={bend}",
            )
        )  # fmt: skip

    def area(self, points, role):
        """Tint the area between points."""
        shape = [self.at(point) for point in points]
        self.axes.add_patch(Polygon(shape, facecolor=color(role), alpha=0.22, lw=0, zorder=1))

    def bar(self, at, width, height, role):
        """Draw a bar from the middle of its left end."""
        x, y = self.at(at)
        shape = Rectangle((x, y - height / 2), width, height, facecolor=color(role), lw=0, zorder=2)
        self.axes.add_patch(shape)

    def box(self, at, words, width, height, role="ink", filled=False):
        """Draw a box around words."""
        x, y = self.at(at)
        shape = FancyBboxPatch(
            (x - width / 2 + 0.08, y - height / 2 + 0.08), width - 0.16, height - 0.16,
            boxstyle="round,pad=0.08", lw=1.2, edgecolor=color(role), zorder=1,
            facecolor=(color(role) + "33") if filled else "none",
        )  # fmt: skip
        self.axes.add_patch(shape)
        if words:
            self.text(at, words)

    def graph(self, edges, at, roles=None, labels=None, vertices=None, radius=RADIUS):
        """Draw a graph with {edge: role}, {edge: label}, {vertex: role}; no names if small."""
        roles, labels, vertices = roles or {}, labels or {}, vertices or {}
        for a, b in edges:
            role = roles.get((a, b), "ink")
            self.edge(at[a], at[b], role, str(labels.get((a, b), "")))
        for vertex in dict.fromkeys(v for edge in edges for v in edge):
            role = vertices.get(vertex, "ink")
            self.vertex(at[vertex], "" if radius < RADIUS else str(vertex), role, radius)
