"""An estimate of how many distinct ids two columns hold, which takes a small part of their memory.

Up to `EXACT` rows, ids are counted. Above that they are hashed to 64 bits chunk by chunk, and a
HyperLogLog sketch (Flajolet, Fusy, Gandouet, Meunier: AofA 2007) estimates the number of distinct
hashes: the leading bits choose a register, and the register keeps the longest run of zeros at the
other end. The standard error is 1.04 / sqrt(registers), which is 0.8 %. Registers that no hash has
chosen are taken account of by the estimator of Ertl (arXiv:1702.01284, 2017), without thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.preparation import moments
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, integers
from rapids_tc.preparation.numbering import factorize
from rapids_tc.preparation.splitmix import STEP, mix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend

EXACT = 2**16  # rows of a frame whose distinct ids are counted, which takes milliseconds
CHUNK = {"numpy": 2**13, "cupy": 2**22}  # ids that are hashed at a time
SAMPLE = 2**12  # texts of a column whose lengths are measured
BITS = 14  # of a hash, which choose a register
MARGIN = 0.025  # three standard errors: an estimate below the truth is rare


@dataclass(frozen=True)
class DistinctIds:
    """How many distinct ids there are, and how long their text is.

    Attributes
    ----------
    count : int
    text : int
        Mean bytes of text per id; 0 for ids other than text.
    objects : bool
        Whether text is held in Python's string objects.
    parts : int
        How many parts an id is made of; 0 for ids of one column.
    """

    count: int
    text: int = 0
    objects: bool = False
    parts: int = 0


class Sketch:
    """A HyperLogLog sketch of 64-bit hashes.

    Attributes
    ----------
    registers : array of uint8, shape (2**BITS,)
        The longest run of each register, counted from one; 0 if no hash has chosen the register.
    """

    def __init__(self) -> None:
        self.registers = np.zeros(1 << BITS, "uint8")

    def add(self, hashes: Array, backend: Backend) -> None:
        """Add hashes (uint64), where work is done."""
        xp = backend.xp
        if not len(hashes):
            return
        end = hashes | xp.uint64(1 << (63 - BITS))  # a run ends before the bits of the register
        # A power of two, whose exponent float64 holds: of the lowest bit that is set.
        lowest = (end & (~end + xp.uint64(1))).astype("float64").view("uint64") >> xp.uint64(52)
        keys = (hashes >> xp.uint64(64 - BITS) << xp.uint64(6)) | (lowest - xp.uint64(1022))
        keys = keys.astype("uint32")
        keys.sort()
        last = xp.flatnonzero((keys[1:] ^ keys[:-1]) >= 64)  # of a register: its longest run
        longest = backend.host(xp.concatenate([keys[last], keys[-1:]]))
        places = longest >> 6
        runs = (longest & 63).astype("uint8")
        self.registers[places] = np.maximum(self.registers[places], runs)

    def estimate(self) -> float:
        """Return the estimated number of distinct hashes."""
        size = len(self.registers)
        runs = np.bincount(self.registers)
        inverse = float(np.ldexp(runs[1:], -np.arange(1, len(runs))).sum())
        return size / (2 * np.log(2)) / (inverse / size + _sigma(runs[0] / size)) if inverse else 0


def distinct_ids(
    parts: Iterable[list[IdColumn]], backend: Backend, exact: int = EXACT
) -> DistinctIds:
    """Estimate the distinct ids of checked columns of one kind, which come in parts.

    Up to `exact` rows, the ids are counted. Else the estimate is `MARGIN` above the sketch's, and
    never more than the ids of all rows.
    """
    sketch, most, objects = Sketch(), 0, False
    counted: Array | None = np.zeros(0, "uint64")
    lengths: list[tuple[int, int]] = []
    for columns in parts:
        for column in columns:
            if column.kind == "empty":
                continue
            values = column.distinct
            most += len(values)
            counted = None if most > 2 * exact else counted
            if column.kind == "string":
                objects = objects or str(values.dtype) == "object"
                lengths.append(_text(values, backend))
            for first in range(0, len(values), CHUNK[backend.xp.__name__]):
                chunk = values.iloc[first : first + CHUNK[backend.xp.__name__]]
                hashes = _hashes(IdColumn(chunk, column.name, column.kind), backend)
                sketch.add(hashes, backend)
                if counted is not None:
                    counted = np.union1d(counted, backend.host(hashes))
    ids = sum(count for count, _ in lengths)
    text = -(-sum(size for _, size in lengths) // ids) if ids else 0
    objects = objects and backend.library.__name__ == "pandas"
    if counted is not None:
        return DistinctIds(len(counted), text, objects)
    return DistinctIds(min(most, int((1 + MARGIN) * sketch.estimate()) + 1), text, objects)


def distinct_composites(
    chunks: Iterable[list[IdColumn]], widths: list[int], backend: Backend, exact: int = EXACT
) -> DistinctIds:
    """Estimate the distinct ids made of several checked columns, which come in chunks of rows.

    See `distinct_ids`. Each part of an id is one column (both ends share it) or two: `widths`.
    """
    sketch, xp, most, step = Sketch(), backend.xp, 0, CHUNK[backend.xp.__name__]
    counted: Array | None = np.zeros(0, "uint64")
    lengths: list[tuple[int, int]] = []
    objects = False
    for described in chunks:
        rows = len(described[0].values)
        most += 2 * rows
        counted = None if most > 2 * exact else counted
        for column in described if rows else ():
            if column.kind == "string":
                objects = objects or str(column.distinct.dtype) == "object"
                lengths.append(_text(column.distinct, backend))
        for first in range(0, rows, step):
            words = [_words_by_row(column, first, first + step, backend) for column in described]
            of_all = iter(words)
            ends = [xp.zeros(len(words[0]), "uint64") for _ in range(2)]
            for width in widths:
                of_part = [next(of_all) for _ in range(width)]
                both = zip(ends, of_part * (3 - width), strict=True)
                ends = [mix(end * xp.uint64(STEP) + word) for end, word in both]
            for end in ends:
                sketch.add(end, backend)
            if counted is not None:
                counted = np.union1d(counted, backend.host(xp.concatenate(ends)))
    texts = sum(count for count, _ in lengths)
    text = -(-sum(size for _, size in lengths) // texts) if texts else 0
    objects = objects and backend.library.__name__ == "pandas"
    parts = len(widths)
    if counted is not None:
        return DistinctIds(len(counted), text, objects, parts)
    return DistinctIds(min(most, int((1 + MARGIN) * sketch.estimate()) + 1), text, objects, parts)


def _words_by_row(column: IdColumn, first: int, last: int, backend: Backend) -> Array:
    """Return a hash (uint64) of the value in each of some rows of a column."""
    part = replace(column, values=column.values.iloc[first:last])
    if part.categorical:
        return part.by_row(
            _hashes(replace(part, values=part.distinct, used=None), backend), backend
        )
    if part.kind in NUMERIC:
        return _hashes(part, backend)
    codes, distinct = factorize(part.values, part)
    hashes = _hashes(replace(part, values=backend.library.Series(distinct)), backend)
    return hashes[backend.xp.asarray(codes)]


def _sigma(empty: float) -> float:
    """Return Ertl's correction for the share of registers that no hash has chosen."""
    total, power, term = empty, 1.0, empty
    while term > 1e-12:  # far below the error of the sketch
        empty *= empty
        term = empty * power
        total += term
        power *= 2
    return total


def _hashes(column: IdColumn, backend: Backend) -> Array:
    """Return the hashes (uint64) of all ids; equal ids have the same, whatever their dtypes are."""
    xp, values = backend.xp, column.values
    if column.kind in NUMERIC:
        words = integers(values, column.name, backend).astype("uint64")
        words += xp.uint64(STEP)  # without it, 0 would be mixed to 0
        return mix(words)
    if column.kind == "datetime":
        values = values.astype(moments.comparison_dtype(values.dtype))
    if backend.library.__name__ == "cudf":
        return backend.array(values.hash_values(method="xxhash64")).astype("uint64")
    if column.kind == "string":
        texts = values.drop_duplicates().to_numpy(dtype=object)  # faster than a hash of each
        words = backend.library.util.hash_array(texts, categorize=False)
    else:
        words = backend.library.util.hash_pandas_object(values, index=False, categorize=False)
    return np.asarray(words)


def _text(values: Series, backend: Backend) -> tuple[int, int]:
    """Return the number and the bytes of the distinct texts in a sample of a column."""
    sample = values.iloc[:: len(values) // SAMPLE + 1].drop_duplicates()
    if backend.library.__name__ == "cudf":
        return len(sample), int(sample.str.byte_count().sum())
    return len(sample), sum(len(name.encode("utf-8", "replace")) for name in sample)
