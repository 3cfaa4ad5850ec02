"""The ranks of ids, found by a kernel, on the CUDA engine.

The function is a method of `rapids_tc.engines.gpu.cuda.CudaEngine`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.neighbor_rows import NO_VERTEX
from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.kernels.method import Kernel
    from rapids_tc.preparation.csr import Array

_MOST_IDS = 1 << 30  # places of the table are numbered in 32 bits


def rank_finder(engine: GpuEngine, part: Any, rank: Array) -> Callable[[Array], Array] | None:
    """Return a function that finds the ranks of ids: see `rapids_tc.engines.protocol.Engine`.

    Ids that are not dense take 8 bytes each, and their table 8 to 16 more.
    """
    if part.kind != "integer" or part.size > _MOST_IDS:
        return None
    xp = engine.xp
    if part.dense:
        none = xp.empty(0, "uint64"), xp.empty(0, "uint32"), np.uint32(0)
        return partial(_find_ranks, engine, rank, (part.base, part.size), none)
    with engine.device(rank):
        ids = part.words(xp.arange(part.size))
        bits = (2 * part.size).bit_length()
        table = xp.full(1 << bits, NO_VERTEX, "uint32")
        arguments = (ids, np.uint64(part.size), table, np.uint32(bits))
        launch.per_element(_kernels(engine)["fill_table"], part.size, *arguments)
    return partial(_find_ranks, engine, rank, (0, 0), (ids, table, np.uint32(bits)))


def _find_ranks(
    engine: GpuEngine, rank: Array, dense: tuple[int, int], table: tuple[Any, ...], words: Array
) -> Array:
    """Find the ranks of words: of ids in a table, or of dense ids, a base and a size."""
    base, size = dense
    with engine.device(rank):
        ranks = engine.xp.empty(len(words), "uint32")
        ids = (words, np.uint64(len(words)), np.uint64(base % 2**64), np.uint64(size))
        launch.per_element(_kernels(engine)["find_ranks"], len(words), *ids, *table, rank, ranks)
        return ranks


def _kernels(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``id_table.cu``."""
    return engine.compile(launch.read("id_table.cu"), ("fill_table", "find_ranks"), ())
