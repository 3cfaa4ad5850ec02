"""Which modules of Python's own library import each other: a real graph on every machine."""

import ast
import sys
import sysconfig
from pathlib import Path

import matplotlib
import pandas as pd

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc
from rapids_tc import plot

ROOT = Path(sysconfig.get_path("stdlib"))


def imports(path):
    """Yield (module, imported module) for every import in a file."""
    module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for node in ast.walk(ast.parse(path.read_bytes())):
        for alias in node.names if isinstance(node, ast.Import) else ():
            yield module, alias.name
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield module, node.module


files = [path for name in sys.stdlib_module_names for path in ROOT.glob(f"{name}.py")]
edges = pd.DataFrame([pair for path in files for pair in imports(path)], columns=["src", "dst"])
graph = tc.Graph(edges)
print(f"{graph.n_vertices} modules, {graph.n_edges} pairs, {tc.count(graph)} triangles")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
plot.clustering_by_degree(graph, ax=left)
plot.triangle_distribution(graph, ax=right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "python_imports.png", dpi=100)
