"""The law of the optimal action: exact methods against each other and against plain sampling."""

import numpy as np
import pytest
from scipy.stats import norm

import fastes
from fastes.theory.measures import entropy
from fastes.theory.optimal_action import law_of_the_best, optimal_action
from fastes.theory.sampled_laws import _entropy_from_few


def plain(m, c, n=400_000, seed=0):
    """Return frequencies of the best arm in plain Monte Carlo, and 4.5 of their standard errors."""
    x = np.random.default_rng(seed).standard_normal((n, c.shape[1]))
    p = np.bincount(np.argmax(m + x @ c.T, axis=1), minlength=len(m)) / n
    return p, 4.5 * np.sqrt(np.maximum(p * (1 - p), 1 / n) / n)


def drawn(seed, K, r):
    rng = np.random.default_rng(seed)
    return rng.normal(size=K), rng.normal(size=(K, r))


@pytest.mark.parametrize(
    ("K", "r", "method"),
    [(2, 3, "two arms"), (7, 1, "rank 1"), (9, 2, "rank 2"), (30, 2, "rank 2")],
)
@pytest.mark.parametrize("seed", range(3))
def test_exact_laws_are_those_of_plain_sampling(K, r, method, seed):
    # 4.5 standard errors for each of at most 30 arms: level 2e-4 a case, seeds fixed.
    m, c = drawn(seed, K, r)
    law = law_of_the_best(m, c, 1000, 0)
    assert law.method == method
    assert law.probabilities.sum() == pytest.approx(1)
    assert law.se.max() <= 1e-6
    p, error = plain(m, c)
    assert (np.abs(law.probabilities - p) <= error).all()
    assert law.entropy.value == pytest.approx(entropy(law.probabilities))


@pytest.mark.parametrize("seed", range(3))
def test_independent_arms(seed):
    rng = np.random.default_rng(seed)
    m, c = rng.normal(size=8), np.diag(rng.uniform(0.2, 3.0, size=8))
    law = law_of_the_best(m, c, 1000, 0)
    assert law.method == "independent arms"
    assert law.probabilities.sum() == pytest.approx(1, abs=1e-9)
    p, error = plain(m, c)
    assert (np.abs(law.probabilities - p) <= error).all()


def test_independent_arms_one_of_them_known():
    m, c = np.array([0.3, 0.0, -0.5, -1.0]), np.diag([0.0, 1.0, 2.0, 0.0])
    law = law_of_the_best(m, np.column_stack([c, np.zeros((4, 1))]), 1000, 0)
    wins = norm.cdf(0.3) * norm.cdf(0.8 / 2)
    assert law.probabilities[0] == pytest.approx(wins, abs=1e-9)
    assert law.probabilities[3] == 0
    assert law.probabilities.sum() == pytest.approx(1, abs=1e-9)


def test_arms_on_a_circle_are_alike():
    # By symmetry, each of n arms is the best in one n-th of the plane: the sectors.
    angle = 2 * np.pi * np.arange(12) / 12 + 0.1
    bandit = fastes.LinearBandit(np.column_stack([np.cos(angle), np.sin(angle)]))
    law = optimal_action(bandit)
    assert law.method == "rank 2"
    np.testing.assert_allclose(law.probabilities, 1 / 12, atol=1e-6)
    assert law.entropy.value == pytest.approx(np.log(12), abs=1e-5)


def test_quasi_monte_carlo_has_the_error_that_it_says():
    # 40 arms, 4.5 standard errors of both: level 3e-4, seeds fixed.
    m, c = drawn(5, 40, 6)
    law = law_of_the_best(0.2 * m, c, 1 << 15, 1)
    assert law.method == "quasi-Monte Carlo"
    p, error = plain(0.2 * m, c, 1_000_000)
    assert (np.abs(law.probabilities - p) <= 4.5 * law.se + error).all()
    assert law.se.min() > 0
    assert law.se.max() < 0.002
    assert abs(law.entropy.value - entropy(p)) < 4.5 * law.entropy.se + 1e-3
    assert law.entropy.se > 0


def test_an_arm_never_seen_is_not_silently_impossible():
    m, c = drawn(5, 10, 4)
    m[3] -= 20
    law = law_of_the_best(m, c, 1 << 12, 1)
    assert law.probabilities[3] == 0
    assert law.se[3] == pytest.approx(2.0**-12)


def test_equal_arms_share():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3, 2))
    bandit = fastes.LinearBandit(rows[[0, 1, 0, 2, 0]])
    law, apart = optimal_action(bandit), optimal_action(fastes.LinearBandit(rows))
    np.testing.assert_allclose(law.probabilities[[0, 2, 4]], apart.probabilities[0] / 3)
    np.testing.assert_allclose(law.probabilities[[1, 3]], apart.probabilities[1:])
    assert law.entropy.value == pytest.approx(entropy(law.probabilities))


@pytest.mark.parametrize("K", [1, 3])
def test_what_is_known_is_certain(K):
    bandit = fastes.LinearBandit(np.eye(3)[:K], prior_mean=[0.0, 1.0, 1.0], prior_cov=0.0)
    law = optimal_action(bandit)
    assert law.method == "certain"
    assert law.probabilities.tolist() == ([1.0] if K == 1 else [0.0, 0.5, 0.5])
    assert law.entropy.value == pytest.approx(0 if K == 1 else np.log(2))


def test_a_belief_in_canonical_coordinates():
    bandit = fastes.LinearBandit([[1.0, 0.0], [0.0, 1.0]], prior_cov=4.0, noise=0.5)
    law = optimal_action(bandit, mean=[0.1, 0.0], root=0.3 * np.eye(2))
    # b = 4 a: values differ by N(0.4, 2 (4 * 0.3)^2) in units of the noise.
    assert law.probabilities[0] == pytest.approx(norm.cdf(0.4 / (1.2 * np.sqrt(2))))
    with pytest.raises(ValueError, match=r"mean must have shape \(2\), got shape \(3,\)"):
        optimal_action(bandit, mean=[1, 2, 3])
    with pytest.raises(ValueError, match="samples must be an integer from 32"):
        optimal_action(bandit, samples=3)


def test_of_parallel_arms_the_highest_is_the_best():
    m, c = np.array([0.0, 1.0, 0.5, 0.9]), np.array([[1.0], [1.0], [-1.0], [1.0]])
    law = law_of_the_best(m, c, 1000, 0)
    assert law.method == "rank 1"
    steeper = norm.cdf(0.25)  # 1 + x > 0.5 - x
    np.testing.assert_allclose(law.probabilities, [0, steeper, 1 - steeper, 0], atol=1e-15)


def test_the_error_of_the_entropy_is_what_it_says():
    # The error over the standard error, 60 seeds: its mean square is about 15/13, of a t law with
    # 15 degrees of freedom, and its standard deviation about 0.25. Fixed seeds, 5 of those.
    lengths = np.array([1.0, 0.8, 0.7, 0.5])
    c = np.vstack([np.diag(lengths), -np.diag(lengths)])
    exact = law_of_the_best(np.zeros(8), c, 1 << 20, 0).entropy.value
    laws = [law_of_the_best(np.zeros(8), c, 1 << 11, seed) for seed in range(1, 61)]
    assert laws[0].method == "quasi-Monte Carlo"
    errors = [(law.entropy.value - exact) / law.entropy.se for law in laws]
    assert abs(np.mean(np.square(errors)) - 15 / 13) < 5 * 0.25


# 500 arms of one probability; eight arms that can win among 500 that cannot.
ANGLES = np.linspace(0, 2 * np.pi, 500, endpoint=False)
EQUAL = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
EIGHT = np.array([[3.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1]])
FEW_WINNERS = np.vstack([EIGHT, -EIGHT, 1e-3 * np.random.default_rng(0).normal(size=(500, 4))])


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(("c", "samples"), [(EQUAL, 48), (EQUAL, 1000), (FEW_WINNERS, 1000)])
def test_the_entropy_from_few_draws_is_not_too_small_nor_surer_than_it_can_be(c, samples, copies):
    # 4.5 standard errors of the mean of ten seeds, and of each.
    few = law_of_the_best(np.zeros(8), c[:8], 1 << 17, 0).entropy.value
    exact = np.log(copies) + (few if c is FEW_WINNERS else np.log(500))
    rows = np.tile(c, (copies, 1))
    laws = [law_of_the_best(np.zeros(len(rows)), rows, samples, seed) for seed in range(10)]
    assert laws[0].method == "quasi-Monte Carlo"
    values, errors = np.array([(law.entropy.value, law.entropy.se) for law in laws]).T
    assert values.mean() > exact - 4.5 * values.std() / np.sqrt(10) - 1e-6
    assert values.max() <= np.log(len(rows)) + 1e-12
    assert (np.abs(values - exact) < 4.5 * errors + 1e-6).all()
    if c is FEW_WINNERS:  # not as far off as log K
        assert values.max() < exact + 0.1 < np.log(len(rows)) - 3


def test_what_few_draws_miss_is_told_from_what_they_met_once():
    # 3,000 arms of probabilities 1, 1/2, 1/3, ...: of 1,024 draws a third meet an arm alone.
    p = 1.0 / np.arange(1, 3001)
    p /= p.sum()
    counts = np.random.default_rng(0).multinomial(64, p, size=16).astype(float)
    found = _entropy_from_few(counts, np.ones(3000, int))
    assert entropy(p) < found.value < entropy(p) + 0.5 < np.log(3000) - 1


def test_the_same_seed_gives_the_same_law():
    bandit = fastes.LinearBandit.random(50, 5)
    one, same, other = (optimal_action(bandit, samples=4096, seed=s) for s in (1, 1, 2))
    assert (one.probabilities == same.probabilities).all()
    assert (one.probabilities != other.probabilities).any()


@pytest.mark.parametrize(
    ("K", "r", "method"),
    [(1, 3, "certain"), (2, 3, "two arms"), (7, 1, "rank 1"), (9, 2, "rank 2"), (6, 4, "quasi")],
)
def test_values_of_the_best_are_those_of_plain_sampling(K, r, method):
    # E[v_a; A* = a] of each arm, 4.5 standard errors for at most 9 arms.
    m, c = drawn(4, K, r)
    law = law_of_the_best(m, c, 1 << 16, 0)
    assert law.method.startswith(method)
    x = np.random.default_rng(3).standard_normal((400_000, r))
    v = m + x @ c.T
    best = v.argmax(axis=1)
    for a in range(K):
        plain_values = np.where(best == a, v[:, a], 0.0)
        error = plain_values.std() / np.sqrt(len(v)) + 1e-12
        assert abs(law.values[a] - plain_values.mean()) < 4.5 * error + 5e-4 * (method == "quasi")


def test_values_of_independent_arms():
    m, c = np.array([0.3, 0.0, -0.5, -1.0]), np.diag([0.0, 1.0, 2.0, 0.0])
    law = law_of_the_best(m, np.column_stack([c, np.zeros((4, 1))]), 1000, 0)
    v = m + np.random.default_rng(3).standard_normal((400_000, 4)) @ c
    error = v.max(axis=1).std() / np.sqrt(len(v))
    assert abs(law.values.sum() - v.max(axis=1).mean()) < 4.5 * error
    assert law.values[0] == pytest.approx(0.3 * law.probabilities[0])


@pytest.mark.parametrize("ratio", [1e3, 1e5, 1e8])
def test_independent_arms_of_very_different_spread(ratio):
    # Of two standard normals and one that is all but zero, that is the best if both are below.
    law = law_of_the_best(np.zeros(3), np.diag([1 / ratio, 1.0, 1.0]), 1000, 0)
    assert law.method == "independent arms"
    assert law.probabilities == pytest.approx([0.25, 0.375, 0.375], abs=2 / ratio + 1e-7)


def test_two_arms_that_differ_by_a_constant():
    law = law_of_the_best(np.array([0.0, 1.0]), np.ones((2, 3)), 1000, 0)
    assert law.probabilities.tolist() == [0, 1]
    assert law.values.tolist() == [0, 1]


def test_many_arms_in_the_plane_are_left_to_draws():
    angles = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    c = np.column_stack([np.cos(angles), np.sin(angles)])
    law = law_of_the_best(np.zeros(500), c, 1 << 16, 0)
    assert law.method == "quasi-Monte Carlo"
    assert law.entropy.value == pytest.approx(np.log(500), abs=0.01)
