"""Frames of narwhals: a wrapper around a frame of another library, which answers come back in."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.adapters import FrameAdapter, root

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame, Label, Series, Sources


def is_narwhals(value: Any) -> bool:
    """Return whether a value is a frame or a column of narwhals, of its stable versions too."""
    return root(value) == "narwhals" and hasattr(value, "to_native")


def native(value: Any) -> Frame | Series:
    """Return what a frame or a column of narwhals wraps; other values unchanged."""
    return value.to_native() if is_narwhals(value) else value


def module_of(value: Any) -> str:
    """Return the module whose `from_native` makes such wrappers: narwhals or a stable version."""
    parts = type(value).__module__.split(".")
    return ".".join(parts[:3]) if "stable" in parts else "narwhals"


def wrap(value: Any, module: str) -> Frame | Series:
    """Wrap a frame or a column by a module of narwhals; return other values unchanged."""
    return sys.modules[module].from_native(value, pass_through=True, allow_series=True)


@dataclass(frozen=True)
class NarwhalsAdapter(FrameAdapter):
    """The adapter of narwhals: the frames that it is given are unwrapped, its answers wrapped.

    Attributes
    ----------
    inner : FrameAdapter
        The adapter of the frames inside.
    module : str
        See `module_of`.
    """

    inner: FrameAdapter
    module: str

    @property
    def on_gpu(self) -> bool:
        """Whether the frames inside are in the memory of a GPU."""
        return self.inner.on_gpu

    def labels(self, frame: Frame) -> list[Label]:
        """Return the labels of all columns."""
        return self.inner.labels(frame)

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""
        return self.inner.rows(frame)

    def with_dtypes(self, frame: Frame, sources: Sources) -> FrameAdapter:
        """Return an adapter whose answers have the dtypes of their sources."""
        return replace(self, inner=self.inner.with_dtypes(frame, sources))

    def column(self, frame: Frame, label: Label) -> Series:
        """Return one column, as a pandas or cuDF Series."""
        return self.inner.column(frame, label)

    def plain_integers(self, frame: Frame, label: Label) -> Array | None:
        """Return the array of a column, if no Series is needed."""
        return self.inner.plain_integers(frame, label)

    def typed(self, values: Series) -> Series:
        """Return objects of pandas in the dtype of their values, if the library inside has none."""
        return self.inner.typed(values)

    def frame(self, result: Frame) -> Frame:
        """Convert a new frame from the working library to a wrapped one of the user's."""
        return wrap(self.inner.frame(result), self.module)

    def column_like(self, frame: Frame, values: Array, name: str) -> Series:
        """Return values of all rows as a wrapped column."""
        # A column of PyArrow has no name.
        return wrap(self.inner.column_like(frame, values, name), self.module).alias(name)

    def large_integers(self, values: dict[str, int], columns: tuple[str, str]) -> Frame:
        """Return named integers as for the library inside, wrapped."""
        return wrap(self.inner.large_integers(values, columns), self.module)

    def assign(self, frame: Frame, columns: dict[str, Series]) -> Frame:
        """Return a new, wrapped frame with these columns after its own."""
        unwrapped = {name: native(column) for name, column in columns.items()}
        return wrap(self.inner.assign(frame, unwrapped), self.module)

    def nbytes(self, frame: Frame) -> int:
        """Return the bytes of all columns and the index."""
        return self.inner.nbytes(frame)

    def snapshot(self, frame: Frame) -> Frame:
        """Return a frame that later changes of the user's frame do not reach."""
        return self.inner.snapshot(frame)

    def copied(self, frame: Frame) -> int:
        """Return the bytes that a snapshot takes at once."""
        return self.inner.copied(frame)

    def take(self, frame: Frame, positions: Array) -> Frame:
        """Return the rows at ascending positions, wrapped."""
        return wrap(self.inner.take(frame, positions), self.module)

    def rows_at(self, frame: Frame, positions: Array) -> Frame:
        """Return such rows as the adapter works on them."""
        return self.inner.rows_at(frame, positions)
