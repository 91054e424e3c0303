"""The options that say which agents play, and how they play."""

from typing import TYPE_CHECKING, Any

import click

from fastes.cli.options import Command, integers
from fastes.cli.problem_options import bandit_of
from fastes.cli.startup import load_numba

if TYPE_CHECKING:
    from fastes.agents import Agent
    from fastes.results.comparison import Comparison


_AGENTS = ("es", "ts", "greedy", "linucb", "uniform")

_OPTIONS = (
    click.option(
        "--agent",
        "agents",
        type=click.Choice(_AGENTS),
        multiple=True,
        default=["es"],
        show_default="es",
        help="Agent; repeat it to compare several, run by run.",
    ),
    click.option(
        "--M",
        "M",
        metavar="LIST",
        callback=integers,
        show_default="30",
        help="Models in the ensemble (es); several sizes make several agents.",
    ),
    click.option(
        "--engine",
        type=click.Choice(("auto", "deferred", "eager")),
        show_default="auto",
        help="How the models are kept (es).",
    ),
    click.option(
        "--alpha", type=float, show_default="1", help="Standard deviations of optimism (linucb)."
    ),
    click.option("--T", "T", type=int, default=2000, show_default=True, help="Steps a run."),
    click.option(
        "--runs", type=int, show_default="50, or a million steps in all", help="Independent runs."
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of everything random."
    ),
    click.option("--threads", type=int, show_default="all processors", help="Threads."),
)


def agent_options(command: Command) -> Command:
    """Add the options that say which agents play, how long and how often."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def simulate_from_options(options: dict[str, Any], visible: bool, **chosen: Any) -> "Comparison":
    """Let the agents of the options play, with a bar for each if it is to be visible."""
    load_numba()
    from fastes.cli.progress import progress_bar
    from fastes.simulation.api import compare

    agents = _agents_of(options)
    chosen |= {name: options[name] for name in ("T", "seed", "threads")}
    if options["runs"] is None:
        chosen["runs"] = max(1, min(50, 1_000_000 // max(1, options["T"])))
    else:
        chosen["runs"] = options["runs"]
    with progress_bar(visible) as progress:
        return compare(bandit_of(options), agents, **chosen, progress=progress)


def _agents_of(options: dict[str, Any]) -> "list[Agent]":
    from fastes.agents import AGENTS

    names = list(dict.fromkeys(options["agents"]))
    for option, name in (("M", "es"), ("engine", "es"), ("alpha", "linucb")):
        if options[option] is not None and name not in names:
            raise click.UsageError(f"--{option} belongs to --agent {name}, which is not asked for")
    engine = options["engine"] or "auto"
    parameters: dict[str, list[dict[str, Any]]] = {
        "es": [{"M": M, "engine": engine} for M in dict.fromkeys(options["M"] or [30])],
        "linucb": [{} if options["alpha"] is None else {"alpha": options["alpha"]}],
    }
    return [AGENTS[name](**each) for name in names for each in parameters.get(name, [{}])]
