"""The options that say which agents play, and how they play."""

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

import click

from fastes.agents import AGENTS, agent_parameters, make_agent
from fastes.agents.own import imported_agent, names_own_agent
from fastes.checks.parameters import Parameter, parameters_of
from fastes.cli.errors import Failure, end_in_order
from fastes.cli.options import (
    INTEGERS,
    NUMBERS,
    SEED,
    THREADS,
    YES_OR_NO,
    given_option,
    joined,
    option_of,
    words_of,
)
from fastes.cli.problem_options import bandit_from_options
from fastes.cli.sections import Command, section
from fastes.cli.truth_options import world_from_options
from fastes.results.configuration import PARAMETERS

if TYPE_CHECKING:
    from fastes.agents.agent import Agent
    from fastes.results.comparison import Comparison


def _agent_option(words: click.ParamType, meaning: str) -> Callable[[Command], Command]:  # type: ignore[type-arg]
    return click.option(
        "--agent",
        "agents",
        type=words,
        multiple=True,
        callback=joined,
        default=["es"],
        show_default="es",
        help=f"{', '.join(AGENTS)}{meaning}",
    )


AGENT = _agent_option(
    words_of(AGENTS, names_own_agent),
    ", or module:Class for your own; a list compares several, run by run.",
)
COMPILED_AGENT = _agent_option(
    words_of(AGENTS, names_own_agent),
    ", or module:Class for your own compiled agent; or a list of these.",
)

_runs = section(
    "Simulation",
    option_of("T", PARAMETERS["T"]),
    given_option("runs", PARAMETERS["runs"], show_default="50, or a million steps in all"),
    SEED,
    THREADS,
)


def _option(name: str, declared: Parameter, agents: list[str]) -> Any:
    """Return the option of an agent's parameter: a list, of which each value makes an agent."""
    kinds = {
        "integer": INTEGERS,
        "number": NUMBERS,
        "choice": words_of(declared.choices, declared.also),
        "flag": YES_OR_NO,
    }
    meaning = help_of(declared, agents)
    if declared.kind == "choice":
        meaning = f"{meaning.removesuffix('.')}: {_choices(name, agents)}."
    return click.option(
        f"--{name}",
        name,
        type=kinds[declared.kind],
        show_default=shown_default(name, declared, agents),
        help=meaning,
    )


def _choices(name: str, agents: list[str]) -> str:
    """Return the choices of a parameter: of each agent, if they differ."""
    own = {agent: parameters_of(AGENTS[agent])[name].choices for agent in agents}
    if len(set(own.values())) == 1:
        return ", ".join(own[agents[0]])
    return "; ".join(f"{', '.join(choices)} for {agent}" for agent, choices in own.items())


def help_of(declared: Parameter, agents: list[str] | None = None) -> str:
    """Return the help of a parameter, with the agents that have it."""
    if agents is None:
        return declared.help
    return f"{declared.help.removesuffix('.')} ({', '.join(agents)})."


def shown_default(name: str, declared: Parameter, agents: list[str] | None = None) -> str:
    """Return the usual value of a parameter, as help shows it: of each agent, if they differ."""
    if declared.usual is not None:
        return declared.text(declared.usual)
    if not agents:
        return "as believed"
    own = {agent: parameters_of(AGENTS[agent])[name] for agent in agents}
    return ", ".join(f"{each.text(each.usual)} of {agent}" for agent, each in own.items())


def parameter_options(only: Container[str] | None = None) -> Callable[[Command], Command]:
    """Return what adds an option for each parameter of an agent, or only for some."""
    known = agent_parameters().items()
    chosen = [(name, *rest) for name, rest in known if only is None or name in only]
    return section("Agents", *(_option(*each) for each in chosen))


def agent_options(command: Command) -> Command:
    """Add the options that say which agents play, how long and how often."""
    return AGENT(parameter_options()(_runs(command)))


def simulate_from_options(
    options: dict[str, Any], visible: bool, **chosen: Any
) -> "tuple[Comparison, Failure | None]":
    """Let the agents of the options play, with a progress bar if it is to be visible.

    Where it is stopped, return what was done by then, and the error to end with.
    """
    from fastes.results.comparison import check_baseline
    from fastes.simulation.api import SimulationStopped, compare

    agents = agents_from_options(options)
    check_baseline(options.get("baseline"), [(agent.label, agent.name) for agent in agents])
    chosen |= {name: options[name] for name in ("T", "seed", "threads")}
    chosen |= world_from_options(options)
    if options["runs"] is None:
        chosen["runs"] = max(1, min(50, 1_000_000 // max(1, options["T"])))
    else:
        chosen["runs"] = options["runs"]
    try:
        return compare(bandit_from_options(options), agents, **chosen, progress=visible), None
    except SimulationStopped as stop:
        end_in_order()
        more = "; --checkpoint keeps unfinished runs too" if "checkpoint" in options else ""
        failure = Failure(f"stopped {stop.done}{more}")
        if stop.result is None:
            raise failure from None
        return stop.result, failure


def agents_from_options(options: dict[str, Any]) -> "list[Agent]":
    """Return the agents that the options ask for: one for each value of a list."""
    names = options["agents"]
    for name, (_, owners) in agent_parameters().items():
        if options[name] is not None and not set(owners) & set(names):
            words = " or ".join(owners)
            raise click.UsageError(f"--{name} belongs to --agent {words}, which is not asked for")
    return [agent for name in names for agent in agents_of(name, options)]


def agents_of(name: str, options: dict[str, Any]) -> "list[Agent]":
    """Return the agents of one name; a parameter that is no option has its usual value."""
    if names_own_agent(name):
        return [imported_agent(name)]
    points: list[dict[str, Any]] = [{}]
    for parameter, declared in parameters_of(AGENTS[name]).items():
        given = options.get(parameter)
        values = [declared.usual] if given is None else given
        points = [{**point, parameter: value} for point in points for value in values]
    return [make_agent(name, point) for point in points]
