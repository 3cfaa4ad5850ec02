"""A library whose arrays others read by DLPack alone, as those of torch."""

import numpy as np


def from_dlpack(values):
    """The array of this library over the memory of another one."""
    return Tensor(np.from_dlpack(values))


class Tensor:
    """An array, which says in what kind of memory it lies: 1 is the host's."""

    def __init__(self, values, memory=1):
        self._values, self._memory = values, memory
        self.shape, self.dtype = values.shape, values.dtype

    def __dlpack_device__(self):
        return self._memory, 0

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def tolist(self):
        return self._values.tolist()


class Unreadable(Tensor):
    """An array that the library does not give away; it is sparse."""

    layout = "torch.sparse_coo"

    def __dlpack__(self, **options):
        raise BufferError("it requires a gradient")
