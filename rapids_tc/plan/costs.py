"""Every byte that memory is planned by, and every limit of sizes, with how each was measured.

Other modules read these figures here when they need them, and keep no copy. tests/test_constants.py
walks this module: a figure that is changed by 30 % fails a test. This module imports nothing.

How figures were measured, as named below:

traced
    tracemalloc at the height of each stage, many rows or many vertices: tests/stage_peaks.py, for
    the CPU engine, and for the CUDA engine on the emulator, whose arrays are NumPy's.
read
    Read off the arrays that are made: a dtype, or a sort whose temporary memory is known.
limits
    Resident memory of whole calls under a limit: tests/stream_peak.py and tests/test_resident.py;
    on a GPU tests/test_card.py.
cluster
    Read off the arrays of a task, and run on clusters of H100 and H200: benchmarks/NOTES.md.
"""

from __future__ import annotations

Pair = tuple[int, int]  # bytes per row or edge, and per vertex or row of a block


def total(pair: Pair, rows: int, vertices: int) -> int:
    """Return the bytes of so many rows or edges and vertices."""
    return pair[0] * rows + pair[1] * vertices


# A whole graph ------------------------------------------------------------------------------------

# Per raw row and per vertex, beside ids, numbers and ranks. Traced; shares that are too small for
# that, and GPU sorts, are read.
STAGES: dict[str, dict[str, Pair]] = {
    "cpu": {
        "order": (0, 48),
        "orient": (18, 16),
        "sample": (20, 32),
        "numbers": (8, 0),
        "layout": (12, 24),
        "count": (12, 24),
        "count by edge": (20, 32),
        "peel": (68, 80),
        "by vertex": (16, 96),
        "by row": (50, 32),
        "by row from degrees": (72, 32),
        "weights by vertex": (56, 64),
        "listing": (26, 40),
        "edges": (46, 8),
    },
    "cuda": {
        "order": (16, 0),
        "orient": (28, 0),
        "sample": (16, 0),
        "numbers": (8, 0),
        "layout": (22, 32),
        "count": (12, 32),
        "count by edge": (12, 32),
        "peel": (64, 80),
        "by vertex": (24, 56),
        "by row": (60, 32),
        "by row from degrees": (80, 32),
        "weights by vertex": (76, 56),
        "listing": (60, 32),
        "edges": (66, 0),
    },
}
# Beside all stages: ids that are not dense, while they are numbered, and as they are held (the
# libraries' tables of ids; whole calls in tests/stream_peak.py); read: ranks, their inverse,
# presence and offsets.
NUMBERING: Pair = (40, 24)
INDEXED_IDS: Pair = (8, 24)
ORDER: Pair = (0, 21)
# What a prepared graph holds already: read off its arrays.
ORIENTED: Pair = (4, 0)
LAYOUT: Pair = (8, 32)
# Per slot of the CPU engine's table of each thread: a mark, or the place of an edge. Read.
TABLE_SLOT = {"mark": 1, "place": 4}
# Of the radix method, per edge, vertex and wedge of a batch. Read.
RADIX = {"edge": 28, "vertex": 8, "wedge": 32}
# A triangle that is listed: its ranks, a sort, and ids of eight bytes. Read.
LISTED = 80
# Per row, for each further column of a result: the column, and the values it is made of. Read.
COLUMN = 16

# What a call may need before it asks how much is free. A choice: asking a GPU takes as long as a
# small count, and asking the host reads a dozen small files.
UNASKED = {"cpu": 2**24, "cuda": 2**30}

# Blocks on one machine ----------------------------------------------------------------------------

# Per edge and per row of a block: each block in memory; what counting makes of a task; and the
# counts where edges are counted, of which a GPU has one more array per slot. Limits; a GPU's layout
# is read.
TASK: dict[str, dict[str, Pair]] = {
    "cpu": {"block": (4, 8), "layout": (8, 32), "counts": (20, 32), "counts of a slot": (0, 0)},
    "cuda": {"block": (6, 12), "layout": (17, 56), "counts": (8, 32), "counts of a slot": (4, 0)},
}
# Per distinct id of text, while it is numbered: Arrow's memory, unseen by tracemalloc. Limits.
TEXT = {"cpu": 260, "cuda": 0}
# Per number, while vertices are ordered by degree. Traced.
ORDERING = {"cpu": 96, "cuda": 40}
# Per row in a block, while its keys are sorted: beside the chunk that is read, on the CPU; thrust's
# temporary memory on a GPU. Read.
SORTING = {"cpu": 32, "cuda": 17}
# Per row of a chunk, while degrees are counted and keys are made. Limits.
CHUNK_ROW = {"cpu": 24, "cuda": 0}
# Per row of a chunk: while its edges are looked up; while its ids are made numbers; while its ids
# are profiled. Limits.
ROW_WORK, ROW_CAST, ROW_PROFILE = 96, 40, 8
# Of what is allowed, one part in so many is for work on a chunk. A choice.
CHUNK_PARTS = 8
# Per number: its rank, and the sums, degrees and order that functions of vertices ask. Limits.
RANK, VERTEX_SUMS = 4, 24
# Per key, and per row of a block while it is sorted. Limits.
KEY, BLOCK_ROW = 8, 24
# Per edge of a block: while its ends are named, and while its rows are looked up. Limits.
NAMED_EDGE, LOOKED_UP_EDGE = 72, 12
# Peeling what remains as one graph: per edge, per vertex as `peel` of a whole graph, and per rank
# before those without an edge are dropped. Traced and read.
PEELED_EDGE, PEELED_VERTEX, PEELED_RANK = 64, 80, 16
# Per row of the frame and column of the result, by the name of `record.Result`: what is given back,
# or held while it is made. Read off the dtypes of the answers, and keys that are sorted.
RESULTS = {"COLUMN": 8, "COLUMNS": 8, "ROWS": 9, "EDGES": 48}

# A cluster ----------------------------------------------------------------------------------------

# Per edge and per row of each of three blocks, and what is made of them. Cluster.
CLUSTER_TASK: Pair = (14, 16)
# Times the mean that the largest block may be expected to have. Cluster.
UNEVEN = 1.2
# Per number, when all are put in order; per row that is oriented, cut and sorted. Cluster.
CLUSTER_NUMBER, CLUSTER_ROW = 24, 64
# Of a worker's free memory, what may be taken for a graph. Cluster.
MEMORY_SHARE = 0.5

# Limits of sizes ----------------------------------------------------------------------------------

MOST_ROWS = 2**31 - 1  # of a frame that any library can hold
MOST_KEYS = 2**31 - 1  # of which a GPU makes a block
MOST_BLOCK_EDGES = 2**32  # fewer: offsets of blocks are stored in 32 bits
MOST_PEELED_EDGES = 2**32  # fewer: numbers of edges have 32 bits in peeling
MOST_GRAPH_ROWS = {"cpu": 2**63, "cuda": 2**31}  # fewer, or a graph is cut into blocks
MOST_POSITIONS = {"cpu": 2**63, "cuda": 2**32}  # fewer edges of all blocks in memory
MOST_GPU_RANKS = 2**32  # fewer: ranks have 32 bits in kernels
MOST_BLOCKS = 16  # a side, on one machine: with more, every edge is moved too often
MOST_CLUSTER_BLOCKS = 64  # a side: with more, lists have too few entries left to be worth a task
