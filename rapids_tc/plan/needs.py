"""Decisions as pure functions: what a call will need, and which method counts it.

Each engine has its own bytes per raw row and per vertex of every stage (`engines.Costs`). The sums
are shown by `memory_estimate` and compared with `memory_limit=`.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from rapids_tc.engines import registry
from rapids_tc.errors import CapacityError
from rapids_tc.kernels import catalogue

WEIGHTED = "clustering with weights"  # has an estimate of its own
MAX_ROWS = 2**31 - 1  # of a frame that any library can hold
RAISE = "raise the limit"
NARROWER = "give ids of a narrower integer type"
INSTEAD = {  # per function that is never cut in blocks, an alternative that may serve
    "Graph": "give the frame itself to the functions, most of which are",
    "annotate": 'without "trussness" it is, and so is k_truss',
    "approximate_count": "count is",
    "iter_triangles": "k_truss(edges, 3) is, and its rows have the same triangles",
    "list_triangles": "k_truss(edges, 3) is, and its rows have the same triangles",
    "trussness": "k_truss is",
    WEIGHTED: "clustering without weight= is",
}
LISTED = 80  # bytes of a triangle that is listed: ranks, a sort, and ids of eight bytes

COLUMN = 16  # bytes per row for each further column of the result

# What a function does besides counting.
PEELING = {"annotate", "k_truss", "trussness"}
OF_VERTICES = {"average_clustering", "clustering", "vertex_triangles"}
BY_EDGE = {
    *PEELING, *OF_VERTICES, "approximate_count", "edge_triangles", "iter_triangles",
    "list_triangles", "similarity",
}  # fmt: skip
LISTING = {"iter_triangles", "list_triangles"}
UNCOUNTED = {"simple_edges", "Graph"}
ONE_METHOD = {*LISTING, *UNCOUNTED, "k_truss", "trussness"}  # take no method=
FUNCTIONS = {*BY_EDGE, *UNCOUNTED, "count", "transitivity", "triad_counts"}


@dataclass(frozen=True)
class Stage:
    """One stage of a call: the bytes it holds at its height, on top of the user's frame."""

    name: str
    bytes: int


def stages(
    function: str, rows: int, vertices: int, dense: bool, engine: str, method: str = "auto",
    columns: int = 1, colours: int = 2,
) -> list[Stage]:  # fmt: skip
    """Memory of each stage of a function for `rows` raw rows and `vertices` distinct ids.

    `columns` are those that `annotate` adds, `colours` those of `approximate_count`.
    """
    costs, kept = registry.costs_of(engine), _kept(rows, vertices, dense)

    def stage(name: str, work: str = "", more: int = 0) -> Stage:
        a_row, a_vertex = costs.stages[work or name]
        return Stage(name, kept + a_row * rows + a_vertex * vertices + more)

    result = [
        Stage("number", 0 if dense else 24 * vertices + 40 * rows),
        stage("order"),
        stage("orient"),
    ]
    if function == "approximate_count":  # some of the edges, and the numbers of their ends
        some = rows // colours
        rest = stages("vertex_triangles", some, vertices, dense, engine, method)[1:]
        numbers = costs.stages["numbers"][0] * some
        return [result[0], stage("sample"), *(Stage(s.name, s.bytes + numbers) for s in rest)]
    by_edge = function in {*BY_EDGE, WEIGHTED} - LISTING
    if function not in UNCOUNTED:
        own = catalogue.find(method).memory(rows, vertices)
        result.append(stage("layout"))
        counting = "count by edge" if by_edge else "count"
        result.append(stage("count", counting, own + costs.tables(vertices, by_edge)))
    if function in PEELING:
        result.append(stage("peel", more=costs.tables(vertices, True)))
    if function in OF_VERTICES:
        result.append(stage("columns", "by vertex"))
    elif function in BY_EDGE | {WEIGHTED}:
        work = function if function in costs.stages else "by row"
        result.append(stage("columns", work, COLUMN * (columns - 1) * rows))
    if function == "simple_edges":
        result.append(stage("edges"))
    return result


def _kept(rows: int, vertices: int, dense: bool) -> int:
    """Bytes of the numbers and ids, and of ranks, their inverse, presence and offsets."""
    return (0 if dense else 8 * rows + 24 * vertices) + 21 * vertices


def left(
    function: str, rows: int, vertices: int, dense: bool, engine: str, method: str, has: set[str]
) -> list[Stage]:
    """Memory of each stage that is still to be made of a graph, on top of what it `has`."""
    made, held = {"number"}, 0
    if function != "approximate_count":  # which makes a graph of its own
        made |= {"order", "orient"}
        held = _kept(rows, vertices, dense) + 4 * rows
        if "layout" in has:
            made.add("layout")
            held += 8 * rows + 32 * vertices
        if "edge_counts" in has and method == "auto" and function not in LISTING:
            made.add("count")
        if "trussness" in has:
            made.add("peel")
    rest = [
        s for s in stages(function, rows, vertices, dense, engine, method) if s.name not in made
    ]
    return [Stage(stage.name, max(stage.bytes - held, 0)) for stage in rest]


def require(needed: list[Stage], limit: int | None, advice: str = RAISE) -> None:
    """Raise CapacityError where a stage needs more than `limit` bytes."""
    check_limit(limit)
    if limit is None or not needed:
        return
    worst = max(needed, key=lambda stage: stage.bytes)
    if worst.bytes > limit:
        raise CapacityError(
            f'the stage "{worst.name}" needs about {worst.bytes:,} bytes and memory_limit= allows '
            f"{limit:,}: {advice}"
        )


def advice(function: str, method: str) -> str:
    """Return the hint of the error for a function that needs more memory than its limit."""
    helps, instead = f"{RAISE}, or {NARROWER}", INSTEAD.get(function)
    if not catalogue.find(method).blocks:
        function, instead = f"method={method!r}", 'method="auto" is'
    return f"{helps}; {function} is not counted in blocks: {instead}" if instead else helps


def is_integer(value: object) -> bool:
    """Return whether an argument is an integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_limit(limit: int | None) -> None:
    """Raise ValueError unless it is a number of bytes, or None."""
    if limit is None:
        return
    if not is_integer(limit) or limit <= 0:
        raise ValueError(f"memory_limit={limit!r}: give a number of bytes, such as 8 * 2**30")


def require_listing(triangles: int, memory: int, advice: str, text: int = 0) -> None:
    """Raise CapacityError where a frame of so many triangles is more than can be made.

    `text` is the bytes of text of an id in the frame.
    """
    need = (LISTED + 3 * text) * triangles
    if triangles > MAX_ROWS or need > memory:
        raise CapacityError(
            f"a frame of {triangles:,} triangles takes about {need:,} bytes while it is made; it "
            f"may have {MAX_ROWS:,} rows and take {memory:,} bytes: {advice}"
        )


def require_method(method: str, function: str, engine: str) -> None:
    """Raise ValueError unless the engine has a method of that name for what a function counts."""
    catalogue.find(method)  # any there is
    if method != "auto" and function in ONE_METHOD:
        raise ValueError(f"method={method!r}: {function} takes none")
    catalogue.find(method, "edges" if function in BY_EDGE else "total")
    if method != "auto" and engine == "cpu":
        raise ValueError(
            f'method={method!r} names a CUDA kernel; on the CPU engine only method="auto" counts. '
            'Pass a cuDF frame, or engine="cuda"'
        )
