"""Logistic ensemble sampling by perturbed modes, against NumPy and JAX that solve two a step.

And its step for a million models over that for a hundred; and agents whose belief is online over
the same agents on a linear bandit.
"""

import glm_runs
import numpy as np
import pytest

import fastes
from bench import peers
from bench.baselines import jax_glm, numpy_glm
from bench.measure import Target

SIZES = {  # K, d, M, steps, steps of the baseline, and how many times as fast
    "K=30, d=5, M=30": (30, 5, 30, 10_000, 1_000, 50.0),
    "K=100, d=10, M=1,000": (100, 10, 1_000, 5_000, 1_000, 20.0),
    "K=1,000, d=20, M=10,000": (1_000, 20, 10_000, 2_000, 400, 15.0),
}


def arms(K, d):
    rows = np.random.default_rng(3).standard_normal((K, d))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def steps_of(rows, M, T):
    z = np.random.default_rng(4).standard_normal(rows.shape[1])

    def make(K, belief, origin, steps):
        return glm_runs.ensemble(M, K, belief, origin, steps)

    def call():
        assert glm_runs.start(rows, z, make, T, 1).advance(0, T) == T

    return call


CASES = [pytest.param(s, marks=pytest.mark.design(f"logistic ES to NumPy, {s}")) for s in SIZES]


@pytest.mark.parametrize("size", CASES)
def test_step(compare, size):
    # Both play from the first step to the last: the number of distinct arms grows on the way, so
    # that the baseline, which plays fewer steps, has fewer of them.
    K, d, M, steps, theirs, least = SIZES[size]
    rows = arms(K, d)
    compare(
        steps_of(rows, M, steps),
        lambda: numpy_glm.perturbed_modes(rows, M, theirs, 1),
        target=Target(least),
        work=steps,
        baseline_work=theirs,
        rounds=7,
    )


@pytest.mark.design("logistic ES, M=1,000,000 over M=100")
def test_few_models(compare):
    rows, steps = arms(1_000, 20), 5_000
    compare(
        steps_of(rows, 1_000_000, steps),
        steps_of(rows, 100, steps),
        target=Target(1 / 1.3),
        work=steps,
        baseline_work=steps,
        rounds=7,
    )


@pytest.mark.parametrize(
    ("K", "d", "M", "T"), [(30, 5, 30, 1_000), (100, 10, 1_000, 300)], ids=list(SIZES)[:2]
)
def test_jax(compare, available, quick, K, d, M, T):
    # 32 runs on one thread, which JAX puts side by side.
    rows, runs = arms(K, d), 32
    bandit, steps = fastes.LogisticBandit(rows), T // 10 if quick else T
    available(lambda: jax_glm.perturbed_modes(rows, M, steps, runs, 1))
    compare(
        lambda: fastes.simulate(bandit, fastes.EnsembleSampling(M), T, runs, threads=1),
        lambda: jax_glm.perturbed_modes(rows, M, steps, runs, 1),
        work=T * runs,
        baseline_work=steps * runs,
        rounds=5,
    )


def live_steps(choose, learn, rows, T):
    rng = np.random.default_rng(5)
    rates = 1 / (1 + np.exp(-rows @ rng.standard_normal(rows.shape[1])))

    def call():
        for _ in range(T):
            arm = int(choose())
            learn(arm, float(rng.random() < rates[arm]))

    return call


def test_live(compare):
    # Act and observe, against the generalised linear model of bayesianbandits.
    pytest.importorskip("bayesianbandits")
    rows = arms(100, 10)
    agent = fastes.ThompsonSampling().start(fastes.LogisticBandit(rows))
    compare(
        live_steps(agent.act, agent.observe, rows, 500),
        live_steps(*peers.bayesianbandits(rows, 1, clicks=True), rows, 50),
        work=500,
        baseline_work=50,
        rounds=5,
    )


ONLINE = {  # an agent, and its name
    "es": lambda **belief: fastes.EnsembleSampling(1_000, **belief),
    "ts": lambda **belief: fastes.ThompsonSampling(**belief),
}
ON_OFFER = {"K=100, d=10": lambda: arms(100, 10), "Fresh": lambda: fastes.actions.Fresh(100, 10)}


@pytest.mark.parametrize("actions", ON_OFFER)
@pytest.mark.parametrize(
    "agent",
    [pytest.param(a, marks=pytest.mark.design(f"online logistic {a} over linear")) for a in ONLINE],
)
def test_online(compare, agent, actions):
    T, made = 20_000, ON_OFFER[actions]()
    logistic, linear = fastes.LogisticBandit(made), fastes.LinearBandit(made)
    compare(
        lambda: fastes.simulate(logistic, ONLINE[agent](belief="online"), T, threads=1),
        lambda: fastes.simulate(linear, ONLINE[agent](), T, threads=1),
        target=Target(1 / 1.5),
        work=T,
        baseline_work=T,
        rounds=9,
    )
