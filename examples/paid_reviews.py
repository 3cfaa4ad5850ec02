"""Reviews of products: accounts that are paid to review the same ones, found by their squares."""

import sys

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc

rng, accounts, products = np.random.default_rng(0), 2_000, 1_500
popularity = np.arange(10, products + 10) ** -0.4
active = rng.lognormal(2, 0.7, accounts).astype(int) + 1  # reviews of each account
drawn = rng.choice(products, active.sum(), p=popularity / popularity.sum())
parts = [(np.arange(accounts).repeat(active), drawn)]
rings = rng.choice(accounts, (6, 8), replace=False)  # of eight accounts, for ten products each
for ring in rings:
    ordered = rng.choice(products, 10, replace=False)
    parts += [(np.full(8, account), rng.permutation(ordered)[:8]) for account in ring]
account, product = np.concatenate(parts, axis=1)
reviews = pd.DataFrame({"account": account, "product": product})
# Account 5 is not product 5: the ids of the two columns never meet.
graph = tc.Graph(reviews, source="account", destination="product", bipartite=True)
found = graph.annotate_vertices("degree", "squares").query("side == 'source'")
found["squares per product"] = found["squares"] / found["degree"]
found["paid"] = found["vertex"].isin(rings.ravel())
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for paid, rows in found.groupby("paid"):
    left.scatter(rows["degree"], rows["squares"], s=8, label="paid" if paid else "others")
left.set(xscale="log", yscale="symlog", xlabel="products", ylabel="squares", ylim=0)
for measure in "squares per product", "squares", "degree":
    hits = found.sort_values(measure, ascending=False, kind="stable")["paid"].cumsum()
    right.plot(range(1, 101), hits[:100], label=f"by {measure}")
right.set(xlabel="accounts looked at", ylabel="paid accounts among them")
left.legend()
right.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "paid_reviews.png", dpi=100)
