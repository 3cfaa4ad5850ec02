"""Which executor answers for which kind of frame. None is imported before such a frame comes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from rapids_tc.executors.local import LocalExecutor, PartitionedFrame
from rapids_tc.executors.protocol import Executor
from rapids_tc.frames.adapters import is_dask, is_spark

ExecutorFactory = Callable[[Any, bool | None], Executor]


def _dask() -> ExecutorFactory:
    try:
        module = import_module("rapids_tc.executors.dask_cluster")
    except ImportError as error:
        raise ImportError(
            f"Dask frames need Dask's cluster, and {error.name} is not installed: "
            "pip install 'rapids_tc[dask]'"
        ) from error
    return cast("ExecutorFactory", module.DaskExecutor)


def _spark() -> ExecutorFactory:
    try:
        import_module("pyspark.sql.pandas.types")
    except ImportError as error:
        raise ImportError(
            f"Spark DataFrames need PySpark 4.1 with pandas and PyArrow, and {error.name} is not "
            "installed: pip install 'rapids_tc[spark]'"
        ) from error
    module = import_module("rapids_tc.executors.spark_cluster")
    return cast("ExecutorFactory", module.SparkExecutor)


def _local() -> ExecutorFactory:
    return LocalExecutor


_EXECUTORS: list[tuple[Callable[[Any], bool], Callable[[], ExecutorFactory]]] = [
    (is_dask, _dask),
    (is_spark, _spark),
    (lambda edges: isinstance(edges, PartitionedFrame), _local),
]


def register_executor(
    recognizes: Callable[[Any], bool], load: Callable[[], ExecutorFactory]
) -> None:
    """Have frames of another kind answered by an executor; the last one registered is asked first.

    Parameters
    ----------
    recognizes : callable
        From what the user passes as edges to whether it is such a frame; cheap, and without an
        import.
    load : callable
        Returns the class of the executor; called once such a frame comes.
    """
    _EXECUTORS.insert(0, (recognizes, load))


def unregister_executor(load: Callable[[], ExecutorFactory]) -> None:
    """Forget an executor that was registered with this `load`."""
    _EXECUTORS[:] = [known for known in _EXECUTORS if known[1] is not load]


def executor_of(edges: Any) -> ExecutorFactory | None:
    """Return the executor for a partitioned frame; None for what is of this process."""
    return next((load() for recognizes, load in _EXECUTORS if recognizes(edges)), None)
