"""One test body for every library: ``--backend pandas|cuda|host`` says which frames it meets."""

import csv
import gc
import os
import tomllib
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from answers import GRAPHS, MISSING
from dirty_memory import PERTURB, dirty_card, dirty_host
from hypothesis import HealthCheck, settings
from needs import need

# A busy machine is no fault: no test of properties has to be fast.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


@dataclass(frozen=True)
class Backend:
    """The library under test: how to make its frames, and how to read what came back."""

    name: str
    from_pandas: Callable[[pd.DataFrame], Any]
    engine_kwargs: dict[str, str]  # the engine that serves these frames, named

    def frame(self, data) -> Any:
        """An edge frame of the library from a dict of columns or a pandas frame."""
        return self.from_pandas(pd.DataFrame(data))

    def to_pandas(self, result) -> Any:
        """A frame or series that came back, as pandas."""
        if isinstance(result, pd.DataFrame | pd.Series):
            assert self.name != "cuda", f"a cuDF frame went in, {type(result)} came back"
            return result
        return result.to_pandas()


def _cudf_from_pandas(frame: pd.DataFrame) -> Any:
    import cudf

    return cudf.from_pandas(frame)


def _host_engine() -> Any:
    from rapids_tc.testing import host_engine

    return host_engine()


def _same(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


BACKENDS = {
    "pandas": Backend("pandas", _same, {"engine": "cpu"}),
    "cuda": Backend("cuda", _cudf_from_pandas, {"engine": "cuda"}),
    "host": Backend("host", _same, {"engine": "cuda"}),
}
SKIPPED = {  # marker: (why, the backends it does not run on)
    "pandas_only": ("about pandas itself", ("cuda",)),
    "cpu_only": ("about a machine that serves pandas by the CPU engine", ("cuda", "host")),
    "large": ("too large for the emulator", ("host",)),
    "clustered": ("about worker processes, which know no emulator", ("host",)),
    "card_only": ("about a real card", ("pandas", "host")),
}

# Files that say in two minutes whether a change breaks anything: `pytest -m quick`.
QUICK = {
    "test_annotate", "test_cases", "test_clustering", "test_csr", "test_executors", "test_frames",
    "test_graph_face", "test_hints", "test_house", "test_ids", "test_listing", "test_options",
    "test_reference", "test_similarity", "test_summary", "test_triads", "test_truss",
}  # fmt: skip
CLUSTERED = ("tests/test_dask.py", "tests/test_dask_faults.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backend", choices=BACKENDS, default="pandas", help="whose frames the tests use"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: of a file that takes seconds")
    for name, (why, backends) in SKIPPED.items():
        config.addinivalue_line("markers", f"{name}: {why}; skipped on {', '.join(backends)}")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run tests in a process of xdist's though no -n is given; with -n0, --pdb or -s in this one.

    A crash of compiled code then is one failed test, with its name, and the others go on. New
    memory of such a process is dirty.
    """
    dirty_host()
    here = config.getoption("usepdb") or config.getoption("capture") == "no"
    here = here or "PYTEST_XDIST_WORKER" in os.environ  # such a process, or a child of one
    if config.getoption("numprocesses", 0) is None and not here:
        config.option.numprocesses = 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let Python look for circles in what tests make alone: what is collected stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """As ``-n`` has it, but that tests which share a cluster of worker processes stay together."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((name for name in CLUSTERED if nodeid.startswith(name)), nodeid)

        def schedule(self) -> None:
            """As xdist's, but that a process which takes the place of another gets two tests.

            It runs a test when it knows the next one; given one alone, it would wait for ever.
            """
            replaced = self.collection is not None
            super().schedule()
            if replaced:
                super().schedule()

        def remove_node(self, node: Any) -> str | None:
            """As xdist's, but that a test which crashed its process is not run again."""
            units = self.assigned_work[node].items()
            left = {k: [t for t, done in unit.items() if not done] for k, unit in units}
            crashed = next((tests[0] for tests in left.values() if tests), None)
            if crashed is None:
                return super().remove_node(node)
            del self.assigned_work[node]
            for scope, tests in left.items():
                if others := dict.fromkeys([t for t in tests if t != crashed], False):
                    self.workqueue[scope] = others
            for other in self.assigned_work:
                self._reschedule(other)
            return crashed

    return Together(config, log)


def pytest_report_header() -> str:
    """Tell the byte of new memory, by which a fault can be repeated."""
    return f"new memory is dirty: {PERTURB}={os.environ[PERTURB]}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.getoption("backend")
    for item in items:
        if item.path.stem in QUICK:
            item.add_marker(pytest.mark.quick)
        for name, (why, backends) in SKIPPED.items():
            if chosen in backends and item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=f"{chosen}: {why}"))


@pytest.fixture(scope="session")
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The library chosen by ``--backend``; on ``host``, pandas served by the emulated card."""
    chosen = BACKENDS[request.config.getoption("backend")]
    contexts = {"host": _host_engine, "cuda": partial(dirty_card, 0xA5)}
    with contexts.get(chosen.name, nullcontext)():
        yield chosen


@pytest.fixture(scope="module")
def networkx_backend() -> Iterator[None]:
    """NetworkX knows the backend, also where the tree is on the path but not installed."""
    import networkx as nx

    from rapids_tc.interop._networkx_info import get_info

    names, priority = nx.utils.backends, nx.config.backend_priority
    if "rapids_tc" not in names.backends:
        groups = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]
        [(name, value)] = groups["networkx.backends"].items()
        names.backends[name] = EntryPoint(name, value, "networkx.backends")
        names.backend_info[name] = get_info()
        config = nx.utils.Config(**get_info()["default_config"])
        nx.config.backends = nx.utils.Config(rapids_tc=config, **nx.config.backends)
        names._dispatchable.__call__ = names._dispatchable._call_if_any_backends_installed
    with nx.config(backend_priority=priority, warnings_to_ignore={"cache"}):
        yield


@pytest.fixture(scope="session")
def shared_graphs() -> Path:
    """The folder of real graphs. Absent: skip with the reason, but fail where CI promises it."""
    need((GRAPHS / "manifest.csv").exists(), MISSING)
    return GRAPHS


@pytest.fixture(scope="session")
def manifest(shared_graphs: Path) -> dict[str, dict[str, str]]:
    """The known answers of the real graphs, by name."""
    with (shared_graphs / "manifest.csv").open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}
