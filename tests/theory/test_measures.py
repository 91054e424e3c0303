"""Information measures: textbook values, and the properties that make them measures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastes.theory.measures import (
    conditional_entropy,
    conditional_mutual_information,
    entropy,
    hellinger,
    kl,
    mutual_information,
)

LOG2 = np.log(2)


def distributions(shape, zeros=0.3):
    """Return a strategy for joint distributions, some of whose entries are zero."""

    def draw(seed):
        rng = np.random.default_rng(seed)
        weights = rng.exponential(size=shape) * (rng.random(shape) > zeros)
        weights.flat[rng.integers(weights.size)] += 1e-3
        return weights / weights.sum()

    return st.integers(0, 2**32 - 1).map(draw)


def test_textbook_values():
    # Cover and Thomas, Elements of Information Theory, examples 2.1.2, 2.2.1 and 2.3.1, in bits.
    assert entropy([1 / 2, 1 / 4, 1 / 8, 1 / 8]) / LOG2 == pytest.approx(7 / 4)
    joint = np.array([[4, 2, 1, 1], [2, 4, 1, 1], [2, 2, 2, 2], [8, 0, 0, 0]]) / 32
    assert conditional_entropy(joint.T) / LOG2 == pytest.approx(11 / 8)
    assert conditional_entropy(joint) / LOG2 == pytest.approx(13 / 8)
    assert mutual_information(joint) / LOG2 == pytest.approx(3 / 8)
    assert kl([1 / 2, 1 / 2], [3 / 4, 1 / 4]) / LOG2 == pytest.approx(1 - np.log2(3) / 2)
    assert kl([3 / 4, 1 / 4], [1 / 2, 1 / 2]) / LOG2 == pytest.approx(np.log2(3) * 3 / 4 - 1)
    assert hellinger([1, 0], [1 / 2, 1 / 2]) ** 2 == pytest.approx(2 - np.sqrt(2))


def test_the_exclusive_or_tells_nothing_until_the_condition_is_known():
    joint = np.zeros((2, 2, 2))
    for x in range(2):
        for y in range(2):
            joint[x, y, x ^ y] = 1 / 4
    assert mutual_information(joint.sum(axis=2)) == pytest.approx(0)
    assert conditional_mutual_information(joint) == pytest.approx(LOG2)


def test_what_must_be_infinite_is_and_nothing_else():
    assert kl([0.5, 0.5, 0], [1, 0, 0]) == np.inf
    assert kl([1, 0, 0], [0.5, 0.5, 0]) == pytest.approx(LOG2)
    assert kl([1.0], [1.0]) == 0
    assert hellinger([1, 0], [0, 1]) ** 2 == pytest.approx(2)


@given(distributions(7), distributions(7))
def test_the_squared_hellinger_distance_is_below_both_divergences(p, q):
    square = hellinger(p, q) ** 2
    assert 0 <= square <= 2 + 1e-12
    assert square <= min(kl(p, q), kl(q, p)) + 1e-12
    assert hellinger(p, q) == hellinger(q, p)
    assert kl(p, p) == 0 == hellinger(p, p)


@given(distributions(5), distributions(5), distributions(5), distributions(5), st.floats(0, 1))
def test_both_are_jointly_convex(p, q, r, s, weight):
    def mixed(x, y):
        return weight * x + (1 - weight) * y

    square = hellinger(mixed(p, r), mixed(q, s)) ** 2
    assert square <= mixed(hellinger(p, q) ** 2, hellinger(r, s) ** 2) + 1e-12
    if np.isfinite(kl(p, q)) and np.isfinite(kl(r, s)):
        assert kl(mixed(p, r), mixed(q, s)) <= mixed(kl(p, q), kl(r, s)) + 1e-12


@given(distributions((3, 4)))
def test_mutual_information_is_symmetric_and_a_difference_of_entropies(joint):
    information = mutual_information(joint)
    x, y = joint.sum(axis=1), joint.sum(axis=0)
    assert information >= 0
    assert information == pytest.approx(mutual_information(joint.T), abs=1e-12)
    assert information == pytest.approx(entropy(x) - conditional_entropy(joint), abs=1e-12)
    assert information <= min(entropy(x), entropy(y)) + 1e-12


@given(distributions((3, 2, 4)))
def test_the_chain_rule(joint):
    # I(X; (Y, Z)) = I(X; Z) + I(X; Y | Z)
    together = mutual_information(joint.reshape(3, 8))
    apart = mutual_information(joint.sum(axis=1)) + conditional_mutual_information(joint)
    assert together == pytest.approx(apart, abs=1e-12)
    given_z = conditional_entropy(joint.sum(axis=1))
    given_both = conditional_entropy(joint.reshape(3, 8))
    assert conditional_mutual_information(joint) == pytest.approx(given_z - given_both, abs=1e-12)


def test_leading_axes_are_runs_of_their_own():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), size=(2, 3))
    q = rng.dirichlet(np.ones(4), size=3)
    assert kl(p, q).shape == hellinger(p, q).shape == (2, 3)
    assert kl(p, q)[1, 2] == kl(p[1, 2], q[2])
    assert entropy(p)[0, 1] == entropy(p[0, 1])
    joint = rng.dirichlet(np.ones(24), size=5).reshape(5, 2, 3, 4)
    assert conditional_mutual_information(joint)[3] == conditional_mutual_information(joint[3])
    assert mutual_information(joint.sum(axis=3)).shape == (5,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: entropy([0.5, 0.6]), "p must sum to 1, got a sum of 1.1"),
        (lambda: entropy([0.5, 0.5 + 1e-6]), "p must sum to 1, got a sum of 1.000001"),
        (lambda: entropy([1.5, -0.5]), "p must be at least 0, got -0.5"),
        (lambda: entropy([0.5, np.nan]), r"p must be finite, got nan at \[1\]"),
        (lambda: entropy([]), r"along its last 1 axis, got shape \(0,\)"),
        (lambda: entropy(1.0), r"along its last 1 axis, got shape \(\)"),
        (lambda: kl([1.0], [0.5, 0.5]), r"shapes that fit, got \(1,\) and \(2,\)"),
        (lambda: kl(np.full((2, 2), 0.5), np.full((3, 2), 0.5)), "shapes that fit"),
        (lambda: kl([0.5, 0.5], [0.5, 0.4]), "q must sum to 1, got a sum of 0.9"),
        (lambda: mutual_information([0.5, 0.5]), r"last 2 axes, got shape \(2,\)"),
        (lambda: conditional_mutual_information(np.eye(2) / 2), "last 3 axes"),
    ],
)
def test_bad_distributions_are_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
