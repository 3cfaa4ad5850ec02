"""Decisions as pure functions: what a call will need, and which method counts it.

The byte figures are per raw row and per distinct vertex, read off the arrays that each stage holds
at once; they are what `memory_estimate` shows and what `memory_limit=` is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from rapids_tc.errors import CapacityError
from rapids_tc.kernels import catalogue

MAX_ROWS = 2**31 - 1  # of a frame that any library can hold
RAISE = "raise the limit"
ADVICE = f"{RAISE}, or give ids of a narrower integer type"
LISTED = 80  # bytes of a triangle that is listed: ranks, a sort, and ids of eight bytes

# Bytes of a row while a column is made, first or further, where floats are.
COMPARING, COLUMN = {"annotate": 76, "similarity": 80}, 16

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
    function: str, rows: int, vertices: int, dense: bool, method: str = "auto",
    columns: int = 1, colours: int = 2,
) -> list[Stage]:  # fmt: skip
    """Memory of each stage of a function for `rows` raw rows and `vertices` distinct ids.

    `columns` are those that `annotate` adds, `colours` those of `approximate_count`.
    """
    own = catalogue.find(method).memory(rows, vertices)
    ids = 0 if dense else 24 * vertices
    kept = _kept(rows, vertices, dense)
    result = [
        Stage("number", ids + (0 if dense else 40 * rows)),
        Stage("order", kept + 16 * rows),
        Stage("orient", kept + 28 * rows),
    ]
    if function == "approximate_count":  # some of the edges, and the numbers of their ends
        some = rows // colours
        rest = stages("vertex_triangles", some, vertices, dense, method)[1:]
        sample = Stage("sample", kept + 16 * rows)
        return [result[0], sample, *(Stage(s.name, s.bytes + 8 * some) for s in rest)]
    if function not in UNCOUNTED:
        result.append(Stage("layout", kept + 22 * rows + 32 * vertices))
        result.append(Stage("count", kept + 12 * rows + 32 * vertices + own))
    if function in PEELING:
        result.append(Stage("peel", kept + 64 * rows + 80 * vertices))
    if function in OF_VERTICES:
        result.append(Stage("columns", kept + 24 * rows + 56 * vertices))
    elif function in BY_EDGE:
        each = COMPARING.get(function, 60) + COLUMN * (columns - 1)
        result.append(Stage("columns", kept + each * rows + 32 * vertices))
    if function == "simple_edges":
        result.append(Stage("edges", kept + 66 * rows))
    return result


def _kept(rows: int, vertices: int, dense: bool) -> int:
    """Bytes of the numbers and ids, and of ranks, their inverse, presence and offsets."""
    return (0 if dense else 8 * rows + 24 * vertices) + 21 * vertices


def left(
    function: str, rows: int, vertices: int, dense: bool, method: str, has: set[str]
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
    rest = [s for s in stages(function, rows, vertices, dense, method) if s.name not in made]
    return [Stage(stage.name, max(stage.bytes - held, 0)) for stage in rest]


def require(needed: list[Stage], limit: int | None, advice: str = ADVICE) -> None:
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


def check_limit(limit: int | None) -> None:
    """Raise ValueError unless it is a number of bytes, or None."""
    if limit is None:
        return
    if not isinstance(limit, Integral) or isinstance(limit, bool) or limit <= 0:
        raise ValueError(f"memory_limit={limit!r}: give a number of bytes, such as 8 * 2**30")


def require_listing(triangles: int, memory: int, advice: str) -> None:
    """Raise CapacityError where a frame of so many triangles is more than can be made."""
    need = LISTED * triangles
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
