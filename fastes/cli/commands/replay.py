"""fastes replay: estimate the values of agents from logged plays."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.agent_options import AGENT, agents_from_options, parameter_options
from fastes.cli.errors import user_errors
from fastes.cli.options import (
    FORCE,
    INPUT,
    INTEGER,
    OUTPUT,
    SEED,
    check_outputs,
    choice_list,
    output_options,
)
from fastes.cli.problem_options import given_options, problem_option
from fastes.cli.sections import SectionedCommand, section
from fastes.cli.startup import load_numba

if TYPE_CHECKING:
    from fastes.logs.log import Log
    from fastes.logs.replay import Replay
    from fastes.problem.bandit import Bandit

_BELIEF = ("rewards", "prior_mean", "prior_cov", "noise")
"""Parameters of a problem that a log does not have."""

_METHODS = ("rejection", "ips", "snips")


@click.command(cls=SectionedCommand)
@click.argument("log", type=INPUT)
@AGENT
@parameter_options()
@section(
    "Log",
    click.option("--arm", default="arm", show_default=True, help="Column of the arm's index."),
    click.option("--reward", default="reward", show_default=True, help="Column of the reward."),
    click.option(
        "--propensity",
        metavar="COLUMN|uniform",
        required=True,
        help="Column of the probability with which the arm was played; or that all on offer were "
        "equally probable.",
    ),
    click.option(
        "--available",
        metavar="COLUMN",
        show_default="all arms",
        help="Column of the arms on offer: indices separated by spaces.",
    ),
    click.option(
        "--arms",
        type=INPUT,
        metavar="FILE.npy",
        show_default="a unit vector for each",
        help="Features of the arms: a K x d or rows x K x d array.",
    ),
)
@section(
    "Problem",
    *(problem_option(name) for name in _BELIEF),
    click.option("--problem", type=INPUT, help="A problem saved by Bandit.save, with these arms."),
)
@section(
    "Estimates",
    click.option(
        "--methods",
        type=choice_list(_METHODS),
        default="rejection,snips",
        show_default=True,
        help=f"{', '.join(_METHODS)}.",
    ),
    click.option(
        "--draws",
        type=INTEGER,
        default=8,
        show_default=True,
        help="Choices per row for ips, snips.",
    ),
    SEED,
)
@section(
    "Files",
    click.option("--out", type=OUTPUT, help="Save the estimates (npz)."),
    click.option("--csv", type=OUTPUT, help="Save the table of estimates (CSV)."),
    FORCE,
)
@output_options
def replay(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Estimate from logged plays what agents would have earned per row.

    LOG is a CSV file with a header and a row for each play. Rejection counts the rows where an
    agent chooses the logged arm, and lets it learn from these. Inverse propensity scoring (ips) and
    its self-normalised form (snips) weight all rows, and let the agent learn from all.

    \b
    fastes replay log.csv --propensity uniform --agent es,ts
    fastes replay clicks.csv --reward click --propensity p --rewards bernoulli
    fastes replay log.csv --propensity p --arms arms.npy --methods snips --json
    """
    with user_errors(debug):
        _check_files(options)
        agents = agents_from_options(options)
        load_numba()
        from fastes.logs.api import replay as replayed

        log = _log(options)
        found = replayed(
            log,
            agents,
            _bandit(log, options),
            options["methods"],
            draws=options["draws"],
            seed=options["seed"],
            progress=None if quiet or as_json else True,
        )
        _save_and_print(found, options, as_json, quiet)


def _check_files(options: dict[str, Any]) -> None:
    outputs = {name: options[name] for name in ("out", "csv")}
    inputs = [value for name, value in options.items() if name not in outputs]
    check_outputs(
        outputs,
        [value for value in inputs if isinstance(value, Path)],
        force=options["force"],
        kinds={"out": "replay", "csv": "table"},
    )


def _log(options: dict[str, Any]) -> "Log":
    import numpy as np

    from fastes.files.archive import load_npy
    from fastes.logs.log import Log

    arms: Any = None
    if options["arms"] is not None:
        arms = load_npy("--arms", options["arms"])
        if np.ndim(arms) == 3:
            arms = np.load(options["arms"], mmap_mode="r")  # which may exceed memory
    elif options["problem"] is not None:
        from fastes.problem.bandit import Bandit

        arms = Bandit.load(options["problem"]).action_set.known_arms
    columns = {name: options[name] for name in ("arm", "reward", "propensity", "available")}
    return Log.from_csv(options["log"], arms, **columns)


def _bandit(log: "Log", options: dict[str, Any]) -> "Bandit":
    """Return the problem that agents assume."""
    from fastes.problem.bandit import Bandit
    from fastes.problem.bandits import bandit_class

    given = given_options(options, _BELIEF)
    if options["problem"] is not None:
        return Bandit.load(options["problem"])
    kind = bandit_class(given.pop("rewards", "gaussian"))
    if "noise" in given and "noise" not in kind.arguments:
        raise click.UsageError("--noise needs --rewards gaussian: leave it out")
    return kind(log.actions, **given)


def _save_and_print(found: "Replay", options: dict[str, Any], as_json: bool, quiet: bool) -> None:
    """Write the requested files, then print, even if writing fails."""
    try:
        if options["out"] is not None:
            found.save(options["out"], options["force"])
        if options["csv"] is not None:
            found.to_csv(options["csv"], options["force"])
    finally:
        if as_json:
            click.echo(json.dumps(found.to_dict(), allow_nan=False))
        elif not quiet:
            found.summary()
