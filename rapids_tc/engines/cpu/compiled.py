"""Functions compiled with Numba, whose code is kept between runs in files of our own.

Numba's own cache raises an error if no folder can be written, if the disk is full, or if a file is
damaged. It trusts the files of any folder, and it does not notice when a function that was inlined
into another has changed.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.extending import overload

from rapids_tc._cache import cache_directory, load, store
from rapids_tc._compiling import compiling, loading

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function at its first call, to run without the GIL, and keep the code."""
    dispatcher: Any = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
    if hasattr(dispatcher, "_cache"):  # NUMBA_DISABLE_JIT leaves the function as it is
        dispatcher._cache = _Cache(function)
        dispatcher.__class__ = _Interruptible
    return cast("Function", dispatcher)


def inlined(function: Function) -> Function:
    """Compile a function as a part of each compiled function that calls it."""
    return cast("Function", numba.njit(inline="always")(function))


def dispatched(function: Function) -> Function:
    """Let compiled code call the method of this name of the first argument, a named tuple.

    The code is compiled for the class of the named tuple, and the method is compiled into it.
    `function` itself is called if the class has no such method.
    """
    name = function.__name__

    def method(self: Any, *args: Any) -> Any:
        return getattr(type(self), name, function)(self, *args)

    def choose(self: Any, *args: Any) -> Any:
        return getattr(self.instance_class, name, function)

    overload(method, strict=False)(choose)
    return cast("Function", functools.update_wrapper(method, function))


class _Interruptible(CPUDispatcher):  # type: ignore[misc]
    """Raise KeyboardInterrupt if Ctrl-C comes while compiled code runs.

    Numba notices Ctrl-C while it wraps the first returned array, carries on to the next array with
    the exception set, and ends in a SystemError. KeyboardInterrupt is the cause of that error.
    """

    def compile(self, sig: Any) -> Any:
        with _uninterrupted():
            return super().compile(sig)

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


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back while code is compiled: in the middle of LLVM it ends the process."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    interrupts: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *arguments: interrupts.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            handler(*interrupts[0])


def _folder() -> Path | None:
    """Return the folder of compiled code; NUMBA_CACHE_DIR is honored, too."""
    return cache_directory("numba", numba.config.CACHE_DIR)


class _Cache(FunctionCache):  # type: ignore[misc]
    """Store the compiled code of one function: a file per combination of argument types.

    Numba calls `load_overload` before it compiles and `save_overload` afterwards. If either fails,
    the function is compiled as if there were no cache.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function  # part of Numba's key of an overload
        self._impl = object.__new__(CompileResultCacheImpl)  # without a locator, which may raise
        self.enable()

    @property
    def cache_path(self) -> str | None:
        """Return the folder, which Numba's statistics show."""
        folder = _folder()
        return None if folder is None else str(folder)

    def flush(self) -> None:
        """Do nothing: an old file is overwritten."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for these types; None if it has to be compiled."""
        with loading.running(), suppress(Exception):
            target_context.refresh()
            path = self._path(sig, target_context.codegen())
            if path and (data := load(path, _stamp())) is not None:
                return self._impl.rebuild(target_context, pickle.loads(data))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code for these types, if there is room."""
        with suppress(Exception):
            path = self._path(sig, data.codegen)
            if path and self._impl.check_cachable(data):
                store(path, dumps(self._impl.reduce(data)), _stamp())

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        folder = _folder() if self._enabled else None
        ours = str(Path(__file__).resolve())  # through links, to one place of the same sources
        parts = (self._index_key(sig, codegen), sys.implementation.cache_tag, ours)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        return folder and folder / f"{self._py_func.__name__}-{key}.nbc"


@functools.cache
def _stamp() -> bytes:
    """Return all that compiled code depends on: Numba's version, and all sources of this folder."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    if not files:
        raise FileNotFoundError("without the sources, nothing shows whether compiled code is old")
    settings = f"{numba.__version__} {numba.config.BOUNDSCHECK}"
    return b"\0".join([settings.encode(), *(file.read_bytes() for file in files)])


class _Listener(event.Listener):  # type: ignore[misc]
    """Start and stop the clock for compilations of this package."""

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            compiling.start()

    def on_end(self, event: Any) -> None:
        if _is_ours(event):
            compiling.stop()


def _is_ours(event: Any) -> bool:
    module: str = event.data["dispatcher"].py_func.__module__
    return module.startswith("rapids_tc.")


event.register("numba:compile", _Listener())
