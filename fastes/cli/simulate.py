"""fastes simulate."""

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.errors import one_sentence
from fastes.cli.options import INPUT, OUTPUT, check_outputs, load_npy, output_options
from fastes.cli.problem import bandit_of, problem_options

if TYPE_CHECKING:
    from fastes.agents import Agent
    from fastes.result import Comparison

_AGENTS = ("es", "ts", "greedy", "linucb", "uniform")


@click.command(no_args_is_help=False)
@click.option(
    "--agent",
    "agents",
    type=click.Choice(_AGENTS),
    multiple=True,
    default=["es"],
    show_default="es",
    help="Agent; repeat it to compare several, run by run.",
)
@click.option("--M", "M", type=int, show_default="30", help="Models in the ensemble (es).")
@click.option(
    "--engine",
    type=click.Choice(("auto", "deferred", "eager")),
    show_default="auto",
    help="How the models are kept (es).",
)
@click.option(
    "--alpha", type=float, show_default="1", help="Standard deviations of optimism (linucb)."
)
@click.option("--T", "T", type=int, default=2000, show_default=True, help="Steps a run.")
@click.option(
    "--runs", type=int, show_default="50, or a million steps in all", help="Independent runs."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@problem_options
@click.option("--theta", type=INPUT, help="A .npy file: fix theta instead of drawing it.")
@click.option("--points", type=int, default=200, show_default=True, help="Times to record.")
@click.option("--threads", type=int, show_default="all processors", help="Threads.")
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
    from fastes.cli.report import compilation_notice, progress_bar
    from fastes.result import Comparison
    from fastes.simulation import simulate as run

    agents = _agents(options)
    chosen = {name: options[name] for name in ("T", "runs", "seed", "points", "threads")}
    if chosen["runs"] is None:
        chosen["runs"] = max(1, min(50, 1_000_000 // max(1, options["T"])))
    if options["theta"] is not None:
        chosen["theta"] = load_npy("--theta", options["theta"])
    results = []
    with compilation_notice() if visible else nullcontext():
        bandit = bandit_of(options)
        for agent in agents:
            with progress_bar(agent) if visible else nullcontext() as progress:
                results.append(run(bandit, agent, **chosen, progress=progress))
    return Comparison(tuple(results))


def _agents(options: dict[str, Any]) -> "list[Agent]":
    from fastes.agents import AGENTS

    names = list(dict.fromkeys(options["agents"]))
    parameters: dict[str, dict[str, Any]] = {
        "es": {"M": 30, "engine": "auto"},
        "linucb": {"alpha": 1.0},
    }
    for name, defaults in parameters.items():
        for option in defaults:
            if options[option] is None:
                continue
            if name not in names:
                raise click.UsageError(
                    f"--{option} belongs to --agent {name}, which is not asked for"
                )
            defaults[option] = options[option]
    return [AGENTS[name](**parameters.get(name, {})) for name in names]


def _write(comparison: "Comparison", options: dict[str, Any]) -> None:
    if options["out"] is not None:
        comparison.save(options["out"])
    if options["csv"] is not None:
        comparison.to_csv(options["csv"])
    if options["plot"] is not None:
        from fastes.plotting import save_plot

        save_plot(comparison.results, options["plot"])
