"""Agents that forget, on every path: checkpoints, batches, delays, live use, every action set."""

import copy
import pickle

import numpy as np
import pytest
import reference
from checkpoints import BANDIT, assert_same, recorded, resumed, some
from engine import lift

import fastes
from fastes import Truth, actions, drift
from fastes.simulation import plan

CLICKS = fastes.LogisticBandit.random(K=12, d=3, prior_cov=9.0, seed=2)
ROWS = np.random.default_rng(3).normal(size=(9, 3))

KEEP = {
    "es by weights": (BANDIT, fastes.EnsembleSampling(7, discount=0.9)),
    "es by plays": (BANDIT, fastes.EnsembleSampling(10**9, discount=0.9)),
    "eager": (BANDIT, fastes.EnsembleSampling(7, engine="eager", discount=0.9)),
    "signs": (BANDIT, fastes.EnsembleSampling(7, perturbations="signs", discount=0.9)),
    "ts": (BANDIT, fastes.ThompsonSampling(discount=0.9)),
    "window": (BANDIT, fastes.ThompsonSampling(window=30)),
    "es++": (BANDIT, fastes.EnsemblePlusPlus(5, discount=0.9)),
    "phe": (BANDIT, fastes.PerturbedHistory(discount=0.9)),
    "linucb": (BANDIT, fastes.LinUCB(discount=0.9)),
    "d-linucb": (BANDIT, fastes.DiscountedLinUCB(discount=0.9)),
    "ids": (BANDIT, fastes.InformationDirectedSampling(70, discount=0.9)),
    "clicks": (CLICKS, fastes.EnsembleSampling(50, discount=0.01)),
    "clicks, ts": (CLICKS, fastes.ThompsonSampling(discount=0.9)),
    "clicks, window": (CLICKS, fastes.ThompsonSampling(window=30, belief="online")),
    "clicks online": (CLICKS, fastes.EnsembleSampling(7, belief="online", discount=0.9)),
}
"""Problems and agents: one for each form in which a state forgets."""

QUICK = ("es by weights", "es by plays", "window", "clicks")


def cases(*quick):
    """Return all of these as parameters, those slow that are not named: their code is compiled."""
    return [
        pytest.param(*pair, id=name, marks=[] if name in quick else pytest.mark.slow)
        for name, pair in KEEP.items()
    ]


@pytest.mark.parametrize(("bandit", "agent"), cases(*QUICK))
def test_any_checkpoint_goes_on_to_the_same_bits(bandit, agent, tmp_path):
    arguments = {"T": 500, "runs": 4, "seed": 5, "delay": 3}
    whole = fastes.simulate(bandit, agent, **arguments)
    watched, copies = recorded(tmp_path, fastes.simulate, bandit, agent, **arguments, threads=2)
    assert_same(watched, whole)
    longer = fastes.simulate(bandit, agent, **{**arguments, "T": 700})
    for i, each in enumerate(some(copies)):
        assert_same(resumed(each, threads=1 + i % 2), whole)
        assert_same(resumed(each, T=700), longer)


@pytest.mark.parametrize(("bandit", "agent"), cases("window", "eager", "signs"))
def test_all_modes_give_the_same_bits(bandit, agent, monkeypatch):
    options = {"T": 90, "runs": 20, "seed": 3}
    alone = fastes.simulate(bandit, agent, **options, threads=2)
    if agent.shared_cost(5) > 0:  # models of its own from the start: never in a batch
        assert plan.modes(agent, 4096, 8, 60) == plan.modes(agent, 5, 2, 60) == ["alone"]
        return
    for mode in ("lockstep", "sequence") if agent.scores == "linear" else ("sequence",):
        monkeypatch.setattr(plan, "modes", lambda *_, mode=mode: ["alone", mode])
        monkeypatch.setattr(plan, "_MANY_RUNS", 1)
        assert_same(fastes.simulate(bandit, agent, **options, threads=1), alone)


def played(live, rewards):
    """Return the arms of so many rewards, each for an act."""
    arms = []
    for reward in rewards:
        arms.append(live.act())
        live.observe(arms[-1], float(reward))
    return arms


@pytest.mark.parametrize(("bandit", "agent"), cases("window"))
def test_a_live_agent_and_its_copies_go_on_to_the_same_bit(bandit, agent, tmp_path):
    rewards = np.random.default_rng(1).integers(0, 2, 240)
    live = agent.start(bandit, seed=4)
    played(live, rewards[:140])
    live.save(tmp_path / "agent.npz")
    others = [copy.copy(live), copy.deepcopy(live), pickle.loads(pickle.dumps(live))]
    others.append(fastes.LiveAgent.load(tmp_path / "agent.npz"))
    arms = played(live, rewards[140:])
    for each in others:
        assert played(each, rewards[140:]) == arms
        for mine, other in zip(live.posterior(), each.posterior(), strict=True):
            np.testing.assert_array_equal(mine, other)


SETS = {
    "redrawn": actions.Redrawn(9, 3),
    "fresh": actions.Fresh(9, 3),
    "subset": actions.Subset(ROWS, 4),
    "given": actions.Given(np.random.default_rng(1).normal(size=(7, 4, 3))),
    "ball": actions.Ball(3),
}
"""Action sets that are not fixed."""


ON_SETS = [
    fastes.EnsembleSampling(7, discount=0.9),
    fastes.ThompsonSampling(window=30),
    fastes.DiscountedLinUCB(discount=0.9),
    fastes.EnsembleSampling(7, "eager", discount=0.9),
]


@pytest.mark.parametrize(
    ("agent", "actions"),
    [
        pytest.param(
            *(agent, each),
            id=f"{agent}-{name}",
            marks=[] if name == "fresh" and agent is ON_SETS[0] else pytest.mark.slow,
        )
        for agent in ON_SETS
        for name, each in SETS.items()
        if name != "ball" or agent.scores == "linear"  # other scores have no best arm of a ball
    ],
)
def test_sets_that_change_go_on_to_the_same_bits(agent, actions, tmp_path):
    # What is known of an arm that left is forgotten too; theta changes, and rewards are late.
    bandit, path = fastes.LinearBandit(actions), tmp_path / "run.ckpt"
    arguments = {"runs": 2, "delay": 3, "truth": Truth(drift=drift.AutoRegressive(0.99))}
    whole = fastes.simulate(bandit, agent, T=120, **arguments)
    fastes.simulate(bandit, agent, T=70, **arguments, checkpoint=path)
    assert_same(fastes.resume(path, T=120), whole)


def hostile_problems():
    """Return problems: the smallest, a singular prior, arms over four decades of length."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(4, 2))
    decades = 10.0 ** rng.uniform(-2, 2, (9, 1))
    yield fastes.LinearBandit([[2.0]], prior_mean=0.3, noise=0.5)
    yield fastes.LinearBandit(ROWS, prior_mean=0.1, prior_cov=np.diag([4.0, 0.0, 1.0]), noise=0.7)
    yield fastes.LinearBandit(rng.normal(size=(9, 4)), prior_cov=root @ root.T)
    yield fastes.LinearBandit(ROWS * decades, prior_cov=2.0)


@pytest.mark.parametrize("discount", [1e-9, 1e-3, 0.9, 1 - 1e-12])
@pytest.mark.parametrize("T", [1, 90])
def test_posteriors_of_hostile_problems_are_the_reference_s(discount, T):
    for bandit in hostile_problems():
        rng = np.random.default_rng(6)
        arms, rewards = rng.integers(0, bandit.K, T), rng.normal(size=T)
        live = fastes.ThompsonSampling(discount=discount).start(bandit, seed=1)
        live.observe(arms, rewards)
        U, mean = lift(bandit), np.zeros(bandit.d) + bandit.prior_mean
        rows, y = bandit.actions[arms] @ U, rewards - bandit.actions[arms] @ mean
        given = rows / bandit.noise, y / bandit.noise, discount, reference.period(discount)
        P, mu = reference.forgetful_posterior(*given)
        found = live.posterior()
        unit = np.abs(U).max()
        np.testing.assert_allclose(
            found.mean, mean + U @ mu, atol=1e-8 * unit * max(1, np.abs(mu).max())
        )
        np.testing.assert_allclose(
            found.covariance, U @ np.linalg.inv(P) @ U.T, atol=1e-9 * unit**2
        )
