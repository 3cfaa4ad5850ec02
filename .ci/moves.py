"""Count the files of the package that a call runs through, and its moves from one to another.

Run as ``python .ci/moves.py``. Fewer of both is less for a reader to follow.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd

import rapids_tc as tc
from rapids_tc.executors.local import PartitionedFrame
from rapids_tc.plan.block_layout import BlockLayout, use_layout

PACKAGE = str(Path(tc.__file__).parent)


def crossed(call: Callable[[], Any]) -> tuple[int, int]:
    """Return the files and the moves of a call, which is made once before: modules are loaded."""
    call()
    files: set[str] = set()
    moves = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal moves
        here = frame.f_code.co_filename
        if event == "call" and here.startswith(PACKAGE):
            files.add(here)
            there = frame.f_back.f_code.co_filename if frame.f_back else here
            moves += there.startswith(PACKAGE) and there != here

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files), moves


def truss_of_blocks(edges: pd.DataFrame) -> pd.DataFrame:
    """Return the trussness of the rows of a frame in two partitions, from 2 x 2 blocks."""
    with use_layout(BlockLayout(2)):
        return tc.annotate(PartitionedFrame([edges[:2], edges[2:]]), "trussness")


if __name__ == "__main__":
    edges = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    for name, function in (("count", tc.count), ("trussness in blocks", truss_of_blocks)):
        files, moves = crossed(lambda function=function: function(edges))
        print(f"{name:24} {files:4} files {moves:6,} moves")
