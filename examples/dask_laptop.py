"""A graph in partitions, on the cores of this machine: the same functions, by worker processes."""

import sys

import dask.dataframe as dd
from distributed import Client, LocalCluster

import rapids_tc as tc
from rapids_tc import datasets


def main(scale):
    # Any Dask frame works: dd.read_parquet("edges/") reads its partitions where they are counted.
    edges = dd.from_pandas(datasets.rmat(scale), npartitions=8)
    print(f"{len(edges)} rows, {tc.count(edges)} triangles")
    print(f"{tc.transitivity(edges):.1%} of the wedges are closed")

    # Answers are persisted Dask frames: further work runs on the workers that hold them.
    print(tc.vertex_triangles(edges).nlargest(3, "triangles").compute())
    wide = tc.annotate(edges, "triangles", "jaccard")
    print(wide.groupby("triangles")["jaccard"].mean().nlargest(3).compute())
    print(len(tc.k_truss(edges, "max")), "edges in the last truss")


if __name__ == "__main__":  # worker processes read this file too
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 14)
