"""Run the tasks of a cluster's workers on ids: look at the ids of partitions, and number them."""

from __future__ import annotations

from typing import Any

from rapids_tc.analytics import approximate
from rapids_tc.blocks.worker_tasks import Numbers, Site, chunk
from rapids_tc.engines import registry
from rapids_tc.frames.backend import Frame, narrow
from rapids_tc.preparation import id_scheme
from rapids_tc.preparation.edges import NumberedEdges
from rapids_tc.preparation.fingerprints import Fingerprint
from rapids_tc.preparation.id_columns import IdColumn
from rapids_tc.preparation.numbering import Ids

Fingerprints = list[Fingerprint]  # of the partitions of one group


@chunk
def look(site: Site, partitions: list[Frame], places: list[int]) -> id_scheme.Look:
    """Describe the id columns of some partitions; `places` are their positions in the frame."""
    backend = site.backend
    pairs = [site.columns(*given) for given in zip(partitions, places, strict=True)]
    seen = id_scheme.look(pairs, site.names, backend, places)
    seen.memory = registry.load(backend.engine).free()
    return seen


@chunk
def decide(site: Site, seen: list[id_scheme.Look]) -> id_scheme.Rules:
    """Decide how ids are numbered, from what all workers saw."""
    return id_scheme.decide(seen)


@chunk
def known(site: Site, rules: id_scheme.Rules) -> tuple[list[Fingerprints], int | None, int]:
    """Return what the client needs: fingerprints, how many numbers (if ids are dense), memory."""
    return rules.prints, rules.dense and rules.dense[1], rules.memory


@chunk
def settled(site: Site, rules: id_scheme.Rules, prints: list[Fingerprints]) -> id_scheme.Rules:
    """Return the rules; KernelError if they were made again from other partitions."""
    for seen, found in zip(prints, rules.prints, strict=True):
        for own, other in zip(seen, found, strict=True):
            own.require(other)
    return rules


@chunk
def distinct(
    site: Site, partitions: list[Frame], prints: Fingerprints, rules: id_scheme.Rules
) -> Any:
    """All distinct ids of some partitions."""
    return id_scheme.distinct(id_columns(site, partitions, prints), rules, site.backend)


@chunk
def union(site: Site, found: list[Any]) -> Any:
    """All distinct ids of several chunks."""
    return id_scheme.union(found)


@chunk
def make_ids(site: Site, rules: id_scheme.Rules, found: Any) -> Ids:
    """The way back from numbers."""
    return id_scheme.make_ids(rules, found, site.backend)


@chunk
def size_of(site: Site, ids: Ids) -> int:
    """How many numbers there are."""
    return ids.size


@chunk
def number(
    site: Site, partitions: list[Frame], prints: Fingerprints, ids: Ids, rules: id_scheme.Rules
) -> Numbers:
    """The numbers of both ends of every row of some partitions, one after another."""
    backend, columns = site.backend, id_columns(site, partitions, prints)
    made = [id_scheme.numbers(column, ids, rules, backend) for column in columns]
    if len(made) == 2:
        return made
    return [backend.xp.concatenate([*map(narrow, made[side::2])]) for side in (0, 1)]


def id_columns(site: Site, partitions: list[Frame], prints: Fingerprints) -> list[IdColumn]:
    """The id columns of some partitions, source and destination in turn.

    Raises
    ------
    KernelError
        A partition has changed since it was first looked at.
    """
    result: list[IdColumn] = []
    for partition, own in zip(partitions, prints, strict=True):
        pair = site.columns(partition, own.place)
        inspected = id_scheme.inspect_pair(pair, site.names, site.backend)
        own.require(Fingerprint.of(own.place, inspected, site.backend))
        result += [column for column, _ in inspected]
    return result


@chunk
def one_coloured(site: Site, numbers: Numbers, ids: Ids, colours: int, seed: int) -> Numbers:
    """Select the rows that `approximate_count` samples."""
    src, dst = numbers
    kept = approximate.one_coloured(
        NumberedEdges(src, dst, len(src), ids), colours=colours, seed=seed
    )
    return [*kept.ends]


@chunk
def rows_of(site: Site, numbers: Numbers) -> int:
    """Return the number of rows."""
    return len(numbers[0])
