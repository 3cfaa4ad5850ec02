"""Which blocks are in memory while tasks run: what is read next is known, so nothing is guessed.

Before a step its blocks are there; where copies run ahead, those of the next steps are on their way
then, too. When a slot is needed, the block goes that is read again last, or never: Belady's rule,
which no order of replacement beats.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)

NEVER = 1 << 62
AHEAD = 2  # steps for which blocks are on their way while one runs, at most


def schedule(needs: list[list[Key]], slots: int, ahead: bool) -> Iterator[list[tuple[int, Key]]]:
    """For every step what to put where, before it: (slot, key), in the order of `needs`.

    A step's keys are in slots while it runs. With `ahead` those of the next steps are put into
    slots then, as far as there are enough for all of them together: for the next one there must be.
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
        held, wanted = set(keys), list(keys)
        for following in needs[step + 1 : step + 1 + AHEAD] if ahead else []:
            if len(held | set(following)) > slots:
                break
            held |= set(following)
            wanted += following
        yield [made for key in wanted for made in put(key, step, held)]


def most_at_once(needs: list[list[Key]], ahead: bool) -> int:
    """How many slots `schedule` takes at least."""
    following = [*needs[1:], []] if ahead else [[]] * len(needs)
    return max((len({*a, *b}) for a, b in zip(needs, following, strict=False)), default=0)


def _next(uses: list[int], step: int) -> int:
    """The next use from a step on."""
    while uses and uses[0] < step:
        uses.pop(0)
    return uses[0] if uses else NEVER


class Resident:
    """Blocks of a shelf in the slots of a room, as a schedule has them.

    Parameters
    ----------
    room : Room of an engine
    stored : dict
        What the shelf has of each block.
    plan : iterator
        See `schedule`.

    Attributes
    ----------
    moved : int
        Bytes that were brought in.
    """

    def __init__(self, room: Any, stored: dict[Any, Any], plan: Iterator[Any]) -> None:
        self._room, self._stored, self._plan, self.moved = room, stored, plan, 0
        self._place: dict[Any, int] = {}

    def steps(self, needs: list[list[Any]]) -> Iterator[dict[Any, Any]]:
        """For each step its blocks, which may be read until the next."""
        for keys, loads in zip(needs, self._plan, strict=True):
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
