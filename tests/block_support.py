"""What a block is, in array operations: what engines' `split` is compared with."""

from typing import Any

Array = Any  # of NumPy or CuPy


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
