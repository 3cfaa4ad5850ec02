"""The reader of SIF, Cytoscape's lines of an id, a relation and ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rapids_tc.files.adjacency import frame_of
from rapids_tc.files.beside import with_values

if TYPE_CHECKING:
    from rapids_tc._typing import Frame
    from rapids_tc.files.source import ReadOptions, Source


def read_sif(source: Source, options: ReadOptions) -> tuple[Frame, np.ndarray, list[str]]:
    """Read the edges, their relations, and the ids that are alone on a line.

    Fields are separated by tabs if any line has one, else by blanks.
    """
    import pandas as pd

    text = b"".join(source.blocks("")).decode(errors="replace")
    separator = "\t" if "\t" in text else None
    rows = [[field.strip() for field in line.split(separator)] for line in text.splitlines()]
    triples = [(*row[:2], end) for row in rows for end in row[2:] if end]
    for number, row in enumerate(rows, 1):
        if len(row) == 2 and row[1]:
            raise source.fault(f"expected an id, a relation and ids, not {row}", number)
    src, relations, dst = np.array(triples, object).reshape(-1, 3).T
    ends = {*src, *dst}
    alone = [row[0] for row in rows if row and row[0] and row[0] not in ends]
    frame = frame_of(src, dst).astype("str")
    guesses = []
    if options.keep:
        values = {"relation": pd.array(relations, dtype="str")}
        frame = with_values(source, options, frame, values, order=(0, 2, 1))
    elif len(relations):
        guesses = [f"relations ignored: {', '.join(sorted({*relations})[:5])}"]
    return frame, np.array(list(dict.fromkeys(alone)), object), guesses
