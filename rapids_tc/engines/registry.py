"""Load an engine by its name."""

from __future__ import annotations

from rapids_tc.engines.protocol import Costs, Engine
from rapids_tc.frames.backend import emulator


def load(name: str) -> Engine:
    """The engine of that name, "cpu" or "cuda"."""
    if name == "cuda":
        if emulator.get() is not None:
            return emulator.get()
        from rapids_tc.engines.gpu import cuda

        return cuda.engine()
    from rapids_tc.engines.cpu import engine as cpu

    return cpu


def costs_of(name: str) -> Costs:
    """Return the costs of an engine, even if the engine cannot be loaded here."""
    if name == "cuda":
        from rapids_tc.engines.gpu import device_slots

        return device_slots.COSTS
    return load(name).costs
