"""How what comes from the code looks on the site: the help of commands, and lists of parameters."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def _examples_as_code(app: Sphinx, context: Any, lines: list[str]) -> None:
    r"""Make code of the paragraphs that click leaves as they are: those below a ``\b``."""
    new: list[str] = []
    for line in lines:
        if line.startswith("| "):
            if not new or not new[-1].startswith("    "):
                new += [".. code-block:: text", ""]
            new.append(f"    {line[2:]}")
        else:
            new.append(line)
    lines[:] = new


def _short_defaults(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Put a default at the end of the option's help: a field of its own takes three lines."""
    new: list[str] = []
    for line in lines:
        found = re.fullmatch(r"\s+:default: ``(.*)``", line)
        if found is None:
            new.append(line)
            continue
        while not new[-1].strip():
            new.pop()
        new[-1] += f" *Default:* ``{found[1].strip(chr(39))}``."
    lines[:] = new


def _parameter_lists(app: Sphinx, doctree: nodes.document) -> None:
    """Put a dash between a parameter and what it is, and call attributes so.

    Not by smartquotes: elsewhere -- is the beginning of an option.
    """
    for name in [*doctree.findall(nodes.field_name)]:
        if name.astext() == "Variables":
            name.children = [nodes.Text("Attributes")]
    for text in [*doctree.findall(nodes.Text)]:
        if text.astext() == " -- ":
            text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect each to its event."""
    app.setup_extension("sphinx_click")
    app.connect("doctree-read", _parameter_lists)
    app.connect("sphinx-click-process-description", _examples_as_code)
    app.connect("sphinx-click-process-options", _short_defaults)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
