"""A step of ensemble sampling that keeps all models, against NumPy that does; one thread each."""

import numpy as np
import pytest

import fastes
from bench.baselines import numpy_es
from bench.measure import Target

SIZES = [(30, 5, 30), (1_000, 50, 10), (1_000, 50, 100), (1_000, 50, 10_000)]


@pytest.mark.parametrize(("K", "d", "M"), SIZES)
def test_numpy(compare, K, d, M):
    bandit = fastes.LinearBandit.random(K, d)
    ours, theirs = max(2_000, 4_000_000 // (K * d)), max(300, 4_000_000 // (K * d + M * d))
    agent = fastes.EnsembleSampling(M, engine="eager")
    compare(
        lambda: fastes.simulate(bandit, agent, T=ours, threads=1),
        [
            lambda: numpy_es.in_place(bandit.actions, M, theirs, seed=1),
            lambda: numpy_es.in_blocks(bandit.actions, M, theirs, seed=1),
        ],
        work=ours,
        baseline_work=theirs,
        rounds=7,
    )


def test_two_threads(compare):
    bandit = fastes.LinearBandit.random(1_000, 50)
    agent = fastes.EnsembleSampling(1_000)
    assert np.array_equal(
        *(fastes.simulate(bandit, agent, T=50, runs=4, threads=n).counts for n in (1, 2))
    )

    def on(threads):
        return lambda: fastes.simulate(bandit, agent, T=500, runs=32, threads=threads)

    compare(on(2), on(1), rounds=5, target=Target(1.8))
