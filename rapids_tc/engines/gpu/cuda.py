"""The CUDA engine: kernels on CuPy arrays of a GPU, or on NumPy arrays in the emulator."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.engines import peel
from rapids_tc.engines.gpu import block_layout, device_slots, hubs, listing, look_up, visitors
from rapids_tc.engines.gpu.layout import CHUNK, Blocks, HubRows, Layout
from rapids_tc.engines.gpu.truss import CudaPeeler
from rapids_tc.engines.host import host_free, host_memory
from rapids_tc.errors import CapacityError, KernelError, require_unchanged
from rapids_tc.frames.backend import as_uint32
from rapids_tc.kernels import _nvrtc, catalogue, launch
from rapids_tc.kernels.method import Capacities, Kernel
from rapids_tc.plan import costs as model
from rapids_tc.preparation.csr import Array, Csr

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rapids_tc.engines.protocol import PivotRange, ProgressCallback

_THREADS, _SCAN_THREADS, _EXPAND_EACH = 256, 1024, 8  # as in tile.cuh and prepare.cu
# Kernels number them in 32 bits.
_MOST_EDGES, _MOST_RANKS = model.MOST_GRAPH_ROWS["cuda"], model.MOST_GPU_RANKS
_MOST_POSITIONS = model.MOST_POSITIONS["cuda"]
_IN_BLOCKS = "a function that is given the frame itself and memory_limit= counts more, in blocks"
_STEPS = (
    "count_ends",
    "count_present",
    "mark_kept",
    "scan_counts",
    "write_columns",
    "write_offsets",
    "pack_in_edges",
    "find_in_edges",
    "expand_rows",
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
    device: Callable[[Array], AbstractContextManager[Any]] = lambda array: nullcontext()
    wait: Callable[[], None] = lambda: None
    memory: Callable[[], int] = host_memory
    free: Callable[[], int] = host_free
    copies: Callable[[], Any] = device_slots.HostCopies
    capacities: Capacities = field(default_factory=Capacities)

    def degrees(self, src: Array, dst: Array, size: int) -> tuple[Array, int]:
        """Count how often each number below `size` stands in either array, and how many do."""
        with self.device(src):
            degree, counts = self.xp.zeros(size, "uint32"), self.xp.zeros(2, "uint32")
            for ends in (src, dst):
                array = (as_uint32(ends), np.uint64(len(ends)))
                self.step("count_ends", len(ends), *array, degree, np.uint64(size), counts[1:])
            self.step("count_present", size, degree, np.uint64(size), counts)
            present, outside = counts.tolist()
            require_unchanged(outside)
            return degree, present

    def csr(self, keys: Array, n: int) -> Csr:
        """Build the CSR of `n` ranks from packed keys, larger rank << 32 | smaller rank.

        The keys are sorted in place; repeats and loops are dropped. Beside the sort this takes
        4 bytes per edge, 8 per rank and a quarter of a byte per key.
        """
        xp, size = self.xp, len(keys)
        if size >= _MOST_EDGES or n >= _MOST_RANKS:
            raise CapacityError(
                f"{size:,} rows over {n:,} vertices: one GPU takes fewer than "
                f"{_MOST_EDGES:,} rows and {_MOST_RANKS:,} vertices; {_IN_BLOCKS}"
            )
        with self.device(keys):
            keys.sort()
            blocks = _blocks(size)
            kept = xp.empty(-(-size // 32), "uint32")
            counts = xp.zeros(blocks + 2, "uint32")  # the last two: keys kept, and keys outside
            if size:
                arrays = (kept, counts, counts[-1:])
                self.step("mark_kept", size, keys, np.uint64(size), np.uint64(n), *arrays)
                scan = self._steps["scan_counts"]
                scan((1,), (_SCAN_THREADS,), (counts, np.uint32(blocks)))
            m, outside = counts[-2:].tolist()
            require_unchanged(outside)
            columns = xp.empty(m, "uint32")
            offsets = xp.empty(n + 1, "int64")
            marked = (keys, np.uint64(size), kept, counts)
            self.step("write_columns", size, *marked, columns)
            self.step("write_offsets", n + 1, *marked, np.uint64(n), offsets)
            return Csr(offsets, columns)

    def prepare(self, csr: Csr, pivot_range: PivotRange | None = None) -> Layout:
        """Make the layout of a graph: 14 bytes per edge besides the CSR, 20 at the peak."""
        xp, n, m = self.xp, csr.n, csr.m
        if m >= _MOST_EDGES:
            raise CapacityError(
                f"{m:,} edges: one GPU takes fewer than {_MOST_EDGES:,}; {_IN_BLOCKS}"
            )
        with self.device(csr.columns):
            packed = block_layout.group(self, csr, pivot_range)
            size, in_offsets = np.uint64(len(packed)), xp.empty(n + 1, "uint32")
            self.step("find_in_edges", n + 1, packed, size, np.uint64(n), in_offsets)
            codes, probes = self.empty_codes(m), xp.zeros(n, "uint64")
            starts = self.expand(csr, codes)
            self.step("describe_in_edges", len(packed), packed, starts, size, probes)
            del starts
            by_bits = hubs.hub_rows(self, csr)
            return self.layout(csr, codes, packed, in_offsets, probes, hubs=by_bits)

    def bare(self, csr: Csr, method: str) -> Layout | None:
        """Return the graph without a layout; None if a layout is needed, or pays."""
        if csr.m >= _MOST_EDGES or not catalogue.needs_no_layout(method, csr):
            return None
        codes, in_edges = self.empty_codes(0), self.xp.empty(0, "uint64")
        none = self.xp.empty(0, "uint32")
        return Layout(csr, codes, in_edges, none, none, none, self.capacities, bare=True)

    def empty_codes(self, size: int) -> Array:
        """Make an array for `Layout.codes`: kernels read whole chunks of 16 bytes, codes all."""
        return self.xp.zeros(-(-size // CHUNK) * CHUNK, "uint16")[:size]

    def expand(self, csr: Csr, codes: Array) -> Array:
        """Write the codes; return where the row of every edge starts: uint32."""
        starts, m = self.xp.empty(csr.m, "uint32"), np.uint64(csr.m)
        rows, bits = (csr.offsets, csr.columns, np.uint64(csr.n), m), self.capacities.bits
        size = -(-csr.m // _EXPAND_EACH)
        self.step("expand_rows", size, *rows, np.uint32(bits), codes, starts)
        return starts

    def layout(
        self,
        csr: Csr,
        codes: Array,
        in_edges: Array,
        in_offsets: Array,
        probes: Array,
        *,
        blocks: Blocks | None = None,
        hubs: HubRows | None = None,
    ) -> Layout:
        """Make a layout, its tasks from the probes of every middle vertex."""
        tasks = self._tasks(csr, len(in_edges), in_offsets, probes)
        sizes = self.capacities
        return Layout(csr, codes, in_edges, in_offsets, *tasks, sizes, blocks, hubs=hubs)

    to_csc = block_layout.to_csc
    prepare_blocks = block_layout.prepare_blocks
    probe_counts = block_layout.probe_counts
    sum_counts = block_layout.sum_counts
    split = block_layout.split
    costs = device_slots.COSTS
    block_store = device_slots.block_store
    slot_pool = device_slots.slot_pool

    def count(
        self, layout: Layout, *, method: str = "auto", on_progress: ProgressCallback | None = None
    ) -> int:
        """Count the triangles of the graph, or the triangles of a task."""
        with self.device(layout.csr.columns):
            total = self.xp.zeros(1, "uint64")
            if method == "auto" and (layout.bare or layout.whole):
                method = catalogue.fastest(layout.csr, bare=layout.bare)
            launch.run(
                self, layout, catalogue.find(method), "Total", total, on_progress=on_progress
            )
            return int(total[0])

    def edge_counts(
        self,
        layout: Layout,
        *,
        method: str = "auto",
        spans: Any = None,
        on_progress: ProgressCallback | None = None,
    ) -> Any:
        """Count the triangles of every oriented edge: uint32, aligned with ``csr.columns``."""
        row, blocks = catalogue.find(method, returns="edges"), layout.blocks
        with self.device(layout.csr.columns):
            size = layout.csr.m + (len(layout.in_edges) if blocks else 0)
            if size >= _MOST_POSITIONS:
                raise CapacityError(f"three blocks of {size:,} edges: cut the graph in more blocks")
            counts = self.xp.zeros(size, "uint32")
            if spans is None:
                with_hubs = row.hubs and hubs.add_edge_counts(self, layout, counts)
                launch.run(
                    self, layout, row, "EdgeCounts", counts,
                    with_hubs=with_hubs, on_progress=on_progress,
                )  # fmt: skip
            else:
                visitors.span_edge_counts(self, layout, counts, spans, on_progress=on_progress)
            return block_layout.apart(self, blocks, counts) if blocks else counts

    type_counts = visitors.type_counts
    window_changes = visitors.window_changes
    triangles_per_in_edge = listing.triangles_per_in_edge
    list_triangles = listing.list_triangles
    vertex_sums = listing.vertex_sums

    def truss(
        self,
        layout: Layout,
        counts: Array,
        *,
        k: int | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Array:
        """Find the trussness of every oriented edge; with `k`, k in the k-truss, less elsewhere."""
        with self.device(counts):
            peeler = CudaPeeler(self.xp, self.compile, self.sm_count)
            return peel.decompose(peeler, layout.csr, counts, k, on_progress)

    find_edges = look_up.find_edges
    take = look_up.take

    def rows(self, csr: Csr, least: int, most: int) -> tuple[Array, int]:
        """List the rows of `least` to `most` entries, and count them."""
        arguments = (csr.offsets, np.uint64(csr.n), np.int64(least), np.int64(most))
        return self.listed(self._steps["list_rows"], csr.n, *arguments)

    def listed(
        self, kernel: Kernel, size: int, *arguments: Any, words: int = 1
    ) -> tuple[Array, int]:
        """Return what a kernel lists of `size` elements, and how many: the first run counts."""

        def fill(capacity: int) -> tuple[Array, Array]:
            count, items = self.xp.zeros(1, "uint32"), self.xp.empty(words * capacity, "uint32")
            if size:
                args = (*arguments, np.uint32(capacity), count, items)
                kernel((_blocks(size),), (_THREADS,), args)
            return count, items

        length = int(fill(0)[0][0])
        return fill(length)[1], length

    def _tasks(self, csr: Csr, edges: int, in_offsets: Array, probes: Array) -> tuple[Array, Array]:
        """Make the tasks of thread blocks and of warps for ``bitmap.cu``."""
        sizes = self.capacities.fitted(edges, self.sm_count)
        costs = map(np.uint64, (csr.n, sizes.list_cost, sizes.heavy_from))
        arguments = (csr.offsets, in_offsets, probes, *costs)
        heavy, light = (self._steps[name] for name in ("heavy_tasks", "light_tasks"))
        runs = (np.uint64(sizes.entry_cost), np.uint64(sizes.run))
        return (
            self.listed(heavy, csr.n, *arguments, np.uint64(sizes.piece), words=4)[0],
            self.listed(light, csr.n, *arguments, *runs, words=2)[0],
        )

    @property
    def _steps(self) -> Mapping[str, Kernel]:
        """The kernels of ``prepare.cu``."""
        return self.compile(launch.read("prepare.cu"), _STEPS, ())

    def step(self, kernel: str, size: int, *arguments: Any) -> None:
        """Launch a kernel of ``prepare.cu`` with a thread per element."""
        if size:
            self._steps[kernel]((_blocks(size),), (_THREADS,), arguments)


def _blocks(size: int) -> int:
    """Return the thread blocks of so many elements, a thread per element."""
    return -(-size // _THREADS)


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
        device=lambda array: array.device,
        wait=lambda: cupy.cuda.get_current_stream().synchronize(),
        memory=lambda: int(cupy.cuda.Device(device).mem_info[1]),
        free=lambda: device_slots.free_memory(cupy, device),
        copies=lambda: device_slots.CardCopies(cupy),
    )
