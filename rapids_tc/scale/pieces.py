"""A block in pieces: the edges of a block that one machine has, as they travel to another.

A piece is sorted and has no repeats, so that a row is told by its length and an edge by its column
alone: 4 bytes, and 2 for the smaller half of ranks that holds most edges. It is a list of parts,
each (lengths of the rows, columns) in as narrow integers as they fit in; plain lists and arrays,
which Dask moves from device to device where its protocol can.
"""

from __future__ import annotations

from typing import Any

from rapids_tc._backend import Array
from rapids_tc.csr import Csr

Piece = list[Array]  # lengths, columns, lengths, columns, …
Rows = list[Array]  # a whole block: lengths of the rows, columns

_LOW = 2**16  # columns below travel in two bytes


def pack(block: Csr, xp: Any) -> Piece:
    """The edges of a block, or of a part of it, as a piece."""
    if block.n <= _LOW or not block.m or int(block.columns.max()) < _LOW:
        return [_lengths(xp.diff(block.offsets)), block.columns.astype("uint16")]
    low = block.columns < _LOW
    before = xp.zeros(block.m + 1, "uint32")  # entries below _LOW before each
    before[1:] = xp.cumsum(low, dtype="uint32")
    short = xp.diff(before[block.offsets].astype("int64"))
    return [
        _lengths(short),
        block.columns[low].astype("uint16"),
        _lengths(xp.diff(block.offsets) - short),
        block.columns[~low],
    ]


def keys(pieces: list[Piece], xp: Any) -> Array:
    """Keys row << 32 | column of all edges of some pieces, in no order."""
    parts = [part for piece in pieces for part in zip(piece[::2], piece[1::2], strict=True)]
    packed = xp.empty(sum(len(columns) for _, columns in parts), "uint64")
    start = 0
    for part in parts:
        lengths, columns = map(xp.asarray, part)
        here = packed[start : start + len(columns)]
        here[:] = _rows(lengths, len(columns), xp)
        here <<= 32
        here |= columns
        start += len(columns)
    return packed


def rows(block: Csr, xp: Any) -> Rows:
    """A block as it travels whole."""
    return [_lengths(xp.diff(block.offsets)), block.columns]


def csr(rows: Rows, xp: Any) -> Csr:
    """The block that has travelled."""
    lengths, columns = rows
    return Csr(_offsets(lengths, xp), columns)


def _rows(lengths: Array, m: int, xp: Any) -> Array:
    """The row of each of the m entries of rows of these lengths."""
    return Csr(_offsets(lengths, xp), xp.empty(m, "uint8")).rows


def _offsets(lengths: Array, xp: Any) -> Array:
    offsets = xp.zeros(len(lengths) + 1, "int64")
    offsets[1:] = xp.cumsum(lengths, dtype="int64")
    return offsets


def _lengths(lengths: Array) -> Array:
    """Lengths in as narrow integers as they fit in."""
    longest = int(lengths.max()) if len(lengths) else 0
    width = next(w for w in (8, 16, 32) if longest < 2**w)
    return lengths.astype(f"uint{width}")
