"""The height of resident memory of calls on files with a memory_limit=, run by test_scans.py."""

import tempfile
from itertools import product
from pathlib import Path

import pandas as pd
from stream_peak import SLACK, height

import rapids_tc as tc
from rapids_tc import datasets

# Bytes beside the limit: what threads of Arrow hold of the batches that they decode, or parse.
READING = {"parquet": 6 << 20, "csv": 24 << 20}


def main(folder):
    edges = datasets.rmat(18).assign(kind="a")
    for name, frame in (("small", datasets.rmat(9).assign(kind="a")), ("large", edges)):
        frame.to_parquet(folder / f"{name}.parquet", index=False)
        frame.to_csv(folder / f"{name}.csv", index=False)
    triangles, sums = tc.count(edges), int(tc.edge_triangles(edges).sum())
    rows = int(edges[["src", "dst"]].memory_usage(index=False).sum())
    del edges
    limit = rows  # of which the ids alone would take all
    calls = {
        "count": lambda path, limit: tc.count(tc.files.scan(path), memory_limit=limit),
        "annotate": lambda path, limit: tc.annotate(
            tc.files.scan(path), "triangles", out=folder / "out", force=True, memory_limit=limit
        ),
    }
    for call, kind, small in product(calls.values(), READING, (10**9, 150_000)):
        call(folder / f"small.{kind}", small)  # what is compiled and imported is so here
    for name, kind in (("count", "parquet"), ("count", "csv"), ("annotate", "parquet")):
        path = folder / f"large.{kind}"
        peak, found = height(lambda call=calls[name], path=path: call(path, limit))
        print(f"{name} of {path.name}: {peak:,} of {limit:,} bytes", flush=True)
        assert peak < limit + READING[kind] + SLACK
        if name == "count":
            assert found == triangles
        else:
            assert int(pd.read_parquet(found)["triangles"].sum()) == sums


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
