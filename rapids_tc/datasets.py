"""Example edge frames: Graph500 R-MAT graphs of any size, and Zachary's karate club."""

from __future__ import annotations

import importlib
import sys
from numbers import Integral
from typing import Any

import numpy as np

from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.preparation.splitmix import STEP, mix

Array = Any  # numpy.ndarray or cupy.ndarray
Frame = Any  # pandas.DataFrame or cudf.DataFrame

# 16 random bits select one of the quadrants (0,0), (0,1), (1,0), (1,1) of the adjacency matrix:
# these are the bounds between them, Graph500's a, b, c = .57, .19, .19 summed, times 2**16.
_A, _AB, _ABC = (round(p * 2**16) for p in (0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19))
_LEVELS = 4  # levels of the recursion that one 64-bit hash decides
_MAX_SCALE = 48
_CUDF_ROWS = 2**31  # a cuDF column holds fewer
# Edges made at a time: few enough for the cache of a core, or enough to keep a GPU busy.
_CHUNK = {"numpy": 2**14, "cupy": 2**24}


def rmat(scale: int, *, edge_factor: int = 16, seed: int = 0, library: str = "pandas") -> Frame:
    """Make the raw edges of a Graph500 R-MAT graph.

    The probabilities are a, b, c, d = .57, .19, .19, .05 at every level, without noise. Ids
    are permuted, so that a small id says nothing about the degree. Rows are left as they are
    drawn: with repeats in both directions and self loops, and not every id is drawn.

    Every edge is a hash of the seed and the edge's own number, in integers only. The edges are
    thus the same in every library and on every machine, and a graph with a smaller
    ``edge_factor`` is the beginning of one with a larger.

    Parameters
    ----------
    scale : int
        Ids are drawn from 0 … 2**scale - 1; from 1 to 48.
    edge_factor : int
        Rows per id: the frame has ``edge_factor * 2**scale`` rows.
    seed : int
        Another seed is another graph, with another permutation of the ids.
    library : {"pandas", "cudf"}
        The library of the frame; for ``"cudf"`` the edges are drawn on the GPU.

    Returns
    -------
    pandas.DataFrame or cudf.DataFrame
        ======  ==============  =========
        column  dtype           meaning
        ======  ==============  =========
        src     int32 or int64  one end
        dst     as src          the other
        ======  ==============  =========

        int32 up to scale 31, int64 beyond.

    Raises
    ------
    CapacityError
        The frame is to be of cuDF and has 2**31 rows or more, which its columns cannot hold.

    Notes
    -----
    About 0.03 µs per edge on one core; memory is used for the frame itself and a fixed work
    space only. The model is from Chakrabarti, Zhan and Faloutsos, "R-MAT: A recursive model for
    graph mining" (SDM 2004), the probabilities are from the Graph500 specification.

    Examples
    --------
    >>> from rapids_tc import datasets
    >>> edges = datasets.rmat(10)
    >>> edges.shape
    (16384, 2)
    >>> edges.equals(datasets.rmat(10, edge_factor=20).head(16384))
    True
    """
    for name, number in (("scale", scale), ("edge_factor", edge_factor), ("seed", seed)):
        if not isinstance(number, Integral) or isinstance(number, bool):
            raise ValueError(f"{name} must be an integer, not {number!r}")
    scale, edge_factor, seed = int(scale), int(edge_factor), int(seed)
    if not 1 <= scale <= _MAX_SCALE:
        raise ValueError(f"scale must be from 1 to {_MAX_SCALE}, not {scale}")
    if edge_factor < 0:
        raise ValueError(f"edge_factor must not be negative, not {edge_factor}")
    frames, xp = _library(library)
    rows = edge_factor << scale
    if library == "cudf" and rows >= _CUDF_ROWS:
        raise CapacityError(
            f"{rows:,} rows are more than a cuDF column holds ({_CUDF_ROWS:,}): lower scale or "
            "edge_factor"
        )
    src, dst = rmat_rows(scale, 0, rows, seed=seed, xp=xp)
    return frames.DataFrame({"src": src, "dst": dst})


def rmat_rows(
    scale: int, first: int, last: int, *, seed: int = 0, xp: Any = np
) -> tuple[Array, Array]:
    """Make rows ``first`` to ``last - 1`` of an R-MAT graph, as two arrays.

    Several processes, such as the workers of a cluster, can thus each make a part of one graph.
    ``xp`` is NumPy or CuPy.
    """
    dtype = "int32" if scale <= 31 else "int64"
    src, dst = xp.empty(last - first, dtype), xp.empty(last - first, dtype)
    chunk = _CHUNK[xp.__name__]
    keys = _keys(seed, -(-scale // _LEVELS) + 6)
    for start in range(first, last, chunk):
        stop = min(start + chunk, last)
        ends = _draw(scale, start, stop, keys[6:], xp)
        for out, end in zip((src, dst), ends, strict=True):
            out[start - first : stop - first] = _permute(end, scale, keys[:6])
    return src, dst


def _keys(seed: int, count: int) -> list[int]:
    """Derive random constants of 64 bits from a seed."""
    state = np.array([seed % 2**64], np.uint64)
    keys = []
    for _ in range(count):
        state = mix(state + np.uint64(STEP))
        keys.append(int(state[0]))
    return keys


def _draw(scale: int, start: int, stop: int, keys: list[int], xp: Any) -> tuple[Array, Array]:
    """Draw the ends of edges `start` to `stop - 1`, before the permutation."""
    word = np.uint32 if scale <= 31 else np.uint64
    counter = xp.arange(start, stop, dtype=np.uint64)
    counter *= np.uint64(STEP)
    src, dst = xp.zeros(stop - start, word), xp.zeros(stop - start, word)
    for key in keys:
        bits = mix(counter + np.uint64(key)).view(np.uint16)
        high = bits >= _AB
        low = (bits >= _A) ^ high ^ (bits >= _ABC)
        for end, bit in ((src, high), (dst, low)):
            # The product moves the low bits of four bytes into the top byte, side by side.
            four = bit.view(np.uint32)
            four *= np.uint32(0x01020408)
            four >>= np.uint32(24)
            end <<= word(_LEVELS)
            end |= four
    # The last hash may decide more levels than there are.
    spare = word(_LEVELS * len(keys) - scale)
    src >>= spare
    dst >>= spare
    return src, dst


def _permute(ids: Array, scale: int, keys: list[int]) -> Array:
    """Permute the ids of `scale` bits in place.

    Multiplying by an odd number, adding, and folding the high half onto the low half can each be
    undone within `scale` bits, so no two ids get the same value.
    """
    word = ids.dtype.type
    mask = word(2**scale - 1)
    for factor, term in zip(keys[::2], keys[1::2], strict=True):
        ids *= word(factor & int(mask) | 1)
        ids += word(term & int(mask))
        ids &= mask
        ids ^= ids >> word((scale + 1) // 2)
    return ids


# The 78 ties of the club's 34 members, numbered from 0, the smaller first.
_KARATE = (
    "0-1 0-2 0-3 0-4 0-5 0-6 0-7 0-8 0-10 0-11 0-12 0-13 0-17 0-19 0-21 0-31 1-2 1-3 1-7 1-13 "
    "1-17 1-19 1-21 1-30 2-3 2-7 2-8 2-9 2-13 2-27 2-28 2-32 3-7 3-12 3-13 4-6 4-10 5-6 5-10 "
    "5-16 6-16 8-30 8-32 8-33 9-33 13-33 14-32 14-33 15-32 15-33 18-32 18-33 19-33 20-32 20-33 "
    "22-32 22-33 23-25 23-27 23-29 23-32 23-33 24-25 24-27 24-31 25-31 26-29 26-33 27-33 28-31 "
    "28-33 29-32 29-33 30-32 30-33 31-32 31-33 32-33"
)


def karate(*, library: str = "pandas") -> Frame:
    """Make the graph of Zachary's karate club: 34 people, 78 ties, 45 triangles.

    Parameters
    ----------
    library : {"pandas", "cudf"}
        The library of the frame.

    Returns
    -------
    pandas.DataFrame or cudf.DataFrame
        ======  =====  =============================
        column  dtype  meaning
        ======  =====  =============================
        src     int64  the member of smaller number
        dst     int64  the member of larger number
        ======  =====  =============================

        Members are numbered from 0, as in NetworkX.

    References
    ----------
    W. W. Zachary, "An information flow model for conflict and fission in small groups",
    Journal of Anthropological Research 33 (1977), 452-473.

    Examples
    --------
    >>> from rapids_tc import datasets
    >>> datasets.karate().tail(2)
        src  dst
    76   31   33
    77   32   33
    """
    frames, _ = _library(library)
    ties = [tie.split("-") for tie in _KARATE.split()]
    return frames.DataFrame(
        {"src": [int(u) for u, _ in ties], "dst": [int(v) for _, v in ties]}, dtype="int64"
    )


def _library(name: str) -> tuple[Any, Any]:
    """Import a frame library, and return it with the array library that it uses."""
    if name not in ("pandas", "cudf"):
        raise ValueError(f'library must be "pandas" or "cudf", not {name!r}')
    try:
        frames = importlib.import_module(name)
    except ImportError as error:
        raise KernelError(
            f'library={name!r} needs cuDF: pip install "rapids_tc[cu13]" (or [cu12])'
        ) from error
    return frames, np if name == "pandas" else sys.modules["cupy"]
