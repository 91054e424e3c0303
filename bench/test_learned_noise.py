"""Agents that learn the noise over the same agents that know it."""

import pytest

import fastes

SIZES = {"K=100, d=10": (100, 10, 20_000), "K=1,000, d=50": (1_000, 50, 3_000)}
AGENTS = {
    "ts": fastes.ThompsonSampling,
    "es": lambda **options: fastes.EnsembleSampling(100, **options),
    "linucb": fastes.LinUCB,
    "bayes-ucb": fastes.BayesUCB,
}


@pytest.mark.tracked
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", AGENTS)
def test_step(compare, name, size):
    K, d, steps = SIZES[size]
    bandit = fastes.LinearBandit.random(K, d)
    learning, knowing = AGENTS[name](noise="learned"), AGENTS[name]()
    compare(
        lambda: fastes.simulate(bandit, learning, T=steps, threads=1, progress=False),
        lambda: fastes.simulate(bandit, knowing, T=steps, threads=1, progress=False),
        work=steps,
        baseline_work=steps,
        rounds=7,
    )
