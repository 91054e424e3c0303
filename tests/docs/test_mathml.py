"""Formulas of the site, where the extra `docs` is installed."""

import re
import sys
from pathlib import Path

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
    ("tex", "letter"),
    [
        (r"\mathbb{R}", "ℝ"),
        (r"\mathbb{E}", "𝔼"),
        (r"\mathcal{F}", "ℱ"),
        (r"\mathcal{N}", "𝒩"),
        (r"\mathbf{x}", "𝐱"),
        (r"\boldsymbol{\theta}", "𝜽"),
        (r"\mathfrak{H}", "ℌ"),
    ],
)
def test_styled_letters_are_characters(tex, letter):
    assert f">{letter}<" in shown(tex)
    assert "mathvariant" not in shown(tex)


@pytest.mark.parametrize(
    ("tex", "spaces"),
    [(r"K \log(x)", 1), (r"\log x", 1), (r"p \log p", 2), (r"= \log(x)", 0), (r"\max_a x", 1)],
)
def test_functions_have_thin_spaces_but_before_brackets(tex, spaces):
    assert shown(tex).count("<mspace") == spaces


def test_scripts_have_two_or_three_children():
    for tex in (r"\max_a x_a", r"\hat p_t^2", r"\log_2 x", r"\operatorname*{arg\,max}_a f"):
        assert mathml(tex, display=True)
    assert "<msub><mpadded" in shown("p_t")


def test_columns_are_aligned_by_style_and_have_no_numbers():
    found = shown(r"\begin{align} a &= b \\ c &= d \end{align}", display=True)
    assert found.count("text-align: right") == found.count("text-align: left") == 2
    assert "eqn" not in found
