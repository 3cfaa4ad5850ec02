"""Which blocks are in memory while tasks run: the order of the reads is known, so none is guessed.

Before a step its blocks are loaded; if copies run beside kernels, the blocks of the next steps are
on their way at that time, too. A step that needs a slot gets the slot of the block that is read
again last, or never: Belady's rule, which no order of replacement beats.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import SlotPool, Stored
    from rapids_tc.preparation.csr import Csr

Key = TypeVar("Key", bound=Hashable)
Loads = list[tuple[int, Key]]

NEVER = 1 << 62
STEPS_AHEAD = 2  # steps whose blocks are on their way while another step runs, at most


def load_plan(
    needs: list[list[Key]], slots: int, *, prefetch: bool
) -> Iterator[tuple[Loads[Key], dict[Key, int]]]:
    """Yield for every step the loads before it, (slot, key), and the slot of each of its keys.

    The keys of a step are in slots while the step runs. With `prefetch` the keys of the next steps
    are loaded at the same time, as long as the slots are enough for all of these steps together:
    for the next step they must be.
    """
    uses: dict[Key, list[int]] = {}
    for step, keys in enumerate(needs):
        for key in keys:
            uses.setdefault(key, []).append(step)
    slot_of: dict[Key, int] = {}
    free = list(range(slots))[::-1]

    def place(key: Key, step: int, held: set[Key]) -> Loads[Key]:
        if key in slot_of:
            return []
        if not free:
            furthest = max(set(slot_of) - held, key=lambda k: _next_use(uses[k], step))
            free.append(slot_of.pop(furthest))
        slot_of[key] = free.pop()
        return [(slot_of[key], key)]

    for step, keys in enumerate(needs):
        held, to_load = set(keys), list(keys)
        for following in needs[step + 1 : step + 1 + STEPS_AHEAD] if prefetch else []:
            if len(held | set(following)) > slots:
                break
            held |= set(following)
            to_load += following
        loads = [load for key in to_load for load in place(key, step, held)]
        yield loads, {key: slot_of[key] for key in keys}


def _next_use(uses: list[int], step: int) -> int:
    """Return the next use from a step on, and drop the uses before it."""
    while uses and uses[0] < step:
        uses.pop(0)
    return uses[0] if uses else NEVER


def prefetch(
    pool: SlotPool[Stored],
    stored: Mapping[Key, tuple[Stored, Stored]],
    plan: Iterator[tuple[Loads[Key], dict[Key, int]]],
) -> Iterator[dict[Key, Csr]]:
    """Load blocks into the slots of a pool by a plan; yield the blocks of each step.

    `stored` has the lengths of the rows and the columns of each block, as a block store keeps them.
    The blocks of a step may be read until the next step.
    """
    for loads, slot_of in plan:
        for slot, key in loads:
            pool.load(slot, *stored[key])
        blocks = {key: pool.block(slot) for key, slot in slot_of.items()}
        yield blocks
        blocks.clear()  # a reference would hold their memory while the next blocks are loaded
        for slot in slot_of.values():
            pool.release(slot)
