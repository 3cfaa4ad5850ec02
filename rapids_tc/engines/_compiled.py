"""Functions compiled by Numba, and where the compiled code is kept between runs.

Numba's own cache ends the call where it finds no folder it can write, no room on the disk or a
damaged file; it takes any folder's files for its own, and does not see that a function which was
compiled into another has changed. So its folder and its files are ours.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from rapids_tc._cache import cache_directory, load, store
from rapids_tc._compiling import clock


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function when it is called, to run without Python's lock; the code is kept."""
    dispatcher = numba.njit(nogil=True)(function)
    if hasattr(dispatcher, "_cache"):  # NUMBA_DISABLE_JIT leaves the function as it is
        dispatcher._cache = _Cache(function)
        dispatcher.__class__ = _Interruptible
    return dispatcher


class _Interruptible(CPUDispatcher):  # type: ignore[misc]
    """Raises Ctrl-C as KeyboardInterrupt when it comes while compiled code runs.

    Numba raises it where it makes arrays of what comes back, goes on to the next array with the
    exception set, and ends in a SystemError, whose cause it is.
    """

    def __call__(self, *args: Any) -> Any:
        try:
            return super().__call__(*args)
        except SystemError as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, KeyboardInterrupt):
                cause = cause.__cause__ or cause.__context__
            if cause is None:
                raise
            raise KeyboardInterrupt from error


def _folder() -> Path | None:
    """The folder of compiled code; NUMBA_CACHE_DIR is honoured too."""
    return cache_directory("numba", numba.config.CACHE_DIR)


class _Cache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one function: a file for each combination of argument types.

    Numba calls `load_overload` before it compiles and `save_overload` afterwards. Whatever goes
    wrong in either, the function is compiled and the call goes on.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function  # Numba's key of an overload is made of it
        self._impl = object.__new__(CompileResultCacheImpl)  # without a locator, which may raise
        self.enable()

    @property
    def cache_path(self) -> str | None:
        """The folder, as Numba's statistics show it."""
        folder = _folder()
        return None if folder is None else str(folder)

    def flush(self) -> None:
        """Forget nothing: a file that is old is written again."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types; None: it is to be compiled."""
        target_context.refresh()
        with suppress(Exception):
            path = self._path(sig, target_context.codegen())
            if path and (data := load(path, _stamp())) is not None:
                return self._impl.rebuild(target_context, pickle.loads(data))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for these types, if there is room."""
        with suppress(Exception):
            path = self._path(sig, data.codegen)
            if path and self._impl.check_cachable(data):
                store(path, dumps(self._impl.reduce(data)), _stamp())

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        folder = _folder() if self._enabled else None
        parts = (self._index_key(sig, codegen), sys.implementation.cache_tag, __file__)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        return folder and folder / f"{self._py_func.__name__}-{key}.nbc"


@functools.cache
def _stamp() -> bytes:
    """What compiled code depends on: Numba, and all files here, compiled into one another."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    if not files:
        raise FileNotFoundError("without its sources nothing says whether compiled code is old")
    how = f"{numba.__version__} {numba.config.BOUNDSCHECK}"
    return b"\0".join([how.encode(), *(file.read_bytes() for file in files)])


class _Listener(event.Listener):  # type: ignore[misc]
    """Tells the clock of compilations that are ours."""

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            clock.start()

    def on_end(self, event: Any) -> None:
        if _is_ours(event):
            clock.stop()


def _is_ours(event: Any) -> bool:
    return event.data["dispatcher"].py_func.__module__.startswith("rapids_tc.")


event.register("numba:compile", _Listener())
