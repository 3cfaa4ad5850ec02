"""The CUDA engine: kernels on CuPy arrays of a GPU, or on NumPy arrays in the emulator."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines.gpu import (
    block_layout,
    changes,
    cliques,
    community_levels,
    device_slots,
    grouping,
    hubs,
    id_table,
    keys,
    listing,
    look_up,
    pairs,
    similar,
    small,
    visitors,
    wedges,
)
from rapids_tc.engines.gpu.as_of import as_of, keep_rows
from rapids_tc.engines.gpu.bitruss import CudaBitruss
from rapids_tc.engines.gpu.layout import CHUNK, Blocks, GpuLayout
from rapids_tc.engines.gpu.truss import CudaPeeler
from rapids_tc.engines.host import host_free, host_memory
from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.kernels import _nvrtc, catalogue, launch
from rapids_tc.kernels.method import Capacities, Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rapids_tc.engines.protocol import Kind, PivotRange, ProgressCallback
    from rapids_tc.preparation.csr import Array, Csr

# Kernels number them in 32 bits.
_MOST_EDGES = keys.MOST_EDGES
_STEPS = (
    "count_ends",
    "count_present",
    "row_words",
    "pack_in_edges",
    "find_in_edges",
    "describe_in_edges",
    "heavy_tasks",
    "light_tasks",
    "list_rows",
)


@dataclass(frozen=True)
class CudaEngine:
    """The engine of CUDA kernels, on a GPU or on the emulator.

    Attributes
    ----------
    xp : module
        CuPy or NumPy.
    compile : callable
        (source, names, options) to a mapping of kernels, called in CuPy's form.
    sm_count : int
        Multiprocessors, by which grids are sized.
    shared_limit : int
        Bytes of shared memory that a block may use.
    most_shared : int
        Bytes of shared memory that a block may use if its kernel asks for so many.
    device : callable
        The context in which an array's device is the current one.
    wait : callable
        A function that returns when all that was launched is done.
    memory : callable
        Bytes of memory of the device.
    free : callable
        How many of these bytes may be taken.
    copies : callable
        Copies between host and device that run beside kernels.
    capacities : Capacities
        Sizes of the layouts that are prepared; tests make them small.
    """

    xp: Any
    compile: Callable[..., Mapping[str, Kernel]]
    sm_count: int = 2
    shared_limit: int = 48 * 1024
    most_shared: int = 48 * 1024
    device: Callable[[Array], AbstractContextManager[Any]] = lambda array: nullcontext()
    wait: Callable[[], None] = lambda: None
    memory: Callable[[], int] = host_memory
    free: Callable[[], int] = host_free
    copies: Callable[[], Any] = device_slots.HostCopies
    capacities: Capacities = field(default_factory=Capacities)

    degrees = keys.degrees
    csr = keys.csr
    csr_of_rows = keys.csr_of_rows
    scan = keys.scan
    small_graph = small.graph

    def prepare(self, csr: Csr, pivot_range: PivotRange | None = None) -> GpuLayout:
        """Make the layout of a graph: 10 bytes per edge besides the CSR, 17 at the peak.

        Bit rows of a large graph take 4 more at most; of R-MAT graphs they take 0.25.
        """
        m = csr.m
        if m >= _MOST_EDGES:
            raise CapacityError(
                f"{m:,} edges: one GPU takes fewer than {_MOST_EDGES:,}; {keys.IN_BLOCKS}"
            )
        with self.device(csr.columns):
            if pivot_range is None and m >= max(1, self.capacities.grouped_from):
                in_edges, in_offsets, probes = grouping.group(self, csr)
            else:
                packed = block_layout.group(self, csr, pivot_range)
                in_edges, in_offsets, probes = grouping.describe(self, csr, packed)
            codes = self.empty_codes(m)
            block_layout.write_codes(self, csr.columns, codes)
            return self.layout(csr, codes, in_edges, in_offsets, probes, with_hubs=True)

    def bare(self, csr: Csr, method: str, *, sides: bool = False) -> GpuLayout | None:
        """Return the graph without a layout; None if a layout is needed, or pays."""
        is_small = method == "auto" and keys.is_small(self, csr.m, csr.n)
        needs_none = is_small if sides else catalogue.needs_no_layout(method, csr)
        if csr.m >= _MOST_EDGES or not needs_none:
            return None
        codes, in_edges = self.empty_codes(0), self.xp.empty(0, "uint64")
        none = self.xp.empty(0, "uint32")
        return GpuLayout(csr, codes, in_edges, none, none, none, self.capacities, bare=True)

    def empty_codes(self, size: int) -> Array:
        """Make an array for `GpuLayout.codes`: kernels read whole chunks of 16 bytes, codes all."""
        return self.xp.zeros(-(-size // CHUNK) * CHUNK, "uint16")[:size]

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
        """Make a layout, its tasks from the probes of every pivot vertex.

        `with_hubs`: rows have bits, if the graph is large.
        """
        listing = hubs.listing(self, csr) if with_hubs else []
        heavy, light, *rows = self._tasks(csr, len(in_edges), in_offsets, probes, listing)
        by_bits = hubs.hub_rows(self, csr, rows[0]) if rows else None
        tasks, sizes = (heavy, light), self.capacities
        return GpuLayout(csr, codes, in_edges, in_offsets, *tasks, sizes, blocks, hubs=by_bits)

    to_csc = block_layout.to_csc
    csc = block_layout.csc
    prepare_blocks = block_layout.prepare_blocks
    probe_counts = block_layout.probe_counts
    sum_counts = block_layout.sum_counts
    split = block_layout.split
    costs = device_slots.COSTS
    block_store = device_slots.block_store
    slot_pool = device_slots.slot_pool

    def count(
        self,
        layout: GpuLayout,
        *,
        method: str = "auto",
        on_progress: ProgressCallback | None = None,
    ) -> int:
        """Count the triangles of the graph, or the triangles of a task."""
        with self.device(layout.csr.columns):
            total = self.xp.zeros(1, "uint64")
            if method == "auto" and (layout.bare or layout.complete):
                method = catalogue.fastest(layout.csr, bare=layout.bare)
            launch.run(
                self, layout, catalogue.find(method), "Total", total, on_progress=on_progress
            )
            return int(total[0])

    def edge_counts(
        self,
        layout: GpuLayout,
        *,
        method: str = "auto",
        on_progress: ProgressCallback | None = None,
    ) -> Any:
        """Count the triangles of every oriented edge: uint32, aligned with ``csr.columns``."""
        row, blocks = catalogue.find(method, returns="edges"), layout.blocks
        with self.device(layout.csr.columns):
            counts = self.xp.zeros(block_layout.positions_of(layout), "uint32")
            if layout.bare:
                keys.count_sides(self, layout.csr, counts)
            else:
                with_hubs = row.hubs and hubs.add_edge_counts(self, layout, counts)
                launch.run(
                    self, layout, row, "EdgeCounts", counts,
                    with_hubs=with_hubs, on_progress=on_progress,
                )  # fmt: skip
            return block_layout.apart(self, blocks, counts) if blocks else counts

    visit = visitors.visit
    neighbors = pairs.neighbors
    common_sums = pairs.common_sums
    prepare_ends = similar.prepare_ends
    most_similar = similar.most_similar
    count_pairs = similar.count_pairs
    list_pairs = similar.list_pairs
    join_triangles = visitors.join_triangles
    join_ends = visitors.join_ends
    join_levels = community_levels.join_levels
    triangles_per_in_edge = listing.triangles_per_in_edge
    list_triangles = listing.list_triangles
    kind_test = visitors.kind_test
    cliques = cliques.count
    prepare_wedges = wedges.prepare_wedges
    squares = wedges.squares

    def bitruss(
        self,
        wedges: Any,
        squares: Array,
        memory: int,
        *,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Find the bitruss number of every oriented edge: int32, aligned with ``csr.columns``."""
        with self.device(squares):
            peeler = CudaBitruss(self.xp, self.compile, self.sm_count)
            return peeler.decompose(wedges, squares, memory, on_progress=on_progress)

    def truss(
        self,
        layout: GpuLayout,
        counts: Array,
        *,
        k: int | None = None,
        levels: tuple[int, int] | None = None,
        kind: Kind | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Find the trussness of every oriented edge; with `k`, k in the k-truss, less elsewhere."""
        with self.device(counts):
            which = visitors.kind_of(self, layout, kind)
            peeler = CudaPeeler(self.xp, self.compile, self.sm_count, kind=which)
            return peeler.decompose(layout.csr, counts, k, on_progress, levels=levels)

    as_of = as_of
    keep_rows = keep_rows
    find_edges = look_up.find_edges
    take = look_up.take
    row_values = look_up.row_values
    rank_finder = id_table.rank_finder
    number_ids = id_table.number_ids
    find_slots = changes.find_slots
    add_changes = changes.add_changes
    settle = changes.settle

    def rows(self, csr: Csr, least: int, most: int) -> tuple[Array, int]:
        """List the rows of `least` to `most` entries, and count them."""
        arguments = (csr.offsets, np.uint64(csr.n), np.int64(least), np.int64(most))
        return self.listed(self._steps["list_rows"], csr.n, *arguments)

    def listed(
        self, kernel: Kernel, size: int, *arguments: Any, words: int = 1
    ) -> tuple[Array, int]:
        """Return what a kernel lists of `size` elements, and how many: the first run counts."""
        [items] = self._lists([(kernel, arguments, words)], size)
        return items, len(items) // words

    def _lists(self, kernels: Sequence[hubs.Listing], size: int) -> list[Array]:
        """Return what each kernel lists of `size` elements: its arguments, and words per item."""
        xp, counts = self.xp, self.xp.zeros(2 * len(kernels), "uint32")
        lengths = [0] * len(kernels)
        for again in (0, 1):  # the first runs, without room, count; the host waits once for all
            lists = []
            for place, (kernel, arguments, words) in enumerate(kernels):
                items, count = xp.empty(words * lengths[place], "uint32"), 2 * place + again
                if lengths[place] or not again:
                    args = (*arguments, np.uint32(lengths[place]), counts[count : count + 1], items)
                    launch.per_element(kernel, size, *args)
                lists.append(items)
            lengths = counts[::2].tolist() if size and not again else lengths
        return lists

    def _tasks(
        self,
        csr: Csr,
        edges: int,
        in_offsets: Array,
        probes: Array,
        more: Sequence[hubs.Listing],
    ) -> list[Array]:
        """Make the tasks of thread blocks and of warps for ``bitmap.cu``, and more lists."""
        sizes = self.capacities.fitted(edges, self.sm_count)
        costs = map(np.uint64, (csr.n, sizes.list_cost, sizes.heavy_from))
        arguments = (csr.offsets, in_offsets, probes, *costs)
        heavy, light = (self._steps[name] for name in ("heavy_tasks", "light_tasks"))
        runs = (np.uint64(sizes.entry_cost), np.uint64(sizes.run))
        of_blocks = (heavy, (*arguments, np.uint64(sizes.piece)), 4)
        of_warps = (light, (*arguments, *runs), 2)
        return self._lists([of_blocks, of_warps, *more], csr.n)

    @property
    def _steps(self) -> Mapping[str, Kernel]:
        """The kernels of ``prepare.cu``."""
        return self.compile(launch.read("prepare.cu"), _STEPS, ())

    def step(self, kernel: str, size: int, *arguments: Any) -> None:
        """Launch a kernel of ``prepare.cu`` with a thread per element."""
        launch.per_element(self._steps[kernel], size, *arguments)


def engine() -> CudaEngine:
    """Return the engine of the current device.

    Raises
    ------
    KernelError
        There is no CuPy or no GPU.
    """
    try:
        import cupy
    except ImportError as error:
        raise KernelError(
            'engine="cuda" needs CuPy: pip install "rapids_tc[cu13]" (or [cu12])'
        ) from error
    try:
        return _engine(cupy.cuda.Device().id)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise KernelError(f'engine="cuda" needs an NVIDIA GPU and its driver: {error}') from error


@functools.cache
def _engine(device: int) -> CudaEngine:
    """Make the engine of a device, once in a process."""
    import cupy

    def attribute(name: str) -> int:
        number = getattr(cupy.cuda.runtime, f"cudaDevAttr{name}")
        return int(cupy.cuda.runtime.deviceGetAttribute(number, device))

    return CudaEngine(
        xp=cupy,
        compile=_nvrtc.compile,
        sm_count=attribute("MultiProcessorCount"),
        shared_limit=attribute("MaxSharedMemoryPerBlock"),
        most_shared=attribute("MaxSharedMemoryPerBlockOptin"),
        device=lambda array: array.device,
        wait=lambda: cupy.cuda.get_current_stream().synchronize(),
        memory=lambda: int(cupy.cuda.Device(device).mem_info[1]),
        free=lambda: device_slots.free_memory(cupy, device),
        copies=lambda: device_slots.CardCopies(cupy),
    )
