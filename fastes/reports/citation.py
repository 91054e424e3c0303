"""Citations of fastes and of the paper."""

import fastes

SOFTWARE = {
    # Inner braces protect capitals, and keep a name in one piece.
    "title": "fastes: Exact, fast ensemble sampling and {Thompson} sampling on "
    "linear, logistic and {Poisson} bandits",
    "author": "{The fastes developers}",
    "year": "2026",
    "version": fastes.__version__,
    "license": "MIT",
}
PAPER = {
    "title": "An Analysis of Ensemble Sampling",
    "author": "Qin, Chao and Wen, Zheng and Lu, Xiuyuan and Van Roy, Benjamin",
    "booktitle": "Advances in Neural Information Processing Systems",
    "volume": "35",
    "pages": "21602--21614",
    "year": "2022",
    "eprint": "2203.01303",
    "archiveprefix": "arXiv",
}


def citation() -> str:
    """Return BibTeX entries of the installed version of fastes and of the paper.

    Cite the software for its numbers, and the paper for ensemble sampling and its bounds.
    ``CITATION.cff`` has the same in machine-readable form.

    Examples
    --------
    >>> import fastes
    >>> print(fastes.citation())  # doctest: +ELLIPSIS
    @software{fastes,
      title = {fastes: Exact, fast ensemble sampling and {Thompson} sampling on ...},
      author = {{The fastes developers}},
    ...
    @inproceedings{qin2022analysis,
      title = {An Analysis of Ensemble Sampling},
      author = {Qin, Chao and Wen, Zheng and Lu, Xiuyuan and Van Roy, Benjamin},
    ...
    """
    return "\n\n".join(
        (_entry("software", "fastes", SOFTWARE), _entry("inproceedings", "qin2022analysis", PAPER))
    )


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join((f"@{kind}{{{key},", *lines, "}"))
