"""Many runs that share the arms, a run-step, against NumPy looping over runs; one thread each."""

import pytest

import fastes
from bench.measure import Target
from bench.numpy_es import numpy_es
from bench.numpy_ts import numpy_ts
from fastes.simulation.plan import runs_in_lockstep


@pytest.mark.slow
@pytest.mark.design("32 runs together, K=1,000, d=50, M=10,000")
def test_32_runs_of_10_000_models(compare, quick):
    bandit, T = fastes.LinearBandit.random(1_000, 50), 200 if quick else 2_000
    agent = fastes.EnsembleSampling(10_000)
    assert runs_in_lockstep(agent, bandit.K, bandit.rank, T)
    compare(
        lambda: fastes.simulate(bandit, agent, T=T, runs=32, threads=1),
        lambda: numpy_es(bandit.actions, 1.0, 1.0, 10_000, 100, seed=1),
        work=32 * T,
        baseline_work=100,
        rounds=7,
        target=Target(120.0),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.design(f"1,000 runs, K=10,000, d=100, {name}"))
        for name in ("es", "ts")
    ],
)
def test_1_000_runs_in_100_dimensions(compare, quick, name):
    bandit = fastes.LinearBandit.random(10_000, 100)
    runs, T, steps = (8, 50, 500) if quick else (1_000, 2_000, 3_000)
    agent = fastes.EnsembleSampling(1_000) if name == "es" else fastes.ThompsonSampling()

    def in_numpy():
        if name == "es":
            numpy_es(bandit.actions, 1.0, 1.0, 1_000, steps, seed=1)
        else:
            numpy_ts(bandit.actions, 1.0, 1.0, steps, seed=1)

    fastes.simulate(bandit, agent, T=5, runs=8, threads=1)
    compare(
        lambda: fastes.simulate(bandit, agent, T=T, runs=runs, threads=1),
        in_numpy,
        work=runs * T,
        baseline_work=steps,
        rounds=2,
        warm_up=False,
        target=Target(8.0),
    )
