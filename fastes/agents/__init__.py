"""The agents, one a file, and the names that the command line gives them."""

from collections.abc import Mapping
from typing import Any

from fastes.agents.agent import Agent
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.greedy import Greedy
from fastes.agents.linucb import LinUCB
from fastes.agents.thompson_sampling import ThompsonSampling
from fastes.agents.uniform_random import UniformRandom

__all__ = [
    "AGENTS",
    "Agent",
    "EnsembleSampling",
    "Greedy",
    "LinUCB",
    "ThompsonSampling",
    "UniformRandom",
    "agent_of",
]

AGENTS: dict[str, type[Agent]] = {
    agent.name: agent
    for agent in (EnsembleSampling, ThompsonSampling, Greedy, LinUCB, UniformRandom)
}


def agent_from_description(description: Mapping[str, Any]) -> Agent:
    """Return the agent that was described, or raise KeyError, TypeError or ValueError."""
    kind = AGENTS[description["agent"]]
    engine = {"engine": description["engine"]} if kind is EnsembleSampling else {}
    return kind(**description["parameters"], **engine)
