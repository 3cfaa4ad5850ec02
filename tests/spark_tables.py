"""Spark's part of a call on a Spark DataFrame, done by pandas: the tables that functions take."""

import pandas as pd
import pyarrow as pa
import reference

from rapids_tc.spark import cells


def blocks(rows, n):
    """The blocks of raw rows, each made from a table of its edges; integers are hashed here."""
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
    """The table of blocks that each task takes, and all blocks by place."""
    by_place = {(b["i"][0].as_py(), b["j"][0].as_py()): b for b in blocks(rows, n)}
    tables = []
    for number in range(n**3):
        i, j, k = number // n**2, number // n % n, number % n
        of_task = [by_place[p] for p in {(i, j), (i, k), (j, k)} if p in by_place]
        if of_task:
            cells_of_task = pa.concat_tables(of_task)
            numbers = pa.array([number] * len(cells_of_task), "int32")
            tables.append(cells_of_task.append_column("task", numbers))
    return tables, by_place


def count(rows, n):
    return sum(cells.count(task, n)["triangles"][0].as_py() for task in tasks(rows, n)[0])


def annotate(rows, n, names):
    """{column: {(low, high): its value}}."""
    tables, by_place = tasks(rows, n)
    counts = pa.concat_tables([cells.edge_counts(task, n) for task in tables]).to_pandas()
    result = {name: {} for name in names}
    for (i, j), block in by_place.items():
        of_block = counts[(counts["i"] == i) & (counts["j"] == j)]
        columns = cells.columns(block, table(of_block), names).to_pydict()
        ends = list(zip(columns["low"], columns["high"], strict=True))
        for name in names:
            result[name] |= dict(zip(ends, columns[name], strict=True))
    return result
