"""Check the arrays that a worker receives from others, before compiled loops index with them.

Compiled loops check no index. If a frame changes between two tasks, their results belong to
different graphs, and a loop could write outside of its arrays. These checks raise an error instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.errors import KernelError
from rapids_tc.frames.backend import Array, all_below
from rapids_tc.preparation.time_values import Intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc.preparation.edge_values import Reading


def require(right: object, what: str) -> None:
    """Raise KernelError, naming `what` arrived, unless a check was `right`."""
    if not right:
        raise KernelError(
            f"{what} arrived at a worker, which tasks on one graph never send: the frame changed "
            "during the call, or workers differ in their version of a library. Call again with "
            "edges.persist(), and the same versions everywhere"
        )


def require_below(values: Array, limit: int, what: str) -> None:
    """Raise KernelError unless all integers of an array lie in [0, limit)."""
    require(all_below(values, limit), f"{what} of {limit} or more")


def require_length(values: Sequence[object] | Array, length: int, what: str) -> None:
    """Raise KernelError unless there are exactly `length` values."""
    require(len(values) == length, f"{len(values)} {what} for {length}")


def require_values(reading: Reading, values: list[Array], edges: int) -> None:
    """Raise KernelError unless the arrays of a reading are of a block of so many edges."""
    if not isinstance(reading.rule, Intervals):
        for array in values:
            require_length(array, edges, "values of edges")
        return
    first, last, offsets = values
    require_length(last, len(first), "ends of intervals")
    if len(offsets):
        require_length(offsets, edges + 1, "places of intervals")
        require_below(offsets, len(first) + 1, "places of intervals")
    else:
        require_length(first, edges, "intervals")
