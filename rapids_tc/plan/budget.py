"""Divide the bytes that a call may take, if a graph is counted in blocks, and choose the blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.plan.block_layout import forced_layout
from rapids_tc.plan.record import Needs, Result, Work
from rapids_tc.plan.slabs import SlabPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rapids_tc.engines.protocol import Costs

OF_RANKS = (  # needs for which values of every rank are held
    Needs.VERTEX_COUNTS | Needs.DEGREES | Needs.EDGE_SUMS | Needs.TRIANGLES
)
AS_LONG_AS_FRAMES = Result.COLUMN, Result.COLUMNS, Result.EDGES  # no longer than the frame


@dataclass(frozen=True)
class Budget:
    """The bytes that a call may take.

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
        Bytes of the text of an id in the answer; 0 until they are known.
    with_answer : bool
        Whether columns and edges in the answer count toward the limit. They do if the limit is what
        is free. They do not if the user gave it: they are no longer than the user's own frame.
    """

    limit: int
    name: str
    work: Work
    costs: Costs
    text: int = 0
    with_answer: bool = False

    @property
    def sides(self) -> bool:
        """Whether edges are counted, not only triangles; lists take no more than these counts."""
        return self.work.by_edge or self.lists

    @property
    def lists(self) -> bool:
        """Whether triangles are listed."""
        return bool(self.work.needs & Needs.TRIANGLES)

    @property
    def sorts(self) -> bool:
        """Whether edges are sorted alone: no vertex is ordered, and no block is cut."""
        return self.work.result is Result.EDGES

    @property
    def in_blocks(self) -> bool:
        """Whether blocks are cut; else rows are sorted, or cut in slabs of time."""
        return not (self.sorts or self.work.needs & Needs.AS_OF)

    @property
    def by_vertex(self) -> bool:
        """Whether sums of every vertex are held."""
        return bool(self.work.needs & OF_RANKS)

    @property
    def chunk(self) -> int:
        """Bytes for work on a chunk of rows."""
        return self.limit // costs.CHUNK_PARTS

    def result(self, rows: int) -> int:
        """Return the most bytes that the answer takes, as far as they count toward the limit."""
        if self.work.needs & Needs.NEIGHBORS:  # one row per pair
            return costs.PAIR * self.work.pairs
        if self.work.result in AS_LONG_AS_FRAMES and not self.with_answer:
            return 0
        text = 2 * self.text * self.sorts
        times = costs.WINDOW * (self.work.by_time and self.work.result is Result.TIMES)
        per_row = costs.RESULTS.get(self.work.result.name, 0) + text + times
        return rows * per_row * self.work.columns

    def check_text(self, ids: int) -> None:
        """Raise CapacityError if the limit is too low to number so many distinct text ids."""
        need = ids * self.costs.text
        if need > self.limit:
            raise CapacityError(
                f"{ids:,} distinct ids of text, or more, take about {need:,} bytes while they are "
                f"numbered, and {self.limit:,} may be taken: raise the limit, or give integers"
            )

    def allowed(self, rows: int, numbers: int, ids: int = 0) -> int:
        """Return the bytes left for blocks, chunks and the answer, beside what is held by vertex.

        `ids` are the bytes of the ids, which are held, too.

        Raises
        ------
        CapacityError
            None are left: what is held by vertex, or the answer, takes all.
        """
        held = costs.RANK + costs.VERTEX_SUMS * self.by_vertex
        held = ids + numbers * held * self.in_blocks
        held += costs.DISTINCT_TIME * rows * self.work.by_time
        if self.work.result is Result.VERTICES:
            held += 2 * costs.COLUMN * (self.work.columns - 1) * numbers
        # While vertices are ordered, a chunk is held, too, which takes its share of the limit.
        ordered = ids + numbers * self.costs.order * self.in_blocks
        beside_chunk = ordered * costs.CHUNK_PARTS // (costs.CHUNK_PARTS - 1)
        least = max(held + self.result(rows), beside_chunk) + 1
        if least > self.limit:
            raise CapacityError(
                f"{numbers:,} vertices and what {self.name} gives back take about {least:,} "
                f"bytes however the edges are cut up, and {self.limit:,} may be taken: raise the "
                "limit, or pass fewer edges"
            )
        return self.limit - held

    def blocks_per_side(
        self, rows: int, vertices: int, allowed: int, reading: int = 0
    ) -> Iterator[int]:
        """Yield the numbers of blocks per side that fit if blocks are equally large, fewest first.

        `reading` are the bytes for reading a chunk of rows while keys are collected.

        Raises
        ------
        CapacityError
            No number is left: three blocks do not fit, however many there are.
        """
        if layout := forced_layout.get():
            yield layout.n
            return
        most = costs.MOST_BLOCKS
        for n in range(1, most + 1):
            if self.fits(rows // n**2, vertices // n + 1, rows, allowed, reading):
                yield n
        raise CapacityError(
            f"{rows:,} rows over {vertices:,} vertices do not fit {allowed:,} bytes, cut in up to "
            f"{most} x {most} blocks: raise the limit, or pass fewer edges"
        )

    def fits(self, edges: int, rows: int, all_rows: int, allowed: int, reading: int = 0) -> bool:
        """Return whether a block of so many edges and rows can be made, counted and looked up."""
        made = self.collecting([edges], rows) + reading
        slots = self.costs.slots(self.sides)
        counted = self.task(edges, rows, slots) * (2 if self.lists else 1)  # as much for the list
        answered = self._read_values(edges, rows)
        if self.work.result.name in costs.RESULTS:
            looked_up = costs.LOOKED_UP_EDGE * edges + costs.BLOCK_ROW * rows
            answered = max(answered, self.result(all_rows) + looked_up + self.chunk)
        numbered = edges < costs.MOST_BLOCK_EDGES and self._have_positions(edges, slots)
        return numbered and max(made, counted, answered) <= allowed

    def slabs(self, engine: str, rows: int, numbers: int, allowed: int) -> SlabPlan:
        """Return the plan of the slabs of time that rows are cut in."""
        layout, free = forced_layout.get(), allowed - self.result(rows)
        return SlabPlan(self.name, self.work, engine, numbers, free, layout.n if layout else 1)

    def ranges(self, rows: int, allowed: int) -> int:
        """Return the number of ranges, of about equal length, in which all edges are sorted.

        Raises
        ------
        CapacityError
            They are too many: from each range of rows a piece goes to each range of edges.
        """
        if layout := forced_layout.get():
            return layout.n
        need = rows * (costs.SORTED_ROW + 2 * self.text)
        count = max(-(-need // (allowed - self.result(rows))), 1)
        if count > costs.MOST_SORTED:
            raise CapacityError(
                f"{rows:,} rows do not fit {allowed:,} bytes, sorted in up to {costs.MOST_SORTED} "
                "ranges: raise the limit, or pass fewer edges"
            )
        return count

    def together(self, sizes: list[int], rows: int, allowed: int) -> int:
        """Return how many blocks of these sizes have their keys collected at once: at least one."""
        for count in range(1, len(sizes)):
            if self.collecting(sizes[: count + 1], rows) > allowed:
                return count
        return len(sizes)

    def collecting(self, sizes: list[int], rows: int) -> int:
        """Return the bytes that hold the keys of some blocks and sort them one by one."""
        return costs.BLOCK_ROW * rows + costs.KEY * sum(sizes) + self.costs.sort * max(sizes)

    def task(self, edges: int, rows: int, slots: int) -> int:
        """Return the bytes of a task in so many slots, with the values of its three blocks."""
        of_kind = self.work.values if self.work.of_kind else 0
        more = max(self.work.values, of_kind + self.costs.levels * self.work.levels)
        of_slots = self.costs.levels_of_slot * self.work.levels * (slots + 1)
        return self.costs.task(edges, rows, self.sides, slots) + (3 * more + of_slots) * edges

    def _read_values(self, edges: int, rows: int) -> int:
        """Return the bytes of a block and of a chunk of rows, while values are read."""
        if not self.work.values:
            return 0
        read = costs.LOOKED_UP_EDGE + costs.READ_VALUES * self.work.values
        return read * edges + costs.BLOCK_ROW * rows + self.chunk

    def slots(self, edges: int, rows: int, blocks: int, allowed: int) -> int:
        """Return how many of all `blocks`, of this size, may be in memory at once."""
        slots = min(self.costs.slots(self.sides), blocks)
        while (
            slots < blocks
            and self._have_positions(edges, slots + 1)
            and self.task(edges, rows, slots + 1) <= allowed
        ):
            slots += 1
        return slots

    def _have_positions(self, edges: int, slots: int) -> bool:
        """Return whether an engine can number the edges of so many slots, plus eight per slot."""
        return (slots + self.sides) * (edges + 8) < self.costs.positions
