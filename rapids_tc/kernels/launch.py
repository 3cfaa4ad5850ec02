"""The launches of a row of the catalogue: compiled, checked for size, and sliced for progress."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc.errors import KernelError
from rapids_tc.kernels import _nvrtc, _source

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc.kernels.method import (
        Array,
        Kernel,
        KernelEngine,
        KernelLayout,
        Launch,
        Method,
    )

THREADS = 256  # of a block, as in device.cuh
SLICES = 16  # of a kernel's work, if progress is shown
_RESIDENT, _MOST_BLOCKS = 2048, 32  # threads and blocks that a multiprocessor holds, at most
# Visitors of triangles for which blocks count at edges (v, w): of ``kSides`` or ``kMiddles``.
COUNTED = ("SpanEdgeCounts", "ThirdSums", "SideSums", "SideProducts")

read = functools.cache(_source.read)


def per_element(kernel: Kernel, size: int, *args: Any) -> None:
    """Launch a kernel with a thread per element, if there are any."""
    if size:
        kernel((-(-size // THREADS),), (THREADS,), args)


def resident_grid(
    engine: KernelEngine, kernel: Kernel, tasks: int, threads: int, shared: int, declared: int
) -> tuple[int]:
    """Return the grid of blocks that draw tasks: those that the GPU holds at once, if there are.

    `shared` is the dynamic shared memory of a block, in bytes, which the kernel may take from then
    on. `declared` is what the kernel declares itself, or more.
    """
    if shared + declared > engine.shared_limit:
        kernel.max_dynamic_shared_size_bytes = shared
    fitting = engine.most_shared // (shared + declared)
    per_sm = max(1, min(fitting, _RESIDENT // threads, _MOST_BLOCKS))
    return (min(tasks, engine.sm_count * per_sm),)


def together(kernel: Any, blocks: int, threads: int, args: tuple[Any, ...]) -> bool:
    """Launch a kernel whose blocks wait for each other; return False if the GPU cannot hold all.

    A single block waits for none: its launch is like any other.
    """
    if blocks == 1:
        kernel((1,), (threads,), args)
    elif hasattr(kernel, "kernel"):  # a cupy.RawKernel
        return _nvrtc.launch_cooperative(kernel.kernel, blocks, threads, args)
    else:
        kernel((blocks,), (threads,), args, enable_cooperative_groups=True)
    return True


def until_done(
    kernel: Any, blocks: int, threads: int, args: tuple[Any, ...],
    is_done: Callable[[list[int]], bool],
) -> bool:  # fmt: skip
    """Launch a kernel of `together` until its state says so, which is the last argument.

    `is_done` gets the words of the state after each launch. Return False if the GPU cannot hold all
    blocks.
    """
    while together(kernel, blocks, threads, args):
        if is_done(args[-1].tolist()):  # waits for the GPU
            return True
    return False


@dataclass(frozen=True)
class Payload:
    """What a visitor of ``triangles.cuh`` knows of edges.

    Attributes
    ----------
    fields : tuple
        The arrays and NumPy scalars of the visitor's ``Input``, behind its sums.
    words : int
        Words of shared memory for the counters of the visitor.
    """

    fields: tuple[Any, ...]
    words: int = 0

    def pack(self, out: Array) -> np.ndarray:
        """Return the ``Input`` of C with these sums, which a launch passes by value."""
        fields = [*map(_field, (out, *self.fields))]
        struct = np.dtype([(f"f{i}", one.dtype) for i, one in enumerate(fields)], align=True)
        return np.array(tuple(fields), struct)


@dataclass(frozen=True)
class KindStruct:
    """Which triangles count, as kernels are told.

    Attributes
    ----------
    struct : str
        The name of a struct of ``kinds.cuh`` or ``spans.cuh``.
    fields : tuple
        Its arrays and NumPy scalars.
    """

    struct: str
    fields: tuple[Any, ...]

    def pack(self) -> np.ndarray:
        """Return the struct of C, which a launch passes by value."""
        return Payload(self.fields[1:]).pack(self.fields[0])


ANY_TRIANGLE = KindStruct("AnyTriangle", (np.uint8(0),))  # a struct without fields has a byte


def _field(value: Any) -> np.generic:
    """Return a scalar or struct as it is, and the address of an array; None has none."""
    if value is None:
        return np.uint64(0)
    if isinstance(value, np.generic):
        return value
    assert value.flags.c_contiguous, "a kernel reads arrays without gaps"
    return np.uint64(value.data.ptr if hasattr(value.data, "ptr") else value.ctypes.data)


def run(
    engine: KernelEngine,
    layout: KernelLayout,
    method: Method,
    visit: str,
    out: Array,
    *,
    payload: Payload | None = None,
    with_hubs: bool = True,
    on_progress: Callable[[float], None] | None,
) -> None:
    """Launch every kernel of a method, its items in slices if progress is shown.

    Parameters
    ----------
    engine : CudaEngine
    layout : Layout
        A layout that the engine has made.
    method : Method
    visit : str
        The visitor of ``visit.cuh`` or ``triangles.cuh`` that the kernels are compiled for.
    out : array
        Zeros that the visitor adds to.
    payload : Payload, optional
        What the visitor knows of edges.
    with_hubs : bool
        Whether hubs are counted by bit rows, if the layout has these and the method reads them. If
        sides are counted, hubs are left out: ``hubs.cu`` has counted them.
    on_progress : callable, optional
        Called with the part of the work that is done, 0 to 1.

    Raises
    ------
    KernelError
        A launch needs more shared memory than the device has.
    """
    graph, xp = layout.csr, engine.xp
    if layout.bare and not method.bare:
        raise ValueError(f"method={method.name!r} needs a layout: engine.prepare makes it")
    if layout.blocks and not method.blocks:
        raise ValueError(f"method={method.name!r} counts whole graphs; on blocks, auto does")
    options = (f"-DRTC_VISIT={visit}", *["-DRTC_BLOCKS"] * bool(layout.blocks))
    hubs = layout.hubs if with_hubs and method.hubs and not payload else None
    options += (hubs.option,) if hubs else ()
    kernels = engine.compile(read(method.source), method.kernels, options)
    if method.driver is not None:
        method.driver(engine, layout, kernels, out, on_progress)
    slices = SLICES if on_progress else 1
    tickets = xp.zeros(len(method.launches) * slices, "uint32")
    arrays = (graph.offsets, graph.columns, layout.codes, layout.in_edges, layout.in_offsets)
    sums = out if payload is None else payload.pack(out)
    last_arguments = (sums, *[np.uint32(graph.m)] * bool(layout.blocks))
    last_arguments += hubs.arguments if hubs else ()
    for number, launch in enumerate(method.launches):
        items, size = launch.work(engine, layout)
        width, depth, shared = _shared(engine, layout, launch, visit, payload)
        words, blocks = launch.scratch(layout), -(-size // launch.drawn)
        most = min(blocks, engine.sm_count * launch.blocks_per_sm)
        most = min(most, max(1, layout.capacities.scratch // words)) if words else most
        scratch = xp.zeros(words * most, "uint32") if words else tickets[:0]  # zeros take 10 us
        for at in range(number * slices, (number + 1) * slices):
            part = at - number * slices
            first, last = size * part // slices, size * (part + 1) // slices
            if first < last:
                grid = (min(-(-(last - first) // launch.drawn), most),)
                drawn = (items, np.uint32(first), np.uint32(last))
                sizes, ticket = (width, depth), tickets[at : at + 1]
                args = (*arrays, *drawn, *sizes, scratch, ticket, *last_arguments)
                kernels[launch.kernel](grid, (launch.threads,), args, shared_mem=shared)
            if on_progress:
                engine.wait()
                on_progress((at + 1) / len(tickets))


def _shared(
    engine: KernelEngine,
    layout: KernelLayout,
    launch: Launch,
    visit: str,
    payload: Payload | None = None,
) -> tuple[np.uint32, np.uint32, int]:
    """Return width, depth and bytes of dynamic shared memory of a launch."""
    width, depth = launch.width(layout), launch.depth(layout)
    sides = payload is None or visit.startswith(COUNTED)
    need = launch.words(width, depth if sides else 0, bool(payload) or visit == "EdgeCounts")
    need = 4 * (need + (payload.words if payload else 0))
    if need + 64 > engine.shared_limit:  # 64: shared memory that kernels declare themselves
        raise KernelError(
            f"{launch.kernel} needs {need:,} bytes of shared memory per block, of "
            f"{engine.shared_limit:,}: lower {layout.capacities}"
        )
    return np.uint32(width), np.uint32(depth), need
