"""Approximate counts, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import nan, sqrt
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_tc._arguments import is_integer
from rapids_tc._typing import Frame, Method
from rapids_tc.analytics.analytic import analytic
from rapids_tc.plan.record import Needs, OwnOptions, Result, Work

if TYPE_CHECKING:
    from rapids_tc.graphs.edge_graph import EdgeGraph


@dataclass(frozen=True)
class Estimate:
    """A count estimated from a sample.

    Parameters
    ----------
    value : int
        The estimate, which is right on average.
    stderr : float
        Its standard error, estimated from the same sample.
    low, high : float
        The confidence interval.

    Examples
    --------
    >>> import rapids_tc as tc
    >>> from rapids_tc import datasets
    >>> tc.approximate_count(datasets.karate(), colors=1, seed=0)
    Estimate(value=45, stderr=0.0, low=45.0, high=45.0)
    """

    value: int
    stderr: float
    low: float
    high: float


FIELDS = tuple(field.name for field in fields(Estimate))


def _check(own: OwnOptions) -> OwnOptions:
    return {
        "colors": _whole("colors", own["colors"], 1, 2**32 - 1),
        "seed": _whole("seed", own["seed"], 0, 2**64 - 1),
        "confidence": _share(own["confidence"]),
    }


def _work(own: OwnOptions) -> Work:
    return Work(Needs.EDGE_COUNTS | Needs.SAMPLE, Result.VALUE, colors=own["colors"])


@analytic(
    Work(Needs.EDGE_COUNTS | Needs.SAMPLE, Result.VALUE, colors=2),
    fields=FIELDS,
    check=_check,
    work=_work,
    renamed={"colours": "colors"},
)
def approximate_count(
    graph: EdgeGraph,
    *,
    colors: int = 4,
    seed: int = 0,
    confidence: float = 0.95,
    method: Method = "auto",
) -> Estimate | Frame:
    """Estimate the triangles of the graph from the edges whose two ends drew the same color.

    Parameters
    ----------
    edges : DataFrame or Graph
        One row per edge.
    colors : int, optional
        The number of colors that vertices draw from: about one edge in `colors` is counted. 1
        gives the exact count.
    seed : int, optional
        From 0 to 2**64 - 1. The same seed gives the same sample, another seed another sample.
    confidence : float, optional
        The share of seeds whose interval should hold the true count.

    Returns
    -------
    Estimate or DataFrame
        ====== ===== ==================================================
        value  int   the estimate
        stderr float its standard error
        low    float the confidence interval, from the triangles seen on
        high   float
        ====== ===== ==================================================

        With `by`, one row per group, sorted by group: the columns of groups, and these four, of
        which ``value`` is int64.

    Raises
    ------
    ValueError
        `colors`, `seed` or `confidence` is out of range. Other errors: see `Graph`.

    See Also
    --------
    count : The exact number.

    Notes
    -----
    Colorful triangle counting: Pagh and Tsourakakis, "Colorful triangle counting and a MapReduce
    implementation", Inf. Process. Lett. 112 (2012). With N colors a triangle is seen with
    probability 1 / N**2, so that the estimate N**2 * S from S triangles seen is right on average,
    for any graph. Two triangles are seen together with probability 1 / N**3 if they share an
    edge and 1 / N**4, as if they were independent, if they share less. For T triangles, and P pairs
    of triangles that share an edge, the variance is hence T (N**2 - 1) + 2 P (N - 1). Both terms
    are estimated without bias from the sample: T as above, P by N**3 times the pairs seen.

    The interval holds the counts T that lie within as many standard errors of the estimate as
    `confidence` asks for, if the variance is taken as proportional to T (a score interval, like
    Wilson's for shares). If a sample sees no triangle, the interval ends at the T for which that
    would be a surprise. The interval is reliable if many triangles are seen and no edge is in a
    large share of them: if all triangles of a graph share one edge, a sample without that edge sees
    none of them, and cannot tell.

    The color of a vertex is a hash of `seed` and its id or, if ids are not integers or are made of
    several columns, its place by value among all ids (and categories; with `by`, of its group). So
    the sample is the same on any engine, in any order of rows or partitions, and with any repeats.

    Cost: a hash per vertex and two look-ups per edge, then `edge_triangles` for the edges of the
    sample, one in N, which hold one wedge in N**2.

    Examples
    --------
    >>> import rapids_tc as tc
    >>> from rapids_tc import datasets
    >>> edges = datasets.rmat(12)
    >>> found = tc.approximate_count(edges)
    >>> found.low < tc.count(edges) < found.high
    True
    """
    moments = graph.sample_moments(colors, seed, method)
    if graph.groups is None:
        return estimate(moments, colors, confidence)
    place = {part: i for i, part in enumerate(dict.fromkeys(moments))}  # many groups have the same
    estimates = [estimate([part], colors, confidence) for part in place]
    of_group = np.array([place[part] for part in moments], "int64")
    dtypes = dict.fromkeys(FIELDS, "float64") | {"value": "int64"}
    return graph.group_frame(
        {
            name: np.array([getattr(estimated, name) for estimated in estimates], dtype)[of_group]
            for name, dtype in dtypes.items()
        }
    )


def estimate(parts: list[tuple[int, float]], colors: int, confidence: float) -> Estimate:
    """Estimate the count from the `sampling.moments` of each part of a sample."""
    triangles, pairs = sum(sides for sides, _ in parts) // 3, sum(pairs for _, pairs in parts)
    value = colors**2 * triangles
    variance = (colors**2 - 1) * value + 2 * (colors - 1) * colors**3 * pairs
    a_triangle = variance / value if value else colors**2 - 1
    half = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 * a_triangle / 2
    high = value + half + sqrt(half * (half + 2 * value))
    low = value / high * value if value else 0.0  # the product of both ends is value**2
    return Estimate(value, sqrt(variance), max(low, float(triangles)), high)


def _whole(name: str, given: Any, least: int, most: int) -> int:
    if not (is_integer(given) and least <= int(given) <= most):
        raise ValueError(f"{name}={given!r}; accepted: an integer from {least} to {most}")
    return int(given)


def _share(confidence: Any) -> float:
    share = float(confidence) if isinstance(confidence, Real) else nan
    # Next to 1, (1 + share) / 2 is rounded to 1, of which there is no quantile.
    if not (share > 0 and (1 + share) / 2 < 1):
        raise ValueError(f"confidence={confidence!r}; accepted: a share between 0 and 1")
    return share
