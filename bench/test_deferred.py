"""The deferred engine, whose step costs the same for any M, and the live agent."""

import os

import pytest

import fastes
from bench.measure import Target
from bench.numpy_es import numpy_es

STEPS = 20_000


def steps_of(bandit, agent, T=STEPS):
    return lambda: fastes.simulate(bandit, agent, T=T, threads=1)


@pytest.fixture(scope="module")
def bandit():
    return fastes.LinearBandit.random(1_000, 50)


@pytest.mark.parametrize(
    "M",
    [
        10,
        10_000,
        pytest.param(
            1_000_000, marks=pytest.mark.design("a step at M=1,000,000 over M=100 (K=1,000, d=50)")
        ),
    ],
)
def test_against_a_hundred_models(compare, bandit, M):
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M)),
        steps_of(bandit, fastes.EnsembleSampling(100)),
        work=STEPS,
        baseline_work=STEPS,
        rounds=5,
        target=Target(1 / 1.25),
    )


@pytest.mark.parametrize("M", [100, 10_000])
def test_against_the_eager_engine(compare, bandit, M):
    eager = max(200, 2_000_000 // M)
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M)),
        steps_of(bandit, fastes.EnsembleSampling(M, engine="eager"), eager),
        work=STEPS,
        baseline_work=eager,
        rounds=5,
    )


@pytest.mark.tracked
@pytest.mark.parametrize(
    ("M", "least"),
    [
        pytest.param(M, least, marks=pytest.mark.design(f"one run, K=1,000, d=50, M={M:,}"))
        for M, least in ((10, 4.0), (100, 4.0), (10_000, 80.0))
    ],
)
def test_against_numpy(compare, bandit, M, least):
    theirs = max(300, 2_000_000 // (M + 1_000))
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M)),
        lambda: numpy_es(bandit.actions, 1.0, 1.0, M, theirs, seed=1),
        work=STEPS,
        baseline_work=theirs,
        rounds=7,
        target=Target(least),
    )


@pytest.mark.tracked
@pytest.mark.parametrize(
    "M",
    [
        pytest.param(30, marks=pytest.mark.design("K=30, d=5, M=30")),
        pytest.param(10_000, marks=pytest.mark.design("K=30, d=5, M=10,000")),
    ],
)
def test_small_sizes_against_numpy(compare, M):
    small, T = fastes.LinearBandit.random(30, 5), 100_000
    theirs = 2_000 if M < 1_000 else 300
    compare(
        steps_of(small, fastes.EnsembleSampling(M), T),
        lambda: numpy_es(small.actions, 1.0, 1.0, M, theirs, seed=1),
        work=T,
        baseline_work=theirs,
        rounds=7,
        target=Target(40.0, most_seconds=1e-6),
    )


@pytest.mark.parametrize(
    "M",
    [
        pytest.param(M, marks=pytest.mark.design(f"a step of ES over TS, M={M:,}"))
        for M in (100, 10_000, 1_000_000)
    ],
)
def test_thompson_sampling_against_it(compare, bandit, M):
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M)),
        steps_of(bandit, fastes.ThompsonSampling()),
        work=STEPS,
        baseline_work=STEPS,
        rounds=7,
        target=Target(1 / 1.1),
    )


def test_a_live_agent_against_one_matrix_vector_product(compare):
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
