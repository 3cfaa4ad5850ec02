"""Four hosts with TLS, one slow, one out of memory, one cut off: network namespaces."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from emulator_support import long
from hosts import BOUND, LITTLE

pytestmark = pytest.mark.clustered

UNSHARE = (
    ["unshare", "--net"]
    if os.name == "posix" and os.geteuid() == 0
    else ["unshare", "--user", "--map-root-user", "--net"]
)
RIGHT = {"linked", "vertices", "columns", "cut_count", "cut_vertices", "cut_columns"}
RIGHT |= {"paused_count", "paused_columns", "apart"}


def cannot():
    """Why there can be no four hosts here, if so."""
    try:
        for link in ("veth peer name that", "bridge"):
            command = [*UNSHARE, *f"ip link add this type {link}".split()]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return f"no network namespaces: {done.stderr.strip()}"
        subprocess.run(["openssl", "version"], capture_output=True)
    except OSError as error:
        return f"needs unshare, ip and openssl (util-linux, iproute2, openssl): {error}"
    return None


def run_hosts(folder, *arguments):
    """What the hosts print, as {name: text}, and all of it."""
    if reason := cannot():
        pytest.skip(reason)
    file = str(Path(__file__).with_name("hosts.py"))
    command = [*UNSHARE, sys.executable, file, str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5 * BOUND)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, "a call did not end"
    lines = dict(re.findall(r"^(\w+):? (.*)$", done.stdout, re.M))
    assert lines["hosts"] == "10.77.0.1 10.77.0.2 10.77.0.3 10.77.0.4"
    assert lines["schemes"] == "tls"
    return lines


@long
@pytest.mark.timeout(6 * BOUND)
def test_four_hosts(tmp_path):
    """Calls end, with the right answer or with an error, and so does the one that is cut."""
    lines = run_hosts(tmp_path)
    assert {name for name, text in lines.items() if text.startswith("True")} >= RIGHT
    assert lines["too_little"].startswith("CapacityError")
    assert lines["cut_at"] == "merge"
    assert lines["cut"].startswith(("True", "KernelError"))
    assert lines["workers"] == "3"


@long
@pytest.mark.timeout(6 * BOUND)
def test_a_graph_is_planned_for_the_host_with_least_memory(tmp_path):
    """It is cut in blocks, whose tasks do not take that worker beyond its limit."""
    lines = run_hosts(tmp_path, "larger")
    assert lines["larger"] == "True"
    assert int(re.search(r"(\d+) x \d+ blocks", lines["count"])[1]) > 1
    assert int(lines["peak"]) < LITTLE
