"""The constants of the bounds: by hand, and against plain sampling."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import fastes
from fastes.cli.commands.bound import _table
from fastes.problem.constants import Estimate
from fastes.theory.constants import constants
from fastes.theory.tables import bounds_tables


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


def test_the_closed_form_bounds_eta_where_the_paper_s_does_not():
    # The counterexample of docs/explanation/theory.md: values 10 + x, x ~ N(0, I) in R^10.
    known = constants(fastes.LinearBandit(np.eye(10), prior_mean=10.0))
    square, _ = quad(lambda x: (10 + x) ** 2 * 10 * norm.pdf(x) * norm.cdf(x) ** 9, -9, 12)
    eta = 2 * np.sqrt(square + 1)
    assert known.eta.value == pytest.approx(eta, abs=4 * known.eta.se)
    papers = 2 * np.sqrt(4 * np.log(10) + 5 + 10**2 + 1)
    assert papers < eta - 1.5
    minkowski = 2 * np.sqrt((10 + np.sqrt(2 + 2 * np.log(10))) ** 2 + 1)
    assert eta < known.eta_closed_form == pytest.approx(minkowski)


@pytest.mark.parametrize(
    "bandit",
    [
        # Here eta equals its closed form, and an estimate alone is above it half the time.
        fastes.LinearBandit([[1.0], [-1.0]], noise=2.0, prior_cov=9.0),
        fastes.LinearBandit([[1.0]], prior_mean=-3.0),
        fastes.LinearBandit([[1.0], [-2.0]], prior_mean=3.0, prior_cov=0.0),
        fastes.LinearBandit(np.eye(10), prior_mean=10.0),
        fastes.LinearBandit([[1e30], [-1e30]], prior_mean=0.7, noise=1e29),
    ],
)
def test_no_bound_on_eta_is_shown_that_is_below_eta(bandit):
    for seed, samples in itertools.product(range(4), (32, 1 << 10)):
        known = constants(bandit, samples=samples, seed=seed)
        assert known.eta.value <= known.eta_closed_form
        line = bounds_tables(_table(known, 10, [10]))[1].replace(",", "")
        words = line.replace("(at most ", "").replace(")", "").split()
        value, at_most = float(words[3]), float(words[6])
        assert words[2] == "eta"
        assert at_most >= value
        assert at_most >= known.eta_closed_form * (1 - 1e-15)


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
