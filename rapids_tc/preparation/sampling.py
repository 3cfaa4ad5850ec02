"""Sample the edges of a graph by colours of its vertices, for approximate counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rapids_tc.frames.backend import Array, as_uint32, gather, sum64
from rapids_tc.preparation.edges import NumberedEdges
from rapids_tc.preparation.orient import BATCHES


def one_coloured(edges: NumberedEdges, *, colours: int, seed: int) -> NumberedEdges:
    """Select the edges, loops aside, whose two ends have the same colour."""
    colour = draw(edges.ids.words, colours, seed)
    alike = (gather(colour, edges.src) == gather(colour, edges.dst)) & (edges.src != edges.dst)
    rows = edges.ids.backend.xp.flatnonzero(alike)
    src, dst = (as_uint32(end[rows]) for end in edges.ends)
    return replace(edges, src=src, dst=dst, rows=len(src))


def draw(words: Array, colours: int, seed: int) -> Array:
    """Draw a colour below `colours` for each 64-bit word, as if at random for every seed.

    Word w draws number w of the SplitMix64 sequence (Steele, Lea, Flood, 2014) that starts where
    the seed's own draw says; of its upper half the colour is the integer part of a share.
    """
    start = _mix(_step(np.array([seed], "uint64")))[0]
    drawn = _mix(_step(words) + start)
    drawn >>= 32
    drawn *= np.uint64(colours)
    drawn >>= 32
    return drawn.astype(np.min_scalar_type(colours - 1))


def _step(words: Array) -> Array:
    return (words + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)


def _mix(words: Array) -> Array:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= words >> shift
        words *= np.uint64(factor)
    words ^= words >> 31
    return words


def moments(counts: Array) -> tuple[int, float]:
    """Sum the triangles of some edges, and count the pairs of triangles that share one of them."""
    pairs, step = 0.0, len(counts) // BATCHES + 1  # in pieces: these floats are wider than counts
    for first in range(0, len(counts), step):
        beside = counts[first : first + step].astype("float64")  # pairs may pass 2**64
        pairs += float((beside * (beside - 1)).sum()) / 2
    return sum64(counts), pairs
