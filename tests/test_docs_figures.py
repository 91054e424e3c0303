"""Figures of the documents are shown, and readable on a dark page."""

from pathlib import Path

import pytest
from matplotlib.image import imread

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
FIGURES = [path for folder in ("docs", "docs/figures") for path in (ROOT / folder).glob("*.png")]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_figure_is_shown_and_opaque(figure):
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    assert any(f"{figure.name})" in text or f'{figure.name}"' in text for text in texts)
    assert (imread(figure)[..., 3:] == 1.0).all()  # with a white ground of its own
