"""Which of some listed triangles are of a kind, in Numba."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._parallel import parallel_for, threads_for
from rapids_tc.engines.cpu.coded import pack_sides
from rapids_tc.engines.cpu.compiled import compiled
from rapids_tc.engines.cpu.sorting import PER_THREAD, cut_evenly
from rapids_tc.engines.cpu.spans import arcs_of, meet, open_span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rapids_tc.preparation.csr import Array


def kind_test(values: Any, choices: int = 1) -> Callable[[Sequence[Array]], Array]:
    """Return a function that says which triangles are of a kind: see `protocol.Engine`."""
    kind = pack_sides(*values)
    edges = tuple(one.size // 2 for one in values)  # the first arc up of each

    def test(sides: Sequence[Array]) -> Array:
        hits = np.empty(len(sides[0]), bool)
        threads = threads_for(len(hits))
        parts = cut_evenly(len(hits), threads * PER_THREAD if threads > 1 else 1)

        def task(number: int, thread: int) -> None:
            uv, uw, vw = (side[parts[number]] for side in sides)
            _test(kind, choices, edges, uv, uw, vw, hits[parts[number]])

        parallel_for(task, len(parts), threads)
        return hits

    return test


@compiled
def _test(
    kind: Any, choices: int, edges: tuple[int, int, int], uv: Array, uw: Array, vw: Array,
    hits: Array,
) -> None:  # fmt: skip
    """Write whether each triangle is of the kind, by the places of its sides."""
    for i in range(len(hits)):
        hits[i] = False
        for choice in range(8):
            if choices >> choice & 1 and not hits[i]:
                a, b, c = arcs_of(choice, edges, uv[i], uw[i], vw[i])
                hits[i] = meet(kind, open_span(kind, a), b, c) != 0
