"""Compare the rapids_tc of a cluster's workers with the caller's: all need the same sources.

Compiled loops rely on arrays that other tasks made, so a worker whose sources differ by even one
line could write outside of an array. Each client asks every worker once. A worker may join at any
time, so every task also carries the digest of the caller's sources.
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
    """Return a short digest of all sources of a package; line endings do not matter."""
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".cu", ".cuh"):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes().replace(b"\r", b""))
    return digest.hexdigest()[:16]


EDITION = _digest(Path(__file__).parents[1])

_asked: WeakKeyDictionary[Any, set[tuple[str, str]]] = WeakKeyDictionary()  # workers, by client


def require_same(client: Any, workers: dict[str, Any]) -> None:
    """Raise KernelError if any of the workers, given by address, has another rapids_tc or none.

    The question uses nothing of rapids_tc: a worker without the package could not unpickle it.
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
    """Return the object of a name, or the exception, from each worker that is not lost."""
    if not workers:
        return {}
    answers = client.run(pkgutil.resolve_name, name, workers=workers, on_error="return")
    return {at: answer for at, answer in answers.items() if not isinstance(answer, OSError)}


def _difference(here: str, versions: dict[str, Any]) -> str:
    """Describe which workers have which version, and what to install."""
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
