"""Which blocks are in memory while tasks run: what is read next is known, so nothing is guessed.

Before a step its blocks are there; where copies run ahead, those of the next steps are on their way
then, too. When a slot is needed, the block goes that is read again last, or never: Belady's rule,
which no order of replacement beats.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)
Loads = list[tuple[int, Key]]

NEVER = 1 << 62
AHEAD = 2  # steps for which blocks are on their way while one runs, at most


def schedule(
    needs: list[list[Key]], slots: int, ahead: bool
) -> Iterator[tuple[Loads[Key], dict[Key, int]]]:
    """For every step what to put where before it, (slot, key), and where its own keys then are.

    A step's keys are in slots while it runs. With `ahead` those of the next steps are put into
    slots then, as far as there are enough for all of them together: for the next one there must be.
    """
    uses: dict[Key, list[int]] = {}
    for step, keys in enumerate(needs):
        for key in keys:
            uses.setdefault(key, []).append(step)
    place: dict[Key, int] = {}
    free = list(range(slots))[::-1]

    def put(key: Key, step: int, held: set[Key]) -> Loads[Key]:
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
        loads = [made for key in wanted for made in put(key, step, held)]
        yield loads, {key: place[key] for key in keys}


def most_at_once(needs: list[list[Key]], ahead: bool) -> int:
    """How many slots `schedule` takes at least."""
    following = [*needs[1:], []] if ahead else [[]] * len(needs)
    return max((len({*a, *b}) for a, b in zip(needs, following, strict=False)), default=0)


def _next(uses: list[int], step: int) -> int:
    """The next use from a step on."""
    while uses and uses[0] < step:
        uses.pop(0)
    return uses[0] if uses else NEVER


def resident(
    room: Any, stored: dict[Key, Any], plan: Iterator[tuple[Loads[Key], dict[Key, int]]]
) -> Iterator[dict[Key, Any]]:
    """Blocks in the slots of a room as a schedule has them: for each step its own, until the next.

    `stored` is what a shelf has of each.
    """
    for loads, places in plan:
        for slot, key in loads:
            room.load(slot, *stored[key])
        made = {key: room.block(slot) for key, slot in places.items()}
        yield made
        made.clear()  # else they are held while the next ones come
        for slot in places.values():
            room.leave(slot)
