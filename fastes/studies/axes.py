"""The axes of a study: the agent, its parameters, those of a random problem, its truth, and T."""

from dataclasses import replace
from typing import Any

from fastes.agents import AGENTS, agent_parameters
from fastes.agents.own import names_own_agent
from fastes.checks.lists import flags, progression, texts
from fastes.checks.parameters import FLAGS, Parameter
from fastes.problem import random_problem, world
from fastes.results import configuration

OWNERS: dict[str, list[str]] = {name: agents for name, (_, agents) in agent_parameters().items()}
"""The agents that have an axis, for axes that not all agents have."""


AXES: dict[str, Parameter] = {
    "agent": Parameter(
        f"{', '.join(AGENTS)}, or module:Class for a custom agent.",
        "choice",
        "es",
        choices=tuple(AGENTS),
        also=names_own_agent,
    ),
    **{name: declared for name, (declared, _) in agent_parameters().items()},
    **random_problem.PARAMETERS,
    **world.PARAMETERS,
    "T": configuration.PARAMETERS["T"],
}
"""The axes, in the order of nesting: the last one varies fastest."""

COMMON: dict[str, Parameter] = {
    "runs": replace(configuration.PARAMETERS["runs"], help="Runs of each setting.", usual=100),
    "seed": configuration.PARAMETERS["seed"],
    "points": replace(configuration.PARAMETERS["points"], usual=50),
}
"""Parameters that all settings of a study share."""


def _read(kind: str, name: str, text: str) -> list[Any]:
    """Return the values in a text, on an axis of this kind."""
    if kind == "choice":
        return [value.strip() for value in text.split(",")]
    if kind == "text":
        return list(texts(text))
    return flags(name, text) if kind == "flag" else progression(name, text)


def axis_values(name: str, given: Any) -> tuple[Any, ...]:
    """Return the values of an axis, each once, or raise ValueError.

    `given` is a value, a list, range or array of values, or a text such as "2,4,8,...,1024".
    """
    axis = AXES[name]
    if isinstance(given, str):
        given = _read(axis.kind, name, given)
    try:
        values = tuple(given)  # a list, a range, an array
    except TypeError:
        values = (given,)
    if not values:
        raise ValueError(f"{name} must have at least one value, got none")
    return tuple(dict.fromkeys(axis.checked(name, value) for value in values))


def value_text(value: Any) -> Any:
    """Return a value of an axis for tables and figures: yes or no for a flag."""
    return FLAGS[value] if isinstance(value, bool) else value
