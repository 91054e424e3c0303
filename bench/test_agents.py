"""A step of each agent at K=1,000, d=50, against the same agent in NumPy and BLAS, in place."""

import pytest

import fastes
from bench.baselines import numpy_es, numpy_family, numpy_index, numpy_ts
from bench.limits import scan_and_update
from bench.measure import Target

K, D, STEPS, THEIRS = 1_000, 50, 5_000, 500
ACTIONS = fastes.LinearBandit.random(K, D).actions
AGENTS = {
    "es": (
        fastes.EnsembleSampling(100),
        [
            lambda: numpy_es.in_place(ACTIONS, 100, THEIRS, 1),
            lambda: numpy_es.in_blocks(ACTIONS, 100, THEIRS, 1),
        ],
    ),
    "ts": (fastes.ThompsonSampling(), lambda: numpy_ts.in_place(ACTIONS, THEIRS, 1)),
    "greedy": (
        fastes.Greedy(),
        lambda: numpy_index.greedy_or_linucb(ACTIONS, 0.0, THEIRS, 1),
    ),
    "linucb": (
        fastes.LinUCB(1.0),
        lambda: numpy_index.greedy_or_linucb(ACTIONS, 1.0, THEIRS, 1),
    ),
    "bayes-ucb": (  # another quantile at every step takes NumPy no longer
        fastes.BayesUCB(),
        lambda: numpy_index.greedy_or_linucb(ACTIONS, 1.0, THEIRS, 1),
    ),
    "es++": (
        fastes.EnsemblePlusPlus(32),
        lambda: numpy_family.ensemble_plus_plus(ACTIONS, 32, THEIRS, 1),
    ),
    "phe": (fastes.PerturbedHistory(), lambda: numpy_family.perturbed_history(ACTIONS, THEIRS, 1)),
}
TARGETS = {"es++": Target(8.0)}


@pytest.mark.tracked
@pytest.mark.parametrize("name", AGENTS)
def test_step(compare, name):
    agent, in_numpy = AGENTS[name]
    bandit = fastes.LinearBandit(ACTIONS)
    compare(
        lambda: fastes.simulate(bandit, agent, T=STEPS, threads=1),
        in_numpy,
        target=TARGETS.get(name),
        needs=scan_and_update(K, D),
        work=STEPS,
        baseline_work=THEIRS,
        rounds=7,
    )
