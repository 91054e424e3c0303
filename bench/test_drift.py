"""A step of a world whose theta moves at every step, against NumPy."""

import math

import numpy as np
import pytest

import fastes
from bench.measure import Target

RHO = 0.999
SIZES = {"K=100, d=10": (100, 10, 50_000, 5_000), "K=1,000, d=50": (1_000, 50, 10_000, 2_000)}


def in_numpy(rows, T):
    """Return a function that plays random arms and computes all mean rewards at every step."""

    def call():
        rng = np.random.default_rng(1)
        K, d = rows.shape
        normals, arms, noise = rng.normal(size=(T, d)), rng.integers(K, size=T), rng.normal(size=T)
        theta, scale, regret, rewards = rng.normal(size=d), math.sqrt(1 - RHO**2), 0.0, np.empty(T)
        for t in range(T):
            means = rows @ theta
            rewards[t] = means[arms[t]] + noise[t]
            regret += means.max() - means[arms[t]]
            theta = RHO * theta + scale * normals[t]
        return regret

    return call


@pytest.mark.parametrize("size", SIZES)
def test_autoregressive_step(compare, size):
    K, d, steps, theirs = SIZES[size]
    bandit = fastes.LinearBandit.random(K, d)
    truth = fastes.Truth(drift=fastes.drift.AutoRegressive(RHO))
    compare(
        lambda: fastes.simulate(bandit, fastes.UniformRandom(), steps, truth=truth, threads=1),
        in_numpy(bandit.actions, theirs),
        target=Target(1.0),
        work=steps,
        baseline_work=theirs,
    )
