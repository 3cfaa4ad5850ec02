"""The intersection methods, as a frame."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rapids_tc.kernels.catalogue import METHODS

LIBRARIES = ("pandas", "cudf", "polars", "pyarrow")
COLUMNS = ("name", "aliases", "paper", "iterator", "intersection", "granularity", "returns")


def methods(*, library: str = "pandas") -> Any:
    """List the intersection methods that ``method=`` names.

    Parameters
    ----------
    library : {"pandas", "cudf", "polars", "pyarrow"}, optional
        The library of the frame that is returned.

    Returns
    -------
    DataFrame
        ============ === ====================================================
        name         str what ``method=`` takes
        aliases      str other names that it takes
        paper        str where the method is from
        iterator     str what the loop runs over
        intersection str how common neighbors are found
        granularity  str which threads share which part of the work
        returns      str "total", and "edges" if it counts by edge
        ============ === ====================================================

        One row per method.

    Raises
    ------
    ValueError
        `library` is none of these.

    See Also
    --------
    count : And every function with ``method=``.

    Notes
    -----
    All of them are CUDA kernels and give the same, exact answers; "auto" is meant to be the
    fastest. The CPU engine has one method, "auto".

    Examples
    --------
    >>> import rapids_tc as tc
    >>> tc.methods().set_index("name").loc["polak", ["iterator", "returns"]].tolist()
    ['edge', 'total']
    """
    if library not in LIBRARIES:
        raise ValueError(f"library={library!r}; accepted: {', '.join(LIBRARIES)}")
    rows = [
        [", ".join(value) if isinstance(value, tuple) else value for value in values]
        for values in ([getattr(method, column) for column in COLUMNS] for method in METHODS)
    ]
    module, columns = import_module(library), list(zip(*rows, strict=True))
    if library == "pyarrow":
        return module.table(list(map(list, columns)), names=list(COLUMNS))
    return module.DataFrame(dict(zip(COLUMNS, map(list, columns), strict=True)))
