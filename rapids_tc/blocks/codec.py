"""A block in pieces: the edges of a block that one machine has, as they travel to another.

A piece is sorted and has no repeats, so that a row is told by its length and an edge by its column
alone: 4 bytes, and 2 for the smaller half of ranks that holds most edges. It is a list of parts,
each three arrays: a bit for every row, whether it has entries, the lengths of those that have, and
their columns, in as narrow integers as they fit in. Lists of plain arrays Dask moves from device
to device where its protocol can.
"""

from __future__ import annotations

from typing import Any

from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.frames.backend import Array, sum64
from rapids_tc.preparation.csr import Csr, pack_keys

EncodedPart = list[Array]  # bits, lengths, columns, bits, lengths, columns, …
EncodedBlock = list[Array]  # a whole block: lengths of the rows, columns

_LOW = 2**16  # columns below travel in two bytes


def pack(block: Csr, xp: Any) -> EncodedPart:
    """The edges of a block, or of a part of it, as a piece."""
    lengths, low = xp.diff(block.offsets), block.columns < _LOW
    below = sum64(low)
    if below == block.m:
        return _part(lengths, block.columns.astype("uint16"), xp)
    if 2 * below <= block.n // 8:  # bytes that are saved, and those of bits for a second part
        return _part(lengths, block.columns, xp)
    before = xp.zeros(block.m + 1, "uint32")  # entries below _LOW before each
    before[1:] = xp.cumsum(low, dtype="uint32")
    short = xp.diff(before[block.offsets].astype("int64"))
    near = _part(short, block.columns[low].astype("uint16"), xp)
    return near + _part(lengths - short, block.columns[~low], xp)


def keys(pieces: list[EncodedPart], rows: int, xp: Any) -> Array:
    """Keys row << 32 | column of all edges of some pieces of a block, in no order."""
    parts = [piece[i : i + 3] for piece in pieces for i in range(0, len(piece), 3)]
    packed = xp.empty(sum(len(columns) for *_, columns in parts), "uint64")
    start = 0
    for part in parts:
        bits, lengths, columns = map(xp.asarray, part)
        here = packed[start : start + len(columns)]
        row = xp.flatnonzero(xp.unpackbits(bits)).astype("uint32")
        require_length(lengths, len(row), "lengths of rows")
        require_below(row[-1:], rows, "rows")
        require_below(columns, rows, "ranks")
        pack_keys(row[_checked(lengths, columns, xp).rows], columns, xp, here)
        start += len(columns)
    return packed


def rows(block: Csr, xp: Any) -> EncodedBlock:
    """A block as it travels whole."""
    return [_lengths(xp.diff(block.offsets)), block.columns]


def csr(rows: EncodedBlock, xp: Any) -> Csr:
    """The block that has travelled."""
    lengths, columns = rows
    require_below(columns, len(lengths), "ranks")
    return _checked(lengths, columns, xp)


def _checked(lengths: Array, columns: Array, xp: Any) -> Csr:
    offsets = _offsets(lengths, xp)
    require_length(columns, int(offsets[-1]), "columns")
    return Csr(offsets, columns)


def _part(lengths: Array, columns: Array, xp: Any) -> EncodedPart:
    there = lengths > 0
    return [xp.packbits(there), _lengths(lengths[there]), columns]


def _offsets(lengths: Array, xp: Any) -> Array:
    offsets = xp.zeros(len(lengths) + 1, "int64")
    offsets[1:] = xp.cumsum(lengths, dtype="int64")
    return offsets


def _lengths(lengths: Array) -> Array:
    """Lengths in as narrow integers as they fit in."""
    longest = int(lengths.max()) if len(lengths) else 0
    width = next(w for w in (8, 16, 32) if longest < 2**w)
    return lengths.astype(f"uint{width}")
