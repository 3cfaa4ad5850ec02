"""The bytes of the results of tasks, by the functions that they run."""

from __future__ import annotations

from dataclasses import dataclass

# Tasks that return a few numbers, 4 bytes per number of a range, and 4 per edge of a block.
NUMBERS = (
    "ranges.vertices_of", "sums.count", "ranges.code_sizes", "ranges.vertices",
)  # fmt: skip
OF_RANGES = "ranges.ranks_of", "ranges.ranks_of_vertices", "ranges.order_of_range"
OF_EDGES = "row_lookup.first_in_batch", "peeling.peel"


@dataclass(frozen=True)
class Sizes:
    """The sizes of a call, from which the sizes of results follow.

    Rows, ids, and the ranges in which these are ranked; batches, blocks a side, and jobs.
    """

    rows: int
    ids: int
    ranges: int
    batches: int
    n: int
    jobs: int

    def of(self, function: str, largest: float, parts: int) -> tuple[float, int]:
        """Return the bytes of a result, and how many parts it has.

        `largest` are the bytes of the largest argument, and `parts` its parts.
        """
        rows, block = self.rows / self.batches, self.rows / self.n**2
        ids, of_residue = self.ids / self.ranges, 8 * self.ids / self.n
        return {
            **dict.fromkeys(NUMBERS, (8, 1)),
            **dict.fromkeys(OF_RANGES, (4 * ids, 1)),
            **dict.fromkeys(OF_EDGES, (4 * block, 1)),
            "id_tasks.make_ids": (0, 1),
            "id_tasks.number": (8 * rows, 1),
            "ranges.degrees": (self.ids, 1),
            "ranges.order": (4 * self.ids, 1),
            "ranges.ranks_of_ends": (8 * rows, 1),
            "ranges.codes_in": (ids, 1),
            "ranges.in_part": (8 * rows / max(self.ranges, self.n), 1),
            "ranges.joined": (8 * rows, 1),
            "build.pack": (4 * rows, self.n**2),
            "build.merge": (4 * block + 8 * self.ids / self.n, 1),
            "build.pick": (largest / parts, 1),
            "_operator.getitem": (largest / parts, 1),
            "sums.edge_counts": ((4 if self.n == 1 else 12) * block, 3),
            "sums.slices": (4 * block, self.jobs),
            "sums.corner_counts": (3 * of_residue, 3) if self.n > 1 else (of_residue, 1),
            "sums.degrees_of": (2 * of_residue, 2) if self.n > 1 else (of_residue, 1),
            "sums.ends_of": (2 * of_residue, 2) if self.n > 1 else (of_residue, 1),
            "sums.largest_of_ends": (of_residue, 2) if self.n > 1 else (of_residue / 2, 1),
            "parts.by_rank": (8 * self.ids, 1),
            "vertex_answers.answer_whole": (16 * self.ids, 1),
            "distributed_values.triangle_sum": (8 * self.ids, 1),
            "distributed_values.edge_sum": (8 * self.ids, 1),
            "sorting.sorted_keys": (8 * rows, 1),
            "sorting.split": (8 * rows, self.batches),
            "sorting.merge": (8 * rows, 1),
            "peeling.finish": (self.rows, self.n**2),
        }.get(function, (largest, parts))
