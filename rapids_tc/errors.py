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
    "the frame changed during the call: it holds ids now that it did not hold at first. "
    "Give the call a copy (df.copy()), or wait until nothing writes to the frame"
)


def require_unchanged(changed_ids: int) -> None:
    """Raise KernelError if a second read of the ids found ids that the first read did not."""
    if changed_ids:
        raise KernelError(CHANGED)
