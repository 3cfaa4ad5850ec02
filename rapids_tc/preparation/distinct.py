"""An estimate of how many distinct ids two columns hold, which takes a small part of their memory.

Up to `EXACT` rows, ids are counted. Above that they are hashed to 64 bits chunk by chunk, and a
HyperLogLog sketch (Flajolet, Fusy, Gandouet, Meunier: AofA 2007) estimates the number of distinct
hashes: the leading bits choose a register, and the register keeps the longest run of zeros at the
other end. The standard error is 1.04 / sqrt(registers), which is 0.8 %. Registers that no hash has
chosen are taken account of by the estimator of Ertl (arXiv:1702.01284, 2017), without thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.preparation import moments
from rapids_tc.preparation.id_columns import NUMERIC, IdColumn, integers
from rapids_tc.preparation.numbering import (
    as_integers,
    check_part,
    dense_range,
    describe_columns,
    factorize,
)
from rapids_tc.preparation.splitmix import STEP, mix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rapids_tc._typing import Array, Frame, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.edge_columns import EdgeColumns

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


def estimate_size(
    frame: Frame, edge_columns: EdgeColumns, backend: Backend
) -> tuple[int, DistinctIds, bool]:
    """Return the number of rows, an estimate of the ids, and whether ids are dense.

    Nothing is numbered. The first checks of `number_edges` are made, and raise the same errors.
    """
    by_part = describe_columns(frame, edge_columns, backend)
    if edge_columns.bipartite:
        return len(by_part[0][0].values), _of_both_sides(by_part, backend), False
    for columns in by_part:
        if filled := [column for column in columns if column.kind != "empty"]:
            check_part(filled)
    rows, dense = len(by_part[0][0].values), None
    if len(by_part) == 1:
        if filled and filled[0].kind in NUMERIC:
            as_integers(filled, backend)
        dense = dense_range(by_part[0], backend)
    if dense:
        return rows, DistinctIds(dense[1]), True
    return rows, distinct_ids([[*chain(*by_part)]], edge_columns.widths, backend), False


def _of_both_sides(by_part: list[list[IdColumn]], backend: Backend) -> DistinctIds:
    """Estimate the distinct ids of two columns that never meet."""
    for column in chain(*by_part):
        if column.kind != "empty":
            check_part([column])
    ends = ([columns[end % len(columns)] for columns in by_part] for end in range(2))
    one, other = (distinct_ids([end], [1] * len(end), backend) for end in ends)
    return replace(
        one, count=one.count + other.count, text=max(one.text, other.text),
        objects=one.objects and other.objects,
    )  # fmt: skip


def distinct_ids(
    chunks: Iterable[list[IdColumn]], widths: list[int], backend: Backend, exact: int = EXACT
) -> DistinctIds:
    """Estimate the distinct ids of checked columns, which come in chunks of rows.

    Up to `exact` rows, the ids are counted. Else the estimate is `MARGIN` above the sketch's, and
    never more than the ids of all rows. Each part of an id is one column (both ends share it) or
    two: `widths`.
    """
    sketch, most, objects = Sketch(), 0, False
    counted: Array | None = np.zeros(0, "uint64")
    lengths: list[tuple[int, int]] = []
    for columns in chunks:
        filled = [column for column in columns if column.kind != "empty"]
        for column in filled:
            if column.kind == "string":
                objects = objects or str(column.distinct.dtype) == "object"
                lengths.append(_text(column.distinct, backend))
        most += (
            sum(len(c.distinct) for c in filled) if widths == [2] else 2 * len(columns[0].values)
        )
        counted = None if most > 2 * exact else counted
        for hashes in _hashed_ids(filled, widths, backend):
            sketch.add(hashes, backend)
            if counted is not None:
                counted = np.union1d(counted, backend.host(hashes))
    texts = sum(count for count, _ in lengths)
    text = -(-sum(size for _, size in lengths) // texts) if texts else 0
    objects = objects and backend.library.__name__ == "pandas"
    parts = len(widths) if widths[1:] else 0
    if counted is not None:
        return DistinctIds(len(counted), text, objects, parts)
    return DistinctIds(min(most, int((1 + MARGIN) * sketch.estimate()) + 1), text, objects, parts)


def _hashed_ids(columns: list[IdColumn], widths: list[int], backend: Backend) -> Iterator[Array]:
    """Yield hashes (uint64) of all ids of some columns, a few rows at a time.

    Of ids of one part, the categories that occur are hashed in place of a categorical's rows.
    """
    xp, step = backend.xp, CHUNK[backend.xp.__name__]
    if widths == [2]:
        for column in columns:
            values = column.distinct
            for first in range(0, len(values), step):
                chunk = values.iloc[first : first + step]
                yield _hashes(IdColumn(chunk, column.name, column.kind), backend)
        return
    for first in range(0, len(columns[0].values) if columns else 0, step):
        words = [_words_by_row(column, first, first + step, backend) for column in columns]
        of_all = iter(words)
        ends = [xp.zeros(len(words[0]), "uint64") for _ in range(2)]
        for width in widths:
            of_part = [next(of_all) for _ in range(width)]
            both = zip(ends, of_part * (3 - width), strict=True)
            ends = [mix(end * xp.uint64(STEP) + word) for end, word in both]
        yield from ends


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
