"""Ensemble sampling that forgets: over the plain one, and for many models over few."""

import pytest

import fastes
from bench.measure import Target

K, D, M, T = 1_000, 50, 10_000, 20_000


def steps_of(M, discount, T):
    bandit = fastes.LinearBandit.random(K, D)
    agent = fastes.EnsembleSampling(M, discount=discount)
    return lambda: fastes.simulate(bandit, agent, T=T, threads=1)


@pytest.mark.tracked
@pytest.mark.design("plain ES over discounted ES, K=1,000 d=50 M=10,000")
def test_plain(compare, quick):
    steps = T // 10 if quick else T
    compare(
        steps_of(M, 0.999, steps),
        steps_of(M, 1.0, steps),
        work=steps,
        baseline_work=steps,
        rounds=9,
        target=Target(1 / 1.6),
    )


@pytest.mark.tracked
@pytest.mark.design("discounted ES, M=100 over M=1,000,000")
def test_few_models(compare, quick):
    steps = T // 10 if quick else T
    compare(
        steps_of(1_000_000, 0.999, steps),
        steps_of(100, 0.999, steps),
        work=steps,
        baseline_work=steps,
        rounds=9,
        target=Target(1 / 1.1),
    )
