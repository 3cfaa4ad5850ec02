"""Drawings of shapes without directions: wedges, triads, squares, trusses and communities."""

from itertools import combinations
from math import comb

import networkx as nx
import pandas as pd

import rapids_tc as tc
from drawings.registry import drawing
from drawings.style import Sheet

ENDS = ["src", "dst"]


def frame(edges):
    """Edges as the package takes them."""
    return pd.DataFrame(edges, columns=ENDS)


def supports(edges):
    """The number of triangles of each edge."""
    return dict(zip(edges, tc.edge_triangles(frame(edges)).tolist(), strict=True))


def plural(number, noun):
    """A number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@drawing(
    alt="""Three pictures. A wedge is a path of two edges, whose ends are not linked. A triangle
    has the third edge, too. In each of its three corners a triangle has a wedge.""",
    caption="A wedge, a triangle, and the three wedges of a triangle.",
    functions=("transitivity",),
)
def wedge():
    sheet = Sheet(2.15)
    open_, closed, three = sheet.row("wedge", "triangle", "wedges of a triangle")
    at = {"b": (1.2, 1.55), "a": (0.6, 0.75), "c": (1.8, 0.75)}
    edges = [("a", "b"), ("b", "c")]
    open_.edge(at["a"], at["c"], "faint", style=":")
    open_.graph(edges, at, vertices={"b": "accent"})
    open_.text((1.2, 0.3), "two edges that meet in b")
    edges.append(("a", "c"))
    closed.area(at.values(), "main")
    closed.graph(edges, at)
    closed.text((1.2, 0.3), "the third edge closes it")
    graph = nx.Graph(edges)
    for i, center in enumerate(sorted(graph)):
        small = {v: (x * 0.4 + 0.72 * i, y * 0.4 + 0.7) for v, (x, y) in at.items()}
        roles = {edge: "accent" if center in edge else "faint" for edge in edges}
        three.graph(edges, small, roles, vertices={center: "accent"}, radius=0.07)
    total = sum(comb(degree, 2) for _, degree in graph.degree)
    three.text((1.2, 0.3), f"{total} of them, one per corner")
    return sheet


@drawing(
    alt="""A graph with a number on each edge: in how many triangles the edge is. Beside it, the
    two triangles of the edge b, c are tinted.""",
    caption="The support of an edge is the number of triangles that it is a side of.",
    functions=("edge_triangles",),
)
def support():
    sheet = Sheet(2.5)
    left, right = sheet.row("support of each edge", "the triangles of one edge")
    at = {
        "a": (0.45, 1.2), "b": (1.25, 1.85), "c": (1.25, 0.55),
        "d": (2.05, 1.2), "e": (2.4, 0.4), "f": (3.2, 0.8),
    }  # fmt: skip
    edges = [tuple(pair) for pair in ("ab", "ac", "bc", "bd", "cd", "ce", "de", "ef")]
    counts = supports(edges)
    roles = {edge: "main" if n else "faint" for edge, n in counts.items()}
    left.graph(edges, at, roles, counts)
    one = ("b", "c")
    closing = sorted(nx.common_neighbors(nx.Graph(edges), *one))
    for vertex in closing:
        right.area([at[v] for v in (*one, vertex)], "accent")
    right.graph(edges, at, {edge: "accent" if edge == one else "faint" for edge in edges})
    right.text(
        (2.65, 1.75), f"b, c: {plural(counts[one], 'triangle')},\nwith {' and '.join(closing)}"
    )
    return sheet


@drawing(
    alt="""Four pictures of one graph. Each edge has its support as a number. In round 1 the
    edges with fewer than two triangles are dashed, and go. In round 2 another edge has lost its
    triangles, and goes. What is left is the 4-truss. The last picture has the truss number of
    each edge.""",
    caption="""A 4-truss, peeled: edges in too few triangles go, others lose triangles by it,
    and go next.""",
    functions=("k_truss", "trussness"),
)
def k_truss():
    k = 4
    at = {
        "a": (0.3, 1.95), "b": (1.3, 1.95), "c": (0.3, 0.95), "d": (1.3, 0.95),
        "e": (0.6, 0.2), "f": (1.55, 0.2),
    }  # fmt: skip
    edges = [tuple(pair) for pair in ("ab", "ac", "ad", "bc", "bd", "cd", "ce", "de", "df", "ef")]
    rounds, left = [], edges
    while True:
        counts = supports(left)
        weak = [edge for edge in left if counts[edge] < k - 2]
        rounds.append((left, counts, weak))
        if not weak:
            break
        left = [edge for edge in left if edge not in weak]
    titles = [f"round {i + 1}" for i in range(len(rounds) - 1)]
    sheet = Sheet(3.15)
    panels = sheet.row(*titles, f"the {k}-truss", "truss numbers")
    move = {v: (x, y + 0.6) for v, (x, y) in at.items()}
    for panel, (left, counts, weak) in zip(panels, rounds, strict=False):
        for edge in left:
            role, style = ("accent", "--") if edge in weak else ("main", "-")
            _labelled(panel, move, edge, counts[edge], role, style)
        panel.graph([], move)
        for vertex in move:
            role = "ink" if any(vertex in edge for edge in left) else "faint"
            panel.vertex(move[vertex], vertex, role)
        goes = f"{plural(len(weak), 'edge')} in fewer\nthan {k - 2} triangles: out"
        panel.text((0.91, 0.35), goes if weak else f"every edge is in\n{k - 2} triangles or more")
    numbers = dict(zip(edges, tc.trussness(frame(edges)).tolist(), strict=True))
    for edge in edges:
        role = "main" if numbers[edge] >= k else "third"
        _labelled(panels[-1], move, edge, numbers[edge], role, "-")
    for vertex in move:
        panels[-1].vertex(move[vertex], vertex)
    panels[-1].text((0.91, 0.35), "the largest k whose\nk-truss has the edge")
    return sheet


def _labelled(panel, at, edge, number, role, style):
    """Draw an edge with its number, which stands apart from where the two diagonals cross."""
    (x, y), (u, v) = (at[vertex] for vertex in edge)
    panel.edge((x, y), (u, v), role, style=style)
    part = 0.34 if edge in (("a", "d"), ("b", "c")) else 0.5
    middle = (x + (u - x) * part, y + (v - y) * part)
    panel.edge(middle, middle, role, str(number))


@drawing(
    alt="""The four kinds of three vertices: no edge, one edge, two edges, which is an open
    triad, and three edges, which is a closed one.""",
    caption="The triads of a graph without directions, as `triad_counts` names them.",
    functions=("triad_counts",),
)
def triads():
    at = {0: (0.42, 0.75), 1: (0.91, 1.5), 2: (1.4, 0.75)}
    every = [(0, 1), (1, 2), (0, 2)]
    names = []
    for n in range(4):
        counts = tc.triad_counts(tc.Graph(frame(every[:n]).astype("int64"), vertices=[0, 1, 2]))
        names += counts["triad"][counts["count"] > 0].tolist()
    sheet = Sheet(2.05)
    for n, panel in enumerate(sheet.row(*names)):
        for a, b in every[n:]:
            panel.edge(at[a], at[b], "faint", style=":", width=1.2)
        if n == 3:
            panel.area(at.values(), "main")
        panel.graph(every[:n], at, radius=0.11)
        for point in at.values():
            panel.vertex(point, radius=0.11)
        panel.text((0.91, 0.35), {2: "open", 3: "closed"}.get(n, "no path of two"))
    return sheet


@drawing(
    alt="""A square is a cycle of four vertices. A clique of four vertices has three such
    cycles, each drawn. In a graph of buyers and goods a square is two buyers with the same two
    goods.""",
    caption="A square, the three squares of a clique of four, and a butterfly.",
    functions=("squares", "edge_squares"),
)
def squares():
    sheet = Sheet(2.3)
    one = sheet.panel(0, 0, 1.7, 2.3, "square")
    clique = sheet.panel(1.7, 0, 3.5, 2.3, "clique of four")
    bought = sheet.panel(5.2, 0, 2.1, 2.3, "butterfly")
    at = {"a": (0.45, 1.65), "b": (1.25, 1.65), "c": (1.25, 0.85), "d": (0.45, 0.85)}
    cycle = [tuple(pair) for pair in ("ab", "bc", "cd", "da")]
    one.graph(cycle, at, dict.fromkeys(cycle, "main"))
    one.text((0.85, 0.35), plural(tc.squares(frame(cycle)), "square"))
    edges = list(combinations("abcd", 2))
    cycles = [c for c in nx.simple_cycles(nx.Graph(edges), length_bound=4) if len(c) == 4]
    for i, found in enumerate(cycles):
        sides = {frozenset(pair) for pair in zip(found, found[1:] + found[:1], strict=True)}
        roles = {edge: "main" if frozenset(edge) in sides else "faint" for edge in edges}
        place = {v: (x * 0.85 + 1.13 * i - 0.1, y) for v, (x, y) in at.items()}
        later = sorted(edges, key=lambda edge: roles[edge] == "main")
        clique.graph(later, place, roles)
    clique.text(
        (1.75, 0.35), f"{plural(tc.squares(frame(edges)), 'square')}: they need not be induced"
    )
    people, goods = ("ann", "bob", "cem"), ("tea", "cup", "pan")
    place = {v: (0.4 + 0.65 * i, 1.6) for i, v in enumerate(people)}
    place |= {v: (0.4 + 0.65 * i, 0.9) for i, v in enumerate(goods)}
    rows = [
        ("ann", "tea"),
        ("ann", "cup"),
        ("bob", "tea"),
        ("bob", "cup"),
        ("cem", "cup"),
        ("cem", "pan"),
    ]
    counts = dict(zip(rows, tc.edge_squares(frame(rows)).tolist(), strict=True))
    roles = {edge: "main" if n else "faint" for edge, n in counts.items()}
    colors = dict.fromkeys(people, "accent") | dict.fromkeys(goods, "third")
    bought.graph(rows, place, roles, vertices=colors, radius=0.12)
    for name, (x, y) in place.items():
        bought.text((x, y + (0.25 if name in people else -0.25)), name)
    bought.text((1.05, 0.35), f"{plural(tc.squares(frame(rows)), 'square')} among six rows")
    return sheet


@drawing(
    alt="""One graph at k = 3 and at k = 4, with its truss communities tinted, and the hierarchy
    of communities as a tree: the large community of k = 3 holds both communities of k = 4. The
    small one shares a vertex with it, and no edge.""",
    caption="Truss communities at two k, and their hierarchy. Colors are the same in all three.",
    functions=("truss_communities", "truss_hierarchy"),
)
def communities():
    edges = [*combinations(range(4), 2), *combinations(range(4, 8), 2), *combinations((7, 8, 9), 2)]
    edges += [(2, 4), (3, 4), (3, 5)]
    at = {
        0: (0.25, 1.95), 1: (0.25, 1.25), 2: (0.85, 2.1), 3: (0.8, 1.1), 4: (1.45, 1.95),
        5: (1.35, 0.85), 6: (2.1, 1.95), 7: (2.05, 0.95), 8: (1.5, 0.35), 9: (2.15, 0.35),
    }  # fmt: skip
    rows = tc.annotate(frame(edges), "truss_community")
    tree = tc.truss_hierarchy(frame(edges))
    colors = dict(zip(tree["truss_community"], ("main", "accent", "third", "fourth"), strict=True))
    sheet = Sheet(2.7)
    *graphs, panel = sheet.row("k = 3", "k = 4", "hierarchy")
    for k, drawn in zip((3, 4), graphs, strict=True):
        found = tc.truss_communities(rows, k)
        # A community's own number is below those of the communities inside.
        outer = found.groupby("community")["truss_community"].transform("min")
        roles = {
            (a, b): colors[c]
            for a, b, c in zip(found["src"], found["dst"], outer, strict=True)
        }  # fmt: skip
        graph = nx.Graph(list(roles))
        for clique in nx.enumerate_all_cliques(graph):
            if len(clique) == 3:
                side = min(clique[:2]), max(clique[:2])
                drawn.area([at[v] for v in clique], roles[side])
        drawn.graph(edges, at, {edge: roles.get(edge, "faint") for edge in edges})
    places, seen = {}, {}
    for row in tree.sort_values(["k", "truss_community"]).itertuples():
        i = seen[row.k] = seen.get(row.k, -1) + 1
        places[row.truss_community] = x, y = 0.65 + 1.15 * i, 1.75 if row.k == 3 else 0.75
        words = f"k = {row.k}\n{row.edges} edges"
        panel.box((x, y), words, 0.95, 0.55, colors[row.truss_community], filled=True)
        if not pd.isna(row.parent):
            u, v = places[row.parent]
            panel.arrow((x, y + 0.27), (u, v - 0.27), "faint", gap=0)
    panel.text((1.2, 0.28), "an arrow leads to the parent")
    return sheet
