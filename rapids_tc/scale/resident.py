"""Which blocks are in memory while tasks run: what is read next is known, so nothing is guessed.

Before a task its blocks are there; a room that copies ahead has those of the next task on their way
then, too. When a slot is needed, the block goes that is read again last, or never: Belady's rule,
which no order of replacement beats.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)

NEVER = 1 << 62


def schedule(needs: list[list[Key]], slots: int, ahead: bool) -> Iterator[list[tuple[int, Key]]]:
    """For every step what to put where, before it: (slot, key), in the order of `needs`.

    A step's keys are in slots while it runs. With `ahead` those of the next step are put into
    slots then, so that both together may be as many as there are slots.
    """
    uses: dict[Key, list[int]] = {}
    for step, keys in enumerate(needs):
        for key in keys:
            uses.setdefault(key, []).append(step)
    place: dict[Key, int] = {}
    free = list(range(slots))[::-1]

    def put(key: Key, step: int, held: set[Key]) -> list[tuple[int, Key]]:
        if key in place:
            return []
        if not free:
            furthest = max(set(place) - held, key=lambda k: _next(uses[k], step))
            free.append(place.pop(furthest))
        place[key] = free.pop()
        return [(place[key], key)]

    for step, keys in enumerate(needs):
        following = needs[step + 1] if ahead and step + 1 < len(needs) else []
        held = {*keys, *following}
        yield [made for key in [*keys, *following] for made in put(key, step, held)]


def _next(uses: list[int], step: int) -> int:
    """The next use from a step on."""
    while uses and uses[0] < step:
        uses.pop(0)
    return uses[0] if uses else NEVER


class Resident:
    """Blocks of a shelf in the slots of a room, as the steps of a schedule need them.

    Parameters
    ----------
    room : Room of an engine
    stored : dict
        What the shelf has of each block.
    needs : list of list
        The blocks of each step.
    slots : int

    Attributes
    ----------
    moved : int
        Bytes that were brought in.
    """

    def __init__(self, room: Any, stored: dict[Any, Any], needs: list[Any], slots: int) -> None:
        self._room, self._stored, self._needs, self.moved = room, stored, needs, 0
        self._plan = schedule(needs, slots, room.ahead)
        self._place: dict[Any, int] = {}

    def steps(self) -> Iterator[dict[Any, Any]]:
        """For each step its blocks, which may be read until the next."""
        for keys, loads in zip(self._needs, self._plan, strict=True):
            for slot, key in loads:
                self._put(slot, key)
            yield {key: self._room.block(self._place[key]) for key in keys}
            for key in keys:
                self._room.leave(self._place[key])

    def _put(self, slot: int, key: Any) -> None:
        self._place = {k: s for k, s in self._place.items() if s != slot}
        self._place[key] = slot
        offsets, columns = self._stored[key]
        self._room.load(slot, offsets, columns)
        self.moved += 4 * (offsets.size + columns.size)
