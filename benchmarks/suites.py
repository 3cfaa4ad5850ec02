"""The suites: the graphs, methods, figures and other libraries of a study, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

STAGES = ("count", "edge counts")
CALLS = (*STAGES, "frame to count", "frame to edge column", "peak memory")


@dataclass(frozen=True)
class Entry:
    """One graph and its figures.

    Attributes
    ----------
    graph : str
        A name that `datasets.load` accepts.
    what : tuple of str
        Figures of "auto" and of the other libraries.
    named : tuple of str
        Figures of the methods that are named, as others than "auto".
    methods : tuple of str
        Names of methods; "all" stands for every method of the engine.
    """

    graph: str
    what: tuple[str, ...] = CALLS
    named: tuple[str, ...] = (*STAGES, "frame to count", "peak memory")
    methods: tuple[str, ...] = ("auto", "all")


@dataclass(frozen=True)
class Suite:
    """A run: its graphs, the smallest of a family first, from which larger ones are predicted."""

    entries: tuple[Entry, ...]
    library: str
    against: tuple[str, ...]
    repeat: int
    timeout: float


# The real graphs with the most edges, and at least one of each kind: words, followers, web,
# dependencies, authors, proteins, peers, routers.
REAL = (
    "wordnet30-gloss-cooc", "uk-2007-05@100000", "cnr-2000", "ego-Twitter", "fb-Cornell5",
    "soc-Slashdot0902", "cit-HepTh", "PP-Pathways_ppi", "musae-github", "debian12-deps",
    "ca-AstroPh", "email-Enron", "p2p-Gnutella31", "as-caida20071105",
)  # fmt: skip
LAPTOP = ("email-Enron", "ca-AstroPh", "soc-Slashdot0902", "ego-Twitter", "cnr-2000")
LOW = ("grid:200", "mesh:2800", "road:2800", "uniform:22:8e6")  # of low degree
TINY = ("rmat:6", "rmat:8", "rmat:10", "rmat:12", "shared:karate", "shared:power")
SHAPES = (
    "theory:25-81-256-B1k", "theory:3-4-5-9-16-25-B1k", "theory:4-5-9-16-25-B2k",
    "star:1e7", "wheel:1e7", "book:1e7",
)  # fmt: skip
FAST = ("bitmap", "tricore", "trust", "polak", "grouptc")  # methods, if all would take too long
TRUSS = ("frame to trussness", "16-truss")


def study() -> Iterator[Entry]:
    """Yield the graphs of the comparative study on one GPU; those that take longest come last."""
    for scale in (16, 18, 20, 22):
        yield Entry(f"rmat:{scale}", (*CALLS, *TRUSS) if scale in (18, 20) else CALLS)
    for name in (*LOW, "uniform:22:64e6", *SHAPES, *(f"shared:{name}" for name in REAL)):
        yield Entry(name)
    yield Entry("rmat:24", named=STAGES)
    yield Entry("rmat:26", named=("count",), methods=("auto", *FAST))


def speed() -> Iterator[Entry]:
    """Yield the graphs of the tables of GPUs in the README and the documentation."""
    for name in ("karate", *(f"rmat:{scale}" for scale in (12, 16, 18, 20, 22, 24)), "grid:200",
                 "uniform:22:64e6"):  # fmt: skip
        yield Entry(name, (*STAGES, "frame to count"), methods=("auto",))


def laptop() -> Iterator[Entry]:
    """Yield real graphs for the CPU engine, beside the libraries that people have on a laptop."""
    for name in LAPTOP:
        yield Entry(f"shared:{name}", ("frame to count",))


def cpu() -> Iterator[Entry]:
    """Yield the graphs of the table of CPUs in the README and the documentation."""
    for scale in (18, 20):
        yield Entry(f"rmat:{scale}", ("count", "frame to count", "frame to edge column"))


SMOKE = (
    "karate", "rmat:8", "rmat:10", "grid:6", "mesh:9", "road:9", "uniform:10:5e3",
    "theory:3-4-5-B1k", "star:100", "wheel:100", "book:100",
)  # fmt: skip
SUITES = {
    "study": Suite(tuple(study()), "cudf", ("cugraph",), 3, 6.5),
    "speed": Suite(tuple(speed()), "cudf", ("cugraph",), 5, 7),
    "laptop": Suite(tuple(laptop()), "pandas", ("networkx", "igraph", "networkit"), 3, 12),
    "cpu": Suite(tuple(cpu()), "pandas", ("igraph", "networkit"), 3, 80),
    "low": Suite(tuple(map(Entry, (*LOW, *TINY))), "cudf", ("cugraph",), 7, 6.5),
    "smoke": Suite(tuple(map(Entry, SMOKE)), "pandas", (), 1, 5.0),
}
SUITES["smoke-card"] = replace(SUITES["smoke"], library="cudf", against=("cugraph",))
