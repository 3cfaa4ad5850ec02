"""Messages of a firm of three teams: triangles per day and per week, and when they form."""

import sys

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")  # write a file, open no window
from matplotlib import pyplot as plt

import rapids_tc as tc

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
        "at": pd.Timestamp("2026-01-01") + pd.to_timedelta(day, unit="D"),
    }
)

days = tc.triangles_over_time(messages, time="at", window="1D")
weeks = tc.triangles_over_time(messages, time="at", window="7D", step="1D")
formed = tc.triangles_over_time(messages, time="at")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.plot(weeks["at"], weeks["triangles"], label="of 7 days, from this day on")
left.plot(days["at"], days["triangles"], label="of this day")
left.set(title="Triangles of the messages", yscale="symlog", ylim=0)
left.legend()
right.plot(formed["at"], formed["triangles"])
right.set(title="Triangles formed so far")
figure.autofmt_xdate()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "messages_over_time.png", dpi=100)
