"""Profile and number the ids of a graph whose edges lie on many machines.

Ids that are no dense integers are joined on one machine, whose list all others get; if they would
take too much of a machine, they lie in ranges. This module also decides in how many ranges numbers
are ranked: in one, if every machine may hold the ranks of all.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

from rapids_tc.blocks import id_ranges, id_tasks, parts, ranges
from rapids_tc.blocks.block_map import BlockMap
from rapids_tc.errors import CapacityError
from rapids_tc.executors.protocol import Batch, Executor, Task, Worker, split_batches
from rapids_tc.frames.backend import resolve_engine
from rapids_tc.plan import costs, needs
from rapids_tc.plan.layout import forced_layout
from rapids_tc.preparation import composite_scheme

if TYPE_CHECKING:
    from rapids_tc.blocks.context import WorkerContext
    from rapids_tc.blocks.id_ranges import IdRanges
    from rapids_tc.blocks.parts import Range
    from rapids_tc.preparation.fingerprints import Fingerprint


class DistributedIds(BlockMap):
    """The ids of the graph of one call. Call `profile` before any other method.

    Parameters
    ----------
    executor, context, workers, batches, method
        See `BlockMap`.
    name : str
        The name of the analytic.
    limit : int or None
        Bytes that a machine may take.
    """

    def __init__(
        self, executor: Executor, context: WorkerContext, workers: list[Worker],
        batches: list[Batch], method: str, name: str, limit: int | None,
    ) -> None:  # fmt: skip
        super().__init__(executor, context, workers, batches, method)
        self._name, self._limit = name, limit
        self.id_ranges: IdRanges | None = None
        self.listed = 0  # bytes of a list of all ids, while it is made
        self._ids: Task = None

    def profile(self) -> None:
        """Profile the ids of all partitions; decide how to number them and how much may fit."""
        gather = self.executor.gather
        places = [batch.places for batch in self.batches]
        partitions = [batch.partitions for batch in self.batches]
        profiles = self.each_batch("profile", id_tasks.profile, partitions, places)
        scheme = self.submit("profile", id_tasks.resolve_scheme, profiles)
        prints, size, memory = gather(self.submit("profile", id_tasks.known, scheme))
        self._prints = {seen.place: seen for batch in prints for seen in batch}  # for later reads
        self.scheme = self.submit("profile", id_tasks.settled, scheme, prints)
        self.rows: list[list[int]] = [[seen.rows for seen in batch] for batch in prints]
        self._split(memory)
        distinct = self._distinct() if size is None else None
        if self.id_ranges is not None:
            self.size: int = self.id_ranges.size
        else:
            self._ids = self.submit("ids", id_tasks.make_ids, self.scheme, distinct)
            if self._is_composite:
                self._find_keys()
            if size is None:
                size = gather(self.submit("ids", getattr, self._ids, "size"))
            self.size = size
        least = self.size if self._is_composite else ceil(self.size / costs.RANGES)
        needs.require([needs.Stage("order", costs.CLUSTER_NUMBER * least)], self._limit)

    def _distinct(self) -> Task | None:
        """Find the distinct ids; if they take too much of a machine, set ranges and return None."""
        apart = self.each_batch("ids", id_tasks.distinct, *self.to_read, more=(self.scheme,))
        if not self._is_composite:
            held = self.each_batch("ids", id_ranges.count_and_bytes, apart)
            ids, used = (sum(side) for side in zip(*self.executor.gather(held), strict=True))
            self.listed = costs.CLUSTER_IDS * used
            layout, sizes = forced_layout.get(), (ids, self.free, len(self.workers), used)
            count = layout.ranges if layout else parts.range_count(*sizes)
            if count > 1:
                self.id_ranges = id_ranges.cut(self, self.scheme, apart, count)
                return None
        return self.reduce("ids", id_tasks.union, apart)

    @property
    def _is_composite(self) -> bool:
        """Whether ids have several columns, or groups: such ids are never cut in ranges."""
        return self.context.labels.pair is None

    @property
    def ids(self) -> Task:
        """The ids by number, on any machine.

        Raises
        ------
        CapacityError
            They lie in ranges.
        """
        if self.id_ranges is not None:
            self.require_whole()
        return self._ids

    def _find_keys(self) -> None:
        """Find the keys of all composite ids; first of some digits, if all exceed 64 bits."""
        while True:
            digits = self.executor.gather(self.submit("ids", id_tasks.overflow, self._ids))
            more = self._ids, self.scheme, digits
            apart = self.each_batch("ids", id_tasks.distinct_keys, *self.to_read, more=more)
            keys = self.reduce("ids", composite_scheme.union_keys, apart)
            self._ids = self.submit("ids", composite_scheme.with_keys, self._ids, keys, digits)
            if digits is None:
                return

    def _split(self, memory: int) -> None:
        """Set the bytes that a machine may take, and split the batches that are too large."""
        if not self.on_cards:  # workers of one host have the same memory
            memory //= max(Counter(w.address.rpartition(":")[0] for w in self.workers).values())
        least = min([memory, *(w.memory for w in self.workers if w.memory)])
        self.free = self._limit or int(costs.MEMORY_SHARE * least)
        rows = self.free // costs.CLUSTER_ROW
        self.batches, self.rows = split_batches(self.batches, self.rows, rows)

    @property
    def on_cards(self) -> bool:
        """Whether the engine of the machines is "cuda"."""
        return resolve_engine(self.context.adapter, self.context.engine) == "cuda"

    @property
    def to_read(self) -> tuple[list[list[Task]], list[list[Fingerprint]]]:
        """The partitions of each batch, and their fingerprints from `profile`."""
        prints = [[self._prints[place] for place in group.places] for group in self.batches]
        return [group.partitions for group in self.batches], prints

    @cached_property
    def numbers(self) -> list[Task]:
        """The numbers of both ends of every row, by batch."""
        if self.id_ranges is not None:
            of_ids = self.id_ranges.pieces, self.id_ranges.numbers
            rows = *self.to_read, *of_ids
            return self.each_batch("number", id_ranges.number, *rows, more=(self.scheme,))
        more = self.ids, self.scheme
        return self.each_batch("number", id_tasks.number, *self.to_read, more=more)

    def sample(self, colours: int, seed: int) -> None:
        """Keep only the edges of a sample, whose two ends have the same colour."""
        if len(self.ranges) > 1:
            by_range = [
                self.submit("sample", id_ranges.colours, ids, part, colours, seed)
                for ids, part in zip(self.ids_by_range, self.ranges, strict=True)
            ]
            rows = self.numbers, self.workers_of_rows
            of_ends = ranges.look_up(self, "sample", *rows, by_range, self.ranges)
            self.numbers = self.each_batch("sample", id_ranges.one_coloured, self.numbers, of_ends)
        else:
            more = self.ids, colours, seed
            sampled = self.each_batch("sample", id_tasks.one_coloured, self.numbers, more=more)
            self.numbers = sampled
        kept = self.each_batch("sample", id_tasks.rows_of, self.numbers)
        self.rows = [[rows] for rows in self.executor.gather(kept)]

    @cached_property
    def ranges(self) -> list[Range]:
        """The ranges in which numbers are ranked: one, if every machine may hold all ranks."""
        if self.id_ranges is not None:
            return self.id_ranges.parts
        if self._is_composite:
            return parts.cut(self.size, 1)
        layout, sizes = forced_layout.get(), (self.size, self.free, len(self.workers))
        return parts.cut(self.size, layout.ranges if layout else parts.range_count(*sizes))

    def require_whole(self) -> None:
        """Raise CapacityError if no machine may hold a value of every vertex."""
        if (count := len(self.ranges)) > 1:
            need = costs.CLUSTER_NUMBER * self.size + self.listed
            why = (
                f": {need:,} bytes while they are made, of {self.free:,}; raise memory_limit=, or "
                "take workers of more memory"
                if need > self.free
                else f", and they are cut in {count} ranges by use_layout(): give it ranges=1"
            )
            raise CapacityError(
                f"{self._name}, as it is called, needs the ranks of all {self.size:,} ids on one "
                f"worker{why}"
            )

    @property
    def ids_by_range(self) -> list[Task]:
        """The ids of each of `ranges`."""
        if self.id_ranges is not None:
            return self.id_ranges.ids
        return [self.submit("ids", id_tasks.ids_in, self.ids, part) for part in self.ranges]
