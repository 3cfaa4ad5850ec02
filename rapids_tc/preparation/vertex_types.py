"""Types of vertices, which the user gives beside the edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.errors import ColumnNotFoundError, NullIdError
from rapids_tc.frames.backend import open_frame
from rapids_tc.preparation.edge_values import EdgeError, EdgeRows, Reduced
from rapids_tc.preparation.named_ids import find_ids
from rapids_tc.preparation.readers import VertexReader
from rapids_tc.preparation.type_readers import TypeProfile, TypeReader, codes_of, sorted_types

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Series
    from rapids_tc.frames.backend import Backend
    from rapids_tc.preparation.ids import Ids
    from rapids_tc.preparation.orient import Order

COLUMNS = ("vertex", "type")
GIVE = "give a Series by vertex, a mapping, or a frame with the columns 'vertex' and 'type'"


@dataclass(frozen=True, eq=False)
class VertexTypes(VertexReader):
    """The type of every vertex.

    Attributes
    ----------
    source : Series, mapping or DataFrame
        As the user gives the types.
    aggregate : str or None
        What to do if a vertex has several types: "first", "last", or None for an error.
    types : Series or None
        All types of the graph's vertices, sorted, once they are resolved.
    codes : array of uint8 or None
        The type of every rank, as its place in `types`.
    """

    source: Any
    aggregate: str | None = None
    types: Any = None
    codes: Any = None

    def resolve(self, ids: Ids, order: Order) -> VertexTypes:
        """Find the type of every vertex of a graph.

        Raises
        ------
        NullIdError
            A vertex has no type.
        ValueError
            The types of a vertex disagree, or the types cannot be sorted; ids have several parts.
        IdTypeError
            The dtype of the vertices is not that of the graph's ids.
        CapacityError
            There are more than 255 types.
        """
        part, place = _places(ids, order)
        backend, xp = part.backend, part.backend.xp
        vertices, values = self._columns(backend)
        number, used = find_ids(part, vertices, "vertex_type="), xp.zeros(part.size, bool)
        used[place] = True
        named = backend.array(~values.isna()) & (number >= 0)
        named[named] = used[number[named]]  # types of other vertices are ignored
        rows = xp.flatnonzero(named)
        number, values = number[rows], values.take(rows).reset_index(drop=True)
        types = sorted_types([TypeProfile.of(values, backend)], "vertex_type=")
        chunk = EdgeRows(number, None, (codes_of(values, types, backend),))
        rule, reader = (
            Reduced(self.aggregate, dtype="uint8"),
            TypeReader(None, "vertex_type", types),
        )
        try:
            [codes] = rule.collect([chunk], part.size, (reader,), backend)
        except EdgeError as error:
            vertex = part.take(xp.asarray([error.position])).iloc[0]
            raise ValueError(
                f'vertex_type=: {vertex} has several types; aggregate="first" or "last" takes '
                "one of them"
            ) from None
        used[number] = False
        _require_types(xp.flatnonzero(used), part)
        return replace(self, source=None, types=types, codes=codes[place])

    def _columns(self, backend: Backend) -> tuple[Series, Series]:
        """Return the vertices and their types, in the working library."""
        source, library = self.source, backend.library
        if isinstance(source, Mapping):
            vertices, values = backend.series([*source]), library.Series([*source.values()])
        elif _is_series(source):
            values = backend.to_working_series(source)
            vertices = backend.series(source.index)
        elif hasattr(source, "columns") or hasattr(source, "__arrow_c_stream__"):
            try:
                frame, of_source = open_frame(source, None)
            except TypeError as error:
                raise TypeError(f"vertex_type=: {GIVE}") from error
            labels = of_source.adapter.labels(frame)
            if missing := [label for label in COLUMNS if label not in labels]:
                raise ColumnNotFoundError(f"vertex_type= has no column {missing[0]!r}; {GIVE}")
            columns = (of_source.adapter.column(frame, label) for label in COLUMNS)
            vertices, values = map(backend.to_working_series, columns)
        else:
            raise TypeError(f"vertex_type= is a {type(source).__name__}; {GIVE}")
        values = backend.adapter.typed(values.reset_index(drop=True))
        return vertices.reset_index(drop=True), values


def _is_series(source: Any) -> bool:
    """Return whether types are given as a Series, which has an index."""
    is_column = hasattr(source, "index") and hasattr(source, "dtype")
    return is_column and not hasattr(source, "columns")


def _places(ids: Ids, order: Order) -> tuple[Any, Array]:
    """Return the ids without their groups, and the place (int64) of every rank's id among them."""
    if ids.bipartite:
        raise ValueError(
            "vertex_type= names a vertex by its id, and in a bipartite Graph an id of each side "
            "may be the same: give edge_type="
        )
    if len(ids.parts) - ids.groups > 1:
        raise ValueError(
            "vertex_type= names a vertex by one value, and an id of this graph has several: give "
            "edge_type=, or one column of ids"
        )
    return ids.parts[-1], ids.digits(order.number, 1)[-1].astype("int64", copy=False)


def _require_types(lacking: Array, ids: Any) -> None:
    """Raise NullIdError if there are vertices without a type; `lacking` are their places."""
    if len(lacking):
        examples = ids.take(lacking[:5])
        listed = ", ".join(str(examples.iloc[i]) for i in range(len(examples)))
        raise NullIdError(
            f"vertex_type= has no type for {len(lacking):,} of the vertices: {listed}"
            f"{', …' * (len(lacking) > 5)}; every vertex needs one"
        )
