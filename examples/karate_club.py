"""Zachary's karate club: its 4-truss, and which ties hold it together."""

import sys

import matplotlib

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc
from rapids_tc import datasets, plot

edges = datasets.karate()
print(tc.annotate(edges, "triangles", "trussness", "cosine").nlargest(5, "triangles"))

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for k, ax in zip((4, 5), axes, strict=True):
    plot.draw_truss(edges, k=k, ax=ax)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "karate_club.png", dpi=100)
