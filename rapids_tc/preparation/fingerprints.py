"""Fingerprints of partitions, which reveal a partition that changes between two reads.

A cluster computes a partition again after it loses a worker. A sample without a seed, or a growing
table, then gives other rows, for which the numbers and ranks of the first rows would be wrong. So
the client keeps the number of rows of every partition and an ordered checksum of each column that
is read, of ids and of values, and every later read is compared with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import KernelError, RapidsTCError
from rapids_tc.frames.adapters import text_arrays
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, count_nulls, integers, text

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

Inspected = tuple[IdColumn, int]  # a column, and the number of its missing ids

_MIX, _MIX_AGAIN, _NEXT = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0xD1342543DE82EF95
_BATCH = {"numpy": 2**14, "cupy": 2**20}  # values that stay in the cache, or fill a GPU


@dataclass(frozen=True)
class Fingerprint:
    """The identity of a partition's content: its place, its rows and a checksum of each column.

    `checksums` are those of the columns that were read, by the names that messages give them.
    """

    place: int
    rows: int
    checksums: dict[str, int]

    @classmethod
    def of(cls, place: int, columns: list[Inspected], backend: Backend) -> Fingerprint:
        """Return the fingerprint of a partition, from its id columns."""
        sums = {column.name: _checksum(column, nulls, backend) for column, nulls in columns}
        return cls(place, len(columns[0][0].values), sums)

    def with_values(self, name: str, values: Series, backend: Backend) -> Fingerprint:
        """Return the fingerprint with a column of values; KernelError if it has changed."""
        found = {name: _checksum_of_values(values, backend)}
        self.require(Fingerprint(self.place, len(values), found))
        return replace(self, checksums=self.checksums | found)

    def require(self, other: Fingerprint) -> None:
        """Raise KernelError if a later read of the partition differs in a column of both."""
        changed = [
            name for name, found in other.checksums.items()
            if self.checksums.get(name, found) != found
        ]  # fmt: skip
        if other.rows == self.rows and not changed:
            return
        change = (
            f"{other.rows} rows for {self.rows}"
            if other.rows != self.rows
            else f"other values in {' and in '.join(changed)}, or the same in another order"
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
    return _hashed(values, backend)


def _checksum_of_values(values: Series, backend: Backend) -> int:
    """Return a checksum of any values in order, missing ones included."""
    if backend.library.__name__ == "cudf":
        return _sum(backend.array(values.hash_values()), backend.xp)
    if not count_nulls(values) and (arrays := text_arrays(values)):
        return _combine([_sum(array, backend.xp) for array in arrays])
    return _sum(_hashed(values, backend), backend.xp)


def _hashed(values: Series, backend: Backend) -> Array:
    """Return the hashes that pandas has of values, or of what they are printed as."""
    hashes = partial(backend.library.util.hash_pandas_object, index=False, categorize=False)
    try:
        return backend.array(hashes(values))
    except (TypeError, ValueError, NotImplementedError):  # such as of tuples among other objects
        return backend.array(hashes(values.map(repr)))


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
