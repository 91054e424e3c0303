"""Two roots of a posterior that are turned the same way."""

import numpy as np
import pytest
from engine import start
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.beliefs.interface import covariance_of
from fastes.kernels.search.orientation import norms, orient
from fastes.kernels.states.layout import saved_fields

import fastes


def oriented(posterior):
    r = len(posterior.mu)
    W, R, X = np.full((3, r, r), np.nan)
    orient(posterior, W, R, X, np.empty((2, len(W))))
    return W, R, X


def played(d, T, agent, rng, scales):
    """Return the posterior of an agent after T steps among arms of these lengths."""
    arms = rng.normal(size=(40, d)) * rng.choice(scales, size=(40, 1))
    run = start(fastes.LinearBandit(arms), agent, T)
    run.advance(0, T)
    return run.state.belief


def precision(posterior):
    """Return P in the plainest way: what was factored, and every play since."""
    n = posterior.since_refactor[1]
    recent = posterior.recent[:n]
    return posterior.factor.T @ posterior.factor + (recent.T * posterior.recent_plays[:n]) @ recent


@pytest.mark.parametrize("agent", [fastes.ThompsonSampling(), fastes.EnsembleSampling(3)])
@pytest.mark.parametrize("d", [1, 2, 3, 8, 17, 33])
@pytest.mark.parametrize("T", [1, 5, 60, 600])
def test_they_are_roots_and_inverse_to_each_other(d, T, agent):
    posterior = played(d, T, agent, np.random.default_rng([d, T]), [1.0])
    W, R, X = oriented(posterior)
    P, S = precision(posterior), covariance_of(posterior)
    np.testing.assert_allclose(R.T @ R, P, rtol=1e-10, atol=1e-10 * np.abs(P).max())
    np.testing.assert_allclose(W.T @ W, S, atol=1e-10)
    np.testing.assert_allclose(X.T @ X, S, atol=1e-10)
    np.testing.assert_allclose(W.T @ R, np.eye(d), atol=1e-10)
    assert (X == np.tril(X)).all()


@pytest.mark.parametrize("scales", [[1.0], [1e-3, 1.0, 1e3], [1e-150, 1.0]])
@pytest.mark.parametrize("d", [1, 2, 5, 24])
def test_what_is_left_uncertain_lies_in_few_coordinates(d, scales):
    agent = fastes.ThompsonSampling()
    posterior = played(d, 50, agent, np.random.default_rng(d), scales)
    W, _, _ = oriented(posterior)
    squares = (W * W).sum(axis=1)
    variances = np.linalg.eigvalsh(covariance_of(posterior))[::-1]
    for k in range(1, d):
        # The fewest that any k coordinates leave is the sum of the smallest variances.
        assert squares[k:].sum() <= 1.1 * variances[k:].sum() + 1e-12


@pytest.mark.parametrize("agent", [fastes.ThompsonSampling(), fastes.EnsembleSampling(3)])
@pytest.mark.parametrize("d", [1, 2, 6, 19])
def test_the_norms_are_those_of_the_plain_products(d, agent):
    posterior = played(d, 40, agent, np.random.default_rng(3), [1.0])
    W, R = np.random.default_rng(4).normal(size=(2, d, d))
    matrices = [W, R, np.eye(d) - W.T @ R, covariance_of(posterior) - W.T @ W]
    expected = [np.linalg.norm(matrix) for matrix in matrices]
    np.testing.assert_allclose(norms(posterior, W, R, np.empty((2, len(W)))), expected, rtol=1e-12)


def test_the_posterior_is_left_as_it_was():
    posterior = played(7, 90, fastes.EnsembleSampling(3), np.random.default_rng(5), [1.0])
    kept = {name: field.copy() for name, field in saved_fields(posterior)}
    oriented(posterior)
    for name, after in saved_fields(posterior):
        assert (kept[name] == after).all()


def test_what_is_not_a_number_shows_in_the_norms():
    posterior = gaussian(3)
    posterior.factor[0, 1] = np.nan
    W, R, _ = oriented(posterior)
    assert not np.isfinite(norms(posterior, W, R, np.empty((2, len(W))))).all()
