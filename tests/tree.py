"""The tree of fastes/ and kernels/, a line for each file, as docs/developers/tree.md shows it.

    python tests/tree.py

writes it there. A test fails when the two differ.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/developers/tree.md"
BEGIN, END = "<!-- the tree, by tests/tree.py -->\n```\n", "```\n<!-- end of the tree -->\n"


def sources(top):
    """Return the Python files below a folder, those of a room after the room itself."""
    return sorted((ROOT / top).rglob("*.py"), key=lambda path: (path.parent, path.name))


def summary(path):
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n")[0]


def tree():
    """Return a line for each room and for each file in it."""
    lines = []
    for top in ("fastes", "kernels"):
        for path in sources(top):
            parts = path.relative_to(ROOT).parts
            name = "/".join(parts[:-1]) + "/" if path.name == "__init__.py" else path.name
            indent = "" if path.name == "__init__.py" else "  "
            lines.append(f"{indent + name:<28} {summary(path)}\n")
    return "".join(lines)


def shown():
    """Return the tree that the page shows."""
    page = PAGE.read_text()
    return page[page.index(BEGIN) + len(BEGIN) : page.index(END)]


if __name__ == "__main__":
    page = PAGE.read_text()
    start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(page[:start] + tree() + page[stop:])
