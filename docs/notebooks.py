"""Make notebooks of pages: prose becomes Markdown cells, examples become code cells.

    python docs/notebooks.py [folder]

The pages are the source; `conf.py` makes the notebooks that the site offers for download.
"""

import doctest
import re
import sys
from pathlib import Path

import nbformat

DOCS = Path(__file__).parent
PAGES = ("tutorial", "recipes", "howto/learning")
FENCE = re.compile(r"^```python\n((?:(?!```).*\n)*)```$", re.M)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to another page: the words stay
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)$", re.M)  # the code beside it draws one


def notebook(page):
    """Make the notebook of the page with this name."""
    text = (DOCS / f"{page}.md").read_text()
    # Words and the bodies of examples alternate.
    cells = []
    for i, part in enumerate(FENCE.split(text)):
        if i % 2:
            source = "".join(x.source for x in doctest.DocTestParser().get_examples(part))
            cells.append(nbformat.v4.new_code_cell(source.strip()))
        elif part.strip():
            words = PICTURE.sub("", LINK.sub(r"\1", part)).strip()
            cells.append(nbformat.v4.new_markdown_cell(words))
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
