"""Plant every fault of `faults/` in a copy of the package, and say whether its tests notice it.

    python tests/planted/run.py [ROOM ...] [--fault NAME ...] [--jobs 2]

A test that fails without the fault as well would notice nothing: all tests run without one first.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS = 600  # that the tests of a fault may take: some faults make them wait for ever
COMPILED = "engines/cpu/"  # whose code is compiled anew after any change


@dataclass(frozen=True)
class Fault:
    """A text of the package, what stands in its place, and tests of which at least one fails."""

    room: str
    name: str
    why: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    backend: str = "pandas"  # of the tests

    @property
    def title(self) -> str:
        return f"{self.room}: {self.name}"

    def planted(self, source: str) -> str:
        """The source with the fault in it."""
        if (times := source.count(self.old)) != 1:
            raise LookupError(f"{self.file} has the text {times} times")
        return source.replace(self.old, self.new)


def read_faults(folder: Path = HERE / "faults") -> list[Fault]:
    """All faults, by room."""
    return [
        Fault(path.stem, **fault | {"tests": tuple(fault["tests"])})
        for path in sorted(folder.glob("*.toml"))
        for fault in tomllib.loads(path.read_text())["fault"]
    ]


def problem_of(fault: Fault) -> str:
    """Why a fault is none of today's package and tests; an empty text if it is."""
    path = ROOT / "rapids_tc" / fault.file
    if not path.exists():
        return f"there is no {fault.file}"
    if fault.old == fault.new:
        return "changes nothing"
    try:
        fault.planted(path.read_text())
    except LookupError as error:
        return str(error)
    for test in fault.tests:
        file, _, name = test.partition("::")
        name = name.partition("[")[0]
        path = ROOT / "tests" / file
        if not path.exists() or (name and f"def {name}(" not in path.read_text()):
            return f"there is no test {test}"
    return ""


class Copy:
    """A copy of the package that faults are planted in, beside links to all else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for entry in folder.iterdir():
            if entry.is_symlink():
                entry.unlink()
        for entry in ROOT.iterdir():
            if entry.name not in ("rapids_tc", ".git"):
                (folder / entry.name).symlink_to(entry)
        shutil.rmtree(folder / "rapids_tc", ignore_errors=True)
        shutil.copytree(ROOT / "rapids_tc", folder / "rapids_tc")

    def run(
        self, tests: tuple[str, ...], cache: Path, *more: str, seconds: int | None = SECONDS
    ) -> tuple[int | None, str]:
        """The exit status of pytest, None if it takes longer than `seconds`, and what it says."""
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "RAPIDS_TC_CACHE": str(cache),
            "RAPIDS_TC_LONG": "1",  # barriers: only a sanitizer sees that one is lost
            "HYPOTHESIS_STORAGE_DIRECTORY": str(cache / "hypothesis"),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more]
        command += [f"tests/{test}" for test in tests]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True,
                errors="replace", timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def verdict(self, fault: Fault, caches: Path) -> tuple[str, str]:
        """Whether the tests notice a fault, in a word or two, and what they say."""
        original = ROOT / "rapids_tc" / fault.file
        path = self.folder / "rapids_tc" / fault.file
        path.write_text(fault.planted(original.read_text()))
        compiles = fault.file.startswith(COMPILED)
        try:
            cache = caches / (fault.title if compiles else "all")
            status, said = self.run(fault.tests, cache, "-x", "-n0", f"--backend={fault.backend}")
        finally:
            shutil.copy2(original, path)
        if status is None or status < 0:
            return f"caught, it {'hangs' if status is None else 'crashes'}", said
        return {0: "NOT CAUGHT", 1: "caught"}.get(status, "NO TEST RAN"), said


def check(faults: list[Fault], folder: Path, jobs: int) -> bool:
    """Plant the faults, print what becomes of each, and return whether all were caught."""
    copies: SimpleQueue[Copy] = SimpleQueue()
    for number in range(jobs):
        copies.put(Copy(folder / str(number)))
    fits = [fault for fault in faults if not problem_of(fault)]
    first = copies.get()
    for backend in sorted({fault.backend for fault in fits}):
        tests = dict.fromkeys(t for fault in fits if fault.backend == backend for t in fault.tests)
        options = f"-n{jobs}", f"--backend={backend}"
        status, said = first.run(tuple(tests), folder / "caches" / "all", *options, seconds=None)
        print(*said.splitlines()[-1:], "without a fault")
        if status:
            print(said)
            return False
    copies.put(first)

    def verdict(fault: Fault) -> tuple[str, str, float]:
        if problem := problem_of(fault):
            return "DOES NOT APPLY", problem, 0
        copy, start = copies.get(), time.monotonic()
        try:
            return *copy.verdict(fault, folder / "caches"), time.monotonic() - start
        finally:
            copies.put(copy)

    verdicts = Counter[str]()
    with ThreadPoolExecutor(jobs) as pool:
        for fault, (word, said, seconds) in zip(faults, pool.map(verdict, faults), strict=True):
            print(f"{word:20} {seconds:5.1f} s  {fault.title}", flush=True)
            if not word.startswith("caught"):
                print(*said.splitlines()[-15:], sep="\n")
            verdicts[word] += 1
    print(f"{len(faults)} planted:", ", ".join(f"{n} {word}" for word, n in verdicts.items()))
    return all(word.startswith("caught") for word in verdicts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", nargs="*", help="such as blocks; all without")
    parser.add_argument("--fault", action="append", help="its name")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    faults = [
        fault
        for fault in read_faults()
        if (not asked.rooms or fault.room in asked.rooms)
        and (not asked.fault or fault.name in asked.fault)
    ]
    # The same folder each time: compiled code is kept by the path of its source.
    folder = Path(tempfile.gettempdir(), f"rapids_tc-planted-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    sys.exit(not check(faults, folder, asked.jobs))


if __name__ == "__main__":
    main()
