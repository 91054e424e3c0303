"""A step on action sets that change, against NumPy that updates all models in place."""

import numpy as np
import pytest

import fastes
from bench.baselines import numpy_offers
from bench.measure import Target
from fastes.actions import Ball, Fresh, Offered, Subset

D, M = 20, 10_000
POOL = 100_000


def pool():
    return fastes.LinearBandit.random(POOL, D).actions


CASES = {
    "ball": (40.0, lambda: Ball(D), lambda T: numpy_offers.play_ball(D, M, T, 1)),
    "subset": (
        25.0,
        lambda: Subset(pool(), 100),
        lambda T: numpy_offers.play_offers(numpy_offers.subset(pool(), 100), D, M, T, 1),
    ),
    "fresh": (
        20.0,
        lambda: Fresh(100, D),
        lambda T: numpy_offers.play_offers(numpy_offers.fresh(100, D), D, M, T, 1),
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.design(f"ES to NumPy, {name} d=20")) for name in CASES],
)
def test_es_to_numpy(compare, quick, name):
    least, actions, baseline = CASES[name]
    bandit, T = fastes.LinearBandit(actions()), 20_000
    steps = 200 if quick else 1_000
    compare(
        lambda: fastes.simulate(bandit, fastes.EnsembleSampling(M), T=T, threads=1),
        lambda: baseline(steps),
        work=T,
        baseline_work=steps,
        rounds=7,
        target=Target(least),
    )


@pytest.mark.parametrize("name", ["fresh", "ball"])
def test_a_million_models_over_a_hundred(compare, name):
    bandit, T = fastes.LinearBandit(CASES[name][1]()), 50_000

    def steps(models):
        return lambda: fastes.simulate(bandit, fastes.EnsembleSampling(models), T=T, threads=1)

    compare(steps(1_000_000), steps(100), work=T, baseline_work=T, target=Target(1 / 1.6))


def test_a_live_call_to_a_product(compare):
    rows = np.random.default_rng(1).normal(size=(100, D))
    agent = fastes.EnsembleSampling(M).start(fastes.LinearBandit(Offered(D)), seed=1)
    model, calls = np.ones(D), 200

    def live():
        for _ in range(calls):
            agent.observe(rows[agent.act(rows)], 0.1)

    def products():
        for _ in range(calls):
            rows @ model

    compare(live, products, work=calls, baseline_work=calls, target=Target(1 / 10))
