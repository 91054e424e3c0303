"""The options that say how the world differs from what agents believe."""

from pathlib import Path
from typing import Any

import click

from fastes.cli.options import INTEGER
from fastes.cli.problem_options import number_or_file
from fastes.cli.sections import section
from fastes.problem.truth import LAWS, PARAMETERS

_PRIOR = ("truth_prior_mean", "truth_prior_cov")

TRUTH_SECTION = "World, where it differs from what agents believe"

truth_options = section(
    TRUTH_SECTION,
    click.option(
        "--truth-prior-mean",
        metavar="NUMBER|FILE.npy",
        callback=number_or_file,
        show_default="as believed",
        help=PARAMETERS["truth_prior_mean"].help,
    ),
    click.option(
        "--truth-prior-cov",
        metavar="NUMBER|FILE.npy",
        callback=number_or_file,
        show_default="as believed",
        help="Covariance of theta in truth: a variance, or a d or d x d array.",
    ),
    click.option(
        "--truth-noise",
        type=float,
        show_default="as believed",
        help=PARAMETERS["truth_noise"].help,
    ),
    click.option(
        "--noise-law",
        type=click.Choice(LAWS),
        default="normal",
        show_default=True,
        help=PARAMETERS["noise_law"].help,
    ),
    click.option(
        "--delay", type=INTEGER, default=0, show_default=True, help=PARAMETERS["delay"].help
    ),
)
"""Add the options that say how the world differs from what agents believe."""


def world_from_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return `truth` and `delay`, as `simulate` takes them, of the options."""
    from fastes.files.archive import load_npy
    from fastes.problem.truth import Truth

    prior: dict[str, Any] = {name: options[name] for name in _PRIOR}
    for name, value in prior.items():
        if isinstance(value, Path):
            prior[name] = load_npy(f"--{name.replace('_', '-')}", value)
    mean, covariance = prior.values()
    truth = Truth(mean, covariance, options["truth_noise"], options["noise_law"])
    return {"truth": truth, "delay": options["delay"]}


def leaves_theory(options: dict[str, Any]) -> bool:
    """Return whether the options ask for what the paper's bounds do not speak of."""
    given = (options[name] is not None for name in (*_PRIOR, "truth_noise"))
    return any(given) or options["noise_law"] != "normal" or options["delay"] > 0
