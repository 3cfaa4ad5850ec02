"""Les Misérables in four pictures: communities, their hierarchy, a census of triads, squares."""

import sys

import matplotlib
import networkx as nx

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc
from rapids_tc import plot

graph = tc.Graph(nx.to_pandas_edgelist(nx.les_miserables_graph()))

figure, axes = plt.subplots(2, 2, figsize=(10, 8.4), layout="constrained")
plot.communities(graph, 6, ax=axes[0, 0])
plot.hierarchy(graph, ax=axes[0, 1])
plot.triads(graph, ax=axes[1, 0])
plot.squares(graph, ax=axes[1, 1])
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "novel_in_pictures.png", dpi=100)

print(tc.truss_hierarchy(graph))
