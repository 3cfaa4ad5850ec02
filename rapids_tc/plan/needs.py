"""Decisions as pure functions: what a call will need, and which method counts it.

Each engine has its own bytes per raw row and per vertex of every stage (`rapids_tc.plan.costs`).
The sums are shown by `memory_estimate` and compared with `memory_limit=`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rapids_tc.engines import registry
from rapids_tc.errors import CapacityError
from rapids_tc.kernels import catalogue
from rapids_tc.plan import costs as model
from rapids_tc.plan.record import Analytic, Needs, Result, Work

if TYPE_CHECKING:
    from rapids_tc.preparation.distinct import DistinctIds

RAISE = "raise the limit"
NARROWER = "give ids of a narrower integer type"
GRAPHLETS = Needs.CLIQUES | Needs.SQUARES  # what functions of graphlets alone need


@dataclass(frozen=True)
class Stage:
    """One stage of a call: the bytes it holds at its height, on top of the user's frame."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Text:
    """The bytes of text of an id, on the average, and whether Python's objects hold it.

    `parts` is how many parts an id is made of; 0 for ids of one column.
    """

    length: int = 0
    objects: bool = False
    parts: int = 0

    @classmethod
    def of(cls, ids: DistinctIds) -> Text:
        """Return what an estimate of the ids says of their text."""
        return cls(ids.text, ids.objects, ids.parts)

    @property
    def in_answers(self) -> int:
        """The bytes of text of an id in a row of an answer, where objects are shared."""
        return 0 if self.objects else self.length


NO_TEXT = Text()
BY_ROW = Result.COLUMN, Result.COLUMNS
HIGHER = (  # what takes more memory than to make an answer by row does
    Needs.SQUARES | Needs.BITRUSS | Needs.COMMUNITIES | Needs.EDGE_SUMS | Needs.VALUES | Needs.AS_OF
)
OF_WEDGES = "wedges", "squares", "peel squares"  # stages whose layout is the one of wedges


def stages(
    work: Work,
    rows: int,
    vertices: int,
    dense: bool,
    engine: str,
    method: str = "auto",
    *,
    text: Text = NO_TEXT,
    snapshot: int = 0,
) -> list[Stage]:
    """List the memory of each stage of a call for `rows` raw rows and `vertices` distinct ids.

    `snapshot` is the bytes that a graph copies of the user's frame.
    """
    costs, kept = registry.costs_of(engine), _kept(rows, vertices, dense, engine, text)

    def stage(name: str, key: str = "prepare", more: int = 0) -> Stage:
        pair = model.STAGES[engine][key]
        return Stage(name, kept + model.total(pair, rows, vertices) + more)

    result = [
        Stage("number", 0 if dense else _numbering(rows, vertices, engine, text)),
        stage("order"),
        stage("orient"),
    ]
    if work.needs & Needs.AS_OF:  # of rows by time, without their graph
        more = (model.COLUMN * (work.columns - 1) + work.values) * rows
        more += costs.timed_tables(rows, vertices)
        result = result[: 1 if work.needs == Needs.AS_OF else None]
        result.append(stage("earlier rows", "earlier rows", more))
    if work.needs & Needs.SAMPLE:  # a graph of some of the edges, and the numbers of their ends
        sampled = rows // work.colors
        counted = replace(work, needs=Needs.VERTEX_COUNTS)
        rest = stages(counted, sampled, vertices, dense, engine, method)[1:]
        numbers = model.KEY * sampled + kept - _kept(sampled, vertices, dense, engine, NO_TEXT)
        return [
            result[0],
            stage("sample", "sample"),
            *(Stage(s.name, s.bytes + numbers) for s in rest),
        ]
    if work.result is Result.GRAPH:
        result.append(stage("keep", "keep", snapshot))
    held, numbered = 0, 0
    if engine == "cuda" and numbers_rows(work):
        numbered = model.NUMBERED * rows
    if work.needs & Needs.VALUES:
        held = work.values * rows
        by_time = bool(work.needs & Needs.SPANS)
        times = stage("values", "coded times" if work.coded else "times")
        result.append(times if by_time else stage("values", "values", held))
    if work.needs & Needs.COUNTED:
        own = catalogue.find(method).memory(rows, vertices)
        if not work.around:
            result.append(stage("layout", more=held + numbered))
        by_edge = work.needs & Needs.TRUSSNESS  # without sums by vertex
        held += model.SUMMED * vertices if work.needs & Needs.VALUES and not by_edge else 0
        more = own + costs.tables(vertices, work.by_edge) + held + numbered
        counting = "count around" if work.around else "prepare"
        if work.needs & (Needs.EDGE_SUMS | Needs.TRIANGLES) and not work.around:
            counting = "sum of graphlets" if GRAPHLETS in work.needs else "sum by edge"
        if work.needs & Needs.EDGE_SUMS and work.needs & (Needs.EDGE_COUNTS | Needs.VERTEX_COUNTS):
            more += model.COUNT * rows
        result.append(stage("count", counting, more))
    if work.needs & Needs.CLIQUES:
        more = costs.local_graphs(rows) + costs.tables(vertices, True) + numbered
        result.append(stage("count", more=more))
    if work.needs & (Needs.SQUARES | Needs.BITRUSS):
        result.append(stage("wedges", "wedges"))
        key, more = "squares", costs.wedge_counters(rows, vertices)
        if work.result in BY_ROW:
            key = "squares by edge"
        if work.needs & Needs.COUNTED:  # which were counted before, from another layout
            more += model.total(model.LAYOUT, rows, vertices) + model.COUNT * rows
        result.append(stage("squares", key, more))
    if work.needs & Needs.BITRUSS:  # its index comes on top: see engines.blooms.require_index
        result.append(stage("peel squares", "peel squares", costs.wedge_counters(rows, vertices)))
    if work.needs & Needs.SIMILAR_PAIRS:
        result.append(stage("compare", "similar pairs", costs.similarity_tables(vertices)))
    if work.needs & Needs.TRUSSNESS:
        of_kind = held + (model.PACKED_KIND * rows if work.of_kind else 0)
        result.append(stage("peel", "peel", costs.tables(vertices, True) + of_kind))
    if work.needs & Needs.NEIGHBORS:
        more = costs.tables(vertices, False) + model.PAIR * work.pairs
        result.append(stage("pairs", "by vertex", more))
    if work.needs & Needs.COMMUNITIES:
        result.append(stage("communities", "communities", costs.tables(vertices, True)))
        held += model.COMMUNITY * rows if work.result is Result.COLUMNS else 0
    if key := _answering(work):
        name = key if key == "edges" else "columns"
        values = 2 * vertices if work.result is Result.VERTICES else rows  # by rank, and by id
        more = model.COLUMN * (work.columns - 1) * values + held
        if key == "by vertex from edges" and work.needs & Needs.EDGE_SUMS:
            more += 2 * model.COUNT * rows  # sums have eight bytes, and counts are kept beside
        if key == "edges" and text.parts:
            more += rows * _parts(text)
        if key == "edges" and text.in_answers:
            kept_text = model.TEXT_IDS[0] * (engine == "cpu")  # which Arrow reuses
            more += max(2 * (text.in_answers + model.KEY) - kept_text, 0) * rows
        result.append(stage(name, key, more))
    return _highest(result)


def beside(stages: list[Stage], held: int) -> list[Stage]:
    """Return stages during each of which so many bytes are held, too."""
    return [Stage(stage.name, stage.bytes + held) for stage in stages] if held else stages


def most_rows(work: Work, engine: str) -> int:
    """Return how many rows are too many for a graph in memory."""
    most = model.MOST_GRAPH_ROWS[engine]
    return min(most, model.MOST_TIMED_ROWS) if work.needs & Needs.AS_OF else most


def numbers_rows(work: Work) -> bool:
    """Return whether a GPU finds the edge of each row while it sorts a large graph.

    The positions are held from then on. So this is for answers by row whose making is the height of
    a call: there they take the place of those that a search would find.
    """
    by_row = work.result in BY_ROW or work.result is Result.ROWS
    return by_row and not work.needs & HIGHER


def _highest(stages: list[Stage]) -> list[Stage]:
    """Return each stage once: a call that counts in several ways is as high as the highest."""
    most: dict[str, int] = {}
    for stage in stages:
        most[stage.name] = max(stage.bytes, most.get(stage.name, 0))
    return [Stage(name, needed) for name, needed in most.items()]


def _answering(work: Work) -> str:
    """Return the key of the costs of making the answer; an empty text if it takes no memory."""
    needs = work.needs
    if needs & Needs.EDGES:
        return "edges"
    if GRAPHLETS in needs:
        return "by vertex of graphlets" if work.result is Result.VERTICES else "graphlets"
    if needs & Needs.CLIQUES:
        return {Result.VERTICES: "by vertex", Result.COLUMN: "by row from cliques"}.get(
            work.result, ""
        )
    if needs & (Needs.SQUARES | Needs.BITRUSS) and not needs & Needs.COUNTED:
        by_row = dict.fromkeys(BY_ROW, "by row from squares")
        return {Result.VERTICES: "by vertex from squares", **by_row}.get(work.result, "")
    if work.result is Result.VERTICES:
        of_edges = Needs.NEIGHBOR_DEGREES | Needs.TRUSSNESS | Needs.EDGE_SUMS
        return "by vertex from edges" if needs & of_edges else "by vertex"
    if work.result is Result.TRIANGLES and not needs & Needs.TYPE_COUNTS:
        return "sum by edge"
    if needs & Needs.EDGE_SUMS:
        return "by row from degrees" if needs & Needs.DEGREES else "by row from sums"
    by_vertex = needs & (Needs.VERTEX_COUNTS | Needs.WEIGHTS) and not needs & Needs.TRUSSNESS
    if by_vertex or Needs.TYPE_COUNTS | Needs.DEGREES in needs:
        return "by vertex"
    if needs & Needs.TRIANGLES:
        return "sum by edge"
    if needs & Needs.COMMUNITIES and work.result in (Result.COMMUNITIES, Result.TABLE):
        return "rows of communities"
    if needs & Needs.BY_EDGE & ~Needs.VALUES:
        return "by row from degrees" if needs & Needs.DEGREES else "by row"
    return ""


def _numbering(rows: int, ids: int, engine: str, text: Text) -> int:
    """Return the bytes at the height of numbering ids that are not dense."""
    if engine == "cuda":
        pair = model.NUMBERING_PARTS if text.parts else model.NUMBERING[engine]
        return model.total(pair, rows, ids)
    need = model.total(model.NUMBERING[engine], rows, ids)
    need += rows * _parts(text) if text.parts else 0
    # Arrow's table of text holds distinct ids alone
    return need + (_text_kept(rows, ids, text) if text.length else _table(rows, ids))


def _parts(text: Text) -> int:
    """Return the bytes per row of the numbers of parts, and of the keys that are made of them."""
    return model.PART * text.parts + model.KEYS


def _table(values: int, ids: int) -> int:
    """Return the bytes of the table in which pandas hashes so many values.

    A table begins with room for all values, up to a limit, and doubles when it is nearly full.
    """
    most = max(min(values, model.TABLE_LIMIT), ids)
    return model.BUCKET * (1 << int(most / model.BUCKETS_FILLED).bit_length())


def _text_kept(rows: int, ids: int, text: Text) -> int:
    """Return the bytes that Arrow takes for text while it is numbered, and keeps to be reused."""
    if not text.length:
        return 0
    copied = model.OBJECT_COPIES * (text.length + model.KEY) * rows * text.objects
    return model.total(model.TEXT_IDS, rows, ids) + 2 * text.length * ids + copied


def _kept(rows: int, vertices: int, dense: bool, engine: str, text: Text) -> int:
    """Return the bytes of numbers and ids, and of ranks, their inverse, presence and offsets."""
    ids = 0 if dense else model.total(model.INDEXED_IDS[engine], rows, vertices)
    if engine == "cpu":
        ids += _text_kept(rows, vertices, text)
    return ids + model.total(model.ORDER, rows, vertices)


def remaining(
    work: Work, rows: int, vertices: int, dense: bool, engine: str, method: str, has: set[str],
    text: Text = NO_TEXT,
) -> list[Stage]:  # fmt: skip
    """List the memory of the stages that are still to be made of a graph, on top of what it `has`.

    `has` names the attributes that the graph has made.
    """
    made, held, held_layout, held_wedges = {"number"}, 0, 0, 0
    if not work.needs & Needs.SAMPLE:  # which makes a graph of its own
        if "csr" in has:
            made |= {"order", "orient", "keep"}
            held = _kept(rows, vertices, dense, engine, text) + model.total(
                model.ORIENTED, rows, vertices
            )
        if "layout" in has:
            made.add("layout")
            held_layout = model.total(model.LAYOUT, rows, vertices)
        others = Needs.TRIANGLES | Needs.VALUES | Needs.EDGE_SUMS
        if "edge_counts" in has and method == "auto" and not work.needs & others:
            made.add("count")
        if "wedge_layout" in has:
            made.add("wedges")
            held_wedges = model.total(model.WEDGE_LAYOUT, rows, vertices)
        if "trussness" in has:
            made.add("peel")
        if "bitruss_numbers" in has:
            made.add("peel squares")
            made |= set() if work.needs & Needs.SQUARES else {"wedges", "squares"}
        if "community_tree" in has:
            made.add("communities")

    def adds(stage: Stage) -> int:
        layout = held_wedges if stage.name in OF_WEDGES else held_layout
        return max(stage.bytes - held - layout, 0)

    rest = stages(work, rows, vertices, dense, engine, method, text=text)
    return [Stage(s.name, adds(s)) for s in rest if s.name not in made]


def describe(rows: int, vertices: int, dense: bool, engine: str) -> str:
    """Describe the memory that a graph needs, for the error if memory runs out."""
    total = Work(Needs.TOTAL, Result.VALUE)
    need = max(stage.bytes for stage in stages(total, rows, vertices, dense, engine))
    return (
        f"{rows:,} rows need about {need:,} bytes on top of the frame. "
        "memory_estimate lists the stages; a frame of narrower integer ids needs less"
    )


def require(needed: list[Stage], limit: int | None, advice: str = RAISE) -> None:
    """Raise CapacityError if a stage needs more than `limit` bytes."""
    if limit is None or not needed:
        return
    worst = max(needed, key=lambda stage: stage.bytes)
    if worst.bytes > limit:
        raise CapacityError(
            f'the stage "{worst.name}" needs about {worst.bytes:,} bytes and memory_limit= allows '
            f"{limit:,}: {advice}"
        )


def advice(name: str, instead: str, method: str) -> str:
    """Return the hint of the error for a call that needs more memory than its limit.

    `instead` is what may be called in place of an analytic that is not counted in blocks.
    """
    helps = f"{RAISE}, or {NARROWER}"
    if not catalogue.find(method).blocks:
        name, instead = f"method={method!r}", 'method="auto" is'
    return f"{helps}; {name} is not counted in blocks: {instead}" if instead else helps


def require_listing(triangles: int, memory: int, advice: str, text: int = 0) -> None:
    """Raise CapacityError if a frame of so many triangles is more than can be made.

    `text` is the bytes of text of an id in the frame.
    """
    need = (model.LISTED + 3 * text) * triangles
    if triangles > model.MOST_ROWS or need > memory:
        raise CapacityError(
            f"a frame of {triangles:,} triangles takes about {need:,} bytes while it is made; it "
            f"may have {model.MOST_ROWS:,} rows and take {memory:,} bytes: {advice}"
        )


def require_pairs(
    pairs: int, memory: int, advice: str, text: int = 0, what: str = "the answer"
) -> None:
    """Raise CapacityError if a frame of so many pairs of vertices is more than can be made.

    `text` is the bytes of text of an id in the frame, `what` the name of the frame.
    """
    need = (model.PAIRED + 2 * text) * pairs
    if pairs > model.MOST_ROWS or need > memory:
        raise CapacityError(
            f"{what} may have {pairs:,} rows, which take about {need:,} bytes while they are "
            f"made; {model.MOST_ROWS:,} rows and {memory:,} bytes are allowed: {advice}"
        )


def require_method(method: str, record: Analytic, engine: str) -> None:
    """Raise ValueError unless the engine has a method of that name for what an analytic counts."""
    catalogue.find(method)  # any there is
    if method == "auto":
        return
    if not record.takes_method:
        raise ValueError(f"method={method!r}: {record.name} takes none")
    catalogue.find(method, "edges" if record.most.by_edge else "total")
    if engine == "cpu":
        raise ValueError(
            f'method={method!r} names a CUDA kernel; on the CPU engine only method="auto" counts. '
            'Pass a cuDF frame, or engine="cuda"'
        )
