"""What can go wrong, as one family: every error of ours is a `RapidsTCError` and a built-in."""


class RapidsTCError(Exception):
    """Base of every error that rapids_tc raises of its own."""

    def __str__(self) -> str:
        # KeyError prints the repr of its argument; a sentence should stay one.
        return Exception.__str__(self)


class ColumnNotFoundError(RapidsTCError, KeyError):
    """A named column is not in the frame; the message lists those that are."""


class IdTypeError(RapidsTCError, TypeError):
    """The dtype of an id column, or of the two together, cannot name vertices."""


class NullIdError(RapidsTCError, ValueError):
    """An id column has nulls."""


class CapacityError(RapidsTCError, MemoryError):
    """The graph or the result is larger than the place it should live in."""


class KernelError(RapidsTCError, RuntimeError):
    """The chosen engine is not usable here, or a kernel failed."""


CHANGED = (
    "the frame changed during the call: it holds ids now that it did not hold at first. "
    "Give the call a copy (df.copy()), or wait until nothing writes to the frame"
)


def require_unchanged(changed: int) -> None:
    """Raise KernelError if a second look at the ids found any that the first did not."""
    if changed:
        raise KernelError(CHANGED)
