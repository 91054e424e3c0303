"""Calls of live agents: one at a time, for many users, and rewards from a log."""

import numpy as np
import pytest

import fastes
from bench.measure import Target
from fastes.actions import Offered

CALLS, LOGGED, USERS = 500, 100_000, 200


@pytest.mark.design("act and observe, K=100 d=10")
def test_act_and_observe(compare):
    bandit = fastes.LinearBandit.random(100, 10)
    live, model = fastes.ThompsonSampling().start(bandit, seed=1), np.ones(10)

    def serve():
        for _ in range(CALLS):
            live.observe(live.act(), 0.1)

    def products():
        for _ in range(CALLS):
            bandit.actions @ model

    compare(serve, products, work=CALLS, baseline_work=CALLS, target=Target(most_seconds=5e-6))


@pytest.mark.design("act and observe, 100 rows offered, d=20")
def test_act_and_observe_rows(compare):
    rows, model = np.random.default_rng(1).normal(size=(100, 20)), np.ones(20)
    live = fastes.EnsembleSampling(10_000).start(fastes.LinearBandit(Offered(20)), seed=1)

    def serve():
        for _ in range(CALLS):
            live.observe(rows[live.act(rows)], 0.1)

    def products():
        for _ in range(CALLS):
            rows @ model

    compare(serve, products, work=CALLS, baseline_work=CALLS, target=Target(most_seconds=8e-6))


@pytest.mark.parametrize("name", ["ts", "es", "greedy"])
@pytest.mark.design("a reward of a log, d=10")
def test_rewards_of_a_log(compare, quick, name):
    """Against one product of the rows, which a posterior of all of them needs at least."""
    agent = {
        "ts": fastes.ThompsonSampling(),
        "es": fastes.EnsembleSampling(10_000),
        "greedy": fastes.Greedy(),
    }[name]
    n, rng = LOGGED // 10 if quick else LOGGED, np.random.default_rng(1)
    rows, rewards = rng.normal(size=(n, 10)), rng.normal(size=n)
    live = agent.start(fastes.LinearBandit(Offered(10)), seed=1)
    compare(
        lambda: live.observe(rows, rewards),
        lambda: rows.T @ rows,
        work=n,
        baseline_work=n,
        target=Target(most_seconds=1e-6),
        rounds=7,
    )


def test_many_users_to_separate_calls(compare):
    offers = np.random.default_rng(1).normal(size=(USERS, 20, 10))
    live = fastes.EnsembleSampling(100).start(fastes.LinearBandit(Offered(10)), seed=1)

    def separate():
        for rows in offers:
            live.act(rows)

    compare(
        lambda: live.act_many(offers),
        separate,
        work=USERS,
        baseline_work=USERS,
        target=Target(least_ratio=2.0),
    )
