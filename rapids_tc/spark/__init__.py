"""The functions of Spark DataFrames under their former name: those of the package itself."""

from rapids_tc.analytics.annotate import annotate
from rapids_tc.analytics.triangles import count

__all__ = ["annotate", "count"]
