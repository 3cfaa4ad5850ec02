"""What an update of a graph has changed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from rapids_tc.frames.device import on_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapids_tc._typing import Array, Frame
    from rapids_tc.frames.backend import Backend

ROLES = ("vertex", "src", "dst")  # the ids in either frame
FIELDS = ("triangles", "delta")  # the other columns of both


class Delta:
    """What `Graph.update` has changed.

    Parameters
    ----------
    triangles : int
        How many triangles the graph has more than before; negative if it has fewer.
    vertices, edges : callable
        Functions without arguments that make the frames.
    device : int, optional
        The GPU where the frames are made.

    Attributes
    ----------
    triangles : int
        See above.
    vertices : DataFrame
        The vertices with more or fewer triangles than before, sorted by id: ``vertex``,
        ``triangles`` (int64), which it has now, and ``delta`` (int64), how many more than before.
    edges : DataFrame
        The edges with more or fewer triangles than before, src < dst, sorted: ``src``, ``dst``,
        ``triangles`` and ``delta``. An edge that was deleted has 0 triangles now, and is listed if
        it had any.

    Both frames are in the library of the graph, with the columns of groups in front if the graph
    has groups. Each is made when it is read first, and does not change with later updates.

    See Also
    --------
    Graph : The graph, whose `update` returns this.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> graph = tc.Graph(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}))
    >>> delta = graph.update(insert=pd.DataFrame({"src": [0], "dst": [2]}))
    >>> delta.triangles
    1
    >>> delta.edges
       src  dst  triangles  delta
    0    0    1          1      1
    1    0    2          1      1
    2    1    2          1      1
    """

    def __init__(
        self,
        triangles: int,
        vertices: Callable[[], Frame],
        edges: Callable[[], Frame],
        device: int | None,
    ) -> None:
        self.triangles = triangles
        self._makers, self._device = {"vertices": vertices, "edges": edges}, device

    @cached_property
    def vertices(self) -> Any:
        """The vertices whose triangles changed."""
        return self._make("vertices")

    @cached_property
    def edges(self) -> Any:
        """The edges whose triangles changed."""
        return self._make("edges")

    def _make(self, name: str) -> Any:
        """Make a frame, and free the arrays of which it is made."""
        with on_device(self._device):
            frame = self._makers[name]()
        del self._makers[name]
        return frame

    def __repr__(self) -> str:
        vertices, edges = (frame.shape[0] for frame in (self.vertices, self.edges))
        return (
            f"Delta(triangles={self.triangles:+}, vertices={vertices:,} rows, edges={edges:,} rows)"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"triangles": self.triangles, "vertices": self.vertices, "edges": self.edges}


def changes_frame(names: dict[Any, Any], triangles: Array, delta: Array, backend: Backend) -> Frame:
    """Return a frame of the user's library: columns of ids, sorted, and of the counts."""
    counts = {"triangles": triangles, "delta": delta}
    return backend.adapter.frame(backend.library.DataFrame({**names, **counts}))
