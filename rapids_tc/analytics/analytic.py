"""Turn a function of a graph into a public function of edges, and record what it needs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rapids_tc._arguments import refuse
from rapids_tc.graphs import resolve
from rapids_tc.graphs.public import Graph
from rapids_tc.plan.record import (
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

if TYPE_CHECKING:
    from rapids_tc.blocks.triangle_sums import Sum

Function = TypeVar("Function", bound=Callable[..., Any])
Fields = tuple[str, ...]
Local = Callable[[OwnOptions, str], Exception | None]


def _in_blocks(own: OwnOptions) -> str:
    return ""


def _no_sums(own: OwnOptions) -> Sequence[Sum]:
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
    sums: Callable[[OwnOptions], Sequence[Sum]] = _no_sums,
) -> Callable[[Function], Function]:
    """Make a public function of edges out of a function of a graph.

    The decorated function takes the graph in place of the edges. It is called with its own options
    after `check`, and with ``method``; the other shared options serve to make the graph. See
    `rapids_tc.plan.record.Analytic` for the parameters; `fields` that are always the same may be
    given as they are.
    """

    def decorate(body: Function) -> Function:
        signature = inspect.signature(body)
        name, (_, *names) = body.__name__, signature.parameters
        own_names = [option for option in names if option not in SHARED]
        parameters = signature.parameters.values()
        stars = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")

        defaults = {name: p.default for name, p in signature.parameters.items()} | {stars: ()}

        needed = any(defaults[name] is inspect.Parameter.empty for name in names)
        optional = frozenset() if stars or needed else frozenset(names)

        def run(graph: Any, **own: Any) -> Any:
            return body(graph, *own.pop(stars), **own)

        @functools.wraps(body)
        def call(edges: Any, *args: Any, **keywords: Any) -> Any:
            if optional and not args and keywords.keys() <= optional:
                given = defaults | keywords  # faster than the signature, for small frames
            else:
                given = _bind(signature, body, edges, args, keywords)
            options = Options(**{option: given[option] for option in SHARED if option in given})
            own = {option: given[option] for option in own_names}
            return resolve.answer(record, edges, options, own)

        def with_values(own: OwnOptions) -> Work:
            values = max((quantity.reading.rule.bytes for quantity in sums(own)), default=0)
            needed = work(own) if work else most
            return replace(needed, values=max(values, needed.values))

        record = Analytic(
            name=name, body=run if stars else body, call=call, most=most,
            columns=columns or {}, vertex_columns=vertex_columns or {},
            takes_method="method" in names, takes_by="by" in names, check=check,
            fields=fields if callable(fields) else lambda own: fields,
            defaults={option: defaults[option] for option in own_names},
            work=with_values, in_memory=in_memory,
            local=local or _local(most.result, columns or {}), sums=sums,
        )  # fmt: skip
        register(record)
        setattr(Graph, name, call)
        return cast("Function", call)

    return decorate


def _bind(
    signature: inspect.Signature,
    body: Callable[..., Any],
    edges: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> dict[str, Any]:
    """Return all arguments of a call by name, defaults among them; TypeError if they do not fit."""
    try:
        bound = signature.bind(edges, *args, **keywords)
    except TypeError:
        bound = None
    if bound is None:
        refuse(body, (edges, *args), keywords)
    bound.apply_defaults()
    return bound.arguments


def no_column(kind: str, column: str) -> TypeError:
    """Return the error of a function that makes a column of the rows of a partitioned frame."""
    return TypeError(
        f"edges is a {kind}, to whose rows no column of its own can be aligned without a "
        f'shuffle: annotate(edges, "{column}") adds it to the frame'
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
