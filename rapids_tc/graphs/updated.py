"""A graph after updates, which knows its total, and reads its rows for all else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapids_tc.engines import registry
from rapids_tc.graphs import remade
from rapids_tc.graphs.in_memory import InMemoryGraph
from rapids_tc.plan.record import Needs

if TYPE_CHECKING:
    from rapids_tc._typing import Array, Frame
    from rapids_tc.graphs.tally import Tally
    from rapids_tc.plan.needs import Stage
    from rapids_tc.plan.record import Work
    from rapids_tc.preparation.composite import CompositeIds

TALLY = ("tally", "version", "steps")
OWN = (*TALLY, "total")
ROWS = ("_frame", "_edges", "ids")  # what is made of the rows: all else follows from it


@dataclass(frozen=True)
class Step:
    """One update: the slots of edges that left, and the rows that came, with their slots.

    Attributes
    ----------
    deleted : array of uint32
    frame : DataFrame or None
    slots : array of int64
        The slot of each row of the frame; -1 for a loop.
    """

    deleted: Array
    frame: Frame | None
    slots: Array


class UpdatedGraph(InMemoryGraph):
    """A graph after updates.

    Parameters
    ----------
    tally : Tally
        The counts of the graph, as long as the tally has the version that it has now.
    steps : tuple of Step
        All updates since the tally was made.
    """

    def __init__(self, tally: Tally, steps: tuple[Step, ...]) -> None:
        base = tally.base
        self.backend, self.progress, self.engine = base.backend, base.progress, base.engine
        self.id_columns, self.lasting = base.id_columns, True
        self._limit, self._keys = None, None
        self.tally, self.version, self.steps = tally, tally.version, steps
        self.total = tally.total

    def __getattr__(self, name: str) -> Any:
        if name not in ROWS or not self.has_tally:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._read_rows()
        return self.__dict__[name]

    @property
    def has_tally(self) -> bool:
        """Whether the graph has its tally: without, it is as a graph made anew."""
        return "tally" in self.__dict__

    @property
    def is_current(self) -> bool:
        """Whether the tally's counts are those of this graph."""
        return self.has_tally and self.tally.version is self.version

    def settled(self) -> InMemoryGraph:
        """Return a graph of the same rows that has no tally."""
        _ = self.ids  # reads the rows
        graph = object.__new__(InMemoryGraph)
        graph.__dict__.update(self.__dict__)
        for name in OWN:
            graph.__dict__.pop(name, None)
        return graph

    def _read_rows(self) -> None:
        """Read the rows that are left, as for a graph made anew."""
        graph = remade.read(self.tally.base, self._rows())
        graph.copy_rows(self.id_columns)
        self.__dict__.update({name: graph.__dict__[name] for name in ROWS})

    def _rows(self) -> list[Frame]:
        """Return the rows of the base that are left, and those that came and did not leave."""
        base, xp, adapter = self.tally.base, self.backend.xp, self.backend.adapter
        left = xp.zeros(base.n_edges + self.tally.room, "uint32")  # last step in which each left
        for number, step in enumerate(self.steps, 1):
            left[step.deleted] = number
        frames = [_kept(base.user_frame, base.row_edges(), left, 0, adapter, xp)]
        for number, step in enumerate(self.steps, 1):
            if step.frame is not None:
                frames.append(_kept(step.frame, step.slots, left, number, adapter, xp))
        return frames

    @property
    def some_array(self) -> Array:
        """See `InMemoryGraph`."""
        return self.tally.base.some_array if self.has_tally else super().some_array

    @property
    def groups(self) -> CompositeIds | None:
        """None: a graph with groups is made anew by an update."""
        return None

    def count(self, method: str) -> int:
        """Return the total, which updates keep."""
        return self.total if method == "auto" else super().count(method)

    def stages(self, work: Work, method: str) -> list[Stage]:
        """See `InMemoryGraph`: the total needs none."""
        is_total = work.needs == Needs.TOTAL and method == "auto"
        return [] if is_total else super().stages(work, method)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.ids  # reads the rows
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in TALLY}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.engine = registry.load(self.backend.engine)


def _kept(frame: Frame, slots: Array, left: Array, number: int, adapter: Any, xp: Any) -> Frame:
    """Return the rows of a frame that came in a step and did not leave in a later one."""
    stays = (slots < 0) | (left[slots] <= number)
    kept = xp.flatnonzero(stays)
    return frame if len(kept) == len(slots) else adapter.take(frame, kept)
