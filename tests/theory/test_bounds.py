"""The bounds: hand-computed examples, limits, and what must hold between them."""

import math

import numpy as np
import pytest
from scipy import stats

import fastes
from fastes.theory import bounds
from fastes.theory.bounds import theorem1, theorem2
from fastes.theory.constants import constants

PLUS_MINUS = fastes.LinearBandit([[1.0], [-1.0]], noise=2.0, prior_cov=9.0)


def test_one_dimension_two_arms_by_hand():
    # Values +-x, x ~ N(0, 9): max a' Sigma a = 9, E[max v^2] = 9, E[max v] = 3 sqrt(2 / pi).
    known = constants(PLUS_MINUS)
    assert known.iota == pytest.approx(math.sqrt(2 * (9 + 4)))
    assert known.eta.value == pytest.approx(2 * math.sqrt(9 + 4), abs=1e-3)
    assert known.entropy.value == pytest.approx(math.log(2))
    assert known.trivial.value == pytest.approx(3 * math.sqrt(2 / math.pi), abs=1e-3)
    # min{1 * 1 * 9, (4 log 2 + 5) * 9 + 0} = 9
    assert known.eta_closed_form == pytest.approx(2 * math.sqrt(9 + 4))
    T, M = 50, 200
    a = math.sqrt(26) * math.sqrt(50 * math.log(2))
    b = known.eta.value * 50 * math.sqrt(2 * math.log(6 * 50 * 200) / 200)
    assert bounds.term_a(known, T) == pytest.approx(a)
    assert bounds.term_b(known, T, M) == pytest.approx(b)
    assert theorem1(known, T, M) == pytest.approx(a + b)
    assert bounds.ensemble_of_the_same_order(known, T) == 2 * 50


def test_the_other_branch_of_the_closed_form():
    # Two arms far out in many dimensions: (4 log 2 + 5) beats d.
    bandit = fastes.LinearBandit(np.eye(100)[:2], prior_mean=0.5)
    expected = 2 * math.sqrt((4 * math.log(2) + 5) * 1 + 0.25 + 1)
    assert constants(bandit).eta_closed_form == pytest.approx(expected)
    assert constants(bandit).d == 2


def test_the_paper_s_size():
    # K=30, d=5, theta ~ N(0, 10 I): H(A*) near 2.8, iota near 4.2, eta near 8.5.
    bandit = fastes.LinearBandit.random(30, 5, "uniform", prior_cov=10.0, seed=3)
    known = constants(bandit)
    widest = 10 * (bandit.actions**2).sum(axis=1).max()
    assert known.iota == pytest.approx(math.sqrt(2 * (widest + 1)))
    assert 2.4 < known.entropy.value < 3.1
    assert 7.5 < known.eta.value < 9.5
    assert known.eta.value + 4 * known.eta.se < known.eta_closed_form
    assert known.entropy.value < math.log(30)
    theta = np.sqrt(10) * np.random.default_rng(1).normal(size=(400_000, 5))
    values = theta @ bandit.actions.T
    plain = (values**2).max(axis=1)
    eta = 2 * np.sqrt(plain.mean() + 1)
    error = plain.std() / np.sqrt(len(plain)) * 2 / eta
    assert abs(known.eta.value - eta) < 4.5 * (error + known.eta.se)
    gap = values.max(axis=1) - values.mean(axis=1)
    assert abs(known.trivial.value - gap.mean()) < 4.5 * (stats.sem(gap) + known.trivial.se)


def test_divergence_bounds_by_hand():
    assert bounds.divergence_bound(7, 2, 50) == pytest.approx(7 * math.log(900) / 50)
    expected = (7 * (math.log(3) + math.log(51)) + 1) / 50
    assert bounds.divergence_bound_unsimplified(7, 2, 50) == pytest.approx(expected)
    assert bounds.divergence_tail(2, 1, 3, 4.0) == pytest.approx(4 * 16 * math.exp(-12))
    assert bounds.divergence_tail(10**6, 10, 10, 0.0) == np.inf
    assert bounds.k_free_bound([0, 1, 2], 4) == pytest.approx([0, 2 / 4, 2 * (1 - 9 / 16)])
    assert bounds.k_free_bound([0, 1, 5], 1).tolist() == [0, 2, 2]
    assert bounds.k_free_bound(1, 2**32 - 1) == pytest.approx(2 / (2**32 - 1))


@pytest.mark.parametrize("K", [1, 2, 30, 10_000])
@pytest.mark.parametrize("M", [1, 2, 100, 10**6])
def test_the_simplified_bound_is_the_larger(K, M):
    t = np.arange(1000)
    simplified = bounds.divergence_bound(K, t, M)
    assert (bounds.divergence_bound_unsimplified(K, t, M) <= simplified + 1e-12).all()
    assert (np.diff(bounds.k_free_bound(t, M)) >= 0).all()
    assert (bounds.k_free_bound(t, M) <= 2).all()


def test_bounds_stand_in_their_order():
    known = constants(fastes.LinearBandit.random(30, 5, prior_cov=10.0))
    for T, M in [(1, 1), (250, 30), (250, 10**5), (2000, 10**7)]:
        best = bounds.best_bound(known, T, M)
        steps = bounds.divergence_bound(30, np.arange(T), M)
        assert theorem2(known, steps) <= theorem1(known, T, M) * (1 + 1e-12)
        assert best <= theorem2(known, steps) * (1 + 1e-12)
        assert best <= bounds.term_a(known, T) + bounds.k_free_term(known, T, M) + 1e-9
        assert best >= bounds.term_a(known, T)
    assert theorem2(known, np.zeros(250)) == bounds.term_a(known, 250)


def test_measured_regret_is_below_the_bounds():
    bandit = fastes.LinearBandit.random(20, 3, prior_cov=4.0)
    known = constants(bandit)
    for M in (1, 8, 64):
        regret = fastes.simulate(bandit, fastes.EnsembleSampling(M), T=200, runs=400).regret
        highest = regret.mean[-1] + 4 * regret.se[-1]
        assert highest < bounds.best_bound(known, 200, M) <= theorem1(known, 200, M)
    trivial = fastes.simulate(bandit, fastes.UniformRandom(), T=200, runs=400).regret
    difference = abs(trivial.mean[-1] - 200 * known.trivial.value)
    assert difference < 4.5 * (trivial.se[-1] + 200 * known.trivial.se)


@pytest.mark.parametrize("M", [3, 10**4, 10**8])
def test_long_sums_are_right(M):
    known = constants(PLUS_MINUS)
    T = (1 << 20) + 300_000
    direct = known.eta.value * np.sqrt(bounds.k_free_bound(np.arange(T), M)).sum()
    assert bounds.k_free_term(known, T, M) == pytest.approx(direct, rel=1e-9)
    assert np.isfinite(bounds.best_bound(known, 10**12, M))


def test_the_smallest_ensemble():
    known = constants(PLUS_MINUS)
    M = bounds.smallest_ensemble(known, 100, 30.0)
    assert bounds.term_b(known, 100, M) <= 30 < bounds.term_b(known, 100, M - 1)
    assert bounds.smallest_ensemble(known, 1, 1e9) == 1
    with pytest.raises(ValueError, match="target must be reached by some M below 2"):
        bounds.smallest_ensemble(known, 10**9, 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: theorem1(k, 0, 5), "T must be an integer from 1"),
        (lambda k: theorem1(k, 5, 0), "M must be an integer from 1"),
        (lambda k: theorem2(k, []), "divergences must be at least one number"),
        (lambda k: theorem2(k, [0.1, -0.1]), "none below 0"),
        (lambda k: bounds.k_free_bound(-1, 3), "t must be at least 0, got -1"),
        (lambda k: bounds.smallest_ensemble(k, 5, 0.0), "target must be a finite number above 0"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(constants(PLUS_MINUS, samples=64))
