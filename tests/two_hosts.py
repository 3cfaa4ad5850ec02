"""Two hosts with a link between them that is cut during a call: run by `test_two_hosts.py`.

Each host is a network namespace without a name, which the kernel takes away with its last process:
the scheduler and a worker are on one, started by `unshare`, a second worker is on the other. What
happens is printed, a line each.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

HERE, THERE = "10.77.0.1", "10.77.0.2"
BOUND = 90  # seconds within which a call ends, whatever happens to the network
LIMIT = 50_000  # bytes: so that the graph is counted in blocks, which workers send each other
SILENCE = "12s"  # of a connection, after which Dask gives it up: 30 s by default


def sh(command):
    subprocess.run(command.split(), check=True)


def second_host(scheduler):
    """Be the worker of the second host, once it has its end of the link; end with the first."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    while subprocess.run(["ip", "link", "show", "there"], capture_output=True).returncode:
        time.sleep(0.05)
    sh(f"ip addr add {THERE}/24 dev there")
    sh("ip link set there up")
    sh("ip link set lo up")
    worker = "-m distributed.cli.dask_worker --no-nanny --nthreads 1 --no-dashboard --host"
    os.execv(sys.executable, [sys.executable, *worker.split(), THERE, scheduler])


def first_host():
    """Count on both hosts; count again, and cut the link on the way; count on what is left."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, SchedulerPlugin

    import rapids_tc as tc
    from rapids_tc import datasets
    from rapids_tc.graphs import distributed

    class Cut(SchedulerPlugin):
        """Cut the link when the second host has done a task of the stage."""

        name, stage = "cut", None

        def transition(self, key, start, finish, *args, worker="", **more):
            if self.stage and self.stage in str(key) and finish == "memory" and THERE in worker:
                self.stage = None
                signal.alarm(BOUND)  # ends this process, and so both hosts
                sh(f"nsenter -t {second.pid} -n ip link set there down")
                print("cut at", str(key).split("-")[1], flush=True)

    distributed.LEAST_ROWS = 1  # so few are worth both hosts
    sh("ip link set lo up")
    frame = datasets.rmat(8)
    total = tc.count(frame)
    edges = dd.from_map(lambda i: frame.iloc[i::4], range(4), meta=frame.iloc[:0])
    options = {"threads_per_worker": 1, "dashboard_address": None}

    def call(what):
        start = time.monotonic()
        try:
            said = tc.count(edges, memory_limit=LIMIT) == total
        except tc.KernelError as error:
            said = f"KernelError {error}"
        signal.alarm(0)
        print(f"{what}: {said} after {time.monotonic() - start:.1f} s", flush=True)

    second = subprocess.Popen(["unshare", "--net", sys.executable, __file__, f"tcp://{HERE}:8786"])
    while os.readlink(f"/proc/{second.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        time.sleep(0.05)
    os.open(f"/proc/{second.pid}/ns/net", os.O_RDONLY)  # the link outlives the second host's worker
    sh("ip link add here type veth peer name there")
    sh(f"ip link set there netns {second.pid}")
    sh(f"ip addr add {HERE}/24 dev here")
    sh("ip link set here up")
    with (
        LocalCluster(n_workers=1, host=HERE, scheduler_port=8786, **options) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=120)
        hosts = sorted(w["host"] for w in client.scheduler_info(n_workers=-1)["workers"].values())
        print("hosts", *hosts, flush=True)
        cluster.scheduler.add_plugin(cut := Cut())
        call("linked")
        cut.stage = "rapids_tc-merge-"
        call("cut")
        call("apart")
        print("workers", len(cluster.scheduler.workers), flush=True)
    second.kill()


if __name__ == "__main__":
    second_host(sys.argv[1]) if sys.argv[1:] else first_host()
