"""The tasks of a call on Spark: what depends on what, and which run together as one job.

Nothing runs when a task is submitted. When a result is asked for, all that it needs runs in waves,
each a job of Spark: a wave has every task whose arguments are known, a task per slot; and a task
that needs one slot of the wave alone, and is the only such, runs there, too. Tasks on little data
run in one slot, all of them. What an executor had is lost with it; then the tasks that made it,
which are held here, run again.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from typing import Any, Protocol

from rapids_tc.errors import KernelError
from rapids_tc.executors.protocol import ReadAgainError
from rapids_tc.executors.spark_rows import Calls, Header, dump, load

Kept = Any  # rows that Spark keeps
TRIES = 5  # how often a wave may lose what it reads
AGAIN = (
    "executors were lost again and again, and what they kept with them: give them more memory, or "
    "a lower memory_limit="
)
SMALL = 2**20  # bytes that one slot takes sooner than several waves do
_numbers = count()


class LostError(Exception):
    """Rows that were kept are lost with an executor."""


class Jobs(Protocol):
    """What runs the jobs, and keeps rows."""

    def run(
        self, calls: list[Calls], needed: list[tuple[int, int, int]], kept: list[Kept]
    ) -> tuple[Kept, dict[int, Header]]:
        """Run the calls, one per slot, and return their rows and headers by node.

        `needed` says which items go where: node, item, slot. LostError if some are gone.
        """

    def read(self, node: int, of: Any) -> tuple[Kept, dict[int, tuple[int, int]]]:
        """Keep the rows of a frame; return, for each of its parts, its rows and bytes."""

    def fetch(self, needed: list[tuple[int, int]], kept: list[Kept]) -> dict[tuple[int, int], Any]:
        """Return items of nodes in this process."""

    def answer(
        self, needed: list[tuple[int, int]], kept: list[Kept], schema: Any, own: Any,
        labels: list[str],
    ) -> Any:  # fmt: skip
        """Return the rows of frames that are kept, in a frame with these labels.

        Its types are those of the frame `own`, if given, and of a schema of Arrow for what follows.
        """


@dataclass(eq=False)
class Node:
    """A task, or the rows of a frame.

    Attributes
    ----------
    data : bytes
        The function with its arguments, pickled.
    needs : list of Task
    of : Any
        The frame whose rows these are; None of a task.
    kept, header
        What came out of it, once it has run: where its rows are, and what is known of them.
    here : bool
        Whether this process may run it, if it has the arguments.
    parts : dict of int to (int, int)
        Of a frame: the rows and the bytes of each of its parts, by item.
    """

    data: bytes = b""
    needs: list[Task] = field(default_factory=list)
    of: Any = None
    kept: Kept = None
    header: Header | None = None
    here: bool = True
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def done(self) -> bool:
        """Whether the result is there."""
        return self.header is not None

    @property
    def told(self) -> bool:
        """Whether this process has the result."""
        return self.header is not None and self.header.value is not None

    @property
    def value(self) -> Any:
        """The result, if this process has it."""
        assert self.header is not None and self.header.value is not None
        return self.header.value[0]

    @property
    def size(self) -> int:
        """The bytes of the result."""
        return sum(self.header.sizes) if self.header is not None else 0

    def items(self, path: tuple[Any, ...]) -> list[int]:
        """Return the items that are kept apart of what lies at a path."""
        assert self.header is not None
        if self.header.kind is None:
            return [0]
        return [path[0]] if path else [*range(len(self.header.sizes))]


@dataclass(frozen=True, eq=False)
class Task:
    """What a node returns, or what lies in it at some items."""

    node: Node
    path: tuple[Any, ...] = ()


class TaskGraph:
    """The tasks of a session of Spark.

    Parameters
    ----------
    jobs : Jobs
    """

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs
        self._same: dict[bytes, Node] = {}
        self._read_again = False

    def submit(self, function: Any, args: tuple[Any, ...]) -> Task:
        """Note a task. The same function of the same arguments is the same task."""
        if args and args[0] is operator.getitem:  # an item of a list is no task
            _, several, place = args
            if isinstance(several, Task):
                return Task(several.node, (*several.path, place))
        needs: list[Task] = []
        data = dump((function, args), lambda value: _name(value, needs))
        if data not in self._same:
            engine = getattr(getattr(function, "__self__", None), "engine", None)
            self._same[data] = Node(data, needs, here=engine != "cuda")
        return Task(self._same[data])

    def read(self, of: Any, empty: Any) -> list[Task]:
        """Keep the rows of a frame; return its parts. A frame without rows has one, `empty`."""
        node = Node(of=of)
        self._keep_rows(node)
        return [Task(node, (item,)) for item in sorted(node.parts)] or [
            Task(Node(header=Header(None, [0], [None], (empty,))))
        ]

    def _keep_rows(self, node: Node) -> None:
        node.kept, node.parts = self.jobs.read(node.number, node.of)
        node.header = Header(list, [size for _, size in node.parts.values()], [])

    def gather(self, tasks: Any) -> Any:
        """Return the results of tasks, in whatever they lie in."""
        asked: list[Task] = []
        data = dump(tasks, lambda value: _name(value, asked))
        for _ in range(TRIES):
            self.run(asked)
            here = {task.node.number: task.node for task in asked}
            far = [task for task in asked if not task.node.told]
            needed = {(t.node.number, i): t.node for t in far for i in t.node.items(t.path)}
            try:
                found = self.jobs.fetch([*needed], _kept(needed.values())) if needed else {}
            except LostError:
                self.forget(asked)
                continue
            return load(data, _look_up(here, found))
        raise KernelError(AGAIN)

    def answer(self, tasks: list[Task], schema: Any, own: Any, labels: list[str]) -> Any:
        """Return the frame of the user's library that is made of the frames that tasks return.

        `schema` is the one of Arrow, unless frames that have rows know better; see `Jobs.answer`.
        """
        for node in (task.node for task in tasks):
            node.here = False  # Spark is to keep the frame
            if node.told:
                node.header = None
        self.run(tasks)
        needed = [(t.node.number, item) for t in tasks for item in t.node.items(t.path)]
        found = [header.schemas[item] for task in tasks for header in [task.node.header]
                 if header is not None for item in task.node.items(task.path)]  # fmt: skip
        known = [each for each in found if each and "null" not in map(str, each.types)]
        kept = _kept(task.node for task in tasks)
        return self.jobs.answer(needed, kept, (known or [schema])[0], own, labels)

    def run(self, tasks: Iterable[Task]) -> None:
        """Run what the results of tasks need, until they are there."""
        tries = 0
        wanted = {task.node: None for task in tasks}
        while pending := _pending(wanted):
            if self._run_here(pending):
                continue
            try:
                self._wave(pending)
            except LostError as error:
                tries += 1
                if tries == TRIES:
                    raise KernelError(AGAIN) from error
                self.forget([Task(node) for node in wanted])

    def forget(self, tasks: list[Task]) -> None:
        """Forget all results that Spark keeps for some tasks: some are lost."""
        seen, waiting = set(), [task.node for task in tasks]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += [task.node for task in node.needs]
                if not node.told:
                    node.kept = node.header = None

    def _run_here(self, pending: list[Node]) -> bool:
        """Run tasks whose arguments this process has; return whether there were any."""
        told = (node for node in pending if node.here and node.needs)
        ready = [node for node in told if all(task.node.told for task in node.needs)]
        for node in ready:
            here = {task.node.number: task.node for task in node.needs}
            function, args = load(node.data, _look_up(here, {}))
            node.header = Header(None, [0], [None], (function(*args),))
        return bool(ready)

    def _wave(self, pending: list[Node]) -> None:
        """Run what can be run by one job, or read a frame again."""
        for node in pending:
            if node.of is not None:
                before = node.parts
                self._keep_rows(node)
                self._read_again = True
                if before.keys() != node.parts.keys():
                    raise ReadAgainError(
                        "the frame has other partitions than when it was first read, after an "
                        "executor was lost: persist() it, and call again"
                    )
                return
        known = {t.node: t.node.size for n in pending for t in n.needs if t.node.done}
        slots = [pending] if sum(known.values()) <= SMALL else _slots(pending)
        needed: dict[tuple[int, int, int], Node] = {}
        calls = []
        for slot, nodes in enumerate(slots):
            own, values, kinds = {node.number for node in nodes}, {}, {}
            for task in (task for node in nodes for task in node.needs):
                if (number := task.node.number) in own:
                    continue
                if task.node.told:
                    values[number] = task.node.value
                    continue
                header = task.node.header
                assert header is not None
                kinds[number] = header.kind, len(header.sizes)
                needed |= {(number, item, slot): task.node for item in task.node.items(task.path)}
            calls.append(Calls([(node.number, node.data) for node in nodes], values, kinds))
        kept, headers = self.jobs.run(calls, [*needed], _kept(needed.values()))
        errors = [header.error for header in headers.values() if header.error is not None]
        if errors and self._read_again and isinstance(errors[0], KernelError):
            raise ReadAgainError(str(errors[0])) from errors[0]
        if errors:
            raise errors[0]
        for node in (node for nodes in slots for node in nodes):
            node.kept, node.header = kept, headers[node.number]


def _name(value: Any, needs: list[Task]) -> tuple[int, tuple[Any, ...]] | None:
    if not isinstance(value, Task):
        return None
    needs.append(value)
    return value.node.number, value.path


def _look_up(
    nodes: dict[int, Node], found: dict[tuple[int, int], Any]
) -> Callable[[tuple[int, tuple[Any, ...]]], Any]:
    """Return the function that finds the results of nodes by their names."""
    return lambda name: _result(nodes[name[0]], name[1], found)


def _result(node: Node, path: tuple[Any, ...], found: dict[tuple[int, int], Any]) -> Any:
    """Return what lies at a path in a result that this process has, or whose items were found."""
    if node.told:
        value = node.value
    elif node.header is not None and node.header.kind is not None:
        if not path:
            return node.header.kind(found[node.number, item] for item in node.items(()))
        value, path = found[node.number, path[0]], path[1:]
    else:
        value = found[node.number, 0]
    return reduce(lambda value, item: value[item], path, value)


def _pending(wanted: Iterable[Node]) -> list[Node]:
    """Return the nodes that are not done and that others need, these first."""
    result: dict[Node, None] = {}
    waiting = [node for node in wanted if not node.done]
    while waiting:
        node = waiting[-1]
        before = [t.node for t in node.needs if not t.node.done and t.node not in result]
        if before and node not in result:
            waiting += before
        else:
            result[waiting.pop()] = None
    return [*result]


def _kept(nodes: Iterable[Node]) -> list[Kept]:
    """Return where the rows of nodes are, each place once."""
    return [*{id(node.kept): node.kept for node in nodes}.values()]


def _slots(pending: list[Node]) -> list[list[Node]]:
    """Choose what runs in a wave: the nodes of each slot, one after another."""
    slots: list[list[Node]] = []
    slot_of: dict[Node, int] = {}
    left = []
    for node in pending:
        if any(not task.node.done for task in node.needs):
            left.append(node)
        else:
            slot_of[node] = len(slots)
            slots.append([node])
    while left:
        joining: dict[int, list[Node]] = defaultdict(list)
        for node in left:
            of = {slot_of.get(task.node, -1) for task in node.needs if not task.node.done}
            if len(of) == 1 and -1 not in of:
                joining[of.pop()].append(node)
        alone = {nodes[0]: slot for slot, nodes in joining.items() if len(nodes) == 1}
        if not alone:
            break
        for node, slot in alone.items():
            slot_of[node] = slot
            slots[slot].append(node)
        left = [node for node in left if node not in alone]
    return slots
