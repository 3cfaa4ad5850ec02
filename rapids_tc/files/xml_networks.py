"""Readers of GraphML and GEXF: each edge may say whether it has a direction."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from rapids_tc.files.elements import Elements, require_memory
from rapids_tc.files.source import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    import numpy as np

    from rapids_tc.files.source import ReadOptions, Source

    Answer = tuple[Any, np.ndarray, list[str]]

_KINDS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
}
# An edge that is mutual leads both ways, as one without a direction.
_DIRECTED = {
    **dict.fromkeys(("directed", "true", "1"), True),
    **dict.fromkeys(("undirected", "mutual", "false", "0"), False),
}


def read_graphml(source: Source, options: ReadOptions) -> Answer:
    """Read the edges of a GraphML file, and the vertices without any."""
    found, keys, graphs = Elements(), _Keys(source), 0
    defaults: list[bool | None] = [None]
    for event, tag, element in _elements(source):
        if event == "start" and tag == "graph":
            graphs += len(defaults) == 1
            said = _said(element, "edgedefault")
            defaults.append(said if len(defaults) == 1 or said is not None else defaults[-1])
            if graphs > 1:
                raise source.fault("a file of several graphs: save each alone, one is read")
        elif event == "end" and tag == "graph":
            defaults.pop()
        elif event == "end" and tag == "key" and element.get("for") in ("edge", "all", None):
            keys.add(element.get("id"), element.get("attr.name"), element.get("attr.type"), element)
        elif event == "end" and tag == "hyperedge":
            raise source.fault("hyperedges are not read: save an edge for each pair of vertices")
        elif event == "end" and tag == "node":
            found.nodes.append(element.get("id"))
        elif event == "end" and tag == "edge":
            said = _said(element, "directed", default=defaults[-1])
            data = {part.get("key"): part.text for part in element if _tag(part) == "data"}
            values = keys.values_of(element, data.items(), "directed")
            found.add(_ends(source, found, element), values, directed=said)
    return found.answer(source, options)


def read_gexf(source: Source, options: ReadOptions) -> Answer:
    """Read the edges of a GEXF file, and the vertices without any."""
    found, keys, of_edges = Elements(), _Keys(source), False
    default: bool | None = False  # as the format says
    for event, tag, element in _elements(source):
        if event == "start" and tag == "graph":
            default = _said(element, "defaultedgetype", default=False)
        elif event == "start" and tag == "attributes":
            of_edges = element.get("class") == "edge"
        elif event == "end" and tag == "attribute" and of_edges:
            keys.add(element.get("id"), element.get("title"), element.get("type"), element)
        elif event == "end" and tag == "node":
            found.nodes.append(element.get("id"))
        elif event == "end" and tag == "edge":
            values = [
                (part.get("for") or part.get("id"), part.get("value"))
                for part in element.iter()
                if _tag(part) == "attvalue"
            ]
            said = _said(element, "type", default=default)
            own = keys.values_of(element, values, "type")
            found.add(_ends(source, found, element), own, directed=said)
    return found.answer(source, options)


class _Keys:
    """The values that edges have, as the head of the file declares them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._declared: dict[str | None, tuple[str, str | None]] = {}
        self._defaults: dict[str, Any] = {}

    def add(self, key: str | None, name: str | None, kind: str | None, element: Element) -> None:
        """Add a declaration; values without a name are pictures of an editor."""
        if name:
            self._declared[key] = name, kind
            default = next((part.text for part in element if _tag(part) == "default"), None)
            if default is not None:
                self._defaults[name] = self.value(name, kind, default)

    def read(self, values: Iterable[tuple[str | None, str | None]]) -> dict[str, Any]:
        """Return the values of an edge by name; several of one name, of several times, are text."""
        found: dict[str, Any] = {}
        for key, text in values:
            name, kind = self._declared.get(key, ("", None))
            if name and text is not None:
                value = self.value(name, kind, text)
                found[name] = f"{found[name]};{text}" if name in found else value
        return self._defaults | found

    def value(self, name: str, kind: str | None, text: str) -> Any:
        """Return a value of a kind that is declared."""
        try:
            return _KINDS.get(kind or "", str)(text)
        except ValueError as error:
            raise self._source.fault(f"{name} of an edge is {text!r}, and no number") from error

    def values_of(self, element: Element, values: Iterable[Any], *others: str) -> dict[str, Any]:
        """Return the values of an edge, and attributes of its element but its ends and `others`."""
        own = {k: v for k, v in element.attrib.items() if k not in ("source", "target", *others)}
        if "weight" in own:
            own["weight"] = self.value("weight", "double", own["weight"])
        return own | self.read(values)


def _said(element: Element, attribute: str, *, default: bool | None = None) -> bool | None:
    """Return whether an attribute says that edges have a direction."""
    return _DIRECTED.get(element.get(attribute, "").strip().lower(), default)


def _ends(source: Source, found: Elements, element: Element) -> tuple[Any, Any]:
    ends = element.get("source"), element.get("target")
    if None in ends:
        raise source.fault(f"edge {len(found.ends) + 1} has no source or no target")
    return ends


def _elements(source: Source) -> Iterator[tuple[str, str, Element]]:
    """Yield (start or end, name without its namespace, element); free what was read."""
    require_memory(source)
    blocks = source.blocks("")
    # Text of UTF-16 is recoded before it comes here, and its head still says UTF-16.
    head = re.sub(rb"encoding=([\"'])utf-16\w*\1", b"", next(blocks, b""), count=1, flags=re.I)
    file = io.BufferedReader(Stream(chain([head], blocks)))
    try:
        for event, element in ElementTree.iterparse(file, ("start", "end")):
            yield event, _tag(element), element
            if event == "end" and _tag(element) in ("node", "edge"):
                element.clear()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise source.fault(
            f"no XML that can be read, the file may be cut short: {error}"
        ) from error


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]
