"""Kinds of triangles on the command line: options of their own that become ``where=``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rapids_tc as tc
from rapids_tc.cli.reading import FileName
from rapids_tc.cli.values import as_integers
from rapids_tc.preparation.triangle_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rapids_tc._typing import Frame
    from rapids_tc.plan.record import Analytic

ANY = "*"  # the type that stands for any
VERTEX_FILE = "a file with the columns vertex and type, the types of vertices"
OF_VERTICES = {"type": FileName(path_type=Path), "metavar": "FILE"}
FLAT = tuple(field.name for field in fields(tc.Triangles))
SHARED = ("time", "within", "aggregate")  # what functions may take themselves


def options(record: Analytic) -> Iterator[Callable[..., Any]]:
    """Yield the options of a kind of triangles, if the function takes one, that it has not."""
    if "where" not in record.defaults:
        return
    column = {"metavar": "COLUMN"}
    settings: dict[str, dict[str, Any]] = {
        "time": column | {"help": "A column of times; give --within, too."},
        "within": {"help": "The most that one time of each edge of a triangle may span."},
        "edge_type": column | {"help": "A column of types; give --types, too."},
        "vertex_type": OF_VERTICES | {"help": f"In its place, {VERTEX_FILE}."},
        "types": {
            "metavar": "A,B,C",
            "help": f"Only triangles whose edges, or corners, have these types, {ANY} being any.",
        },
        "sign": column | {"help": "A column of signs; give --balanced or --unbalanced, too."},
        "directed": {
            "type": click.Choice(KINDS),
            "help": "Count directed triangles, which lead around or do not.",
        },
        "aggregate": {"help": "Which type and sign an edge has that several rows name."},
    }
    for name, of_option in settings.items():
        if name not in record.defaults:
            yield click.option("--" + name.replace("_", "-"), **of_option)
    text = "Count only triangles whose product of signs is plus, or minus."
    yield click.option("--balanced/--unbalanced", default=None, help=text)


def names(record: Analytic) -> tuple[str, ...]:
    """Return the names of the options of a kind of triangles, if the function takes one."""
    if "where" not in record.defaults:
        return ()
    return tuple(name for name in FLAT if name != "directed" or name not in record.defaults)


def with_where(record: Analytic, asked: dict[str, Any], frame: Frame = None) -> dict[str, Any]:
    """Return what is asked with ``where=`` in place of the options of a kind of triangles.

    Types are text until there is the frame, which has them.
    """
    given = {name: asked[name] for name in names(record) if asked.get(name) is not None}
    rest = {name: value for name, value in asked.items() if name not in FLAT}
    own = {name: value for name, value in asked.items() if name in record.defaults}
    if not given.keys() - own.keys():
        return rest | own
    if given.get("types") is not None:
        types = [None if each in ("", ANY) else each for each in given["types"].split(",")]
        typed = given.get("vertex_type")
        if frame is not None and (typed is not None or "edge_type" in given):
            column = frame[given["edge_type"]] if typed is None else typed["type"]
            types = [each and _typed(each, column) for each in types]
        given["types"] = types
    kept = {name: None if name in SHARED else value for name, value in own.items()}
    return rest | kept | {"where": tc.Triangles(**given)}


def _typed(text: str, column: Any) -> Any:
    """Return the type of a column that is written as a text.

    If there is none, it is a number if those of the column are, and if it is written as one.
    """
    types = as_integers(column).drop_duplicates()
    try:
        other: Any = float(text) if types.dtype.kind in "iuf" else text
    except ValueError:
        other = text
    if isinstance(other, float) and other.is_integer():
        other = int(other)
    return next((value for value in types.tolist() if str(value) == text), other)
