"""Every method of the catalogue and every visitor on the emulator, against the oracle."""

import tracemalloc
from collections import Counter
from dataclasses import replace
from math import comb

import numpy as np
import pandas as pd
import pytest
import reference
from emulator_support import SEEDS, Numpy, compiler, plain_only  # noqa: F401 - a fixture
from kernel_support import (
    ENGINE,
    GRAPHS,
    SIZES,
    book,
    clique,
    each_case,
    gives_edges,
    keys_of,
    random_rows,
    wheel,
)

import rapids_tc as tc
from rapids_tc import testing
from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.protocol import RowColumn
from rapids_tc.errors import CapacityError, KernelError
from rapids_tc.kernels import catalogue
from rapids_tc.kernels.catalogue import METHODS, Capacities, find
from rapids_tc.preparation.csr import Csr

pytestmark = pytest.mark.usefixtures("compiler")


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request):
    """Rows, their CSR and the oracle's triangles of its edges."""
    rows = GRAPHS[request.param]
    n = 1 + max((max(row) for row in rows), default=-1)
    csr = ENGINE.csr(keys_of(rows), n)
    by_edge = reference.edge_triangles(rows)
    edges = zip(csr.rows.tolist(), csr.columns.tolist(), strict=True)
    return csr, reference.count(rows), [by_edge[v, u] for u, v in edges]


@pytest.mark.parametrize("rows", GRAPHS.values(), ids=GRAPHS)
def test_csr_keeps_each_edge_once(rows):
    n = 5 + max((max(row) for row in rows), default=-1)  # the last ranks have no row
    csr = ENGINE.csr(keys_of(rows), n)
    csr.validate()
    edges = zip(csr.columns.tolist(), csr.rows.tolist(), strict=True)
    assert csr.n == n
    assert sorted(edges) == reference.simple_edges(rows)


BY_KEYS = [ENGINE, replace(ENGINE, capacities=Capacities(one_tile=0))]  # a block, and many


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", GRAPHS.values(), ids=GRAPHS)
def test_small_graphs_are_counted_from_their_keys(rows, seed):
    n = 5 + max((max(row) for row in rows), default=-1)  # the last ranks have no row
    keys = np.random.default_rng(seed).permutation(keys_of(rows))
    ends = np.zeros((2, len(keys)), "int32")
    for engine in BY_KEYS if len(keys) else ():
        with testing.thread_order(seed):
            assert engine.small_graph(*ends, n).count(keys.copy()) == reference.count(rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_of_small_graphs_are_counted_without_a_layout(graph, seed):
    csr, _, by_edge = graph
    bare = ENGINE.bare(csr, "auto", sides=True)
    with testing.thread_order(seed):
        assert ENGINE.edge_counts(bare).tolist() == by_edge
    assert ENGINE.bare(csr, "tricore", sides=True) is None
    large = replace(ENGINE, capacities=SIZES["tiny"])
    assert csr.m == 0 or large.bare(csr, "auto", sides=True) is None


@pytest.mark.parametrize("size", [1, 2, 255, 256, 2047, 2048])
def test_one_block_sorts_and_counts_a_tile(size):
    rng = np.random.default_rng(size)
    rows = [tuple(row) for row in np.sort(rng.integers(0, 70, (size, 2)))[:, ::-1].tolist()]
    keys = np.array([u << 32 | v for u, v in rows], np.uint64)
    graph = ENGINE.small_graph(*np.zeros((2, size), "int32"), 70)
    assert graph.count(keys) == reference.count(rows)


@pytest.mark.parametrize("engine", BY_KEYS, ids=["one block", "blocks"])
@pytest.mark.parametrize("outside", [60, 2**31, 2**32 - 1])
def test_what_another_thread_changes_of_a_small_graph_is_an_error(outside, engine):
    src, dst = np.arange(59), np.arange(1, 60)
    graph = engine.small_graph(src, dst, 60)
    keys = keys_of(list(zip(src, dst, strict=True)))
    keys[33] = np.uint64(outside) << np.uint64(32) | np.uint64(3)
    with pytest.raises(KernelError, match="changed during the call"):
        graph.count(keys)
    graph = engine.small_graph(src, dst, 60)
    dst[33] = outside
    assert graph.degrees().sum() == 2 * 59 and graph.ends[1, 33] == 0
    with pytest.raises(KernelError, match="changed during the call"):
        graph.count(keys_of([(0, 1)] * 59))


def test_large_and_dense_graphs_have_a_layout():
    def is_small(rows, n):
        ends = np.zeros(rows, "int8")
        return ENGINE.small_graph(ends, ends, n) is not None

    assert is_small(2**15, 2) and not is_small(2**15 + 1, 2)
    assert is_small(2**20, 2**16) and not is_small(2**20 + 1, 2**20)
    assert not is_small(0, 9)


LOOK_UPS = [ENGINE, replace(ENGINE, capacities=SIZES["tiny"])]  # without heads and with them
by_heads = pytest.mark.parametrize("engine", LOOK_UPS, ids=["searched", "by heads"])


@by_heads
def test_locate(graph, engine):
    csr, _, _ = graph
    everywhere = np.arange(csr.m)
    assert (engine.find_edges(csr, csr.rows, csr.columns) == everywhere).all()
    assert (engine.find_edges(csr, csr.columns, csr.rows) == everywhere).all()
    assert (engine.find_edges(csr, csr.rows, csr.rows) == -1).all()


@pytest.mark.parametrize("engine", [*LOOK_UPS, cpu], ids=["searched", "by heads", "cpu"])
@pytest.mark.parametrize("dtype", ["uint32", "int64"])
def test_locate_by_the_numbers_of_vertices(graph, engine, dtype):
    csr, _, _ = graph
    random = np.random.default_rng(1)
    number = random.permutation(csr.n + 3)  # of each rank; three numbers are no vertices
    rank = np.empty(csr.n + 3, np.uint32)
    rank[number] = np.arange(csr.n + 3)
    u, v = (number[ends].astype(dtype) for ends in (csr.rows, csr.columns))
    assert engine.find_edges(csr, u, v, rank).tolist() == [*range(csr.m)]
    assert engine.find_edges(csr, v, u, rank).tolist() == [*range(csr.m)]
    loops = number[: csr.n].astype(dtype)
    assert (engine.find_edges(csr, loops, loops, rank) == -1).all()
    counts = np.arange(csr.m, dtype="uint32") + 5
    columns = [RowColumn(counts, 0, "int64"), RowColumn(counts.astype("int64"), -1, "int64")]
    for column in engine.row_values(csr, u, v, rank, columns):
        assert column.dtype == "int64" and column.tolist() == [*range(5, csr.m + 5)]
    absent = engine.row_values(csr, loops, loops, rank, columns)
    assert [set(column.tolist()) for column in absent] == ([{0}, {-1}] if csr.n else [set(), set()])


@by_heads
def test_numbers_outside_of_the_ranks_have_no_edge(engine):
    csr = engine.csr(keys_of(clique(40)), 40)
    rank = np.arange(40, dtype=np.uint32)
    wrong = np.array([40, 2**32 - 1, 39, 0], np.uint32)
    found = engine.find_edges(csr, wrong, np.ones(4, np.uint32), rank)
    assert found.tolist() == [-1, -1, 39 * 38 // 2 + 1, 0]  # (0, 1) is the first edge
    ranks = engine.find_edges(csr, wrong, np.ones(4, np.uint32))
    assert ranks.tolist() == found.tolist()


@pytest.mark.parametrize("engine", [ENGINE, cpu], ids=["cuda", "cpu"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint32", "int64", "float64"])
def test_take(engine, dtype):
    values = np.random.default_rng(2).integers(-9, 9, 300).astype(dtype)
    positions = np.random.default_rng(3).integers(-1, 300, 1000)
    taken = engine.take(values, positions)
    assert taken.dtype == values.dtype
    assert taken.tolist() == [values[p] if p >= 0 else 0 for p in positions]
    assert len(engine.take(values[:0], positions[:0])) == 0


@by_heads
def test_locate_says_where_there_is_no_edge(graph, engine):
    csr, _, _ = graph
    u, v = np.random.default_rng(0).integers(0, csr.n, (2, 1000 if csr.n else 0), dtype="uint32")
    ends = zip(csr.rows.tolist(), csr.columns.tolist(), strict=True)
    where = {edge: place for place, edge in enumerate(ends)}
    pairs = zip(np.maximum(u, v).tolist(), np.minimum(u, v).tolist(), strict=True)
    expected = [where.get(pair, -1) for pair in pairs]
    for one in (engine, cpu):
        assert one.find_edges(csr, u, v).tolist() == expected


@each_case
def test_counts(method, sizes, graph):
    csr, total, by_edge = graph
    engine = replace(ENGINE, capacities=sizes)
    layout = engine.prepare(csr)
    assert engine.count(layout, method=method) == total
    if gives_edges(method):
        counts = engine.edge_counts(layout, method=method)
        assert counts.dtype == np.uint32
        assert counts.tolist() == by_edge


@pytest.mark.parametrize("in_lane, warps", [(1, 1), (2, 7), (6, 1), (6, 8192)])
def test_no_layout_is_needed_for_short_rows(in_lane, warps, graph):
    csr, total, _ = graph
    engine = replace(ENGINE, capacities=Capacities(in_lane=in_lane, warps=warps))
    bare = engine.bare(csr, "short-rows")
    assert bare.bare and not bare.complete
    assert engine.count(bare, method="short-rows") == engine.count(bare) == total
    done = []
    assert engine.count(bare, on_progress=done.append) == total
    assert done[-1] == 1


@pytest.mark.parametrize("name, bare", [("grid", True), ("hub", False), ("dense", False)])
def test_auto_needs_no_layout_for_graphs_of_low_degree(name, bare, monkeypatch):
    rows = {
        "grid": [(i, i + step) for i in range(2000) for step in (1, 40)],
        "hub": [*((2000, leaf) for leaf in range(2000)), *((i, i + 1) for i in range(999))],
        "dense": random_rows(90, 3000, 1),
    }[name]
    for name, value in (("SMALL", 0), ("BARE_EDGES", 0), ("BARE_ROW", 16)):
        monkeypatch.setattr(catalogue, name, value)
    csr = ENGINE.csr(keys_of(rows), 2100)
    layout = ENGINE.bare(csr, "auto")
    assert (layout is not None) == bare
    assert catalogue.fastest(csr) == ("short-rows" if bare else "bitmap")
    assert ENGINE.count(layout or ENGINE.prepare(csr)) == reference.count(rows)
    assert ENGINE.bare(csr, "polak") is None


def test_a_method_that_needs_a_layout_refuses_a_graph_without():
    csr = ENGINE.csr(keys_of(clique(4)), 4)
    with pytest.raises(ValueError, match="needs a layout"):
        ENGINE.count(ENGINE.bare(csr, "auto"), method="tricore")


@pytest.mark.parametrize("hubs, least", [(1024, 1), (4096, 32)])
def test_bit_rows_hold_the_hubs_of_rows(graph, hubs, least):
    csr, total, by_edge = graph
    sizes = Capacities(hubs=hubs, least_hubs=least, hubs_from=0, edge_hubs_from=0, heavy_from=0)
    engine = replace(ENGINE, capacities=sizes)
    layout = engine.prepare(csr)
    rows = np.split(csr.columns, csr.offsets[1:-1])
    expected = {u: row[row < hubs] for u, row in enumerate(rows) if (row < hubs).sum() >= least}
    assert (layout.hubs is not None) == bool(expected)
    if expected:
        made = layout.hubs
        assert sorted(made.rows.tolist()) == sorted(expected)
        bits = np.unpackbits(made.bits.view("uint8"), bitorder="little").reshape(-1, hubs)
        assert not bits[-1].any()
        for number, u in enumerate(made.rows.tolist()):
            assert np.flatnonzero(bits[number]).tolist() == expected[u].tolist()
            assert made.covered[number] == len(expected[u])
            start = int(csr.offsets[u])
            assert made.places[start // least] == number * least + start % least
        assert (made.places != 2**32 - 1).sum() == len(expected)
    assert engine.count(layout) == total
    assert engine.edge_counts(layout, method="bitmap").tolist() == by_edge
    listed = np.asarray(engine.triangles_per_in_edge(layout), int)
    walked = np.asarray(ENGINE.triangles_per_in_edge(ENGINE.prepare(csr)), int)
    assert listed.tolist() == walked.tolist()


def test_a_hub_is_counted_in_more_rows_than_eight_bits_hold():
    csr = ENGINE.csr(keys_of(book(4500)), 4502)
    sizes = replace(SIZES["hubs"], least_piece=2**20)
    layout = replace(ENGINE, capacities=sizes).prepare(csr)
    assert layout.hubs is not None and len(layout.heavy) == 4  # a task has all of them
    assert ENGINE.edge_counts(layout, method="bitmap").tolist() == [4500] + 9000 * [1]


def test_few_entries_are_walked_where_rows_have_bits():
    rows = [(u, w) for u in range(150, 200) for w in range(150)] + clique(150)
    csr = ENGINE.csr(keys_of(rows), 200)
    sizes = Capacities(hubs=1024, least_hubs=64, hubs_from=0, edge_hubs_from=0, heavy_from=0)
    probes = []
    for engine in (ENGINE, replace(ENGINE, capacities=sizes)):
        layout = engine.prepare(csr)
        with testing.measure() as work:
            assert engine.count(layout, method="bitmap") == comb(150, 3) + 50 * comb(150, 2)
        probes.append(work.probes)
    lengths = np.arange(csr.m) - csr.offsets[csr.rows]
    lanes, all_lanes = 4, 1024 // 128  # that share an in-edge of one of the first 512 ranks
    bare = np.diff(csr.offsets)[csr.rows] < 64
    few = lengths[bare | (lengths < 64 * lanes // all_lanes)]
    assert probes == [lengths.sum(), few.sum()]


def test_no_row_has_bits_in_a_small_graph_or_a_small_map(graph):
    csr, _, _ = graph
    for sizes in (Capacities(hubs_from=csr.m + 1), Capacities(hubs_from=0, hubs=4096, bits=4096)):
        assert replace(ENGINE, capacities=sizes).prepare(csr).hubs is None


@plain_only  # sanitizers find nothing new in the same paths
def test_a_real_graph(shared_graphs, manifest):
    name = "email-Eu-core"
    file = np.load(shared_graphs / f"{name}.npz")
    rows = np.stack([file["src"], file["dst"]], axis=1)
    ids, degrees = np.unique(rows, return_counts=True)
    rank = np.argsort(np.argsort(-degrees, kind="stable"))
    csr = ENGINE.csr(keys_of(rank[np.searchsorted(ids, rows)]), len(ids))
    answers = {}
    for sizes in (SIZES["default"], SIZES["pieces"]):
        layout = replace(ENGINE, capacities=sizes).prepare(csr)
        for method in METHODS:
            assert ENGINE.count(layout, method=method.name) == int(manifest[name]["triangles"])
            if gives_edges(method.name):
                answers[method.name, sizes] = ENGINE.edge_counts(layout, method=method.name)
    first, *others = answers.values()
    assert int(first.sum()) == 3 * int(manifest[name]["triangles"])
    assert all((first == other).all() for other in others)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_any_thread_order(method, seed):
    rows = GRAPHS["skewed"]
    engine = replace(ENGINE, capacities=SIZES["pieces"])
    with testing.thread_order(seed):
        layout = engine.prepare(engine.csr(keys_of(rows), 600))
        assert engine.count(layout, method=method) == reference.count(rows)
        if gives_edges(method):
            counts = engine.edge_counts(layout, method=method)
            assert int(counts.sum()) == 3 * reference.count(rows)


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_progress_reaches_the_end_and_changes_nothing(method):
    rows = GRAPHS["dense"]
    engine = replace(ENGINE, capacities=SIZES["pieces"])
    layout = engine.prepare(engine.csr(keys_of(rows), 90))
    done = []
    assert engine.count(layout, method=method, on_progress=done.append) == reference.count(rows)
    assert done == sorted(done)
    assert done[-1] == 1


def lists(csr):
    """For each edge (u, v), N+(u) below v and N+(v) where neither is empty."""
    columns, offsets = csr.columns.tolist(), csr.offsets.tolist()
    for position, (u, v) in enumerate(zip(csr.rows.tolist(), columns, strict=True)):
        own, other = columns[offsets[u] : position], columns[offsets[v] : offsets[v + 1]]
        if own and other:
            yield own, other


def met(own, other):
    """The ids of two lists up to the end of the one that ends first, common ones twice."""
    end = min(own[-1], other[-1])
    return [id for id in own + other if id <= end]


def fox_steps(own, other):
    """Steps of a merge whose ids of the shorter list go first, or look-ups where they are less."""
    few, many = (own, other) if len(own) <= len(other) else (other, own)
    if len(few) + len(many) > len(few) * len(many).bit_length():
        return len(few)
    return path_steps(few, many)


def path_steps(first, second):
    """Steps of a merge by single ids, equal ones from the first list first."""
    return len(met(first, second)) - (first[-1] in second)  # the end of the first is the end


def entries(row, vector):
    """Entries of a vector up to the one at or past the end of a row."""
    return min(sum(id < row[-1] for id in vector) + 1, len(vector))


def rounds(candidates, row, n):
    """Digits of four bits that decide whether each candidate is in a row: until it is one's own."""
    shifts = range(4, n.bit_length(), 4)
    alike = [Counter(id >> shift for id in row) for shift in shifts]
    pairs = list(zip(shifts, alike, strict=True))
    return sum(1 + sum(alike[id >> shift] > 1 for shift, alike in pairs) for id in candidates)


def test_probes_are_what_each_method_promises(graph):
    csr, _, _ = graph
    engine = replace(ENGINE, capacities=SIZES["heavy"])
    layout = engine.prepare(csr)
    prefix = np.arange(csr.m) - csr.offsets[csr.rows]  # of N+(u) below v, for each edge (u, v)
    own, other = (np.diff(csr.offsets)[ends] for ends in (csr.rows, csr.columns))
    shorter = np.minimum(prefix, other)[np.argsort(csr.columns, kind="stable")]
    by_chunk = np.add.reduceat(shorter, np.arange(0, csr.m, 256)) if csr.m else shorter
    promised = {
        "bitmap": prefix[other > 0].sum(),  # pairs of a row
        "tricore": np.minimum(prefix, other).sum(),
        "trust": other[own > 1].sum(),
        "polak": sum(len(set(met(*pair))) for pair in lists(csr)),
        "short-rows": sum(len(set(met(*pair))) for pair in lists(csr)),  # merges, as polak's
        "green": sum(path_steps(*pair) for pair in lists(csr)),
        "fox": sum(fox_steps(*pair) for pair in lists(csr)),
        "grouptc": -(-by_chunk // 256).sum() * 256,
        "bisson": other[prefix > 0].sum(),
        "vertex-elimination": sum(entries(*pair) for pair in lists(csr)),
        "radix": sum(rounds(*pair, csr.n) for pair in lists(csr)),
        "hu": (other * np.frexp(own)[1])[own > 1].sum(),  # a comparison for each bit of own
        "h-index": np.maximum(prefix, other)[(prefix > 0) & (other > 0)].sum(),
    }
    assert promised.keys() == {method.name for method in METHODS}
    for method, probes in promised.items():
        with testing.measure() as work:
            engine.count(layout, method=method)
        assert work.probes == probes, method
    for sizes in (SIZES["light"], SIZES["single"]):  # as many by runs, however they are cut
        engine = replace(ENGINE, capacities=sizes)
        layout = engine.prepare(csr)
        with testing.measure() as work:
            engine.count(layout, method="bitmap")
        assert work.probes == promised["bitmap"]


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_every_vertex_of_work_is_one_task(graph, sizes):
    csr, _, _ = graph
    layout = replace(ENGINE, capacities=sizes).prepare(csr)
    sizes = sizes.fitted(csr.m, ENGINE.sm_count)
    prefix = np.arange(csr.m) - csr.offsets[csr.rows]
    probes = np.bincount(csr.columns, prefix, minlength=csr.n) * (np.diff(csr.offsets) > 0)
    cost = probes + sizes.list_cost * np.diff(layout.in_offsets.astype(int))
    heavy = (probes > 0) & (cost >= sizes.heavy_from)
    light = (probes > 0) & ~heavy
    pieces = sorted(layout.heavy.reshape(-1, 4)[:, :3].tolist())
    taken = [(v, i) for v, begin, end in pieces for i in range(begin, end)]
    assert taken == [
        (v, i) for v in np.flatnonzero(heavy).tolist() for i in range(*layout.in_offsets[v : v + 2])
    ]
    runs = sorted(layout.light.reshape(-1, 2).tolist())
    in_runs = [v for first, size in runs for v in range(first, first + size)]
    assert len(in_runs) == len(set(in_runs))
    assert [v for v in in_runs if light[v]] == np.flatnonzero(light).tolist()
    assert not heavy[in_runs].any()
    assert all(size <= 32 and light[first] and light[first + size - 1] for first, size in runs)
    dear = cost + sizes.entry_cost * np.diff(csr.offsets)
    costs = [(dear * light)[first : first + size] for first, size in runs]
    assert all(run.sum() < sizes.run + run.max() for run in costs)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_takes_no_more_memory_than_it_tells(method):
    small = 2**14  # what does not grow with the graph
    for rows in (random_rows(2000, 8000, 2), random_rows(90, 3000, 1), wheel(1500)):
        n = 1 + max(max(row) for row in rows)
        layout = ENGINE.prepare(ENGINE.csr(keys_of(rows), n))
        ENGINE.count(layout, method=method.name)  # compiled
        tracemalloc.start()
        ENGINE.count(layout, method=method.name)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= method.memory(layout.csr.m, n) + small


def test_what_a_method_takes_is_in_the_estimate_and_under_the_limit():
    frame = pd.DataFrame(random_rows(300, 3000, 1), columns=["src", "dst"])
    with testing.host_engine():
        for edges in (frame, tc.Graph(frame)):
            bare, more = (tc.memory_estimate(edges, method=m) for m in ("auto", "radix"))
            assert {stage for stage in bare if more[stage] > bare[stage]} == {"count"}
            assert tc.count(edges, memory_limit=max(bare.values())) == tc.count(edges)
            with pytest.raises(CapacityError, match="count"):
                tc.count(edges, memory_limit=max(bare.values()), method="radix")
        with pytest.raises(ValueError, match="nonsense"):
            tc.memory_estimate(frame, method="nonsense")


def test_a_method_without_edge_counts_says_who_has_them():
    layout = ENGINE.prepare(ENGINE.csr(keys_of(clique(4)), 4))
    with pytest.raises(ValueError, match=r"method='polak' gives no counts of edges; .*bitmap"):
        ENGINE.edge_counts(layout, method="polak")


def test_shared_memory_is_checked_before_the_launch():
    engine = replace(ENGINE, capacities=Capacities(heavy_from=0, counters=20_000))
    layout = engine.prepare(engine.csr(keys_of(clique(5)), 5))
    assert engine.count(layout) == 10
    with pytest.raises(KernelError, match=r"bitmap_block needs .* bytes of shared memory"):
        engine.edge_counts(layout)


def test_what_does_not_fit_a_card_is_refused():
    many = np.broadcast_to(np.zeros(1, np.uint64), 2**31)
    with pytest.raises(CapacityError, match="fewer than 2,147,483,648 rows"):
        ENGINE.csr(many, 10)
    with pytest.raises(CapacityError, match="4,294,967,296 vertices"):
        ENGINE.csr(many[:0], 2**32)
    with pytest.raises(CapacityError, match="edges"):
        ENGINE.prepare(Csr(np.zeros(1, np.int64), np.broadcast_to(np.zeros(1, np.uint32), 2**31)))


def test_blocks_whose_edges_have_no_positions_of_their_own_are_refused():
    block = ENGINE.csr(keys_of(clique(3)), 3)
    layout = ENGINE.prepare_blocks(block, block, block, (0, 0, 0))
    columns, in_edges = (np.broadcast_to(np.zeros(1, f"uint{b}"), 2**31) for b in (32, 64))
    large = replace(layout, csr=Csr(layout.csr.offsets, columns), in_edges=in_edges)
    with pytest.raises(CapacityError, match=r"4,294,967,296 edges.*more blocks"):
        ENGINE.edge_counts(large)


def test_methods_are_found_by_name_and_alias():
    assert find("auto").name == "bitmap"
    for method in METHODS:
        assert all(find(name) is method for name in (method.name, *method.aliases))
    with pytest.raises(ValueError, match=r"method=.nonsense.*bitmap"):
        find("nonsense")
