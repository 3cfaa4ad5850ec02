"""Graphs whose answers have a closed form, and hypothesis strategies for raw edge lists."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
from hypothesis import strategies as st

# A triangle, a tail, a loop of its own and a repeat turned round; and each row's triangles.
ROWS = [(5, 1), (1, 9), (9, 5), (9, 2), (7, 7), (1, 5)]
TRIANGLES = [1, 1, 1, 0, 0, 1]


def small(source="src", destination="dst") -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=[source, destination])


@dataclass(frozen=True)
class Known:
    """A graph as two arrays, each edge once, and what is known of it without counting."""

    source: np.ndarray
    destination: np.ndarray
    n_vertices: int
    triangles: int
    by_edge: dict[int, int]  # {triangles an edge is in: how many such edges}

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame({"src": self.source, "dst": self.destination})

    @property
    def rows(self) -> list[tuple[int, int]]:
        return list(zip(self.source.tolist(), self.destination.tolist(), strict=True))

    @property
    def n_edges(self) -> int:
        return sum(self.by_edge.values())


def _known(source, destination, n_vertices, by_edge) -> Known:
    sides = sum(triangles * edges for triangles, edges in by_edge.items())
    present = {triangles: edges for triangles, edges in by_edge.items() if edges}
    return Known(np.asarray(source), np.asarray(destination), n_vertices, sides // 3, present)


def complete(n: int) -> Known:
    """Every two of n vertices: C(n, 3) triangles."""
    source, destination = np.triu_indices(n, 1)
    return _known(source, destination, n, {n - 2: comb(n, 2)})


def multipartite(parts: int, size: int) -> Known:
    """Every two vertices of different parts: C(parts, 3) size**3 triangles, bipartite none."""
    source, destination = np.triu_indices(parts * size, 1)
    apart = source // size != destination // size
    edges = {(parts - 2) * size: comb(parts, 2) * size**2}
    return _known(source[apart], destination[apart], parts * size, edges)


def star(leaves: int) -> Known:
    """One hub: no triangle."""
    return _known(np.zeros(leaves, int), np.arange(1, leaves + 1), leaves + 1, {0: leaves})


def cycle(n: int) -> Known:
    """A ring of more than three vertices: no triangle."""
    ring = np.arange(n)
    return _known(ring, np.roll(ring, -1), n, {0: n})


def wheel(rim: int) -> Known:
    """A hub and a ring of more than three vertices round it: a triangle a rim edge."""
    ring = np.arange(1, rim + 1)
    source = np.concatenate([np.zeros(rim, int), ring])
    destination = np.concatenate([ring, np.roll(ring, -1)])
    return _known(source, destination, rim + 1, {2: rim, 1: rim})


def book(pages: int) -> Known:
    """Triangles that share one edge, the spine."""
    page = np.arange(2, pages + 2)
    source = np.concatenate([[0], np.zeros(pages, int), np.ones(pages, int)])
    destination = np.concatenate([[1], page, page])
    edges = {1: 1 + 2 * pages} if pages == 1 else {pages: 1, 1: 2 * pages}
    return _known(source, destination, pages + 2, edges)


def disjoint_triangles(n: int) -> Known:
    """n triangles that share nothing."""
    first = 3 * np.arange(n)
    source = np.concatenate([first, first, first + 1])
    destination = np.concatenate([first + 1, first + 2, first + 2])
    return _known(source, destination, 3 * n, {1: 3 * n})


def friendship(n: int) -> Known:
    """n triangles that share one vertex."""
    first = 2 * np.arange(n) + 1
    source = np.concatenate([np.zeros(2 * n, int), first])
    destination = np.concatenate([first, first + 1, first + 1])
    return _known(source, destination, 2 * n + 1, {1: 3 * n})


def ladder(rungs: int) -> Known:
    """Two paths side by side: no triangle."""
    left, right = 2 * np.arange(rungs), 2 * np.arange(rungs) + 1
    source = np.concatenate([left, left[:-1], right[:-1]])
    destination = np.concatenate([right, left[1:], right[1:]])
    return _known(source, destination, 2 * rungs, {0: 3 * rungs - 2})


def tube(circumference: int, rings: int) -> Known:
    """Rings of more than three vertices, the squares between them cut in two triangles."""
    at = np.arange(circumference * rings).reshape(rings, circumference)
    beside = np.roll(at, -1, axis=1)
    source = np.concatenate([at.ravel(), at[:-1].ravel(), at[:-1].ravel()])
    destination = np.concatenate([beside.ravel(), at[1:].ravel(), beside[1:].ravel()])
    ends, between = 2 * circumference, circumference * (rings - 1)
    edges = {1: ends, 2: 2 * between + circumference * (rings - 2)}
    return _known(source, destination, at.size, edges)


def clique_and_tube():
    """The rows of a clique, of a tube that a peel takes ring by ring, and of fans between them."""
    rows, random = complete(30).rows + tube(5, 8).rows, np.random.default_rng(1)
    for fan in range(40, 52):
        rows += [(int(end), fan) for end in random.choice(30, 3, replace=False)] + [(fan - 1, fan)]
    return rows


SMALL: dict[str, Known] = {
    "one edge": complete(2),
    "triangle": complete(3),
    "K4": complete(4),
    "K9": complete(9),
    "octahedron": multipartite(3, 2),
    "K3,3": multipartite(2, 3),
    "K4,4,4,4": multipartite(4, 4),
    "star": star(12),
    "pentagon": cycle(5),
    "wheel": wheel(8),
    "book": book(7),
    "disjoint triangles": disjoint_triangles(6),
    "friendship": friendship(5),
    "ladder": ladder(6),
    "tube": tube(4, 6),
}


def disturbed(known: Known, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The same graph under other ids, shuffled, turned round and repeated; and the new ids."""
    rng = np.random.default_rng(seed)
    ids = rng.choice(np.arange(-500, 500) * 2**44, known.n_vertices, replace=False)
    row = rng.permutation(np.concatenate([np.arange(known.n_edges)] * 2))
    ends = np.stack([known.source[row], known.destination[row]])
    ends = np.where(rng.random(len(row)) < 0.5, ends, ends[::-1])
    return pd.DataFrame({"src": ids[ends[0]], "dst": ids[ends[1]]}), ids


# What the numbers 0 to 15 look like as ids of each dtype.
ID_DTYPES: dict[str, Callable[[list[int]], pd.Series]] = {
    "int8": lambda a: pd.Series(np.array(a, "int8") - np.int8(5)),
    "int16": lambda a: pd.Series(np.array(a, "int16") * np.int16(-1)),
    "int32": lambda a: pd.Series(np.array(a, "int32") * np.int32(2**26)),
    "int64": lambda a: pd.Series(np.array(a, "int64") * 2**58 - 2**62),
    "uint8": lambda a: pd.Series(np.array(a, "uint8") + np.uint8(240)),
    "uint16": lambda a: pd.Series(np.array(a, "uint16") + np.uint16(2**16 - 16)),
    "uint32": lambda a: pd.Series(np.array(a, "uint32") + np.uint32(2**32 - 16)),
    "uint64": lambda a: pd.Series(np.array(a, "uint64") + np.uint64(2**64 - 16)),
    "float64": lambda a: pd.Series(np.array(a, "float64") - 3),
    "str": lambda a: pd.Series([chr(98 + i) * (1 + i % 3) for i in a], dtype="str"),
    "category": lambda a: pd.Series([f"v{20 - i}" for i in a], dtype="str").astype("category"),
    "datetime64[ns]": lambda a: pd.Series(np.array(a, "datetime64[D]").astype("datetime64[ns]")),
}


def edge_lists(vertices: int = 12, rows: int = 60) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Raw rows over few vertices: repeats in both directions and loops come by themselves."""
    end = st.integers(0, vertices - 1)
    return st.lists(st.tuples(end, end), max_size=rows)


def dense_edge_lists(vertices: int = 10) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Most pairs of a few vertices, so that trusses and cliques are deep."""
    pairs = list(combinations(range(vertices), 2))
    missing = st.sets(st.sampled_from(pairs), max_size=len(pairs) // 3)
    return missing.map(lambda gone: [pair for pair in pairs if pair not in gone])


def dense_arcs(vertices: int = 6) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Pairs of a few vertices, most of them with an arc one way, the other way or both ways."""
    pairs = list(combinations(range(vertices), 2))
    ways = st.lists(st.sampled_from("|<>=<>="), min_size=len(pairs), max_size=len(pairs))

    def arcs(ways: list[str]) -> list[tuple[int, int]]:
        drawn = list(zip(pairs, ways, strict=True))
        down = [(u, v) for (u, v), way in drawn if way in ">="]
        return down + [(v, u) for (u, v), way in drawn if way in "<="]

    return ways.map(arcs)


def edge_frames() -> st.SearchStrategy[pd.DataFrame]:
    """Edge frames of raw rows over ids of any dtype that may name vertices."""

    def frame(rows: list[tuple[int, int]], dtype: str) -> pd.DataFrame:
        ends = ([u for u, _ in rows], [v for _, v in rows])
        source, destination = map(ID_DTYPES[dtype], ends)
        return pd.DataFrame({"src": source, "dst": destination})

    return st.builds(frame, edge_lists(), st.sampled_from(sorted(ID_DTYPES)))
