"""Graphs of the benchmarks, by name: ``rmat:20``, ``grid:200``, ``uniform:22:64e6``, a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rapids_tc import datasets


def load(name: str, library: str = "pandas") -> Any:
    """The raw edge frame of a benchmark graph, columns ``src`` and ``dst``."""
    kind, _, rest = name.partition(":")
    if kind == "rmat":
        return datasets.rmat(int(rest), library=library)
    if kind == "grid":
        frame = grid(int(rest))
    elif kind == "uniform":
        scale, edges = rest.split(":")
        frame = uniform(int(scale), int(float(edges)))
    elif kind in SHAPES:
        frame = SHAPES[kind](int(float(rest)))
    elif Path(name).suffix == ".npz":
        with np.load(name) as file:
            frame = pd.DataFrame({"src": file["src"], "dst": file["dst"]})
    else:
        raise ValueError(f"no benchmark graph {name!r}")
    if library == "pandas":
        return frame
    import cudf

    return cudf.from_pandas(frame)


def grid(side: int) -> pd.DataFrame:
    """The 3-D grid of side**3 vertices and no triangle."""
    ids = np.arange(side**3, dtype=np.int32).reshape(side, side, side)
    ends = [(ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[:, :, :-1], ids[:, :, 1:])]
    src, dst = (np.concatenate([pair[k].ravel() for pair in ends]) for k in (0, 1))
    return pd.DataFrame({"src": src, "dst": dst})


def uniform(scale: int, edges: int) -> pd.DataFrame:
    """`edges` rows between 2**scale vertices, each end drawn alike."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {k: random.integers(0, 1 << scale, edges, np.int32) for k in ("src", "dst")}
    )


def star(leaves: int) -> pd.DataFrame:
    rim = np.arange(1, leaves + 1, dtype=np.int32)
    return pd.DataFrame({"src": np.zeros(leaves, np.int32), "dst": rim})


def wheel(rim: int) -> pd.DataFrame:
    ring = np.arange(1, rim + 1, dtype=np.int32)
    round_it = pd.DataFrame({"src": ring, "dst": np.roll(ring, 1)})
    return pd.concat([star(rim), round_it], ignore_index=True)


def book(pages: int) -> pd.DataFrame:
    page = np.arange(2, pages + 2, dtype=np.int32)
    spine, ends = np.zeros(1, np.int32), np.zeros(pages, np.int32)
    return pd.DataFrame(
        {
            "src": np.concatenate([spine, ends, ends + 1]),
            "dst": np.concatenate([spine + 1, page, page]),
        }
    )


def tube(rings: int) -> pd.DataFrame:
    """Rings of four vertices, the squares between them cut in two: peeled a ring a round."""
    at = np.arange(4 * rings, dtype=np.int32).reshape(rings, 4)
    beside = np.roll(at, -1, axis=1)
    src = np.concatenate([at.ravel(), at[:-1].ravel(), at[:-1].ravel()])
    dst = np.concatenate([beside.ravel(), at[1:].ravel(), beside[1:].ravel()])
    return pd.DataFrame({"src": src, "dst": dst})


def clique(n: int) -> pd.DataFrame:
    """Every two of n vertices."""
    src, dst = np.triu_indices(n, 1)
    return pd.DataFrame({"src": src.astype(np.int32), "dst": dst.astype(np.int32)})


SHAPES = {"star": star, "wheel": wheel, "book": book, "tube": tube, "clique": clique}
