"""How what comes from the code looks on the site: the help of commands, and lists of parameters."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

_LOG = getLogger(__name__)


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


def _short_fields(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Put choices and defaults at the end of the option's help: a field each takes three lines."""
    new: list[str] = []
    for line in lines:
        found = re.fullmatch(r"\s+:(default|options): (.*)", line)
        if found is None:
            new.append(line)
            continue
        while not new[-1].strip():
            new.pop()
        values = [value.strip("`'") for value in found[2].split(" | ")]
        shown = ", ".join(f"``{value}``" for value in values)
        new[-1] += f" *{'Default' if found[1] == 'default' else 'One of'}:* {shown}."
    lines[:] = new


def _addresses_as_code(app: Sphinx, doctree: nodes.document) -> None:
    """Make code of addresses that a browser cannot open, such as that of a dask scheduler."""
    for link in [*doctree.findall(nodes.reference)]:
        if re.match(r"(?!https?:)\w+://", link.get("refuri", "")):
            link.parent.replace(link, nodes.literal("", link.astext()))


def _nothing_raw(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of fields that are shown as they are written."""
    for text in [*doctree.findall(nodes.Text)]:
        if not isinstance(text.parent, nodes.literal | nodes.literal_block | nodes.raw):
            for found in re.findall(r"^\s*:\w+: .*", text.astext(), re.MULTILINE):
                _LOG.warning("the page shows the field %r", found, location=text.parent)


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
    app.connect("sphinx-click-process-options", _short_fields)
    app.connect("doctree-read", _addresses_as_code)
    app.connect("doctree-read", _nothing_raw)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
