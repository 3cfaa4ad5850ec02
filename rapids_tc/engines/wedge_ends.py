"""The wedges that begin at some vertices, which both engines add up by their other ends.

A *wedge* u - v - w has two ends, u and w, and a middle v: there are as many wedges between u and w
as they have neighbors in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rapids_tc.preparation.csr import Array, Csr

MOST_DEGREE = 2**31 - 1  # no vertex has more neighbors on a GPU


@dataclass(frozen=True)
class WedgeEnds:
    """The wedges that begin at some vertices.

    Attributes
    ----------
    rows : Csr
        All neighbors of every rank, ascending.
    asked : array of integers
        The ranks at which wedges begin.
    work : array of int64
        The wedges that begin at each of these.
    most_degree : int
        Middles of more neighbors are left out.
    values : array of int64, or None
        By rank: what a middle adds to a sum. If there are none, middles are counted.
    """

    rows: Csr
    asked: Array
    work: Array
    most_degree: int
    values: Array | None
