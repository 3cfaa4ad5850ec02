"""What only a real card can show: devices, streams, memory, and agreement with cuGraph."""

import gc
import subprocess
import sys
import textwrap
import threading
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from needs import need_module

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.kernels import catalogue

pytestmark = pytest.mark.card_only

METHODS = [method.name for method in catalogue.METHODS]
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ROW = 8  # bytes of a raw row of two int32 ids


def alone(code: str) -> str:
    """Run code in a process of its own, with a memory resource of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("scale", [18, 20, 22, 24])
def test_agreement_with_cugraph(scale):
    cugraph = need_module("cugraph")
    edges = datasets.rmat(scale, library="cudf")
    graph = cugraph.Graph(directed=False)
    graph.from_cudf_edgelist(edges, source="src", destination="dst")
    theirs = cugraph.triangle_count(graph).sort_values("vertex").to_pandas()
    ours = tc.vertex_triangles(edges).to_pandas()
    assert ours["vertex"].tolist() == theirs["vertex"].tolist()
    assert ours["triangles"].tolist() == theirs["counts"].tolist()
    assert tc.count(edges) == theirs["counts"].astype("int64").sum() // 3
    # Self loops are not in cuGraph's edge list, so vertices seen in nothing else may be missing.
    assert tc.count(graph) == tc.count(edges)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_counts_the_same(method):
    edges = datasets.rmat(16, library="cudf")
    assert tc.count(edges, method=method) == tc.count(edges)
    if "edges" in catalogue.find(method).returns:
        by_method = tc.edge_triangles(edges, method=method)
        assert (by_method == tc.edge_triangles(edges)).all()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_counts_the_real_graphs(shared_graphs, manifest, method):
    for row in manifest.values():
        with np.load(shared_graphs / row["file"]) as file:
            edges = pd.DataFrame({"src": file["src"], "dst": file["dst"]})
        counted = tc.count(edges, engine="cuda", method=method)
        assert counted == int(row["triangles"]), row["name"]


def test_truss_numbers_are_the_cpu_engines():
    edges = datasets.rmat(18)
    on_card = tc.trussness(edges, engine="cuda")
    pd.testing.assert_series_equal(on_card, tc.trussness(edges, engine="cpu"))


def test_edge_counts_are_the_cpu_engines():
    edges = datasets.rmat(18)
    on_card = tc.edge_triangles(edges, engine="cuda")
    pd.testing.assert_series_equal(on_card, tc.edge_triangles(edges, engine="cpu"))
    once = edges[~edges.apply(np.sort, axis=1, raw=True).duplicated() & (edges.src != edges.dst)]
    assert on_card[once.index].sum() == 3 * tc.count(edges)


def test_fifty_runs_are_identical():
    edges = datasets.rmat(14, library="cudf")
    first = tc.annotate(edges, "triangles").to_pandas()
    for _ in range(50):
        pd.testing.assert_frame_equal(tc.annotate(edges, "triangles").to_pandas(), first)


def test_two_devices():
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one card")
    frames = {}
    for device in (0, 1):
        with cupy.cuda.Device(device):
            frames[device] = datasets.rmat(14, library="cudf")
    expected = tc.count(datasets.rmat(14))
    for device in (0, 1, 0):
        with cupy.cuda.Device(device):
            assert tc.count(frames[device]) == expected
            assert cupy.cuda.Device().id == device
    assert tc.count(frames[1]) == expected  # by the frame, not by the current device
    assert cupy.cuda.Device().id == 0


def test_two_threads_with_streams_of_their_own():
    import cupy

    edges = [datasets.rmat(scale, library="cudf") for scale in (14, 16)]
    expected = [tc.count(frame) for frame in edges]
    found: list[list[int]] = [[], []]

    def work(number):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(10):
                found[number].append(tc.count(edges[number]))
                assert cupy.cuda.get_current_stream().ptr == stream.ptr

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[total] * 10 for total in expected]


def test_nothing_is_kept():
    import cupy

    edges = datasets.rmat(16, library="cudf")
    pool, allocator = cupy.get_default_memory_pool(), cupy.cuda.get_allocator()
    tc.count(edges)
    gc.collect()
    before = pool.used_bytes()
    tc.count(edges)
    gc.collect()
    assert pool.used_bytes() == before
    assert cupy.cuda.get_allocator() == allocator


def test_a_pool_of_nine_tenths_of_the_card():
    out = alone(
        """
        import cupy, rmm
        free, _ = rmm.mr.available_device_memory()
        pool = rmm.mr.PoolMemoryResource(
            rmm.mr.CudaMemoryResource(), initial_pool_size=int(free * 0.9) // 256 * 256)
        rmm.mr.set_current_device_resource(pool)
        from rmm.allocators.cupy import rmm_cupy_allocator
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        import cudf, numpy, rapids_tc
        i, j = numpy.triu_indices(2000, 1)
        print(rapids_tc.count(cudf.DataFrame({"src": i, "dst": j})))
        """
    )
    assert int(out.split()[-1]) == comb(2000, 3)


def test_out_of_memory_says_the_need_and_a_smaller_call_works():
    out = alone(
        """
        import cupy, rmm
        from rmm.allocators.cupy import rmm_cupy_allocator
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        import rapids_tc
        from rapids_tc import datasets
        small, large = datasets.rmat(10, library="cudf"), datasets.rmat(20, library="cudf")
        base = rmm.mr.CudaMemoryResource()
        rmm.mr.set_current_device_resource(rmm.mr.LimitingResourceAdaptor(base, 300 << 20))
        expected = rapids_tc.count(small)
        try:
            rapids_tc.count(large)
        except MemoryError as error:
            assert isinstance(error, rapids_tc.CapacityError), type(error)
            assert "bytes" in str(error), error
        else:
            raise AssertionError("fitted")
        assert rapids_tc.count(small) == expected
        print("done")
        """
    )
    assert out.split()[-1] == "done"


@pytest.mark.parametrize("scale", [18, 21])
def test_memory_on_top_of_the_input(scale):
    out = alone(
        f"""
        import cupy, rmm
        from rmm.allocators.cupy import rmm_cupy_allocator
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        import rapids_tc
        from rapids_tc import datasets
        edges = datasets.rmat({scale}, library="cudf")
        for function in (rapids_tc.count, rapids_tc.edge_triangles):
            counted = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource())
            rmm.mr.set_current_device_resource(counted)  # knows of what comes after it alone
            function(edges)
            print(function.__name__, counted.allocation_counts.peak_bytes / len(edges))
        """
    )
    peaks = dict(zip(out.split()[-4::2], map(float, out.split()[-3::2]), strict=True))
    print(scale, peaks)
    assert peaks["count"] <= 5 * ROW
    assert peaks["edge_triangles"] <= 9 * ROW


def test_cudf_pandas_proxies_go_in_and_come_out():
    out = alone(
        """
        import cudf.pandas
        cudf.pandas.install()
        import pandas as pd
        import rapids_tc as tc
        df = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]}, index=list("abcd"))
        assert tc.count(df) == 1
        df["triangles"] = tc.edge_triangles(df)
        assert cudf.pandas.is_proxy_object(df["triangles"])
        assert df["triangles"].tolist() == [1, 1, 1, 0]
        frame = tc.vertex_triangles(df)
        assert cudf.pandas.is_proxy_object(frame) and frame["triangles"].tolist() == [1, 1, 1, 0]
        assert tc.annotate(df[["src", "dst"]], "triangles")["triangles"].tolist() == [1, 1, 1, 0]
        print("done")
        """
    )
    assert out.split()[-1] == "done"


@pytest.mark.parametrize("function", ["count", "vertex_triangles", "edge_triangles"])
@pytest.mark.parametrize("ids", ["int32", "int64"])
def test_a_limit_is_kept_to_the_byte(function, ids):
    """All of RMM's bytes are what is allowed: the frame is there before."""
    out = alone(
        f"""
        import cupy, rmm
        from rmm.allocators.cupy import rmm_cupy_allocator
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        import rapids_tc
        from rapids_tc import datasets
        edges = datasets.rmat(20, library="cudf").astype("{ids}")
        need = max(rapids_tc.memory_estimate(edges, function="{function}").values())
        expected = rapids_tc.{function}(edges)
        base = rmm.mr.CudaMemoryResource()
        rmm.mr.set_current_device_resource(rmm.mr.LimitingResourceAdaptor(base, need // 3))
        found = rapids_tc.{function}(edges, memory_limit=need // 3)
        rmm.mr.set_current_device_resource(base)
        same = expected == found
        print(bool(same if "{function}" == "count" else same.to_pandas().to_numpy().all()))
        """
    )
    assert out.split()[-1] == "True"


@pytest.mark.parametrize("ids", ["int32", "int64", "sparse", "str"])
def test_calls_in_memory_take_no_more_than_their_estimate(ids):
    """Unless a stage is estimated too low: by as much as the limit may be missed at most."""
    out = alone(
        f"""
        import sys
        sys.path.append("{BENCHMARKS}")
        import limits
        limits.SHARES = (1.0,)
        limits.count_on_gpu()
        for name in ("approximate_count", "simple_edges", "clustering weight", "annotate 3"):
            [line] = limits.measured(name, "{ids}", 18, "cudf")
            assert line["same"] and line["over"] <= limits.SLACK, line
        print("done")
        """
    )
    assert out.split()[-1] == "done"
