"""Mathematics as MathML, made while the site is built: readers need no script and no network.

KaTeX does it, from the one file of it that sphinxcontrib-katex installs, in the small JavaScript
engine of the package quickjs. A formula that KaTeX does not understand is a warning, and the site
is built with warnings as errors. Browsers draw MathML in a font with a MATH table, which not every
machine has: STIX Two Math comes from the package ziamath and is copied into the site.
"""

import json
import re
import unicodedata
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import quickjs
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_FONT = "STIXTwoMath-Regular.ttf"
_logger = logging.getLogger(__name__)
ElementTree.register_namespace("", _NAMESPACE)


def _katex() -> Any:
    context = quickjs.Context()
    context.eval((files("sphinxcontrib") / "katex.min.js").read_text(encoding="utf-8"))
    return context.eval("(tex, options) => katex.renderToString(tex, JSON.parse(options))")


_render = _katex()


def mathml(tex: str, display: bool) -> str:
    """Return a formula as a MathML element, or raise ValueError."""
    # Numbers of equations are Sphinx's: the inner forms of these environments have none.
    tex = re.sub(r"\\(begin|end)\{(align|gather|alignat)\*?\}", r"\\\1{\2ed}", tex)
    tex = re.sub(r"\\(?:begin|end)\{equation\*?\}", "", tex)
    if display and "\\\\" in tex and "\\begin" not in tex:
        tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
    options = {"displayMode": display, "output": "mathml", "strict": "error"}
    try:
        shown = _render(tex, json.dumps(options))
    except quickjs.JSException as error:
        raise ValueError(str(error).splitlines()[0]) from None
    (element,) = ElementTree.fromstring(shown)  # the one child of a span
    for each in [*element.iter()]:
        _use_styled_letters(each)
        _space_functions(each)
        _raise_subscript(each)
        _use_small_accents(each)
        if each.tag == _tag("mtable"):
            _align(each)
    return ElementTree.tostring(element, encoding="unicode")


def _tag(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"


_SCRIPTS = [_tag(name) for name in ("msub", "msup", "msubsup", "munder", "mover", "munderover")]
_APPLY = "\N{FUNCTION APPLICATION}"  # after every name of a function
_ACCENTS = {
    "^": "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}",
    "\N{MODIFIER LETTER MACRON}": "\N{OVERLINE}",
}


def _space_functions(element: ElementTree.Element) -> None:
    """Put thin spaces around log, max and their like, but none where a bracket or sign is."""
    if element.tag in _SCRIPTS:
        return
    children = [*element]
    for i in reversed(range(len(children) - 1)):
        child, following = children[i], children[i + 1]
        if following.text == _APPLY:
            continue
        first = next((text for text in following.itertext() if text.strip()), "")
        after = _ends_function(child) and first[:1] not in ("(", "[", "{")
        begins = i + 2 < len(children) and children[i + 2].text == _APPLY
        is_letter = child.text != _APPLY and child.tag not in (_tag("mo"), _tag("mspace"))
        before = is_letter and (begins or _ends_function(following))
        if after or before:
            element.insert(i + 1, ElementTree.Element(_tag("mspace"), {"width": "0.167em"}))


def _ends_function(element: ElementTree.Element) -> bool:
    if element.tag in _SCRIPTS:
        return _ends_function(element[0])
    if element.tag == _tag("mrow"):
        return len(element) > 0 and _ends_function(element[-1])
    return element.text == _APPLY


def _raise_subscript(element: ElementTree.Element) -> None:
    """Let subscripts of p and mu be as high as those of others, as in TeX."""
    if element.tag in (_tag("msub"), _tag("msubsup")) and element[0].tag in (
        _tag("mi"),
        _tag("mover"),
    ):
        base = ElementTree.Element(_tag("mpadded"), {"depth": "0"})
        base.append(element[0])
        element[0] = base


def _use_small_accents(element: ElementTree.Element) -> None:
    """Let the hat and the bar of a letter be as wide as the letter, and not touch it."""
    if element.tag != _tag("mover") or element[0].tag != _tag("mi"):
        return
    if element[1].text in _ACCENTS:
        element[1].text = _ACCENTS[element[1].text]
        element[1].set("stretchy", "false")


def _use_styled_letters(element: ElementTree.Element) -> None:
    """Write double-struck, script and bold letters as such: browsers heed no attribute for them."""
    style = element.get("mathvariant", "normal")
    if style == "normal" or not element.text:
        return
    del element.attrib["mathvariant"]
    element.text = "".join(_styled(letter, style) for letter in element.text)


def _styled(letter: str, style: str) -> str:
    # "LATIN CAPITAL LETTER R" in double-struck is "DOUBLE-STRUCK CAPITAL R"; others have a
    # name with "MATHEMATICAL" before it.
    plain = unicodedata.name(letter)
    name = f"{style.replace('-', ' ').upper()} {re.sub('LATIN |GREEK |LETTER ', '', plain)}"
    name = name.replace("DOUBLE STRUCK", "DOUBLE-STRUCK").replace("SANS SERIF", "SANS-SERIF")
    for full in (f"MATHEMATICAL {name}", name, name.replace("FRAKTUR", "BLACK-LETTER")):
        try:
            return unicodedata.lookup(full)
        except KeyError:
            continue
    return letter


def _align(table: ElementTree.Element) -> None:
    """Say in CSS how columns are aligned: browsers heed no attribute for it."""
    sides = table.get("columnalign", "").split()
    gap = float(table.get("columnspacing", "1em").split()[0].removesuffix("em"))
    for row in table:
        for i, cell in enumerate(row):
            side = sides[min(i, len(sides) - 1)] if sides else "center"
            left = gap / 2 if i else 0.0
            cell.set("style", f"text-align: {side}; padding: 0.15em {gap / 2}em 0.15em {left}em")


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_or_warning(node, display=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math-block"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(_or_warning(node, display=True) + "</div>\n")
    raise nodes.SkipNode


def _or_warning(node: nodes.Element, display: bool) -> str:
    try:
        return mathml(node.astext(), display)
    except ValueError as error:
        _logger.warning("%s: %s", error, node.astext(), location=node, type="math")
        return "<code></code>"


def _copy_font(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        font = (files("ziamath") / "fonts" / _FONT).read_bytes()
        (Path(app.outdir) / "_static" / _FONT).write_bytes(font)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer with Sphinx, under the name mathml."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("build-finished", _copy_font)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
