"""What the CPU engine reads besides the rows of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import PivotRange
    from rapids_tc.preparation.csr import Array, Csr


@dataclass(frozen=True)
class CpuLayout:
    """What the CPU engine keeps of a graph, or of a task on blocks, between calls.

    Attributes
    ----------
    csr : Csr
        The graph, or block vw, whose rows N+(v) are marked.
    in_offsets : array of int64, shape (n + 1,)
        The in-edges of row ``v`` are ``in_edges[in_offsets[v]:in_offsets[v + 1]]``.
    in_edges : array of uint64
        For every u with v in N+(u), ascending: u's row in `walked` << 32 | its entries below v.
    probe_counts : array of int64, shape (n,)
        Probes of each pivot vertex.
    walked : Csr
        The graph, or block uw, whose rows N+(u) are walked.
    edges : Csr
        The graph, or block uv, that the in-edges are made of.
    pivot_range : tuple of int
        The pivot vertices that are counted, as columns of `edges`.
    shift : int
        From a column of `edges` to the row of the same vertex in `csr`.
    whole : bool
        Whether the three are one graph, not blocks.
    """

    csr: Csr
    in_offsets: Array
    in_edges: Array
    probe_counts: Array
    walked: Csr
    edges: Csr
    pivot_range: PivotRange
    shift: int
    whole: bool

    @property
    def graphs(self) -> tuple[Csr, ...]:
        """What edges are counted of: the graph, or the blocks uv, uw and vw."""
        return (self.csr,) if self.whole else (self.edges, self.walked, self.csr)
