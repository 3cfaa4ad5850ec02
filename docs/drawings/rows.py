"""Drawings of rows: their times, groups, types and signs."""

import pandas as pd

import rapids_tc as tc
from drawings.registry import drawing
from drawings.shapes import plural
from drawings.style import NORMAL, WIDTH, Sheet

TRIANGLE = {"a": (0.35, 0.6), "b": (0.9, 1.35), "c": (1.45, 0.6)}


def timed(*rows):
    """Rows such as ("ab", 3) as a frame with the columns src, dst and at."""
    return pd.DataFrame([(*ends, at) for ends, at in rows], columns=["src", "dst", "at"])


def axis(panel, y, first, last, place):
    """Draw a line of time with a mark for each whole number."""
    panel.arrow((place(first) - 0.15, y), (place(last) + 0.35, y), "faint", gap=0)
    for t in range(first, last + 1):
        panel.edge((place(t), y - 0.04), (place(t), y + 0.04), "faint", width=1.2)
        panel.text((place(t), y - 0.17), str(t))


@drawing(
    alt="""Three edges of a triangle, each with two messages as dots on a line of time. The
    closest choice of one message for each edge is marked, and its span is measured.""",
    caption="""`within=` counts the triangle if some choice of a message for each edge spans at
    most this.""",
)
def within():
    rows = timed(("ab", 1), ("ab", 7), ("bc", 2), ("bc", 9), ("ca", 4), ("ca", 8))
    spans = [s for s in range(10) if tc.count(rows, time="at", within=s)]
    shortest = spans[0]
    start = next(
        t for t in rows["at"].sort_values()
        if tc.count(rows[rows["at"].between(t, t + shortest)], time="at", within=shortest)
    )  # fmt: skip
    sheet = Sheet(2.45)
    shape = sheet.panel(0, 0, 1.8, 2.45, "the edges")
    line = sheet.panel(1.8, 0, WIDTH - 1.8, 2.45, "their messages")
    colors = {"ab": "main", "bc": "third", "ca": "fourth"}
    at = {v: (x, y + 0.2) for v, (x, y) in TRIANGLE.items()}
    shape.graph(
        [tuple(ends) for ends in colors], at, {tuple(e): role for e, role in colors.items()}
    )

    def place(t):
        return 0.7 + 0.42 * t

    axis(line, 0.65, 0, 10, place)
    left, right, low, high = place(start), place(start + shortest), 0.78, 1.9
    corners = [(left - 0.13, low), (right + 0.13, low), (right + 0.13, high), (left - 0.13, high)]
    line.area(corners, "accent")
    for i, (ends, role) in enumerate(colors.items()):
        y = 1.65 - 0.32 * i
        line.text((0.4, y), ", ".join(ends), role, weight="bold")
        line.edge((place(0), y), (place(10), y), "faint", width=0.8)
        for t in rows.loc[rows["src"] + rows["dst"] == ends, "at"]:
            line.vertex((place(t), y), role=role, radius=0.08)
    line.text((place(start + shortest / 2), 2.03), f"span {shortest}", "accent", weight="bold")
    told = [f"within={s}: {tc.count(rows, time='at', within=s)}" for s in (shortest - 1, shortest)]
    line.text((2.75, 0.25), "triangles with " + ", ".join(told))
    return sheet


@drawing(
    alt="""Five messages on a line of time, and under it windows of length 4, one every 2, each
    with the number of triangles of the messages in it.""",
    caption="`window=4, step=2`: each window is counted as a graph of its own.",
    functions=("triangles_over_time",),
)
def windows():
    rows = timed(("ab", 0), ("bc", 1), ("ca", 3), ("ad", 4), ("dc", 5))
    found = tc.triangles_over_time(rows, time="at", window=4, step=2)
    sheet = Sheet(1.45 + 0.3 * len(found))
    panel = sheet.panel(0, 0, WIDTH, sheet.height, "messages")
    top = sheet.height - 0.85

    def place(t):
        return 0.6 + 0.66 * t

    axis(panel, top, 0, 9, place)
    for row in rows.itertuples():
        panel.vertex((place(row.at), top), role="main", radius=0.07)
        panel.text((place(row.at), top + 0.22), f"{row.src}, {row.dst}")
    for i, row in enumerate(found.itertuples()):
        y, left, right = top - 0.52 - 0.3 * i, place(row.at), place(row.at + 4)
        role = "accent" if row.triangles else "faint"
        panel.area([(left, y - 0.1), (right, y - 0.1), (right, y + 0.1), (left, y + 0.1)], role)
        panel.edge((left, y - 0.1), (left, y + 0.1), role)
        panel.text((min(right, place(9.6)) + 0.12, y), plural(row.triangles, "triangle"), ha="left")
    return sheet


@drawing(
    alt="""Five pictures, one per row in order of time. Each has the edges so far; the newest is
    marked. Two of the rows close a triangle, which is tinted.""",
    caption="""As of each row: what it closes with the rows before it, and how many triangles
    there are by then.""",
)
def as_of():
    at = {"a": (0.3, 1.25), "b": (0.73, 1.85), "c": (1.16, 1.25), "d": (0.73, 0.75)}
    rows = timed(("ab", 1), ("bc", 2), ("ca", 3), ("ad", 4), ("dc", 5))
    found = tc.triangles_over_time(rows, time="at")
    sheet = Sheet(2.5)
    edges = list(zip(rows["src"], rows["dst"], strict=True))
    for i, panel in enumerate(sheet.row(*(f"row {t}" for t in rows["at"]))):
        *before, new = edges[: i + 1]
        ends = [v for v in at if all({v, w} in map(set, before) for w in new)]
        for vertex in ends:
            panel.area([at[v] for v in (vertex, *new)], "accent")
        panel.graph([*before, new], at, dict.fromkeys(before, "faint") | {new: "accent"})
        row = found.iloc[i]
        panel.text((0.73, 0.32), f"closes {row['formed']}\n{row['triangles']} by now")
    return sheet


@drawing(
    alt="""Rows of three days, each day a graph of its own with its number of triangles, beside
    the graph of all rows, which has more triangles than the days together.""",
    caption="""`by="day"`: each group of rows is a graph of its own.""",
    functions=("count",),
)
def groups():
    at = {"a": (0.45, 0.85), "b": (0.45, 1.65), "c": (1.37, 0.85), "t": (1.37, 1.65)}
    rows = pd.DataFrame(
        [(*ends, day) for ends, day in zip(
            ("at", "bt", "ab", "ct", "bc", "ac"), ["mon"] * 3 + ["tue"] * 2 + ["wed"], strict=True
        )], columns=["src", "dst", "day"],
    )  # fmt: skip
    days = {"mon": "main", "tue": "third", "wed": "fourth"}
    counts = tc.count(rows, by="day").set_index("day")["triangles"]
    sheet = Sheet(2.25)
    *each, whole = sheet.row(*days, "all rows")
    edges = dict(zip(zip(rows["src"], rows["dst"], strict=True), rows["day"], strict=True))
    for (day, role), panel in zip(days.items(), each, strict=True):
        own = [edge for edge in edges if edges[edge] == day]
        panel.graph(own, at, dict.fromkeys(own, role))
        panel.text((0.91, 0.35), plural(counts[day], "triangle"))
    whole.graph(edges, at, {edge: days[day] for edge, day in edges.items()})
    whole.text((0.91, 0.35), plural(tc.count(rows), "triangle"))
    return sheet


@drawing(
    alt="""Two triangles with types of their sides: two addresses and a card; three devices. Then
    four triangles with signs on their sides: those with an even number of minus signs are
    balanced.""",
    caption="Types of edges, in ascending order, and the four kinds of signed triangles.",
    functions=("balance",),
)
def types_and_signs():
    kinds = {"address": "main", "card": "third", "device": "fourth"}
    sides = [("a", "b"), ("b", "c"), ("a", "c")]
    sheet = Sheet(2.15 * 2)
    width = WIDTH / 2
    for i, types in enumerate([("address", "card", "address"), ("device",) * 3]):
        panel = sheet.panel(i * width, 2.15, width, 2.15)
        rows = pd.DataFrame(sides, columns=["src", "dst"]).assign(kind=types)
        found = tc.triangles_by_type(rows, edge_type="kind").iloc[0]
        at = {v: (x + 0.95, y + 0.3) for v, (x, y) in TRIANGLE.items()}
        panel.graph(sides, at, {side: kinds[t] for side, t in zip(sides, types, strict=True)})
        for place, t, ha in zip(
            [(1.5, 1.4), (2.2, 1.4), (1.85, 0.65)], types, ("right", "left", "center"), strict=True
        ):
            panel.text(place, t, kinds[t], ha=ha)
        told = ", ".join(found[f"type_{n}"] for n in (1, 2, 3))
        panel.text((width / 2, 0.32), told, size=NORMAL, weight="bold")
    signs = [(1, 1, 1), (1, 1, -1), (1, -1, -1), (-1, -1, -1)]
    for i, values in enumerate(signs):
        panel = sheet.panel(i * WIDTH / 4, 0, WIDTH / 4, 2.15)
        rows = pd.DataFrame(sides, columns=["src", "dst"]).assign(sign=values)
        table = tc.balance(rows, sign="sign")
        found = table[table["triangles"] == 1].iloc[0]
        at = {v: (x, y + 0.3) for v, (x, y) in TRIANGLE.items()}
        pairs = list(zip(sides, values, strict=True))
        roles = {side: "main" if n > 0 else "accent" for side, n in pairs}
        panel.graph(
            sides, at, roles, {side: "+" if n > 0 else "\N{MINUS SIGN}" for side, n in pairs}
        )
        told, role = ("balanced", "main") if found["balanced"] else ("unbalanced", "accent")
        panel.text((0.91, 0.42), told, role, weight="bold")
    return sheet
