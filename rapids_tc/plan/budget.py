"""What a call may take when a graph is counted in blocks, and how many blocks that makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rapids_tc.engines.protocol import Costs
from rapids_tc.errors import CapacityError
from rapids_tc.plan.layout import given_layout
from rapids_tc.plan.record import Needs, Result, Work

# Bytes of a number: its rank, and where vertices are asked about their sums, degrees and order.
RANK, SUMS = 4, 24
# Of a row: what is given back, for each column, or what is held while it is made.
RESULTS = {Result.COLUMN: 8, Result.COLUMNS: 8, Result.ROWS: 9, Result.EDGES: 48}
OF_RANKS = Needs.VERTEX_COUNTS | Needs.DEGREES  # what asks vertices
MAX_EDGES = 2**32  # of a block: its offsets are kept in 32 bits
MOST = 16  # blocks a side: with more, every edge is moved too often
CHUNK = 8  # of what is allowed, one part in so many is for work on chunks of rows
OFFSETS = 24  # bytes of a row of a block while it is sorted
# Of an edge of a block whose ends are named, of one whose rows are looked up, and of a key.
NAMED, LOOKED_UP, KEY = 72, 12, 8


@dataclass(frozen=True)
class Budget:
    """The bytes that a call is allowed.

    Attributes
    ----------
    limit : int
    name : str
        Of the analytic.
    work : Work
        What the call needs, and gives back.
    costs : Costs
        Of the engine.
    text : int
        Bytes of text of an id that is given back, once that is known.
    """

    limit: int
    name: str
    work: Work
    costs: Costs
    text: int = 0

    @property
    def sides(self) -> bool:
        """Whether edges are counted, not only triangles."""
        return self.work.by_edge

    @property
    def chunk(self) -> int:
        """Bytes for work on a chunk of rows."""
        return self.limit // CHUNK

    def result(self, rows: int) -> int:
        """Bytes of what is given back, at their height."""
        text = 2 * self.text * (self.work.result is Result.EDGES)
        return rows * (RESULTS.get(self.work.result, 0) + text) * self.work.columns

    def check_text(self, ids: int) -> None:
        """Raise CapacityError if the limit is too low to number so many distinct text ids."""
        need = ids * self.costs.text
        if need > self.limit:
            raise CapacityError(
                f"{ids:,} distinct ids of text, or more, take about {need:,} bytes while they are "
                f"numbered, and {self.limit:,} may be taken: raise the limit, or give integers"
            )

    def allowed(self, rows: int, numbers: int, ids: int = 0) -> int:
        """Bytes that are left for blocks, chunks and what is given back; `ids` are held, too.

        Raises
        ------
        CapacityError
            There are none: what is held by vertex, or given back, takes all.
        """
        held = ids + numbers * (RANK + SUMS * bool(self.work.needs & OF_RANKS))
        least = max(held + self.result(rows), ids + numbers * self.costs.order + self.chunk)
        if least >= self.limit:
            raise CapacityError(
                f"{numbers:,} vertices and what {self.name} gives back take about {least:,} "
                f"bytes however the edges are cut up, and {self.limit:,} may be taken: raise the "
                "limit, or pass fewer edges"
            )
        return self.limit - held

    def sides_of(self, rows: int, vertices: int, allowed: int, reading: int = 0) -> Iterator[int]:
        """How many blocks a side may do, the fewest first, if all blocks are about equal.

        `reading` is what reading a chunk of rows takes, while keys are collected.

        Raises
        ------
        CapacityError
            None is left: however many there are, three do not fit.
        """
        if layout := given_layout():
            yield layout.n
            return
        for n in range(1, MOST + 1):
            if self.fits(rows // n**2, vertices // n + 1, rows, allowed, reading):
                yield n
        raise CapacityError(
            f"{rows:,} rows over {vertices:,} vertices do not fit {allowed:,} bytes, cut in up to "
            f"{MOST} x {MOST} blocks: raise the limit, or pass fewer edges"
        )

    def fits(self, edges: int, rows: int, all_rows: int, allowed: int, reading: int = 0) -> bool:
        """Whether a block of so many edges and rows can be made, counted, and answered from."""
        made = (KEY + self.costs.sort) * edges + OFFSETS * rows + reading
        counted = self.costs.task(edges, rows, self.sides, self.costs.slots(self.sides))
        answered = 0
        if self.work.result is Result.EDGES:
            answered = KEY * all_rows + NAMED * edges
        elif self.work.result in RESULTS:
            answered = self.result(all_rows) + LOOKED_UP * edges + OFFSETS * rows + self.chunk
        numbered = edges < MAX_EDGES and self._have_positions(edges, self.costs.slots(self.sides))
        return numbered and max(made, counted, answered) <= allowed

    def together(self, sizes: list[int], rows: int, allowed: int) -> int:
        """Of blocks of these sizes, how many have their keys collected at a time: at least one."""
        for count in range(1, len(sizes)):
            if self.collecting(sizes[: count + 1], rows) > allowed:
                return count
        return len(sizes)

    def collecting(self, sizes: list[int], rows: int) -> int:
        """Return the bytes that hold the keys of some blocks and sort them one by one."""
        return OFFSETS * rows + KEY * sum(sizes) + self.costs.sort * max(sizes)

    def slots(self, edges: int, rows: int, blocks: int, allowed: int) -> int:
        """How many blocks of this size may be in memory at a time, of those that there are."""
        slots = min(self.costs.slots(self.sides), blocks)
        while (
            slots < blocks
            and self._have_positions(edges, slots + 1)
            and self.costs.task(edges, rows, self.sides, slots + 1) <= allowed
        ):
            slots += 1
        return slots

    def _have_positions(self, edges: int, slots: int) -> bool:
        """Whether an engine can number the edges of so many slots: eight more each, in a room."""
        return (slots + self.sides) * (edges + 8) < self.costs.positions
