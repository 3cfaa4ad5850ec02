"""What a test needs of a machine: where it is missing the test is skipped, but fails in CI."""

import os
from importlib import import_module
from types import ModuleType

import pytest


def need(present: bool, what: str) -> None:
    """Where something is not installed, skip and say why; in CI, which promises it, fail."""
    if not present:
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        stop(f"needs {what}")


def need_module(name: str) -> ModuleType:
    """Import a module; where its package is not installed, skip and say why, and in CI fail."""
    try:
        return import_module(name)
    except ImportError as error:
        need(False, f"{name}, which cannot be imported: {error}")
        raise
