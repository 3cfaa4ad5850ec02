"""The intersection methods, as a frame."""

from __future__ import annotations

from typing import Any

from rapids_tc.kernels.catalogue import METHODS


def methods() -> Any:
    """List the intersection methods that ``method=`` names.

    Returns
    -------
    pandas.DataFrame
        ============ === ====================================================
        name         str what ``method=`` takes
        aliases      str other names that it takes
        paper        str where the method is from
        iterator     str what the loop runs over
        intersection str how common neighbours are found
        granularity  str which threads share which part of the work
        returns      str "total", and "edges" if it counts by edge
        ============ === ====================================================

        One row per method.

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
    import pandas

    columns = ["name", "aliases", "paper", "iterator", "intersection", "granularity", "returns"]
    values = ([getattr(method, column) for column in columns] for method in METHODS)
    rows = ([", ".join(v) if isinstance(v, tuple) else v for v in row] for row in values)
    return pandas.DataFrame(rows, columns=columns)
