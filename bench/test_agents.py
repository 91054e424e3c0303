"""A step of each agent at K=1,000, d=50, against the same agent in vectorised NumPy."""

import numpy as np
import pytest

import fastes
from bench.limits import scan_and_update
from bench.numpy_es import numpy_es
from bench.numpy_index import numpy_index
from bench.numpy_ts import numpy_ts

K, D, STEPS = 1_000, 50, 5_000
ACTIONS = fastes.LinearBandit.random(K, D).actions
AGENTS = {
    "es": (fastes.EnsembleSampling(100), lambda T: numpy_es(ACTIONS, 1.0, 1.0, 100, T, 1)[0]),
    "ts": (fastes.ThompsonSampling(), lambda T: numpy_ts(ACTIONS, 1.0, 1.0, T, 1)),
    "greedy": (fastes.Greedy(), lambda T: numpy_index(ACTIONS, 0.0, T, 1)),
    "linucb": (fastes.LinUCB(1.0), lambda T: numpy_index(ACTIONS, 1.0, T, 1)),
}


@pytest.mark.tracked
@pytest.mark.parametrize("name", AGENTS)
def test_a_step(compare, name):
    agent, in_numpy = AGENTS[name]
    bandit = fastes.LinearBandit(ACTIONS)
    ours = fastes.simulate(bandit, agent, T=300, runs=20, threads=1).regret.final
    assert 0.3 < np.mean([in_numpy(300)]) / ours.mean() < 3
    compare(
        lambda: fastes.simulate(bandit, agent, T=STEPS, threads=1),
        lambda: in_numpy(500),
        needs=scan_and_update(K, D),
        work=STEPS,
        baseline_work=500,
        rounds=7,
    )
