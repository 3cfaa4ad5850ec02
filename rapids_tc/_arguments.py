"""Checks of options, and errors of calls that Python refuses: its words, and what to write."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

# What users of other libraries write, and the option of the same meaning.
_SAME = {
    "source": ("src", "from_", "from_col", "u", "source_col", "src_col", "start"),
    "destination": ("dst", "dest", "target", "to", "to_col", "v", "dst_col", "end"),
    "weight": ("weights", "edge_attr", "w"),
    "by": ("group", "groups", "groupby", "group_by"),
    "vertices": ("nodes", "vertex", "nodelist", "nbunch", "vs"),
    "engine": ("device", "backend"),
    "measure": ("metric",),
}


def with_hints(function: Function) -> Function:
    """Make a function add to Python's error of a wrong call what to write instead."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            signature.bind(*args, **keywords)
        except TypeError:
            refuse(function, args, keywords)
        return function(*args, **keywords)

    return call  # type: ignore[return-value]


def check_flag(own: dict[str, Any], name: str = "directed") -> dict[str, Any]:
    """Raise ValueError unless an option is True or False."""
    if not isinstance(own[name], bool | np.bool_):
        raise ValueError(f"{name}={own[name]!r}; accepted: True, False")
    return own


def check_choice(
    own: dict[str, Any], name: str, choices: Iterable[str], *, optional: bool = False
) -> dict[str, Any]:
    """Raise ValueError unless an option is one of some words, or None if it is optional."""
    given, accepted = own[name], [*choices]
    if not (given is None and optional) and not (isinstance(given, str) and given in accepted):
        words = ", ".join(map(repr, accepted)) + ", or None" * optional
        raise ValueError(f"{name}={given!r}; accepted: {words}")
    return own


def check_integer(
    own: dict[str, Any], name: str, least: int, *, optional: bool = False
) -> dict[str, Any]:
    """Return the own options, one of them as an int; it may be None if it is optional."""
    given = own[name]
    if given is None and optional:
        return own
    if not (is_integer(given) and given >= least):
        words = f"an integer from {least} on" + ", or None" * optional
        raise ValueError(f"{name}={given!r}; accepted: {words}")
    return {**own, name: int(given)}


def is_integer(value: object) -> bool:
    """Return whether an argument is an integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_bytes(size: str) -> int | None:
    """Return the bytes that a text names, as Dask reads it; None if it names none.

    Units of 1000 are kB, MB, GB, TB and PB, those of 1024 are KiB to PiB, in any case of letters,
    and the last B may be left out.
    """
    found = re.fullmatch(
        r"\s*(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?\s*(?:([kmgtp])(i)?)?b?\s*", size.lower()
    )
    if found is None:
        return None
    number, power, unit, binary = found.groups("")
    thousand = 1024 if binary else 1000
    return int(Decimal(number + power) * thousand ** (" kmgtp".index(unit) if unit else 0))


def checked_limit(limit: object) -> int | None:
    """Return a ``memory_limit=`` as bytes; ValueError if it is neither above 0 nor None."""
    if limit is None:
        return None
    size = as_bytes(limit) if isinstance(limit, str) else limit
    if not is_integer(size) or size <= 0:  # type: ignore[operator]
        raise ValueError(
            f"memory_limit={limit!r}: give a number of bytes, such as 8 * 2**30, or a "
            'text, such as "8GB" or "8GiB"'
        )
    return int(size)  # type: ignore[call-overload, no-any-return]


def with_new_names(
    function: str, keywords: dict[str, Any], renamed: Mapping[str, str]
) -> dict[str, Any]:
    """Return the keywords of a user's call with options by their names of today.

    `renamed` has these by their old names, each of which gives a FutureWarning. To be called by the
    function that the user calls.

    Raises
    ------
    TypeError
        An option is given by both names.
    """
    for old in renamed.keys() & keywords.keys():
        new = renamed[old]
        if new in keywords:
            raise TypeError(
                f"{function}() got {old}= and {new}=, its name of today: leave {old}= out"
            )
        warn_renamed(f"{old}= of {function}", f"{new}=", stacklevel=4)
    return {renamed.get(name, name): value for name, value in keywords.items()}


def warn_user(remarks: list[str]) -> None:
    """Give a UserWarning for each remark on a call, at the user's line."""
    for remark in remarks:
        warnings.warn(remark, UserWarning, stacklevel=_outside())


def _outside() -> int:
    """Return the stack level, as seen by the function that calls, of the first line not of ours."""
    frame: Any = sys._getframe(1)
    level, folder = 1, str(Path(__file__).parent / "_")[:-1]  # with the separator behind it
    while frame is not None and frame.f_code.co_filename.startswith(folder):
        frame, level = frame.f_back, level + 1
    return level


def warn_renamed(old: str, new: str, *, stacklevel: int) -> None:
    """Give the FutureWarning of a name that will go; `stacklevel` is that of the user's line."""
    words = f"{old} is now {new}, and will go in a later minor release"
    warnings.warn(words, FutureWarning, stacklevel=stacklevel)


def refuse(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> NoReturn:
    """Raise Python's error of a call that cannot be bound, with what to write instead.

    Of a function that is wrapped, and takes further keywords there, the wrapped one is called.

    Raises
    ------
    TypeError
        Always.
    """
    words = "the call does not match the signature"
    wrapped = inspect.unwrap(function)
    further = {*inspect.signature(function).parameters} - {*inspect.signature(wrapped).parameters}
    try:
        wrapped(*args, **{name: keywords[name] for name in keywords if name not in further})
    except TypeError as error:
        words = str(error)
    raise TypeError(f"{words}; {_hint(function, args, keywords)}")


def _hint(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """Say which arguments the function takes, or what those of the call are called."""
    parameters = inspect.signature(function).parameters.values()
    options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    stars = [f"*{p.name}" for p in parameters if p.kind is p.VAR_POSITIONAL]
    name = function.__name__
    if positional[0] == "self":
        positional, args = positional[1:], args[1:]
    if name == "__init__":
        name = function.__qualname__.split(".")[0]
    required = [
        p.name + "=" for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty
    ]
    call = f"{name}({', '.join([*positional, *stars])}"
    if len(args) > len(positional) and not stars:
        if len(args) > 2 and all(isinstance(label, str) for label in args[-2:]):
            return f"name the id columns: {call}, source={args[-2]!r}, destination={args[-1]!r})"
        if not any(hasattr(each, "columns") or not hasattr(each, "__len__") for each in args[:2]):
            rest = "".join(f", {each}" for each in positional[1:])
            return f"give sources and destinations as a pair: {name}((src, dst){rest})"
        return f"options are named: {call}, {'=, '.join(options)}=)"
    for word in keywords:
        if "*" + word in stars:
            return f"name them after {positional[-1]}, without {word}=: {call})"
        if word not in [*options, *positional]:
            same = [option for option in options if word.lower() in _SAME.get(option, ())]
            close = same or get_close_matches(word, options, n=1)
            return f"did you mean {close[0]}=?" if close else f"it takes {'=, '.join(options)}="
    return f"call it as {', '.join([call, *required])})"
