"""Many runs that share the arms, a run-step, against batched NumPy; one thread each."""

import pytest

import fastes
from bench.baselines import numpy_batch
from bench.measure import Target
from fastes.simulation.plan import runs_in_lockstep

K, D, M, RUNS = 10_000, 100, 1_000, 32


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        pytest.param(
            *(name, least),
            id=name,
            marks=pytest.mark.design(f"{name.upper()} to NumPy, 32 runs K=10,000 d=100"),
        )
        for name, least in (("es", 4.0), ("ts", 2.0))
    ],
)
def test_32_runs(compare, quick, name, least):
    bandit, T = fastes.LinearBandit.random(K, D), 100 if quick else 500
    agent = fastes.EnsembleSampling(M) if name == "es" else fastes.ThompsonSampling()
    assert runs_in_lockstep(agent, K, bandit.rank, T)

    def in_numpy():
        if name == "es":
            numpy_batch.ensemble_sampling(bandit.actions, M, T, RUNS, seed=1)
        else:
            numpy_batch.thompson_sampling(bandit.actions, T, RUNS, seed=1)

    compare(
        lambda: fastes.simulate(bandit, agent, T=T, runs=RUNS, threads=1),
        in_numpy,
        work=RUNS * T,
        baseline_work=RUNS * T,
        rounds=7,
        target=Target(least),
    )
