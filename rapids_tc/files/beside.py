"""The columns of a file beside its ids, as they stand there: text unchanged, no number rounded."""

from __future__ import annotations

import csv
from itertools import count
from typing import TYPE_CHECKING, Any

from rapids_tc.files.guess import BLANKS, place_of
from rapids_tc.files.source import Stream, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rapids_tc.files.lines import LineFormat
    from rapids_tc.files.source import ReadOptions, Source

Frame = Any  # pandas.DataFrame

DIRECTIONS = {"directed": True, "undirected": False, "mutual": False}  # of Gephi


def kept_places(
    source: Source, options: ReadOptions, names: list[str] | None, ids: tuple[int, int], width: int
) -> list[int]:
    """Return the positions of the ids and of the columns to keep, ascending."""
    if options.keep == "all":
        return list(range(width))
    numbers = width if source.numbered else 0
    return sorted({*ids, *(place_of(source, names, column, numbers) for column in options.keep)})


def with_columns(
    source: Source,
    options: ReadOptions,
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
        text = read_columns(source, line_format, others, width, len(frame))
        columns |= {place: text[place] for place in others}
    return pd.DataFrame({labels[place]: columns[place] for place in places}, copy=False)


def read_columns(
    source: Source, line_format: LineFormat, places: Sequence[int], width: int, rows: int
) -> Frame:
    """Return columns of a text as they stand there, by their places; the last so many rows."""
    import pandas as pd

    text = pd.read_csv(
        Stream(source.blocks(line_format.marks, skip_first=line_format.skip_first)),
        sep=r"\s+" if line_format.separator == BLANKS else line_format.separator,
        header=None,
        names=range(width),
        index_col=False,
        usecols=list(places),
        dtype=str,
        na_filter=False,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if line_format.quoted else csv.QUOTE_NONE,
        encoding_errors="replace",
    )
    if not 0 <= len(text) - rows <= 1:  # the first line may be no edge
        raise source.fault("lines of several shapes: only their ids can be read")
    return text.iloc[len(text) - rows :].fillna("").reset_index(drop=True)


def read_numbers(
    source: Source, line_format: LineFormat, names: Sequence[str], rows: int
) -> dict[str, Any]:
    """Return the numbers that stand behind the ids, by name."""
    import pandas as pd

    if not names:
        return {}
    first = max(line_format.columns) + 1
    places = range(first, first + len(names))
    text = read_columns(source, line_format, places, places.stop, rows)
    numbers: dict[str, Any] = {}
    for name, place in zip(names, places, strict=True):
        try:
            numbers[name] = pd.to_numeric(text[place])
        except ValueError as error:
            raise source.fault(f"the {name} of an edge is no number: {error}") from error
    return numbers


def with_values(
    source: Source,
    options: ReadOptions,
    frame: Frame,
    values: Mapping[str, Any],
    order: Sequence[int] | None = None,
) -> Frame:
    """Return the ids with those values of edges, by name, that are to be kept.

    The ids stand first, unless `order` gives the places of all columns. They are called ``src`` and
    ``dst``, with underscores behind if values have these names.
    """
    import pandas as pd

    names = ((f"src{'_' * i}", f"dst{'_' * i}") for i in count())
    source.ends = next(pair for pair in names if not {*pair} & {*values})
    columns = dict(zip(source.ends, (frame["src"], frame["dst"]), strict=True)) | dict(values)
    listed = [*columns] if order is None else [[*columns][place] for place in order]
    ids = listed.index(source.ends[0]), listed.index(source.ends[1])
    places = kept_places(source, options, listed, ids, len(listed))
    return pd.DataFrame({listed[place]: columns[listed[place]] for place in places}, copy=False)


def directions(
    source: Source,
    line_format: LineFormat,
    names: list[str],
    rows: list[list[str]],
    frame: Frame,
    width: int,
) -> Any:
    """Return which rows have a direction, if a column says it, as Gephi's tables do; else None."""
    place = next((at for at, name in enumerate(names) if name.lower() == "type"), None)
    seen = {row[place].lower() for row in rows if place is not None and place < len(row)}
    if place is None or not seen or not seen <= DIRECTIONS.keys():
        return None
    text = read_columns(source, line_format, [place], width, len(frame))[place].str.lower()
    if len(unknown := {*text} - DIRECTIONS.keys()):
        raise source.fault(
            f"the column {names[place]!r} has {shortened(min(unknown))} beside Directed and "
            "Undirected: say which each edge is, or rename the column"
        )
    return one_or_each(text.map(DIRECTIONS).to_numpy(bool))


def one_or_each(directed: Any) -> Any:
    """Return whether all edges have a direction, or the array of each if they differ."""
    return directed if 0 < directed.sum() < len(directed) else bool(directed.all())
