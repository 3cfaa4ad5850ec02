"""Make notebooks of pages: prose becomes Markdown cells, examples become code cells with outputs.

    python docs/notebooks.py [folder]

The pages are the source; `conf.py` makes the notebooks that the site offers for download.
"""

import ast
import doctest
import re
import sys
from pathlib import Path

import nbformat
from drawings import pictures

DOCS = Path(__file__).parent
PAGES = ("tutorial", "recipes", *(picture.page for picture in pictures.PICTURES.values()))
FENCE = re.compile(r"^```python\n((?:(?!```).*\n)*)```$", re.M)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to another page: the words stay
# What only the site has: pictures, which the code beside them draws, and files.
SITE = re.compile(r"^```\{(?:(?!```).*\n)*```\n?|As a notebook[^`]*\{download\}`[^`]*`\.\s?", re.M)
# A script opens no window and writes a file; a notebook shows the picture.
WINDOW = re.compile(r"^(?:matplotlib\.use\(.*|import matplotlib)\n", re.M)
FILE = re.compile(r"^\w+\.savefig\(sys\.argv.*$", re.M)


def output(example, number):
    """What a notebook shows below a cell that ends with this example."""
    body = ast.parse(example.source).body
    call = body[-1].value if isinstance(body[-1], ast.Expr) else None
    printed = call is None or ast.unparse(call).startswith("print(")
    if printed or example.exc_msg:
        return nbformat.v4.new_output("stream", text=example.want)
    data = {"text/plain": example.want.rstrip("\n")}
    return nbformat.v4.new_output("execute_result", data=data, execution_count=number)


def code_cells(examples, before):
    """Cells of examples, each up to the next that shows something, numbered behind those before."""
    cells, source = [], ""
    for example in examples:
        source += example.source
        if example.want or example is examples[-1]:
            number = before + len(cells) + 1
            cell = nbformat.v4.new_code_cell(source.strip(), execution_count=number)
            if example.want:
                cell["outputs"] = [output(example, number)]
            cells.append(cell)
            source = ""
    return cells


def script_cell(name, number):
    """The script of an example as a cell, with what it printed and drew."""
    code = FILE.sub("plt.show()", WINDOW.sub("", pictures.script(name).read_text())).strip()
    cell = nbformat.v4.new_code_cell(code, execution_count=number)
    if printed := pictures.printed(name):
        cell["outputs"].append(nbformat.v4.new_output("stream", text=printed))
    picture = {"image/svg+xml": (pictures.IMAGES / f"{name}-light.svg").read_text()}
    light = {"image/svg+xml": {"needs_background": "light"}}  # in a dark notebook, too
    cell["outputs"].append(nbformat.v4.new_output("display_data", data=picture, metadata=light))
    return cell


def notebook(page):
    """Make the notebook of the page with this name."""
    text = (DOCS / f"{page}.md").read_text()
    # Words and the bodies of examples alternate.
    cells = []
    for i, part in enumerate(FENCE.split(text)):
        if i % 2:
            before = sum(cell["cell_type"] == "code" for cell in cells)
            cells += code_cells(doctest.DocTestParser().get_examples(part), before)
        elif part.strip():
            words = SITE.sub("", LINK.sub(r"\1", part)).strip()
            cells.append(nbformat.v4.new_markdown_cell(words))
    if page.startswith("examples/"):
        number = 1 + sum(cell["cell_type"] == "code" for cell in cells)
        cells.append(script_cell(Path(page).name, number))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # not random: the same page makes the same file
    return nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


def write(folder):
    """Write all notebooks into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        nbformat.write(notebook(page), folder / f"{Path(page).name}.ipynb")


if __name__ == "__main__":
    write(Path(*sys.argv[1:2]))
