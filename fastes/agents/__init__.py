"""The agents, one a file, and the one table of their names."""

from collections.abc import Mapping
from typing import Any

from fastes.agents.agent import Agent, label
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.greedy import Greedy
from fastes.agents.information_directed import InformationDirectedSampling
from fastes.agents.linucb import LinUCB
from fastes.agents.own import names_own_agent
from fastes.agents.thompson_sampling import ThompsonSampling
from fastes.agents.uniform_random import UniformRandom
from fastes.checks.parameters import Parameter, parameters_of

AGENTS: dict[str, type[Agent]] = {
    agent.name: agent
    for agent in (
        EnsembleSampling,
        ThompsonSampling,
        Greedy,
        LinUCB,
        UniformRandom,
        InformationDirectedSampling,
    )
}


def agent_parameters() -> dict[str, tuple[Parameter, list[str]]]:
    """Return every parameter of an agent, and the names of the agents that have it."""
    found: dict[str, tuple[Parameter, list[str]]] = {}
    for agent in AGENTS.values():
        for name, declared in parameters_of(agent).items():
            found.setdefault(name, (declared, []))[1].append(agent.name)
    return found


def agent_from_description(description: Mapping[str, Any]) -> Agent:
    """Return the agent that was described, or raise KeyError, TypeError or ValueError."""
    return AGENTS[description["agent"]](**description["parameters"])


def agent_label(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the label of an agent by its name, known or not, and its parameters."""
    title = AGENTS[name].title if name in AGENTS else name
    if names_own_agent(title):
        title = title.partition(":")[2]
    return label(title, labelled_parameters(name, parameters))


def labelled_parameters(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of an agent's parameters that its label shows."""
    declared = parameters_of(AGENTS[name]) if name in AGENTS else {}
    return {k: v for k, v in parameters.items() if k not in declared or declared[k].labelled}
