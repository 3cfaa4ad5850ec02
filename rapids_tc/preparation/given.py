"""Values beside the edges, one per row, in the place of a column of groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rapids_tc._typing import Frame, Label, Series, Sources
    from rapids_tc.frames.adapters import FrameAdapter
    from rapids_tc.frames.backend import Backend


@dataclass(frozen=True, eq=False)
class Given:
    """Values of all rows, which stand where the label of a column of groups does.

    Attributes
    ----------
    name : label
        What the column of groups is called in answers.
    values : Series or None
        One value per row, in pandas or cuDF; None once a graph that is kept has read them.
    source : DataFrame or None
        A frame of Polars or Arrow that has the values as its only column, if they came so.
    """

    name: Label
    values: Series
    source: Frame = None

    def __repr__(self) -> str:
        """Return what messages show: the name."""
        return repr(self.name)

    def without_values(self) -> Given:
        """Return the same, once the values are read."""
        return replace(self, values=None, source=None)


def column_of(frame: Frame, label: Any, backend: Backend) -> Series:
    """Return a column of a frame, or the values that are given in its place."""
    return label.values if isinstance(label, Given) else backend.adapter.column(frame, label)


def with_dtypes(adapter: FrameAdapter, frame: Frame, sources: Sources) -> FrameAdapter:
    """Return an adapter whose answers have the dtypes of their sources, of given values too."""
    given = {name: labels[0] for name, labels in sources.items() if isinstance(labels[0], Given)}
    others = {name: labels for name, labels in sources.items() if name not in given}
    adapter = adapter.with_dtypes(frame, others)
    for name, values in given.items():
        if values.source is not None:
            adapter = adapter.with_dtypes(values.source, {name: (values.name,)})
    return adapter
