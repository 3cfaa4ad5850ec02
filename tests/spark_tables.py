"""Spark's part of a call on a Spark DataFrame, by pandas: the tables that functions are given."""

import pandas as pd
import pyarrow as pa
import reference

from rapids_tc.spark import cells


def blocks(rows, n):
    """The blocks of raw rows, each as the table of its edges gives it; ids have residues."""
    near = reference.neighbours(rows)
    residue = {v: hash(v) % n if isinstance(v, str) else v * 7919 % 104729 % n for v in near}
    directed = []
    for u, v in reference.simple_edges(rows):
        u, v = sorted((u, v), key=lambda w: (len(near[w]), _reversed(w)))
        directed.append((residue[u], residue[v], u, v, len(near[u]), len(near[v])))
    names = ["i", "j", "u", "v", "u_degree", "v_degree"]
    frame = pd.DataFrame(directed, columns=names)
    groups = (group for _, group in frame.groupby(["i", "j"]))
    return [cells.block(table(group.sample(frac=1, random_state=n))) for group in groups]


class _reversed:
    """Of two vertices of one degree, the one of the greater id comes first."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return other.value < self.value


def table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def tasks(rows, n):
    """The table of blocks that each task is given, and all blocks by place."""
    by_place = {(b["i"][0].as_py(), b["j"][0].as_py()): b for b in blocks(rows, n)}
    given = []
    for number in range(n**3):
        i, j, k = number // n**2, number // n % n, number % n
        its = [by_place[p] for p in {(i, j), (i, k), (j, k)} if p in by_place]
        if its:
            both = pa.concat_tables(its)
            given.append(both.append_column("task", pa.array([number] * len(both), "int32")))
    return given, by_place


def count(rows, n):
    return sum(cells.count(task, n)["triangles"][0].as_py() for task in tasks(rows, n)[0])


def annotate(rows, n, names):
    """{column: {(low, high): its value}}."""
    given, by_place = tasks(rows, n)
    counts = pa.concat_tables([cells.edge_counts(task, n) for task in given]).to_pandas()
    result = {name: {} for name in names}
    for (i, j), block in by_place.items():
        own = counts[(counts["i"] == i) & (counts["j"] == j)]
        made = cells.columns(block, table(own), names).to_pydict()
        ends = list(zip(made["low"], made["high"], strict=True))
        for name in names:
            result[name] |= dict(zip(ends, made[name], strict=True))
    return result
