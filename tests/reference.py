"""What every answer means, in sets and loops: the oracle of the tests.

Rows are raw ``(source, destination)`` pairs of ids that hash and compare. Direction is ignored,
repeats count once, loops are dropped; a vertex is any id seen in a row, a loop's too. Nothing
here is fast and nothing is clever: read it to learn what a function should return.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import cbrt, comb, fsum, log, nan, prod, sqrt

import networkx as nx


def neighbors(rows, vertices=()):
    """{vertex: its neighbors}, the simple graph; `vertices` adds isolated ones."""
    near = {v: set() for v in vertices}
    for u, v in rows:
        near.setdefault(u, set())
        near.setdefault(v, set())
        if u != v:
            near[u].add(v)
            near[v].add(u)
    return near


def simple_edges(rows):
    """Each undirected edge once as (u, v), u < v, in ascending order."""
    return sorted({(min(u, v), max(u, v)) for u, v in rows if u != v})


def list_triangles(rows, *, among=None, directed=False):
    """Each triangle once as (u, v, w), u < v < w, in ascending order.

    `among` are vertices of which a triangle has at least one, any without it. With directions,
    the name of its triad follows.
    """
    if directed:
        arcs, found = digraph(rows), list_triangles(rows, among=among)
        return [(*triangle, closed_triad(arcs, triangle)) for triangle in found]
    near = neighbors(rows)
    all_triangles = ((u, v, w) for u, v in simple_edges(rows) for w in near[u] & near[v] if v < w)
    return sorted(t for t in all_triangles if among is None or {*t} & {*among})


def iter_triangles(rows, *, among=None, directed=False):
    """The triangles of `list_triangles`, in frames."""
    return list_triangles(rows, among=among, directed=directed)


def count(rows):
    """Triangles in the graph."""
    return len(list_triangles(rows))


def color(word, colors, seed):
    """The color of a 64-bit word: a number of the SplitMix64 sequence as a share of `colors`."""

    def step(z):
        return (z + 1) * 0x9E3779B97F4A7C15 % 2**64

    def mix(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    return (mix((step(word % 2**64) + mix(step(seed))) % 2**64) >> 32) * colors >> 32


def approximate_count(rows, color, colors):
    """The triangles of one color (a dict), scaled up, and the variance that they let expect.

    A triangle has one color with probability colors**-2, two that share an edge have the same
    with colors**-3, two that share less with colors**-4.
    """
    seen = [t for t in list_triangles(rows) if len({color[v] for v in t}) == 1]
    pairs = sum(len({*a} & {*b}) == 2 for a, b in combinations(seen, 2))
    alone, shared = colors**2 * (colors**2 - 1), 2 * colors**3 * (colors - 1)
    return colors**2 * len(seen), alone * len(seen) + shared * pairs


def list_cliques(rows, k):
    """Each clique of k vertices once, as a tuple in ascending order."""
    near = neighbors(rows)
    found = [(v,) for v in sorted(near)]
    for _ in range(k - 1):
        found = [
            (*clique, v)
            for clique in found
            for v in sorted(set.intersection(*(near[u] for u in clique)))
            if v > clique[-1]
        ]
    return found


def cliques(rows, k=4):
    """Sets of k vertices of which each two are neighbors."""
    return len(list_cliques(rows, k))


def vertex_cliques(rows, vertices=(), *, k=4):
    """{vertex: cliques of k vertices that it is in}."""
    corners = Counter(v for clique in list_cliques(rows, k) for v in clique)
    return {v: corners[v] for v in neighbors(rows, vertices)}


def edge_cliques(rows, k=4):
    """{(u, v): cliques of k vertices that hold both ends}."""
    sides = Counter(edge for clique in list_cliques(rows, k) for edge in combinations(clique, 2))
    return {edge: sides[edge] for edge in simple_edges(rows)}


def list_squares(rows):
    """Each cycle of four vertices once, as its corners in a row, from the least of them on."""
    near = neighbors(rows)
    for a in near:
        for b, d in combinations(sorted(near[a]), 2):
            for c in near[b] & near[d]:
                if a < min(b, c, d):
                    yield a, b, c, d


def sided(rows):
    """Rows whose two columns have no id in common: 0 before a source, 1 before a destination."""
    return [((0, u), (1, v)) for u, v in rows]


def squares(rows):
    """Cycles of four vertices."""
    return sum(1 for _ in list_squares(rows))


def vertex_squares(rows, vertices=()):
    """{vertex: squares it is a corner of}."""
    corners = Counter(corner for square in list_squares(rows) for corner in square)
    return {v: corners[v] for v in neighbors(rows, vertices)}


def edge_squares(rows):
    """{(u, v): squares it is a side of}."""
    sides = Counter(
        (min(side), max(side))
        for square in list_squares(rows)
        for side in pairwise((*square, square[0]))
    )
    return {edge: sides[edge] for edge in simple_edges(rows)}


def bitruss(rows):
    """{(u, v): the largest k for which a subgraph holds it whose every edge is in k squares}."""
    near, number, k = neighbors(rows), {}, 0
    left = set(simple_edges(rows))
    while left:
        squares = {
            (u, v): sum(x in near[y] for x in near[v] - {u} for y in near[u] - {v, x})
            for u, v in left
        }
        k = max(k, min(squares.values()))
        fallen = {edge for edge in left if squares[edge] <= k}
        number |= dict.fromkeys(fallen, k)
        left -= fallen
        near = neighbors(left, near)
    return number


# The orbits of graphlets in ORCA's numbers, by the degrees of all their vertices within.
ORBITS = {
    (1, 1): {1: 0},
    (1, 1, 2): {1: 1, 2: 2},
    (2, 2, 2): {2: 3},
    (1, 1, 2, 2): {1: 4, 2: 5},
    (1, 1, 1, 3): {1: 6, 3: 7},
    (2, 2, 2, 2): {2: 8},
    (1, 2, 2, 3): {1: 9, 2: 10, 3: 11},
    (2, 2, 3, 3): {2: 12, 3: 13},
    (3, 3, 3, 3): {3: 14},
}


def list_graphlets(rows):
    """({vertex: its degree within}, sorted degrees) of each connected set of up to four vertices.

    On four vertices, the degrees of a subgraph tell its shape, and whether it is connected.
    """
    near = neighbors(rows)
    for size in (2, 3, 4):
        for vertices in combinations(near, size):
            degree = dict.fromkeys(vertices, 0)
            for u, v in combinations(vertices, 2):
                if v in near[u]:
                    degree[u] += 1
                    degree[v] += 1
            degrees = tuple(sorted(degree.values()))
            if degrees in ORBITS:
                yield degree, degrees


def graphlets(rows, vertices=()):
    """{vertex: how many induced connected subgraphs it is in, by its orbit there}."""
    orbits = {v: [0] * 15 for v in neighbors(rows, vertices)}
    for degree, degrees in list_graphlets(rows):
        for v, d in degree.items():
            orbits[v][ORBITS[degrees][d]] += 1
    return {v: tuple(counts) for v, counts in orbits.items()}


def graphlet_counts(rows):
    """(name, number of induced subgraphs) of every graphlet."""
    counts = Counter(degrees for _, degrees in list_graphlets(rows))
    return [(f"g{i}", counts[degrees]) for i, degrees in enumerate(ORBITS)]


def vertex_triangles(rows, vertices=()):
    """{vertex: triangles it is a corner of}."""
    corners = Counter(corner for triangle in list_triangles(rows) for corner in triangle)
    return {v: corners[v] for v in neighbors(rows, vertices)}


def edge_triangles(rows):
    """{(u, v): triangles it is a side of}."""
    near = neighbors(rows)
    return {(u, v): len(near[u] & near[v]) for u, v in simple_edges(rows)}


def by_row(rows, values, loop=0):
    """The value of each row's edge, in the order of the rows; 0 for a loop, if not said else."""
    return [loop if u == v else values[min(u, v), max(u, v)] for u, v in rows]


def wedges(rows):
    """Paths of two edges: pairs of neighbors of a vertex."""
    return sum(comb(len(near), 2) for near in neighbors(rows).values())


def digraph(rows, vertices=()):
    """NetworkX's graph of the directed edges; loops are dropped, and their vertices stay."""
    graph = nx.DiGraph()
    graph.add_nodes_from([*vertices, *(end for row in rows for end in row[:2])])
    graph.add_edges_from((u, v) for u, v, *_ in rows if u != v)
    return graph


def transitivity(rows, *, directed=False):
    """Share of the wedges that a third edge closes; 0 without a wedge."""
    if directed:
        return nx.transitivity(digraph(rows))
    return 3 * count(rows) / wedges(rows) if wedges(rows) else 0.0


def clustering(rows, vertices=(), *, directed=False):
    """{vertex: share of the pairs of its neighbors that are edges}; 0 below degree 2."""
    if directed:
        return nx.clustering(digraph(rows, vertices))
    triangles = vertex_triangles(rows, vertices)
    degree = {v: len(near) for v, near in neighbors(rows, vertices).items()}
    return {v: triangles[v] / comb(d, 2) if d > 1 else 0.0 for v, d in degree.items()}


AGGREGATES = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "min": min,
    "max": max,
}


def edge_values(valued_rows, aggregate=None, *, directed=False):
    """{(u, v): what the rows (u, v, value) of the edge say together}, u < v unless `directed`.

    ValueError if rows of one edge disagree, and no aggregate says what to do.
    """
    values = {}
    for u, v, value in valued_rows:
        if u != v:
            values.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(value)
    if aggregate is None and any(len(set(several)) > 1 for several in values.values()):
        raise ValueError("rows disagree")
    reduce = AGGREGATES[aggregate or "first"]
    return {edge: reduce(several) for edge, several in values.items()}


def directed_weighted_clustering(weighted_rows, vertices=(), *, aggregate=None):
    """`weighted_clustering` of the directed edges, as NetworkX defines it; 0 if all weights are."""
    graph = digraph(weighted_rows, vertices)
    weight = edge_values(weighted_rows, aggregate, directed=True)
    if not max(weight.values(), default=0):
        return dict.fromkeys(graph, 0.0)
    nx.set_edge_attributes(graph, weight, "weight")
    return nx.clustering(graph, weight="weight")


def weighted_clustering(weighted_rows, vertices=(), *, aggregate=None):
    """{vertex: mean over pairs of neighbors of the cube root of the product of the weights}.

    Rows are (u, v, weight): weights are those of `edge_values`, scaled by the largest, and a pair
    of neighbors that is no edge adds 0.
    """
    rows = [(u, v) for u, v, _ in weighted_rows]
    weight = edge_values(weighted_rows, aggregate)
    largest = max(weight.values(), default=0)
    total = Counter()
    for u, v, w in list_triangles(rows) if largest else []:
        roots = [cbrt(weight[edge] / largest) for edge in ((u, v), (u, w), (v, w))]
        for corner in (u, v, w):
            total[corner] += prod(roots)  # that of the weights may be too small for a float
    degree = {v: len(near) for v, near in neighbors(rows, vertices).items()}
    return {v: total[v] / comb(d, 2) if d > 1 else 0.0 for v, d in degree.items()}


def weighted_transitivity(weighted_rows, *, mean, aggregate=None):
    """The values of closed pairs of edges at a vertex over those of all; 0 if these are 0."""
    of_two = {
        "arithmetic": lambda a, b: (a + b) / 2,
        "geometric": lambda a, b: sqrt(a * b),
        "max": max,
        "min": min,
    }[mean]
    weight, closed, every = edge_values(weighted_rows, aggregate), [], []
    for v, near in neighbors([row[:2] for row in weighted_rows]).items():
        for a, b in combinations(sorted(near), 2):
            every.append(of_two(*(weight[min(v, end), max(v, end)] for end in (a, b))))
            closed += every[-1:] if (a, b) in weight else []
    return fsum(closed) / fsum(every) if any(every) else 0.0


def average_clustering(rows, vertices=(), *, count_zeros=True, among=None, directed=False):
    """Mean of the clustering over the vertices, or over those where it is not 0; NaN of none.

    `among` are the vertices that take part, all without it.
    """
    clusterings = clustering(rows, vertices, directed=directed)
    return _mean(clusterings, count_zeros=count_zeros, among=among)


def weighted_average_clustering(
    weighted_rows, vertices=(), *, aggregate=None, count_zeros=True, among=None
):
    """Mean of `weighted_clustering`; see `average_clustering`."""
    clusterings = weighted_clustering(weighted_rows, vertices, aggregate=aggregate)
    return _mean(clusterings, count_zeros=count_zeros, among=among)


def directed_weighted_average_clustering(
    weighted_rows, vertices=(), *, aggregate=None, count_zeros=True, among=None
):
    """Mean of `directed_weighted_clustering`; see `average_clustering`."""
    clusterings = directed_weighted_clustering(weighted_rows, vertices, aggregate=aggregate)
    return _mean(clusterings, count_zeros=count_zeros, among=among)


def _mean(clusterings, *, count_zeros, among):
    """The mean over some vertices, or over those where it is not 0; NaN of none."""
    values = [clusterings[v] for v in dict.fromkeys(clusterings if among is None else among)]
    values = [c for c in values if c or count_zeros]
    return sum(values) / len(values) if values else nan


def k_truss(rows, k):
    """Edges of the largest subgraph where every edge is in at least k - 2 triangles."""
    edges = simple_edges(rows)
    while True:
        triangles = edge_triangles(edges)
        kept = [edge for edge in edges if triangles[edge] >= k - 2]
        if kept == edges:
            return edges
        edges = kept


def trussness(rows):
    """{(u, v): the largest k whose k-truss holds it}: 2 for an edge in no triangle."""
    number, k, edges = {}, 2, simple_edges(rows)
    while edges:
        number.update(dict.fromkeys(edges, k))
        k += 1
        edges = k_truss(edges, k)
    return number


def joined_edges(edges, connected, triangles=None):
    """Sets of edges that chains of triangles join, or of common ends, by their smallest edges.

    `triangles` are those that may join edges; by default all.
    """
    sets = {edge: edge for edge in edges}

    def find(edge):
        while sets[edge] != edge:
            sets[edge] = sets[sets[edge]]  # half the way for whoever comes next
            edge = sets[edge]
        return edge

    if connected == "triangles":
        inside = _inside(list_triangles(edges) if triangles is None else triangles, edges)
        pairs = [((u, v), side) for u, v, w in inside for side in ((u, w), (v, w))]
    else:
        pairs = [(one, other) for one, other in combinations(edges, 2) if {*one} & {*other}]
    for one, other in pairs:
        sets[find(one)] = find(other)
    members = {}
    for edge in edges:
        members.setdefault(find(edge), []).append(edge)
    return sorted(map(sorted, members.values()))


def truss_communities(rows, k, *, connected="triangles", triangles=None):
    """{(u, v): the number of its community} in the k-truss of all triangles, or of some.

    Of "all", (number, k, parent, edges, vertices) of every community from k = 3 on: the largest k
    whose truss has exactly this community, and the smallest community that has more edges.
    """
    if k == "all":
        found = _hierarchy(rows, connected, triangles)
        return [
            (i, k, around, len(edges), len({end for edge in edges for end in edge}))
            for i, (k, around, edges) in enumerate(found)
        ]
    truss = k_truss(rows, k) if triangles is None else k_truss_of(triangles, rows, k)
    communities = joined_edges(truss, connected, triangles)
    return {edge: i for i, edges in enumerate(communities) for edge in edges}


def truss_hierarchy(rows, *, connected="triangles", triangles=None):
    """The communities of all k: see `truss_communities`."""
    return truss_communities(rows, "all", connected=connected, triangles=triangles)


def truss_community(rows, triangles=None):
    """{(u, v): the number of its community at its own trussness, in the hierarchy}; -1 below 3."""
    found = _hierarchy(rows, "triangles", triangles)
    number = trussness(rows) if triangles is None else trussness_of(triangles, rows)
    return {
        edge: next((i for i, (at, _, edges) in enumerate(found) if at == k and edge in edges), -1)
        for edge, k in number.items()
    }


def _hierarchy(rows, connected, triangles=None):
    """(k, parent, edges) of every community, by the smallest edge, of two the larger one first."""
    triangles, last = list_triangles(rows) if triangles is None else triangles, {}
    for k in range(3, max(trussness_of(triangles, rows).values(), default=2) + 1):
        for edges in joined_edges(k_truss_of(triangles, rows, k), connected, triangles):
            last[tuple(edges)] = k
    order = sorted(last, key=lambda edges: (edges[0], -len(edges)))

    def parent(edges):
        around = [i for i, other in enumerate(order) if {*edges} < {*other}]
        return min(around, key=lambda i: len(order[i]), default=None)

    return [(last[edges], parent(edges), edges) for edges in order]


def triad_counts(rows, vertices=(), *, among=None, directed=False):
    """How many sets of three vertices span 0, 1, 2 and 3 edges; or each of the 16 triads.

    `among` are vertices of which a set has at least one, any without it.
    """
    if directed:
        nodes = None if among is None else list(dict.fromkeys(among))
        return nx.triadic_census(digraph(rows, vertices), nodelist=nodes)
    near = neighbors(rows, vertices)
    sets = (t for t in combinations(near, 3) if among is None or {*t} & {*among})
    spans = Counter((v in near[u]) + (w in near[u]) + (w in near[v]) for u, v, w in sets)
    return {name: spans[i] for i, name in enumerate(("empty", "edge", "wedge", "triangle"))}


def _owners(triangle, per):
    """Whose triangle it is: the whole graph's, its corners', or its sides'."""
    if per is None:
        return [()]
    return [(v,) for v in triangle] if per == "vertex" else list(combinations(triangle, 2))


CLOSED_TRIADS = ("030T", "030C", "120D", "120U", "120C", "210", "300")


def closed_triad(arcs, triangle):
    """The name of the triad that three vertices of a graph with directions span."""
    census = nx.triadic_census(arcs.subgraph(triangle))
    return next(name for name, number in census.items() if number)


def triangles_by_type(typed_rows, *, vertex_type=None, directed=False, per=None, aggregate=None):
    """(vertex or ends, three ascending types, triangles), sorted: the rows of the frame.

    Rows are (u, v, type); `vertex_type` is {vertex: type}, in place of the types of edges. With
    directions, a triad stands for the types.
    """
    if directed:
        arcs, counts = digraph([row[:2] for row in typed_rows]), Counter()
        for triangle in list_triangles([row[:2] for row in typed_rows]):
            place = CLOSED_TRIADS.index(closed_triad(arcs, triangle))
            counts.update((*owner, place) for owner in _owners(triangle, per))
        return [(*key, CLOSED_TRIADS[i], number) for (*key, i), number in sorted(counts.items())]
    types = edge_values(typed_rows, aggregate) if vertex_type is None else vertex_type
    counts = Counter()
    for triangle in list_triangles([row[:2] for row in typed_rows]):
        kinds = triangle if vertex_type is not None else combinations(triangle, 2)
        combination = sorted(types[kind] for kind in kinds)
        counts.update((*owner, *combination) for owner in _owners(triangle, per))
    return [(*key, number) for key, number in sorted(counts.items())]


def balance(signed_rows, *, per=None, aggregate=None):
    """(signs, triangles, balanced) of all; or (vertex, balanced, unbalanced). Rows: (u, v, number).

    Without an aggregate, rows must agree in sign; ValueError also for an edge whose sign is 0.
    """
    if aggregate is None:
        signed_rows = [(u, v, (value > 0) - (value < 0)) for u, v, value in signed_rows]
    values = edge_values(signed_rows, aggregate)
    if not all(values.values()):
        raise ValueError("no sign")
    rows = [row[:2] for row in signed_rows]
    total, of_vertex = Counter(), {v: [0, 0] for v in neighbors(rows)}
    for triangle in list_triangles(rows):
        negative = sum(values[side] < 0 for side in combinations(triangle, 2))
        total[negative] += 1
        for v in triangle:
            of_vertex[v][negative % 2] += 1
    if per == "vertex":
        return [(v, *counts) for v, counts in sorted(of_vertex.items())]
    signs = "+++", "++-", "+--", "---"
    return [(sign, total[i], i % 2 == 0) for i, sign in enumerate(signs)]


def similarity(rows, measure, pairs=None):
    """{(u, v): how much the neighborhoods of its two ends overlap}, of edges or of other pairs."""
    near = neighbors(rows)
    pairs = simple_edges(rows) if pairs is None else pairs
    return {(u, v): similarity_of(near, measure, u, v) for u, v in pairs}


def similarity_of(near, measure, u, v):
    """How much the neighborhoods of two vertices overlap; 0.0 for a loop."""
    a, b = near[u], near[v]
    common, degrees = len(a & b), (len(a), len(b))
    value = {
        "jaccard": lambda: common / len(a | b),
        "overlap": lambda: common / min(degrees),
        "sorensen": lambda: 2 * common / sum(degrees),
        "cosine": lambda: common / sqrt(degrees[0] * degrees[1]),
        "adamic_adar": lambda: sum(1 / log(len(near[w])) for w in a & b),
        "resource_allocation": lambda: sum(1 / len(near[w]) for w in a & b),
        "forman": lambda: 4.0 - sum(degrees) + 3 * common,
        "edge_clustering": lambda: common / (min(degrees) - 1) if min(degrees) > 1 else 0.0,
    }[measure]
    if u == v:
        return 0.0
    return value() if common or measure == "forman" else 0.0


def weighted_similarity(weighted_rows, measure, *, aggregate=None):
    """{(u, v): the lesser weights of both ends to each vertex over the larger ones}; 0 of none."""
    assert measure == "jaccard"
    weight = edge_values(weighted_rows, aggregate)
    ends = sorted({end for edge in weight for end in edge})

    def of(*edge):
        return weight.get((min(edge), max(edge)), 0)

    found = {}
    for u, v in weight:
        pairs = [(of(u, x), of(v, x)) for x in ends]
        most = fsum(map(max, pairs))
        found[u, v] = fsum(map(min, pairs)) / most if most else 0.0
    return found


def most_similar(rows, top, *, measure, most_degree=None, exclude_neighbors=False, among=None):
    """(u, v, value) of the best v of each u, in the order of u, then of the value, then of v.

    Values are compared as fractions, or as exact sums of floats: ties are ties.
    """
    near, found = neighbors(rows), []
    for u in sorted(near if among is None else {*among}):
        candidates = []
        for v in near:
            middles = {
                w for w in near[u] & near[v] if most_degree is None or len(near[w]) <= most_degree
            }
            if v != u and middles and not (exclude_neighbors and v in near[u]):
                value = exact_similarity(near, measure, u, v, middles)
                candidates.append((-value, v))
        for value, v in sorted(candidates)[:top]:
            found.append((u, v, sqrt(-value) if measure == "cosine" else float(-value)))
    return found


def project(rows, *, side="source", at_least=1, measure=None):
    """(u, v, common neighbors, value) of the pairs of a side, whose ids the other side has not."""
    rows = sided(rows)
    near, found = neighbors(rows), []
    chosen = sorted(v for v in near if v[0] == (side == "destination"))
    for u, v in combinations(chosen, 2):
        middles = near[u] & near[v]
        if len(middles) >= at_least:
            if measure == "ratio":
                value = len(middles) / (len(near) - len(chosen))
            elif measure:
                value = exact_similarity(near, measure, u, v, middles)
                value = sqrt(value) if measure == "cosine" else float(value)
            found.append((u[1], v[1], len(middles), *([value] if measure else [])))
    return found


def iter_project(rows, **options):
    """The same, of which frames are made."""
    return project(rows, **options)


def exact_similarity(near, measure, u, v, middles):
    """How alike two vertices are that have these neighbors in common; of the cosine its square."""
    a, b, common = len(near[u]), len(near[v]), len(middles)
    return {
        "jaccard": lambda: Fraction(common, a + b - common),
        "cosine": lambda: Fraction(common**2, a * b),
        "sorensen": lambda: Fraction(2 * common, a + b),
        "overlap": lambda: Fraction(common, min(a, b)),
        "common_neighbors": lambda: common,
        "adamic_adar": lambda: fsum(1 / log(len(near[w])) for w in middles),
        "resource_allocation": lambda: sum(Fraction(1, len(near[w])) for w in middles),
        "newman": lambda: sum(Fraction(1, len(near[w]) - 1) for w in middles),
    }[measure]()


def annotate(rows, columns):
    """{column: {(u, v): its value}}: a column is defined by the function of its name.

    "triangles" is `edge_triangles`, "squares" is `edge_squares`, and what has no function of its
    name is a `similarity`.
    """
    named = {**globals(), "triangles": edge_triangles, "squares": edge_squares}
    return {c: named[c](rows) if c in named else similarity(rows, c) for c in columns}


def as_of(timed_rows, columns, *, within=None, since=0):
    """{column: its value of each row}, of what the row forms with earlier rows of its window.

    Rows are (u, v, time). Earlier rows are those of an earlier time, or of the same and above, that
    are at most `within` before. Rows above the one at `since` get 0.
    """
    order = sorted(range(len(timed_rows)), key=lambda i: timed_rows[i][2])
    found = {column: [0] * len(timed_rows) for column in columns}
    for place, i in enumerate(order):
        u, v, time = timed_rows[i]
        window = [timed_rows[j] for j in order[:place]]
        window = [(a, b) for a, b, t in window if a != b and (within is None or time - t <= within)]
        if u != v and i >= since:
            formed = _formed(u, v, window)
            for column in columns:
                found[column][i] = formed[column]()
    return found


def _formed(u, v, window):
    """{column: a function}, of what a row u -> v forms with rows that are in the order of time."""
    into, out = defaultdict(set), defaultdict(set)
    for a, b in window:
        into[b].add(a)
        out[a].add(b)
    return {
        "u_out": lambda: sum(a == u for a, b in window),
        "u_in": lambda: sum(b == u for a, b in window),
        "v_out": lambda: sum(a == v for a, b in window),
        "v_in": lambda: sum(b == v for a, b in window),
        "u_out_distinct": lambda: len(out[u]),
        "u_in_distinct": lambda: len(into[u]),
        "v_out_distinct": lambda: len(out[v]),
        "v_in_distinct": lambda: len(into[v]),
        "pair_repeats": lambda: window.count((u, v)),
        "pair_reversed": lambda: window.count((v, u)),
        "triangles_closed": lambda: len((out[u] | into[u]) & (out[v] | into[v])),
        "closed_cycle": lambda: len(out[v] & into[u]),
        "closed_middle": lambda: len(out[u] & into[v]),
        "closed_in": lambda: len(out[u] & out[v]),
        "closed_out": lambda: len(into[u] & into[v]),
        "cycles_closed": lambda: sum(
            window.index((v, w)) < max(i for i, row in enumerate(window) if row == (w, u))
            for w in out[v] & into[u]
        ),
        # u scatters to v and another w, which both go to z; or v gathers from u and another w, to
        # which z goes as well.
        "scatter_gather": lambda: (
            sum(len({u, v, w, z}) == 4 and v in into[z] for w in out[u] for z in out[w])
            + sum(len({u, v, w, z}) == 4 and u in out[z] for w in into[v] for z in into[w])
        ),
    }


def structural_holes(mutual, columns, vertices):
    """{vertex: its values of the columns}, from {(u, v): weight of the tie}, both ways: Burt's."""
    ties = {u: {v: w for (x, v), w in mutual.items() if x == u and w} for u in vertices}

    def invested(u, v):
        return ties[u].get(v, 0) / fsum(ties[u].values())

    def redundant(u, v):
        return fsum(invested(u, x) * ties[v].get(x, 0) / max(ties[v].values()) for x in ties[u])

    formula = {
        "constraint": lambda u: fsum(
            (invested(u, v) + fsum(invested(u, x) * invested(x, v) for x in ties[u])) ** 2
            for v in ties[u]
        ),
        "effective_size": lambda u: fsum(1 - redundant(u, v) for v in ties[u]),
    }
    return {u: tuple(formula[c](u) if ties[u] else nan for c in columns) for u in ties}


def weighted_annotate_vertices(weighted_rows, columns, *, aggregate=None):
    """`structural_holes` of weighted edges."""
    weight = edge_values(weighted_rows, aggregate)
    mutual = weight | {(v, u): w for (u, v), w in weight.items()}
    return structural_holes(mutual, columns, neighbors([row[:2] for row in weighted_rows]))


def directed_weighted_annotate_vertices(weighted_rows, columns, *, aggregate=None):
    """`structural_holes` of weighted edges with directions."""
    weight, mutual = edge_values(weighted_rows, aggregate, directed=True), Counter()
    for (u, v), w in weight.items():
        mutual[u, v] += w
        mutual[v, u] += w
    return structural_holes(mutual, columns, neighbors([row[:2] for row in weighted_rows]))


def annotate_vertices(rows, columns, vertices=(), *, directed=False):
    """{vertex: its values of the columns, in their order}."""
    if directed:
        arcs = [(u, v, 1) for u, v in rows]
        return directed_weighted_annotate_vertices(arcs, columns)
    near, trusses = neighbors(rows, vertices), trussness(rows)
    triangles, clusterings = vertex_triangles(rows, vertices), clustering(rows, vertices)
    squares_at = vertex_squares(rows, vertices) if "squares" in columns else {}
    of_squares = nx.square_clustering(nx.Graph(list(simple_edges(rows))))

    def constraint(v):
        shared = [sum(1 / len(near[x]) for x in near[v] & near[w]) for w in near[v]]
        return sum(((1 + resources) / len(near[v])) ** 2 for resources in shared)

    def closure(v):
        paths = sum(len(near[w]) - 1 for w in near[v])
        return 2 * triangles[v] / paths if paths else 0.0

    formula = {
        "degree": lambda v: len(near[v]),
        "triangles": lambda v: triangles[v],
        "clustering": lambda v: clusterings[v],
        "trussness": lambda v: max((k for edge, k in trusses.items() if v in edge), default=0),
        "effective_size": lambda v: (
            len(near[v]) - 2 * triangles[v] / len(near[v]) if near[v] else nan
        ),
        "constraint": lambda v: constraint(v) if near[v] else nan,
        "closure": lambda v: closure(v) if near[v] else nan,
        "squares": lambda v: squares_at[v],
        "square_clustering": lambda v: of_squares.get(v, 0.0),
    }
    return {v: tuple(formula[column](v) for column in columns) for v in near}


def triangles_over_time(timed_rows, *, window=None, step=None, origin="start"):
    """(start, triangles) of the rows in each window [start, start + window).

    Rows are (u, v, time); the first window begins with the first time, each of the others a `step`
    later, as long as that is no later than the last time; a step is a window if it is not given.
    With an origin, a number of steps from it, the first window is the last that begins by then.
    Without a window, (time, triangles that form, triangles of the rows up to then) of each time.
    """
    times = sorted({t for _, _, t in timed_rows})
    if window is None:
        totals = [count([(u, v) for u, v, t in timed_rows if t <= until]) for until in times]
        formed = [b - a for a, b in zip([0, *totals], totals, strict=False)]
        return list(zip(times, formed, totals, strict=True))
    step, result, k = window if step is None else step, [], 0
    first = times[0] if times and origin == "start" else origin
    while times and origin != "start" and first > times[0]:
        first -= step
    while times and first + step <= times[0]:
        first += step
    while times and first + k * step <= times[-1]:
        start = first + k * step
        inside = [(u, v) for u, v, t in timed_rows if start <= t < start + window]
        result.append((start, count(inside)))
        k += 1
    return result


def list_triangles_where(rows, *, within=None, types=None, vertex_type=None, balanced=None,
                         aggregate=None):  # fmt: skip
    """The triangles of a kind, by trying every choice of one row of each edge.

    Rows are (u, v, {"time": ..., "type": ..., "sign": ...}); `vertex_type` is {vertex: type}. With
    an aggregate, types and signs are those of the edges, as the rows settle them.
    """
    of_edge = {}
    for u, v, row in rows:
        of_edge.setdefault((min(u, v), max(u, v)), []).append(row)
    asked_of_rows = ("type",) * (vertex_type is None and types is not None)
    asked_of_rows += ("sign",) * (balanced is not None)
    if aggregate is not None:
        for name in asked_of_rows:
            valued = [(u, v, row[name]) for u, v, row in rows]
            for edge, value in edge_values(valued, aggregate).items():
                of_edge[edge] = [{**row, name: value} for row in of_edge[edge]]
    in_any_order = {*permutations(types or ())}

    def fit(found):
        return any(
            all(want in (None, kind) for want, kind in zip(asked, found, strict=True))
            for asked in in_any_order
        )

    def counts(triangle, three):
        if within is not None:
            times = [row["time"] for row in three]
            if max(times) - min(times) > within:
                return False
        if types is not None:
            of_rows, of_vertices = (row.get("type") for row in three), (vertex_type or {}).get
            if not fit([*of_rows] if vertex_type is None else [*map(of_vertices, triangle)]):
                return False
        return balanced is None or (prod(row["sign"] for row in three) > 0) == balanced

    return [
        triangle
        for triangle in list_triangles([(u, v) for u, v, _ in rows])
        if any(
            counts(triangle, three)
            for three in product(*(of_edge[side] for side in combinations(triangle, 2)))
        )
    ]


def count_of(triangles, rows):
    """How many triangles there are."""
    return len(triangles)


def list_triangles_of(triangles, rows, *, among=None):
    """The triangles themselves; `among`: those that have one of these corners."""
    return [t for t in triangles if among is None or set(t) & set(among)]


def iter_triangles_of(triangles, rows, *, among=None):
    """The same, in frames."""
    return list_triangles_of(triangles, rows, among=among)


def vertex_triangles_of(triangles, rows):
    """{vertex: triangles that it is a corner of}."""
    corners = Counter(corner for triangle in triangles for corner in triangle)
    return {v: corners[v] for v in neighbors(rows)}


def edge_triangles_of(triangles, rows):
    """{(u, v): triangles that it is a side of}."""
    sides = Counter(side for triangle in triangles for side in combinations(triangle, 2))
    return {edge: sides[edge] for edge in simple_edges(rows)}


def clustering_of(triangles, rows, **_):
    """{vertex: such triangles over the pairs of its neighbors}; 0 below degree 2."""
    closed, near = vertex_triangles_of(triangles, rows), neighbors(rows)
    return {v: closed[v] / max(comb(len(near[v]), 2), 1) for v in near}


def annotate_vertices_of(triangles, rows, columns, **_):
    """{vertex: values of the columns}, of which some count such triangles alone."""
    near = neighbors(rows)
    of = {
        "degree": {v: len(near[v]) for v in near},
        "triangles": vertex_triangles_of(triangles, rows),
        "clustering": clustering_of(triangles, rows),
    }
    return {v: tuple(of[column][v] for column in columns) for v in near}


def average_clustering_of(triangles, rows, *, count_zeros=True, among=None, **_):
    """Mean of `clustering_of`; see `average_clustering`."""
    return _mean(clustering_of(triangles, rows), count_zeros=count_zeros, among=among)


def transitivity_of(triangles, rows, **_):
    """Share of the wedges that such a triangle closes; 0 without a wedge."""
    return 3 * len(triangles) / max(wedges(rows), 1)


def _inside(triangles, edges):
    """The triangles whose three sides are all among some edges."""
    edges = {*edges}
    return [triangle for triangle in triangles if {*combinations(triangle, 2)} <= edges]


def k_truss_of(triangles, rows, k):
    """Edges of the largest subgraph where every edge is in at least k - 2 of its triangles."""
    edges = simple_edges(rows)
    while True:
        counts = edge_triangles_of(_inside(triangles, edges), edges)
        kept = [edge for edge in edges if counts[edge] >= k - 2]
        if kept == edges:
            return edges
        edges = kept


def trussness_of(triangles, rows):
    """{(u, v): the largest k whose `k_truss_of` holds it}."""
    number, k, edges = {}, 2, simple_edges(rows)
    while edges:
        number.update(dict.fromkeys(edges, k))
        k += 1
        edges = k_truss_of(triangles, edges, k)
    return number


def truss_communities_of(triangles, rows, k, **own):
    """See `truss_communities`."""
    return truss_communities(rows, k, triangles=triangles, **own)


def truss_hierarchy_of(triangles, rows, **own):
    """See `truss_hierarchy`."""
    return truss_hierarchy(rows, triangles=triangles, **own)


def annotate_of(triangles, rows, columns):
    """{column: what it is of these triangles alone}."""
    known = {
        "triangles": edge_triangles_of,
        "trussness": trussness_of,
        "truss_community": lambda triangles, rows: truss_community(rows, triangles),
    }
    return {name: known[name](triangles, rows) for name in columns}
