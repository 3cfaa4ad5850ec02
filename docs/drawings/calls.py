"""Drawings of what a call does: its path, and blocks and tasks."""

from drawings.registry import drawing
from drawings.style import WIDTH, Sheet
from rapids_tc.blocks.grid import BlockTask, Partition, tasks


@drawing(
    alt="""A triangle of three vertices, with their numbers. A square of three by three blocks,
    where each edge lies in the block of the remainders of its ends. The task that finds the
    triangle reads three blocks, which are tinted in the colors of the sides.""",
    caption="""Edge (u, v) lies in the block of the remainders of u and v. A triangle is found
    by one task, from three blocks.""",
)
def blocks():
    n = 3
    corners = {"u": 8, "v": 4, "w": 3}
    task = BlockTask(*(rank % n for rank in corners.values()))
    sides = [("u", "v"), ("u", "w"), ("v", "w")]
    colors = dict(zip(sides, ("main", "accent", "fourth"), strict=True))
    sheet = Sheet(3.0)
    shape, grid, told = (sheet.panel(x, 0, w, 3.0, title) for x, w, title in (
        (0, 2.0, "a triangle"), (2.0, 2.8, f"{n} x {n} blocks"), (4.8, WIDTH - 4.8, "the task"),
    ))  # fmt: skip
    at = {"u": (1.0, 2.0), "v": (0.4, 1.05), "w": (1.6, 1.05)}
    shape.graph(sides, at, colors, radius=0.1)
    for v, rank in corners.items():
        shape.vertex(at[v], str(rank), radius=0.16)
    shape.text((1.0, 0.45), "numbers follow degrees:\n0 is the largest hub")
    size = 0.55
    for i in range(n):
        grid.text((0.4, 1.85 - size * i), f"{i}", weight="bold")
        grid.text((0.85 + size * i, 2.35), f"{i}", weight="bold")
        for j in range(n):
            grid.box((0.85 + size * j, 1.85 - size * i), "", size - 0.02, size - 0.02, "faint")
    every = len(tasks(Partition(n, 1)))
    told.text((1.25, 2.25), f"{every} tasks; the one of\nremainders {task.residues}:")
    for y, side, (i, j) in zip((1.7, 1.25, 0.8), sides, task.blocks, strict=True):
        names, role = ", ".join(str(corners[v]) for v in side), colors[side]
        cell = (0.85 + size * j, 1.85 - size * i)
        grid.box(cell, names, size - 0.02, size - 0.02, role, filled=True)
        told.box((1.25, y), f"edge {names}: block {i}, {j}", 2.1, 0.36, role, filled=True)
    told.text((1.25, 0.35), "tasks need nothing of each other")
    grid.text((1.4, 0.28), "row: remainder of u, column: of v")
    return sheet


@drawing(
    alt="""A chart of questions. Does the call get a Dask frame? Then: does the graph fit a
    worker? If so, each worker has a copy and counts a share; if not, the graph is cut in blocks
    over the workers. Of other frames: does the graph fit in memory, or under memory_limit? If
    so, it is counted there, on the GPU for cuDF frames and on all cores for others. If not, it
    is counted in blocks, in the host's memory or in a file.""",
    caption="""Which path a call takes. The answer is the same on all of them. A function that
    needs the whole graph in one place raises `CapacityError` instead of cutting it in blocks.""",
    functions=("memory_estimate",),
)
def path_of_a_call():
    sheet = Sheet(3.5)
    panel = sheet.panel(0, 0, WIDTH, 3.5, frame=False)
    first = (WIDTH / 2, 3.2)
    panel.box(first, "is it a Dask frame?", 2.2, 0.45, "main", filled=True)
    halves = (
        (1.9, "no", "does the graph fit in memory,\nor under memory_limit=?",
         ("in memory: cuDF frames\non their GPU, others\non all cores",
          "in blocks, task by task,\nin the host's memory or,\nwithout a GPU, in a file")),
        (5.4, "yes", "does the graph\nfit a worker?",
         ("a copy on each worker,\nwhich counts a share",
          "in blocks, spread over\nthe workers, as are tasks")),
    )  # fmt: skip
    for x, answer, question, ends in halves:
        box = (x, 2.05)
        _step(panel, (first[0] + (x - first[0]) * 0.3, 2.97), (x, 2.35), answer)
        panel.box(box, question, 2.4, 0.6, "main", filled=True)
        for dx, reply, end in zip((-0.88, 0.88), ("yes", "no"), ends, strict=True):
            _step(panel, (x + dx * 0.6, 1.75), (x + dx, 1.0), reply)
            panel.box((x + dx, 0.6), end, 1.7, 0.8, "accent", filled=True)
    return sheet


def _step(panel, start, end, answer):
    panel.arrow(start, end, "ink", gap=0)
    side = 0.2 if end[0] > start[0] else -0.2
    panel.text(
        ((start[0] + end[0]) / 2 + side, (start[1] + end[1]) / 2 + 0.05), answer, weight="bold"
    )
