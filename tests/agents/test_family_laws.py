"""Laws of the family, tested statistically. Each test states its level; seeds are fixed."""

import numpy as np
import pytest
from engine import start
from every_agent import FAMILY, in_batches
from scipy import stats

import fastes

BANDIT = fastes.LinearBandit.random(K=20, d=3, prior_cov=4.0)


def finals(agent, seed, T=60, runs=3_000):
    return fastes.simulate(BANDIT, agent, T=T, runs=runs, seed=seed).regret.final


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Deferred or eager, the law is the same.
        (
            fastes.EnsembleSampling(4, "deferred", "signs"),
            fastes.EnsembleSampling(4, "eager", "signs"),
        ),
        (
            fastes.EnsembleSampling(30, "deferred", "signs", symmetric=True),
            fastes.EnsembleSampling(30, "eager", "signs", symmetric=True),
        ),
        (
            fastes.EnsembleSampling(3, "deferred", symmetric=True, inflation=0.6),
            fastes.EnsembleSampling(3, "eager", symmetric=True, inflation=0.6),
        ),
        # Mixing by a coordinate and a sign is reading one model with a sign.
        (
            fastes.EnsemblePlusPlus(3, "coordinates", "normal"),
            fastes.EnsembleSampling(3, symmetric=True),
        ),
        # On the line, the sphere is two signs.
        (fastes.EnsemblePlusPlus(1, "signs", "signs"), fastes.EnsemblePlusPlus(1)),
        # Very many models, read once each, are posterior draws.
        (
            fastes.EnsembleSampling(10**6, inflation=1.7),
            fastes.ThompsonSampling(inflation=1.7),
        ),
        (fastes.ThompsonSampling(inflation=0.0), fastes.Greedy()),
        (fastes.EpsilonGreedy(1.0), fastes.UniformRandom()),
    ],
    ids=str,
)
def test_two_ways_to_the_same_law(one, other):
    # Two-sample KS test of final regret, 3,000 runs each on different seeds; level 1e-4 each.
    assert stats.ks_2samp(finals(one, 1), finals(other, 2)).pvalue > 1e-4


@pytest.mark.parametrize("agent", FAMILY, ids=str)
def test_the_law_of_the_action_is_how_often_arms_are_played(agent):
    # Chi-squared tests of the arms of step 12 in 4,000 restarts that saw the same 12 rewards, for
    # agents that draw anew at every step; level 1e-4 each.
    if agent.name == "es":  # conditions on the models, which a restart does not share
        agent = fastes.EnsembleSampling(4000, symmetric=True, perturbations="signs")
    bandit, rng = fastes.LinearBandit.random(K=5, d=3), np.random.default_rng(4)
    arms, rewards = rng.integers(5, size=12), rng.normal(size=12)
    live = agent.start(bandit, seed=3)
    live.observe(arms, rewards)
    law = agent.action_law(live._state, bandit.canonical.arms, live._source, 12).probabilities
    assert law.sum() == pytest.approx(1.0)
    counts = np.zeros(5)
    live._acts = 12  # that step, for an agent whose choice depends on its number
    deterministic = agent.name == "bayes-ucb"
    for _ in range(1 if deterministic else 4000):
        counts[live.act()] += 1
    expected = law * counts.sum()
    kept = expected > 5
    if deterministic:
        assert law[counts.argmax()] == 1.0
        return
    # The law itself has sampling error: it is measured by 8,192 draws, or is that of 4,000 models.
    inflated = 2.0
    statistic = ((counts - expected)[kept] ** 2 / (expected[kept] * inflated)).sum()
    assert stats.chi2.sf(statistic, kept.sum()) > 1e-4
    assert counts[~kept].sum() <= 30


@pytest.mark.parametrize("agent", in_batches(FAMILY))
def test_runs_in_a_batch_are_those_that_are_done_alone(agent):
    """Many short runs go together, and large problems in lockstep: to the bit as a run alone."""
    for bandit, T, runs in ((BANDIT, 30, 1200), (fastes.LinearBandit.random(900, 40), 25, 9)):
        result = fastes.simulate(bandit, agent, T=T, runs=runs, seed=6, threads=2)
        for i in (0, 1, runs - 1):
            run = start(bandit, agent, T, seed=6, run=i)
            run.advance(0, T)
            assert bandit.noise * run.record.total[0] == result.regret.final[i]
