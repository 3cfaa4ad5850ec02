"""Payments of 60 days, the last 14 in a graph that is updated day by day: truss communities."""

import sys
from itertools import combinations

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc

rng, pair = np.random.default_rng(0), ["payer", "payee"]
begins = np.arange(5, 50, 5)  # when rings of 8 strangers begin; each works for 12 days
rings = rng.choice(3_000, (len(begins), 8), replace=False)


def payments(day):
    """In 30 markets of 100 accounts, and in each ring that works, where 7 of the 28 pairs pay."""
    payer, other = rng.integers(0, 3_000, 1_500), rng.integers(0, 100, 1_500)
    rows = [np.column_stack([payer, payer // 100 * 100 + other])]
    for ring in rings[(begins <= day) & (day < begins + 12)]:
        rows.append(rng.permutation(list(combinations(ring, 2)))[:7])
    return pd.DataFrame(np.sort(np.concatenate(rows)), columns=pair).query("payer != payee")


graph, paid = tc.Graph(pd.DataFrame(columns=pair, dtype="int64")), {}
plt.subplots(figsize=(10, 4.2), layout="constrained", subplot_kw={"xlabel": "day"})
plt.barh([f"ring {i}" for i in range(len(rings))], 12, left=begins, color="0.85")
for day in range(60):
    today = payments(day)
    paid |= dict.fromkeys(today.itertuples(index=False, name=None), day)
    old = pd.DataFrame([edge for edge in paid if paid[edge] == day - 14], columns=pair)
    graph.update(insert=today, delete=old if len(old) else None)
    for _, community in tc.truss_communities(graph, 6).groupby("community"):
        shares = np.isin(rings, community[pair]).sum(axis=1) / community[pair].stack().nunique()
        plt.plot(day, f"ring {shares.argmax()}" if shares.max() == 1 else "no ring", "C0.")
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "fraud_rings.png", dpi=100)
