"""The kernels of ``rows.cu`` on arrays: ranges of ids, numbers, degrees, ranks, keys and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.kernels import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rapids_tc.kernels.method import Array, Kernel

    Compile = Callable[..., Mapping[str, Kernel]]
    Ends = Sequence[Array]  # two arrays of integers

_READS = 4  # as in rows.cu
_RANGE_BLOCKS = 2048
BUCKETS, _PART_THREADS, _PART_TILE, _BUCKET_THREADS = 512, 512, 8192, 1024
_BUCKET_BLOCKS = 2  # of each bucket, whose numbers they count
_KERNELS = (
    "id_range32",
    "id_range64",
    "read_ends32",
    "read_ends64",
    "bucket_ends32",
    "bucket_ends64",
    "part_numbers",
    "part_degrees",
    "write_ranks",
    "pack_pairs",
    "unite_codes",
)


def id_ranges(compile: Compile, xp: Any, arrays: Sequence[Array]) -> list[tuple[int, int]]:
    """Return the least and the greatest of the integers of each array, none of which is empty.

    One kernel reads arrays of any width, sign and alignment, and the host waits once for all.
    """
    kernels, ranges = kernels_of(compile), xp.zeros((len(arrays), 2), "uint64")
    signs = []
    for first, columns in _alike(arrays):
        bits, *words = _words(columns, xp)
        rows, sign = len(columns[0]), 1 << bits - 1 if columns[0].dtype.kind == "i" else 0
        grid = (min(_blocks(rows), _RANGE_BLOCKS), len(columns))
        args = (*words, np.uint64(rows), np.uint64(sign), ranges[first:])
        kernels[f"id_range{bits}"](grid, (launch.THREADS,), args)
        signs += [(bits, sign)] * len(columns)
    return [
        ((1 << bits) - 1 - complement - sign, high - sign)
        for (bits, sign), (complement, high) in zip(signs, ranges.tolist(), strict=True)
    ]


def read_ends(
    compile: Compile,
    xp: Any,
    ends: Ends,
    size: int,
    out: Array,
    outside: Array,
    degree: Array | None = None,
) -> None:
    """Read each id once: write numbers below `size` to `out`, uint32, shape (2, rows).

    Ids that are not below `size` become 0, and are counted in `outside`. How often each number
    occurs is added to `degree`, if given.
    """
    kernels, rows = kernels_of(compile), len(ends[0])
    for first, columns in _alike(ends) if rows else ():
        bits, *words = _words(columns, xp)
        args = (*words, np.uint64(rows), np.uint64(size), out[first:], degree, outside)
        kernels[f"read_ends{bits}"]((_blocks(rows), len(columns)), (launch.THREADS,), args)


def count_in_buckets(
    compile: Compile,
    xp: Any,
    ends: Ends,
    degree: Array,
    out: Array,
    outside: Array,
    scan: Callable[[Array, int], None],
    blocks: int,
) -> None:
    """Write numbers and add to degrees as `read_ends` does, by atomics in shared memory.

    `scan` turns counts into the sums of the counts before them; `blocks` fill the GPU. This takes
    two bytes per end. `bucket_bits` are no more than 16.
    """
    kernels, rows, size = kernels_of(compile), len(ends[0]), len(degree)
    shift = np.uint32(bucket_bits(size))
    starts = xp.zeros(BUCKETS + 1, "uint32")
    most = -(-rows // (_PART_THREADS * _READS))
    for first, columns in _alike(ends):
        bits, *words = _words(columns, xp)
        args = (*words, np.uint64(rows), np.uint64(size), shift, out[first:], starts, outside)
        grid = (min(blocks, most), len(columns))
        kernels[f"bucket_ends{bits}"](grid, (_PART_THREADS,), args)
    scan(starts, BUCKETS)
    free, parted = starts.copy(), xp.empty(-(-2 * rows // 8) * 8, "uint16")
    tiles = (-(-2 * rows // _PART_TILE),)
    moved = (out, np.uint64(2 * rows), shift, free, parted)
    kernels["part_numbers"](tiles, (_PART_THREADS,), moved)
    kernel, shared = kernels["part_degrees"], bucket_bytes(size)
    if shared > 48 * 1024:
        kernel.max_dynamic_shared_size_bytes = shared
    counted = (parted, starts, shift, degree)
    kernel((_BUCKET_BLOCKS, BUCKETS), (_BUCKET_THREADS,), counted, shared_mem=shared)


def bucket_bits(size: int) -> int:
    """Return the bits of a number in its bucket, if numbers are below `size`."""
    return max(3, (size - 1).bit_length() - (BUCKETS - 1).bit_length())


def bucket_bytes(size: int) -> int:
    """Return the bytes of shared memory that count the numbers of a bucket."""
    return 4 << bucket_bits(size)


def write_ranks(compile: Compile, order: Array, rank: Array) -> None:
    """Write the rank (uint32) of each number: its place in the order (int32)."""
    args = (order, np.uint64(len(order)), rank)
    launch.per_element(kernels_of(compile)["write_ranks"], len(order), *args)


def pack(
    compile: Compile, xp: Any, first: Array, second: Array, less: Array, out: Array = None
) -> Array:
    """Return keys (uint64) larger << 32 | smaller of pairs; `less` says if the first is smaller.

    They are written to `out`, if given.
    """
    keys = xp.empty(len(first), "uint64") if out is None else out
    if len(first):
        args = (first, second, less, np.uint64(len(first)), keys)
        kernels_of(compile)["pack_pairs"]((_blocks(len(first)),), (launch.THREADS,), args)
    return keys


def unite(compile: Compile, xp: Any, edge: Array, codes: Array, edges: int) -> Array:
    """Return all bits of the codes (uint8) of the rows of each edge, whose positions are int64."""
    words = xp.zeros(-(-edges // 4), "uint32")
    args = (edge, codes, np.uint64(len(edge)), words)
    launch.per_element(kernels_of(compile)["unite_codes"], len(edge), *args)
    return words.view("uint8")[:edges]


def kernels_of(compile: Compile) -> Mapping[str, Kernel]:
    """Return the kernels of ``rows.cu``."""
    return compile(launch.read("rows.cu"), _KERNELS, ())


def _blocks(size: int) -> int:
    """Return the thread blocks that read so many ids."""
    return -(-size // (launch.THREADS * _READS))


def _alike(arrays: Sequence[Array]) -> Iterator[tuple[int, Sequence[Array]]]:
    """Yield what one launch reads, two arrays of one dtype or one, and the place of the first."""
    if len(arrays) == 2 and arrays[0].dtype == arrays[1].dtype and len(arrays[0]) == len(arrays[1]):
        yield 0, arrays
    else:
        yield from ((place, [ids]) for place, ids in enumerate(arrays))


def _words(columns: Sequence[Array], xp: Any) -> tuple[int, Array, Array]:
    """Return 32 or 64 bits, and two columns, or one twice, as unsigned integers of so many bits."""
    bits, kind = max(32, 8 * columns[0].itemsize), columns[0].dtype.kind
    wide = (ids.astype(f"{kind}4") if ids.itemsize < 4 else ids for ids in columns)
    words = [xp.ascontiguousarray(ids).view(f"uint{bits}") for ids in wide]
    return bits, words[0], words[-1]
