"""The rank-one update of the posterior, against Sherman and Morrison's formula in NumPy."""

import numpy as np
import pytest
from fastes.kernels.actions.arms import load_arm
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.agents.interface import learn
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.jit.decorators import entry
from fastes.kernels.streams.philox import source

import fastes
from bench.limits import Work

STEPS = 2_000


@entry
def learn_all(agent, arms, row, origin, played, rewards):
    for t in range(len(played)):
        offset = load_arm(arms, played[t], row)
        learn(agent, row, offset, played[t], rewards[t], origin, t)


def in_numpy(rows, rewards):
    r = rows.shape[1]
    mean, covariance = np.zeros(r), np.eye(r)
    for b, y in zip(rows, rewards, strict=True):
        spread = covariance @ b
        gain = spread / (1.0 + b @ spread)
        mean += gain * (y - b @ mean)
        covariance -= np.outer(gain, spread)
    return mean


@pytest.mark.tracked
@pytest.mark.parametrize("r", [5, 20, 50, 200])
def test_an_update(compare, r):
    bandit = fastes.LinearBandit.random(400, r)
    rng = np.random.default_rng(1)
    played, rewards = rng.integers(0, 400, STEPS), rng.normal(size=STEPS)
    rows, arms = bandit.actions[played], bandit.canonical.arms
    agent, row = greedy(gaussian.layout(r)), np.empty(r)
    learn_all(agent, arms, row, source(1), played, rewards)
    np.testing.assert_allclose(agent.belief.mu, in_numpy(rows, rewards), rtol=1e-6, atol=1e-9)
    compare(
        lambda: learn_all(greedy(gaussian.layout(r)), arms, row, source(1), played, rewards),
        lambda: in_numpy(rows, rewards),
        needs=Work(flops=4 * r * r),
        work=STEPS,
        baseline_work=STEPS,
        rounds=9,
    )
