"""How the wedges of a graph are cut in tasks for ``wedges.cu``: tables, their windows, and lists.

A vertex of many wedges is counted in a table of counters in shared memory, window by window of the
wedges' ends; others in a hash table, of a block or of a warp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array

ALIGN = 256  # ranks, of which levels and windows are multiples: see counters.cuh
BITS = (16, 8, 4)  # of the counters of levels 1, 2 and 3
FILLED = 0.75  # of a hash table, at most
SPLITS = 4  # a task has at most this part of what a block would have


@dataclass(frozen=True)
class Packing:
    """Where the levels of counters begin: ranks, and words of the table.

    Attributes
    ----------
    starts, bases : tuple of int
        Of levels 1, 2 and 3. Level 0, of 32 bits, begins at 0.
    end : int
        A multiple of `ALIGN` behind the last rank of enough neighbors.
    """

    starts: tuple[int, ...]
    bases: tuple[int, ...]
    end: int

    @classmethod
    def of(cls, degrees: Array, xp: Any, least: int = 2) -> Packing:
        """Return the levels of a graph, up to the last rank of at least so many neighbors."""
        limits = xp.asarray([least, *(1 << bits for bits in BITS)])[:, None]
        behind = xp.where(degrees >= limits, xp.arange(1, len(degrees) + 1), 0).max(axis=1)
        end, *starts = (-(-last // ALIGN) * ALIGN for last in behind.tolist())
        bases, word, ends = [starts[0]], starts[0], [*starts[1:], end]
        for level, (first, last) in enumerate(zip(starts[:2], ends, strict=False), 1):
            word += (last - first) >> level
            bases.append(word)
        return cls(tuple(starts), tuple(bases), end)

    def words(self, ranks: Array) -> Array:
        """Return the word where the counters of each rank begin; ranks are multiples of `ALIGN`."""
        words = ranks
        for level, (start, base) in enumerate(zip(self.starts, self.bases, strict=True), 1):
            words = np.where(ranks >= start, base + ((ranks - start) >> level), words)
        return words


@dataclass(frozen=True)
class Windows:
    """Ranges of the ends of wedges.

    Attributes
    ----------
    cuts : array of int64, shape (windows + 1,)
        The first rank of each window, and one behind the last.
    words : array of int64, shape (windows + 1,)
        The words where their counters begin.
    share : array of float64, shape (windows + 1,)
        Which part of all entries of rows lies before each cut.
    """

    cuts: np.ndarray
    words: np.ndarray
    share: np.ndarray

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @classmethod
    def cut(cls, packing: Packing, grid: Array, share: Array, room: int, least: int) -> Windows:
        """Cut the ranks so that no window has more words than there is room for.

        `grid` are the ranks where a window may begin, with the share of each. Windows have at most
        one part of `least`, if they may be so short.
        """
        words = packing.words(grid)
        cuts = [0]
        while cuts[-1] < len(grid) - 1:
            at = cuts[-1]
            fits = np.searchsorted(words, words[at] + room, side="right") - 1
            light = np.searchsorted(share, share[at] + 1 / least, side="right") - 1
            cuts.append(max(at + 1, min(fits, light)))
        return cls(grid[cuts], words[cuts], share[cuts])

    def groups(self, room: int, most: float = np.inf) -> list[tuple[int, int]]:
        """Join windows that follow one another while there is room, and up to a share of all."""
        groups, first = [], 0
        while first < len(self):
            fits = np.searchsorted(self.words, self.words[first] + room, side="right") - 1
            light = np.searchsorted(self.share, self.share[first] + most, side="right") - 1
            last = max(first + 1, min(fits, light))
            groups.append((first, last))
            first = last
        return groups


def table_tasks(u: Array, wedges: Array, windows: Windows, room: int, most: int, xp: Any) -> Array:
    """Make the tasks (u, first window, last) of vertices, the heaviest first: uint32.

    A vertex of more wedges than `most` is cut in more tasks.
    """
    heavy = wedges > most
    others, of_others, tasks, costs = u[~heavy], wedges[~heavy], [], []
    for first, last in windows.groups(room):
        stays = others < int(windows.cuts[last]) - 1  # else no end is behind u
        ranks = others[stays].astype("uint32")
        ends = (xp.full(len(ranks), window, "uint32") for window in (first, last))
        tasks.append(xp.stack([ranks, *ends], axis=1))
        costs.append(of_others[stays] * float(windows.share[last] - windows.share[first]))
    cut = [  # on the host: few have so many wedges
        (rank, first, last, count * (windows.share[last] - windows.share[first]))
        for rank, count in zip(u[heavy].tolist(), wedges[heavy].tolist(), strict=True)
        for first, last in windows.groups(room, most / count)
        if rank < windows.cuts[last] - 1
    ]
    on_host = np.array(cut, np.float64).reshape(-1, 4)  # ranks are exact in these, too
    tasks.append(xp.asarray(on_host[:, :3].astype(np.uint32)))
    costs.append(xp.asarray(on_host[:, 3]))
    table = xp.concatenate(tasks)
    return table[xp.argsort(-xp.concatenate(costs))] if len(table) else table


def hash_tasks(u: Array, wedges: Array, xp: Any) -> Array:
    """Make the tasks (u, log2 of its slots) of vertices, the heaviest first: uint32."""
    if not len(u):
        return xp.zeros((0, 2), "uint32")
    order = xp.argsort(-wedges)
    slots = xp.maximum(xp.ceil(xp.log2(wedges[order] / FILLED)), 1)
    return xp.stack([u[order].astype("uint32"), slots.astype("uint32")], axis=1)
