"""The engines by name, loaded when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapids_tc.frames.backend import emulator

if TYPE_CHECKING:
    from rapids_tc.engines.protocol import Costs, Engine


def load(name: str) -> Engine:
    """Return the engine of a name, "cpu" or "cuda"."""
    if name == "cuda":
        emulated: Engine | None = emulator.get()
        if emulated is not None:
            return emulated
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
