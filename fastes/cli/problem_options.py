"""Options of the problem."""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.options import INPUT, given_option
from fastes.cli.sections import Command, section
from fastes.problem.random_problem import BALL, PARAMETERS, RandomProblem

if TYPE_CHECKING:
    from fastes.actions import ActionSet
    from fastes.problem.bandit import Bandit


def number_or_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> float | Path | None:
    """Read a number, or the name of a .npy file with an array."""
    if value is None:
        return None
    with contextlib.suppress(ValueError):
        return float(value)
    if not value.endswith(".npy"):
        raise click.BadParameter(f"{value!r} is neither a number nor the name of a .npy file")
    return Path(value)


ARRAY: dict[str, Any] = {"type": str, "metavar": "NUMBER|FILE.npy", "callback": number_or_file}
"""An option that is a number or an array."""

_INSTEAD: dict[str, dict[str, Any]] = {
    "arms": {
        "type": str,
        "metavar": "FAMILY|FILE.npy",
        "help": f"{', '.join(PARAMETERS['arms'].choices)}, or a K x d or steps x K x d array.",
    },
    "available": {"show_default": "all"},
    "prior_mean": ARRAY,
    "prior_cov": {**ARRAY, "help": "Covariance of theta: a variance, or a d or d x d array."},
}
"""Keywords in which their options differ from the parameters of studies."""


def problem_option(name: str, **instead: Any) -> Callable[[Command], Command]:
    """Return the option of a parameter of the problem, with keywords replaced by `instead`."""
    return given_option(name, PARAMETERS[name], **{**_INSTEAD.get(name, {}), **instead})


problem_options = section(
    "Problem",
    *(problem_option(name) for name in PARAMETERS),
    click.option("--problem", type=INPUT, help="A problem saved by Bandit.save."),
)
"""Add the options of the problem."""


def given_options(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return those of the named options that are given, with arrays read from their files.

    None may be given beside --problem.
    """
    from fastes.files.archive import load_npy

    given = {name: options[name] for name in names if options[name] is not None}
    if options["problem"] is not None and given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise click.UsageError(f"--problem already describes the problem: leave out {flags}")
    for name in ("prior_mean", "prior_cov"):
        if isinstance(given.get(name), Path):
            given[name] = load_npy(f"--{name.replace('_', '-')}", given[name])
    return given


def bandit_from_options(options: dict[str, Any]) -> "Bandit":
    """Return the problem that the options describe."""
    from fastes.problem.bandit import Bandit
    from fastes.problem.bandits import bandit_class

    given = given_options(options, PARAMETERS)
    if options["problem"] is not None:
        return Bandit.load(options["problem"])
    arms = given.pop("arms", "sphere")
    if arms in PARAMETERS["arms"].choices:
        return _random_bandit(arms, given, options["seed"])
    if not arms.endswith(".npy"):
        raise click.BadParameter(
            f"{arms!r} is neither one of {', '.join(PARAMETERS['arms'].choices)} nor the name of "
            "a .npy file",
            param_hint="--arms",
        )
    if given.pop("redraw", "never") != "never":
        raise click.UsageError("--redraw needs random arms: leave it out")
    sizes = {name: given.pop(name) for name in ("K", "d") if name in given}
    kind = bandit_class(given.pop("rewards", "gaussian"))
    bandit = kind(arms_of_file(Path(arms), given.pop("available", 0)), **given)
    for name, size in sizes.items():
        if size != getattr(bandit, name):
            raise click.UsageError(
                f"--{name} is {size}, but {arms} has {name}={getattr(bandit, name)}"
            )
    return bandit


def _random_bandit(arms: str, given: dict[str, Any], seed: int) -> "Bandit":
    """Return a problem with random arms, or on a ball; its belief may have arrays."""
    usual = {name: parameter.usual for name, parameter in PARAMETERS.items()}
    if arms == BALL and "K" in given:
        raise click.UsageError("--arms ball has infinitely many arms: leave out --K")
    if arms == "basis":
        usual["d"] = given.get("K", usual["K"])
        usual["K"] = given.get("d", usual["d"])
    belief = {name: given.pop(name) for name in ("prior_mean", "prior_cov") if name in given}
    problem = RandomProblem(**{**usual, **given, "arms": arms})
    return problem.bandit(seed, **belief)


def arms_of_file(path: Path, available: int) -> "ActionSet":
    """Return the arms of a .npy file: fixed, a random subset, or a set for each step."""
    import numpy as np

    from fastes.actions import Fixed, Given, Subset
    from fastes.files.archive import load_npy

    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        mapped = None  # read again below, for its error message
    if getattr(mapped, "ndim", 0) == 3:
        if available:
            raise click.UsageError("--available needs fixed arms: leave it out")
        return Given(mapped)
    rows = load_npy("--arms", path)
    return Subset(rows, available) if available else Fixed(rows)
