"""fastes simulate."""

import json
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.agents import agent_options, simulated
from fastes.cli.errors import one_sentence
from fastes.cli.options import INPUT, OUTPUT, check_outputs, load_npy, output_options
from fastes.cli.problem import problem_options

if TYPE_CHECKING:
    from fastes.result import Comparison


@click.command(no_args_is_help=False)
@agent_options
@problem_options
@click.option("--theta", type=INPUT, help="A .npy file: fix theta instead of drawing it.")
@click.option("--points", type=int, default=200, show_default=True, help="Times to record.")
@click.option("--out", type=OUTPUT, help="Save the results (npz).")
@click.option("--csv", type=OUTPUT, help="Save the curves (CSV).")
@click.option("--plot", type=OUTPUT, help="Save a figure (png, svg or pdf).")
@output_options
def simulate(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Simulate agents on a bandit and measure their regret.

    Theta is drawn from the prior anew for every run, so that the mean over runs is the
    Bayesian regret. The same seed gives the same result on any number of threads.

    \b
    fastes simulate --M 10000
    fastes simulate --agent es --agent ts --M 30 --K 1000 --d 20 --plot regret.png
    fastes simulate --arms arms.npy --prior-cov cov.npy --noise 0.1 --json
    """
    with one_sentence(debug):
        comparison = _simulate(options, visible=not (quiet or as_json))
        # What was measured is shown first: a file that cannot be written does not lose it.
        if as_json:
            single = len(comparison.results) == 1
            summary = comparison.results[0].summary() if single else comparison.summary()
            click.echo(json.dumps(summary, allow_nan=False))
        elif not quiet:
            from fastes.cli.report import print_comparison

            print_comparison(comparison)
        _write(comparison, options)


def _simulate(options: dict[str, Any], visible: bool) -> "Comparison":
    check_outputs(out=options["out"], csv=options["csv"], plot=options["plot"])
    if options["plot"] is not None:
        from fastes.plotting import check_format

        check_format(options["plot"])
    chosen = {"points": options["points"]}
    if options["theta"] is not None:
        chosen["theta"] = load_npy("--theta", options["theta"])
    return simulated(options, visible, **chosen)


def _write(comparison: "Comparison", options: dict[str, Any]) -> None:
    if options["out"] is not None:
        comparison.save(options["out"])
    if options["csv"] is not None:
        comparison.to_csv(options["csv"])
    if options["plot"] is not None:
        from fastes.plotting import plot_regret, save_figure

        save_figure(lambda ax: plot_regret(comparison.results, ax), options["plot"])
