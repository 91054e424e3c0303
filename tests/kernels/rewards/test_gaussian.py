"""The noise of rewards: the reference's numbers, of mean 0 and the standard deviation asked for."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.rewards.gaussian import gaussian_rewards
from fastes.kernels.rewards.interface import variate
from fastes.kernels.streams.blocks import STEPS
from fastes.kernels.streams.layout import MAX_COUNTER, NOISE
from fastes.kernels.streams.philox import source
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastes.problem.truth import LAWS

noise_at = from_python(variate)

# Times in the same block and in others, near the beginning and near the last counter.
times = st.one_of(st.integers(0, 3 * STEPS), st.integers(0, MAX_COUNTER))
places = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), times), min_size=1, max_size=8)

SHAPES = {
    "normal": stats.norm(),
    "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    "laplace": stats.laplace(scale=np.sqrt(0.5)),
}
N = 100_000


def drawn(law, scale=1.0, first=0, n=N, seed=7):
    given, origin = gaussian_rewards(LAWS.index(law), scale), source(seed, 3)
    return np.array([noise_at(given, origin, first + i) for i in range(n)])


@pytest.mark.parametrize("law", LAWS)
@given(places, st.sampled_from([1.0, 0.0, 0.3, 1e9]))
def test_noise_is_that_of_the_reference(law, places, scale):
    one = gaussian_rewards(LAWS.index(law), scale)
    for seed, run, t in places:
        found = noise_at(one, source(seed, run), t)
        expected = scale * reference.noise(seed, run, int(NOISE), t, law)
        assert found == pytest.approx(expected, rel=1e-13, abs=1e-14 * scale)


@pytest.mark.parametrize("law", LAWS)
def test_noise_does_not_depend_on_where_a_stretch_begins(law):
    whole = drawn(law, 0.7, n=100)
    for first in (1, 15, 16, 37):
        assert (drawn(law, 0.7, first, 40) == whole[first : first + 40]).all()


@pytest.mark.parametrize("law", LAWS)
def test_moments(law):
    """Mean, variance and third moment of 100,000 draws, each within 5 standard errors.

    Wrong once in a million seeds, and this one is fixed.
    """
    x = drawn(law, 2.0) / 2.0
    fourth = {"normal": 3.0, "uniform": 9 / 5, "signs": 1.0, "laplace": 6.0}[law]
    sixth = {"normal": 15.0, "uniform": 27 / 7, "signs": 1.0, "laplace": 90.0}[law]
    assert abs(x.mean()) < 5 / np.sqrt(N)
    assert abs((x**2).mean() - 1) <= 5 * np.sqrt((fourth - 1) / N)
    assert abs((x**3).mean()) < 5 * np.sqrt(sixth / N)


@pytest.mark.parametrize("law", SHAPES)
def test_the_law_is_the_one_named(law):
    """Kolmogorov and Smirnov's test of 100,000 draws, at the level 1e-6."""
    assert stats.kstest(drawn(law), SHAPES[law].cdf).pvalue > 1e-6


def test_signs_are_two_numbers():
    assert set(drawn("signs", 0.5)) == {-0.5, 0.5}


@pytest.mark.parametrize("law", LAWS)
def test_neighbours_are_independent(law):
    """Correlations of steps 1, 2 and 16 apart, of 100,000: each within 5 standard errors."""
    x = drawn(law)
    for apart in (1, 2, STEPS):
        assert abs((x[apart:] * x[:-apart]).mean()) < 5 / np.sqrt(N - apart)
