"""Formulas of the site, where the extra `docs` is installed."""

import re
import sys
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("quickjs")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))

from mathml import mathml


def shown(tex, display=False):
    """Return the MathML of a formula without the copy of its source and the namespace."""
    found = mathml(tex, display)
    return re.sub(r"<annotation.*</annotation>| xmlns=\"[^\"]*\"", "", found)


def test_what_is_not_understood_is_an_error():
    with pytest.raises(ValueError, match=r"Undefined control sequence: \\foo"):
        mathml(r"\foo", display=False)


@pytest.mark.parametrize(
    ("tex", "name"),
    [
        (r"\mathbb{R}", "DOUBLE-STRUCK CAPITAL R"),
        (r"\mathbb{E}", "MATHEMATICAL DOUBLE-STRUCK CAPITAL E"),
        (r"\mathcal{F}", "SCRIPT CAPITAL F"),
        (r"\mathcal{N}", "MATHEMATICAL SCRIPT CAPITAL N"),
        (r"\mathbf{x}", "MATHEMATICAL BOLD SMALL X"),
        (r"\boldsymbol{\theta}", "MATHEMATICAL BOLD ITALIC SMALL THETA"),
        (r"\mathfrak{H}", "BLACK-LETTER CAPITAL H"),
    ],
)
def test_styled_letters_are_characters(tex, name):
    assert f">{unicodedata.lookup(name)}<" in shown(tex)
    assert "mathvariant" not in shown(tex)


@pytest.mark.parametrize(
    ("tex", "spaces"),
    [(r"K \log(x)", 1), (r"\log x", 1), (r"p \log p", 2), (r"= \log(x)", 0), (r"\max_a x", 1)],
)
def test_functions_have_thin_spaces_but_before_brackets(tex, spaces):
    assert shown(tex).count("<mspace") == spaces


@pytest.mark.parametrize("tex", [r"\max_a x_a", r"\hat p_t^2", r"\log_2 x", r"\limsup_n x_n"])
def test_no_space_comes_between_a_base_and_its_scripts(tex):
    found = ElementTree.fromstring(mathml(tex, display=True))
    for element in found.iter():
        name = element.tag.partition("}")[2]
        if name in ("msub", "munder", "msubsup"):
            assert len(element) == (3 if name == "msubsup" else 2)


def test_a_subscript_is_as_high_for_a_letter_that_goes_below_the_line():
    assert '<msub><mpadded depth="0"><mi>p</mi></mpadded>' in shown("p_t")


def test_columns_are_aligned_by_style_and_have_no_numbers():
    found = shown(r"\begin{align} a &= b \\ c &= d \end{align}", display=True)
    assert found.count("text-align: right") == found.count("text-align: left") == 2
    assert "eqn" not in found
