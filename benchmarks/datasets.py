"""The graphs of the benchmarks by name, and their triangles if a closed form gives them.

``karate``, ``rmat:20``, ``grid:200``, ``mesh:2800``, ``road:2800``, ``uniform:22:64e6``,
``theory:3-4-5-B1k``, a shape such as ``star:1e6``, ``shared:ego-Twitter`` (a graph of the folder
that RAPIDS_TC_SHARED names), or an .npz file. Rows are the same in every library; for cuDF they are
made on the GPU.
"""

from __future__ import annotations

import importlib
import os
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np

from rapids_tc import datasets
from rapids_tc.preparation.splitmix import STEP, mix

Ends = tuple[Any, Any]  # two int32 arrays of NumPy or CuPy


def load(name: str, library: str = "pandas") -> Any:
    """Load the raw edge frame of a benchmark graph, with columns ``src`` and ``dst``."""
    kind, _, rest = name.partition(":")
    if kind == "rmat":
        return datasets.rmat(int(rest), library=library)
    if name == "karate":
        return datasets.karate(library=library)
    frames = importlib.import_module(library)
    xp = importlib.import_module("cupy") if library == "cudf" else np
    if kind in MAKERS:
        src, dst = MAKERS[kind](rest, xp)
    elif kind == "shared" or Path(name).suffix == ".npz":
        with np.load(path(name)) as file:
            src, dst = (xp.asarray(file[end].astype(np.int32)) for end in ("src", "dst"))
    else:
        raise ValueError(f"no benchmark graph {name!r}")
    return frames.DataFrame({"src": src, "dst": dst})


def path(name: str) -> Path:
    """Return the path of the file of a graph."""
    if not name.startswith("shared:"):
        return Path(name)
    folder = Path(os.environ.get("RAPIDS_TC_SHARED", ""), "graphs")
    return folder / f"{name.removeprefix('shared:')}.npz"


def label(name: str) -> str:
    """Return the name of a graph in results; for a file, without its folder."""
    return Path(name).stem if name.endswith(".npz") else name.removeprefix("shared:")


def known(name: str) -> dict[str, int]:
    """Return the answers that a closed form gives, by question."""
    kind, _, rest = name.partition(":")
    if kind == "theory":
        return {"triangles": theory_triangles(rest)}
    if name == "karate":
        return {"triangles": 45}
    if kind not in CLOSED:
        return {}
    return {"triangles": CLOSED[kind](int(float(rest)))}


def grid(side: int, xp: Any) -> Ends:
    """Make the 3-D grid of side**3 vertices."""
    ids = xp.arange(side**3, dtype="int32").reshape(side, side, side)
    ends = [(ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[:, :, :-1], ids[:, :, 1:])]
    src, dst = (xp.concatenate([pair[k].ravel() for pair in ends]) for k in (0, 1))
    return src, dst


def uniform(rest: str, xp: Any) -> Ends:
    """Make ``scale:edges``: rows between 2**scale vertices, each end drawn uniformly.

    An end is a hash of its number, SplitMix64 by Steele, Lea and Flood ("Fast splittable
    pseudorandom number generators", OOPSLA 2014), so that every library draws the same.
    """
    scale, edges = (int(float(number)) for number in rest.split(":"))
    words = _hashes(2 * edges, xp) >> np.uint64(64 - scale)
    return words[:edges].astype("int32"), words[edges:].astype("int32")


def _hashes(size: int, xp: Any) -> Any:
    """Return the hashes of the numbers from 1 on, uint64."""
    words = xp.arange(1, size + 1, dtype="uint64")
    words *= np.uint64(STEP)
    return mix(words)


def mesh(side: int, xp: Any) -> Ends:
    """Make a planar graph: side**2 vertices in squares, each square cut in two triangles."""
    ids = xp.arange(side**2, dtype="int32").reshape(side, side)
    ends = [(ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[:-1, :-1], ids[1:, 1:])]
    src, dst = (xp.concatenate([pair[k].ravel() for pair in ends]) for k in (0, 1))
    return src, dst


def road(side: int, xp: Any) -> Ends:
    """Keep 45 % of the edges of a mesh, by their hashes: degrees are those of a road network."""
    src, dst = mesh(side, xp)
    stays = (_hashes(len(src), xp) >> np.uint64(32)) < np.uint64(0.45 * 2**32)
    return src[stays], dst[stays]


def star(leaves: int, xp: Any) -> Ends:
    """Make a vertex with edges to all others."""
    return xp.zeros(leaves, "int32"), xp.arange(1, leaves + 1, dtype="int32")


def wheel(rim: int, xp: Any) -> Ends:
    """Make a hub and a ring of more than three vertices around it."""
    hub, ring = star(rim, xp)
    return xp.concatenate([hub, ring]), xp.concatenate([ring, xp.roll(ring, -1)])


def book(pages: int, xp: Any) -> Ends:
    """Make triangles that share one edge."""
    page, ends = xp.arange(2, pages + 2, dtype="int32"), xp.zeros(pages, "int32")
    spine = xp.zeros(1, "int32")
    return xp.concatenate([spine, ends, ends + 1]), xp.concatenate([spine + 1, page, page])


def tube(rings: int, xp: Any) -> Ends:
    """Make rings of four vertices with the squares between them cut in two.

    The peel removes one ring per round.
    """
    ids = xp.arange(4 * rings, dtype="int32").reshape(rings, 4)
    following = xp.roll(ids, -1, axis=1)
    src = xp.concatenate([ids.ravel(), ids[:-1].ravel(), ids[:-1].ravel()])
    return src, xp.concatenate([following.ravel(), ids[1:].ravel(), following[1:].ravel()])


def clique(n: int, xp: Any) -> Ends:
    """Make an edge between every two of n vertices."""
    src, dst = xp.triu_indices(n, 1)
    return src.astype("int32"), dst.astype("int32")


# A Kronecker product of stars, by Kepner et al., "Design, generation, and validation of extreme
# scale power-law graphs" (IPDPS Workshops 2018), the "Theory" graphs of the Graph Challenge. Bk
# are plain stars; in B1k every star has a loop at its center, in B2k at one leaf, and the only loop
# of the product is removed.


def theory(name: str, xp: Any) -> Ends:
    """Make ``3-4-5-B1k``: stars of 3, 4 and 5 leaves; every edge in both directions."""
    leaves, kind = _stars(name)
    src, dst = xp.zeros(1, "int32"), xp.zeros(1, "int32")
    for m in leaves:
        leaf, center = xp.arange(1, m + 1, dtype="int32"), xp.zeros(m, "int32")
        loop = {"Bk": [], "B1k": [0], "B2k": [m]}[kind]
        looped = xp.asarray(loop, dtype="int32")
        ends = xp.concatenate([center, leaf, looped]), xp.concatenate([leaf, center, looped])
        src, dst = (
            (old[:, None] * np.int32(m + 1) + new).ravel()
            for old, new in zip((src, dst), ends, strict=True)
        )
    no_loop = src != dst
    return src[no_loop], dst[no_loop]


def theory_triangles(name: str) -> int:
    """Count the triangles of a product of stars.

    Closed walks of three steps multiply over the factors. Walks through the loop are no triangles:
    one stays at the loop, and three belong to each other neighbor of its vertex, whose number is
    a product of entries in the rows of the loops, less one.
    """
    leaves, kind = _stars(name)
    if kind == "Bk":  # bipartite
        return 0
    walks = prod(3 * m + 1 if kind == "B1k" else 4 for m in leaves)
    entries = prod(m + 1 if kind == "B1k" else 2 for m in leaves)
    return (walks - 1 - 3 * (entries - 1)) // 6


def _stars(name: str) -> tuple[list[int], str]:
    *leaves, kind = name.split("-")
    return [int(m) for m in leaves], kind


def _sized(make: Any) -> Any:
    return lambda rest, xp: make(int(float(rest)), xp)


MAKERS = {
    "uniform": uniform,
    "theory": theory,
    **{make.__name__: _sized(make) for make in (grid, mesh, road, star, wheel, book, tube, clique)},
}
CLOSED = {
    "grid": lambda side: 0,
    "mesh": lambda side: 2 * (side - 1) ** 2,
    "star": lambda leaves: 0,
    "wheel": lambda rim: rim,
    "book": lambda pages: pages,
    "clique": lambda n: comb(n, 3),
}
