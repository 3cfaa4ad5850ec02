"""What a block is, in array operations: what engines' `split` is compared with."""

from typing import Any

import numpy as np

Array = Any  # of NumPy or CuPy


def keys_of(rows: list[tuple[int, int]]) -> np.ndarray:
    """Packed keys of raw rows of ranks, each in the direction of the orientation."""
    return np.array([max(row) << 32 | min(row) for row in rows], np.uint64)


def balance(loads: Any) -> float:
    """The largest load over the mean: 1.0 where all are equal, or nothing is to be done."""
    known = [float(load) for load in loads]
    total = sum(known)
    return max(known) * len(known) / total if total else 1.0


def split_keys(keys: Array, n: int, xp: Any) -> dict[tuple[int, int], Array]:
    """Keys larger rank << 32 | smaller rank, as keys row << 32 | column of every block.

    Within a block they stay in order; repeats and loops stay too. A block may have none.
    """
    u, v = keys >> 32, keys & 0xFFFFFFFF
    where = u % n
    where *= n
    where += v % n
    where = where.astype("uint16")
    u //= n
    v //= n
    u <<= 32
    u |= v
    ends = xp.cumsum(xp.bincount(where, minlength=n * n)).tolist()
    local = u[xp.argsort(where, kind="stable")]
    result = {}
    for number, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        i, j = divmod(number, n)
        result[i, j] = local[start:end]
        if i > j:
            result[i, j] += 1 << 32
    return result
