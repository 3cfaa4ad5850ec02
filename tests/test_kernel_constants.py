"""Sizes that both Python and the kernels name: read from the kernels' sources, and compared."""

from __future__ import annotations

import re

import pytest

from rapids_tc import testing
from rapids_tc.engines.gpu import (
    as_of,
    bitruss,
    block_layout,
    changes,
    cliques,
    community_levels,
    grouping,
    hubs,
    keys,
    layout,
    look_up,
    pairs,
    partition,
    similar,
    truss,
    wedges,
)
from rapids_tc.engines.neighbor_rows import WORDS
from rapids_tc.kernels import catalogue, launch, radix, raw_rows, time_spans
from rapids_tc.kernels.method import Capacities
from rapids_tc.preparation import community_tree, intervals

CONSTANT = re.compile(r"^constexpr (?:u32|u64|int) (.*?);", re.MULTILINE)
BOUNDS = re.compile(r"__launch_bounds__\((\w+)(?:, (\w+))?\)\s+(\w+)\(")
# Of each kernel that draws several items per warp, the constant that says how many.
DRAWN = {"tricore": "kWarp", "bitmap_run": "kRunsPerTicket", "trust_narrow": "kNarrowChunk"}

# What kernels are told when they are compiled.
OPTIONS = {"RTC_HUBS": Capacities().hubs, "RTC_SORT_THREADS": Capacities().sort_threads}


def constants(file):
    """The integers that a source and its includes name, in the order in which they do."""
    values = {}
    for names in CONSTANT.findall(testing.read(file)):
        for name, text in re.findall(r"(k\w+) = ([^,?:]+)(?:,|$)", names):
            expression = re.sub(r"\b(0x[0-9a-f]+|\d+)u\b", r"\1", text.strip()).replace("/", "//")
            values[name] = eval(expression, dict(OPTIONS), values)
    return values


def test_an_expression_is_read():
    found = constants("radix.cu")
    assert (found["kWarp"], found["kWarps"], found["kDigits"]) == (32, 8, 16)


@pytest.mark.parametrize(
    ("file", "names", "values"),
    [
        ("blocks.cu", "kTileEach", (block_layout._EACH,)),
        ("device.cuh", "kThreads kWarp", (launch.THREADS, truss._WARP)),
        ("csr.cu", "kTile", (keys._TILE,)),
        ("csr.cu", "kScanThreads", (keys._SCAN_THREADS,)),
        ("group.cu", "kGroups", (grouping._GROUPS,)),
        ("group.cu", "kGroupTile kCountThreads", (grouping._TILE, grouping._COUNT_THREADS)),
        (
            "parts.cuh",
            "kParts kPartTile kWarp",
            (partition._PARTS, partition._TILE, partition._WARP),
        ),
        ("partition.cu", "kGroupBits", (partition._GROUP_BITS,)),
        (
            "partition.cu",
            "kCountThreads kCutThreads",
            (partition._COUNT_THREADS, partition._CUT_THREADS),
        ),
        (
            "buckets.cu",
            "kSortEach kDigits kPutEach",
            (partition._SORT_EACH, partition._DIGITS, partition._PUT // launch.THREADS),
        ),
        ("rows.cu", "kReads", (raw_rows._READS,)),
        ("rows.cu", "kRangeBlocks kBuckets", (raw_rows._RANGE_BLOCKS, raw_rows.BUCKETS)),
        ("rows.cu", "kPartThreads kPartTile", (raw_rows._PART_THREADS, raw_rows._PART_TILE)),
        ("rows.cu", "kBucketThreads", (raw_rows._BUCKET_THREADS,)),
        ("bitmap.cu", "kChunk", (layout.CHUNK,)),
        ("as_of.cu", "kWarp", (as_of._WARP,)),
        ("as_of.cu", "kOwn", (as_of._OWN,)),
        ("pairs.cu", "kLanes", (pairs._LANES,)),
        ("hubs.cu", "kHubThreads", (hubs._HUB_THREADS,)),
        ("hubs.cu", "kHubBlocksPerSm kNone", (hubs._BLOCKS_PER_SM, hubs._NONE)),
        ("look_up.cu", "kEvery", (look_up._EVERY,)),
        ("spans.cu", "kBins kAbsent", (time_spans.BINS, intervals.ABSENT)),
        ("wedge_rows.cu", "kTileEach kWarp", (wedges._EACH, wedges._WARP)),
        ("cliques.cu", "kListWords", (cliques._LIST_WORDS,)),
        ("cliques.cu", "kPartRows", (cliques._PART,)),
        ("changes.cu", "kWords kEdgeWords", (WORDS, changes._EDGE_WORDS)),
        ("changes.cu", "kTile", (changes._TILE,)),
        ("join.cu", "kLevelAt", (community_tree.LEVEL_AT,)),
        ("join.cu", "kOfEnds", (community_tree.OF_ENDS,)),
        (
            "levels.cu",
            "kBucket kNone kWarp",
            (community_levels._BUCKET, community_levels._NONE, community_levels._WARP),
        ),
        ("truss.cu", "kPeelThreads", (truss._THREADS,)),
        ("bitruss.cu", "kPeelThreads", (bitruss._THREADS,)),
        ("blooms.cu", "kTileEach kWarp", (bitruss._EACH, bitruss._WARP)),
        ("truss.cu", "kBucket kSums kDone", (truss._BUCKET, truss._SUMS, truss._DONE)),
        ("wedge_ends.cu", "kWarp kMostHashed", (similar._WARP, launch.THREADS)),
        (
            "wedges.cu",
            "kTableThreads kHalfThreads kFewThreads kFewThreads kWarp",
            (*wedges._THREADS.values(),),
        ),
        ("radix.cu", "kDigit kDigits", (radix._DIGIT, radix._DIGITS)),
    ],
)
def test_python_has_the_sizes_of_the_kernels(file, names, values):
    found = constants(file)
    assert tuple(found[name] for name in names.split()) == values


def test_the_places_in_the_state_of_a_peel_are_its_fields():
    struct = re.search(r"struct State \{(.*?)\};", testing.read("truss.cu"), re.DOTALL)[1]
    fields = []  # a name per word
    for words, line in re.findall(r"u(32|64) ([^;]*);", struct):
        for name, size in re.findall(r"(\w+)(?:\[(\d+)\])?", line):
            fields += [name] * (int(words) // 32 * int(size or 1))
    places = {"stage": truss._STAGE, "level": truss._LEVEL, "rounds": truss._ROUNDS}
    places |= {"edges": truss._EDGES, "dead": truss._DEAD}
    assert {name: fields.index(name) for name in places} == places
    assert (fields.index("tasks") % 2, len(fields)) == (0, truss._STATE)


def test_python_has_the_words_of_the_state_of_a_bitruss():
    source = testing.read("bitruss.cu")
    peel, counts = (
        re.findall(r"\w+(?=[,;])", re.search(rf"struct {name} \{{(.*?)\}};", source, re.DOTALL)[1])
        for name in ("Peel", "Counts")
    )
    places = {"level": bitruss._LEVEL, "round": bitruss._ROUND, "head": bitruss._HEAD}
    places |= {"far": bitruss._FAR}
    assert all(peel.index(name) + 1 == place for name, place in places.items())  # behind `done`
    assert 1 + len(peel) + 3 * len(counts) + 2 == bitruss._STATE


LAUNCHES = [(method, launch) for method in catalogue.METHODS for launch in method.launches]


@pytest.mark.parametrize(
    ("method", "launch"), LAUNCHES, ids=[launch.kernel for _, launch in LAUNCHES]
)
def test_a_launch_has_the_threads_of_its_kernel(method, launch):
    found, source = constants(method.source), testing.read(method.source)
    bounds = {kernel: (threads, blocks) for threads, blocks, kernel in BOUNDS.findall(source)}
    threads, blocks = bounds[launch.kernel]
    assert launch.threads == found[threads]
    if blocks in found:
        assert launch.blocks_per_sm == found[blocks]
    if launch.kernel in DRAWN:
        warps = launch.threads // found["kWarp"]
        assert launch.drawn == warps * found[DRAWN[launch.kernel]]


def test_a_bitmap_has_words_for_its_tail():
    """Its blocks per multiprocessor depend on the visitor and the architecture: at most so many."""
    block, found = catalogue.METHODS[0].launches[0], constants("bitmap.cu")
    assert block.words(320, 0, False) == 10 + found["kTailWords"]
    assert block.blocks_per_sm == found["kMostBlocks"]
