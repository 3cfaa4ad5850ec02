"""Fingerprints of partitions, which reveal a partition that changes between two reads.

A cluster computes a partition again after it loses a worker. A sample without a seed, or a growing
table, then gives other rows, for which the numbers and ranks of the first rows would be wrong. So
the client keeps the number of rows and an ordered checksum of the ids of every partition, and every
later read is compared with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import KernelError, RapidsTCError
from rapids_tc.frames.adapters import text_arrays
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, integers, text

if TYPE_CHECKING:
    from rapids_tc._typing import Array
    from rapids_tc.frames.backend import Backend

Inspected = tuple[IdColumn, int]  # a column, and the number of its missing ids

_MIX, _MIX_AGAIN, _NEXT = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0xD1342543DE82EF95
_BATCH = {"numpy": 2**14, "cupy": 2**20}  # values that stay in the cache, or fill a GPU


@dataclass(frozen=True)
class Fingerprint:
    """The identity of a partition's content: its place, its rows and a checksum of its ids."""

    place: int
    rows: int
    checksum: int

    @classmethod
    def of(cls, place: int, columns: list[Inspected], backend: Backend) -> Fingerprint:
        """Return the fingerprint of a partition, from its two id columns."""
        sums = [_checksum(*column, backend) for column in columns]
        return cls(place, len(columns[0][0].values), _combine(sums))

    def require(self, other: Fingerprint) -> None:
        """Raise KernelError if a later read of the partition has another fingerprint."""
        if other == self:
            return
        change = (
            f"{other.rows} rows for {self.rows}"
            if other.rows != self.rows
            else "other ids, or the same in another order"
        )
        raise KernelError(
            f"partition {self.place} of the frame changed during the call: when it was computed "
            f"again, as it is after a worker is lost, it had {change}. A sample without a seed or "
            "a table that grows does this. Call again with edges.persist(), which computes a "
            "partition once as long as no worker is lost, or with a frame of files that stay as "
            "they are"
        )


def _checksum(column: IdColumn, nulls: int, backend: Backend) -> int:
    """Return a checksum of the ids of a column in order; the order of categories has no effect."""
    if nulls or column.kind == "empty":
        return -nulls
    try:
        if column.categorical:
            return _sum(column.by_row(_hashes(column, backend), backend), backend.xp)
        if column.kind == "string" and (arrays := text_arrays(text(column, backend))):
            return _combine([_sum(array, backend.xp) for array in arrays])
        return _sum(_hashes(column, backend), backend.xp)
    except RapidsTCError:  # the ids are invalid, and numbering raises the error
        return 0


def _hashes(column: IdColumn, backend: Backend) -> Array:
    """Return an integer per id, or per category: the id itself, or the library's hash of the id."""
    if column.kind in NUMERIC:
        return integers(column.distinct, column.name, backend)
    if backend.library.__name__ == "cudf":
        return backend.array(column.distinct.hash_values())
    values = text(column, backend) if column.kind == "string" else column.distinct
    hashed = backend.library.util.hash_pandas_object(values, index=False, categorize=False)
    return backend.array(hashed)


def _sum(values: Array, xp: Any) -> int:
    """Return the sum of integers, each mixed and multiplied by a weight of its place.

    CuPy ships all operations used here as compiled code; for sums, that means 64-bit integers.
    """
    step, sums = min(_BATCH[xp.__name__], len(values)), []
    weights = xp.arange(1, step + 1, dtype="uint64") * xp.uint64(_MIX)
    weights ^= weights >> xp.uint64(32)
    weights *= xp.uint64(_MIX_AGAIN)
    weights |= xp.uint64(1)  # odd: distinct values stay distinct
    for start in range(0, len(values), step or 1):
        batch = values[start : start + step].astype("uint64")
        batch *= xp.uint64(_MIX)  # spreads the high bits, or they would never reach the low ones
        batch ^= batch >> xp.uint64(32)
        batch *= weights[: len(batch)]
        sums.append(int(batch.sum()))
    return _combine(sums)


def _combine(sums: list[int]) -> int:
    """Combine sums into one, in which their order matters."""
    result = 0
    for term in sums:
        result = (result * _NEXT + term) % 2**64
    return result
