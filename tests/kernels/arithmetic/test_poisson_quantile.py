import numpy as np
import pytest
from engine import from_python
from fastes.kernels.arithmetic import poisson_quantile as module
from scipy import stats

quantile = from_python(module.poisson_quantile)
law_at = from_python(module._law_at)

MEANS = [1e-300, 1e-5, 0.1, 1.0, 10.0, 127.9, 128.0, 1e3, 1e6]


@pytest.mark.parametrize("mean", MEANS)
def test_it_is_the_smallest_count_whose_probability_to_be_exceeded_is_small_enough(mean):
    # Tails from 1/2 to 2^-53 on both sides; scipy's own quantile is not exact in the far tail.
    rng, law = np.random.default_rng(0), stats.poisson(mean)
    tails = np.append(2.0 ** -rng.uniform(1, 52, 300), 2.0**-53)
    for tail in tails:
        k = quantile(mean, 1.0 - tail)
        above = 1.0 - (1.0 - tail)  # as it was rounded
        assert law.sf(k) <= above * (1 + 1e-4)
        assert k == 0 or law.sf(k - 1) >= above * (1 - 1e-4)
        k = quantile(mean, tail)
        assert law.cdf(k) >= tail * (1 - 1e-4)
        assert k == 0 or law.cdf(k - 1) < tail * (1 + 1e-4)


@pytest.mark.parametrize("mean", [0.5, 30.0, 300.0, 1e5])
def test_in_the_body_of_the_law_it_is_scipy_s(mean):
    uniforms = np.random.default_rng(1).random(2_000)
    found = [quantile(mean, u) for u in uniforms]
    np.testing.assert_array_equal(found, stats.poisson.ppf(uniforms, mean))


@pytest.mark.parametrize("mean", [128.0, 1e3, 1e4])
def test_tails_and_probabilities_are_those_of_the_law(mean):
    for x in np.linspace(-7.5, 7.5, 16):
        k = float(np.floor(mean + np.sqrt(mean) * x))
        law = stats.poisson(mean)
        expected = law.cdf(k), law.sf(k), law.pmf(k)
        np.testing.assert_allclose(law_at(mean, k), expected, rtol=1e-10)


def test_it_grows_with_the_mean_and_with_the_uniform_number():
    rng = np.random.default_rng(2)
    means = np.sort(np.concatenate([10.0 ** rng.uniform(-3, 7, 200), np.linspace(120, 136, 50)]))
    uniforms = np.sort(rng.random(20))
    counts = np.array([[quantile(mean, u) for u in uniforms] for mean in means])
    assert (np.diff(counts, axis=0) >= 0).all()
    assert (np.diff(counts, axis=1) >= 0).all()


def test_extreme_means():
    assert quantile(0.0, 0.3) == 0.0
    assert np.isnan(quantile(np.nan, 0.3))
    assert quantile(1e18, 0.5) == pytest.approx(1e18)
    assert quantile(np.inf, 0.5) == np.inf
