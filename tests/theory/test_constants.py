"""The constants of the bounds: by hand, and against plain sampling."""

import numpy as np
import pytest
from scipy.stats import norm

import fastes
from fastes.results.constants import Estimate
from fastes.theory.constants import constants


def test_copies_of_an_arm_count_in_the_mean_of_all_arms():
    # Values (x, 0, 0), x ~ N(1, 1): E[max] = Phi(1) + phi(1), the mean of all is 1/3.
    known = constants(fastes.LinearBandit([[1.0], [0.0], [0.0]], prior_mean=1.0))
    assert known.trivial.value == pytest.approx(norm.cdf(1) + norm.pdf(1) - 1 / 3, abs=1e-3)


def test_the_largest_square_may_be_that_of_the_least_value():
    # One arm, x ~ N(-3, 1): E[x^2] = 10.
    known = constants(fastes.LinearBandit([[1.0]], prior_mean=-3.0))
    assert known.eta.value == pytest.approx(2 * np.sqrt(10 + 1), abs=1e-3)
    assert 0 <= known.trivial.value < 1e-14


def test_values_that_are_known():
    known = constants(fastes.LinearBandit([[1.0], [-2.0]], prior_mean=3.0, prior_cov=0.0))
    assert known.eta == Estimate(pytest.approx(2 * np.sqrt(36 + 1)), 0.0)
    assert known.trivial == Estimate(pytest.approx(3 + 1.5), 0.0)
    assert known.entropy.value == 0.0


@pytest.mark.parametrize("K", [300, 1000])
def test_many_arms_are_as_in_plain_sampling(K):
    # So many arms that they are screened. 4.5 standard errors of both, seeds fixed.
    bandit = fastes.LinearBandit.random(K, 6, "uniform", prior_mean=0.4, prior_cov=2.0, seed=4)
    known = constants(bandit, samples=1 << 14)
    x = 0.4 + np.sqrt(2.0) * np.random.default_rng(1).normal(size=(20_000, 6))
    values = x @ bandit.actions.T
    squares, gaps = np.square(values).max(axis=1), values.max(axis=1) - values.mean(axis=1)
    eta = 2 * np.sqrt(squares.mean() + 1)
    error = squares.std() / np.sqrt(len(x)) * 2 / eta
    assert abs(known.eta.value - eta) < 4.5 * np.hypot(error, known.eta.se)
    error = gaps.std() / np.sqrt(len(x))
    assert abs(known.trivial.value - gaps.mean()) < 4.5 * np.hypot(error, known.trivial.se)


def test_samples_are_checked():
    bandit = fastes.LinearBandit([[1.0], [-1.0]])
    with pytest.raises(ValueError, match="samples must be an integer from 32"):
        constants(bandit, samples=3)
