"""Options of agents and simulations."""

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

import click

from fastes.agents import AGENTS, agent_parameters, make_agent
from fastes.agents.own import imported_agent, names_own_agent
from fastes.checks.numbers import alternatives
from fastes.checks.parameters import Parameter, options_of, parameters_of
from fastes.cli.errors import Failure, end_in_order
from fastes.cli.options import (
    INTEGERS,
    NUMBERS,
    SEED,
    THREADS,
    YES_OR_NO,
    choice_list,
    given_option,
    joined,
    option_of,
)
from fastes.cli.problem_options import bandit_from_options
from fastes.cli.sections import Command, section
from fastes.cli.truth_options import world_from_options
from fastes.results.configuration import PARAMETERS

if TYPE_CHECKING:
    from fastes.agents.agent import Agent
    from fastes.results.comparison import Comparison


def _agent_option(kind: click.ParamType, meaning: str) -> Callable[[Command], Command]:  # type: ignore[type-arg]
    return click.option(
        "--agent",
        "agents",
        type=kind,
        multiple=True,
        callback=joined,
        default=["es"],
        show_default="es",
        help=f"{', '.join(AGENTS)}{meaning}",
    )


AGENT = _agent_option(
    choice_list(AGENTS, names_own_agent),
    ", or module:Class for a custom agent; a list compares several, run by run.",
)
COMPILED_AGENT = _agent_option(
    choice_list(AGENTS, names_own_agent),
    ", or module:Class for a custom compiled agent; or a list of these.",
)

_runs = section(
    "Simulation",
    option_of("T", PARAMETERS["T"]),
    given_option("runs", PARAMETERS["runs"], show_default="50, or a million steps in all"),
    SEED,
    THREADS,
)


def _option(name: str, declared: Parameter, agents: list[str]) -> Any:
    """Return the option of an agent's parameter: a list, with an agent for each value."""
    kinds = {
        "integer": INTEGERS,
        "number": NUMBERS,
        "choice": choice_list(declared.choices, declared.also, declared.allowed),
        "flag": YES_OR_NO,
    }
    meaning = help_of(declared, agents)
    if declared.kind == "choice":
        meaning = f"{meaning.removesuffix('.')}: {_choices(name, agents)}."
    return click.option(
        f"--{name.replace('_', '-')}",
        name,
        type=kinds[declared.kind],
        show_default=shown_default(name, declared, agents),
        help=meaning,
    )


def _choices(name: str, agents: list[str]) -> str:
    """Return the choices of a parameter, by agent if they differ."""
    own = {agent: _declared(agent, name).allowed for agent in agents}
    if len(set(own.values())) == 1:
        return own[agents[0]]
    return "; ".join(f"{choices} for {agent}" for agent, choices in own.items())


def _declared(agent: str, option: str) -> Parameter:
    kind = AGENTS[agent]
    return parameters_of(kind)[options_of(kind)[option]]


def help_of(declared: Parameter, agents: list[str] | None = None) -> str:
    """Return the help of a parameter, with the agents that have it."""
    if agents is None:
        return declared.help
    return f"{declared.help.removesuffix('.')} ({', '.join(agents)})."


def shown_default(name: str, declared: Parameter, agents: list[str] | None = None) -> str:
    """Return the default of a parameter for help, by agent if they differ."""
    if declared.usual is not None:
        return declared.text(declared.usual)
    if not agents:
        return "as believed"
    own = {agent: _declared(agent, name) for agent in agents}
    return ", ".join(f"{each.text(each.usual)} for {agent}" for agent, each in own.items())


def parameter_options(only: Container[str] | None = None) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each parameter of agents, or `only` some."""
    known = agent_parameters().items()
    chosen = [(name, *rest) for name, rest in known if only is None or name in only]
    return section("Agents", *(_option(*each) for each in chosen))


def agent_options(command: Command) -> Command:
    """Add the options of agents, and of the length and number of runs."""
    return AGENT(parameter_options()(_runs(command)))


def simulate_from_options(
    options: dict[str, Any], visible: bool, **chosen: Any
) -> "tuple[Comparison, Failure | None]":
    """Simulate the agents of the options, with a progress bar if `visible`.

    If it is stopped, return the completed runs and the error to end with.
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
        more = "; use --checkpoint to keep unfinished runs" if "checkpoint" in options else ""
        failure = Failure(f"stopped {stop.done}{more}")
        if stop.result is None:
            raise failure from None
        return stop.result, failure


def agents_from_options(options: dict[str, Any]) -> "list[Agent]":
    """Return the agents of the options, one for each combination of listed values."""
    names = options["agents"]
    for name, (_, owners) in agent_parameters().items():
        if options[name] is not None and not set(owners) & set(names):
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs --agent {alternatives(owners)}")
    return [agent for name in names for agent in agents_of(name, options)]


def agents_of(name: str, options: dict[str, Any]) -> "list[Agent]":
    """Return the agents of one name; parameters without an option have their default."""
    if names_own_agent(name):
        return [imported_agent(name)]
    points: list[dict[str, Any]] = [{}]
    for option, parameter in options_of(AGENTS[name]).items():
        given = options.get(option)
        values = [parameters_of(AGENTS[name])[parameter].usual] if given is None else given
        points = [{**point, parameter: value} for point in points for value in values]
    return [make_agent(name, point) for point in points]
