"""A full scan for the best arm, against `argmax(A @ theta)` in NumPy."""

import numpy as np
import pytest
from fastes.kernels.argmax import scan, workspace
from fastes.kernels.greedy import greedy
from fastes.kernels.jit import entry

import fastes
from bench.limits import Work


@entry
def scans(agent, arms, work, n):
    best = -1
    for _ in range(n):
        best = scan(agent, arms, work)[2]
    return best


@pytest.mark.tracked
@pytest.mark.parametrize(("K", "d"), [(30, 5), (1_000, 50), (10_000, 20), (100_000, 20)])
def test_a_scan(compare, K, d):
    bandit = fastes.LinearBandit.random(K, d)
    arms, agent = bandit.canonical.arms, greedy(d)
    agent.z[:] = theta = np.random.default_rng(1).normal(size=d)
    work, n = workspace(arms), min(20_000, max(3, 20_000_000 // (K * d)))
    assert scans(agent, arms, work, 1) == np.argmax(bandit.actions @ theta)

    def in_numpy():
        for _ in range(n):
            np.argmax(bandit.actions @ theta)

    in_memory = 4 * K * d if K * d > 1_000_000 else 0
    compare(
        lambda: scans(agent, arms, work, n),
        in_numpy,
        needs=Work(flops=2 * K * d, bytes=in_memory),
        work=n,
        baseline_work=n,
        rounds=9,
    )
