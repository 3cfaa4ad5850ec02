"""Who is at the heart of Les Misérables: characters who share chapters, and their last truss."""

import sys

import matplotlib
import networkx as nx

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc
from rapids_tc import plot

edges = nx.to_pandas_edgelist(nx.les_miserables_graph())  # source, target, weight
graph = tc.Graph(edges)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.6), width_ratios=(3, 2), layout="constrained"
)
plot.draw_truss(graph, ax=left)
plot.truss_profile(graph, ax=right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "les_miserables.png", dpi=100)

print(tc.annotate(edges, "trussness", "jaccard").nlargest(5, ["trussness", "jaccard"]))
