"""The constants of the bounds: by hand, and against plain sampling."""

import itertools
import re

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial import ConvexHull
from scipy.stats import norm

import fastes
from fastes.cli.commands.bound import _table
from fastes.problem.constants import Estimate
from fastes.theory.bounds import BOUNDS, term_a
from fastes.theory.constants import _centre, _square_from, constants
from fastes.theory.sampled_laws import Extremes
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
        assert known.eta0.value <= known.eta0_closed_form
        text = "\n".join(map(str, bounds_tables(_table(known, 10, [10])))).replace(",", "")
        for name, closed in (("eta", known.eta_closed_form), ("eta0", known.eta0_closed_form)):
            number = r"([-+.e\d]+)"
            found = re.search(rf"\b{name} {number} \+- {number} \(at most {number}\)", text)
            assert float(found[3]) >= float(found[1])
            assert float(found[3]) >= closed * (1 - 1e-15)


def test_eta_without_the_noise_is_measured_from_the_best_centre():
    # Values 10 + x, x ~ N(0, I) in R^2: neither the mean nor the noise matters.
    known = constants(fastes.LinearBandit(np.eye(2), prior_mean=10.0, noise=3.0))
    theta = np.random.default_rng(0).normal(size=(400_000, 2))
    least = min(2 * np.sqrt(np.square(theta - c).max(axis=1).mean()) for c in (-0.1, 0.0, 0.1))
    assert known.eta0.value == pytest.approx(least, rel=5e-3)
    assert known.eta0_closed_form == pytest.approx(2 * np.sqrt(2))
    # One arm, N(-3, 4): the standard deviation, whatever mean and noise.
    known = constants(fastes.LinearBandit([[2.0]], prior_mean=-1.5, noise=50.0))
    assert known.eta0.value == pytest.approx(4.0, abs=1e-3)
    assert known.eta0_at_most == 4.0
    assert known.eta.value > 100


def test_no_centre_does_better_than_the_one_found():
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 500):
        least = rng.normal(size=n)
        drawn = Extremes(np.zeros(n, int), least + rng.exponential(size=n), least, least)
        found = _square_from(drawn, _centre(drawn))
        grid = np.linspace(-5, 8, 4001)
        assert found <= min(_square_from(drawn, c) for c in grid) + 1e-12
        assert found == pytest.approx(min(_square_from(drawn, c) for c in grid), abs=1e-3)


def test_arms_that_cannot_be_the_best_and_equal_arms_do_not_count():
    corners = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    plain = constants(fastes.LinearBandit(corners))
    more = constants(fastes.LinearBandit([*corners, [0.1, 0.2], [0.0, 0.0], corners[0]]))
    assert (more.K, more.contenders, plain.contenders) == (6, 3, 3)
    assert more.entropy.value == pytest.approx(plain.entropy.value)
    for name in ("eta0", "delta"):
        assert getattr(more, name).value == pytest.approx(getattr(plain, name).value, rel=1e-3)
    for name, bound in BOUNDS.items():
        if name != "theorem1":
            assert bound.value(more, 100, 500) == pytest.approx(
                bound.value(plain, 100, 500), rel=1e-3
            )
    assert constants(fastes.LinearBandit.random(60, 4)).contenders == 60  # on a sphere all can
    inner = fastes.LinearBandit.random(60, 2, "uniform")
    assert constants(inner).contenders == len(ConvexHull(inner.actions).vertices)


def test_constants_enter_bounds_three_standard_errors_high():
    known = constants(fastes.LinearBandit.random(12, 4, prior_mean=0.3), samples=64)
    assert known.eta.at_most == known.eta.value + 3 * known.eta.se
    assert known.eta_at_most == min(known.eta.at_most, known.eta_closed_form)
    assert known.eta0_at_most <= known.eta_at_most
    assert known.delta_at_most <= known.eta0_at_most
    assert known.entropy_at_most == min(known.entropy.at_most, np.log(12))
    assert term_a(known, 9) == pytest.approx(known.iota * np.sqrt(4 * 9 * known.entropy_at_most))


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
