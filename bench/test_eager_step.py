"""A step of ensemble sampling that keeps all models, against vectorised NumPy, one thread each."""

import numpy as np
import pytest

import fastes
from bench.measure import Target
from bench.numpy_es import numpy_es

SIZES = [(30, 5, 30), (1_000, 50, 10), (1_000, 50, 100), (1_000, 50, 10_000)]


@pytest.mark.parametrize(("K", "d", "M"), SIZES)
def test_against_numpy(compare, K, d, M):
    bandit = fastes.LinearBandit.random(K, d)
    ours, theirs = max(2_000, 4_000_000 // (K * d)), max(100, 4_000_000 // (K * d + M * d))
    regret, _ = numpy_es(bandit.actions, 1.0, 1.0, M, 200, seed=1)
    agent = fastes.EnsembleSampling(M, engine="eager")
    result = fastes.simulate(bandit, agent, T=200, runs=8, threads=1)
    assert 0.2 < regret / result.regret.mean[-1] < 5

    def subject():
        fastes.simulate(bandit, agent, T=ours, threads=1)

    def baseline():
        numpy_es(bandit.actions, 1.0, 1.0, M, theirs, seed=1)

    compare(subject, baseline, work=ours, baseline_work=theirs, rounds=7)


@pytest.mark.design("2 threads over 1, 32 runs")
def test_two_threads_against_one(compare):
    bandit = fastes.LinearBandit.random(1_000, 50)
    agent = fastes.EnsembleSampling(1_000)
    assert np.array_equal(
        *(fastes.simulate(bandit, agent, T=50, runs=4, threads=n).counts for n in (1, 2))
    )

    def on(threads):
        return lambda: fastes.simulate(bandit, agent, T=500, runs=32, threads=threads)

    compare(on(2), on(1), rounds=5, target=Target(1.8))
