"""The emulator catches what it promises to: every planted fault is found, its corrected twin not.

This file runs three times, as it is and by `test_again` under each sanitizer; then the kernels of
test_emulator_language.py do too, and must be quiet.
"""

from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from emulator_support import PLANTED, SEEDS, compiler, long, plain_only, run_again

from rapids_tc import testing
from rapids_tc.errors import KernelError

__all__ = ["compiler"]
pytestmark = pytest.mark.usefixtures("compiler")

WRONG = "wrong result"
RACE = "data race"
OVERRUN = "written past the end of first, which has 256 bytes, at byte 256"


@dataclass(frozen=True)
class Planted:
    """A kernel with a fault, and how each mode (None: no sanitizer) sees it."""

    name: str
    caught: dict[str | None, str]  # mode: part of the error's message, or WRONG
    args: tuple[Any, ...]  # all but the result
    right: list[int]
    block: int = 32
    grid: int = 1
    shared_mem: int = 0
    cooperative: bool = False

    def run(self, kernel) -> list[int]:
        out = np.zeros(len(self.right), np.uint32)
        args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in self.args]
        kernel(
            (self.grid,),
            (self.block,),
            (*args, out),
            shared_mem=self.shared_mem,
            enable_cooperative_groups=self.cooperative,
        )
        return out.tolist()

    def compile(self):
        faulty, sound = f"{self.name}<true>", f"{self.name}<false>"
        module = testing.compile(testing.read(PLANTED / f"{self.name}.cu"), (faulty, sound))
        return module[faulty], module[sound]


def numbers(n: int) -> np.ndarray:
    return np.arange(7, 7 + n, dtype=np.uint32)


def atlas() -> tuple[np.ndarray, np.ndarray, np.uint32]:
    """All graphs of up to seven vertices, side by side, each edge in the row of its larger end."""
    whole = nx.disjoint_union_all(nx.graph_atlas_g())
    rows = [sorted(v for v in whole[u] if v < u) for u in range(len(whole))]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.uint32)
    return offsets, np.concatenate(rows).astype(np.uint32), np.uint32(len(rows))


FIRST = [7] * 20 + [0] * 12
EVERYWHERE = (None, "address", "thread")


def everywhere(message: str) -> dict[str | None, str]:
    return dict.fromkeys(EVERYWHERE, message)


ATLAS_TRIANGLES = sum(sum(nx.triangles(g).values()) for g in nx.graph_atlas_g()) // 3
COLLIDING = numbers(32) % 4 * 128 + numbers(32) // 8  # ids of few slots, all distinct

FAULTS = [
    Planted(
        "race_in_block", {None: WRONG, "thread": RACE}, (numbers(64),), [*range(70, 6, -1)], 64
    ),
    Planted("race_after_shuffle", {"thread": RACE}, (numbers(32),), [*range(38, 6, -1)]),
    Planted(
        "race_of_warps", {None: WRONG, "thread": RACE}, (numbers(64),), [*range(70, 6, -1)], 64
    ),
    Planted("race_of_rounds", {None: WRONG, "thread": RACE}, (numbers(8),), [84] * 64, 64),
    Planted(
        "race_of_blocks",
        {"thread": RACE},
        (numbers(9), np.uint32(9), np.zeros(1, np.uint32)),
        [99],
        grid=3,
    ),
    Planted(
        "race_of_phases",
        {None: WRONG, "thread": RACE},
        (numbers(3), np.zeros(3 * 64, np.uint32), np.zeros(1, np.uint32)),
        [64 * 48, 64 * 54, 64 * 42],
        64,
        grid=3,
        cooperative=True,
    ),
    Planted(
        "divergent_grid",
        everywhere("divergent RTC_GRID_BARRIER"),
        (numbers(3), np.zeros(1, np.uint32)),
        [7, 8, 9],
        grid=3,
        cooperative=True,
    ),
    Planted(
        "grid_after_return",
        everywhere("returned without this barrier of the grid"),
        (numbers(3), np.zeros(1, np.uint32)),
        [7, 8, 9],
        grid=3,
        cooperative=True,
    ),
    Planted(
        "wrong_mask",
        everywhere("is not in its own mask"),
        (numbers(32),),
        [7 + (i ^ 1) for i in range(32)],
    ),
    Planted("absent_lane", everywhere("deadlock"), (numbers(32),), FIRST),
    Planted("absent_source", everywhere("lane 8, which takes no part"), (numbers(8),), [14] * 8),
    Planted(
        "mixed_collectives",
        everywhere("their masks name each other"),
        (numbers(32),),
        [0x55555555] * 32,
    ),
    Planted(
        "divergent_barrier", everywhere("divergent __syncthreads"), (numbers(32),), [*range(7, 39)]
    ),
    Planted(
        "barrier_after_return",
        everywhere("returned without this __syncthreads"),
        (numbers(20), np.uint32(20)),
        [*range(7, 27)],
    ),
    Planted("deadlock", everywhere("deadlock"), (numbers(3),), [7, 8, 9]),
    Planted(
        "overrun_global", {"address": "heap-buffer-overflow"}, (numbers(32), np.uint32(32)), [38]
    ),
    Planted(
        "overrun_shared",
        {"address": "heap-buffer-overflow", **dict.fromkeys((None, "thread"), OVERRUN)},
        (numbers(64),),
        [*range(7, 71)],
        64,
        shared_mem=256,
    ),
    Planted("off_by_one", everywhere(WRONG), atlas(), [ATLAS_TRIANGLES], 128, grid=70),
    Planted("uninitialised", everywhere(WRONG), (numbers(32),), [sum(range(7, 39))]),
    Planted("colliding_ids", everywhere(WRONG), (COLLIDING,), [len(set(COLLIDING.tolist()))]),
    Planted("long_shift", {"address": "shift exponent 32"}, (numbers(1),), [1, 2] + [3] * 30),
]


def each(faults: list[Planted]):
    return pytest.mark.parametrize("planted", faults, ids=[planted.name for planted in faults])


@each([planted for planted in FAULTS if testing.sanitizer() in planted.caught])
def test_the_fault_is_caught(planted):
    expected = planted.caught[testing.sanitizer()]
    faulty, _ = planted.compile()
    seen = []
    for seed in SEEDS:
        try:
            with testing.thread_order(seed):
                right = planted.run(faulty) == planted.right
            seen += [] if right else [WRONG]
        except KernelError as error:
            seen.append(str(error))
            assert f"{planted.name}.cu:" in str(error) or "past the end of" in str(error)
    assert any(expected in what for what in seen), seen


@each(FAULTS)
def test_the_corrected_twin_is_quiet(planted):
    _, sound = planted.compile()
    for seed in SEEDS:
        with testing.thread_order(seed):
            assert planted.run(sound) == planted.right


@long
@plain_only
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_again(sanitizer):
    run_again(__file__, sanitizer, str(PLANTED.with_name("test_emulator_language.py")))


CRASH = """
import numpy as np
from rapids_tc import testing
kernel = testing.compile(testing.read({path!r}), ("wild_pointer<true>",))["wild_pointer<true>"]
kernel((1,), (32,), (np.ones(32, np.uint32), np.zeros(32, np.uint32)))
"""


@plain_only
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_process_that_a_fault_kills_is_no_success(sanitizer):
    code = CRASH.format(path=str(PLANTED / "wild_pointer.cu"))
    done = testing.run_sanitized(sanitizer, ["-c", code])
    assert done.returncode != 0
    assert "SEGV" in done.stdout
    assert "wild_pointer.cu:7" in done.stdout
