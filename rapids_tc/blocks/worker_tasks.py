"""What the machines of a cluster do: plain functions over the arrays and frames that each has.

The first argument is always the `Site`; whoever calls, Dask or a test, gives the others as values.
Results that travel are arrays, or lists of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from platform import node
from typing import Any

import numpy as np

from rapids_tc.blocks import codec, degree_codes, grid
from rapids_tc.blocks.arrivals import require_below, require_length
from rapids_tc.blocks.codec import Packed, Piece
from rapids_tc.blocks.versions import EDITION
from rapids_tc.engines import protocol, registry
from rapids_tc.errors import KernelError, require_unchanged
from rapids_tc.frames.adapters import CudfHome, Home
from rapids_tc.frames.backend import Array, Backend, Frame, Series, backend_of, narrow
from rapids_tc.frames.device import on_device
from rapids_tc.preparation import orient
from rapids_tc.preparation.edges import check_label

Numbers = list[Array]  # of the source and of the destination of every row


@dataclass(frozen=True)
class Site:
    """Where chunks work, the same on all machines.

    Attributes
    ----------
    home : Home
        The library of the partitions.
    labels : tuple
        The two id columns.
    engine : str or None
        "cpu", "cuda", or where the partitions are.
    threads : int
        Cores that a chunk may use.
    edition : str
        Digest of the caller's sources of rapids_tc. A factory sets it: were it a class attribute,
        a `Site` of a caller without one would seem to have the worker's own.
    """

    home: Home
    labels: tuple[Any, Any]
    engine: str | None
    threads: int
    edition: str = field(default_factory=lambda: EDITION)

    @property
    def backend(self) -> Backend:
        return backend_of(self.home, self.engine)

    def columns(self, partition: Frame, place: int) -> tuple[Series, Series]:
        """Return both id columns of a partition; ColumnNotFoundError if one is missing."""
        for role, label in zip(("source", "destination"), self.labels, strict=True):
            check_label(f"partition {place}: {role}", label, self.home.labels(partition))
        source, destination = (self.home.column(partition, label) for label in self.labels)
        return source, destination

    @property
    def names(self) -> list[str]:
        return [f"column {label!r}" for label in self.labels]

    @contextmanager
    def here(self) -> Iterator[None]:
        """On the device and stream of this machine's frames, with its share of the cores."""
        if getattr(self, "edition", "") != EDITION:  # it joined during the call
            raise KernelError(
                f"the worker on {node()} has another rapids_tc than the process that called: "
                "install the same version on both, and start the worker again"
            )
        if isinstance(self.home, CudfHome):
            import_module("cudf")
        with protocol.at_most(self.threads):
            backend = self.backend
            if backend.xp.__name__ == "cupy":
                with on_device(backend.xp.cuda.Device().id):
                    yield
            else:
                yield


def chunk(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function of a `Site` where that says."""

    @functools.wraps(function)
    def run(site: Site, *args: Any) -> Any:
        with site.here():
            return function(site, *args)

    return run


# Order and blocks ---------------------------------------------------------------------------------


@chunk
def degrees(site: Site, numbers: Numbers, size: int) -> Array:
    """The degree of every number among some rows, as codes."""
    backend, (src, dst) = site.backend, numbers
    for end in numbers:
        require_below(end, size, "numbers of ids")
    degree, _ = registry.load(backend.engine).degrees(src, dst, size)
    return degree_codes.codes(degree, backend.xp)


@chunk
def add_degrees(site: Site, codes: list[Array]) -> Array:
    """The codes of the degrees of several chunks together."""
    return degree_codes.codes(_total(site, codes), site.backend.xp)


@chunk
def order(site: Site, codes: list[Array]) -> list[Any]:
    """The rank of every number, and how many are vertices."""
    made = degree_codes.by_degree(_total(site, codes), site.backend.xp)
    return [made.rank, made.n]


def _total(site: Site, codes: list[Array]) -> Array:
    for some in codes:
        require_length(some, len(codes[0]), "degrees")
    return degree_codes.total(codes, site.backend.xp)


@chunk
def count_ranks(site: Site, order: list[Any]) -> int:
    """How many vertices there are."""
    return order[1]


@chunk
def pack(site: Site, numbers: Numbers, order: list[Any], n: int, batch: int) -> list[Piece]:
    """The edges of some rows in pieces, one for each of n x n blocks, `batch` rows at a time."""
    xp, (_, vertices) = site.backend.xp, order
    engine = registry.load(site.backend.engine)
    result: list[Piece] = [[] for _ in range(n * n)]
    for end in numbers:
        require_below(end, len(order[0]), "numbers of ids")
    for start in range(0, max(len(numbers[0]), 1), batch):
        ends = [end[start : start + batch] for end in numbers]
        for place, keys in enumerate(_keys(site, engine, ends, order, n)):
            rows = grid.shape(vertices, n, *divmod(place, n))
            require_below(keys, rows << 32, "keys of edges")
            block = engine.csr(keys, rows)
            result[place] += codec.pack(block, xp)
    return result


def _keys(site: Site, engine: Any, ends: Numbers, order: list[Any], n: int) -> list[Array]:
    """The keys row << 32 | column of the edges of some rows, by block."""
    xp, (rank, _) = site.backend.xp, order
    if n == 1:
        return [orient.orient((ends[0], ends[1]), rank, site.backend)]
    src, dst = map(narrow, ends)
    given, sizes = ((src, dst), rank, n, (0, n * n)), xp.zeros(n * n, "uint64")
    engine.split(*given, sizes, xp.empty(0, "uint64"))  # counts alone
    bounds = np.cumsum([0, *map(int, sizes.tolist())])
    keys = xp.empty(int(bounds[-1]), "uint64")
    free = xp.asarray(bounds[:-1].astype("uint64"))
    engine.split(*given, free, keys)
    require_unchanged(free.tolist() != bounds[1:].tolist())
    return [keys[a:b] for a, b in pairwise(bounds.tolist())]


@chunk
def pick(site: Site, several: list[Any], place: int) -> list[Any]:
    """One of several results, alone."""
    return [several[place]]


@chunk
def by_host(site: Site, packed: list[Piece]) -> list[Piece]:
    """Pieces taken off a card, once for all machines that fetch them."""
    return [list(map(site.backend.host, piece)) for piece in packed]


@chunk
def merge(site: Site, packed: list[list[Piece]], vertices: int, n: int, place: int) -> Packed:
    """A block, from its pieces of all chunks."""
    backend = site.backend
    rows = grid.shape(vertices, n, *divmod(place, n))
    keys = codec.keys([piece for (piece,) in packed], rows, backend.xp)
    made = registry.load(backend.engine).csr(keys, rows)
    return codec.rows(made, backend.xp)


# Frames -------------------------------------------------------------------------------------------


@chunk
def length(site: Site, something: Any) -> int:
    """How many rows or entries it has."""
    return len(something)


@chunk
def head(site: Site, frame: Frame) -> Frame:
    """The frame without its rows."""
    return frame.iloc[:0]


@chunk
def cut(site: Site, frame: Frame, first: int, last: int) -> Frame:
    """Some rows of a frame, which then need not be kept."""
    return frame.iloc[first:last].copy()


@chunk
def one(site: Site, several: list[Any], place: int) -> Any:
    """One of several results."""
    return several[place]
