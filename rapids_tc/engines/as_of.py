"""What a row forms with earlier rows of a window of time, as both engines count it.

Rows are in the order of time. The window of row i are the rows ``first[i]`` to i - 1: *earlier*
rows. Self loops are in no window, and form nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rapids_tc._typing import Array

FANS = ("u_out", "u_in", "v_out", "v_in")
DISTINCT = tuple(f"{name}_distinct" for name in FANS)
PAIRS = ("pair_repeats", "pair_reversed")
TRIANGLES = (
    "triangles_closed",
    "closed_cycle",
    "closed_middle",
    "closed_in",
    "closed_out",
    "cycles_closed",
)
SQUARES = ("scatter_gather",)
COLUMNS = (*FANS, *DISTINCT, *PAIRS, *TRIANGLES, *SQUARES)  # kernels number them in this order


@dataclass(frozen=True)
class TimedRows:
    """Rows in the order of time.

    Attributes
    ----------
    src, dst : array of uint32
        The vertices of each row, below `n`.
    first : array of uint32
        Where the window of each row begins; ascending.
    n : int
        The number of vertices.
    """

    src: Array
    dst: Array
    first: Array
    n: int

    def __len__(self) -> int:
        return len(self.src)

    def until(self, end: int) -> TimedRows:
        """Return the rows before `end`."""
        return TimedRows(self.src[:end], self.dst[:end], self.first[:end], self.n)
