"""Printing to stdout and stderr that may be full, closed, or a pipe that nobody reads."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

import rapids_tc as tc
from rapids_tc._progress import SILENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

ERROR = 2  # the exit code of every expected error
INTERRUPTED = 130  # after Ctrl-C, as shells report it: 128 + SIGINT
UNREAD = 141  # shells report it for programs that end when nobody reads their output: 128 + SIGPIPE


# Options that many commands have, by the heading of their group.
_GROUPS = {
    "How FILE is read": (
        "format", "separator", "header", "comment", "ids", "source", "destination",
    ),
    "Where work is done": ("engine", "method", "memory_limit"),
    "What is written": ("out", "as_json", "limit", "force", "--quiet", "--help"),
}  # fmt: skip
# Headings of the list of commands.
GRAPH, VERTICES, ROWS, SOME, LISTS = TOPICS = (
    "Of the whole graph", "Of each vertex", "Of each row of the file", "Some of the rows", "Lists",
)  # fmt: skip
MACHINE = "Files and the machine"
BEHIND_FILE = "rapids_tc.behind_file"  # in `Context.meta`: options whose values stand behind FILE


class Command(click.Command):
    """A command; an option that takes one value is given once."""

    def __init__(
        self,
        *args: Any,
        topic: str = MACHINE,
        example: str | None = None,
        renamed: Mapping[str, str] = MappingProxyType({}),
        **keywords: Any,
    ) -> None:
        """Make a command of click.

        `topic` is the heading that the list of commands has above it, `example` what is typed
        behind the command and its FILE, and `renamed` has options of today by their old names.
        """
        super().__init__(*args, **keywords)
        self.topic, self.example, self.renamed = topic, example, renamed

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options in groups: those of the command first."""
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in ("", *_GROUPS)}
        for option in self.get_params(ctx):
            if not isinstance(option, click.Option):
                continue
            words = {option.name, *option.opts}
            heading = next((name for name, of in _GROUPS.items() if words & {*of}), "")
            if (line := option.get_help_record(ctx)) is not None:
                groups[heading].append(line)
        for heading, lines in groups.items():
            if lines:
                with formatter.section(heading or "Options"):
                    formatter.write_dl(lines)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show an example."""
        if self.example is not None:
            with formatter.section("Example"):
                file = "edges.csv " * any(parameter.name == "file" for parameter in self.params)
                formatter.write_text(f"{ctx.command_path} {file}{self.example}".rstrip())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; UsageError for one that is repeated, of which click takes the last."""
        args = [*map(self._of_today, args)]
        _, _, given = self.make_parser(ctx).parse_args([*args])
        for option in given:
            if isinstance(option, click.Option) and not option.multiple and given.count(option) > 1:
                ctx.fail(f"Option {option.opts[0]!r} is given {given.count(option)} times.")
        return super().parse_args(ctx, args)

    def _of_today(self, word: str) -> str:
        """Return an argument with its option by the name of today, and tell of an old name."""
        name, equals, value = word.partition("=")
        if name not in self.renamed:
            return word
        note(f"deprecated: {name} is now {self.renamed[name]}")
        return self.renamed[name] + equals + value


class Commands(click.Group):
    """The commands; an expected error ends in one line on stderr and exit code 2."""

    command_class = Command

    def main(self, *args: Any, **keywords: Any) -> Any:
        """Run a command; an error that cannot be printed leaves its exit code alone."""
        try:
            return super().main(*args, **keywords)
        except OSError:  # click failed to print an error of usage
            _discard()
            sys.exit(ERROR)

    def make_context(self, *args: Any, **keywords: Any) -> click.Context:
        """Read the options; some of them, such as --help, print."""
        with _errors(self):
            return super().make_context(*args, **keywords)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the options name."""
        with _errors(self, ctx), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: note(
                f"warning: {as_typed(str(message), self)}"
            )
            return super().invoke(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, or by the beginning of one name alone: triads.

        Of several names, the one of triangles is meant: vertex, edges.
        """
        command = super().get_command(ctx, cmd_name)
        stem = cmd_name.rstrip("s")
        close = [name for name in self.commands if name.startswith(stem)]
        close = [name for name in close if name == f"{stem}-triangles"] or close
        if command is None and len(stem) > 2 and len(close) == 1:
            return self.commands[close[0]]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first lines of their help, none cut short."""
        topics: dict[str, list[tuple[str, str]]] = {}
        for name, command in sorted(self.commands.items()):
            if not command.hidden:
                topic = getattr(command, "topic", MACHINE)
                topics.setdefault(topic, []).append((name, command.get_short_help_str(200)))
        for topic in sorted(topics, key=[*TOPICS, MACHINE].index):
            with formatter.section(topic if len(topics) > 1 else "Commands"):
                formatter.write_dl(topics[topic])

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, with the option --quiet."""
        if not isinstance(cmd, click.Group):
            cmd.params.append(_quiet())
        super().add_command(cmd, name)


def _quiet() -> click.Option:
    def silence(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
        if value:
            token = SILENT.set(True)
            ctx.call_on_close(lambda: SILENT.reset(token))

    return click.Option(
        ["-q", "--quiet"], is_flag=True, is_eager=True, expose_value=False, callback=silence,
        help="Print no guesses and no progress.",
    )  # fmt: skip


@contextmanager
def _errors(commands: Commands, ctx: click.Context | None = None) -> Iterator[None]:
    """Turn expected errors, of printing too, into a line on stderr and an exit code."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()  # Python would do so after the exit code is set
    except KeyboardInterrupt as stop:
        _print("interrupted")
        raise Exit(INTERRUPTED) from stop
    except (tc.RapidsTCError, ValueError, OSError, MemoryError, ImportError) as error:
        _discard()
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise Exit(UNREAD) from error
        text = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            text = f"{error.filename}: {error.strerror}"
        behind = () if ctx is None else ctx.meta.get(BEHIND_FILE, ())
        text = as_typed(" ".join(text.split()) or type(error).__name__, commands, behind)
        _print(f"error: {text}")
        raise Exit(ERROR) from error


# What messages say that only Python has, and what they say here.
_PYTHON = {
    r", or None\b": "",
    r" \((True|False)\)": "",
    r"accepted: three types, None for any": "accepted: three types, * for any",
    r", None \(([^)]*)\)": r"; without it: \1",
    r"\b(\w+)\(edges\) names no": r"\1 names no",
    r"; isolated vertices are added with Graph\(vertices=\.\.\.\)": "",
    r"Triangles\(\) asks for nothing": "this names no kind of triangles",
    r"where=Triangles\(directed='(\w+)'\)": r"--directed \1",
    r"\bwhere=": "a kind of triangles",
}


# A list, but not where it is an argument of a function.
_LIST = re.compile(r"(?<![=(\w])\[((?:'[^']*'|-?\d+)(?:, (?:'[^']*'|-?\d+))*)\]")


def as_typed(text: str, commands: click.Group, behind: Collection[str] = ()) -> str:
    """Return a message of the Python package with options as they are typed: --ids string.

    Options that are given `behind` FILE have no dashes: K.
    """
    for python, typed_here in _PYTHON.items():
        text = re.sub(python, typed_here, text)
    flags = {
        f"{option.name}={value}": typed[0]
        for option in _options(commands)
        for value, typed in ((True, option.opts), (False, option.secondary_opts))
        if option.is_flag and typed
    }
    for flag in sorted(flags, key=len, reverse=True):
        text = re.sub(rf"(?<![\w(-]){flag}\b", flags[flag], text)
    typed = {option.name: option.opts[-1] for option in _options(commands)}
    typed |= {name: name.upper() for name in behind}
    name = "|".join(sorted(typed, key=len, reverse=True))
    # After a word and a bracket it is an argument of a function that the message names.
    pattern = rf"(?<!\w\()(?<![\w-])({name})=(?=([\w'\"\[(-])?)"
    text = re.sub(pattern, lambda found: typed[found[1]] + " " * bool(found[2]), text)
    text = re.sub(r"(--[\w-]+ \S+) \(\1\)", r"\1", text)  # where the message says both
    return _LIST.sub(r"\1", text)


def _options(commands: click.Group) -> Iterator[click.Option]:
    """Yield the options of all commands."""
    for command in commands.commands.values():
        if isinstance(command, click.Group):
            yield from _options(command)
        yield from (option for option in command.params if isinstance(option, click.Option))


def print_pairs(rows: Sequence[tuple[str, str]]) -> None:
    """Print names and what they are, in two columns."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {value}")


def note(text: str) -> None:
    """Print a line on stderr, unless --quiet is given."""
    if not SILENT.get():
        _print(text)


def _print(text: str) -> None:
    """Print a line on stderr; if that fails, the answer on stdout is still of use."""
    try:
        click.echo(text, err=True)
    except OSError:
        _discard()


def _discard() -> None:
    """Drop what stdout and stderr cannot write: Python would try again when it ends, and fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, AttributeError):  # a stream that is closed is None
            with suppress(OSError, AttributeError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
