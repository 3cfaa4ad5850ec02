"""Blocks of edges in cells of a table, and the tasks on them: run by the Python of Spark's workers.

The functions take and return Arrow tables, and know nothing of Spark. A block has the oriented
edges whose ends have the hashes (i, j) modulo n. No number of a vertex holds for several blocks,
for Spark may compute any part of them again, in another order: a block has the ids of its own
vertices with their degrees, by which every task puts all of its vertices in the same order.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rapids_tc.blocks.codec import require, require_length
from rapids_tc.engines import registry
from rapids_tc.errors import KernelError
from rapids_tc.executors.versions import EDITION
from rapids_tc.plan.record import row_columns
from rapids_tc.preparation.csr import Csr, pack_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rapids_tc._typing import Array, Series
    from rapids_tc.plan.record import EdgeValues

Table = Any  # of Arrow
Place = tuple[int, int]


def require_same(edition: str) -> None:
    """Raise KernelError unless the driver has the sources of this worker."""
    if edition != EDITION:
        raise KernelError(
            "an executor has another rapids_tc than the driver: install the same version on both"
        )


@dataclass(frozen=True)
class Cell:
    """A block: vertices by local rank, and the oriented edges among them.

    Attributes
    ----------
    ids : pyarrow.Array
        The ids of the block's vertices, the highest degree first, equal degrees by id.
    degrees : array of int64
        The degree of each vertex in the whole graph.
    lengths : array of uint32
        The edges of each vertex to vertices of lower rank.
    columns : array of uint32
        These vertices, one after another.
    """

    ids: Any
    degrees: Array
    lengths: Array
    columns: Array

    @classmethod
    def of_edges(cls, u: Array, v: Array, u_degrees: Array, v_degrees: Array) -> Cell:
        """Make a block of the ids of both ends of its edges, u of the lower degree."""
        (of_u, of_v), ids, degrees = _ranked([u, v], [u_degrees, v_degrees])
        require(bool((of_u > of_v).all()), "edges in another order than by degrees and ids")
        csr = registry.load("cpu").csr(pack_keys(of_u, of_v, np), len(ids))
        return cls(ids, degrees, np.diff(csr.offsets).astype("uint32"), csr.columns)

    @classmethod
    def load(cls, data: bytes) -> Cell:
        """Read what `dump` has written."""
        return cls(*pickle.loads(data))

    def dump(self) -> bytes:
        """Write the block as bytes."""
        return pickle.dumps((self.ids, self.degrees, self.lengths, self.columns), protocol=5)

    def csr(self, rank: Array | None = None, n: int = 0) -> Csr:
        """Return the edges, under ranks among `n` vertices that keep the order of the block's."""
        lengths, columns = self.lengths, self.columns
        if rank is not None:
            lengths, columns = np.zeros(n, "uint32"), rank[columns]
            lengths[rank] = self.lengths
        offsets = np.zeros(len(lengths) + 1, "int64")
        np.cumsum(lengths, out=offsets[1:])
        return Csr(offsets, columns)


def _ranked(ids: list[Any], degrees: list[Array]) -> tuple[list[Array], Series, Array]:
    """Rank the distinct ids of several arrays.

    Returns
    -------
    ranks, ids, degrees
        The rank of every id of every array, uint32; and by rank, the ids and their degrees.
    """
    import pyarrow as pa

    encoded = pa.chunked_array(ids).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    place = encoded.indices.to_numpy(zero_copy_only=False)
    distinct, degree = encoded.dictionary, np.empty(len(encoded.dictionary), "int64")
    of_ends = np.concatenate(degrees)
    degree[place] = of_ends
    require(bool((degree[place] == of_ends).all()), "a vertex of two degrees")
    table = pa.table({"degree": degree, "id": distinct})
    order = table_order(table)
    rank = np.empty(len(order), "uint32")
    rank[order] = np.arange(len(order), dtype="uint32")
    ends = [*accumulate(map(len, ids))]
    return np.split(rank[place], ends[:-1]), distinct.take(pa.array(order)), degree[order]


def table_order(table: Table) -> Array:
    """Return the order of the rows of a table: the highest degree first, equal degrees by id."""
    import pyarrow.compute as pc

    keys = [("degree", "descending"), ("id", "ascending")]
    order: Array = pc.sort_indices(table, sort_keys=keys).to_numpy()
    return order


# Tables -------------------------------------------------------------------------------------------


def block(edges: Table) -> Table:
    """Make one row of the edges of a block: its place and its cell.

    The column `cell` of the edges has no values, and the type that cells get.
    """
    import pyarrow as pa

    ends = [edges[name] for name in ("u", "v")]
    degrees = [edges[name].to_numpy() for name in ("u_degree", "v_degree")]
    cell = Cell.of_edges(*(_whole(end) for end in ends), *degrees)
    place = {name: pa.array([edges[name][0].as_py()], "int32") for name in ("i", "j")}
    return pa.table({**place, "cell": pa.array([cell.dump()], edges["cell"].type)})


def count(blocks: Table, n: int) -> Table:
    """Count the triangles of a task: one row."""
    import pyarrow as pa

    task = Task.of(blocks, n)
    total = 0 if task.layout is None else registry.load("cpu").count(task.layout)
    return pa.table({"triangles": pa.array([total], "int64")})


def edge_counts(blocks: Table, n: int) -> Table:
    """Count the triangles of a task by edge: a row per block."""
    import pyarrow as pa

    sums = [*Task.of(blocks, n).edge_counts()]
    places = np.array([place for place, _ in sums], "int32").reshape(-1, 2)
    kind = blocks["cell"].type
    counts = pa.array([pickle.dumps(counts, protocol=5) for _, counts in sums], kind)
    return pa.table({"i": places[:, 0], "j": places[:, 1], "counts": counts})


def columns(blocks: Table, counts: Table, names: list[str]) -> Table:
    """Make the values of the edges of a block: both ids, the lesser first, and the columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cell = Cell.load(blocks["cell"][0].as_py())
    triangles = np.zeros(len(cell.columns), "int64")
    for of_task in counts["counts"]:
        part = pickle.loads(of_task.as_py())
        require_length(part, len(triangles), "counts of edges")
        triangles += part
    csr = cell.csr()
    u, v = (cell.ids.take(pa.array(end)) for end in (csr.rows, csr.columns))
    less, values = pc.less(u, v), cast("EdgeValues", EdgesOfCell(cell, csr, triangles))
    added = ((name, row_columns()[name]) for name in names)
    arrays = {name: column.formula(values).astype(column.dtype) for name, column in added}
    return pa.table({"low": pc.if_else(less, u, v), "high": pc.if_else(less, v, u), **arrays})


def _whole(column: Series) -> Array:
    """Return a column of a table as one array."""
    import pyarrow as pa

    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


@dataclass(frozen=True)
class EdgesOfCell:
    """What formulas of columns may ask about the edges of a block."""

    cell: Cell
    csr: Csr
    triangles: Array
    xp = np

    @property
    def counts(self) -> Array:
        """The triangles of every edge, as they were counted."""
        return self.triangles

    @cached_property
    def degrees(self) -> tuple[Array, Array]:
        """The degrees of both ends."""
        degrees = self.cell.degrees
        return degrees[self.csr.rows], degrees[self.csr.columns]


@dataclass(frozen=True)
class Task:
    """The triangles u > v > w whose hashes are i, j and k; there are none if a block is missing.

    Attributes
    ----------
    places : list of (int, int)
        The places of the blocks uv, uw and vw.
    layout : Layout or None
    """

    places: list[Place]
    layout: Any

    @classmethod
    def of(cls, blocks: Table, n: int) -> Task:
        """Prepare a task from its number and the cells of its blocks, each once."""
        number = blocks["task"][0].as_py()
        i, j, k = number // n**2, number // n % n, number % n
        places = [(i, j), (i, k), (j, k)]
        rows = zip(*(blocks[name].to_pylist() for name in ("i", "j", "cell")), strict=True)
        cells = {(i, j): Cell.load(cell) for i, j, cell in rows}
        if not all(place in cells for place in places):
            return cls(places, None)
        engine = registry.load("cpu")
        if n == 1:
            return cls(places, engine.prepare(cells[0, 0].csr()))
        used = [cells[place] for place in dict.fromkeys(places)]
        ranks, ids, _ = _ranked([cell.ids for cell in used], [cell.degrees for cell in used])
        graphs = {
            place: cell.csr(rank, len(ids))
            for place, cell, rank in zip(dict.fromkeys(places), used, ranks, strict=True)
        }
        uv, uw, vw = (graphs[place] for place in places)
        return cls(places, engine.prepare_blocks(engine.to_csc(uv), uw, vw, (0, 0, 0)))

    def edge_counts(self) -> Iterable[tuple[Place, Array]]:
        """Return the triangles of the edges of each block; a block may be two or three of a task.

        Edges keep their order in the block, for ranks in the task keep the order of its ranks.
        """
        if self.layout is None:
            return ()
        counted = registry.load("cpu").edge_counts(self.layout)
        parts = [counted] if self.layout.whole else counted
        sums: dict[Place, Array] = {}
        for place, part in zip(self.places, parts, strict=False):
            sums[place] = sums[place] + part if place in sums else part
        return sums.items()
