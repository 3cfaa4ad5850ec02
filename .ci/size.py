"""Print how large the package is, and what it has several of: `python .ci/size.py [FOLDER]`.

Lines of code are those that are not blank, a comment, a docstring or an import.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER, tokenize.ENCODING,
}  # fmt: skip
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def spans(tree: ast.AST) -> set[int]:
    """Return the lines of docstrings and imports."""
    found: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | FUNCTIONS) and ast.get_docstring(node):
            found |= {*range(body[0].lineno, body[0].end_lineno + 1)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {*range(node.lineno, node.end_lineno + 1)}
    return found


def code_lines(text: str) -> int:
    """Return the number of lines of code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - spans(ast.parse(text)))


def anys(tree: ast.AST) -> int:
    """Return how often the signatures of functions say Any."""
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    arguments = [a for f in functions for a in ast.walk(f.args) if isinstance(a, ast.arg)]
    hints = [*(f.returns for f in functions), *(a.annotation for a in arguments)]
    names = (
        name for hint in hints if hint for name in ast.walk(hint) if isinstance(name, ast.Name)
    )
    return sum(name.id == "Any" for name in names)


def main(root: Path) -> None:
    """Print a line for each figure."""
    package = root / "rapids_tc"
    texts = {path.relative_to(package): path.read_text() for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    modules = Counter(path.name for path in texts if path.name != "__init__.py")
    rooms = Counter(path.parts[0] for path in texts)
    tests = sum(len(path.read_text().splitlines()) for path in (root / "tests").rglob("*.py"))
    figures = {
        "lines of code": sum(map(code_lines, texts.values())),
        "all lines": sum(len(text.splitlines()) for text in texts.values()),
        "files": len(texts),
        "files in blocks and graphs": rooms["blocks"] + rooms["graphs"],
        "classes": classes.total(),
        "functions": sum(isinstance(node, FUNCTIONS) for node in nodes),
        "class names that stand twice": [name for name, n in classes.items() if n > 1],
        "module names in more than two rooms": [name for name, n in modules.items() if n > 2],
        "Any in signatures": sum(map(anys, trees.values())),
        "lines of tests": tests,
    }
    for name, figure in figures.items():
        shown = f"{figure:,}" if isinstance(figure, int) else f"{len(figure)} {' '.join(figure)}"
        print(f"{name:38}{shown}")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2]) if sys.argv[1:] else Path(__file__).parents[1])
