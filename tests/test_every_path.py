"""Every analytic, with every option it takes, whole, prepared, in blocks and on a cluster."""

import every_path
import numpy as np
import pytest
from every_path import CALLS, ENGINES, NAMES, PATHS, Path, share

import rapids_tc as tc
from rapids_tc.analytics.analytic import analytic
from rapids_tc.analytics.overview import options_of as overview_options
from rapids_tc.analytics.overview import overview
from rapids_tc.graphs import resolve
from rapids_tc.graphs.public import Graph
from rapids_tc.plan.block_layout import BlockLayout
from rapids_tc.plan.record import (
    ANALYTICS,
    Column,
    Needs,
    Result,
    VertexColumn,
    Work,
    row_columns,
    vertex_columns,
)

pytestmark = pytest.mark.cpu_only


# Ways to an answer, of which those of a line have all calls together. Kernels differ on few paths.
WAYS = [
    ("cpu", "whole"),
    ("cpu", "prepared"),
    ("cpu", "1 x 1 blocks", "2 x 2 blocks"),
    ("cpu", "3 x 3 blocks", "blocks, the rest in memory"),
    ("cpu", "1 partitions", "7 partitions"),
    ("cpu", "7 partitions, 2 x 2 blocks", "7 partitions, 3 x 3 blocks to the end"),
    ("emulated cuda", "whole"),
    ("emulated cuda", "3 x 3 blocks", "blocks, the rest in memory", "7 partitions, 2 x 2 blocks"),
]
EACH = [
    (path, engine, way, len(paths)) for engine, *paths in WAYS for way, path in enumerate(paths)
]


@pytest.mark.parametrize(
    ("path", "engine", "way", "ways"), EACH, ids=[f"{path}-{engine}" for path, engine, *_ in EACH]
)
def test_every_call_is_right_on_every_path(path, engine, way, ways):
    with ENGINES[engine]():
        for (name, own), shown in share(way, ways):
            try:
                every_path.check(name, own, PATHS[path])
            except BaseException as error:
                error.add_note(shown)
                raise


def test_every_path_is_a_way():
    assert {path for path, *_ in EACH} == PATHS.keys()
    asked = [shown for way in range(3) for _, shown in share(way, 3)]
    assert {*asked} == {*NAMES} and len(asked) < 1.4 * len(NAMES)


def test_a_wrong_definition_is_noticed(monkeypatch):
    monkeypatch.setattr(every_path.reference, "count", lambda rows: 1)
    with pytest.raises(AssertionError):
        every_path.check("count", {}, Path())


# Records ------------------------------------------------------------------------------------------


FOUND_BY_TRIANGLES = Needs.EDGE_COUNTS | Needs.TRUSSNESS | Needs.COMMUNITIES


class Reading:
    """The values of some edges, and what of them a formula has read."""

    xp, needs = np, Needs.NOTHING

    def read(self, needs, *values):
        self.needs |= needs
        return values[0] if len(values) == 1 else values

    counts = property(lambda self: self.read(Needs.EDGE_COUNTS, np.array([1, 0], "uint32")))
    triangles = property(lambda self: self.read(Needs.EDGE_COUNTS, np.array([1, 0])))
    trussness = property(lambda self: self.read(Needs.TRUSSNESS, np.array([3, 2], "int32")))
    squares = property(lambda self: self.read(Needs.SQUARES, np.array([1, 0])))
    bitruss = property(lambda self: self.read(Needs.BITRUSS, np.array([1, 0], "int32")))
    community = property(lambda self: self.read(FOUND_BY_TRIANGLES, np.array([0, -1])))
    degrees = property(lambda self: self.read(Needs.DEGREES, np.array([2, 3]), np.array([2, 1])))

    def visited(self, quantity):
        return self.read(Needs.EDGE_SUMS, np.array([0.5, 0.0]))


def check_column(name):
    """Plans, budgets and clusters prepare what the record says, and no more."""
    column, values = row_columns()[name], Reading()
    dtype = column.formula(values).dtype
    fits = np.can_cast(dtype, column.dtype)
    assert fits, f"say {dtype} in the Column of {name!r}, or convert what it makes"
    assert values.needs == column.needs, f"its formula reads {values.needs}: say so in the Column"
    for record in ANALYTICS.values():
        if name in record.columns:
            missing = column.needs & ~record.needs
            assert not missing, f"the Work of {record.name} lacks {missing} of its column {name!r}"


@pytest.mark.parametrize("name", row_columns())
def test_a_column_needs_what_its_formula_reads(name):
    check_column(name)


class VertexReading(Reading):
    """The values of some vertices, and what of them a formula has read."""

    triangles = property(lambda self: self.read(Needs.VERTEX_COUNTS, np.array([1, 0, 0])))
    degrees = property(lambda self: self.read(Needs.DEGREES, np.array([2, 1, 0])))
    neighbor_degrees = property(lambda self: self.read(Needs.NEIGHBOR_DEGREES, np.array([3, 0, 0])))
    squares = property(lambda self: self.read(Needs.SQUARES, np.array([1, 0, 0])))
    tie_squares = property(lambda self: self.read(Needs.EDGE_SUMS, np.array([3.5, 1.0, 0.0])))
    trussness = property(lambda self: self.read(Needs.TRUSSNESS, np.array([3, 2, 0], "int32")))


def check_vertex_column(column):
    """Plans, budgets and clusters prepare what the record says, and no more."""
    values = VertexReading()
    with np.errstate(invalid="ignore"):
        assert column.formula(values).dtype == column.dtype
    assert values.needs == column.needs, f"its formula reads {values.needs}: say so in the column"


@pytest.mark.parametrize("name", vertex_columns())
def test_a_column_of_vertices_needs_what_its_formula_reads(name):
    check_vertex_column(vertex_columns()[name])
    assert vertex_columns()[name].needs in ANALYTICS["annotate_vertices"].needs


@pytest.mark.parametrize(
    "column",
    [
        VertexColumn("int64", lambda v: v.degrees / 2, Needs.DEGREES),
        VertexColumn("int64", lambda v: v.degrees, Needs.VERTEX_COUNTS),
        VertexColumn("int64", lambda v: v.degrees, Needs.VERTEX_COUNTS | Needs.DEGREES),
    ],
)
def test_a_column_of_vertices_that_says_too_little_or_too_much_is_noticed(column):
    with pytest.raises(AssertionError):
        check_vertex_column(column)


MADE_FOR = {  # by part of a graph in memory
    "edge_counts": Needs.BY_EDGE | Needs.TRIANGLES,
    "degrees": Needs.DEGREES | Needs.VERTEX_COUNTS | Needs.EDGE_SUMS,
    "trussness": Needs.TRUSSNESS,
}


@pytest.mark.parametrize(("name", "own"), CALLS, ids=NAMES)
def test_a_record_names_what_is_made_for_a_call(name, own):
    graph, record = tc.Graph(every_path.FRAME, source="src", destination="dst"), ANALYTICS[name]
    if record.is_bipartite(own):
        graph = tc.Graph(every_path.FRAME, source="src", destination="dst", bipartite=True)
    options = dict(own)
    answer = record.call(graph, *options.pop("columns", ()), **options)
    if record.by_frames:
        list(answer)
    made = MADE_FOR.keys() & vars(graph._prepared).keys()
    needs = record.work(record.check(record.defaults | own)).needs
    lacking = [part for part in made if not needs & MADE_FOR[part]]
    if not needs & Needs.SAMPLE:  # of which another graph is made
        assert lacking == [], f"say in the Work of {name} that it needs one of {MADE_FOR}"


@pytest.mark.parametrize(
    ("column", "work", "message"),
    [
        (Column("int64", lambda e: e.triangles / 2), Needs.EDGE_COUNTS, "say float64"),
        (Column("int64", lambda e: e.degrees[0]), Needs.DEGREES, "reads Needs.DEGREES"),
        (Column("int64", lambda e: e.triangles), Needs.DEGREES, "lacks Needs.EDGE_COUNTS"),
    ],
)
def test_a_record_that_says_too_little_is_noticed(temporary, column, work, message):
    analytic(Work(work, Result.COLUMN), columns={"kept": column})(by_row)
    with pytest.raises(AssertionError, match=message):
        check_column("kept")


# Keywords -----------------------------------------------------------------------------------------


@pytest.fixture
def temporary():
    """What is registered in a test is forgotten after it."""
    before = dict(ANALYTICS)
    yield
    for name in ANALYTICS.keys() - before.keys():
        del ANALYTICS[name]
        delattr(Graph, name)


def total(edges, *, times=1, source=None, destination=None, engine=None, method="auto",
          progress=None, memory_limit=None):  # fmt: skip
    """The count, times a number."""
    return times * edges.count(method)


def by_vertex(edges, *, times=1, source=None, destination=None, engine=None, method="auto",
              progress=None, memory_limit=None):  # fmt: skip
    """The triangles of vertices, times a number."""
    return edges.vertex_frame({"v": times * edges.vertex_counts(method)}, None)


def mean(edges, *, times=1, source=None, destination=None, engine=None, method="auto",
         progress=None, memory_limit=None):  # fmt: skip
    """The mean of the triangles of vertices, times a number."""
    return times * float(edges.vertex_counts(method).mean())


def by_row(edges, *, times=1, source=None, destination=None, engine=None, method="auto",
           progress=None, memory_limit=None):  # fmt: skip
    """The triangles of rows, times a number."""
    return times * edges.row_columns(["kept"], method)["kept"]


def rows_of_truss(edges, *, k=3, source=None, destination=None, engine=None, progress=None,
                  memory_limit=None):  # fmt: skip
    """The k-truss."""
    return edges.take_rows(edges.truss_rows(k), memory_limit)


KEPT = Column("int64", lambda edges: edges.triangles)
WITH_A_KEYWORD = [
    (total, Work(Needs.TOTAL, Result.VALUE), {}),
    (by_vertex, Work(Needs.VERTEX_COUNTS, Result.VERTICES), {}),
    (mean, Work(Needs.VERTEX_COUNTS, Result.VALUE), {}),
    (by_row, Work(Needs.EDGE_COUNTS, Result.COLUMN), {"columns": {"kept": KEPT}}),
    (rows_of_truss, Work(Needs.EDGE_COUNTS | Needs.TRUSSNESS, Result.ROWS), {}),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("body", "work", "more"), WITH_A_KEYWORD, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_keyword_is_served_or_refused_on_every_path(temporary, body, work, more, path):
    """None drops it in silence."""
    call = analytic(work, **more)(body)
    own = {"k": 4} if body is rows_of_truss else {"times": 3}
    plain = every_path.plain(
        body.__name__, call(every_path.FRAME, source="src", destination="dst", **own)
    )
    without = every_path.plain(
        body.__name__, call(every_path.FRAME, source="src", destination="dst")
    )
    assert plain != without  # it has an effect
    if every_path.error_of(body.__name__, own, PATHS[path]) is not None:
        with pytest.raises(TypeError, match="PartitionedFrame"):
            PATHS[path].call(body.__name__, own)
    else:
        assert every_path.plain(body.__name__, PATHS[path].call(body.__name__, own)) == plain


def test_a_column_of_a_new_analytic_is_in_annotate(temporary):
    analytic(Work(Needs.EDGE_COUNTS, Result.COLUMN), columns={"kept": KEPT})(by_row)
    for path in (Path(), Path(layout=BlockLayout(2)), Path(7), Path(7, BlockLayout(2))):
        found = path.call("annotate", {"columns": ("kept", "triangles")})
        values = every_path.plain("annotate", found)
        assert values["kept"] == values["triangles"]


def test_a_name_or_column_has_one_record(temporary):
    with pytest.raises(ValueError, match="has a record already"):
        analytic(Work(Needs.TOTAL, Result.VALUE))(lambda_named("count"))
    with pytest.raises(ValueError, match="has a record already"):
        analytic(Work(Needs.EDGE_COUNTS, Result.COLUMN), columns={"triangles": KEPT})(by_row)
    with pytest.raises(ValueError, match="has a record already"):
        again = {"degree": VertexColumn("int64", lambda v: v.degrees, Needs.DEGREES)}
        analytic(Work(Needs.DEGREES, Result.VERTICES), vertex_columns=again)(by_vertex)
    assert tc.count(every_path.FRAME, source="src", destination="dst") > 0


def lambda_named(name):
    def body(edges):
        """Nothing."""

    body.__name__ = name
    return body


# The table of options on the page of the reference -----------------------------------------------


class ReachedBlocks(Exception):
    """What is raised in place of counting in blocks."""


def test_the_table_of_options_is_true(monkeypatch):
    """A call is counted in blocks, or refused on a cluster, where the table says so."""

    def reached(*given):
        raise ReachedBlocks

    monkeypatch.setattr(resolve, "_in_blocks", reached)
    in_blocks, in_parts = Path(layout=BlockLayout(2)), Path(partitions=2)
    wrong = []
    for row in overview():
        record = ANALYTICS[row.name]
        assert row.options.keys() == overview_options(record).keys()
        for option, own in overview_options(record).items():
            own = {name: value for name, value in own.items() if value is not None}
            own |= {"by": "kind"} if option == "by" else {}
            blocks, cluster = True, True
            try:
                in_blocks.call(row.name, own)
                blocks = False
            except ReachedBlocks:
                pass
            if not row.options[option][1]:
                with pytest.raises((TypeError, tc.CapacityError)):
                    in_parts.call(row.name, own)
                cluster = False
            if (blocks, cluster) != row.options[option]:
                wrong.append((row.name, option, blocks, cluster))
    assert wrong == []
