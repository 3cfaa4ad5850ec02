"""Which rapids_tc the workers of a cluster have: tasks of one version do not fit another.

Compiled loops rely on what other tasks have made, so that a worker whose sources differ, were it by
a line, could write outside an array. Workers are asked once a client; and every task knows by
which sources it was made, for a worker may join at any time.
"""

from __future__ import annotations

import pkgutil
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from rapids_tc.errors import KernelError

NAMED = 5  # workers in a message


def _digest(folder: Path) -> str:
    """A short digest of all sources of a package, however their lines end."""
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".cu", ".cuh"):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes().replace(b"\r", b""))
    return digest.hexdigest()[:16]


EDITION = _digest(Path(__file__).parents[1])

_asked: WeakKeyDictionary[Any, set[tuple[str, str]]] = WeakKeyDictionary()  # workers, by client


def require_same(client: Any, workers: dict[str, Any]) -> None:
    """Raise KernelError where workers, given by address, have another rapids_tc, or none.

    Nothing of ours is sent to ask: a worker that lacks it could not read it.
    """
    names = {address: (address, worker["local_directory"]) for address, worker in workers.items()}
    known = _asked.setdefault(client, set())
    new = [address for address, name in names.items() if name not in known]
    answers = _ask(client, new, f"{__name__}:EDITION")
    others = [address for address, answer in answers.items() if answer != EDITION]
    if others:
        versions = _ask(client, others, "rapids_tc:__version__")
        raise KernelError(_difference(pkgutil.resolve_name("rapids_tc:__version__"), versions))
    known.update(names[address] for address in answers)


def _ask(client: Any, workers: list[str], name: str) -> dict[str, Any]:
    """What a name stands for on each worker, or why it cannot be told; no answer from lost ones."""
    if not workers:
        return {}
    answers = client.run(pkgutil.resolve_name, name, workers=workers, on_error="return")
    return {at: answer for at, answer in answers.items() if not isinstance(answer, OSError)}


def _difference(here: str, versions: dict[str, Any]) -> str:
    """Say which workers have what, and what to install."""
    told = []
    for address, version in sorted(versions.items())[:NAMED]:
        if isinstance(version, Exception):
            told.append(f"{address} has none ({version})")
        else:
            told.append(f"{address} has {version}{' of other sources' * (version == here)}")
    more = f"; and {len(versions) - NAMED} more" if len(versions) > NAMED else ""
    return (
        f"this process has rapids_tc {here}, and workers have not: {'; '.join(told)}{more}. "
        f"All need the same: pip install 'rapids_tc=={here}' where they run, and start them again"
    )
