"""The memory model: bytes of each stage, limits of sizes, and how each figure was measured.

Other modules read the figures here at each use, and keep no copy. tests/test_constants.py changes
each figure by 30 % and expects a test to fail. This module imports nothing.

Comments name how figures were measured by one of these words:

traced
    The peak of tracemalloc in each stage, with many rows or many vertices: tests/stage_peaks.py.
    The CUDA engine was traced on the emulator, whose arrays are NumPy's.
read
    The dtypes of the arrays in the code, or the known temporary memory of a sort.
limits
    The resident memory of whole calls under a limit: tests/stream_peak.py, tests/test_resident.py
    and, on a GPU, tests/test_card.py.
cluster
    The arrays of a task as read, and runs on clusters of H100 and H200: benchmarks/NOTES.md.
"""

from __future__ import annotations

Pair = tuple[int, int]  # bytes per row or edge, and per vertex or row of a block


def total(pair: Pair, rows: int, vertices: int) -> int:
    """Return the bytes of `rows` rows or edges and `vertices` vertices, at `pair` bytes each."""
    return pair[0] * rows + pair[1] * vertices


# A whole graph ------------------------------------------------------------------------------------

# Upper bounds per raw row and per vertex, on top of ids, numbers and ranks: a call takes no more
# than its highest stage, and two thirds of it or more. "prepare" is of all stages before the
# answer but the sample: order, orient, layout, and counting. On the CPU, traced, and compared with
# resident memory by tests/estimate_peak.py; on a GPU, what RMM counted in whole calls
# (benchmarks/limits.py on an H200), else read off the arrays, or, of graphlets, traced.
STAGES: dict[str, dict[str, Pair]] = {
    "cpu": {
        "prepare": (20, 32),
        "sample": (20, 10),
        "count around": (46, 42),
        "sum by edge": (34, 50),
        "wedges": (18, 30),
        "squares": (18, 34),
        "squares by edge": (40, 36),
        "peel squares": (76, 60),
        "by vertex from squares": (18, 46),
        "by row from squares": (38, 20),
        "sum of graphlets": (30, 108),
        "peel": (70, 24),
        "by vertex": (18, 90),
        "by vertex from edges": (34, 96),
        "by vertex of graphlets": (28, 300),
        "graphlets": (25, 106),
        "by row": (42, 20),
        "by row from sums": (54, 20),
        "by row from degrees": (80, 24),
        "by row from cliques": (42, 20),
        "communities": (78, 24),
        "rows of communities": (92, 20),
        "similar pairs": (14, 70),
        "values": (46, 0),
        "times": (94, 0),
        "coded times": (150, 0),
        "edges": (50, 8),
        "earlier rows": (76, 4),
        "keep": (20, 8),
    },
    "cuda": {
        "prepare": (24, 36),
        "sample": (16, 10),
        "count around": (48, 24),
        "sum by edge": (60, 60),
        "wedges": (26, 56),
        "squares": (22, 30),
        "squares by edge": (44, 36),
        "peel squares": (88, 60),
        "by vertex from squares": (20, 38),
        "by row from squares": (32, 24),
        "sum of graphlets": (33, 92),
        "peel": (70, 40),
        "by vertex": (22, 64),
        "by vertex from edges": (36, 68),
        "by vertex of graphlets": (31, 285),
        "graphlets": (28, 85),
        "by row": (58, 24),
        "by row from sums": (58, 24),
        "by row from degrees": (84, 24),
        "by row from cliques": (36, 24),
        "communities": (80, 40),
        "rows of communities": (78, 24),
        "similar pairs": (44, 70),
        "values": (46, 0),
        "times": (110, 0),
        "coded times": (170, 0),
        "edges": (46, 8),
        "earlier rows": (150, 40),
        "keep": (20, 8),
    },
}
# Per vertex, while values are added up over triangles, and after: sums and degrees. Traced.
SUMMED = 24
# If ids are not dense: while they are numbered. On the CPU, integers are hashed, in a table of
# pandas beside these, which has `BUCKET` bytes per bucket, begins with room for at most
# `TABLE_LIMIT` values, and doubles if `BUCKETS_FILLED` of its buckets are filled. Measured by whole
# calls in tests/estimate_peak.py, and on an H200; tables are read.
NUMBERING: dict[str, Pair] = {"cpu": (24, 52), "cuda": (50, 24)}
BUCKET, BUCKETS_FILLED, TABLE_LIMIT = 16, 0.77, 2**20
# The same on a GPU for ids of several parts, however many: one part is numbered after another.
NUMBERING_PARTS: Pair = (47, 72)
# During all stages, of ids that are not dense: their numbers, and the ids as they are held. Of
# text also what Arrow takes on top of the text itself, and does not give back at once. Measured by
# whole calls in tests/estimate_peak.py.
INDEXED_IDS: dict[str, Pair] = {"cpu": (8, 8), "cuda": (8, 24)}
TEXT_IDS: Pair = (14, 10)
# Texts of each row, with their offsets, if Python's objects hold text: Arrow's copies of both
# columns, and what is made anew for answers. The most seen in benchmarks/limits.py --ids object.
OBJECT_COPIES = 6
# Of ids of several parts, for both ends of a row, on either engine. Per row and part: the numbers
# of its values. Per row: keys, and their numbers. Read.
PART, KEYS = 16, 24
# During all stages: ranks, their inverse, presence and offsets. Read.
ORDER: Pair = (0, 21)
# What a prepared graph holds already. Read.
ORIENTED: Pair = (4, 0)
LAYOUT: Pair = (8, 32)
WEDGE_LAYOUT: Pair = (12, 16)
# Per row on a GPU, while triangles are counted: the position of its edge, if it was found while
# keys were sorted. A peel does without the layout in its place. Read.
NUMBERED = 4
# Per slot of the table of a CPU thread, which holds marks or the places of edges. Read.
TABLE_SLOT = {"mark": 1, "place": 4}
# The longest row whose local graph a CPU thread holds as bits of its own, and the bits of each of
# its entries. All threads share the bits of a longer row. A choice.
CLIQUE_ROW = 2048
# Counters of squares on the CPU: per vertex and thread; and of all threads, per edge, or in all if
# these are more, past which fewer threads count. Choices.
WEDGE_COUNTER, WEDGE_COUNTERS, MOST_WEDGE_COUNTERS = 4, 8, 2**24
# Per wedge of the index of the bitruss peel: its bloom, its two edges, and of at most half as many
# blooms where they begin, how many wedges they have, and how many a round takes out. Read.
WEDGE = 24
# On a GPU, also per wedge of those that are sorted together: keys, their order, and marks. Read.
SORTED_WEDGE = 72
# Per vertex, while wedges are added up by their other ends: the table of a CPU thread, and its list
# of ends. Read.
WEDGE_END = 12
# The same on a GPU: the bounds of windows in every row, of a graph whose counters take two or three
# tables, and the order of the vertices. Read.
WINDOW_BOUNDS = 24
# The radix method, per edge, per vertex, and per wedge of a batch. Read.
RADIX = {"edge": 28, "vertex": 8, "wedge": 32}
# Per edge of a graph in memory: its count, and in blocks, sums and the values of corners. Read.
COUNT, EDGE_SUM = 4, 24
# Per edge, while ties are weighed: its weight, what its triangles take of it, their sums, and those
# of its ends while they are made; if edges are sorted by weight, half as much more. Traced.
TIES = 104
# Per pair that the user gives: numbers of both ends, the answer, and what is made for it. Traced.
PAIR = 56
# Per row of an answer with pairs of vertices: ranks, sums, ids of eight bytes, and what a formula
# makes of them. Read.
PAIRED = 80
# Per listed triangle: its ranks, a sort, and ids of eight bytes. Read.
LISTED = 80
# Per combination of three types: its counter, those of other threads, and what an answer of a sixth
# of all combinations takes while it is made. Read.
COMBINATION = 24
# Per row, for each column of a result but the first: the column and its source values. Read.
COLUMN = 16

# Per row, while triangles of a kind are peeled: the windows of its edge in a word, or marks. Read.
PACKED_KIND = 8
# Per row, while columns are made of communities: the trussness and the community of its edge. Read.
COMMUNITY = 8

# Tables of rows as of a time on the CPU: per vertex and thread, and of all threads, per row, or as
# many bytes as counters of squares, past which fewer threads count. Choices.
TIMED_TABLE, TIMED_TABLES = 24, 16
# Per row, while squares as of a time are counted: steps by direction, and the work of a walk. Read.
TIMED_STEPS = 36
# Per row of a slab of time and its halo, and per vertex, beside `COLUMN` for each column: pieces
# that it is merged of, their copies in the order of time, and what is counted from. Traced.
SLAB: dict[str, Pair] = {"cpu": (76, 20), "cuda": (130, 40)}
# Per row that is selected from the user's frame, beside its columns: its entry of the index. Read.
INDEX = 8
# Per window: its start, the change of its triangles, their sum, and what is made on the way. Read.
WINDOW = 40

# Per distinct time of the rows of a graph in blocks: the times of parts and of all, joined. Read.
DISTINCT_TIME = 26

# A call that needs no more does not ask how much is free. A choice: asking a GPU takes as long as
# a small count, and asking the host reads a dozen small files.
UNASKED = {"cpu": 2**24, "cuda": 2**30}

# Blocks on one machine ----------------------------------------------------------------------------

# Per edge and per row of a block: each block in memory; the layout of a task; and, if edges are
# counted, their counts, of which a GPU has one more array per slot. Limits; the layout on a GPU is
# read.
TASK: dict[str, dict[str, Pair]] = {
    "cpu": {"block": (4, 8), "layout": (8, 32), "counts": (20, 32), "counts of a slot": (0, 0)},
    "cuda": {"block": (6, 12), "layout": (17, 56), "counts": (8, 32), "counts of a slot": (4, 0)},
}
# Per edge of each block of a task, while levels of a peel are counted: two levels, a second count,
# and on a GPU a copy of them in the order of the layout. Read.
LEVELS = {"cpu": 12, "cuda": 24}
# Per edge of each slot, and of one more, at the same time: a GPU lays levels and counts out as it
# does the edges of all slots. Read.
LEVELS_OF_SLOT = {"cpu": 0, "cuda": 12}
# Per distinct id of text, while ids are numbered: Arrow's memory, unseen by tracemalloc. Limits.
TEXT = {"cpu": 260, "cuda": 0}
# Per number, while vertices are ordered by degree. Traced.
ORDERING = {"cpu": 48, "cuda": 40}
# Per key of a block, while its keys are sorted: on the CPU, on top of the chunk that is read; on a
# GPU, the temporary memory of thrust. Read.
SORTING = {"cpu": 32, "cuda": 17}
# Per row of a chunk, while degrees are counted and keys are made. Limits.
CHUNK_ROW = {"cpu": 24, "cuda": 0}
# Per row of a chunk, in this order: while edges are looked up, while ids are made numbers, and
# while ids are profiled. Limits.
ROW_WORK, ROW_CAST, ROW_PROFILE = 96, 40, 8
# Work on a chunk may take the bytes of the call divided by this number. A choice.
CHUNK_PARTS = 8
# Per number: its rank; and for functions of vertices its sums, degree and order. Limits.
RANK, VERTEX_SUMS = 4, 24
# While a block is sorted: per key, and per row. Limits.
KEY, BLOCK_ROW = 8, 24
# Per edge of a block, while rows are looked up; per row of a range, while its edges are sorted and
# their ids are listed. Limits.
LOOKED_UP_EDGE, SORTED_ROW = 12, 48
# Arrays as large as the values of a block, while they are read: the values, a mark for each, and
# what a formula makes of them. Read.
READ_VALUES = 3
# While the edges that remain are peeled as one graph: per edge; per vertex, as in the stage "peel";
# and per rank, before ranks without an edge are dropped. Traced and read.
PEELED_EDGE, PEELED_VERTEX, PEELED_RANK = 64, 80, 16
# Per edge, beside what is read for it, while only its triangles of a kind count: where its
# intervals begin and how many there are, and a packed form of them. Read.
PEELED_KIND = 24
# Per row of the frame and column of the answer, by the name of its `record.Result`: the answer, or
# what is held while it is made. Read: the dtypes of answers, and keys that are sorted.
RESULTS = {"COLUMN": 8, "COLUMNS": 8, "ROWS": 9, "EDGES": 24}

# A cluster ----------------------------------------------------------------------------------------

# Per edge and per row of each of the three blocks of a task, with all that is made of it. Cluster.
CLUSTER_TASK: Pair = (14, 16)
# Per edge of each of these blocks, while levels of a peel are counted: two levels, a second count,
# and on a GPU a copy of the levels. Read.
CLUSTER_LEVELS = 20
# The expected size of the largest block, as a multiple of the mean. Cluster.
UNEVEN = 1.2
# Per number, while vertices are ordered; per row, while rows become sorted parts. Cluster.
CLUSTER_NUMBER, CLUSTER_ROW = 24, 64
# A worker at the height of a call, as an upper bound. While blocks are made: per row of the worker,
# the numbers and ranks of its ends, and its encoded edge; per edge of a block, its keys while they
# are sorted. Traced, as are the next seven: tests/worker_peaks.py.
CLUSTER_MAKING: Pair = (24, 19)
# Per id, while edges are ranked and encoded: its rank and degree, and what each block has of it.
CLUSTER_RANKED: Pair = (12, 24)
# Per row of the worker, and per id, while a sample is drawn.
CLUSTER_SAMPLED: Pair = (28, 25)
# Per edge of the blocks of a worker, and per row of each.
CLUSTER_BLOCK: Pair = (4, 4)
# While triangles are counted and the answer is made, by the name of its `record.Result`: per row of
# the worker, per edge of the blocks of a task, and per vertex.
CLUSTER_ANSWERS = {
    "VALUE": (0, 30, 54), "TABLE": (0, 30, 54), "VERTICES": (0, 30, 80), "TIMES": (40, 130, 24),
    "COLUMN": (100, 24, 46), "COLUMNS": (100, 24, 46), "ROWS": (40, 30, 46), "EDGES": (44, 0, 0),
    "TRIANGLES": (0, 30, 54), "GRAPH": (0, 0, 0),
}  # fmt: skip
# The same of the worker that peels a graph, per edge of all.
CLUSTER_PEELING = (44, 72, 50)
# In blocks: per vertex, the sums of the residues of a task; per row of the worker, its edge as it
# was sent to be peeled.
CLUSTER_SUMS, CLUSTER_PART = 12, 22
# Per id that is no dense integer: its entry of the list of all, and of a table of hashes.
CLUSTER_NAMED = 56
# Copies of the ids, while the ids of all batches are joined and sorted. Read.
CLUSTER_IDS = 3
# Ranking a range of numbers takes at most 1 / RANGE_SHARE of the memory for a graph. Its ranks take
# at most RANGE_BYTES times the number of ids, divided by the root of the number of workers. RANGES
# is the largest number of ranges. Choices.
RANGE_SHARE, RANGE_BYTES, RANGES = 8, 4, 4096
# The share of a worker's free memory that a graph may take. Cluster.
MEMORY_SHARE = 0.5

# Limits of sizes ----------------------------------------------------------------------------------

MOST_ROWS = 2**31 - 1  # of a frame, in every library
MOST_KEYS = 2**31 - 1  # of a block that a GPU sorts
MOST_BLOCK_EDGES = 2**32  # a block has fewer: positions in it take 32 bits
MOST_PEELED_EDGES = 2**32  # peeling takes fewer: it numbers edges in 32 bits
MOST_GRAPH_ROWS = {"cpu": 2**63, "cuda": 2**31}  # a graph of this many or more is cut in blocks
MOST_POSITIONS = {"cpu": 2**63, "cuda": 2**32}  # blocks in memory have fewer edges together
MOST_CLIQUE_ROW = 2**16  # entries of a row in which cliques are counted: sums stay below 2**63
MOST_SQUARE_EDGES = 2**31  # squares are counted of fewer: four times their number is below 2**63
MOST_TIMED_ROWS = 2**31  # rows of which what each forms with earlier ones is counted: fewer
MOST_WEDGES = 2**32 - 1  # of the index of the bitruss peel: it numbers blooms in 32 bits
MOST_ENTRIES = 2**32 - 2**12  # of all rows of neighbors, by which wedges are walked on a GPU: fewer
NO_RANK = 2**32 - 1  # where no vertex is found: a graph has fewer ranks
MOST_GPU_RANKS = 2**32  # a graph has fewer: kernels hold ranks in 32 bits
MOST_BLOCKS = 16  # per side, on one machine: with more, every edge is moved too often
MOST_SORTED = 64  # ranges of edges, on one machine: the number of pieces is its square
MOST_CLUSTER_BLOCKS = 64  # per side: with more, lists are too short to be worth a task
