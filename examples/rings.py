"""Accounts pay each other and share devices: rings of strangers, found by types of triangles."""

import sys

import matplotlib

matplotlib.use("Agg")  # write a file, open no window
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import rapids_tc as tc
from rapids_tc import plot


def links(kind, src, dst):
    return pd.DataFrame({"src": src, "dst": dst, "kind": kind})


random, size, rings = np.random.default_rng(1), 3000, 30
accounts = np.arange(size)
payers = accounts.repeat(8)  # each pays eight of its market, whose members are 100 apart
payees = (payers + 100 * random.integers(1, size // 100, len(payers))) % size
a, b, c = random.choice(size, (3, rings), replace=False)  # strangers
table = pd.concat([
    links("device", a, b), links("payment", b, c), links("payment", c, a),
    links("device", accounts, accounts // 3 * 3 + (accounts + 1) % 3),  # of a household
    links("payment", payers, payees),
])  # fmt: skip

print(tc.triangles_by_type(table, edge_type="kind"))
by_account = tc.triangles_by_type(table, edge_type="kind", per="vertex")
mixed = by_account[(by_account["type_1"] == "device") & (by_account["type_2"] == "payment")]
found = len(np.intersect1d(mixed["vertex"], [a, b, c]))
print(f"{found} of {3 * rings} members of rings are among the {len(mixed)} accounts of these")

figure, ax = plt.subplots(figsize=(10, 3), layout="constrained")
plot.types(table, edge_type="kind", ax=ax)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "rings.png", dpi=100)
