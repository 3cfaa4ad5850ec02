"""The origin of a figure: machine, versions, commit and command; and its file."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import click

PACKAGES = ("rapids_tc", "numpy", "pandas", "numba", "cupy-cuda13x", "cudf-cu13", "cugraph-cu13",
            "igraph", "networkit", "networkx")  # fmt: skip


def machine(*, gpu: bool) -> dict[str, Any]:
    """Return the origin that every line of a results file states.

    RTC_COMMIT names the commit if the code is measured without its repository; else it is unknown.
    """
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    commit, changed = os.environ.get("RTC_COMMIT"), False
    try:
        if not commit:
            commit = git("rev-parse", "--short", "HEAD")
            changed = bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
        click.echo("the commit is unknown: no git repository here; RTC_COMMIT= names it", err=True)
    about = {
        "cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(), "versions": versions,
        "commit": commit, "changed": changed,
        "command": " ".join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip
    if gpu:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        try:
            done = subprocess.run(query, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise click.ClickException(
                f"needs an NVIDIA GPU that nvidia-smi finds: {error}"
            ) from None
        about["card"], about["driver"] = done.stdout.splitlines()[0].split(", ")
    return about


def cpu_name() -> str:
    """Return the model of the CPU."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "unknown")


def git(*words: str) -> str:
    """Run git in the repository of this file, and return its output."""
    done = subprocess.run(
        ["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent, check=True
    )
    return done.stdout.strip()


def write(out: Any, line: dict[str, Any]) -> None:
    """Add a line to a results file at once, so that a run that is stopped keeps its lines."""
    out.write(json.dumps(line) + "\n")
    out.flush()
