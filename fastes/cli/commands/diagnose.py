"""fastes diagnose: what the theory speaks of, measured beside its bounds."""

import json
from typing import Any

import click

from fastes.cli.agent_options import agent_options, simulate_from_options
from fastes.cli.errors import user_errors
from fastes.cli.options import OUTPUT, check_outputs, integers, output_options
from fastes.cli.output import print_parts
from fastes.cli.problem_options import problem_options
from fastes.cli.startup import load_numba


@click.command()
@agent_options
@problem_options
@click.option(
    "--times",
    metavar="LIST",
    callback=integers,
    show_default="a dozen, evenly in log t",
    help="Steps, from 0, before which to probe the agents.",
)
@click.option(
    "--samples", type=int, default=4096, show_default=True, help="Draws of theta for each probe."
)
@click.option("--out", type=OUTPUT, help="Save the results (npz), for fastes plot.")
@output_options
def diagnose(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Measure what the paper's theory speaks of, beside its bounds.

    At chosen times of every run the agent's action law phat is compared with the law p of the
    optimal action: Hellinger distance, KL divergences, the main regret G_t and approximation
    error D_t of the proof of Theorem 2, the information ratio. It changes no action.

    \b
    fastes diagnose --agent es --agent ts --M 10,100 --T 250 --out study.npz
    fastes plot study.npz --figure divergence --out divergence.png
    """
    with user_errors(debug):
        load_numba()
        from fastes.checks import numbers
        from fastes.theory.inequalities import inequalities, probe_times

        check_outputs(out=options["out"])
        T = numbers.integer("T", options["T"], 1, numbers.MAX_STEPS)
        times = options["times"] or probe_times(T)
        comparison = simulate_from_options(
            options, not (quiet or as_json), diagnostics=times, samples=options["samples"]
        )
        tables = [inequalities(result) for result in comparison.results]
        if as_json:
            summary = comparison.summary()
            for described, table in zip(summary["agents"], tables, strict=True):
                described["diagnostics"] = table
            click.echo(json.dumps(summary, allow_nan=False))
        elif not quiet:
            from fastes.theory.tables import inequalities_tables

            print_parts(inequalities_tables(comparison, tables))
        if options["out"] is not None:
            comparison.save(options["out"])
