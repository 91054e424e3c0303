"""An agent of every kind, ensembles of several sizes among them."""

import pytest

import fastes

FAMILY = [
    fastes.EnsembleSampling(6, perturbations="signs", symmetric=True, inflation=1.5),
    fastes.ThompsonSampling(inflation=0.5),
    fastes.EnsemblePlusPlus(5),
    fastes.LinearEnsemble(4, 0.5, width="confidence", symmetric=True),
    fastes.PerturbedHistory(0.8),
    fastes.BayesUCB(),
    fastes.EpsilonGreedy(0.2),
]
"""Relatives of ensemble sampling and Thompson sampling, one of each."""

AGENTS = [
    fastes.EnsembleSampling(1),
    fastes.EnsembleSampling(40),
    fastes.EnsembleSampling(10**9),
    fastes.EnsembleSampling(5, engine="eager"),
    fastes.EnsembleSampling(700, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(0.7),
    fastes.UniformRandom(),
    *FAMILY,
    fastes.InformationDirectedSampling(70),
]


def some(agents, *quick):
    """Return agents as parameters, those slow that are not named: code for each is compiled."""
    return [
        pytest.param(agent, marks=[] if agent in quick else pytest.mark.slow, id=str(agent))
        for agent in agents
    ]


def in_batches(agents):
    """Return agents as parameters of a test that plays them in batches, in code for each.

    Ensembles, which have the most arrays, TS, LinUCB without linear scores, and play without any.
    What stacks their states is the same for all agents; the others are slow tests.
    """
    quick = ("ts", "es", "linucb", "uniform")
    return some(agents, *(agent for agent in agents if agent.name in quick))


def is_quick(name, agent):
    """Choose pairs of a set that changes and an agent, of which each test run compiles the code.

    Each agent plays rows that are computed (fresh) and a ball or an array that lasts (redrawn);
    rows that are copied (subset, given) are played by an agent of each kind of score.
    """
    eager = agent.engine == "eager"
    copied = name.startswith(("subset", "given"))
    return not (copied and (eager or agent.name in ("ts", "uniform")))
