"""What the kernels of ``kernels/cuda/`` read."""

from __future__ import annotations

from dataclasses import dataclass

from rapids_tc.kernels.method import Capacities
from rapids_tc.preparation.csr import Array, Csr


@dataclass(frozen=True)
class SlotView(Csr):
    """A block in a room for several, so that kernels find two of them in one array.

    Attributes
    ----------
    all_columns : array of uint32
        Of the room; `columns` are a part of it.
    all_codes : array of uint16
        Their codes, as `Layout.codes` has them.
    at : int
        Where that part starts: a multiple of eight.
    """

    all_columns: Array
    all_codes: Array
    at: int


@dataclass(frozen=True)
class Blocks:
    """What a layout of blocks is made of, to tell edges apart.

    Attributes
    ----------
    uv : Csr
    packed : array of uint64
        Its edges v << 32 | row, ascending: those of the middle vertices that are counted.
    uw, vw : slice
        Their columns among those of the layout.
    """

    uv: Csr
    packed: Array
    uw: slice
    vw: slice


@dataclass(frozen=True)
class Layout:
    """What kernels read besides the CSR, made once for a graph by `CudaEngine.prepare`.

    Attributes
    ----------
    csr : Csr
    codes : array of uint16, shape (m,)
        ``csr.columns`` as codes in a map of ``Capacities.bits`` bits, see ``device.cuh``.
    in_edges : array of uint64, shape (m,)
        For v, every u with v in N+(u): start of N+(u) << 32 | its entries below v.
    in_offsets : array of uint32, shape (n + 1,)
        v's in-edges are ``in_edges[in_offsets[v]:in_offsets[v + 1]]``.
    heavy : array of uint32, shape (4 * tasks,)
        Blocks' tasks: v, first and last in-edge, log2 of the lanes a list.
    light : array of uint32, shape (2 * runs,)
        Warps' tasks: the first of some vertices that are numbered in turn, and how many.
    capacities : Capacities
        With which the rest was made, and kernels are launched.
    blocks : Blocks, optional
        Of a task on blocks; then `csr` has the rows of v, and its columns those of u before them.
    """

    csr: Csr
    codes: Array
    in_edges: Array
    in_offsets: Array
    heavy: Array
    light: Array
    capacities: Capacities
    blocks: Blocks | None = None

    @property
    def whole(self) -> bool:
        """Whether it has all in-edges of a whole graph, so that any method counts it."""
        return self.blocks is None and len(self.in_edges) == self.csr.m
