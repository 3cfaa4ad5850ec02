"""Four hosts on one bridge, which speak TLS: run by `test_hosts.py`.

Each host is a network namespace without a name, which the kernel takes away with its last process.
On the first are the scheduler, a worker and the client. Each of the others has a worker: one is
slow, one is out of memory, and one is cut off during a call. What happens is printed, a line each.
"""

import asyncio
import ctypes
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import dask.dataframe as dd
import reference
from checks import rows_of
from dask_support import layout
from distributed import Client, LocalCluster, SchedulerPlugin, Worker
from distributed.security import Security

import rapids_tc as tc
from rapids_tc import datasets
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.executors.watch import PROCESS
from rapids_tc.graphs import stages

FIRST, SLOW, FULL, CUT = (f"10.77.0.{number}" for number in (1, 2, 3, 4))
ADDRESS = f"tls://{FIRST}:8786"
BOUND = 90  # seconds within which a call ends, whatever happens to the network
LIMIT = 50_000  # bytes: so that the graph is counted in blocks, which workers send each other
TOO_LITTLE = 1  # byte
PEELED = 800  # edges that one worker peels: all of them; rounds of 4 hosts take seconds each
LITTLE = PROCESS + (48 << 20)  # bytes of a worker that the larger graph, as one block, exceeds
SILENCE = "12s"  # of a connection, after which Dask gives it up: 30 s by default, and at least 11
STOPPED, RUNS = 0.1, 0.05  # seconds: the slow worker has a third of its time
SCALE, LARGER = 6, 17  # of R-MAT graphs
NEW_NETWORK = 0x40000000  # CLONE_NEWNET

libc = ctypes.CDLL(None)


def sh(command):
    subprocess.run(command.split(), check=True)


def security(folder):
    """One certificate for all roles, which signs itself and is trusted by all hosts."""
    certificate, key = str(folder / "certificate"), str(folder / "key")
    roles = {
        f"tls_{role}_{part}": path
        for role in ("scheduler", "worker", "client")
        for part, path in (("cert", certificate), ("key", key))
    }
    return Security(tls_ca_file=certificate, require_encryption=True, **roles)


def make_certificate(folder):
    sh(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 "
        f"-subj /CN=rapids_tc -keyout {folder / 'key'} -out {folder / 'certificate'}"
    )


# Other hosts --------------------------------------------------------------------------------------


def start_host(address, folder):
    """Fork a host, and return its process, once it has a link to the bridge.

    A fork has imported everything already: four interpreters would take a quarter of a minute.
    """
    port, link = (name + address.rpartition(".")[2] for name in ("port", "link"))
    ready, forked = os.pipe()
    process = os.fork()
    if not process:
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with the first host
        if libc.unshare(NEW_NETWORK):
            os._exit(1)
        os.write(forked, b"!")
        be_host(address, link, folder)
    os.read(ready, 1)
    os.open(f"/proc/{process}/ns/net", os.O_RDONLY)  # the link outlives the host's worker
    sh(f"ip link add {port} type veth peer name {link}")
    sh(f"ip link set {link} netns {process}")
    sh(f"ip link set {port} master bridge up")
    return process


def be_host(address, link, folder):
    """Be the worker of a host, once it has its end of the link."""
    try:
        while subprocess.run(["ip", "link", "show", link], capture_output=True).returncode:
            time.sleep(0.02)
        sh(f"ip addr add {address}/24 dev {link}")
        sh(f"ip link set {link} up")
        sh("ip link set lo up")
        asyncio.run(work(address, folder))
    finally:
        os._exit(1)


async def work(address, folder):
    """Work until the first host ends, on a disk and in a memory of its own."""
    options = {"nthreads": 1, "dashboard": False, "local_directory": str(folder / address)}
    options["memory_limit"] = LITTLE if address == FULL and LONG else "auto"
    dask.config.set({"distributed.worker.memory.pause": 0.95})
    async with Worker(ADDRESS, host=address, security=security(folder), **options) as worker:
        await worker.finished()


def slow_down(process):
    while True:
        os.kill(process, signal.SIGSTOP)
        time.sleep(STOPPED)
        os.kill(process, signal.SIGCONT)
        time.sleep(RUNS)


def fill(dask_worker):
    """Leave a worker less memory than its libraries take: Dask pauses it, whatever it spills."""
    dask_worker.memory_manager.memory_limit = 2**24


# The first host -----------------------------------------------------------------------------------


def parts_of(frame, parts):
    return dd.from_map(lambda i: frame.iloc[i::parts], range(parts), meta=frame.iloc[:0])


def compile_all(frame):
    """Have ready, before it forks into hosts, what their tasks would compile or load each."""
    edges = PartitionedFrame([frame.iloc[::2], frame.iloc[1::2]])
    tc.vertex_triangles(edges)
    with layout(2, 1, fits=PEELED):
        tc.annotate(edges, "triangles", "trussness")


class Cut(SchedulerPlugin):
    """Cut the link of a host when it has done a task of the stage."""

    name, stage = "cut", None

    def transition(self, key, start, finish, *args, worker="", **more):
        if self.stage and self.stage in str(key) and finish == "memory" and CUT in worker:
            self.stage = None
            sh(f"ip link set port{CUT[-1]} down")
            print("cut_at", str(key).split("-")[1], flush=True)


class Calls:
    """What is asked of the edges, and whether the answers are the oracle's."""

    def __init__(self, frame):
        self.rows, self.edges = rows_of(frame), parts_of(frame, 8)
        self.expected = {
            "count": reference.count(self.rows),
            "vertices": reference.vertex_triangles(self.rows),
            "columns": [
                reference.by_row(self.rows, values)
                for values in reference.annotate(self.rows, ["triangles", "trussness"]).values()
            ],
        }

    def count(self, edges, **options):
        return tc.count(edges, **options)

    def vertices(self, edges, **options):
        frame = tc.vertex_triangles(edges, **options).compute()
        return dict(zip(frame["vertex"].tolist(), frame["triangles"].tolist(), strict=True))

    def columns(self, edges, **options):
        frame = tc.annotate(edges, "triangles", "trussness", **options).compute().sort_index()
        return [frame[name].tolist() for name in ("triangles", "trussness")]

    def ask(self, what, name, edges=None, **options):
        """Print whether an answer is right, or the error, and the seconds that it took."""
        signal.alarm(BOUND)  # ends this process, and so all hosts
        start = time.monotonic()
        try:
            edges = self.edges if edges is None else edges
            answer = getattr(self, name)(edges, **options) == self.expected[name]
        except (tc.KernelError, tc.CapacityError) as error:
            answer = f"{type(error).__name__} {error}"
        signal.alarm(0)
        print(f"{what}: {answer} after {time.monotonic() - start:.1f} s", flush=True)


def first_host(folder):
    stages.LEAST_ROWS = 1  # so few are worth all hosts
    make_certificate(folder)
    sh("ip link set lo up")
    sh("ip link add bridge type bridge")
    sh(f"ip addr add {FIRST}/24 dev bridge")
    sh("ip link set bridge up")
    frame = datasets.rmat(SCALE)
    compile_all(frame)
    others = {address: start_host(address, folder) for address in (SLOW, FULL, CUT)}
    options = {"threads_per_worker": 1, "dashboard_address": None, "processes": False}
    options |= {"host": ADDRESS.rpartition(":")[0], "scheduler_port": 8786}
    with (
        LocalCluster(n_workers=1, security=security(folder), **options) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(4, timeout=120)
        workers = client.scheduler_info(n_workers=-1)["workers"]
        print("hosts", *sorted(w["host"] for w in workers.values()), flush=True)
        print("schemes", *{address.partition(":")[0] for address in workers}, flush=True)
        threading.Thread(target=slow_down, args=(others[SLOW],), daemon=True).start()
        [full] = [address for address in workers if FULL in address]
        if LONG:
            ask_larger(client, full)
        else:
            ask_all(frame, cluster, client, full)
    for process in others.values():
        os.kill(process, signal.SIGKILL)


def ask_all(frame, cluster, client, full):
    """Ask of a small graph while all hosts work, one has no memory left, and one is cut off."""
    calls = Calls(frame)
    calls.ask("linked", "count")
    calls.ask("vertices", "vertices")
    calls.ask("columns", "columns")
    calls.ask("too_little", "count", memory_limit=TOO_LITTLE)
    with layout(2, 1, fits=PEELED):
        graph = tc.Graph(calls.edges)
        calls.ask("cut_count", "count", graph)
        calls.ask("cut_vertices", "vertices", graph)
        calls.ask("cut_columns", "columns", graph)
    client.run(fill, workers=[full])
    while client.scheduler_info(n_workers=-1)["workers"][full]["status"] != "paused":
        time.sleep(0.05)
    calls.ask("paused_count", "count")
    calls.ask("paused_columns", "columns", graph)
    del graph
    cluster.scheduler.add_plugin(cut := Cut())
    cut.stage = "rapids_tc-merge-"
    calls.ask("cut", "count", memory_limit=LIMIT)
    calls.ask("apart", "count", memory_limit=LIMIT)
    print("workers", len(cluster.scheduler.workers), flush=True)


def ask_larger(client, full):
    """Count a graph that is planned for the worker with the least memory."""
    frame = datasets.rmat(LARGER)
    edges, total = parts_of(frame, 16), tc.count(frame)
    log = logging.getLogger("rapids_tc")
    log.addHandler(logging.StreamHandler(sys.stdout))
    log.setLevel("INFO")
    signal.alarm(4 * BOUND)
    print("larger:", tc.count(edges) == total, flush=True)
    print("peak", *client.run(peak, workers=[full]).values())


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


if __name__ == "__main__":
    dask.config.set({"distributed.comm.timeouts.tcp": SILENCE})
    LONG = "larger" in sys.argv
    first_host(Path(sys.argv[1]))
