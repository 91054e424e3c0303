"""Lower bounds: against quadrature, closed forms and simulations of the problems they are on."""

import math

import numpy as np
import pytest
import reference
from scipy import stats

import fastes
from fastes.theory import lower_bounds
from fastes.theory.lower_bounds import (
    lower_bound,
    lower_bound_for_all_ensembles,
    lower_bound_on_the_ball,
)

KINDS = [
    *({"inflation": 1.0}, {"inflation": 1.5}, {"inflation": 3.0}),
    *({"symmetric": True}, {"symmetric": True, "inflation": 2.0}),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(("K", "M"), [(2, 2), (4, 2), (4, 6), (9, 40)])
def test_theorem_d_by_quadrature(K, M, kind):
    r, reads = kind.get("inflation", 1.0), 2 if kind.get("symmetric") else 1
    bandit = fastes.LinearBandit.hard_for_ensembles(K, M, noise=0.3, **kind)
    c = -bandit.prior_mean[0]
    assert (bandit.prior_mean == -c).all()
    assert reads * stats.norm.sf(c / r) == pytest.approx(1 / M)
    assert (bandit.actions == np.eye(K, K - 1, k=-1)).all()
    expected = 7 * reference.hard_problem_loss([c] * (K - 1), M, r, reads)
    assert lower_bound(K, M, 7, **kind) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(("T", "M"), [(2, 1), (3, 2), (600, 1), (600, 2), (600, 600), (4096, 50)])
def test_theorem_d_plus_by_quadrature(T, M, kind):
    r, reads = kind.get("inflation", 1.0), 2 if kind.get("symmetric") else 1
    bandit = fastes.LinearBandit.hard_for_all_ensembles(T, noise=0.3)
    assert bandit.d == math.ceil(math.log2(T))
    np.testing.assert_allclose(stats.norm.sf(-bandit.prior_mean), 0.5 ** np.arange(1, bandit.d + 1))
    expected = T * reference.hard_problem_loss(-bandit.prior_mean, M, r, reads)
    assert lower_bound_for_all_ensembles(T, M, **kind) == pytest.approx(expected, rel=1e-7)


def test_the_simple_forms_are_below():
    """The forms with explicit constants in the documentation, and their ranges of M."""
    for T in (2, 3, 600, 10**6, 10**12):
        for M in {2, 3, 4, 5, min(T, 1000), T}:
            if 2 <= M <= T:
                root = math.sqrt(2 * math.log(M)) + math.sqrt(2)
                assert lower_bound_for_all_ensembles(T, M) >= 0.036 * T / (M * root)
    for K, M in [(2, 2), (4, 2), (5, 6), (12, 10), (100, 10**6)]:
        for r in (1.0, 1.3, 2.0, 4.0):
            root = r * math.sqrt(2 * math.log(M)) + math.sqrt(2)
            assert lower_bound(K, M, 9, r) >= 9 * (K - 1) * M ** (-r * r) / (16 * root)
        root = math.sqrt(2 * math.log(M)) + math.sqrt(2)
        assert lower_bound(K, M, 9, symmetric=True) >= 0.07 * 9 * (K - 1) / (M * root)


def test_few_models_lose_what_theorem_d_plus_says():
    # Level: 4.5 standard errors, one-sided, four comparisons.
    bandit = fastes.LinearBandit.hard_for_all_ensembles(600)
    for M in (2, 8):
        regret = fastes.simulate(bandit, fastes.EnsembleSampling(M), T=600, runs=1000).regret
        assert regret.mean[-1] + 4.5 * regret.se[-1] > lower_bound_for_all_ensembles(600, M)
    for kind in ({"inflation": 2.0}, {"symmetric": True}):
        bandit = fastes.LinearBandit.hard_for_ensembles(4, 6, **kind)
        agent = fastes.EnsembleSampling(6, **kind)
        regret = fastes.simulate(bandit, agent, T=600, runs=1000).regret
        assert regret.mean[-1] + 4.5 * regret.se[-1] > lower_bound(4, 6, 600, **kind)


def test_the_ball_in_few_dimensions():
    norms = [stats.chi(n).mean() for n in range(1, 8)]
    for d in range(1, 8):
        for M in range(1, 9):
            expected = 50 * max(0.0, norms[d - 1] - norms[min(M, d) - 1])
            assert lower_bound_on_the_ball(d, M, 50) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lower_bound(4, 6, 9, 0.5), "inflation must be a number from 1 to 30, got 0.5"),
        (lambda: lower_bound(4, 6, 9, symmetric=1), "symmetric must be True or False"),
        (lambda: lower_bound_for_all_ensembles(1, 6), "T must be an integer from 2"),
        (lambda: lower_bound_for_all_ensembles(9, 0), "M must be an integer from 1"),
        (lambda: lower_bound_for_all_ensembles(9, 2, 31.0), "inflation must be a number from 1"),
        (lambda: lower_bound_on_the_ball(0, 2, 9), "d must be an integer from 1"),
        (lambda: fastes.LinearBandit.hard_for_all_ensembles(1), "T must be an integer from 2"),
        (
            lambda: fastes.LinearBandit.hard_for_ensembles(3, 4, inflation=0.9),
            "inflation must be a number from 1 to 30, got 0.9",
        ),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_all_are_documented():
    assert set(lower_bounds.__all__) <= set(vars(lower_bounds))
