"""The law on two arms of the least information ratio, against all pairs and all probabilities."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.search import ratio_frontier
from hypothesis import example, given
from hypothesis import strategies as st

least_ratio = from_python(ratio_frontier.least_ratio)

# Points that share their regret, their variance or a line, and some that are far apart.
FEW = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
ANY = st.floats(1e-6, 1e6)
WIDE = st.sampled_from([1e-90, 1e-30, 1.0, 1e30, 1e90])
POINTS = st.sampled_from([FEW, FEW | st.just(0.0), ANY, WIDE]).flatmap(
    lambda each: st.lists(st.tuples(each, each | st.just(0.0)), min_size=1, max_size=9)
)


def law_of(points):
    D, v = (np.array(part, float) for part in zip(*points, strict=True))
    first, second, q = least_ratio(D, v)
    return D, v, first, second, q


@given(POINTS)
@example([(0.0, 0.0)])
@example([(1.0, 0.0)])
@example([(2.0, 0.0), (1.0, 0.0), (1.0, 0.0)])
@example([(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)])
@example([(1.0, 0.0), (2.0, 1.0), (3.0, 2.0)])
@example([(3.0, 1.0), (3.0, 4.0), (3.0, 4.0)])
def test_no_law_on_two_arms_has_a_smaller_ratio(points):
    D, v, first, second, q = law_of(points)
    assert 0 <= q < 1
    assert (first != second) == (q > 0)
    if D.min() == 0 or not v.max() > 0:
        assert q == 0
        assert D[first] == D.min()
        return
    ours = reference.ratio((1 - q) * D[first] + q * D[second], (1 - q) * v[first] + q * v[second])
    i, j, share = reference.pairs_of_least_ratio(D, v, close=0.0)[0]
    least = reference.ratio((1 - share) * D[i] + share * D[j], (1 - share) * v[i] + share * v[j])
    assert ours == pytest.approx(least, rel=1e-9)


@given(POINTS)
def test_of_equal_points_the_first_is_played(points):
    D, v, first, second, _ = law_of(points)
    for arm in (first, second):
        assert not any((D[a], v[a]) == (D[arm], v[arm]) for a in range(arm))


@pytest.mark.parametrize("K", [1, 2, 3, 7])
def test_all_pairs_are_as_good_as_a_fine_grid(K):
    # The reference's own closed form, against no form at all.
    rng = np.random.default_rng(K)
    for _ in range(5):
        D, v = rng.exponential(size=(2, K))
        i, j, q = reference.pairs_of_least_ratio(D, v, close=0.0)[0]
        least = reference.ratio((1 - q) * D[i] + q * D[j], (1 - q) * v[i] + q * v[j])
        on_grid = reference.least_ratio_on_grid(D, v, 201)
        assert least * (1 - 1e-12) <= on_grid <= least * (1 + 1e-3)


@pytest.mark.parametrize("K", [10, 1000, 30_000])
def test_no_three_arms_do_better(K):
    # Any law on arms, by a descent from many starts, has no smaller ratio than the two arms.
    rng = np.random.default_rng(K)
    D, v = rng.exponential(size=(2, K)) + 0.01
    first, second, q = least_ratio(D, v)
    least = ((1 - q) * D[first] + q * D[second]) ** 2 / ((1 - q) * v[first] + q * v[second])
    for _ in range(2000):
        arms = rng.integers(K, size=5)
        weights = rng.dirichlet(np.full(5, 0.5))
        assert (weights @ D[arms]) ** 2 / (weights @ v[arms]) >= least * (1 - 1e-12)
    slopes = 2 * D / (D[first] * (1 - q) + D[second] * q) - v / (v[first] * (1 - q) + v[second] * q)
    # The derivative of log D^2 / v towards any arm is not below 0: the minimum, for it is convex.
    assert slopes.min() >= 1 - 1e-9


@pytest.mark.parametrize("K", [81, 1_000_000])
def test_every_arm_may_be_a_vertex(K):
    # On a parabola every point is one, and the least ratio is where D = 2 v D'.
    v = np.linspace(0.0, 4.0, K)
    D = 1.0 + v**2
    first, second, q = least_ratio(D, v)
    assert 0 <= q < 1
    assert abs((1 - q) * v[first] + q * v[second] - np.sqrt(1 / 3)) < 0.05
