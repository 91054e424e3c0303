"""Options of how the world differs from what agents believe."""

from pathlib import Path
from typing import Any

from fastes.cli.options import option_of
from fastes.cli.problem_options import ARRAY
from fastes.cli.sections import section
from fastes.problem.world import PARAMETERS, World

TRUTH_SECTION = "World, where it differs from what agents believe"

_INSTEAD: dict[str, dict[str, Any]] = {
    "truth_prior_mean": ARRAY,
    "truth_prior_cov": {
        **ARRAY,
        "help": "True covariance of theta: a variance, or a d or d x d array.",
    },
    "truth_drift": {"metavar": "DRIFT", "show_default": "none"},
}

truth_options = section(
    TRUTH_SECTION,
    *(option_of(name, each, **_INSTEAD.get(name, {})) for name, each in PARAMETERS.items()),
)
"""Add the options of how the world differs from what agents believe."""


def world_from_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the world of the options, as `simulate` takes it."""
    from fastes.files.archive import load_npy

    values = {name: options[name] for name in PARAMETERS}
    for name, value in values.items():
        if isinstance(value, Path):
            values[name] = load_npy(f"--{name.replace('_', '-')}", value)
    return {**vars(World.of(values))}


def leaves_theory(options: dict[str, Any]) -> bool:
    """Return whether the paper's bounds do not apply to the options."""
    return any(options[name] != each.usual for name, each in PARAMETERS.items())
