"""Parts of the family's kernels: quantiles, random weights, and what perturbed history draws."""

import numpy as np
import pytest
import reference
from engine import from_python, observe, prepare, start
from fastes.kernels.agents import ensemble_plus_plus
from fastes.kernels.agents.perturbed_history import draw_models
from fastes.kernels.arithmetic import normal_quantile
from fastes.kernels.streams.layout import REFERENCE
from fastes.kernels.streams.philox import source
from scipy import stats

import fastes

LAWS = ["normal", "sphere", "signs", "coordinates"]
fill_weights = from_python(ensemble_plus_plus.fill_weights)
upper_quantile = from_python(normal_quantile.upper_quantile)


@pytest.mark.parametrize("t", [1, 2, 3, 10, 1000, 10**6, 10**9, 2**40, 2**56 - 1])
def test_quantiles_are_those_of_scipy(t):
    assert upper_quantile(1 / (t + 2)) == pytest.approx(stats.norm.isf(1 / (t + 2)), rel=1e-13)


def test_the_first_quantile_is_the_median():
    bandit = fastes.LinearBandit.random(K=5, d=2)
    run = start(bandit, fastes.BayesUCB(), 1)
    run.step(0)
    assert run.state.scratch.alpha[0] == 0.0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("M", [1, 2, 3, 64, 65, 128, 300])
def test_weights(law, M):
    out = np.empty(M)
    fill_weights(LAWS.index(law), source(3, 1), REFERENCE, np.int64(17), out)
    expected = reference.weights(law, 3, 1, REFERENCE, 17, M)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("law", LAWS)
def test_the_second_moment_of_weights_is_the_identity(law):
    # z tests of 4 means and 10 second moments over 20,000 vectors, level 1e-5 each.
    M, n = 4, 20_000
    drawn = np.empty((n, M))
    for t in range(n):
        fill_weights(LAWS.index(law), source(5), REFERENCE, np.int64(t), drawn[t])
    assert (np.abs(drawn.mean(axis=0)) < 4.4 * drawn.std(axis=0) / np.sqrt(n)).all()
    products = drawn[:, :, None] * drawn[:, None, :]
    gap = np.abs(products.mean(axis=0) - np.eye(M))
    assert (gap <= 4.4 * products.std(axis=0) / np.sqrt(n) + 1e-12).all()


@pytest.mark.parametrize("steps", [0, 3, 300, 900])
def test_perturbed_history_draws_from_the_covariance_of_the_history(steps):
    """V'V and the recent arms make P - I; draws have covariance scale^2 (S - S^2), level 1e-4."""
    bandit, scale, n = fastes.LinearBandit.random(K=40, d=3), 0.7, 40_000
    run, rng = start(bandit, fastes.PerturbedHistory(scale), steps + 1), np.random.default_rng(1)
    arms = bandit.canonical.arms
    P = np.eye(3)
    for t in range(steps):
        arm = int(rng.integers(40))
        observe(run.state, arms, run.source, t, arm, rng.normal())
        P += np.outer(bandit.actions[arm], bandit.actions[arm])
    posterior, V = run.state.belief, run.state.factor
    recent = posterior.since_refactor[1]
    rows = posterior.recent[:recent] * np.sqrt(posterior.recent_plays[:recent, None])
    np.testing.assert_allclose(V.T @ V + rows.T @ rows, P - np.eye(3), atol=1e-10 * (1 + steps))
    assert (np.tril(V, -1) == 0).all()
    z = np.empty((n, 3))
    draw_models(run.state, run.source, 5, z)
    S = np.linalg.inv(P)
    expected = scale**2 * (S - S @ S)
    found = np.cov(z.T)
    spread = np.sqrt((expected**2 + np.outer(np.diag(expected), np.diag(expected))) / n)
    assert (np.abs(found - expected) <= 4.5 * spread + 1e-15).all()
    assert (np.abs(z.mean(axis=0) - posterior.mu) <= 4.5 * np.sqrt(np.diag(expected) / n)).all()


def test_perturbed_history_of_no_rewards_is_greedy():
    bandit = fastes.LinearBandit.random(K=9, d=2, prior_mean=[1.0, 0.3])
    run = start(bandit, fastes.PerturbedHistory(5.0), 1)
    prepare(run.state, run.source, 0)
    assert (run.state.z == 0.0).all()
