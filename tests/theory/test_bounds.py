"""The bounds: hand-computed examples, limits, and what must hold between them."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference
from scipy import stats

import fastes
from fastes.problem.constants import Constants, Estimate
from fastes.theory import bounds
from fastes.theory.bounds import theorem1, theorem2
from fastes.theory.constants import constants
from fastes.theory.first_order import StepLoss, hellinger_costs, kl_costs

PLUS_MINUS = fastes.LinearBandit([[1.0], [-1.0]], noise=2.0, prior_cov=9.0)


def test_one_dimension_two_arms_by_hand():
    # Values +-x, x ~ N(0, 9): max a' Sigma a = 9, E[max v^2] = 9, E[max v] = 3 sqrt(2 / pi).
    known = constants(PLUS_MINUS)
    assert known.iota == pytest.approx(math.sqrt(2 * (9 + 4)))
    assert known.eta.value == pytest.approx(2 * math.sqrt(9 + 4), abs=1e-3)
    assert known.entropy.value == pytest.approx(math.log(2))
    assert known.trivial.value == pytest.approx(3 * math.sqrt(2 / math.pi), abs=1e-3)
    # min{1 * 1 * 9, (0 + sqrt((2 + 2 log 2) * 9))^2} = 9
    assert known.eta_closed_form == pytest.approx(2 * math.sqrt(9 + 4))
    T, M = 50, 200
    a = math.sqrt(26) * math.sqrt(50 * math.log(2))
    # The closed form is exact here, and below the estimate with three standard errors.
    b = 2 * math.sqrt(9 + 4) * 50 * math.sqrt(2 * math.log(6 * 50 * 200) / 200)
    assert bounds.term_a(known, T) == pytest.approx(a)
    assert bounds.term_b(known, T, M) == pytest.approx(b)
    assert theorem1(known, T, M) == pytest.approx(a + b)
    assert bounds.ensemble_of_the_same_order(known, T) == 2 * 50


def test_the_other_branch_of_the_closed_form():
    # Two arms far out in many dimensions: 2 + 2 log 2 beats d.
    bandit = fastes.LinearBandit(np.eye(100)[:2], prior_mean=0.5)
    expected = 2 * math.sqrt((0.5 + math.sqrt(2 + 2 * math.log(2))) ** 2 + 1)
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


@pytest.mark.parametrize("K", [1, 2, 30, 10_000])
@pytest.mark.parametrize("M", [1, 2, 100, 10**6])
def test_the_simplified_bound_is_the_larger(K, M):
    t = np.arange(1000)
    simplified = bounds.divergence_bound(K, t, M)
    assert (bounds.divergence_bound_unsimplified(K, t, M) <= simplified + 1e-12).all()


@pytest.mark.parametrize(("T", "M"), [(1, 1), (250, 30), (250, 10**5), (2000, 10**7)])
def test_bounds_stand_in_their_order(T, M):
    known = constants(fastes.LinearBandit.random(30, 5, prior_cov=10.0))
    values = {name: bound.value(known, T, M) for name, bound in bounds.BOUNDS.items()}
    assert list(values) == [
        *("theorem1", "information", "fresh", "first_order", "reuse", "best"),
    ]
    steps = bounds.divergence_bound(30, np.arange(T), M)
    assert theorem2(known, steps) <= values["theorem1"] * (1 + 1e-12)
    assert values["best"] <= theorem2(known, steps) * (1 + 1e-12)
    # Theorem A is never larger than what Theorem 2 makes of the same models.
    assert values["fresh"] <= theorem2(known, bounds.fresh_bound(np.arange(T), M)) + 1e-9
    assert (values["reuse"] is None) == (M <= T)
    for value in values.values():
        assert value is None or values["best"] <= value * (1 + 1e-12)
        assert value is None or value >= bounds.term_a(known, T) * (1 - 1e-12) or M < 10 * T
    assert theorem2(known, np.zeros(T)) == bounds.term_a(known, T)


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


def made(K, d=3, entropy=1.5):
    """Return constants that no problem need have: the bounds are plain functions of them."""
    return Constants(
        iota=2.0,
        eta=Estimate(4.0, 0.0),
        eta_closed_form=5.0,
        eta0=Estimate(3.5, 0.0),
        eta0_closed_form=6.0,
        delta=Estimate(3.0, 0.0),
        width=math.sqrt(1.5),
        noise=0.5,
        entropy=Estimate(entropy, 0.0),
        trivial=Estimate(1.0, 0.0),
        K=K,
        contenders=K,
        d=d,
    )


SHAPES = [(1, 1, 1), (1, 20, 3), (2, 1, 1), (2, 60, 1), (2, 200, 7), (5, 90, 2), (30, 120, 40)]
SHAPES += [(30, 120, 1000), (1000, 50, 30), (3, 150, 10**6), (7, 40, 41)]


@pytest.mark.parametrize(("K", "T", "M"), SHAPES)
def test_each_bound_against_plain_sums(K, T, M):
    known, H = made(K), min(1.5, math.log(K))  # as large as it can be
    a = 2.0 * math.sqrt(3 * T * H)
    kbar = reference.information_bound(K, T, M)
    h = reference.smallest_distances(K, T, M)
    assert bounds.information_bound(K, np.arange(T), M) == pytest.approx(kbar, rel=1e-9, abs=1e-15)
    information = a + 3.5 * sum(map(math.sqrt, kbar))
    assert bounds.information(known, T, M) == pytest.approx(information, rel=1e-9)
    fresh_steps = sum((1 - 1 / M) ** t for t in range(T))
    fresh = 2.0 * math.sqrt(3 * H * fresh_steps) + 3.0 * (T - fresh_steps)
    assert bounds.fresh(known, T, M) == pytest.approx(fresh, rel=1e-9)
    first_order = min(
        least_theorem_b(a, max(2, K), each, kind)
        for each, kind in ((reference.smallest_divergences(K, T, M), "kl"), (h, "hellinger"))
    )
    assert bounds.first_order(known, T, M) == pytest.approx(first_order, rel=2e-3)
    # Against what the grid can reach, but for what the trial of x leaves out.
    assert bounds.first_order(known, T, M) <= first_order * (1 + 1e-3)
    of_h = least_theorem_b(a, max(2, K), h, "hellinger")
    assert bounds.first_order_of(known, h) == pytest.approx(of_h, rel=2e-3)
    step_by_step = a + 3.5 * sum(map(math.sqrt, h))
    reuse = bounds.reuse(known, T, M)
    if M <= T:
        assert reuse is None
        reuse = math.inf
    else:
        rho, log_k = T / M, math.log(K)
        V = 1.5 / math.log(1 + 1.5 / 0.25) * 3 * math.log(1 + T * 1.5 / (3 * 0.25))
        nu = min(3, 2 + 2 * log_k)
        added = math.sqrt(rho * T * V * (nu + (2 + rho / (1 - rho)) * log_k))
        assert reuse == pytest.approx(a + added, rel=1e-12)
    best = min(step_by_step, bounds.first_order(known, T, M), fresh, reuse)
    assert bounds.best_bound(known, T, M) == pytest.approx(best, rel=1e-9)


def least_theorem_b(a, K, divergences, kind):
    """Return Theorem B's right-hand side at the best of many pairs, for the constants of `made`."""

    def value(x, y):
        b_over, b_under = 1 + math.exp(x), 1 + math.exp(y)
        return reference.theorem_b(a, 3.0, 1.5, K, divergences, b_over, b_under, kind)

    grid = np.linspace(-9, 6, 13)
    x, y = min(((x, x) for x in grid), key=lambda each: value(*each))
    for step in (0.6, 0.3, 0.15, 0.08, 0.04):
        near = [(x + i * step, y + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        x, y = min(near, key=lambda each: value(*each))
    return value(x, y)


@pytest.mark.parametrize("kind", ["kl", "hellinger"])
@pytest.mark.parametrize(("b_over", "b_under"), [(1.1, 1.3), (2.0, 2.0), (3.0, 1.05), (40.0, 9.0)])
def test_the_loss_of_a_step_is_the_largest_that_its_divergence_allows(kind, b_over, b_under):
    known = made(K=5)
    costs = {"kl": kl_costs, "hellinger": hellinger_costs}[kind](b_over, b_under)
    loss = StepLoss(known, b_over, costs)
    for k in (1e-30, 1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 50.0):
        expected = reference.theorem_b(0.0, 3.0, 1.5, 5, [k], b_over, b_under, kind)
        found = loss(np.array([k]))[0]
        assert expected * (1 - 1e-9) <= found
        # For smoothness probabilities are not cut at 1, which matters where all of k buys one of 1.
        assert found <= expected * 1.001 or k > min(costs)
        assert found <= loss.highest
    assert loss(np.array([0.0]))[0] == 0.0
    assert loss(np.array([1e9]))[0] == loss.highest


def test_theorem_b_by_hand():
    # Divergence log 4 - 3/4 is what S costs for b_S = 2 if it is certain, x = 1.
    costs = kl_costs(2.0, 2.0)
    assert costs.over == pytest.approx(math.log(4) - 0.75)
    assert costs.under == pytest.approx(1 - (1 + math.log(4)) / 4)
    assert hellinger_costs(2.0, 4.0) == (0.25, 0.5625)
    # Where every step may lose all, b is as small as it can be.
    known = made(K=5)
    all_lost = 3 + math.sqrt(6) + math.sqrt(3 * math.log(5))
    total = 2 * math.sqrt(3 * 100 * 1.5) + 100 * all_lost
    assert bounds.first_order_of(known, [1.0] * 100) == pytest.approx(total, rel=1e-3)
    assert bounds.first_order_of(made(K=1, entropy=0.0), [0.0]) == 0.0


def test_equal_values_and_known_values_leave_no_rates_to_choose():
    same = constants(fastes.LinearBandit([[1.0], [1.0]]), samples=64)
    assert (same.contenders, same.entropy.value) == (1, 0.0)
    assert bounds.first_order(same, 50, 3) == 0.0 == bounds.best_bound(same, 50, 3)
    certain = constants(fastes.LinearBandit([[1.0], [3.0]], prior_mean=1.0, prior_cov=0.0))
    assert certain.contenders == 1
    assert bounds.first_order_of(certain, [0.1]) == pytest.approx(0.2, rel=2.0)


def test_a_bound_below_random_play_at_the_paper_s_size():
    # K = 30, d = 5, M = 1,000: the information bound is below random play, Theorem 1 is not.
    known = constants(fastes.LinearBandit.random(30, 5))
    random_play = 250 * known.trivial.value
    assert theorem1(known, 250, 1000) > random_play
    for M, at_most in ((1000, 328), (10**4, 151.5), (10**5, 131.5)):
        assert bounds.term_a(known, 250) < bounds.information(known, 250, M) <= at_most
        paper = np.minimum(bounds.divergence_bound(30, np.arange(250), M), math.log(30))
        alone = theorem2(known, np.concatenate([[0], np.cumsum(paper)[:-1]]) / M)
        assert alone == pytest.approx(at_most, abs=0.6)  # with the paper's lemma alone


@pytest.mark.parametrize(("T", "M"), [(10, 10**9), (10**6, 10**9), (10**12, 10**15), (9, 80)])
def test_stale_steps_keep_their_digits(T, M):
    exact = Fraction(T) - M * (1 - (1 - Fraction(1, M)) ** T) if T < 100 else None
    series = T * (T - 1) / 2 / M * (1 - (T - 2) / 3 / M * (1 - (T - 3) / 4 / M))
    expected = series if exact is None else float(exact)
    assert bounds._stale_steps(T, M) == pytest.approx(expected, rel=1e-9)


def test_the_lower_bound_by_hand():
    # M = 2: c = 0 and E(N - c)^+ = 1 / sqrt(2 pi).
    assert bounds.lower_bound(2, 2, 10) == pytest.approx(10 / 4 / math.sqrt(2 * math.pi))
    for K, M in [(2, 2), (4, 2), (2, 10), (12, 10), (3, 10**6), (1000, 10**9)]:
        simple = (K - 1) / (16 * M * (math.sqrt(2 * math.log(M)) + math.sqrt(2)))
        assert simple <= bounds.lower_bound(K, M, 1)
    c = stats.norm.isf(1 / 100)
    beyond = stats.norm.expect(lambda x: x - c, lb=c, epsabs=1e-14)
    expected = 5000 * 20 * 0.99**119 * beyond
    assert bounds.lower_bound(21, 100, 5000) == pytest.approx(expected, rel=1e-9)
    assert bounds.lower_bound(21, 100, 5000) == pytest.approx(102.5, abs=0.05)
    assert bounds.lower_bound(2, 4, 2000) == pytest.approx(94.4, abs=0.05)


def test_the_hard_problem_loses_what_theorem_d_says():
    # Level: 4.5 standard errors, three comparisons.
    for K, M in [(2, 4), (6, 4), (6, 16)]:
        bandit = fastes.LinearBandit.hard_for_ensembles(K, M, noise=0.7)
        assert (bandit.K, bandit.d, bandit.noise) == (K, K - 1, 0.7)
        assert stats.norm.sf(-bandit.prior_mean) == pytest.approx(1 / M)
        regret = fastes.simulate(bandit, fastes.EnsembleSampling(M), T=300, runs=2000).regret
        highest = regret.mean[-1] + 4.5 * regret.se[-1]
        lowest = regret.mean[-1] - 4.5 * regret.se[-1]
        assert highest > bounds.lower_bound(K, M, 300)
        assert lowest < bounds.best_bound(constants(bandit), 300, M)


@pytest.mark.parametrize("bound", bounds.BOUNDS)
def test_the_smallest_ensemble(bound):
    known = constants(PLUS_MINUS)
    target = 2.0 * bounds.term_a(known, 100)
    M = bounds.smallest_ensemble(known, 100, target, bound)
    value, before = (bounds.BOUNDS[bound].value(known, 100, m) for m in (M, M - 1))
    assert value <= target
    assert before is None or before > target
    assert bounds.smallest_ensemble(known, 1, 1e9, bound) == (2 if bound == "reuse" else 1)
    with pytest.raises(ValueError, match="target must be reached by some M below 2"):
        bounds.smallest_ensemble(known, 10**9, 1e-9, bound)


@pytest.mark.parametrize("noise", [1.0, 20.0])
@pytest.mark.parametrize("bound", bounds.BOUNDS)
def test_the_smallest_ensemble_is_the_first_that_reaches_the_target(bound, noise):
    # At much noise Theorem A's bound rises with M at first.
    known = constants(fastes.LinearBandit(np.eye(3), noise=noise), samples=1 << 10)
    found = [bounds.BOUNDS[bound].value(known, 20, M) for M in range(1, 41)]
    values = np.array([math.inf if value is None else value for value in found])
    for target in [*np.quantile(values[np.isfinite(values)], [0.0, 0.5, 0.9]), values[1]]:
        if math.isfinite(target):
            first = 1 + int((values <= target).argmax())
            assert bounds.smallest_ensemble(known, 20, target, bound) == first
    if noise == 20.0 and bound in ("fresh", "best"):
        assert values[0] < 0.6 * values[-1]
        assert bounds.smallest_ensemble(known, 20, 100.0, bound) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: theorem1(k, 0, 5), "T must be an integer from 1"),
        (lambda k: theorem1(k, 5, 0), "M must be an integer from 1"),
        (lambda k: theorem2(k, []), "divergences must be nonempty"),
        (lambda k: theorem2(k, [0.1, -0.1]), "nonnegative"),
        (lambda k: bounds.fresh_bound(-1, 3), "t must be at least 0, got -1"),
        (lambda k: bounds.best_bound(k, 5, 0), "M must be an integer from 1"),
        (lambda k: bounds.reuse(k, 0, 5), "T must be an integer from 1"),
        (lambda k: bounds.lower_bound(5, 2, 9), "K must be an integer from 2 to 4, got 5"),
        (lambda k: bounds.lower_bound(2, 1, 9), "M must be an integer from 2"),
        (lambda k: bounds.smallest_ensemble(k, 5, 1.0, "x"), "bound must be one of theorem1"),
        (
            lambda k: fastes.LinearBandit.hard_for_ensembles(7, 4),
            "K must be an integer from 2 to 6, got 7",
        ),
        (lambda k: bounds.smallest_ensemble(k, 5, 0.0), "target must be a finite number above 0"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(constants(PLUS_MINUS, samples=64))
