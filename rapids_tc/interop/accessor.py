"""The functions as methods of frames, where the user asks for them: ``df.tc.count()``."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from keyword import iskeyword
from typing import Any

from rapids_tc._typing import Frame
from rapids_tc.analytics.memory import memory_estimate
from rapids_tc.graphs.public import Graph
from rapids_tc.plan.record import ANALYTICS

# By library: the module that registers accessors, and by class of frames the function that does.
# Of these libraries only pandas is imported for it.
_FRAME = {"DataFrame": "register_dataframe_accessor"}
_LIBRARIES = {
    "pandas": ("pandas.api.extensions", _FRAME),
    "cudf": ("cudf.api.extensions", _FRAME),
    "dask.dataframe": ("dask.dataframe.extensions", _FRAME),
    "polars": (
        "polars.api",
        {
            "DataFrame": "register_dataframe_namespace",
            "LazyFrame": "register_lazyframe_namespace",
        },
    ),
}


def register_accessor(name: str = "tc") -> tuple[str, ...]:
    """Give data frames an attribute that holds the functions: ``df.tc.count()``.

    Parameters
    ----------
    name : str, optional
        What the attribute is called.

    Returns
    -------
    tuple of str
        The libraries whose data frames have the attribute now: "pandas" always; "cudf",
        "dask.dataframe" and "polars", lazy frames included, if they have been imported before.
        Call again after a later import.

    Raises
    ------
    ValueError
        `name` is no identifier, or data frames have another attribute of that name.

    See Also
    --------
    annotate : The same without an accessor.

    Notes
    -----
    Nothing is registered by ``import rapids_tc``. Every function whose first argument is the edges
    is there, and `Graph`: ``df.tc.k_truss(4)`` is ``tc.k_truss(df, 4)``.

    Examples
    --------
    >>> import pandas as pd, rapids_tc as tc
    >>> "pandas" in tc.register_accessor()
    True
    >>> pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]}).tc.count()
    1
    """
    if not (isinstance(name, str) and name.isidentifier()) or iskeyword(name):
        raise ValueError(f"name={name!r}: an attribute's name is letters, digits and _, no keyword")
    import_module("pandas")
    present = [library for library in _LIBRARIES if library in sys.modules]
    missing = [
        (_LIBRARIES[library][0], register)
        for library in present
        for frame, register in _LIBRARIES[library][1].items()
        if not _registered(library, frame, name)
    ]
    for module, register in missing:
        getattr(import_module(module), register)(name)(_accessor())
    return tuple(present)


def _registered(library: str, frame: str, name: str) -> bool:
    """Return whether a class has the attribute; ValueError if something else has the name."""
    kind = getattr(sys.modules[library], frame)
    if not hasattr(kind, name):
        return False
    if getattr(kind, name) is not _accessor():
        raise ValueError(f"{library}.{frame} has an attribute {name!r} already: choose another")
    return True


@cache
def _accessor() -> type:
    """Make the class of ``df.tc``, with a method for each function that takes edges."""

    def bind(self: Any, frame: Frame) -> None:
        self._frame = frame

    functions = {"Graph": Graph, "memory_estimate": memory_estimate}
    functions |= {name: record.call for name, record in ANALYTICS.items()}
    methods = {name: _method(function) for name, function in functions.items()}
    doc = "The functions of rapids_tc on this frame: ``df.tc.count()`` is ``tc.count(df)``."
    return type("Accessor", (), {"__doc__": doc, "__init__": bind, **methods})


def _method(function: Any) -> Any:
    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        return function(self._frame, *args, **keywords)

    given = signature(function)
    _, *others = given.parameters.values()
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    method.__name__ = method.__qualname__ = function.__name__
    method.__doc__ = function.__doc__
    method.__signature__ = given.replace(parameters=[own, *others])  # type: ignore[attr-defined]
    return method
