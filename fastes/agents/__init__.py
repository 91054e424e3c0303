"""The agents, one per file, and the table of their names."""

from collections.abc import Mapping
from typing import Any

from fastes.agents.agent import Agent, label
from fastes.agents.bayes_ucb import BayesUCB
from fastes.agents.discounted_linucb import DiscountedLinUCB
from fastes.agents.ensemble_plus_plus import EnsemblePlusPlus
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.epsilon_greedy import EpsilonGreedy
from fastes.agents.greedy import Greedy
from fastes.agents.information_directed import InformationDirectedSampling
from fastes.agents.linear_ensemble import LinearEnsemble
from fastes.agents.linucb import LinUCB
from fastes.agents.own import names_own_agent, not_imported
from fastes.agents.own_compiled import checked, imported_class
from fastes.agents.perturbed_history import PerturbedHistory
from fastes.agents.thompson_sampling import ThompsonSampling
from fastes.agents.uniform_random import UniformRandom
from fastes.checks.numbers import printable
from fastes.checks.parameters import Parameter, options_of, parameters_of

AGENTS: dict[str, type[Agent]] = {
    agent.name: agent
    for agent in (
        EnsembleSampling,
        ThompsonSampling,
        EnsemblePlusPlus,
        LinearEnsemble,
        PerturbedHistory,
        InformationDirectedSampling,
        BayesUCB,
        LinUCB,
        DiscountedLinUCB,
        EpsilonGreedy,
        Greedy,
        UniformRandom,
    )
}


def agent_parameters() -> dict[str, tuple[Parameter, list[str]]]:
    """Return all parameters of agents by option, each with the names of the agents that have it."""
    found: dict[str, tuple[Parameter, list[str]]] = {}
    for agent in AGENTS.values():
        for option, name in options_of(agent).items():
            declared = parameters_of(agent)[name]
            known, owners = found.get(option, (declared, []))
            found[option] = known.merged(declared), [*owners, agent.name]
    return found


def make_agent(name: str, parameters: Mapping[str, Any]) -> Agent:
    """Return the agent of this name with these parameters (all of them), or raise ValueError.

    Agents may have different choices for one parameter: the message names the agent.
    """
    kind = AGENTS[name]
    for each, declared in parameters_of(kind).items():
        if declared.choices:
            declared.checked(f"{each} of {name}", parameters[each])
    return kind(**parameters)


def agent_from_description(description: Mapping[str, Any]) -> Agent:
    """Return the agent of a description, or raise KeyError, TypeError or ValueError.

    No code is imported: a custom agent is found only if it is compiled and its module is imported
    already; else OwnAgentError.
    """
    name = description["agent"]
    kind = AGENTS.get(name) or imported_class(name)
    if kind is None and names_own_agent(name):
        raise not_imported(name)
    if kind is None:
        raise KeyError(name)
    return checked(kind(**description["parameters"]))


def agent_label(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the label of an agent given its name, which may be unknown, and its parameters."""
    title = AGENTS[name].title if name in AGENTS else name
    if names_own_agent(title):
        title = title.partition(":")[2]
    return printable(label(title, labelled_parameters(name, parameters)))


def labelled_parameters(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that an agent's label shows."""
    declared = parameters_of(AGENTS[name]) if name in AGENTS else {}
    return {k: v for k, v in parameters.items() if k not in declared or declared[k].is_labelled(v)}


def parameters_by_option(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent's parameters by the names of their options, which no other fact has."""
    declared = parameters_of(AGENTS[name]) if name in AGENTS else {}
    return {(declared[k].option if k in declared else "") or k: v for k, v in parameters.items()}
