"""The columns of a file beside its ids, as they stand there: text unchanged, no number rounded."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from rapids_tc.files.guess import BLANKS, place_of
from rapids_tc.files.source import Stream

if TYPE_CHECKING:
    from rapids_tc.files.lines import LineFormat
    from rapids_tc.files.source import Options, Source

Frame = Any  # pandas.DataFrame


def kept_places(
    source: Source, options: Options, names: list[str] | None, ids: tuple[int, int], width: int
) -> list[int]:
    """Return the positions of the ids and of the columns to keep, ascending."""
    if options.keep == "all":
        return list(range(width))
    return sorted({*ids, *(place_of(source, names, column, width) for column in options.keep)})


def with_columns(
    source: Source,
    options: Options,
    line_format: LineFormat,
    frame: Frame,
    names: list[str] | None,
    width: int,
) -> Frame:
    """Return the ids of a text with the columns to keep, in the order and by the names of the file.

    A column without a name is called by its number. The first line of the file may be missing in
    `frame`.
    """
    import pandas as pd

    ids = line_format.columns
    places = kept_places(source, options, names, ids, width)
    others = [place for place in places if place not in ids]
    labels = {place: str(place + 1) for place in places} | dict(zip(ids, source.ends, strict=True))
    if names:
        labels = {place: names[place] or labels[place] for place in places if place < len(names)}
        labels |= {place: str(place + 1) for place in places if place >= len(names)}
    source.ends = labels[ids[0]], labels[ids[1]]
    columns = dict(zip(ids, (frame[name] for name in frame.columns), strict=True))
    if others:
        text = pd.read_csv(
            Stream(source.blocks(line_format.marks, skip_first=line_format.skip_first)),
            sep=r"\s+" if line_format.separator == BLANKS else line_format.separator,
            header=None,
            names=range(width),
            index_col=False,
            usecols=others,
            dtype=str,
            na_filter=False,
            skipinitialspace=True,
            quoting=csv.QUOTE_MINIMAL if line_format.quoted else csv.QUOTE_NONE,
            encoding_errors="replace",
        )
        if not 0 <= len(text) - len(frame) <= 1:  # the first line may be no edge
            raise source.fault("lines of several shapes: only their ids can be read")
        text = text.iloc[-len(frame) :]
        columns |= {place: text[place].fillna("").reset_index(drop=True) for place in others}
    return pd.DataFrame({labels[place]: columns[place] for place in places}, copy=False)
