"""What arrives at a worker from others is checked before compiled loops are led by it.

Those loops check no index. Two results that are not of one graph, as where a frame changed between
them, would have them write outside of arrays: an error is raised instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapids_tc._backend import Array, all_below
from rapids_tc.errors import KernelError


def require(right: bool, what: str) -> None:
    """Raise KernelError, saying what has arrived, unless it is right."""
    if not right:
        raise KernelError(
            f"{what} arrived at a worker, which tasks on one graph never send: the frame changed "
            "during the call, or workers differ in their version of a library. Call again with "
            "edges.persist(), and the same versions everywhere"
        )


def require_below(values: Array, limit: int, what: str) -> None:
    """Raise KernelError unless all of some integers lie in [0, limit)."""
    require(all_below(values, limit), f"{what} of {limit} or more")


def require_length(values: Sequence[object] | Array, length: int, what: str) -> None:
    """Raise KernelError unless there are so many values."""
    require(len(values) == length, f"{len(values)} {what} for {length}")
