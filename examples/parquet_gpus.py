"""Edges in Parquet files, read by GPUs: annotated, and the dense part written beside them."""

import sys
import tempfile
from pathlib import Path

import dask_cudf
from dask_cuda import LocalCUDACluster
from distributed import Client

import rapids_tc as tc
from rapids_tc import datasets


def main(edges_at, dense_at):
    # Functions that return no other columns read only the two id columns.
    edges = dask_cudf.read_parquet(edges_at)
    print(f"{len(edges)} rows, {tc.count(edges)} triangles")
    wide = tc.annotate(edges, "triangles", "jaccard")
    wide[wide["jaccard"] > 0.1].to_parquet(dense_at)
    print(len(dask_cudf.read_parquet(dense_at)), "rows whose ends have a tenth in common")


if __name__ == "__main__":  # worker processes read this file too
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    if len(sys.argv) < 2:  # no folder of Parquet files: make one
        (folder / "edges").mkdir()
        for seed in range(4):
            datasets.rmat(14, seed=seed).to_parquet(folder / "edges" / f"{seed}.parquet")
    with LocalCUDACluster(dashboard_address=":0") as cluster, Client(cluster):
        main(folder / "edges", folder / "dense")
