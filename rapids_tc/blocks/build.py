"""Cut edges into n x n blocks: count every block, then write its keys.

The workers of a partitioned frame cut their rows apart, and merge the parts of a block.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.blocks import codec, geometry
from rapids_tc.blocks.codec import require_below
from rapids_tc.errors import require_unchanged
from rapids_tc.preparation import orient
from rapids_tc.preparation.csr import Array

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from rapids_tc.blocks.codec import EncodedBlock, EncodedPart
    from rapids_tc.engines.protocol import Engine
    from rapids_tc.frames.backend import Backend

Ends = tuple[Array, Array]  # the numbers (uint32) of both ends of some rows, or their ranks


def count_rows(
    chunks: Iterable[Ends], rank: Array | None, n: int, *, engine: Engine, xp: ModuleType
) -> list[int]:
    """Count the rows of every block, i * n + j; loops are in none. See ``Engine.split``."""
    sizes, nothing = xp.zeros(n * n, "uint64"), xp.empty(0, "uint64")
    for ends in chunks:
        engine.split(ends, rank, n, (0, n * n), free=sizes, keys=nothing)
    return [int(size) for size in sizes.tolist()]


def collect_keys(
    chunks: Iterable[Ends], rank: Array | None, n: int, first: int, sizes: list[int], *,
    engine: Engine, xp: ModuleType,
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


# What workers do ----------------------------------------------------------------------------------


def pack(
    ranks: list[Array], vertices: int, n: int, batch: int, *, engine: Engine, backend: Backend
) -> list[EncodedPart]:
    """Encode the edges of some rows by block of n x n, `batch` rows at a time."""
    result: list[EncodedPart] = [[] for _ in range(n * n)]
    for start in range(0, max(len(ranks[0]), 1), batch):
        ends = ranks[0][start : start + batch], ranks[1][start : start + batch]
        for place, keys in enumerate(_keys(ends, n, engine, backend)):
            rows = geometry.block_rows(vertices, n, divmod(place, n))
            require_below(keys, rows << 32, "keys of edges")
            result[place] += codec.pack(engine.csr(keys, rows), backend.xp)
    return result


def _keys(ends: Ends, n: int, engine: Engine, backend: Backend) -> list[Array]:
    """Make the keys row << 32 | column of the edges of some rows, by block."""
    if n == 1:
        return [orient.keys_of_ranks(ends, backend)]
    sizes = count_rows([ends], None, n, engine=engine, xp=backend.xp)
    return collect_keys([ends], None, n, 0, sizes, engine=engine, xp=backend.xp)


def pick(packed: list[list[EncodedPart]], place: int) -> list[EncodedPart]:
    """Return the parts of one block, of all batches of a worker."""
    return [parts[place] for parts in packed]


def by_host(packed: list[EncodedPart], *, backend: Backend) -> list[EncodedPart]:
    """Copy encoded parts from a GPU to the host, once for all workers that fetch them."""
    return [list(map(backend.host, piece)) for piece in packed]


def merge(
    packed: list[list[EncodedPart]],
    vertices: int,
    n: int,
    place: int,
    *,
    engine: Engine,
    xp: ModuleType,
) -> EncodedBlock:
    """Merge a block from its encoded parts of all batches."""
    rows = geometry.block_rows(vertices, n, divmod(place, n))
    keys = codec.keys([part for parts in packed for part in parts], rows, xp)
    return codec.rows(engine.csr(keys, rows), xp)
