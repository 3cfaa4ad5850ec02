"""Encode the edges of a block that one worker has, as they travel to another worker.

An encoded part is sorted and has no repeats, so that the length of a row and the columns of its
edges are enough: 4 bytes per edge, and 2 for the smaller ranks, which most edges have. A part is a
list of three arrays: a bit per row, set if the row has entries; the lengths of the rows that have;
and their columns, in integers as narrow as possible. Dask moves lists of plain arrays from device
to device if its protocol can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.blocks import geometry
from rapids_tc.errors import KernelError
from rapids_tc.frames.backend import Array, all_below, sum64
from rapids_tc.preparation.csr import Csr, pack_keys
from rapids_tc.preparation.entries import Entries
from rapids_tc.preparation.time_values import Intervals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rapids_tc.blocks.geometry import Block
    from rapids_tc.preparation.edge_values import Reading

EncodedPart = list[Array]  # bits, lengths, columns, bits, lengths, columns, …
EncodedBlock = list[Array]  # a whole block: lengths of the rows, columns

_LOW = 2**16  # columns below travel in two bytes


def pack(block: Csr, xp: ModuleType) -> EncodedPart:
    """Encode the edges of a block, or of a part of it."""
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


def keys(encoded: list[EncodedPart], rows: int, xp: ModuleType) -> Array:
    """Decode parts of a block to the keys row << 32 | column of all their edges, in no order."""
    parts = [piece[i : i + 3] for piece in encoded for i in range(0, len(piece), 3)]
    packed = xp.empty(sum(len(columns) for *_, columns in parts), "uint64")
    start = 0
    for part in parts:
        bits, lengths, columns = map(xp.asarray, part)
        out = packed[start : start + len(columns)]
        row = xp.flatnonzero(xp.unpackbits(bits)).astype("uint32")
        require_length(lengths, len(row), "lengths of rows")
        require_below(row[-1:], rows, "rows")
        require_below(columns, rows, "ranks")
        pack_keys(row[_checked(lengths, columns, xp).rows], columns, xp, out)
        start += len(columns)
    return packed


def rows(block: Csr, xp: ModuleType) -> EncodedBlock:
    """Encode a whole block."""
    return [_lengths(xp.diff(block.offsets)), block.columns]


def edges(rows: EncodedBlock) -> int:
    """Return the number of edges of an encoded block."""
    return len(rows[1])


def csr(rows: EncodedBlock, xp: ModuleType) -> Csr:
    """Decode a whole block."""
    lengths, columns = rows
    require_below(columns, len(lengths), "ranks")
    return _checked(lengths, columns, xp)


def block(
    rows: EncodedBlock, place: int, n: int, vertices: int, xp: ModuleType
) -> tuple[Csr, Block]:
    """Decode the block at place i * n + j of a graph of so many vertices; also return (i, j).

    The ranks of its edges are below `vertices`: they may index values of all ranks.
    """
    at = divmod(place, n)
    require_length(rows[0], geometry.block_rows(vertices, n, at), "rows of a block")
    require_below(rows[1], geometry.members(vertices, n, at[1]), "ranks")
    return csr(rows, xp), at


def _checked(lengths: Array, columns: Array, xp: ModuleType) -> Csr:
    offsets = _offsets(lengths, xp)
    require_length(columns, int(offsets[-1]), "columns")
    return Csr(offsets, columns)


def _part(lengths: Array, columns: Array, xp: ModuleType) -> EncodedPart:
    present = lengths > 0
    return [xp.packbits(present), _lengths(lengths[present]), columns]


def _offsets(lengths: Array, xp: ModuleType) -> Array:
    offsets = xp.zeros(len(lengths) + 1, "int64")
    offsets[1:] = xp.cumsum(lengths, dtype="int64")
    return offsets


def _lengths(lengths: Array) -> Array:
    """Return lengths in integers as narrow as possible."""
    longest = int(lengths.max()) if len(lengths) else 0
    width = next(w for w in (8, 16, 32) if longest < 2**w)
    return lengths.astype(f"uint{width}")


# What arrives -------------------------------------------------------------------------------------


def require(right: object, what: str) -> None:
    """Raise KernelError, naming `what` arrived, unless a check was `right`."""
    if not right:
        raise KernelError(
            f"{what} arrived at a worker, which tasks on one graph never send: the frame changed "
            "during the call, or workers differ in their version of a library. Call again with "
            "edges.persist(), and the same versions everywhere"
        )


def require_below(values: Array, limit: int, what: str) -> None:
    """Raise KernelError unless all integers of an array lie in [0, limit)."""
    require(all_below(values, limit), f"{what} of {limit} or more")


def require_length(values: Sequence[object] | Array, length: int, what: str) -> None:
    """Raise KernelError unless there are exactly `length` values."""
    require(len(values) == length, f"{len(values)} {what} for {length}")


def require_values(reading: Reading, values: list[Array], edges: int) -> None:
    """Raise KernelError unless the arrays of a reading are of a block of so many edges."""
    rule = reading.rule
    edges *= 2 if rule.arcs else 1
    if not (isinstance(rule, Intervals) or (isinstance(rule, Entries) and rule.timed)):
        for array in values:
            require_length(array, edges, "values of edges")
        return
    first, last, offsets, *codes = values
    for of_intervals in codes:
        require_length(of_intervals, len(first), "codes of intervals")
    require_length(last, len(first), "ends of intervals")
    if len(offsets):
        require_length(offsets, edges + 1, "places of intervals")
        require_below(offsets, len(first) + 1, "places of intervals")
    else:
        require_length(first, edges, "intervals")
