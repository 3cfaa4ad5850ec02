"""A command per function of edges, made from its record: its options, its help, its table."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rapids_tc._arguments import as_bytes
from rapids_tc.cli import kinds, tables
from rapids_tc.cli.edges import FileEdges, open_edges
from rapids_tc.cli.output import BEHIND_FILE, GRAPH, LISTS, ROWS, SOME, VERTICES, Command
from rapids_tc.cli.reading import FileName, takes_file
from rapids_tc.frames.adapters import PandasAdapter
from rapids_tc.frames.backend import resolve_backend
from rapids_tc.plan import needs
from rapids_tc.plan.record import ANALYTICS, COLUMNS, Analytic, OwnOptions, Result
from rapids_tc.preparation.edge_columns import check_new

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rapids_tc._typing import EngineName, Frame
    from rapids_tc.cli.tables import Output

COMMA_LISTS = ("vertices", "types")  # options that are typed as several values between commas
# Options that only Python has: a kind in its parts, and what --limit and --out do here.
UNTYPED = ("max_rows", "where", "out", "force")
# Answers with the rows of the file.
WHOLE_ROWS = (Result.COLUMN, Result.COLUMNS, Result.ROWS, Result.COMMUNITIES)
TOPICS = {  # of commands, by the shape of the answer
    Result.VALUE: GRAPH,
    Result.TABLE: GRAPH,
    Result.TIMES: GRAPH,
    Result.VERTICES: VERTICES,
    Result.COLUMN: ROWS,
    Result.COLUMNS: ROWS,
    Result.ROWS: SOME,
    Result.COMMUNITIES: SOME,
    Result.EDGES: LISTS,
    Result.TRIANGLES: LISTS,
    Result.PAIRS: LISTS,
}
# What an example gives for an option that a command does not go without; of others, its name.
EXAMPLE_VALUES = {"k": "4", "top": "5", "columns": "triangles", "time": "date", "sign": "trust"}
READING = "`rapids-tc count --help` tells how FILE is read."


class _Bytes(click.ParamType):  # type: ignore[type-arg]
    """Bytes to allow, as a number or as text that names its unit."""

    name = "number of bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes, or fail with a message if there are none."""
        size = value if isinstance(value, int) else as_bytes(value)
        if not size:
            self.fail(f"{value!r} is no size above 0, such as 2GB or 512MiB", param, ctx)
        return size


def commands() -> Iterator[click.Command]:
    """Make the commands of all functions whose answer is whole.

    Triangles themselves are written by `list`, in parts.
    """
    for record in ANALYTICS.values():
        if record.result is not Result.TRIANGLES and not record.by_frames:
            yield _command(record)


def takes_options(record: Analytic) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a function of edges to a command, but for those of reading its file."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(list(_options(record))):
            command = option(command)
        return command

    return decorate


def _command(record: Analytic) -> click.Command:
    def run(*, file: Path, engine: EngineName | None, output: Output, **options: Any) -> None:
        answer_file(record, file, _from_places(record, options), engine, output)

    run.__doc__ = f"{_summary(record)}\n\nIn Python: rapids_tc.{record.name}. {READING}"
    name = record.name.replace("_", "-")
    made = click.command(
        name,
        cls=Command,
        topic=TOPICS[record.result],
        example=_example(record),
        renamed={_typed(old): _typed(new) for old, new in record.renamed.items()},
    )
    return made(takes_file(takes_options(record)(tables.takes_out(run))))


def split_options(
    record: Analytic, options: dict[str, Any], engine: EngineName | None
) -> tuple[OwnOptions, dict[str, Any]]:
    """Return the options of the function, which are checked before a file is read, and the rest."""
    names = {*record.defaults, *kinds.names(record), "by", "method", "memory_limit"}
    asked = {name: value for name, value in options.items() if name in names}
    own_names = {*record.defaults, *kinds.names(record)}
    own = {name: _parsed(name, asked.pop(name)) for name in [*asked] if name in own_names}
    record.check({**record.defaults, **kinds.with_where(record, own)})
    if own.get("bipartite") and own.get("vertices") is not None:
        raise ValueError(
            "vertices= names no sides: leave out bipartite= or vertices=; in Python, vertices= "
            "takes a frame with the columns 'side' and 'vertex'"
        )
    if "method" in asked:
        needs.require_method(asked["method"], record, engine or "cpu")
    if engine is not None:
        resolve_backend(PandasAdapter(), engine)  # says what to install, before the file is read
    asked["by"] = list(asked["by"]) or None
    reading = {name: value for name, value in options.items() if name not in names}
    return {**asked, **own}, reading


def answer_file(
    record: Analytic,
    file: Path,
    options: dict[str, Any],
    engine: EngineName | None,
    output: Output,
) -> None:
    """Ask a function about the edges of a file, and write what it says."""
    tables.require_out(output)
    edges, asked, ids = opened(record, file, options, engine)
    stars, graph, rows = asked.pop("columns", ()), asked.pop("edges"), edges.frame
    new = _new_columns(record, asked, stars)
    if asked.get("pairs") is not None:
        rows, asked["pairs"] = edges.pairs(asked["pairs"])
        check_new(new, list(rows.columns), "the file of pairs")
    found = record.call(graph, *stars, **asked, **ids)
    if output.is_free and isinstance(found, int | float):
        click.echo(found)
        return
    table = _table(record, rows, found, stars)
    if output.as_json and (isinstance(found, int | float) or is_dataclass(found)):
        tables.write_value(table)
    else:
        tables.write([table], output)


def opened(
    record: Analytic, file: Path, options: dict[str, Any], engine: EngineName | None
) -> tuple[FileEdges, dict[str, Any], dict[str, Any]]:
    """Read the edges of a file as a function is asked about them.

    Returns the file, the options of the function, among them its ``edges``, and those that name the
    columns of the edges.
    """
    asked, reading = split_options(record, options, engine)
    by = asked.pop("by")
    read = [asked[name] for name in COLUMNS if asked.get(name) is not None]
    named = [*read, *(by or ())]
    numbered = any(name.isdecimal() for name in named)
    reading["directed"] = bool(asked.get("directed"))
    edges = open_edges(file, reading, "all" if numbered or record.result in WHOLE_ROWS else named)
    if asked.get("vertices") is not None:
        asked["vertices"] = edges.ids(asked["vertices"])
    if asked.get("vertex_type") is not None:
        asked["vertex_type"] = edges.vertex_types(asked["vertex_type"])
    labels = {name: edges.labels(asked[name]) for name in COLUMNS if asked.get(name) is not None}
    asked |= labels
    if record.result in WHOLE_ROWS:
        new = _new_columns(record, asked, asked.get("columns", ()))
        check_new(new or record.fields(asked), list(edges.frame.columns), "the file")
    groups = by and edges.labels(by)
    asked = kinds.with_where(record, asked, edges.frame)
    asked["edges"], ids = edges.graph(engine, groups, labels)
    return edges, asked, ids


def _new_columns(record: Analytic, asked: dict[str, Any], stars: Sequence[str]) -> Sequence[str]:
    """Return the names of the columns that an answer adds to the rows, if options name them."""
    added = [*record.columns] if record.result is Result.COLUMN else []
    return [asked["measure"]] if "measure" in asked else stars or added


def _table(record: Analytic, frame: Frame, found: Any, stars: Sequence[str]) -> Frame:
    """Return an answer as a frame of pandas; rows of the file are as they are there."""
    import pandas as pd

    if record.result is Result.COLUMN:
        return frame.assign(**{found.name: found.to_numpy()})
    if record.result is Result.COLUMNS:
        added = stars or record.fields(record.defaults)
        return frame.assign(**{name: found[name].to_numpy() for name in added})
    if record.result is Result.ROWS:
        return frame.loc[found.index]
    if record.result is Result.COMMUNITIES and "parent" not in found.columns[-3:]:
        return frame.loc[found.index].assign(community=found["community"])
    if isinstance(found, pd.DataFrame):
        return found
    if is_dataclass(found):
        return pd.DataFrame([asdict(found)])  # type: ignore[arg-type]
    fields = record.fields(record.defaults)
    name = fields[0] if len(fields) == 1 else record.name
    return pd.DataFrame({name: [found]})


# Options ------------------------------------------------------------------------------------------


def _example(record: Analytic) -> str:
    """Return what is typed behind FILE in an example: all that a call needs."""
    words, places = [], [parameter.name for parameter in _places(record)]
    for name, default in record.defaults.items():
        if name in places or name == "columns":
            words.append(EXAMPLE_VALUES[name])
        elif default is inspect.Parameter.empty:
            words.append(f"{_typed(name)} {EXAMPLE_VALUES.get(name, name)}")
    if "edge_type" in record.defaults:  # or types of vertices
        words.append("--edge-type kind")
    return " ".join(words)


def _places(record: Analytic) -> list[inspect.Parameter]:
    """Return the options that Python takes by position, and a command behind FILE."""
    _, *parameters = inspect.signature(record.call).parameters.values()
    return [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def _from_places(record: Analytic, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with those that are given behind FILE; UsageError if one lacks."""
    options = dict(options)
    for parameter in _places(record):
        name = parameter.name
        given = [options.pop(name), options.pop(f"{name}_behind")]
        found = [value for value in given if value is not None]
        if len(found) > 1:
            raise click.UsageError(f"{name.upper()} is given behind FILE and by {_typed(name)}.")
        if not found and parameter.default is parameter.empty:
            raise click.UsageError(f"Missing argument '{name.upper()}'.")
        if given[1] is not None and (ctx := click.get_current_context(silent=True)):
            ctx.meta.setdefault(BEHIND_FILE, set()).add(name)
        options[name] = found[0] if found else parameter.default
    return options


def _options(record: Analytic) -> Iterator[Callable[..., Any]]:
    places = [parameter.name for parameter in _places(record)]
    parameters = inspect.signature(record.call).parameters
    described = _descriptions(record.call)
    shared = _descriptions(ANALYTICS["count"].call)
    for name in record.defaults:
        if name not in UNTYPED:
            text = described.get(name, "")
            text = shared.get(name, text) if text.startswith("See ") else text
            if name in places:
                yield from _placed(parameters[name], text)
            else:
                yield _option(record, parameters[name], text)
    yield from kinds.options(record)
    yield click.option(
        "--by", multiple=True, metavar="COLUMN",
        help="Answer for the rows of each group alone; may be given again.",
    )  # fmt: skip
    if record.takes_method:
        yield click.option(
            "--method", default="auto", show_default=True, help="Intersection method, of cuda."
        )
    yield click.option(
        "--memory-limit", type=_Bytes(), metavar="SIZE",
        help="What may be taken on top of the edges: 2GB, 512MiB, or bytes.",
    )  # fmt: skip


def _option(record: Analytic, parameter: inspect.Parameter, text: str) -> Callable[..., Any]:
    name, default = parameter.name, parameter.default
    if parameter.kind is parameter.VAR_POSITIONAL:
        return click.argument(name, nargs=-1)
    typed = _typed(name)
    numbers: dict[str, Any] = {"int": int, "float": float}
    settings: dict[str, Any] = {"help": text}
    if default is parameter.empty:
        settings["required"] = True
    if isinstance(default, bool):
        both = f"{typed}/--no-{name.replace('_', '-')}"
        return click.option(both if default else typed, is_flag=True, default=default, help=text)
    if name in COLUMNS:
        settings["metavar"] = "COLUMN"
    elif name == "vertex_type":
        settings |= {**kinds.OF_VERTICES, "help": f"In its place, {kinds.VERTEX_FILE}."}
    elif name == "pairs":
        settings |= {"type": FileName(path_type=Path), "metavar": "FILE"}
    elif name in COMMA_LISTS:
        settings["metavar"] = "ID,ID"
    elif default in record.columns:
        settings |= {"type": click.Choice([*record.columns]), "default": default}
        settings["show_default"] = True
    elif parameter.annotation in numbers:
        settings["type"] = numbers[parameter.annotation]
        if default is not parameter.empty:
            settings |= {"default": default, "show_default": True}
    elif isinstance(default, str):
        settings |= {"default": default, "show_default": True}
    return click.option(typed, **settings)


def _typed(name: str) -> str:
    return "--" + name.replace("_", "-")


def _placed(parameter: inspect.Parameter, text: str) -> Iterator[Callable[..., Any]]:
    """Yield the argument behind FILE of an option, and the option."""
    name, default = parameter.name, parameter.default
    kind = int if parameter.annotation == "int" else str
    told = "" if default is parameter.empty else f"  [default: {default}]"
    metavar = name.upper() if default is parameter.empty else f"[{name.upper()}]"
    yield click.argument(f"{name}_behind", required=False, type=kind, metavar=metavar)
    yield click.option(_typed(name), type=kind, metavar=name.upper(), help=text + told)


def _parsed(name: str, value: Any) -> Any:
    """Return a value as Python has it: a number, if text is one and names no column or id."""
    if not isinstance(value, str) or name in (*COLUMNS, *COMMA_LISTS):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _summary(record: Analytic) -> str:
    return (inspect.getdoc(record.call) or "").partition("\n")[0]


def _descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """Return the first sentence about each parameter in a numpydoc docstring."""
    _, _, rest = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n-{3,}\n", rest)[0]
    found = {}
    for entry in re.finditer(r"(?m)^(\S[^:\n]*?)(?: : .*)?\n((?:    .*\n?)+)", section + "\n"):
        words = " ".join(entry[2].split())
        sentence = re.split(r"(?<=[.;:]) ", words)[0].rstrip(".;:")
        for name in entry[1].split(","):
            found[name.strip().lstrip("*")] = re.sub(r"[`*]", "", sentence) + "."
    return found
