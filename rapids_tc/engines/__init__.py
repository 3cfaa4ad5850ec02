"""Engines: where an oriented graph is counted. One protocol, the CPU and CUDA."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

# Set by `rapids_tc.testing.host_engine`: the engine that serves every frame instead.
_emulator: ContextVar[Any] = ContextVar("emulator", default=None)


def emulated() -> bool:
    """Whether the CUDA engine runs on the host emulator here."""
    return _emulator.get() is not None


def load(name: str) -> Any:
    """The engine of that name, ``"cpu"`` or ``"cuda"``."""
    if emulated():
        return _emulator.get()
    if name == "cuda":
        from . import cuda

        return cuda.engine()
    from . import cpu

    return cpu
