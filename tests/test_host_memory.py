"""What may be taken of a host's memory: made-up files of the machine and of its control groups."""

import pytest

from rapids_tc.engines.cpu import engine as cpu
from rapids_tc.engines.host import host_free, host_memory

GB = 2**30
UNLIMITED_V1 = 9223372036854771712


def host(root, groups, lines, available=20 * GB):
    """A folder that holds what Linux tells: groups are {folder: (limit, usage, inactive files)}."""
    (root / "proc/self").mkdir(parents=True)
    if available is not None:
        (root / "proc/meminfo").write_text(
            f"MemTotal: {32 * 2**20} kB\nMemAvailable:   {available // 1024} kB\nHugetlb: 0 kB\n"
        )
    (root / "proc/self/cgroup").write_text("".join(f"{line}\n" for line in lines))
    for folder, (limit, usage, inactive) in groups.items():
        place = root / "sys/fs/cgroup" / folder
        place.mkdir(parents=True, exist_ok=True)
        v1 = folder.split("/")[0] == "memory"
        names = ("limit_in_bytes", "usage_in_bytes") if v1 else ("max", "current")
        for name, value in zip(names, (limit, usage), strict=True):
            (place / f"memory.{name}").write_text(f"{value}\n")
        told = f"anon 5\ninactive_file {0 if v1 else inactive}\nactive_file 7\n"
        told += f"total_inactive_file {inactive}\n" * v1
        (place / "memory.stat").write_text(told)
    return root


V2, V1 = ["0::/a/b"], ["12:pids:/a", "4:cpu,memory:/a/b", "0::/a"]
CASES = {  # name: (groups, lines of /proc/self/cgroup, free, limit or None)
    "no groups": ({}, [], 20 * GB, None),
    "v2, its own": ({"a/b": (2 * GB, GB, 0)}, V2, GB, 2 * GB),
    "v2, files that were read": ({"a/b": (2 * GB, GB, GB // 2)}, V2, 3 * GB // 2, 2 * GB),
    "v2, more files than usage": ({"a/b": (2 * GB, GB, 3 * GB)}, V2, 2 * GB, 2 * GB),
    "v2, full": ({"a/b": (GB, GB, 0)}, V2, 0, GB),
    "v2, above its limit": ({"a/b": (GB, 2 * GB, 0)}, V2, 0, GB),
    "v2, no limit": ({"a/b": ("max", GB, 0)}, V2, 20 * GB, None),
    "v2, its parent": ({"a/b": ("max", GB, 0), "a": (3 * GB, GB, 0)}, V2, 2 * GB, 3 * GB),
    "v2, the least is not the innermost": (
        {"a/b": (4 * GB, GB // 2, 0), "a": (5 * GB, 4 * GB, 0)}, V2, GB, 4 * GB,
    ),
    "v2, a container's topmost": ({".": (GB, GB // 4, 0)}, ["0::/"], 3 * GB // 4, GB),
    "v2, the host's path in a container": (
        {".": (GB, 0, 0)}, ["0::/docker/0123"], GB, GB,
    ),
    "v2, a path outside of the namespace": ({".": (GB, 0, 0)}, ["0::/../../x"], GB, GB),
    "v2, a colon in a name": ({"a:b": (GB, 0, 0)}, ["0::/a:b"], GB, GB),
    "v1, its own": ({"memory/a/b": (2 * GB, GB, GB // 4)}, V1, 5 * GB // 4, 2 * GB),
    "v1, no limit": ({"memory/a/b": (UNLIMITED_V1, GB, 0)}, V1, 20 * GB, None),
    "v1, a container's topmost": ({"memory": (GB, GB // 2, 0)}, V1, GB // 2, GB),
    "v1, its parent": (
        {"memory/a/b": (UNLIMITED_V1, GB, 0), "memory/a": (GB, GB // 2, 0)}, V1, GB // 2, GB,
    ),
    "v1, controllers beside": ({"memory/a": (GB, 0, 0)}, ["3:cpuset:/x"], 20 * GB, None),
    "v1 and v2": (
        {"memory/a/b": (2 * GB, 0, 0), "unified/a": (GB, 0, 0)}, V1, GB, GB,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_control_groups_are_kept(tmp_path, monkeypatch, case):
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**23}.get)
    groups, lines, free, limit = CASES[case]
    root = host(tmp_path, groups, lines)
    assert host_free(root) == free
    assert host_memory(root) == (limit or 32 * GB)


def test_a_machine_with_less_left_than_its_groups(tmp_path):
    root = host(tmp_path, {"a/b": (2 * GB, 0, 0)}, V2, available=GB)
    assert host_free(root) == GB and host_memory(root) == 2 * GB


@pytest.mark.parametrize("file", ["memory.max", "memory.current", "memory.stat"])
def test_files_that_do_not_tell(tmp_path, file):
    """A group whose files are missing or odd has no limit; the next one up has."""
    groups = {"a/b": (GB, 0, 0), "a": (2 * GB, 0, 0)}
    root = host(tmp_path, groups, V2)
    (root / "sys/fs/cgroup/a/b" / file).unlink()
    assert host_free(root) == 2 * GB
    (root / "sys/fs/cgroup/a/b" / file).write_text("what\n")
    assert host_free(root) == 2 * GB


def test_a_machine_that_tells_nothing(tmp_path):
    assert host_free(tmp_path) == host_memory(tmp_path) == host_memory()


def test_what_is_free_here_is_no_more_than_there_is():
    assert 0 < host_free() <= host_memory()
    assert cpu.free() <= cpu.memory()
