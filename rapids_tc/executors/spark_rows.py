"""What Spark runs in the Python of its executors: plain functions of Arrow record batches.

Spark keeps what tasks return as rows, each a piece of a pickled value: which task (`node`), which
item of its list, which piece of the item, and bytes. Before the pieces comes a row that says what
follows, a `Header`, which the driver reads.

A batch for tasks has the tasks, too, in rows of their own; they and the pieces of what they need
meet by a shuffle, under the number of the place (`slot`) where they run. All functions give the
same for the same rows in any order: Spark may run them again, or twice at once.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rapids_tc._typing import Frame

Batch = Any  # of Arrow
Piece = tuple[int, int, int, Any]  # of which node, of which item, which one, and its bytes
Key = tuple[int, Any]  # of a value: its node, and the items on the way to it

PIECE = 2**23  # the most bytes of a row
SPLIT = 2**16  # the bytes of a list from which on each item is kept apart
TOLD = 2**10  # the most bytes of a value that the driver gets with the header
ROWS = 2**18  # the most rows of a part of a partition
CALLS = -1  # the node of the rows that hold tasks
OF_ALL = -1  # the item, and the piece, of a header
PLACES = 2**20  # the parts that a partition of Spark's may have
OUT = "node bigint, item bigint, piece int, data binary"


@dataclass(frozen=True)
class Header:
    """What is known of the result of a task.

    Attributes
    ----------
    kind : type or None
        list or tuple, if the items are kept apart.
    sizes : list of int
        The bytes of each item, or of the whole.
    schemas : list
        The schemas of Arrow of the items that are frames; None for others.
    value : Any
        The value itself, in a tuple, if it is small and plain.
    error : Exception or None
        What the task raised instead.
    """

    kind: type[Any] | None
    sizes: list[int]
    schemas: list[Any]
    value: tuple[Any] | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class Calls:
    """The tasks of a slot, one after another, and what they need that is in no row.

    Attributes
    ----------
    tasks : list of (int, bytes)
        The node of each, and a pickled function with its arguments.
    values : dict of int to Any
        The values of nodes that the driver has.
    kinds : dict of int to (type or None, int)
        For nodes whose rows come along, the `Header.kind`, and how many items there are.
    """

    tasks: list[tuple[int, bytes]]
    values: dict[int, Any]
    kinds: dict[int, tuple[type[Any] | None, int]]


# Values as pieces ---------------------------------------------------------------------------------


def dump(value: Any, name_of: Callable[[Any], Key | None]) -> bytes:
    """Pickle a value; what `name_of` has a name for is replaced by it."""
    pickler: Any = import_module("pyspark.cloudpickle").CloudPickler

    class Pickler(pickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> Key | None:
            return name_of(value)

    file = io.BytesIO()
    cast("Any", Pickler)(file, protocol=5).dump(value)
    return file.getvalue()


def load(data: Any, look_up: Callable[[Key], Any]) -> Any:
    """Read what `dump` has written, with the values of names."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Key) -> Any:
            return look_up(name)

    return Unpickler(io.BytesIO(data)).load()


def pieces(node: int, item: int, data: bytes) -> Iterator[Piece]:
    """Cut the bytes of an item."""
    view = memoryview(data)
    for number, start in enumerate(range(0, max(len(view), 1), PIECE)):
        yield node, item, number, view[start : start + PIECE]


def joined(found: list[tuple[int, Any]]) -> Any:
    """Return the bytes of an item from its pieces, in any order."""
    if len(found) == 1:
        return found[0][1]
    return b"".join(data for _, data in sorted(found, key=lambda piece: piece[0]))


def header(node: int, item: int, told: Any) -> Piece:
    """Make the row that comes before pieces."""
    return node, item, OF_ALL, pickle.dumps(told, protocol=5)


def written(node: int, value: Any) -> Iterator[Piece]:
    """Write what a task returned."""
    kind = type(value) if type(value) in (list, tuple) and value else None
    items = list(value) if kind else [value]
    data = [pickle.dumps(item, protocol=5) for item in items]
    if kind and sum(map(len, data)) <= SPLIT and not any(map(_is_frame, items)):
        kind, items, data = None, [value], [pickle.dumps(value, protocol=5)]
    schemas = [schema_of(item) if _is_frame(item) else None for item in items]
    small = kind is None and len(data[0]) <= TOLD and _is_plain(value)
    told = Header(kind, [*map(len, data)], schemas, (value,) if small else None)
    yield header(node, OF_ALL, told)
    for item, of_item in enumerate(data):
        yield from pieces(node, item, of_item)


def _is_frame(value: Any) -> bool:
    return hasattr(value, "iloc") and hasattr(value, "columns")


def _is_plain(value: Any) -> bool:
    """Return whether a value is made of numbers and text, and of no array or frame."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if is_dataclass(value):
        return all(map(_is_plain, vars(value).values()))
    return value is None or isinstance(value, int | float | str | bytes | np.generic)


def to_batch(rows: list[Piece], kind: Any) -> Batch:
    """Make a record batch of rows, whose bytes are of that type of Arrow."""
    import pyarrow as pa

    node, item, piece, data = zip(*rows, strict=True)
    arrays = [pa.array(node, "int64"), pa.array(item, "int64"), pa.array(piece, "int32")]
    return pa.record_batch([*arrays, pa.array(data, kind)], ["node", "item", "piece", "data"])


def to_batches(rows: Iterable[Piece], kind: Any) -> Iterator[Batch]:
    """Make record batches of rows, each of a few pieces."""
    held: list[Piece] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row[3])
        if size >= PIECE:
            yield to_batch(held, kind)
            held, size = [], 0
    if held:
        yield to_batch(held, kind)


def rows_of(batch: Batch) -> Iterator[Piece]:
    """Read the rows of a record batch; their bytes are not copied."""
    numbers = (batch.column(name).to_pylist() for name in ("node", "item", "piece"))
    data = batch.column("data")
    for place, row in enumerate(zip(*numbers, strict=True)):
        yield (*row, memoryview(data[place].as_buffer()))


# Tasks --------------------------------------------------------------------------------------------


@dataclass
class Slot:
    """The rows of a slot: the pieces of each item, by node and item."""

    found: dict[tuple[int, int], list[tuple[int, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def items(self, node: int, items: Iterable[int]) -> Iterator[Any]:
        """Read items of a node."""
        for item in items:
            yield pickle.loads(joined(self.found[node, item]))

    def run(self) -> Iterator[Piece]:
        """Run the tasks, one after another, until one raises an error."""
        calls: Calls = pickle.loads(joined(self.found.pop((CALLS, 0))))
        results = dict(calls.values)
        read: dict[Key, Any] = {}

        def look_up(name: Key) -> Any:
            node, path = name
            if node in results:
                return reduce(lambda value, item: value[item], path, results[node])
            if name not in read:
                kind, count = calls.kinds[node]
                if kind is not None and not path:
                    read[name] = kind(self.items(node, range(count)))
                elif kind is not None:
                    [value] = self.items(node, path[:1])
                    read[name] = reduce(lambda value, item: value[item], path[1:], value)
                else:
                    [value] = self.items(node, [0])
                    read[name] = reduce(lambda value, item: value[item], path, value)
            return read[name]

        for node, data in calls.tasks:
            try:
                function, args = load(data, look_up)
                results[node] = function(*args)
            except Exception as error:
                yield header(node, OF_ALL, Header(None, [], [], error=_sent(error)))
                return
            yield from written(node, results[node])


def _sent(error: Exception) -> Exception:
    """Return an error that another process can read."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def run_tasks(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Run the tasks of the slots of a partition."""
    slots: dict[int, Slot] = defaultdict(Slot)
    kind: Any = None
    for batch in batches:
        kind = batch.schema.field("data").type
        slot = batch.column("slot").to_pylist()
        for at, (node, item, piece, data) in zip(slot, rows_of(batch), strict=True):
            slots[at].found[node, item].append((piece, data))
    with _device():
        while slots:
            yield from to_batches(slots.popitem()[1].run(), kind)


@contextmanager
def _device() -> Iterator[None]:
    """Work on the GPU that Spark has given to the task, if any."""
    from pyspark import TaskContext

    context = TaskContext.get()
    given = context.resources().get("gpu") if context is not None else None
    if given is None:
        yield
        return
    import cupy

    # Where each task sees its own GPU alone, that is its first, whatever its address says.
    number = int(given.addresses[0])
    with cupy.cuda.Device(number if number < cupy.cuda.runtime.getDeviceCount() else 0):
        yield


# The user's rows ----------------------------------------------------------------------------------


def read_rows(
    batches: Iterable[Batch], node: int, labels: list[Any], partition: int, kind: Any
) -> Iterator[Batch]:
    """Keep the rows of a partition, in parts, each a frame whose columns have these labels."""
    import pyarrow as pa

    def parts() -> Iterator[Piece]:
        held: list[Batch] = []
        rows = number = 0
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                taken = batch.slice(start, ROWS - rows)
                held.append(taken)
                rows, start = rows + taken.num_rows, start + taken.num_rows
                if rows == ROWS:
                    yield from part(held, number)
                    held, rows, number = [], 0, number + 1
        if rows:
            yield from part(held, number)

    def part(held: list[Batch], number: int) -> Iterator[Piece]:
        table = pa.Table.from_batches(held)
        data = pickle.dumps(frame_of(table, labels), protocol=5)
        item = partition * PLACES + number
        yield header(node, item, (table.num_rows, len(data)))
        yield from pieces(node, item, data)

    yield from to_batches(parts(), kind)


def frame_of(table: Any, labels: list[Any]) -> Frame:
    """Make a pandas frame that has the values of an Arrow table, nulls and times included.

    Numbers without a null are NumPy's.
    """
    import pandas as pd
    import pyarrow as pa

    def column(values: Any) -> Any:
        kind = values.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if plain and not values.null_count:
            return values.to_numpy()
        return pd.arrays.ArrowExtensionArray(values)

    columns = {place: column(values) for place, values in enumerate(table.columns)}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))
    frame.columns = pd.Index(labels, dtype=object)
    return frame


def schema_of(frame: Frame) -> Any:
    """Return the schema of the Arrow table that a frame of an answer becomes."""
    import pyarrow as pa

    types = [_arrow(frame.iloc[:, place]).type for place in range(frame.shape[1])]
    return pa.schema([pa.field(str(name), kind) for name, kind in zip(frame, types, strict=True)])


def _arrow(column: Any) -> Any:
    """Return a column of a frame as an array of Arrow; NaN among NumPy's numbers stay NaN."""
    import pyarrow as pa

    if hasattr(column, "to_arrow"):  # of cuDF
        return column.to_arrow()
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pa.array(column.to_numpy(), from_pandas=False)
    return pa.array(column, from_pandas=True)


def answers(batches: Iterable[Batch], names: list[str], types: list[Any]) -> Iterator[Batch]:
    """Make record batches of the frames that are kept, whose pieces follow one another."""
    import pyarrow as pa

    def frames() -> Iterator[Frame]:
        held: list[tuple[int, Any]] = []
        last = None
        for batch in batches:
            for node, item, piece, data in rows_of(batch):
                if (node, item) != last and held:
                    yield pickle.loads(joined(held))
                    held = []
                last = node, item
                held.append((piece, data))
        if held:
            yield pickle.loads(joined(held))

    for frame in frames():
        columns = [_arrow(frame.iloc[:, place]) for place in range(frame.shape[1])]
        cast = [column.cast(kind) for column, kind in zip(columns, types, strict=True)]
        for batch in pa.Table.from_arrays(cast, names).to_batches():
            yield from _in_parts(batch)


def _in_parts(batch: Batch, rows: int = 2**16) -> Iterator[Batch]:
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
