"""Calls whose tasks get results that fit no graph of theirs: a line for each, what came of it.

A process of its own, for without its checks compiled code writes outside of arrays here.
"""

import sys
from itertools import product

import numpy as np
from dask_support import ASKED, Here, from_parts, innermost, layout, worked_on_here

from rapids_tc import datasets
from rapids_tc.graphs import stages

HUGE = np.uint32(2**32 - 1)


def part(place, change):
    """A list with one of its arrays changed."""
    return lambda several: [
        change(one) if at == place % len(several) else one for at, one in enumerate(several)
    ]


def last(value):
    """An array with another last value."""
    return lambda array: np.append(array[:-1], np.asarray(value).astype(array.dtype))


def shorter(array):
    return array[:-1]


def longer(array):
    return np.append(array, array[-1:])


def one_of(change):
    """The first of several arrays changed, or the only one."""
    return lambda result: change(result) if hasattr(result, "dtype") else part(0, change)(result)


def pieces_of(place, change):
    """What `pack` gives, a piece for every block, changed in the first that has edges."""

    def changed(pieces):
        at = next((at for at, piece in enumerate(pieces) if len(piece[2])), None)
        return [part(place, change)(one) if n == at else one for n, one in enumerate(pieces)]

    return changed


# The task whose results are changed, and how.
CHANGES = {
    "numbers past the last id": ("id_tasks.number", part(0, last(HUGE))),
    "fewer degrees": ("ranges.degrees", shorter),
    "ranks past the last": ("ranges.order", part(0, lambda rank: rank + np.uint32(2**20))),
    "one rank past the last": (
        "ranges.order",
        part(0, lambda rank: np.where(rank == 3, HUGE, rank)),
    ),
    "fewer ranks": ("ranges.order", part(0, shorter)),
    "a piece of fewer lengths": ("build.pack", pieces_of(1, shorter)),
    "a piece of more lengths": ("build.pack", pieces_of(1, longer)),
    "a piece of longer rows": ("build.pack", pieces_of(1, lambda lengths: lengths + 1)),
    "a piece of fewer columns": ("build.pack", pieces_of(2, shorter)),
    "a piece of columns past the last": ("build.pack", pieces_of(2, last(HUGE))),
    "a piece of more rows": (
        "build.pack",
        pieces_of(0, lambda bits: np.append(bits, bits | 1)),
    ),
    "a block of fewer rows": ("build.merge", part(0, shorter)),
    "a block of more rows": ("build.merge", part(0, longer)),
    "a block of longer rows": ("build.merge", part(0, lambda lengths: lengths + 1)),
    "a block of fewer columns": ("build.merge", part(1, shorter)),
    "a block of columns past the last": ("build.merge", part(1, last(HUGE))),
    "fewer counts": ("sums.edge_counts", part(0, shorter)),
    "more counts": ("sums.edge_counts", part(0, longer)),
    "fewer sums": ("sums.corner_counts", one_of(shorter)),
    "fewer degrees of ranks": ("sums.degrees_of", one_of(shorter)),
    "fewer codes of a range": ("ranges.codes_in", shorter),
    "other codes of a range": ("ranges.ranks_of", lambda rank: rank + np.uint32(2**20)),
    "fewer ranks of a range": ("ranges.ranks_of", shorter),
    "fewer ranks of rows in a range": ("ranges.in_part", part(0, shorter)),
    "ranks of rows past the last": ("ranges.in_part", part(0, last(HUGE))),
    "fewer values": ("row_lookup.values_of_rows", part(-1, shorter)),
    "fewer places of rows": ("row_lookup.first_in_batch", part(0, lambda first: first[:1])),
}
CALLS = ("count", "vertex_triangles", "annotate", "k_truss 4", "simple_edges")


def tampered(name, change):
    """A `Here` where the first result of a kind is changed; `done` once it was."""

    class Tampered(Here):
        done = False

        def submit(self, stage, function, *args, **options):
            result = super().submit(stage, function, *args, **options)
            asked = innermost(function, args)
            room = asked.__module__.rpartition(".")[2]
            if f"{room}.{asked.__name__}" == name and not Tampered.done:
                Tampered.done = True
                return change(result)
            return result

    return Tampered


def main():
    frame = datasets.rmat(6)
    edges = from_parts([frame.iloc[at::5] for at in range(5)])
    stages.LEAST_ROWS = 1
    for n, kind in product((1, 2), CHANGES):
        name, change = CHANGES[kind]
        ranges = 3 if name in ("ranges.codes_in", "ranges.ranks_of", "ranges.in_part") else 1
        for call in CALLS:
            executor = tampered(name, change)
            with worked_on_here(executor), layout(n, 1, ranges=ranges):
                print(f"{kind}, {call}, {n} x {n}: ", end="", flush=True)
                try:
                    ASKED[call](edges)
                    told = "no error"
                except Exception as error:
                    told = f"{type(error).__name__}: {error}"
                print(told if executor.done else "not asked", flush=True)


if __name__ == "__main__":
    sys.exit(main())
