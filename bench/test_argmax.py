"""A full scan for the best arm, against `argmax(A @ theta)` in NumPy."""

import itertools

import numpy as np
import pytest
from fastes.kernels.actions.arms import Arms
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.jit.decorators import entry
from fastes.kernels.search.scan import scan, workspace

import fastes
from bench.limits import scan_and_update


@entry
def scans(agent, arms, work, n):
    best = -1
    for _ in range(n):
        best = scan(agent, arms, work)[2]
    return best


def elsewhere(arms):
    return Arms(*(part.copy() if isinstance(part, np.ndarray) else part for part in arms))


@pytest.mark.tracked
@pytest.mark.parametrize(("K", "d"), [(30, 5), (1_000, 50), (10_000, 20), (100_000, 20)])
def test_a_scan(compare, K, d):
    bandit, agent = fastes.LinearBandit.random(K, d), greedy(gaussian.layout(d))
    agent.z[:] = theta = np.random.default_rng(1).normal(size=d)
    work, n = workspace(bandit.canonical.arms), min(20_000, max(3, 10_000_000 // (K * d)))
    assert scans(agent, bandit.canonical.arms, work, 1) == np.argmax(bandit.actions @ theta)
    # Where arms lie in memory matters: a few places, in turns.
    places = itertools.cycle(
        [(elsewhere(bandit.canonical.arms), bandit.actions.copy()) for _ in range(4)]
    )

    def in_numpy():
        _, actions = next(places)
        for _ in range(n):
            np.argmax(actions @ theta)

    compare(
        lambda: scans(agent, next(places)[0], work, n),
        in_numpy,
        needs=scan_and_update(K, d)._replace(flops=2 * K * d),
        work=n,
        baseline_work=n,
        rounds=21,
    )
