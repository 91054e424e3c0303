"""A normal belief that learns the noise, against the conjugate posterior of all rewards at once."""

import numba
import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.beliefs import interface, noise
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.beliefs.interface import covariance_of, is_whole, noise_of
from fastes.kernels.beliefs.noise import learned_noise, variance_law
from fastes.kernels.streams.layout import MODEL_INDEX
from fastes.kernels.streams.philox import source

update = from_python(interface.update)
draw_noise = from_python(noise.draw_noise)


def believed(r, rooted, shape=2.0, scale=1.0, least=1.0):
    return gaussian(r, rooted, learned_noise.layout(shape, scale, least))


def learn(belief, rows, rewards, offset=0.0):
    for key, (row, reward) in enumerate(zip(rows, rewards, strict=True)):
        update(belief, row, offset, key, reward + offset)


def expected(rows, rewards, shape=2.0, scale=1.0, least=1.0):
    r = rows.shape[1]
    problem = reference.Problem(rows, np.zeros(r), np.eye(r), 1.0)
    return reference.learned_noise(problem, rows, np.asarray(rewards), shape, scale, least)


def assert_agree(belief, mean, V, a, b, rtol=1e-9):
    size = np.abs(mean).max() + 1e-300
    assert np.abs(belief.mu - mean).max() <= rtol * size
    assert np.abs(covariance_of(belief) - V).max() <= rtol * np.abs(V).max()
    np.testing.assert_allclose(variance_law(noise_of(belief)), [a, b], rtol=rtol)


@pytest.mark.parametrize("rooted", [False, True])
@pytest.mark.parametrize(
    ("r", "n", "spread", "prior"),
    [
        (1, 0, 1.0, {}),
        (1, 1, 1.0, {}),
        (1, 40, 3.0, {"least": 0.1}),
        (4, 3, 0.2, {"shape": 1.0, "scale": 1e-9}),
        (4, 300, 5.0, {"shape": 7.5, "scale": 40.0, "least": 0.001}),
        (9, 60, 1e-6, {"least": 0.1}),
        (9, 60, 1e6, {"least": 0.1}),
    ],
)
def test_the_posterior_is_that_of_all_rewards_at_once(r, n, spread, prior, rooted):
    """Beyond the reward at which the belief is computed afresh, too."""
    rng = np.random.default_rng(r)
    rows, z = rng.normal(size=(n, r)), rng.normal(size=r)
    rewards = rows @ z + spread * rng.normal(size=n)
    belief = believed(r, rooted, **prior)
    learn(belief, rows, rewards, offset=0.25)
    tolerance = 1e-9 if spread > 1e-3 else 1e-5  # of the reference: it takes inverses
    assert_agree(belief, *expected(rows, rewards, **prior), tolerance)


@pytest.mark.parametrize("rooted", [False, True])
def test_noise_that_cannot_be_told_from_rewards(rooted):
    """A first reward as large as there may be, and then none: rewards without residuals."""
    rows = np.tile([[1.0, 0.0], [0.0, 1.0]], (30, 1))
    rewards = np.zeros(60)
    belief = believed(2, rooted)
    learn(belief, rows, rewards)
    np.testing.assert_array_equal(variance_law(noise_of(belief)), [32.0, 1.0])
    rewards[0] = 1e12
    belief = believed(2, rooted)
    learn(belief, rows, rewards)
    assert_agree(belief, *expected(rows, rewards), 1e-6)


@numba.njit
def alternate(belief, row, n, size):
    for i in range(n):
        interface.update(belief, row, 0.0, 0, size if i % 2 == 0 else -size)


def test_b_is_right_to_n_roundings():
    """n rewards of an arm, 3 and -3 in turn: their mean is 0, and b is 1 + (9 n) / 2."""
    belief, n = believed(1, False), 200_000
    alternate(belief, np.ones(1), n, 3.0)
    a, b = variance_law(noise_of(belief))
    assert a == 2.0 + n / 2
    np.testing.assert_allclose(b, 1.0 + 4.5 * n, rtol=n * 2.0**-53)


def test_draws_are_the_inverse_gamma_s():
    belief = believed(2, True, shape=3.0, scale=5.0)
    drawn = [draw_noise(noise_of(belief), source(4, 2), MODEL_INDEX, t) for t in range(50)]
    b = [5.0 / reference.gamma(4, 2, int(MODEL_INDEX), t, 3.0) for t in range(50)]
    np.testing.assert_allclose(np.square(drawn), b, rtol=1e-12)


def test_a_law_from_a_file_is_checked():
    belief = believed(2, True)
    assert is_whole(belief)
    for law in ([0.5, 1.0], [2.0, 0.0], [2.0, -1.0]):
        belief.rewards.law[:] = law
        assert not is_whole(belief)
