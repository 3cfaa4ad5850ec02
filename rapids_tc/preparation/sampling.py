"""Samples of the edges of a graph by colors of its vertices, for approximate counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.frames.backend import as_uint32, gather, sum64
from rapids_tc.preparation.orient import BATCHES
from rapids_tc.preparation.splitmix import STEP, mix

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.preparation.numbering import NumberedEdges


def one_colored(edges: NumberedEdges, *, colors: int, seed: int) -> NumberedEdges:
    """Select the edges, except loops, whose two ends have the same color."""
    color = draw(edges.ids.words, colors, seed)
    same_color = gather(color, edges.src) == gather(color, edges.dst)
    rows = edges.ids.backend.xp.flatnonzero(same_color & (edges.src != edges.dst))
    src, dst = (as_uint32(end[rows]) for end in edges.ends)
    return replace(edges, src=src, dst=dst, rows=len(src))


def draw(words: Array, colors: int, seed: int) -> Array:
    """Draw a pseudo-random color below `colors` for each 64-bit word.

    Word w draws number w of the SplitMix64 sequence (Steele, Lea, Flood, 2014) that starts at the
    draw of the seed. The upper half of a draw, as a fraction of 2**32, times `colors`, rounded
    down, is the color.
    """
    start = mix(_step(np.array([seed], "uint64")))[0]
    draws = mix(_step(words) + start)
    draws >>= 32
    draws *= np.uint64(colors)
    draws >>= 32
    return draws.astype(np.min_scalar_type(colors - 1))


def _step(words: Array) -> Array:
    return (words + np.uint64(1)) * np.uint64(STEP)


def moments_by(counts: Array, groups: Array, size: int) -> list[tuple[int, float]]:
    """Return the `moments` of the edges of each of `size` groups, from arrays of the host."""
    triangles, pairs = np.zeros(size, "int64"), np.zeros(size)
    np.add.at(triangles, groups, counts)
    several = counts.astype("float64")
    np.add.at(pairs, groups, several * (several - 1) / 2)
    return list(zip(triangles.tolist(), pairs.tolist(), strict=True))


def moments(counts: Array) -> tuple[int, float]:
    """Sum the triangles at some edges, and count the pairs of triangles that share an edge."""
    pairs, step = 0.0, len(counts) // BATCHES + 1  # in batches: floats are wider than the counts
    for first in range(0, len(counts), step):
        triangles = counts[first : first + step].astype("float64")  # pairs may exceed 2**64
        pairs += float((triangles * (triangles - 1)).sum()) / 2
    return sum64(counts), pairs
