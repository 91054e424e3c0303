"""One probe of an agent's state, against the matrix products that it needs."""

import numpy as np
import pytest
from fastes.kernels.streams.philox import source

import fastes
from bench.limits import Work
from bench.measure import Target
from bench.states import state_after
from fastes.simulation.api import simulate
from fastes.theory.probe import probe

K, D, M, SAMPLES = 1000, 50, 10_000, 4096


@pytest.mark.tracked
@pytest.mark.parametrize("T", [0, 2000])
def test_probe(compare, T):
    bandit, agent = fastes.LinearBandit.random(K, D), fastes.EnsembleSampling(M)
    state, means = state_after(bandit, agent, T), np.zeros(K)
    rng = np.random.default_rng(1)
    models, draws = rng.normal(size=(M, D)), rng.normal(size=(SAMPLES, D))
    actions, square = np.ascontiguousarray(bandit.actions.T), rng.normal(size=(D, D))

    def products():
        """Models from information space, their second moments, their scores; and the draws'."""
        z = models @ square
        _ = z.T @ z
        for rows in (z, draws @ square):
            for first in range(0, len(rows), 1024):
                np.argmax(rows[first : first + 1024] @ actions, axis=1)

    compare(
        lambda: probe(bandit, agent, state, source(1), T, means, SAMPLES),
        products,
        target=Target(1 / 3),
        needs=Work(flops=2 * D * (M * (K + 2 * D) + SAMPLES * (K + D))),
    )


def test_diagnosed_run(compare):
    bandit, agent = fastes.LinearBandit.random(100, 10), fastes.EnsembleSampling(100)
    options = {"T": 2000, "runs": 4, "threads": 1}
    compare(
        lambda: simulate(bandit, agent, **options, diagnostics=[0, 10, 100, 1000]),
        lambda: simulate(bandit, agent, **options),
        rounds=5,
    )
