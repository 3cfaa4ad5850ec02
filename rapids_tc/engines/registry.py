"""The engines by name, loaded when they are asked for: that takes a good part of a second."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rapids_tc._compiling import loading
from rapids_tc.frames.backend import emulator

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import Costs, Engine

CPU, CUDA = "rapids_tc.engines.cpu.engine", "rapids_tc.engines.gpu.cuda"


def load(name: str) -> Engine:
    """Return the engine of a name, "cpu" or "cuda"."""
    if name == "cuda":
        emulated: Engine | None = emulator.get()
        cuda: Engine = _loaded(CUDA).engine() if emulated is None else emulated
        return cuda
    cpu: Engine = _loaded(CPU)
    return cpu


def _loaded(module: str) -> Any:
    """Return a module; the clock runs if it has not been loaded yet."""
    with nullcontext() if module in sys.modules else loading.running():
        return import_module(module)  # which waits for another thread that loads it


def costs_of(name: str) -> Costs:
    """Return the costs of an engine, even if the engine cannot be loaded here."""
    if name == "cuda":
        from rapids_tc.engines.gpu import device_slots

        return device_slots.COSTS
    return load(name).costs
