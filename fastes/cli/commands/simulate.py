"""fastes simulate: agents play, and their regret is measured."""

from typing import Any

import click

from fastes.cli.agent_options import agent_options, simulate_from_options
from fastes.cli.errors import user_errors
from fastes.cli.options import (
    BASELINE,
    EVERY,
    INPUT,
    OUTPUT,
    file_options,
    option_of,
    output_options,
    words_of,
)
from fastes.cli.output import check_files, save_and_print
from fastes.cli.problem_options import problem_options
from fastes.cli.sections import SectionedCommand, section
from fastes.cli.startup import load_numba
from fastes.cli.truth_options import truth_options
from fastes.results.configuration import PARAMETERS, TRAJECTORIES

_FURTHER = [name for name in PARAMETERS if name not in ("T", "runs", "seed")]
"""What is asked for here only: the others are of all commands that simulate."""


@click.command(cls=SectionedCommand)
@agent_options
@problem_options
@truth_options
@section(
    "Simulation",
    click.option("--theta", type=INPUT, help="A .npy file: fix theta instead of drawing it."),
    *(option_of(name, PARAMETERS[name]) for name in _FURTHER),
    click.option(
        "--keep",
        type=words_of(TRAJECTORIES),
        help="Save every step too, with --out: actions, rewards or both.",
    ),
    BASELINE,
    click.option("--checkpoint", type=OUTPUT, help="A new file to go on from: fastes resume."),
    EVERY,
)
@file_options
@output_options
def simulate(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Simulate agents on a bandit and measure their regret.

    Theta is drawn from the prior anew for every run, so that the mean over runs is the
    Bayesian regret. The same seed gives the same result on any number of threads.

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
            raise click.UsageError("--keep saves with the results: add --out FILE.npz")
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
