"""Slates, choices for many users, and the probabilities of choices."""

import math
from itertools import permutations

import numpy as np
import pytest
import reference
from bandits import BANDITS
from scipy import stats

import fastes
from fastes.actions import Ball, Offered
from fastes.agents.live_law import ArmProbabilities, chosen_with

BANDIT = BANDITS["full"]
OFFERED = fastes.LinearBandit(Offered(3), prior_mean=[0.1, 0.0, -0.2], prior_cov=[1.0, 2.0, 0.5])
RNG = np.random.default_rng(8)
# One of each: a model, a score, now and then at random, always at random.
AGENTS = [
    fastes.EnsembleSampling(20),
    fastes.LinUCB(0.5),
    fastes.EpsilonGreedy(0.5),
    fastes.UniformRandom(),
]
OFFERS = [RNG.normal(size=(n, 3)) for n in (1, 5, 64, 3, 130, 65)]


def started(agent, bandit, n):
    """Return n equal live agents that have learned something."""
    lives = [agent.start(bandit, seed=6) for _ in range(n)]
    for live in lives:
        arms = np.eye(3) if bandit is OFFERED else [3, 1, 2]
        live.observe(arms, [0.5, -0.2, 0.1])
    return lives


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("k", [1, 4, 70])
def test_a_slate_begins_with_the_arm_that_act_returns(agent, k):
    live, other = started(agent, BANDIT, 2)
    slates = [live.act(k=k) for _ in range(12)]
    assert [slate[0] for slate in slates] == [other.act() for _ in range(12)]
    assert all(len(set(slate.tolist())) == k for slate in slates)
    assert all(0 <= slate.min() and slate.max() < BANDIT.K for slate in slates)
    assert (live.acts, live.observations) == (12, 3)
    live.observe(slates[0], np.zeros(k))  # item by item
    assert live.observations == 3 + k


@pytest.mark.parametrize("name", ["full", "more than a tile", "fewer arms than dimensions"])
def test_a_slate_is_the_best_arms_of_one_model_best_first(name):
    bandit = BANDITS[name]
    agent = fastes.Greedy().start(bandit, seed=1)
    agent.observe(np.arange(bandit.K), np.random.default_rng(2).normal(size=bandit.K))
    scores = bandit.actions @ agent.posterior().mean
    for k in (1, 2, bandit.K // 2 or 1, bandit.K):
        assert agent.act(k=k).tolist() == reference.slate(scores, k)


def test_a_slate_of_one_model_of_an_ensemble():
    (live,) = started(fastes.EnsembleSampling(20, engine="eager"), BANDIT, 1)
    slates = {tuple(reference.slate(BANDIT.actions @ model, 5)) for model in live.ensemble()}
    assert {tuple(live.act(k=5).tolist()) for _ in range(40)} <= slates


def test_a_slate_of_rows_and_of_available_arms():
    (live,) = started(fastes.Greedy(), OFFERED, 1)
    for rows in OFFERS:
        scores = rows @ live.posterior().mean
        assert live.act(rows, k=len(rows)).tolist() == reference.slate(scores, len(rows))
    (live,) = started(fastes.Greedy(), BANDIT, 1)
    available = np.array([7, 50, 3, 21])
    scores = BANDIT.actions[available] @ live.posterior().mean
    slate = live.act(available=available, k=3)
    assert slate.tolist() == available[reference.slate(scores, 3)].tolist()


@pytest.mark.parametrize(
    "agent", [fastes.UniformRandom(), fastes.EpsilonGreedy(1.0), fastes.Greedy()], ids=str
)
def test_every_order_of_tied_arms_is_as_likely(agent):
    live = agent.start(fastes.LinearBandit(np.ones((4, 1))), seed=3)  # greedy: all arms tie
    found = [tuple(live.act(k=2).tolist()) for _ in range(2400)]
    counts = [found.count(order) for order in permutations(range(4), 2)]
    assert sum(counts) == 2400
    assert stats.chisquare(counts).pvalue > 1e-4  # error rate 1e-4 for each agent


def test_growth_in_the_middle_of_slates_and_of_many_choices(monkeypatch):
    agent, bandit = fastes.EnsembleSampling(10**6), BANDIT
    slates, many, single = (agent.start(bandit, seed=4) for _ in range(3))
    arms = [single.act() for _ in range(600)]  # more models than the first arrays hold
    assert many.act_many(600).tolist() == arms
    assert [int(slates.act(k=2)[0]) for _ in range(600)] == arms


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_many_choices_are_those_of_separate_calls(agent):
    one_by_one, together, cube = started(agent, OFFERED, 3)
    arms = [one_by_one.act(rows) for rows in OFFERS]
    assert together.act_many(OFFERS).tolist() == arms
    alike = RNG.normal(size=(5, 7, 3))
    arms = [one_by_one.act(rows) for rows in alike]
    assert together.act_many(list(alike)).tolist() == arms
    cube.act_many(OFFERS)
    assert cube.act_many(alike).tolist() == arms
    assert cube.acts == together.acts == one_by_one.acts == 11
    one_by_one, together = started(agent, BANDIT, 2)
    assert together.act_many(9).tolist() == [one_by_one.act() for _ in range(9)]
    assert together.act_many(0).tolist() == []


def test_a_search_with_snapshots_serves_many_choices():
    bandit = fastes.LinearBandit.random(K=5000, d=3)
    one_by_one, together = (fastes.EnsembleSampling(20).start(bandit, seed=2) for _ in range(2))
    for _ in range(3):
        arms = [one_by_one.act() for _ in range(120)]
        assert together.act_many(120).tolist() == arms
        for each in (one_by_one, together):
            each.observe(arms, np.zeros(120))


def test_the_law_of_thompson_sampling_on_two_arms():
    bandit = fastes.LinearBandit(np.eye(2))
    live = fastes.ThompsonSampling().start(bandit, seed=1)
    live.observe([0, 0, 1], [1.0, 0.4, 0.3])
    mean, cov = live.posterior()
    exact = stats.norm.cdf((mean[0] - mean[1]) / math.sqrt(cov[0, 0] + cov[1, 1]))
    law = live.action_law()
    assert law.draws == 8192
    # z test, level 1e-5.
    assert abs(law.probability[0] - exact) < 4.4 * law.standard_error[0]
    assert law.standard_error[0] == pytest.approx(math.sqrt(exact * (1 - exact) / 8192), rel=0.1)
    frequency = np.bincount(live.act_many(4000), minlength=2) / 4000
    assert abs(frequency[0] - exact) < 4.4 * math.sqrt(exact * (1 - exact) / 4000)


@pytest.mark.parametrize(("engine", "M"), [("eager", 20), ("deferred", 20)])
def test_the_law_of_an_ensemble_is_the_share_of_its_models(engine, M):
    (live,) = started(fastes.EnsembleSampling(M, engine), BANDIT, 1)
    law = live.action_law()
    if engine == "eager":
        best = (live.ensemble() @ BANDIT.actions.T).argmax(axis=1)
        np.testing.assert_allclose(law.probability, np.bincount(best, minlength=70) / M)
        assert law.draws is None
        assert not law.standard_error.any()
        return
    # Of many agents in the same state, the choices have this law: chi-squared, level 1e-4.
    assert law.draws == 64 * M
    arms = []
    for seed in range(400):
        other = fastes.EnsembleSampling(M).start(BANDIT, seed=seed)
        other.observe([3, 1, 2], [0.5, -0.2, 0.1])
        arms.append(other.act())
    likely = law.probability > 0.03
    expected = np.append(law.probability[likely], law.probability[~likely].sum()) * 400
    counts = np.bincount(arms, minlength=70)
    found = np.append(counts[likely], counts[~likely].sum())
    assert stats.chisquare(found, expected).pvalue > 1e-4


def test_laws_that_are_exact():
    (live,) = started(fastes.EpsilonGreedy(0.2), OFFERED, 1)
    rows = OFFERS[1]
    expected = np.full(5, 0.04)
    expected[(rows @ live.posterior().mean).argmax()] += 0.8
    law = live.action_law(rows)
    np.testing.assert_allclose(law.probability, expected)
    assert law.draws is None
    assert not law.standard_error.any()
    (live,) = started(fastes.LinUCB(0.5), BANDIT, 1)
    law = live.action_law(available=[3, 5, 8])
    assert law.probability.shape == (3,)
    chosen = live.act(available=[3, 5, 8], probability=True)
    assert chosen == ([3, 5, 8][law.probability.argmax()], 1.0, 0.0, None)


def test_rows_on_offer_have_the_law_of_the_same_fixed_arms():
    rows = RNG.normal(size=(70, 3))
    for agent in (fastes.ThompsonSampling(), fastes.EnsembleSampling(20)):
        on_offer = agent.start(fastes.LinearBandit(Offered(3)), seed=2)
        on_offer.observe(rows[:3], [0.5, -0.2, 0.1])
        fixed = fastes.ThompsonSampling().start(fastes.LinearBandit(rows), seed=2)
        fixed.observe([0, 1, 2], [0.5, -0.2, 0.1])
        gap = on_offer.action_law(rows).probability - fixed.action_law().probability
        # Two samples, of which the smaller has 20 independent models in each of 64 replicates.
        assert np.abs(gap).max() < 4.4 * math.sqrt(0.25 * (1 / 1280 + 1 / 8192))


@pytest.mark.parametrize("agent", [*AGENTS, fastes.InformationDirectedSampling(70)], ids=str)
def test_asking_for_probabilities_changes_nothing(agent):
    asked, plain = started(agent, BANDIT, 2)
    for t in range(6):
        law = asked.action_law()
        assert law.probability.sum() == pytest.approx(1.0)
        chosen = asked.act(probability=True)
        assert chosen.arm == plain.act()
        assert chosen == chosen_with(law, chosen.arm, chosen.arm)
        assert 0.0 < chosen.probability <= 1.0
        for each in (asked, plain):
            each.observe(chosen.arm, 0.1 * t)


def test_the_inverse_of_an_estimated_probability_is_right_on_average():
    n, p = 20, 0.2
    counts = np.arange(n + 1)
    chosen = [
        chosen_with(ArmProbabilities(np.array([c / n]), np.zeros(1), n), 0, 0) for c in counts
    ]
    inverse = np.array([1.0 / each.probability for each in chosen])
    mean = stats.binom.pmf(counts, n, p) @ inverse
    assert mean == pytest.approx((1.0 - (1.0 - p) ** (n + 1)) / p)


@pytest.mark.parametrize(
    ("bandit", "agent", "call", "message"),
    [
        (BANDIT, fastes.Greedy(), lambda a: a.act(k=0), "k must be an integer from 1 to 70, got 0"),
        (BANDIT, fastes.Greedy(), lambda a: a.act(k=71), "k must be an integer from 1 to 70"),
        (BANDIT, fastes.Greedy(), lambda a: a.act(k=2.5), "k must be an integer from 1 to 70"),
        (BANDIT, fastes.Greedy(), lambda a: a.act(k=2, probability=True), "leave out k"),
        (BANDIT, fastes.Greedy(), lambda a: a.act(available=[1, 2], k=3), "from 1 to 2, got 3"),
        (
            BANDIT,
            fastes.InformationDirectedSampling(70),
            lambda a: a.act(k=2),
            "k arms cannot be chosen: V-IDS.* gives single arms no score",
        ),
        (
            fastes.LinearBandit(Ball(3)),
            fastes.Greedy(),
            lambda a: a.act(k=2),
            "k arms cannot be chosen: arms are the ball",
        ),
        (
            fastes.LinearBandit(Ball(3)),
            fastes.Greedy(),
            lambda a: a.act(probability=True),
            "each arm of a ball has probability 0",
        ),
        (
            fastes.LinearBandit(Ball(3)),
            fastes.Greedy(),
            lambda a: a.act_many(3),
            "act_many.. needs arms with numbers, but actions are the ball",
        ),
        (BANDIT, fastes.Greedy(), lambda a: a.act_many(OFFERS), "offers must be an integer"),
        (OFFERED, fastes.Greedy(), lambda a: a.act_many(3), "offers must be a sequence of arms"),
        (
            OFFERED,
            fastes.Greedy(),
            lambda a: a.act_many([OFFERS[0], np.eye(2)]),
            r"offers\[1\] must be rows of 3 numbers, got shape \(2, 2\)",
        ),
        (
            OFFERED,
            fastes.Greedy(),
            lambda a: a.act_many([OFFERS[1], [[1, 2, 3], [1, 2, np.nan]]]),
            r"offers\[1\]\[1\] must be finite",
        ),
        (
            OFFERED,
            fastes.Greedy(),
            lambda a: a.act_many([OFFERS[1], np.array([[1.0, 2, 3], [1, 2, np.inf]])]),
            r"offers\[1\]\[1\] must be finite",
        ),
        (
            OFFERED,
            fastes.Greedy(),
            lambda a: a.act_many([OFFERS[1], np.empty((0, 3))]),
            r"offers\[1\] must have at least one arm, got none",
        ),
        (
            OFFERED,
            fastes.Greedy(),
            lambda a: a.act(np.array([[1.0, 2, np.nan]]), k=1),
            r"actions\[0\] must be finite",
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_changes_nothing(bandit, agent, call, message):
    live = agent.start(bandit, seed=1)
    with pytest.raises((TypeError, ValueError), match=message):
        call(live)
    assert live.acts == 0
