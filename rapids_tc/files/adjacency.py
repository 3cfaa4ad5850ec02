"""The reader of METIS, and what readers share whose files say how many vertices there are."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from rapids_tc.errors import CapacityError
from rapids_tc.files.beside import with_values
from rapids_tc.files.shapes import refuse_other_formats
from rapids_tc.files.source import CHECK_BYTES, EdgeFileError, ReadOptions, Source, shortened

Frame = Any  # pandas.DataFrame
Array = Any  # numpy.ndarray

_MAX_VERTICES = 2**32 - 1  # of a graph
_METIS_BYTES = 32  # a number of the file, on top of the number: its row, its position, a sum


def read_metis(source: Source, options: ReadOptions) -> tuple[Frame, Array, list[str]]:
    """Read the edges and the vertices without any; sizes are skipped."""
    if options.format is None:
        lines = source.head().decode(errors="replace").splitlines()
        refuse_other_formats(source, list(filter(str.strip, lines)), named=False)
    numbers, counts = _numbers_by_line(source)
    first = int(np.argmax(counts > 0)) if counts.any() else 0
    header = numbers[: counts[first]].tolist() if len(counts) else []
    if not 2 <= len(header) <= 4 or min(header) < 0 or not set(str(sum(header[2:3]))) <= set("01"):
        raise source.fault('the first line must be "vertices edges [format [weights]]"')
    n, edges = header[:2]
    form = sum(header[2:3])  # digits: vertex sizes, vertex weights, edge weights
    before = form // 100 + form // 10 % 10 * (header[3] if len(header) == 4 else 1)
    before = min(before, len(numbers) + 1)  # a larger number is an error, and may exceed 64 bits
    step = 1 + form % 10
    numbers, counts = numbers[counts[first] :], counts[first + 1 :]

    def line_of(vertex: Any) -> int:
        return _number_of_line(source, first + 1 + int(vertex))

    if len(counts) < n:
        raise source.fault(f"the first line says {n:,} vertices, {len(counts):,} lines follow")
    if counts[n:].any():
        extra = n + np.argmax(counts[n:] > 0)
        raise source.fault(f"a line more than the {n:,} vertices of the first line", line_of(extra))
    counts = counts[:n]
    broken = (counts < before) | ((counts - before) % step != 0)
    if broken.any():
        raise source.fault(f"a number is missing (format {form})", line_of(np.argmax(broken)))
    rows = np.repeat(np.arange(n), counts)
    position = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts) - before
    keep = (position >= 0) & (position % step == 0)
    src, dst = rows[keep] + 1, numbers[keep]
    outside = (dst < 1) | (dst > n)
    if outside.any():
        at = np.argmax(outside)
        raise source.fault(f"ids run from 1 to {n}, not {dst[at]}", line_of(src[at] - 1))
    if len(dst) not in (2 * edges, edges):
        raise source.fault(
            f"the first line says {edges:,} edges, once in each direction; the lines have "
            f"{len(dst):,} ends instead of {2 * edges:,}"
        )
    if (one_way := _without_reverse(src, dst)) is not None:
        u, v = src[one_way], dst[one_way]
        raise source.fault(
            f"vertex {u} names {v}, and line {line_of(v - 1)} does not name {u}: this is no METIS "
            "file; format text reads two ids per line",
            line_of(u - 1),
        )
    source.directed = True  # each edge is there in both directions
    frame, alone = frame_of(src, dst), without_edges(src, dst, 1, n)
    if options.keep:
        weights = {"weight": numbers[np.flatnonzero(keep) + 1]} if step > 1 else {}
        frame = with_values(source, options, frame, weights)
    return frame, alone, []


def _without_reverse(src: Array, dst: Array) -> int | None:
    """Return the place of an edge that is not there in the other direction, too; None if all are.

    Sums of hashed pairs are compared first: a difference is certain, and equality nearly so.
    """
    factors = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
    sums = []
    for u, v in ((src, dst), (dst, src)):
        mixed = u.astype(np.uint64) * factors[0] ^ v.astype(np.uint64) * factors[1]
        mixed ^= mixed >> np.uint64(29)
        sums.append((mixed * factors[0]).sum())
    if sums[0] == sums[1]:
        return None
    pairs, counts = np.unique(np.stack([src, dst], axis=1), axis=0, return_counts=True)
    times = {(u, v): n for (u, v), n in zip(pairs.tolist(), counts.tolist(), strict=True)}
    ends = zip(src.tolist(), dst.tolist(), strict=True)
    return next(i for i, (u, v) in enumerate(ends) if times[u, v] > times.get((v, u), 0))


def frame_of(src: Array, dst: Array) -> Frame:
    """Make an edge frame over two arrays, without a copy."""
    import pandas as pd

    return pd.DataFrame({"src": src, "dst": dst}, copy=False)


def without_edges(src: Array, dst: Array, first: int, n: int) -> Array:
    """Return the ids, of `n` from `first` on, that are in no row."""
    isolated = np.ones(n, bool)
    isolated[src - first] = False
    isolated[dst - first] = False
    ids = np.flatnonzero(isolated)
    ids += first
    return ids


def vertices_of_sizes(source: Source, line: str, frame: Frame) -> tuple[Array, list[str]]:
    """Return the vertices without an edge of a text whose first line says how many there are.

    Their numbers begin at 0 if an id is 0, else at 1: a guess, which is told. Numbers of vertices
    that differ are of two sets, and say nothing of ids.
    """
    fields = re.split(r"[\s,;|]+", line.strip())
    numbers = [int(field) for field in itertools.takewhile(str.isdecimal, fields)]
    src, dst = (frame[name].to_numpy() for name in frame.columns)
    n = numbers[0]
    if len({*numbers[:-1]}) > 1 or not len(frame):
        return np.zeros(0, np.int64), []
    if src.dtype.kind not in "iu":
        without = n - len({*src} | {*dst})
        told = f"left out, as they have no edge and no name: {without:,} of {n:,} vertices"
        return np.zeros(0, np.int64), [told] * (without > 0)
    least, most = min(src.min(), dst.min()), max(src.max(), dst.max())
    first = int(least > 0)
    if least < 0 or most > n - 1 + first:
        raise source.fault(
            f"the first line says {n:,} vertices, and ids run from {least} to {most}: header=True "
            "leaves the line out, header=False takes it for an edge"
        )
    check_vertices(source, n)
    alone = without_edges(src, dst, first, n)
    told = f"vertices are numbered {first} to {n - 1 + first}, without an edge: {len(alone):,}"
    return alone, [told]


def check_vertices(source: Source, n: int) -> None:
    """Raise CapacityError if `n` vertices are too many for a graph or for the free memory."""
    if n > _MAX_VERTICES:
        raise CapacityError(f"{n:,} vertices are more than a graph holds ({_MAX_VERTICES:,})")
    source.claim(f"{n:,} vertices", n * (1 + 8))  # a flag each, and an id if it has no edge


def _numbers_by_line(source: Source) -> tuple[Array, Array]:
    """Read all numbers of the file, and how many each line has; comment lines are left out."""
    numbers, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    total, checked = 0, 0
    for text in source.blocks("%", keep_ends=False):
        if text and not text.endswith(b"\n"):
            text += b"\n"
        data = np.frombuffer(text, np.uint8)
        printed = data > ord(" ")
        starts = np.flatnonzero(printed & np.append(True, ~printed[:-1]))
        counts.append(np.diff(np.searchsorted(starts, np.flatnonzero(data == 10)), prepend=0))
        if len(starts):
            try:
                values = np.fromstring(text, np.int64, sep=" ")
            except ValueError:
                values = numbers[0]
            if len(values) != len(starts):
                raise source.locate("%", _wrong_number)
            numbers.append(values)
            total += len(values)
            if total >= checked + CHECK_BYTES // 8:
                source.require(f"{total:,} numbers or more take", _METIS_BYTES * total)
                checked = total
    return np.concatenate(numbers), np.concatenate(counts)


def _wrong_number(line: str) -> str:
    wrong = next((word for word in line.split() if not re.fullmatch(r"-?[0-9]+", word)), None)
    return "" if wrong is None else f"{shortened(wrong)} is not an integer"


def _number_of_line(source: Source, index: int) -> int:
    """Return the number in the file, from 1, of the line of this index without comments."""
    number = 0
    for block in source.blocks(""):
        for line in block.splitlines():
            number += 1
            index -= not line.lstrip().startswith(b"%")
            if index < 0:
                return number
    raise EdgeFileError(f"{source.path.name} ended early")
