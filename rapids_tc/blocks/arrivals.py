"""Check the arrays that a worker receives from others, before compiled loops index with them.

Compiled loops check no index. If a frame changes between two tasks, their results belong to
different graphs, and a loop could write outside of its arrays. These checks raise an error instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.errors import KernelError
from rapids_tc.frames.backend import Array, all_below

if TYPE_CHECKING:
    from collections.abc import Sequence


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
