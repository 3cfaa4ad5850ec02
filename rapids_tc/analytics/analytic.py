"""Turn a function of a graph into a public function of edges, and record what it needs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_type_hints

from rapids_tc._arguments import refuse, warn_renamed, with_new_names
from rapids_tc._typing import Frame
from rapids_tc.graphs import resolve
from rapids_tc.graphs.public import Graph
from rapids_tc.plan.record import (
    ANALYTICS,
    SHARED,
    Analytic,
    Column,
    Options,
    OwnOptions,
    Result,
    VertexColumn,
    Work,
    register,
)
from rapids_tc.preparation.triangle_kinds import Triangles

if TYPE_CHECKING:
    from rapids_tc.blocks.quantities import Sum
    from rapids_tc.preparation.time_order import AsOf

Fields = tuple[str, ...]
Local = Callable[[OwnOptions, str], Exception | None]
ABSENT: Any = object()  # the edges of a call that gives none
DESCRIBED = "count"  # the function whose documentation describes the shared options


def _in_blocks(own: OwnOptions) -> str:
    return ""


def _no_sums(own: OwnOptions) -> Sequence[Sum | AsOf]:
    return ()


def analytic(
    most: Work,
    *,
    columns: Mapping[str, Column] | None = None,
    vertex_columns: Mapping[str, VertexColumn] | None = None,
    fields: Fields | Callable[[OwnOptions], Fields] = (),
    check: Callable[[OwnOptions], OwnOptions] = dict,
    work: Callable[[OwnOptions], Work] | None = None,
    in_memory: Callable[[OwnOptions], str] = _in_blocks,
    local: Local | None = None,
    sums: Callable[[OwnOptions], Sequence[Sum | AsOf]] = _no_sums,
    bipartite: bool = False,
    renamed: Mapping[str, str] = MappingProxyType({}),
    moved: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a public function of edges out of a function of a graph.

    The decorated function takes the graph in place of the edges, its own options, after `check`,
    and those of the shared `Options` that it reads. The public function takes all shared options,
    but ``method`` only if the body reads it; its signature and its documentation have them, too.
    See `rapids_tc.plan.record.Analytic` for the parameters; `fields` that are always the same may
    be given as they are.
    """

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        name, (_, *taken) = body.__name__, inspect.signature(body).parameters
        own_names, reads = [n for n in taken if n not in SHARED], frozenset(taken) & {*SHARED}
        shared = [option for option in SHARED if option != "method" or option in reads]
        signature = _signature(body, shared)
        _, *names = signature.parameters
        parameters = signature.parameters.values()
        stars = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")

        defaults = {name: p.default for name, p in signature.parameters.items()} | {stars: ()}

        needed = any(defaults[name] is inspect.Parameter.empty for name in names)
        optional = frozenset() if stars or needed else frozenset(names)

        def run(graph: Any, **own: Any) -> Any:
            return body(graph, *own.pop(stars), **own)

        @functools.wraps(body)
        def call(edges: Frame = ABSENT, *args: Any, **keywords: Any) -> Any:
            if renamed and not renamed.keys().isdisjoint(keywords):
                keywords = with_new_names(name, keywords, renamed)
            if edges is ABSENT or "edge_index" in keywords:
                edges, args = _beside_edge_index(name, edges, args, keywords)
            if optional and not args and keywords.keys() <= optional:
                given = defaults | keywords  # faster than the signature, for small frames
            else:
                given = _bind(call, edges, args, keywords)
            for (option, value), function in moved.items():
                if isinstance(given[option], str) and given[option] == value:
                    old, new = f'{name}(edges, "{value}")', f"{function}(edges)"
                    warn_renamed(old, new, stacklevel=3)
            options = Options(**{option: given[option] for option in shared})
            own = {option: given[option] for option in own_names}
            return resolve.answer(record, edges, options, own)

        def with_values(own: OwnOptions) -> Work:
            values = max((quantity.reading.rule.bytes for quantity in sums(own)), default=0)
            needed = work(own) if work else most
            return replace(needed, values=max(values, needed.values))

        record = Analytic(
            name=name, body=run if stars else body, call=call, most=most,
            columns=columns or {}, vertex_columns=vertex_columns or {},
            reads=reads, check=check,
            fields=fields if callable(fields) else lambda own: fields,
            defaults={option: defaults[option] for option in own_names},
            work=with_values, in_memory=in_memory,
            local=local or _local(most.result, columns or {}), sums=sums,
            bipartite=bipartite, renamed=renamed, moved=moved,
        )  # fmt: skip
        call.__signature__ = signature  # type: ignore[attr-defined]
        hints = {
            "edges": Frame,
            "where": Triangles | None,
            **get_type_hints(Options),
        }  # which other modules do not import
        call.__annotations__ = {p.name: hints.get(p.name, p.annotation) for p in parameters}
        call.__annotations__["return"] = signature.return_annotation
        call.__doc__ = _documentation(body, shared)
        register(record)
        setattr(Graph, name, call)
        return call

    return decorate


def _signature(body: Callable[..., Any], shared: list[str]) -> inspect.Signature:
    """Return the signature of a public function: edges, its own options and the shared ones."""
    signature, named = inspect.signature(body), inspect.Parameter.KEYWORD_ONLY
    graph, *own = (p for p in signature.parameters.values() if p.name not in SHARED)
    options = [
        inspect.Parameter(field.name, named, default=field.default, annotation=field.type)
        for field in fields_of(Options)
        if field.name in shared
    ]
    edges = graph.replace(name="edges", annotation="Frame")
    return signature.replace(parameters=[edges, *own, *options])


def _documentation(body: Callable[..., Any], shared: list[str]) -> str:
    """Return the docstring of a public function, in whose parameters are the shared options."""
    text = f"{', '.join(shared)}\n    See `{DESCRIBED}`."
    if body.__name__ == DESCRIBED:
        text = (inspect.getdoc(Options) or "").partition("----------\n")[2]
    own, returns, rest = inspect.cleandoc(body.__doc__ or "").partition("\n\nReturns\n")
    return f"{own}\n{text}{returns}{rest}"


def _bind(
    call: Callable[..., Any],
    edges: Frame,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> dict[str, Any]:
    """Return all arguments of a call by name, defaults among them; TypeError if they do not fit."""
    try:
        bound = inspect.signature(call).bind(edges, *args, **keywords)
    except TypeError:
        bound = None
    if bound is None:
        _require_where(call, keywords)
        refuse(call, (edges, *args), keywords)
    bound.apply_defaults()
    return bound.arguments


def _beside_edge_index(
    name: str, edges: Frame, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Frame, tuple[Any, ...]]:
    """Return the edges and the other positional arguments of a call.

    With `edge_index`, the edges are None, and the first argument may be a number or a column.
    """
    if keywords.get("edge_index") is None:
        if edges is ABSENT:
            raise TypeError(f"{name}() missing 1 required positional argument: 'edges'")
        return edges, args
    if isinstance(edges, str | Integral):
        return None, (edges, *args)
    return None if edges is ABSENT else edges, args


def _require_where(call: Callable[..., Any], keywords: dict[str, Any]) -> None:
    """Raise TypeError if a function is asked for triangles of a kind that takes none."""
    if "where" in keywords and "where" not in inspect.signature(call).parameters:
        takers = [name for name, record in ANALYTICS.items() if "where" in record.defaults]
        raise TypeError(
            f"{call.__name__} takes no where=: it is about all edges. Triangles of a kind count in "
            f"{', '.join(takers)}"
        )


def no_column(kind: str, column: str, more: str = "") -> TypeError:
    """Return the error of a function that makes a column of the rows of a partitioned frame."""
    return TypeError(
        f"edges is a {kind}, to whose rows no column of its own can be aligned without a "
        f'shuffle: annotate(edges, "{column}"{more}) adds it to the frame'
    )


def _local(result: Result, columns: Mapping[str, Column]) -> Local:
    """Return the `local` of a record that gives none, by the shape of its answer."""

    def of_rows(own: OwnOptions, kind: str) -> Exception:
        named = [value for value in own.values() if isinstance(value, str)]  # a list has no hash
        column = next((value for value in named if value in columns), next(iter(columns)))
        return no_column(kind, column)

    def everywhere(own: OwnOptions, kind: str) -> None:
        return None

    return of_rows if result is Result.COLUMN else everywhere
