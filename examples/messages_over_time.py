"""Messages of a firm of three teams: triangles per day and per week, and when they form."""

import sys

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

from rapids_tc import plot

# 120 days; most messages stay in a team of 20 people, until a project of days 60 to 80 mixes them.
rng, size = np.random.default_rng(0), 9_000
day = np.sort(rng.uniform(0, 120, size))
sender = rng.integers(0, 60, size)
near = sender // 20 * 20 + rng.integers(0, 20, size)
mixes = rng.random(size) < np.where((day > 60) & (day < 80), 0.6, 0.05)
messages = pd.DataFrame(
    {
        "from": sender,
        "to": np.where(mixes, rng.integers(0, 60, size), near),
        "at": pd.Timestamp("2026-01-01") + pd.to_timedelta((day * 24).astype(int), unit="h"),
    }
)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
plot.over_time(messages, time="at", window="7D", step="1D", ax=left)
plot.over_time(messages, time="at", window="1D", ax=left)
left.set(yscale="symlog", ylim=(0, 10_000))  # leaves room for the legend
plot.over_time(messages, time="at", ax=right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "messages_over_time.png", dpi=100)
