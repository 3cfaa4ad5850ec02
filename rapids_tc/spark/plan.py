"""What is decided on the driver: the columns that can be added, and how many blocks there are."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isqrt
from typing import TYPE_CHECKING

from rapids_tc._arguments import checked_limit
from rapids_tc.analytics.annotate import check_names
from rapids_tc.errors import CapacityError
from rapids_tc.plan import costs
from rapids_tc.plan.record import Needs, row_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rapids_tc._typing import ByteSize

TASK_MEMORY = 2**30  # bytes of a task in Python: executors have one or a few GiB per core
# Bytes of a task per edge of a block, to make a block or to count three, and the copies of the text
# of its ids. The most resident memory of a process on blocks of 1,000,000 edges was 440 and 430 per
# edge over twice as many vertices, and 142 to 183 over an eighth.
EDGE, TEXT_COPIES = 448, 6
MOST_MEMORY = 2**32  # a larger task has cells or text beyond a batch of Arrow, 2 GiB
WORTH_TASKS = 2**18  # rows that one task counts sooner than several do
MOST_BLOCKS = costs.MOST_CLUSTER_BLOCKS
BY_EDGE = Needs.EDGE_COUNTS | Needs.DEGREES  # what columns may need


@dataclass(frozen=True)
class Sizes:
    """The rows of a frame of edges, and the bytes of the text of all ids."""

    rows: int
    text: int


def choose(sizes: Sizes, memory_limit: ByteSize | None, parallelism: int) -> int:
    """Choose the number of blocks per side.

    Raises
    ------
    CapacityError
        Three blocks take more than the limit, however many blocks there are.
    """
    bound = checked_limit(memory_limit)
    limit = TASK_MEMORY if bound is None else min(bound, MOST_MEMORY)
    need = ceil(costs.UNEVEN * (EDGE * sizes.rows + TEXT_COPIES * sizes.text))
    n = isqrt(max(ceil(need / limit), 1) - 1) + 1
    if n > MOST_BLOCKS:
        raise CapacityError(
            f"a task on three of {MOST_BLOCKS} x {MOST_BLOCKS} blocks of {sizes.rows:,} rows takes "
            f"{ceil(need / MOST_BLOCKS**2):,} bytes, and {limit:,} are its limit: raise "
            "memory_limit=, and give executors as much per core"
        )
    while sizes.rows > WORTH_TASKS and n**3 < parallelism and n < MOST_BLOCKS:
        n += 1
    return n


def check_columns(columns: Sequence[str]) -> None:
    """Raise ValueError or TypeError unless all columns can be added to the rows of Spark."""
    columns_of_rows = row_columns()
    possible = [name for name, column in columns_of_rows.items() if not column.needs & ~BY_EDGE]
    for name in columns:
        if isinstance(name, str) and name in columns_of_rows and name not in possible:
            raise TypeError(
                f'"{name}" needs more than triangles and degrees, which all columns of '
                f"spark.annotate are made of: name some of {possible}, or write the edges as "
                "Parquet and call tc.annotate of a Dask frame that reads them"
            )
    check_names(tuple(columns), possible, "spark.annotate")
