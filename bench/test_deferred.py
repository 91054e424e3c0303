"""The deferred engine, whose step costs the same for any M, and the live agent."""

import os

import pytest

import fastes
from bench.measure import Target

STEPS = 20_000


def steps_of(bandit, agent, T=STEPS):
    return lambda: fastes.simulate(bandit, agent, T=T, threads=1)


@pytest.fixture(scope="module")
def bandit():
    return fastes.LinearBandit.random(1_000, 50)


@pytest.mark.parametrize(
    "M",
    [10, 10_000, pytest.param(1_000_000, marks=pytest.mark.design("M=1,000,000 over M=100"))],
)
def test_few_models(compare, bandit, M):
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M)),
        steps_of(bandit, fastes.EnsembleSampling(100)),
        work=STEPS,
        baseline_work=STEPS,
        rounds=5,
        target=Target(1 / 1.25),
    )


@pytest.mark.parametrize("M", [100, 10_000])
def test_eager_engine(compare, bandit, M):
    eager = max(200, 2_000_000 // M)
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M)),
        steps_of(bandit, fastes.EnsembleSampling(M, engine="eager"), eager),
        work=STEPS,
        baseline_work=eager,
        rounds=5,
    )


def test_live_agent_against_a_product(compare):
    bandit = fastes.LinearBandit.random(1_000, 20)
    live = fastes.EnsembleSampling(10_000).start(bandit, seed=1)
    actions, vector, calls = bandit.actions, bandit.actions[0].copy(), 500
    for _ in range(2_000):
        live.observe(live.act(), 0.1)

    def serve():
        for _ in range(calls):
            live.observe(live.act(), 0.1)

    def multiply():
        for _ in range(calls):
            actions @ vector

    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    compare(
        serve,
        multiply,
        work=calls,
        baseline_work=calls,
        target=Target(1 / 8),
    )
