"""The options that say what the problem is."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.actions.families import FAMILIES
from fastes.cli.options import INPUT, INTEGER, Command
from fastes.problem.random_problem import PARAMETERS

if TYPE_CHECKING:
    from fastes.problem.bandit import LinearBandit


def number_or_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> float | Path | None:
    """Read an option that is a number, or the name of a .npy file with an array."""
    if value is None:
        return None
    with contextlib.suppress(ValueError):
        return float(value)
    if not value.endswith(".npy"):
        raise click.BadParameter(f"{value!r} is neither a number nor the name of a .npy file")
    return Path(value)


_OPTIONS = (
    click.option("--K", "K", type=INTEGER, show_default="100", help=PARAMETERS["K"].help),
    click.option("--d", "d", type=INTEGER, show_default="10", help=PARAMETERS["d"].help),
    click.option(
        "--arms",
        metavar="FAMILY|FILE.npy",
        show_default="sphere",
        help="sphere, gaussian, uniform, basis, or a K x d array.",
    ),
    click.option(
        "--prior-mean",
        metavar="NUMBER|FILE.npy",
        callback=number_or_file,
        show_default="0",
        help=PARAMETERS["prior_mean"].help,
    ),
    click.option(
        "--prior-cov",
        metavar="NUMBER|FILE.npy",
        callback=number_or_file,
        show_default="1",
        help="Covariance of theta: a variance, or a d or d x d array.",
    ),
    click.option("--noise", type=float, show_default="1", help=PARAMETERS["noise"].help),
    click.option("--problem", type=INPUT, help="A problem saved by LinearBandit.save."),
)


def problem_options(command: Command) -> Command:
    """Add the options that say what the problem is."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def bandit_from_options(options: dict[str, Any]) -> "LinearBandit":
    """Return the problem that the options describe."""
    from fastes.files.archive import load_npy
    from fastes.problem.bandit import LinearBandit

    given = {name: options[name] for name in PARAMETERS if options[name] is not None}
    if options["problem"] is not None:
        if given:
            words = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise click.UsageError(f"--problem holds the whole problem: leave out {words}")
        return LinearBandit.load(options["problem"])
    for name in ("prior_mean", "prior_cov"):
        if isinstance(given.get(name), Path):
            given[name] = load_npy(f"--{name.replace('_', '-')}", given[name])
    arms = given.pop("arms", "sphere")
    if arms in FAMILIES:
        usual = {name: PARAMETERS[name].usual for name in ("K", "d")}
        d = given.pop("d", usual["d"] if arms != "basis" else given.get("K", usual["K"]))
        K = given.pop("K", usual["K"] if arms != "basis" else d)
        return LinearBandit.random(K, d, arms, seed=options["seed"], **given)
    if not arms.endswith(".npy"):
        raise click.BadParameter(
            f"{arms!r} is none of {', '.join(FAMILIES)}, nor the name of a .npy file",
            param_hint="--arms",
        )
    sizes = {name: given.pop(name) for name in ("K", "d") if name in given}
    bandit = LinearBandit(load_npy("--arms", Path(arms)), **given)
    for name, size in sizes.items():
        if size != getattr(bandit, name):
            raise click.UsageError(
                f"--{name} is {size}, but {arms} has {name}={getattr(bandit, name)}"
            )
    return bandit
