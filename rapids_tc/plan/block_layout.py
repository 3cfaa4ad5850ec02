"""A layout of blocks that is given, in place of the one that plans would choose.

Tests and benchmarks cut small graphs with it as only large graphs are cut.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class BlockLayout:
    """How a graph is cut in blocks.

    Attributes
    ----------
    n : int
        Blocks a side. On one machine even one block is kept outside of memory.
    m : int
        Parts of a task, on a cluster.
    peel_below : int or None
        With fewer edges, what remains of a graph is peeled in memory; None leaves it to the plan.
    ranges : int
        Ranges in which ids are ranked, on a cluster.
    memory : int
        Bytes that the call may take, which is far more than small graphs need.
    """

    n: int
    m: int = 1
    peel_below: int | None = None
    ranges: int = 1
    memory: int = 1 << 30


# The layout that calls must use; None if they choose.
forced_layout: ContextVar[BlockLayout | None] = ContextVar("forced_layout", default=None)


@contextmanager
def use_layout(layout: BlockLayout) -> Iterator[None]:
    """Have the calls of this block use a layout."""
    token = forced_layout.set(layout)
    try:
        yield
    finally:
        forced_layout.reset(token)
