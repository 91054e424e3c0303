"""The options that say which agents play, and how they play."""

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

import click

from fastes.agents import AGENTS, agent_parameters
from fastes.checks.parameters import Parameter, parameters_of
from fastes.cli.options import Command, integers
from fastes.cli.problem_options import bandit_from_options
from fastes.cli.startup import load_numba

if TYPE_CHECKING:
    from fastes.agents.agent import Agent
    from fastes.results.comparison import Comparison

AGENT = click.option(
    "--agent",
    "agents",
    type=click.Choice(tuple(AGENTS)),
    multiple=True,
    default=["es"],
    show_default="es",
    help="Agent; repeat it to compare several, run by run.",
)

_RUNS = (
    click.option("--T", "T", type=int, default=2000, show_default=True, help="Steps a run."),
    click.option(
        "--runs", type=int, show_default="50, or a million steps in all", help="Independent runs."
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of everything random."
    ),
    click.option("--threads", type=int, show_default="all processors", help="Threads."),
)


def _option(name: str, declared: Parameter, agents: list[str]) -> Any:
    """Return the option of an agent's parameter."""
    words: dict[str, Any] = {"show_default": shown_default(declared)}
    meaning = help_of(declared, agents)
    if declared.kind == "integer":
        words |= {"metavar": "LIST", "callback": integers}
        meaning = meaning.removesuffix(".") + "; several values make several agents."
    else:
        words["type"] = click.Choice(declared.choices) if declared.kind == "choice" else float
    return click.option(f"--{name}", name, help=meaning, **words)


def help_of(declared: Parameter, agents: list[str] | None = None) -> str:
    """Return the help of a parameter, with the agents that have it."""
    if agents is None:
        return declared.help
    return f"{declared.help.removesuffix('.')} ({', '.join(agents)})."


def shown_default(declared: Parameter) -> str:
    """Return the usual value of a parameter, as help shows it."""
    return f"{declared.usual:g}" if declared.kind == "number" else str(declared.usual)


def parameter_options(only: Container[str] | None = None) -> Callable[[Command], Command]:
    """Return what adds an option for each parameter of an agent, or only for some."""

    def add(command: Command) -> Command:
        for name, (declared, agents) in reversed(agent_parameters().items()):
            if only is None or name in only:
                command = _option(name, declared, agents)(command)
        return command

    return add


def agent_options(command: Command) -> Command:
    """Add the options that say which agents play, how long and how often."""
    for option in reversed(_RUNS):
        command = option(command)
    return AGENT(parameter_options()(command))


def simulate_from_options(options: dict[str, Any], visible: bool, **chosen: Any) -> "Comparison":
    """Let the agents of the options play, with a progress bar for each if it is to be visible."""
    load_numba()
    from fastes.cli.progress import progress_bar
    from fastes.simulation.api import compare

    agents = agents_from_options(options)
    chosen |= {name: options[name] for name in ("T", "seed", "threads")}
    if options["runs"] is None:
        chosen["runs"] = max(1, min(50, 1_000_000 // max(1, options["T"])))
    else:
        chosen["runs"] = options["runs"]
    with progress_bar(visible) as progress:
        return compare(bandit_from_options(options), agents, **chosen, progress=progress)


def agents_from_options(options: dict[str, Any]) -> "list[Agent]":
    """Return the agents that the options ask for: one for each value of a list."""
    names = list(dict.fromkeys(options["agents"]))
    for name, (_, owners) in agent_parameters().items():
        if options[name] is not None and not set(owners) & set(names):
            words = " or ".join(owners)
            raise click.UsageError(f"--{name} belongs to --agent {words}, which is not asked for")
    return [agent for name in names for agent in _agents(name, options)]


def _agents(name: str, options: dict[str, Any]) -> "list[Agent]":
    """Return the agents of one name."""
    points: list[dict[str, Any]] = [{}]
    for parameter, declared in parameters_of(AGENTS[name]).items():
        given = options[parameter]
        values = given if isinstance(given, list) else [declared.usual if given is None else given]
        points = [
            {**point, parameter: value} for point in points for value in dict.fromkeys(values)
        ]
    return [AGENTS[name](**point) for point in points]
