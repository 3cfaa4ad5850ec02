"""Drawings of directions: the sixteen triads, and the orientation that counts triangles."""

from math import comb

import networkx as nx
import pandas as pd
from networkx.algorithms.triads import TRIAD_NAMES

import rapids_tc as tc
from drawings.registry import drawing
from drawings.style import Sheet


@drawing(
    alt="""The sixteen kinds of three vertices with directed edges, in two rows, each with its
    name. The first digit is the number of mutual pairs, the second that of pairs with one
    direction, the third that of pairs without an edge. The seven closed ones are tinted.""",
    caption="""The 16 triads of Holland and Leinhardt: mutual, one-way and missing pairs, then
    Down, Up, Cyclic or Transitive. The seven that are closed are tinted.""",
    functions=("triangles_by_type",),
)
def directed_triads():
    sheet = Sheet(2.9)
    width = sheet.width / 8
    for i, name in enumerate(TRIAD_NAMES):
        panel = sheet.panel(i % 8 * width, 1.45 * (1 - i // 8), width, 1.45)
        triad = nx.triad_graph(name)
        at = dict(
            zip(sorted(triad), [(0.24, 0.6), (width / 2, 1.18), (width - 0.24, 0.6)], strict=True)
        )
        edges = list(triad.edges)
        if edges and len(
            tc.triangles_by_type(pd.DataFrame(edges, columns=["src", "dst"]), directed=True)
        ):
            panel.area(at.values(), "main")
        for a, b in edges:
            both = triad.has_edge(b, a)
            if not both or a < b:
                panel.arrow(at[a], at[b], "accent" if both else "ink", both, gap=0.09)
        for point in at.values():
            panel.vertex(point, radius=0.09)
        panel.text((width / 2, 0.25), nx.triad_type(triad), weight="bold")
    return sheet


@drawing(
    alt="""A graph with a hub, twice. On the left each vertex shows its degree. On the right
    each edge is an arrow from the end of lower degree to that of higher degree, and each vertex
    shows how many arrows leave it: the hub has none, and no vertex has many.""",
    caption="""Each edge points to the end of higher degree. Lists of neighbors become short,
    and each triangle is found once.""",
    functions=("methods",),
)
def orientation():
    at = {
        0: (1.8, 1.25), 1: (0.5, 1.25), 2: (1.0, 1.95), 3: (2.6, 1.95),
        4: (3.1, 1.25), 5: (2.6, 0.62), 6: (1.0, 0.62),
    }  # fmt: skip
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (1, 2), (3, 4), (2, 3), (5, 4)]
    degree = dict(nx.Graph(edges).degree)
    sheet = Sheet(2.75)
    before, after = sheet.row("degree", "neighbors that are listed")
    rank = sorted(degree, key=lambda v: (-degree[v], v))
    leaves = dict.fromkeys(degree, 0)
    for a, b in edges:
        before.edge(at[a], at[b])
        low, high = sorted((a, b), key=rank.index, reverse=True)
        after.arrow(at[low], at[high], "main")
        leaves[low] += 1
    listed = tc.Graph(pd.DataFrame(edges, columns=["src", "dst"])).csr.offsets
    assert [leaves[v] for v in rank] == [int(n) for n in listed[1:] - listed[:-1]]
    for panel, numbers in ((before, degree), (after, leaves)):
        for vertex, point in at.items():
            panel.vertex(point, str(numbers[vertex]), "accent" if vertex == 0 else "ink")
        pairs = sum(comb(n, 2) for n in numbers.values())
        panel.text((1.8, 0.27), f"{pairs} pairs of neighbors to look at")
    return sheet
