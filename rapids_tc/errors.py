"""The errors of rapids_tc: each is a `RapidsTCError` and a built-in error."""


class RapidsTCError(Exception):
    """The base class of all errors of rapids_tc."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return Exception.__str__(self)


class ColumnNotFoundError(RapidsTCError, KeyError):
    """A named column is not in the frame; the message lists the columns of the frame."""


class IdTypeError(RapidsTCError, TypeError):
    """The dtype of an id column, or of both columns together, cannot name vertices."""


class NullIdError(RapidsTCError, ValueError):
    """An id column has nulls."""


class CapacityError(RapidsTCError, MemoryError):
    """The graph or the result is larger than the memory for it."""


class KernelError(RapidsTCError, RuntimeError):
    """The chosen engine cannot run on this machine, or a kernel failed."""


CHANGED = (
    "the frame changed during the call: it holds values now that it did not hold at first. "
    "Give the call a copy (df.copy()), or wait until nothing writes to the frame"
)
CHANGED_PARTITION = (
    "a partition of the frame changed while a worker read it: it holds values now that it did not "
    "hold at first. Wait until nothing writes to what the partition is made of, and call again"
)


MOST_SHOWN = 200  # characters of a value in a message


def shown(value: object) -> str:
    """Return the repr of a value that a user gave, cut off if it would fill the message."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"


def require_unchanged(changed: int) -> None:
    """Raise KernelError if a second read of the frame found values that the first read did not."""
    if changed:
        raise KernelError(CHANGED)
