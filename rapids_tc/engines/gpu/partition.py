"""The CSR of a large graph from packed keys, which are moved to buckets of rows and sorted there.

A sort of all keys writes and reads them once per byte of a key. Here they move twice, to buckets of
rows that follow one another, and a thread block sorts a bucket in shared memory. The number of each
key may travel with it, and says in the end at which position the edge of each raw row is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import require_unchanged
from rapids_tc.kernels import launch
from rapids_tc.preparation.csr import Csr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rapids_tc.engines.gpu.layout import GpuEngine
    from rapids_tc.kernels.method import Array, Kernel

_PARTS, _TILE, _WARP = 256, 4096, 32  # as in parts.cuh
_GROUP_BITS, _COUNT_THREADS, _CUT_THREADS = 9, 1024, 256  # as in partition.cu
_SORT_EACH, _DIGITS, _PUT = 17, 256, 4 * launch.THREADS  # as in buckets.cu
_MOST_SETS, _LONG_ROWS = 224, 4  # buckets of a mean part, and of a mean row, where all still fit
_GROUP_BLOCKS, _RANGE_BLOCKS = 2, 4  # of a multiprocessor, and of a part, which count keys
_MOVING = (
    "count_groups",
    "plan_parts",
    "part_groups",
    "count_ranges",
    "plan_buckets",
    "part_ranges",
)
_SORTING = ("sort_narrow", "sort_wide", "write_buckets", "part_positions", "put_positions")


@dataclass(frozen=True)
class _Cut:
    """Sets of rows that follow one another: parts of all rows, or buckets of all parts.

    Attributes
    ----------
    set_of : array of uint8
        The set of each class of rows, among the sets of its part.
    begins, rows : arrays of uint32, one per set and one more
        The first key and the first row of each set, and the ends of the last.
    free : array of uint32, one per set
        Where the next key of each set goes.
    """

    set_of: Array
    begins: Array
    rows: Array
    free: Array

    @classmethod
    def of(cls, xp: Any, classes: int, sets: int) -> _Cut:
        """Make room for a cut."""
        begins, rows, free = (xp.empty(size, "uint32") for size in (sets + 1, sets + 1, sets))
        return cls(xp.empty(classes, "uint8"), begins, rows, free)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All arrays, in the order in which kernels take them."""
        return self.set_of, self.begins, self.rows, self.free


@dataclass(frozen=True)
class _Parted:
    """Keys that have moved to their part of the rows.

    Attributes
    ----------
    parts : _Cut
    tiles : array of uint32
        The tiles of keys in the parts before each part, and in all.
    keys : array of uint64
    numbers : array of uint32 or None
        The place that each key had before.
    """

    parts: _Cut
    tiles: Array
    keys: Array
    numbers: Array | None


@dataclass(frozen=True)
class _Sums:
    """What the host reads at once, before it makes the columns: its only wait.

    Attributes
    ----------
    kept : array of uint32
        The edges of each bucket, then those of the buckets before it, and of all at the end.
    outside : array of uint32, one
        Keys of rows that are none.
    too_large : array of uint32, one
        Whether keys do not fit in their buckets, so that they stay as they are.
    all : array of uint32
        All of these, side by side.
    """

    kept: Array
    outside: Array
    too_large: Array
    all: Array

    @classmethod
    def of(cls, xp: Any, buckets: int) -> _Sums:
        """Make zeros."""
        sums = xp.zeros(buckets + 3, "uint32")
        return cls(sums[:-2], sums[-2:-1], sums[-1:], sums)


def pays(engine: GpuEngine, size: int, n: int, *, numbered: bool) -> bool:
    """Return whether so many keys of `n` ranks are moved to buckets, `numbered` or not.

    What a sort of all keys does better, or what would not fit in buckets, is known from the sizes:
    few keys; long rows; more keys than all buckets hold; a GPU whose blocks cannot sort a bucket.
    Keys that take more than 32 bits in a bucket pay if a search of all rows is spared, and rows
    without a key are not many.
    """
    sizes = engine.capacities
    is_large = size >= max(1, sizes.parted_from)
    is_short = _LONG_ROWS * size <= n * sizes.bucket_weight
    fits = _mean_sets(engine, size, n) <= _MOST_SETS and _shared(engine, 8) <= engine.most_shared
    rows = n * sizes.bucket_weight // (size + n) if n else 0
    is_narrow = n.bit_length() + rows.bit_length() <= 32
    return is_large and is_short and fits and (is_narrow or (numbered and 3 * n <= size))


def csr(
    engine: GpuEngine, keys: Array, n: int, *, numbered: bool
) -> tuple[Csr, Array | None] | None:
    """Make the CSR of keys, and if they are `numbered`, the position of the edge of each.

    The position (int32) is -1 for loops. None if a bucket has more keys than a block sorts; the
    keys are as they were then. Else their content is undefined afterwards. This takes 8 bytes per
    key beside the keys, 16 if they are numbered.
    """
    with engine.device(keys):
        sums = _Sums.of(engine.xp, _PARTS * _sets(engine, len(keys), n))
        buckets, numbers = _move(engine, keys, n, sums, numbered=numbered)
        found, offsets = _sort(engine, keys, buckets, numbers, n, sums)
        del numbers  # before more memory is taken
        m, outside, too_large = sums.all[-3:].tolist()
        require_unchanged(outside)
        if too_large:
            return None
        graph = Csr(offsets, _write_columns(engine, buckets, found, sums.kept, m, offsets))
        del found
        return graph, _positions(engine, keys, buckets.begins, sums.kept) if numbered else None


def _move(
    engine: GpuEngine, keys: Array, n: int, sums: _Sums, *, numbered: bool
) -> tuple[_Cut, Array | None]:
    """Move the keys to buckets, in their own memory; return the buckets, and the keys' numbers."""
    xp, size = engine.xp, len(keys)
    parted = _move_to_parts(engine, keys, n, sums, numbered=numbered)
    buckets = _cut_buckets(engine, parted, _sets(engine, size, n), sums.too_large)
    moved = xp.empty(size, "uint32") if numbered else None
    rows = (parted.parts.begins, parted.parts.rows, parted.tiles, buckets.set_of)
    cut = (np.uint32(_range_bits(engine)), np.uint32(_sets(engine, size, n)), buckets.free)
    arguments = (parted.keys, parted.numbers, *rows, *cut, keys, moved, sums.too_large)
    grid = (-(-size // _TILE) + _PARTS,)
    _moving(engine)["part_ranges"](grid, (launch.THREADS,), arguments)
    return buckets, moved


def _move_to_parts(
    engine: GpuEngine, keys: Array, n: int, sums: _Sums, *, numbered: bool
) -> _Parted:
    """Cut all rows in parts, and move the keys; count those of rows that are none."""
    xp, kernels, size, groups = engine.xp, _moving(engine), len(keys), _groups(n)
    parts, tiles = _Cut.of(xp, groups, _PARTS), xp.empty(_PARTS + 1, "uint32")
    counts = xp.zeros(groups, "uint32")
    of_keys, of_groups = (keys, np.uint64(size), np.uint64(n)), (counts, np.uint32(groups))
    grid = (min(_GROUP_BLOCKS * engine.sm_count, -(-size // _COUNT_THREADS)),)
    counted = (*of_keys, np.uint32(groups), counts, sums.outside)
    kernels["count_groups"](grid, (_COUNT_THREADS,), counted, shared_mem=4 * groups)
    window = np.uint32((size + n) // _PARTS + 1)
    most = np.uint64(_sets(engine, size, n) * engine.capacities.bucket_weight)
    planned = (*of_groups, np.uint64(n), window, most, *parts.arrays, tiles, sums.too_large)
    kernels["plan_parts"]((1,), (_CUT_THREADS,), planned)
    parted = xp.empty(size, "uint64")
    numbers = xp.empty(size, "uint32") if numbered else None
    moved = (*of_keys, parts.set_of, parts.free, parted, numbers, sums.too_large)
    kernels["part_groups"]((-(-size // _TILE),), (launch.THREADS,), moved)
    return _Parted(parts, tiles, parted, numbers)


def _cut_buckets(engine: GpuEngine, parted: _Parted, sets: int, too_large: Array) -> _Cut:
    """Cut the rows of each part in buckets; see whether a block can sort the largest of all."""
    xp, kernels, sizes = engine.xp, _moving(engine), engine.capacities
    ranges, most = sizes.part_ranges, _SORT_EACH * sizes.sort_threads
    buckets, counts = (
        _Cut.of(xp, _PARTS * ranges, _PARTS * sets),
        xp.zeros(_PARTS * ranges, "uint32"),
    )
    rows, range_bits = (parted.parts.begins, parted.parts.rows), np.uint32(_range_bits(engine))
    grid = (min(_RANGE_BLOCKS, -(-len(parted.keys) // (_PARTS * _COUNT_THREADS))), _PARTS)
    counted = (parted.keys, *rows, range_bits, counts, too_large)
    kernels["count_ranges"](grid, (_COUNT_THREADS,), counted, shared_mem=4 * ranges)
    limits = tuple(map(np.uint32, (sizes.bucket_weight, sets, most)))
    planned = (*rows, counts, range_bits, *limits, *buckets.arrays, too_large)
    kernels["plan_buckets"]((_PARTS,), (_CUT_THREADS,), planned)
    return buckets


def _sort(
    engine: GpuEngine, keys: Array, buckets: _Cut, numbers: Array | None, n: int, sums: _Sums
) -> tuple[Array, Array]:
    """Sort each bucket; return the columns of its edges at its own place, and offsets in it.

    Numbered keys become pairs of their number and the place of their edge in the bucket.
    """
    xp, size, sets = engine.xp, len(keys), len(buckets.free)
    kernels, threads = _sorting(engine), engine.capacities.sort_threads
    found, offsets = xp.empty(size, "uint32"), xp.empty(n + 1, "int64")
    of_buckets = (buckets.begins, buckets.rows)
    sort = (keys, *of_buckets, numbers, found, sums.kept, offsets, sums.too_large)
    for name, width in (("sort_narrow", 4), ("sort_wide", 8)):
        kernel, shared = kernels[name], _shared(engine, width)
        kernel.max_dynamic_shared_size_bytes = shared
        kernel((sets,), (threads,), sort, shared_mem=shared)
    engine.scan(sums.kept, sets)
    return found, offsets


def _write_columns(
    engine: GpuEngine, buckets: _Cut, found: Array, kept: Array, m: int, offsets: Array
) -> Array:
    """Write the columns of all buckets side by side, and make offsets those of all."""
    columns, grid = engine.xp.empty(m, "uint32"), (len(buckets.free),)
    written = (found, buckets.begins, buckets.rows, kept, columns, offsets)
    _sorting(engine)["write_buckets"](grid, (launch.THREADS,), written)
    return columns


def _positions(engine: GpuEngine, pairs: Array, begins: Array, kept: Array) -> Array:
    """Put the position of the edge of each key at its number: int32, and -1 for loops."""
    xp, size, kernels = engine.xp, len(pairs), _sorting(engine)
    bits = max(0, (size - 1).bit_length() - (_PARTS - 1).bit_length())
    free, parted = xp.arange(_PARTS, dtype="uint32") << np.uint32(bits), xp.empty(size, "uint64")
    moved = (pairs, begins, kept, np.uint32(bits), free, parted)
    kernels["part_positions"]((len(begins) - 1,), (launch.THREADS,), moved)
    positions, put = xp.empty(size, "int32"), (-(-size // _PUT),)
    kernels["put_positions"](put, (launch.THREADS,), (parted, np.uint64(size), positions))
    return positions


def _moving(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``partition.cu``."""
    return engine.compile(launch.read("partition.cu"), _MOVING, ())


def _sorting(engine: GpuEngine) -> Mapping[str, Kernel]:
    """Return the kernels of ``buckets.cu``."""
    options = (f"-DRTC_SORT_THREADS={engine.capacities.sort_threads}",)
    return engine.compile(launch.read("buckets.cu"), _SORTING, options)


def _sets(engine: GpuEngine, size: int, n: int) -> int:
    """Return how many buckets a part has room for: twice those of a part of mean weight, or all."""
    return min(_PARTS, 2 * _mean_sets(engine, size, n) + 4)


def _mean_sets(engine: GpuEngine, size: int, n: int) -> int:
    """Return how many buckets a part of mean weight has."""
    return -(-(size + n) // (_PARTS * engine.capacities.bucket_weight))


def _groups(n: int) -> int:
    """Return the number of groups of `n` rows."""
    last = n - 1
    shift = max(0, last.bit_length() - 1 - _GROUP_BITS)
    return (shift << _GROUP_BITS) + (last >> shift) + 1


def _range_bits(engine: GpuEngine) -> int:
    """Return the bits of a row in its part that tell its range."""
    return engine.capacities.part_ranges.bit_length() - 1


def _shared(engine: GpuEngine, width: int) -> int:
    """Return the bytes of shared memory in which a block sorts items of `width` bytes."""
    threads = engine.capacities.sort_threads
    digits = _DIGITS if threads >= _DIGITS else _DIGITS // 4  # of a pass
    return threads * (width * _SORT_EACH + 4 * digits // _WARP)
