"""What the kernels of ``kernels/cuda/`` read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rapids_tc.kernels.method import Capacities, KernelEngine
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

CHUNK = 8  # codes that a kernel loads at once, as in chunks.cuh


@dataclass(frozen=True)
class SlotView(Csr):
    """A block in a slot of a pool, whose arrays kernels read together with other slots'.

    Attributes
    ----------
    all_columns : array of uint32
        The columns of all slots; `columns` is a part of it.
    all_codes : array of uint16
        Codes of `all_columns`: see `GpuLayout.codes`.
    at : int
        The first position of that part: a multiple of `CHUNK`.
    """

    all_columns: Array
    all_codes: Array
    at: int


@dataclass(frozen=True)
class Blocks:
    """The blocks that a layout is made of, by which edges are told apart.

    Attributes
    ----------
    uv : Csr
    packed : array of uint64
        The edges of uv as v << 32 | row, ascending, for the pivot vertices that are counted.
    uw, vw : slice
        The columns of these blocks among the columns of the layout.
    shift : int
        From a column of uv to the row of the same vertex in vw.
    """

    uv: Csr
    packed: Array
    uw: slice
    vw: slice
    shift: int


@dataclass(frozen=True)
class HubRows:
    """The rows that keep their hubs as bits: see ``hubs.cuh``.

    Attributes
    ----------
    hubs : int
        The number of hubs, which are the first ranks: bits of a row.
    least : int
        The hubs that a row has at least, a power of two.
    rows : array of uint32, shape (rows,)
        The ranks of the rows, in no order to be relied on.
    bits : array of uint32, shape ((rows + 1) * hubs / 32,)
        Bit w of a row is set if the row has hub w. The last row is zero.
    places : array of uint32, shape (m / least + 1,)
        For every `least` positions, the number of the bit row whose row starts there, and where.
    covered : array of uint32, shape (rows,)
        The hubs of each row.
    """

    hubs: int
    least: int
    rows: Array
    bits: Array
    places: Array
    covered: Array

    @property
    def option(self) -> str:
        """The macro by which kernels are compiled for these rows."""
        return f"-DRTC_HUBS={self.hubs}"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of kernels that read these rows."""
        grain = self.least.bit_length() - 1
        sizes = np.uint32(len(self.rows)), np.uint32(grain)
        return self.bits, self.places, self.covered, *sizes


@dataclass(frozen=True)
class GpuLayout:
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
        Tasks of thread blocks: v, first and last in-edge, log2 of the lanes per list.
    light : array of uint32, shape (2 * runs,)
        Tasks of warps: the first of some vertices of consecutive numbers, and how many.
    capacities : Capacities
        The sizes with which the layout was made, and with which kernels are launched.
    blocks : Blocks, optional
        The blocks of a task; then `csr` has the rows of v, and its columns include u's columns.
    bare : bool
        Whether nothing but the CSR is there: methods that read no more count it.
    hubs : HubRows, optional
        The rows that keep their hubs as bits, in a large graph.
    """

    csr: Csr
    codes: Array
    in_edges: Array
    in_offsets: Array
    heavy: Array
    light: Array
    capacities: Capacities
    blocks: Blocks | None = None
    bare: bool = False
    hubs: HubRows | None = None

    @property
    def whole(self) -> bool:
        """Whether the layout is made of a graph, not of blocks."""
        return self.blocks is None

    @property
    def complete(self) -> bool:
        """Whether all in-edges of a graph are there, so that any method counts it."""
        return self.whole and not self.bare and len(self.in_edges) == self.csr.m


class GpuEngine(KernelEngine, Protocol):
    """`rapids_tc.engines.gpu.cuda.CudaEngine`, for the modules that its methods are in."""

    @property
    def device(self) -> Callable[[Array], AbstractContextManager[Any]]:
        """A function to the context in which the device of an array is the current one."""

    @property
    def copies(self) -> Callable[[], Any]:
        """A function that makes a stream of copies."""

    @property
    def most_shared(self) -> int:
        """The bytes of shared memory that a block may use if its kernel asks for so many."""

    @property
    def capacities(self) -> Capacities:
        """The sizes with which layouts are made."""

    def empty_codes(self, size: int) -> Array:
        """Make an array for `GpuLayout.codes`."""

    def csc(self, csr: Csr) -> tuple[Array, Array, Array]:
        """Return the CSC of a graph."""

    def layout(
        self,
        csr: Csr,
        codes: Array,
        in_edges: Array,
        in_offsets: Array,
        probes: Array,
        *,
        blocks: Blocks | None = None,
        with_hubs: bool = False,
    ) -> GpuLayout:
        """Make a layout, its tasks from the probes of every pivot vertex."""

    def step(self, kernel: str, size: int, *arguments: Any) -> None:
        """Launch a kernel of ``prepare.cu`` with a thread per element."""

    def scan(self, counts: Array, size: int) -> None:
        """Turn `size` counts into the sums of the counts before them, and of all at the end."""
