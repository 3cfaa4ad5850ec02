"""Find planted money laundering with and without columns as of the rows' time (scikit-learn)."""

import argparse
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve
from threadpoolctl import threadpool_limits

import rapids_tc as tc

DAYS = 60
FANS = [f"{end}{kind}" for end in ("u_out", "u_in", "v_out", "v_in") for kind in ("", "_distinct")]
FANS += ["pair_repeats", "pair_reversed"]
SHAPES = ["triangles_closed", "closed_cycle", "closed_middle", "closed_in", "closed_out"]
SHAPES += ["cycles_closed", "scatter_gather"]
ACCOUNTS = {"fan-in": (6, 15), "cycle": (3, 5), "scatter-gather": (3, 8)}  # that pay


def pairs(pattern, members):
    """(payer, payee) of a pattern's payments, in the order of their times."""
    first, *others, last = members
    if pattern == "cycle":
        return list(zip(members, [*members[1:], first], strict=True))
    if pattern == "scatter-gather":
        return [(first, middle) for middle in others] + [(middle, last) for middle in others]
    return [(member, last) for member in members[:-1]]  # fan-in, and a collection


def payments(rows, seed):
    """Payments in the order of time; `pattern` names what was planted, and is "" for all others.

    About 1 % of the rows are planted. Their amounts and hours are drawn as those of the others.
    """
    rng = np.random.default_rng(seed)
    size = rows // 15  # accounts; those of one market of 50 know each other
    active = rng.permutation(np.arange(5.0, size + 5) ** -0.8)
    active /= active.sum()
    payer = rng.choice(size, rows, p=active)
    habitual = rng.choice(size, (size, 6), p=active)[payer, rng.integers(0, 6, rows)]
    local = np.minimum(payer // 50 * 50 + rng.integers(0, 50, rows), size - 1)
    anyone = rng.choice(size, rows, p=active)
    payee = np.choose(rng.choice(3, rows, p=[0.5, 0.3, 0.2]), [habitual, local, anyone])
    columns = ["payer", "payee", "amount", "day", "pattern"]
    usual = rng.lognormal(4, 1, rows), rng.uniform(0, DAYS, rows), np.full(rows, "")
    parts = [pd.DataFrame(dict(zip(columns, (payer, payee, *usual), strict=True)))]
    # Collections among people who know each other are fans, too, but honest ones.
    for pattern, share in {"": 0.008, **dict.fromkeys(ACCOUNTS, 1 / 300)}.items():
        least, most = ACCOUNTS[pattern or "fan-in"]
        planted = 0
        while planted < share * rows:
            count = rng.integers(least, most + 1) + (pattern != "cycle")
            count += pattern == "scatter-gather"  # the two ends, beside those between them
            known = rng.integers(size // 50) * 50 if pattern == "" else 0
            members = known + rng.choice(50 if pattern == "" else size, count, replace=False)
            part = pd.DataFrame(pairs(pattern, members.tolist()), columns=columns[:2])
            span = rng.uniform(1, 4)
            part["amount"] = rng.lognormal(4, 1) * rng.uniform(0.8, 1.2, len(part))
            part["day"] = rng.uniform(0, DAYS - span) + span * np.sort(rng.random(len(part)))
            parts.append(part.assign(pattern=pattern))
            planted += len(part)
    frame = pd.concat(parts).query("payer != payee").sort_values("day", ignore_index=True)
    # Eight of ten payments are made between 8 and 20 o'clock; the order of times stays.
    part, day = np.modf(frame.pop("day"))
    clock = day * 24 + np.interp(part, [0, 0.1, 0.9, 1], [0, 8, 20, 24])
    frame["time"] = pd.Timestamp("2026-01-01") + pd.to_timedelta((clock * 3600).round(), unit="s")
    return frame


def columns_of_accounts(frame):
    """What needs no graph: the row, and the earlier rows of its payer, and of its payee."""
    made = pd.DataFrame({"amount": frame["amount"], "hour": frame["time"].dt.hour})
    for end in "payer", "payee":
        accounts = frame.groupby(end)
        earlier = accounts.cumcount()
        mean = (accounts["amount"].cumsum() - frame["amount"]) / earlier.where(earlier > 0)
        made[f"{end}_earlier"] = earlier
        made[f"{end}_relative"] = frame["amount"] / mean
        made[f"{end}_pause"] = accounts["time"].diff().dt.total_seconds()
    return made


def features(frame):
    """Return all columns, of each row and of rows before it alone, and the names of three sets."""
    plain = columns_of_accounts(frame)
    ends = {"source": "payer", "destination": "payee"}
    graph = tc.annotate(frame, *FANS, *SHAPES, time="time", within="3d", **ends)[FANS + SHAPES]
    sets = {"accounts": list(plain), "+ fans": [*plain, *FANS]}
    return plain.join(graph), {**sets, "+ fans, shapes": [*plain, *FANS, *SHAPES]}


def score(table, frame, seed):
    """Learn from 60 % of the time, choose a threshold by the next 20 %, test on the last 20 %."""
    share = (frame["time"] - pd.Timestamp("2026-01-01")) / pd.Timedelta(days=DAYS)
    learn, choose, test = share < 0.6, share.between(0.6, 0.8, inclusive="left"), share >= 0.8
    wanted = frame["pattern"] != ""
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
    with threadpool_limits(1):  # threads of OpenMP spin where other work has the cores
        model.fit(table[learn], wanted[learn])
        chance = pd.Series(model.predict_proba(table)[:, 1], index=table.index)
    precision, recall, levels = precision_recall_curve(wanted[choose], chance[choose])
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    flagged = chance >= levels[f1[:-1].argmax()]
    found = flagged[test & wanted].groupby(frame["pattern"]).mean()
    ap = average_precision_score(wanted[test], chance[test])
    return {"F1": f1_score(wanted[test], flagged[test]), "AP": ap, **found}


def draw(measured, file):
    """Draw how well each set of columns ranks payments, and which patterns it finds."""
    import matplotlib

    matplotlib.use("Agg")  # write a file, open no window
    from matplotlib import pyplot as plt

    names = measured.index.unique("columns")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    left.plot(names, measured["AP"].unstack("columns")[names].T, "o-", color="C0", lw=1)
    left.set(ylabel="average precision", ylim=0, xlabel="columns")
    found = measured.drop(columns=["F1", "AP"]).groupby("columns").mean().loc[names]
    found.T.plot.bar(ax=right, rot=0, ylabel="share that is found", xlabel="pattern")
    right.legend(frameon=False)
    figure.savefig(file, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000, help="payments, planted ones aside")
    parser.add_argument("--seeds", type=int, default=5, help="how many data sets are made")
    parser.add_argument("--picture", help="a file, such as laundering.png, to draw the scores in")
    options = parser.parse_args()
    if options.rows < 10_000 or options.seeds < 2:
        parser.error("too few patterns to learn from: --rows is at least 10000, and --seeds 2")
    began, worked, scores = perf_counter(), process_time(), []
    for seed in range(options.seeds):
        frame = payments(options.rows, seed)
        table, sets = features(frame)
        for name, names in sets.items():
            scores.append({"columns": name, "seed": seed, **score(table[names], frame, seed)})
    measured = pd.DataFrame(scores).set_index(["columns", "seed"])
    share = (frame["pattern"] != "").mean()
    print(f"{len(frame)} payments, {share:.1%} planted; F1, average precision, found by pattern:")
    for name, rows in measured.groupby("columns", sort=False):
        rows = rows.droplevel("columns")
        print(f"\n{name}", pd.concat([rows, rows.agg(["mean", "std"])]).round(3), sep="\n")
    if options.picture:
        draw(measured, options.picture)
    wall, processor = perf_counter() - began, process_time() - worked
    print(f"\n{wall:.0f} s, {processor:.0f} s of processor time")


if __name__ == "__main__":
    main()
