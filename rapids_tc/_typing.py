"""Names of types whose values come from several libraries."""

from __future__ import annotations

from typing import Any, Literal

# These values are made by the modules `Backend.xp` and `Backend.library`, which are chosen at run
# time: for a type checker all that the modules return is Any, and protocols would check nothing.
Array = Any  # a NumPy or CuPy array
Series = Any  # a pandas or cuDF Series
Frame = Any  # a frame of any library

EngineName = Literal["cpu", "cuda"]
ENGINES: tuple[EngineName, ...] = ("cpu", "cuda")
