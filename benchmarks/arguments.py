"""Checks of the arguments of the scripts: a wrong one ends in one line, not in a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any
from zipfile import BadZipFile

import click
from datasets import MAKERS, load, path

NUMBER = r"\d+(\.\d+)?(e\d+)?"
SHAPES = "|".join(sorted({*MAKERS} - {"uniform", "theory"}))
NAMES = re.compile(
    rf"karate|rmat:\d+|uniform:\d+:{NUMBER}|theory:(\d+-)+B(|1|2)k|({SHAPES}):{NUMBER}|shared:.+|.+\.npz"
)
LIKE = "rmat:18, grid:200, uniform:22:64e6, theory:3-4-5-B1k, star:1e6, shared:NAME or FILE.npz"
POOLS = "none", "rmm", "async"  # where cuDF and CuPy take the memory of a GPU
PACKAGES = {"cugraph": "cugraph-cu13 (CUDA 13) or cugraph-cu12"}  # named unlike their modules


def require_graph(name: str) -> None:
    """Raise a ClickException if a name is no name of a graph, or if its file is missing."""
    if not NAMES.fullmatch(name):
        raise click.ClickException(f"no benchmark graph {name!r}: one is named like {LIKE}")
    shared = name.startswith("shared:")
    if (shared or name.endswith(".npz")) and not path(name).is_file():
        hint = "; RAPIDS_TC_SHARED names the folder that holds graphs/" if shared else ""
        raise click.ClickException(f"there is no {path(name)}{hint}")


def read(name: str, library: str = "pandas") -> Any:
    """Load the frame of a graph, or raise a ClickException."""
    require_graph(name)
    try:
        return load(name, library)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise click.ClickException(f"{name}: {' '.join(map(str, error.args))}") from error


def need(library: str, against: Iterable[str] = ()) -> None:
    """Raise a ClickException if a library is not installed.

    None is imported: an import may start the GPU, and a cold start would no longer be cold.
    """
    if library == "cudf" and not (find_spec("cudf") and find_spec("cupy")):
        raise click.ClickException(
            "--library cudf needs cuDF and CuPy: pip install '.[cu13]' (CUDA 13) or '.[cu12]'"
        )
    for name in against:
        if find_spec(name) is None:
            raise click.ClickException(absent(name))


def use_pool(pool: str) -> None:
    """Let cuDF and CuPy take the memory of a GPU from a pool, unless it is "none".

    The pool is RMM's with half of what is free, or with a size that is given instead of "rmm"; or
    with "async", the one of cudaMallocAsync. With "none", memory is as users have it who choose
    none: calls of rapids_tc then have a pool of their own.
    """
    if pool == "none":
        return
    import cupy
    import rmm
    from dask.utils import parse_bytes
    from rmm.allocators.cupy import rmm_cupy_allocator

    if pool == "async":
        rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())
    else:
        size = None if pool == "rmm" else parse_bytes(pool)
        rmm.reinitialize(pool_allocator=True, initial_pool_size=size)
    cupy.cuda.set_allocator(rmm_cupy_allocator)


def memory_of(pool: str) -> dict[str, str]:
    """Tell what a figure was taken with: the pool, and what calls without one of RMM may keep."""
    return {"pool": pool, "kept bytes": os.environ.get("RAPIDS_TC_POOL", "an eighth")}


def absent(name: str) -> str:
    """Say how to install a library."""
    return f"{name} is not installed: pip install {PACKAGES.get(name, name)}"
