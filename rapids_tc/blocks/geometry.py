"""The geometry of blocks: where an edge lies, and how the values of a block add up by vertex.

Block (i, j) of n x n holds the edges (u, v), u > v, with u % n = i and v % n = j, as row
u // n + (i > j) and column v // n: `rapids_tc.blocks.grid` says why.
Every function is pure, or adds to an array that the caller passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.csr import Array, Csr

Block = tuple[int, int]  # the residues of u and of v

# Ranks, blocks and rows ---------------------------------------------------------------------------


def members(vertices: int, n: int, residue: int) -> int:
    """Return how many ranks below `vertices` have a residue."""
    return (vertices - residue + n - 1) // n


def row_shift(at: Block) -> int:
    """Return the addend to u // n that keeps each column of a block below its row."""
    i, j = at
    return int(i > j)


def block_rows(vertices: int, n: int, at: Block) -> int:
    """Return the number of rows of a block."""
    return members(vertices, n, at[0]) + row_shift(at)


def ranks_of(local: Array, residue: int, n: int) -> Array:
    """Return the ranks (int64) of the local ids of a residue."""
    ranks = local.astype("int64")
    ranks *= n
    ranks += residue
    return ranks


def block_ends(block: Csr, n: int, at: Block) -> tuple[Array, Array]:
    """Return the larger and the smaller rank (int64) of every edge of a block."""
    return _larger(block, n, at), _smaller(block, n, at)


def _larger(block: Csr, n: int, at: Block) -> Array:
    larger = ranks_of(block.rows, at[0], n)
    larger -= n * row_shift(at)
    return larger


def _smaller(block: Csr, n: int, at: Block) -> Array:
    return ranks_of(block.columns, at[1], n)


def rank_limit(block: Csr, n: int, at: Block, xp: Any) -> int:
    """Return the largest rank at an edge of a block, plus one; 0 if the block has no edge."""
    last = int(xp.searchsorted(block.offsets, xp.asarray([block.m]))[0]) - 1  # with an entry
    return (last - row_shift(at)) * n + at[0] + 1 if block.m else 0


def rows_in_block(
    larger: Array, smaller: Array, n: int, at: Block, xp: Any
) -> tuple[Array, Array, Array]:
    """Select the rows of a frame whose edges lie in a block.

    Parameters
    ----------
    larger, smaller : array of uint32
        The ranks of both ends of every row.

    Returns
    -------
    positions, rows, columns
        Where the selected rows are in the frame, and the row and the column of the block where
        each of their edges would be. Self loops are selected, too; no block has an entry there.
    """
    i, j = at
    positions = xp.flatnonzero((larger % n == i) & (smaller % n == j))
    return positions, larger[positions] // n + row_shift(at), smaller[positions] // n


def is_first(edges: Array, backend: Backend) -> Array:
    """Mark the first entry of each value, such as the first row of each edge."""
    return ~backend.array(backend.library.Series(edges).duplicated())


def collect_keys(
    blocks: Iterable[tuple[Block, Csr]],
    edges: int,
    n: int,
    pack: Callable[[Array, Array, Array], Any],
    xp: Any,
) -> Array:
    """Collect the keys (uint64) of all blocks in one array; `edges` is the sum of their sizes.

    `pack(larger, smaller, out)` writes to `out` the keys of the edges between these ranks.
    """
    keys, first = xp.empty(edges, "uint64"), 0
    for at, block in blocks:
        pack(*block_ends(block, n, at), keys[first : first + block.m])
        first += block.m
    return keys


# Sums by vertex -----------------------------------------------------------------------------------


def end_sums(vertices: int, n: int, at: Block, by_row: Array, by_column: Array) -> list[Array]:
    """Return a value per row and a value per column of a block as values of the ranks of a residue.

    The first are of the ranks with the residue of the rows, the second of the columns.
    """
    return [by_row[row_shift(at) :], by_column[: members(vertices, n, at[1])]]


def add_ends(sums: Array, n: int, at: Block, by_row: Array, by_column: Array) -> None:
    """Add a value per row and a value per column of a block to the sums of their ranks."""
    add_rows(sums, n, at, by_row)
    add_columns(sums, n, at[1], by_column)


def neighbor_degrees(
    block: Csr, at: Block, of_rows: Array, of_columns: Array, engine: Any
) -> tuple[Array, Array]:
    """Sum the degrees less one of the other ends of the edges of a block, by row and by column.

    The degrees are of the ranks with the residue of the rows, and of the columns.
    """
    of_rows, of_columns = ((degrees - 1).astype("uint32") for degrees in (of_rows, of_columns))
    by_row, _ = engine.sum_counts(block, of_columns[block.columns])
    _, by_column = engine.sum_counts(block, of_rows[block.rows.astype("int64") - row_shift(at)])
    return by_row, by_column


def tie_squares(block: Csr, columns: int, resources: Array, xp: Any) -> tuple[Array, Array]:
    """Sum (1 + resource allocation) ** 2 of the edges of a block, by row and by column.

    The squares are written over `resources`.
    """
    resources += 1
    resources *= resources
    by_row = xp.bincount(block.rows.astype("int64"), resources, block.n)
    by_column = xp.bincount(block.columns.astype("int64"), resources, columns)
    # NumPy counts in integers if there is nothing to add up: floats cannot be added to them.
    return by_row.astype("float64", copy=False), by_column.astype("float64", copy=False)


def largest_at_ends(block: Csr, columns: int, values: Array, xp: Any) -> tuple[Array, Array]:
    """Return the largest value of the edges of a block, by row and by column; 0 without an edge."""
    by_row, by_column = (xp.zeros(size, values.dtype) for size in (block.n, columns))
    xp.maximum.at(by_row, block.rows, values)
    xp.maximum.at(by_column, block.columns, values)
    return by_row, by_column


def add_rows(sums: Array, n: int, at: Block, by_row: Array) -> None:
    """Add a value per row of a block to the sums of ranks."""
    sums[at[0] :: n] += by_row[row_shift(at) :]


def add_columns(sums: Array, n: int, residue: int, by_column: Array) -> None:
    """Add a value per column of a block, whose columns have a residue, to the sums of ranks."""
    sums[residue::n] += by_column[: members(len(sums), n, residue)]
