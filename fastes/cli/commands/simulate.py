"""fastes simulate: simulate agents and measure their regret."""

from typing import Any

import click

from fastes.cli.agent_options import agent_options, simulate_from_options
from fastes.cli.errors import user_errors
from fastes.cli.options import (
    BASELINE,
    EVERY,
    INPUT,
    OUTPUT,
    choice_list,
    file_options,
    option_of,
    output_options,
)
from fastes.cli.output import check_files, save_and_print
from fastes.cli.problem_options import problem_options
from fastes.cli.sections import SectionedCommand, section
from fastes.cli.startup import load_numba
from fastes.cli.truth_options import truth_options
from fastes.results.configuration import PARAMETERS, TRAJECTORIES

_FURTHER = [name for name in PARAMETERS if name not in ("T", "runs", "seed")]
"""Parameters of this command only; the others are common to all commands that simulate."""


@click.command(cls=SectionedCommand)
@agent_options
@problem_options
@truth_options
@section(
    "Simulation",
    click.option("--theta", type=INPUT, help="Fix theta to a .npy file."),
    *(option_of(name, PARAMETERS[name]) for name in _FURTHER),
    click.option(
        "--keep",
        type=choice_list(TRAJECTORIES),
        help="Also save every step in --out: actions, rewards or both.",
    ),
    BASELINE,
    click.option("--checkpoint", type=OUTPUT, help="A new file for fastes resume."),
    EVERY,
)
@file_options
@output_options
def simulate(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Simulate agents on a bandit and measure their regret.

    Theta is drawn from the prior for every run, so that the mean over runs is the Bayesian
    regret. The same seed gives the same result on any number of threads.

    \b
    fastes simulate --M 10000
    fastes simulate --agent es,ts --M 2,8,32,128 --K 1000 --d 20 --plot regret.png
    fastes simulate --arms arms.npy --prior-cov cov.npy --noise 0.1 --json
    fastes simulate --agent es,ts --truth-noise 3 --noise-law laplace --delay 10
    fastes simulate --T 1000000000 --checkpoint long.ckpt
    """
    with user_errors(debug, "fastes resume", options["checkpoint"]):
        check_files(options)
        if options["keep"] and options["out"] is None:
            raise click.UsageError("--keep needs --out FILE.npz")
        load_numba()
        from fastes.files.archive import load_npy

        chosen = {name: options[name] for name in (*_FURTHER, "checkpoint", "every")}
        chosen["keep"] = options["keep"] or ()
        if options["theta"] is not None:
            chosen["theta"] = load_npy("--theta", options["theta"])
        done, stopped = simulate_from_options(options, not (quiet or as_json), **chosen)
        if stopped is not None:
            options["baseline"] = None  # it may be missing
        save_and_print(done, options, as_json, quiet)
        if stopped is not None:
            raise stopped
