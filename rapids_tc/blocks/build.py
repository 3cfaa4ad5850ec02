"""Cut numbered edges into the keys of n x n blocks: count every block, then write its keys."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import require_unchanged
from rapids_tc.preparation.csr import Array

if TYPE_CHECKING:
    from collections.abc import Iterable

Ends = tuple[Array, Array]  # the numbers (uint32) of both ends of some rows, or their ranks


def count_rows(
    chunks: Iterable[Ends], rank: Array | None, n: int, *, engine: Any, xp: Any
) -> list[int]:
    """Count the rows of every block, i * n + j; loops are in none. See ``Engine.split``."""
    sizes, nothing = xp.zeros(n * n, "uint64"), xp.empty(0, "uint64")
    for ends in chunks:
        engine.split(ends, rank, n, (0, n * n), free=sizes, keys=nothing)
    return [int(size) for size in sizes.tolist()]


def collect_keys(
    chunks: Iterable[Ends], rank: Array | None, n: int, first: int, sizes: list[int], *,
    engine: Any, xp: Any,
) -> list[Array]:  # fmt: skip
    """Write the keys row << 32 | column of the blocks from `first` on that have so many rows.

    Nothing is held of a chunk once the keys are returned: a block is then sorted.

    Raises
    ------
    KernelError
        The blocks have other sizes than when they were counted: the user's frame was written to.
    """
    last, starts = first + len(sizes), np.cumsum([0, *sizes])
    free, keys = xp.zeros(n * n, "uint64"), xp.empty(int(starts[-1]), "uint64")
    free[first:last] = xp.asarray(starts[:-1].astype("uint64"))
    for ends in chunks:
        engine.split(ends, rank, n, (first, last), free=free, keys=keys)
        del ends  # or it is held while the next chunk is read
    require_unchanged(free[first:last].tolist() != starts[1:].tolist())
    return [keys[start:end] for start, end in pairwise(starts.tolist())]
