"""The loop that counts the triangles of a small graph: apart, as to load Numba takes longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.cpu.compiled import compiled

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array


@compiled
def total(offsets: Array, columns: Array, mark: Array) -> Any:
    """Mark N+(u), and count for each v in it the marked entries of N+(v)."""
    triangles = np.int64(0)
    for u in range(len(offsets) - 1):
        begin, end = offsets[u], offsets[u + 1]
        if end - begin > 1:
            for p in range(begin, end):
                mark[columns[p]] = 1
            for p in range(begin, end):
                v = columns[p]
                for q in range(offsets[v], offsets[v + 1]):
                    triangles += np.int64(mark[columns[q]])
            for p in range(begin, end):
                mark[columns[p]] = 0
    return triangles
