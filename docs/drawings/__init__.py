"""Drawings of ideas, made by code when the site is built, with facts that the package computes."""

from drawings import calls, directions, rows, shapes  # noqa: F401 (they register their drawings)
from drawings.registry import DRAWINGS, FORMS, of_function, write

__all__ = ["DRAWINGS", "FORMS", "of_function", "write"]
