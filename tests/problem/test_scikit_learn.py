"""The mode of clicks against scikit-learn: LogisticRegression solves the same ridge problem."""

import numpy as np
import pytest

import fastes

linear_model = pytest.importorskip("sklearn.linear_model")

SHAPES = {
    "plane": (6, 2, 1.0, 30),
    "wide prior": (12, 4, 100.0, 300),
    "narrow prior": (12, 4, 0.01, 300),
    "more dimensions than arms": (5, 20, 4.0, 60),
    "one arm": (1, 1, 1.0, 9),
    "many plays": (40, 8, 1.0, 5000),
}


def played(K, d, prior_cov, plays):
    """Return a bandit, the arms that were played, and their clicks."""
    rng = np.random.default_rng(K * plays)
    bandit = fastes.LogisticBandit(rng.normal(size=(K, d)) / np.sqrt(d), prior_cov=prior_cov)
    theta = np.sqrt(prior_cov) * rng.normal(size=d)
    arms = rng.integers(K, size=plays)
    return bandit, arms, rng.binomial(1, 1 / (1 + np.exp(-bandit.actions[arms] @ theta)))


def both_modes(bandit, arms, clicks):
    """Return the mode of a live agent, and scikit-learn's: a ridge is a prior, C its variance."""
    agent = fastes.ThompsonSampling().start(bandit, seed=1)
    agent.observe(arms, clicks.astype(float))
    theirs = linear_model.LogisticRegression(
        C=bandit.prior_cov, fit_intercept=False, solver="newton-cholesky", tol=1e-13, max_iter=500
    )
    theirs.fit(bandit.actions[arms], clicks)
    return agent.posterior().mean, theirs.coef_[0]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_mode_is_the_ridge_estimate_of_scikit_learn(shape):
    ours, theirs = both_modes(*played(*shape))
    assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8)


def test_separable_clicks_have_the_same_mode():
    bandit, arms, _ = played(12, 3, 25.0, 200)
    clicks = (bandit.actions[arms, 0] > 0).astype(int)
    ours, theirs = both_modes(bandit, arms, clicks)
    assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8)
