"""All GPUs of this machine: they make a graph and count its triangles."""

import sys

import dask.dataframe as dd
from dask_cuda import LocalCUDACluster
from distributed import Client, wait

import rapids_tc as tc
from rapids_tc import datasets


def part(first, last, scale):
    """Make some rows of an R-MAT graph on the GPU of this worker."""
    import cudf
    import cupy

    src, dst = datasets.rmat_rows(scale, first, last, xp=cupy)
    return cudf.DataFrame({"src": src, "dst": dst})


def main(client, scale):
    workers = len(client.scheduler_info()["workers"])
    bounds = [(16 << scale) * i // workers for i in range(workers + 1)]
    meta = part(0, 1, scale).iloc[:0]
    edges = dd.from_map(part, bounds[:-1], bounds[1:], scale=scale, meta=meta).persist()
    wait(edges)
    print(f"{16 << scale} rows on {workers} GPUs, {tc.count(edges)} triangles")
    print(tc.vertex_triangles(edges).nlargest(3, "triangles").compute())


if __name__ == "__main__":  # worker processes read this file too
    # protocol="ucxx" moves data from GPU to GPU: pip install '.[ucxx-cu13]'.
    options = {"rmm_pool_size": 0.7, "dashboard_address": ":0"}
    with LocalCUDACluster(**options) as cluster, Client(cluster) as client:
        main(client, int(sys.argv[1]) if len(sys.argv) > 1 else 20)
