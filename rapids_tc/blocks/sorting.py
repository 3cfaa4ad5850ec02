"""Each undirected edge once, sorted over many machines: all sort, and each merges a range.

An edge is the key smaller number << 32 | larger number, and numbers are in the order of ids, so
that ranges of keys are ranges of rows of the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_tc.blocks.arrivals import require_below
from rapids_tc.blocks.worker_tasks import Numbers, Site, chunk, length, one
from rapids_tc.frames.backend import Array, Frame
from rapids_tc.graphs.distributed import Future, Spread
from rapids_tc.preparation.edges import edge_keys, named_edges
from rapids_tc.preparation.numbering import Ids

SAMPLES = 256  # of each range, to find ranges of about equal length by


def simple_edges(spread: Spread) -> tuple[list[Future], list[int]]:
    """The frames of the answer, and how many rows each has."""
    keys = spread.each_group("edges", sorted_keys, spread.numbers)
    parts = len(keys)
    if parts > 1:
        step = sum(map(sum, spread.rows)) // (SAMPLES * parts) + 1
        samples = spread.cluster.get(spread.each_group("edges", sample, keys, step))
        ranges = spread.each_group("edges", split, keys, _cuts(samples, parts))
        keys = [
            spread.submit("edges", merge, spread.each_group("edges", one, ranges, part))
            for part in range(parts)
        ]
    lengths = spread.cluster.get([spread.submit("edges", length, own) for own in keys])
    starts = np.cumsum([0, *lengths]).tolist()
    return [
        spread.submit("edges", frame, own, spread.ids, start)
        for own, start in zip(keys, starts, strict=False)
    ], lengths


def _cuts(samples: list[Array], parts: int) -> tuple[int, ...]:
    """Keys that part the samples, and so all keys, in about equal ranges."""
    known = np.sort(np.concatenate(samples))
    known = known if len(known) else np.zeros(1, "uint64")
    return tuple(int(known[len(known) * part // parts]) for part in range(1, parts))


@chunk
def sorted_keys(site: Site, numbers: Numbers) -> Array:
    """The keys of the edges of some rows, each once; no loops."""
    xp = site.backend.xp
    u, v = (end.astype("uint64") for end in numbers)
    return _once(edge_keys(u, v, xp)[u != v], xp)


@chunk
def sample(site: Site, keys: Array, step: int) -> Array:
    """Every so many-th key, on the host."""
    return site.backend.host(keys[::step])


@chunk
def split(site: Site, keys: Array, cuts: tuple[int, ...]) -> list[Array]:
    """The keys below the first cut, from there to the second, and so on."""
    xp = site.backend.xp
    ends = xp.searchsorted(keys, xp.asarray(np.array(cuts, "uint64"))).tolist()
    return [keys[a:b] for a, b in zip([0, *ends], [*ends, len(keys)], strict=True)]


@chunk
def merge(site: Site, ranges: list[Array]) -> Array:
    """One range of all machines, each key once."""
    return _once(site.backend.xp.concatenate(ranges), site.backend.xp)


@chunk
def frame(site: Site, keys: Array, ids: Ids, start: int) -> Frame:
    """A range of the answer, its rows numbered from `start` on."""
    require_below(keys.astype("uint32"), ids.size, "numbers of ids")  # the larger of both
    made = site.home.frame(named_edges(keys, ids))
    made.index = made.index + start
    return made


def _once(keys: Array, xp: Any) -> Array:
    """Keys sorted, each once."""
    keys.sort()
    new = xp.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]
