"""Drawings of ideas, and charts of figures, made by code when the site is built.

Facts come from the package, and figures from the files of ``benchmarks/results``.
"""

from drawings import calls, charts, directions, rows, shapes, study  # noqa: F401 (they register drawings)
from drawings.registry import DRAWINGS, FORMS, of_function, write

__all__ = ["DRAWINGS", "FORMS", "of_function", "write"]
