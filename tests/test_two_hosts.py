"""Two hosts, and a link that is cut while a call goes on: network namespaces stand in for them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from two_hosts import BOUND, SILENCE

pytestmark = pytest.mark.clustered

UNSHARE = (
    ["unshare", "--net"]
    if os.name == "posix" and os.geteuid() == 0
    else ["unshare", "--user", "--map-root-user", "--net"]
)


def cannot():
    """Why there can be no two hosts here, if so."""
    link = "ip link add here type veth peer name there"
    try:
        done = subprocess.run([*UNSHARE, *link.split()], capture_output=True, text=True)
        subprocess.run(["nsenter", "--version"], capture_output=True)
    except OSError as error:
        return f"needs unshare, nsenter and ip (util-linux, iproute2): {error}"
    return done.returncode and f"no network namespaces: {done.stderr.strip()}"


@pytest.mark.timeout(6 * BOUND)
def test_a_link_that_is_cut():
    """The call ends, with the answer or with an error, and the next is right."""
    if reason := cannot():
        pytest.skip(reason)
    run = [*UNSHARE, sys.executable, str(Path(__file__).with_name("two_hosts.py"))]
    names = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": SILENCE}
    done = subprocess.run(run, env=names, capture_output=True, text=True, timeout=5 * BOUND)
    print(done.stdout, done.stderr)
    said = dict(re.findall(r"^(\w+):? (.*)$", done.stdout, re.M))
    assert done.returncode == 0, "the call that was cut did not end"
    assert said["hosts"] == "10.77.0.1 10.77.0.2"
    assert said["linked"].startswith("True")
    assert "cut at merge" in done.stdout
    assert said["cut"].startswith(("True", "KernelError"))
    assert said["apart"].startswith("True")
