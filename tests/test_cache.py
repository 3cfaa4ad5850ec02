"""What is kept between runs: where, who may write there, what is damaged or finds no room.

What may crash compiled code runs in a process of its own.
"""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from emulator_support import compiler, plain_only
from needs import need_module

from rapids_tc._cache import cache_directory, candidates, load, store
from rapids_tc.cli import machine

pytestmark = [pytest.mark.cpu_only, plain_only]

NOWHERE = "/proc/nowhere/at/all"  # not even root makes a folder there
HASTY = str(Path(__file__).with_name("hasty_compiler.sh"))
NO_TEMPORARY = f"import tempfile; tempfile.tempdir = {NOWHERE!r}\n"
# A compiled function, called as a new process would: the sum, files found, times compiled.
SUM = """
import numpy as np
from rapids_tc.engines.cpu.compiled import compiled

def total(array, more):
    return array.sum() + more

def call(kind="i8"):
    function = compiled(total)
    value = int(function(np.arange(5).astype(kind), 7))
    return value, sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())
"""
HALVE = """
import numpy as np
from rapids_tc import testing
source = 'extern "C" __global__ void halve(int* a) { a[threadIdx.x] /= 2; }\\n'
a = np.arange(32, dtype=np.int32)
testing.compile(source, ("halve",))["halve"]((1,), (32,), (a,))
print(a.tolist() == [i // 2 for i in range(32)])
"""


def started(code, **environment):
    environment = os.environ | {"CXX": HASTY} | environment
    environment = {k: v for k, v in environment.items() if v is not None}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def python(code, **environment):
    """What a process prints; None takes a variable out of its environment."""
    process = started(code, **environment)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.strip()


def at(folder, **more):
    return {"RAPIDS_TC_CACHE": str(folder), "NUMBA_CACHE_DIR": None, **more}


# The folder ---------------------------------------------------------------------------------------


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files of the test's own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_a_new_folder_is_its_owners_alone(tmp_path, monkeypatch, umask):
    monkeypatch.setenv("RAPIDS_TC_CACHE", str(tmp_path / "a b" / "c"))
    before = os.umask(umask)
    try:
        folder = cache_directory("numba")
    finally:
        os.umask(before)
    assert folder == tmp_path / "a b" / "c" / "numba"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o702, 0o720, 0o1777])
def test_a_folder_that_others_write_is_passed_over(tmp_path, temporary, monkeypatch, mode):
    monkeypatch.setenv("RAPIDS_TC_CACHE", str(tmp_path))
    planted = tmp_path / "numba"
    planted.mkdir()
    planted.chmod(mode)
    writable = bool(mode & 0o022)
    assert (cache_directory("numba") == planted) is not writable
    if writable:
        assert temporary in cache_directory("numba").parents
        assert "others may write" in next(candidates("numba"))[1]


def test_a_folder_of_another_user_is_passed_over(tmp_path, temporary, monkeypatch):
    monkeypatch.setenv("RAPIDS_TC_CACHE", str(tmp_path))
    assert cache_directory("numba") == tmp_path / "numba"
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert cache_directory("numba") is None
    assert [fault for _, fault in candidates("numba")] == ["another user owns it"] * 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives folders away")
def test_a_folder_in_a_folder_of_another_user_is_passed_over(tmp_path, temporary, monkeypatch):
    """Its owner could put another in its place between the check and the read."""
    monkeypatch.setenv("RAPIDS_TC_CACHE", str(tmp_path / "planted"))
    assert cache_directory("numba") == tmp_path / "planted" / "numba"
    os.chown(tmp_path / "planted", 12345, -1)
    assert "the folder that it is in" in next(candidates("numba"))[1]
    instead = cache_directory("numba")
    assert instead is not None and temporary in instead.parents
    os.chown(instead.parent, 12345, -1)
    assert cache_directory("numba") is None


@pytest.mark.parametrize("what", ["link", "dangling", "file", "nowhere", "below a file"])
def test_what_is_no_folder_is_passed_over(tmp_path, temporary, monkeypatch, what):
    base, other = tmp_path / "base", tmp_path / "other"
    base.mkdir(), other.mkdir()
    match what:
        case "link" | "dangling":
            (base / "numba").symlink_to(other if what == "link" else tmp_path / "missing")
        case "file":
            (base / "numba").write_text("")
        case "nowhere":
            base = Path(NOWHERE)
        case "below a file":
            (tmp_path / "file").write_text("")
            base = tmp_path / "file" / "base"
    monkeypatch.setenv("RAPIDS_TC_CACHE", str(base))
    (_, fault), _ = candidates("numba")
    assert fault and temporary in cache_directory("numba").parents
    assert [*other.iterdir()] == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has another place")
def test_without_a_home_and_an_entry_for_the_user(temporary, monkeypatch):
    import pwd

    def unknown(user):
        raise KeyError(user)

    for name in ("HOME", "RAPIDS_TC_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(RuntimeError):
        Path.home()
    assert temporary in cache_directory("emulator").parents


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
@pytest.mark.parametrize("name", ["HOME", "XDG_CACHE_HOME"])
def test_a_relative_home_is_skipped(name, temporary, tmp_path, monkeypatch):
    """Or each folder that the user works in would get a cache of its own."""
    for other in ("HOME", "RAPIDS_TC_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "relative")
    monkeypatch.chdir(tmp_path)
    (_, fault), _ = candidates("numba")
    assert "relative" in fault and temporary in cache_directory("numba").parents
    assert not (tmp_path / "relative").exists()


def test_a_relative_folder_that_is_chosen_is_where_the_process_began(tmp_path, monkeypatch):
    monkeypatch.setenv("RAPIDS_TC_CACHE", "relative")
    monkeypatch.chdir(tmp_path)
    assert cache_directory("numba") == tmp_path / "relative" / "numba"


def test_without_any_folder_there_is_no_cache(monkeypatch):
    monkeypatch.setenv("RAPIDS_TC_CACHE", NOWHERE)
    monkeypatch.setattr(tempfile, "tempdir", NOWHERE)
    assert cache_directory("numba") is None

    def none():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    assert cache_directory("numba") is None


def doctor(monkeypatch):
    monkeypatch.setattr(machine, "find_driver", lambda: machine.Driver("1", (13, 0), ()))
    found = dict(machine.findings())
    return found["CPU engine"], found["emulator"]


def test_the_doctor_says_where_the_cache_is_and_whether_it_works(tmp_path, temporary, monkeypatch):
    monkeypatch.setenv("RAPIDS_TC_CACHE", str(tmp_path))
    assert doctor(monkeypatch) == tuple(
        f"cache in {tmp_path / name} works" for name in ("numba", "emulator")
    )
    (tmp_path / "emulator").chmod(0o777)
    instead = temporary / f".rapids_tc-{os.getuid()}" / "emulator"
    assert doctor(monkeypatch)[1] == (
        f"cache in {instead} works; not {tmp_path / 'emulator'}: others may write there: remove it"
    )
    (tmp_path / "emulator").rmdir()

    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(machine, "store", full)
    told = doctor(monkeypatch)
    assert all(line.startswith("no cache, every process compiles anew; name a") for line in told)
    assert f"not {tmp_path / 'numba'}: No space left on device" in told[0]
    assert [*(tmp_path / "numba").iterdir()] == []


# Files --------------------------------------------------------------------------------------------


def test_what_is_not_as_it_was_stored_is_not_there(tmp_path):
    path, data = tmp_path / "file", bytes(range(256)) * 3
    assert load(path) is None
    for content in (data, b""):
        store(path, content, b"stamp")
        assert load(path, b"stamp") == content
        assert load(path) is None and load(path, b"other") is None
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            assert load(path, b"stamp") is None, size
            wrong = bytearray(whole)
            wrong[size] ^= 1
            path.write_bytes(wrong)
            assert load(path, b"stamp") is None, size
        path.write_bytes(whole + b"\0")
        assert load(path, b"stamp") is None
    path.unlink()
    path.mkdir()
    assert load(path) is None


def test_what_finds_no_room_leaves_nothing_and_spares_what_was_there(tmp_path):
    """A limit to the size of files stands for a full disk."""
    code = f"""
    import resource
    from pathlib import Path
    from rapids_tc._cache import load, store
    path = Path({str(tmp_path)!r}, "file")
    store(path, b"old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        store(path, bytes(1000))
    except OSError:
        print(load(path), [file.name for file in path.parent.iterdir()])
    """
    need_module("resource")
    assert python(code) == "b'old' ['file']"


# Numba's code -------------------------------------------------------------------------------------


def test_compiled_code_is_kept_and_what_is_damaged_is_made_again(tmp_path):
    code = (
        SUM
        + f"""
from pathlib import Path
print(call(), call(), call("f8"), call("f8"))
files = sorted(Path({str(tmp_path)!r}, "numba").iterdir())
whole = [file.read_bytes() for file in files]
for at in (0, 10, 0.3, 0.5, 0.9, 1):
    for file, data in zip(files, whole):
        size = int(at * len(data)) if at <= 1 else at
        file.write_bytes(data[:size - (at == 1)])
    assert (call(), call()) == ((17, 0, 1), (17, 1, 0)), at
    for file, data in zip(files, whole):
        garbled = bytearray(data)
        garbled[min(size, len(data) - 1)] ^= 255
        file.write_bytes(garbled)
    assert (call("f8"), call("f8")) == ((17, 0, 1), (17, 1, 0)), at
for file in files:
    file.write_bytes(b"x" * 1000)
print(call(), call(), sorted(Path({str(tmp_path)!r}, "numba").iterdir()) == files, len(files))
"""
    )
    kept = "(17, 0, 1) (17, 1, 0)"
    assert python(code, **at(tmp_path)) == f"{kept} {kept}\n{kept} True 2"


def test_code_of_another_state_of_the_sources_is_made_again(tmp_path):
    """A function that was compiled into another one may have changed, or Numba."""
    code = (
        SUM
        + """
from rapids_tc.engines.cpu import compiled as module
first = call()
stamp = module._stamp()
module._stamp = lambda: stamp + b" "
print(first, call(), call())
"""
    )
    assert python(code, **at(tmp_path)) == "(17, 0, 1) (17, 0, 1) (17, 1, 0)"


@pytest.mark.parametrize(
    ("where", "folder"),
    [
        ({"RAPIDS_TC_CACHE": "a", "NUMBA_CACHE_DIR": "b"}, "a/numba"),
        ({"RAPIDS_TC_CACHE": None, "NUMBA_CACHE_DIR": "b"}, "b/numba"),
        ({"RAPIDS_TC_CACHE": None, "NUMBA_CACHE_DIR": None}, ".cache/rapids_tc/numba"),
    ],
)
def test_where_compiled_code_is_kept(tmp_path, where, folder):
    """And the user's own functions are cached as if we were not there."""
    if sys.platform != "linux":
        pytest.skip("other systems have other folders")
    where = {name: value and str(tmp_path / value) for name, value in where.items()}
    code = SUM + "import numba; print(call(), repr(numba.config.CACHE_DIR))"
    shown = python(code, HOME=str(tmp_path), XDG_CACHE_HOME=None, **where)
    assert shown == f"(17, 0, 1) {where['NUMBA_CACHE_DIR'] or ''!r}"
    assert [path.suffix for path in (tmp_path / folder).iterdir()] == [".nbc"]


def test_without_a_place_or_room_every_process_compiles(tmp_path):
    full = """
import resource
call()
for file in Path(PLACE, "numba").iterdir(): file.unlink()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
print(call(), call(), [*Path(PLACE, "numba").iterdir()])
"""
    twice = "(17, 0, 1) (17, 0, 1)"
    nowhere = NO_TEMPORARY + SUM + "print(call(), call())"
    home = {"HOME": NOWHERE, "XDG_CACHE_HOME": None}
    assert python(nowhere, **at(NOWHERE)) == twice
    assert python(nowhere, **home, RAPIDS_TC_CACHE=None, NUMBA_CACHE_DIR=None) == twice
    code = SUM + f"from pathlib import Path; PLACE = {str(tmp_path)!r}" + full
    assert python(code, **at(tmp_path)) == f"{twice} []"


def test_a_count_where_nothing_can_be_written():
    """What a container with a file system that is read-only and no home gives."""
    code = NO_TEMPORARY + "import rapids_tc as tc; print(tc.count(tc.datasets.karate()))"
    home = {"HOME": NOWHERE, "XDG_CACHE_HOME": None}
    assert python(code, **home, RAPIDS_TC_CACHE=None, NUMBA_CACHE_DIR=None) == "45"


def test_processes_may_keep_code_at_once(tmp_path):
    running = [started(SUM + "print(call()[0], call()[1:])", **at(tmp_path)) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == ["17 (1, 0)\n"] * 3
    assert len([*(tmp_path / "numba").iterdir()]) == 1


def test_a_fork_goes_on_with_what_is_kept(tmp_path):
    code = (
        SUM
        + """
import os
first = call()
if not (child := os.fork()):
    os._exit(call() != (17, 1, 0) or call("f8") != (17, 0, 1))
print(first, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), call("f8"))
"""
    )
    if not hasattr(os, "fork"):
        pytest.skip("there are no forks")
    assert python(code, **at(tmp_path)) == "(17, 0, 1) 0 (17, 1, 0)"


def test_without_numba_functions_stay_python(tmp_path):
    code = SUM + "print(compiled(total) is total)"
    assert python(code, NUMBA_DISABLE_JIT="1", **at(tmp_path)) == "True"


def test_importing_the_package_imports_no_compiler():
    code = "import sys, rapids_tc; print({'numba', 'llvmlite', 'rich'} & set(sys.modules))"
    assert python(code) == "set()"


# The emulator's libraries -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def libraries(request, tmp_path_factory):
    """A cache that holds the runtime and a kernel."""
    request.getfixturevalue(compiler.__name__)
    folder = tmp_path_factory.mktemp("libraries")
    assert python(HALVE, **at(folder)) == "True"
    assert len([*(folder / "emulator").iterdir()]) == 2
    return folder / "emulator"


@pytest.fixture
def emulator(libraries, tmp_path):
    """A copy to damage."""
    return Path(shutil.copytree(libraries, tmp_path / "emulator"))


@pytest.mark.usefixtures("compiler")
def test_processes_may_keep_libraries_at_once(tmp_path):
    running = [started(HALVE, **at(tmp_path / "a b")) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == ["True\n"] * 2
    assert len([*(tmp_path / "a b" / "emulator").iterdir()]) == 2  # the kernel and the runtime


@pytest.mark.parametrize("damage", ["cut", "planted"])
def test_damaged_libraries_are_made_again(libraries, emulator, damage):
    """Mapped as they are, they would end the process; or run what another user wrote."""
    for path in emulator.iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:-32])
    assert python(HALVE, **at(emulator.parent)) == "True"
    assert {path.name for path in emulator.iterdir()} == {path.name for path in libraries.iterdir()}
    assert all(load(path) is not None for path in emulator.iterdir())


def test_a_folder_of_libraries_that_others_write_is_not_read(emulator, tmp_path):
    for path in emulator.iterdir():
        store(path, b"planted")  # would be no library
    emulator.chmod(0o777)
    (tmp_path / "temporary").mkdir()
    assert python(HALVE, TMPDIR=str(tmp_path / "temporary"), **at(emulator.parent)) == "True"
    assert all(load(path) == b"planted" for path in emulator.iterdir())


@pytest.mark.usefixtures("compiler")
def test_without_a_cache_libraries_are_of_the_process_alone(tmp_path):
    """In a folder that is gone when it ends."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / f".rapids_tc-{os.getuid()}").write_text("")
    environment = at(NOWHERE, TMPDIR=str(tmp_path / "temporary"))
    assert python(HALVE, **environment) == "True"
    assert len([*(tmp_path / "temporary").iterdir()]) == 1


def test_libraries_that_find_no_room_in_the_cache_are_used_all_the_same(emulator):
    for path in [*emulator.iterdir()]:
        path.unlink()
        path.mkdir()  # nothing replaces a folder
        (path / "full").write_text("")
    assert python(HALVE, **at(emulator.parent)) == "True"
    assert all(path.is_dir() for path in emulator.iterdir())
