"""Priors fitted to logs: the likelihood of explicit densities, its gradient and its maximum."""

import math

import numpy as np
import pytest
import reference
from scipy.optimize import minimize

import fastes
from fastes.logs.marginal import likelihood
from fastes.logs.prior import FORMS, _moments


def grouped(G=4, n=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    users = np.sort(rng.integers(G, size=n)) if G > 1 else np.zeros(n, int)
    users[:G] = range(G)
    thetas = np.array([1.0, -0.5, 2.0, 0.1])[:d] + 0.7 * rng.normal(size=(G, d))
    X = rng.normal(size=(n, d))
    y = (X * thetas[users]).sum(axis=1) + 0.4 * rng.normal(size=n)
    return fastes.Log(None, X, y, group=users if G > 1 else None), X, y, users.tolist()


@pytest.mark.parametrize(("G", "n", "d"), [(1, 1, 1), (1, 8, 3), (4, 30, 3), (9, 9, 2)])
def test_the_likelihood_is_the_density_of_the_rewards(G, n, d):
    log, X, y, users = grouped(G, n, d)
    rng = np.random.default_rng(1)
    for _ in range(3):
        mean, root, v = rng.normal(size=d), np.tril(rng.normal(size=(d, d))), rng.uniform(0.1, 2)
        found = likelihood(_moments(log), mean, root, v)
        args = users, mean, root @ root.T, math.sqrt(v)
        assert found.value == pytest.approx(reference.log_evidence(X, y, *args), rel=1e-10)


def test_the_gradient_is_that_of_the_density():
    log, X, y, users = grouped()
    rng = np.random.default_rng(2)
    mean, root, v = rng.normal(size=3), rng.normal(size=(3, 3)), 0.3
    found = likelihood(_moments(log), mean, root, v)

    def density(mean=mean, root=root, v=v):
        return reference.log_evidence(X, y, users, mean, root @ root.T, math.sqrt(v))

    h = 1e-5
    for j in range(3):
        step = h * np.eye(3)[j]
        slope = (density(mean=mean + step) - density(mean=mean - step)) / (2 * h)
        assert found.mean[j] == pytest.approx(slope, rel=1e-6)
        for k in range(3):
            step = np.zeros((3, 3))
            step[j, k] = h
            slope = (density(root=root + step) - density(root=root - step)) / (2 * h)
            assert found.root[j, k] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    slope = (density(v=v * math.exp(h)) - density(v=v * math.exp(-h))) / (2 * h)
    assert found.log_noise == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_prior_is_the_maximum_of_the_density(form):
    log, X, y, users = grouped(G=6, n=60, d=2)
    prior = fastes.fit_prior(log, form)
    cov = np.eye(2) * prior.prior_cov if form != "full" else prior.prior_cov
    best = reference.log_evidence(X, y, users, prior.prior_mean, cov, prior.noise)
    assert prior.log_evidence == pytest.approx(best, rel=1e-9)

    def negative(x):  # its own parameters, and no gradient
        spread = {"isotropic": np.eye(2) * x[3], "diagonal": np.diag(x[3:5])}
        root = spread.get(form, np.array([[x[3], 0.0], [x[5], x[4]]]))
        return -reference.log_evidence(X, y, users, x[:2], root @ root.T, math.exp(x[2]))

    start = np.array([1.0, -0.5, -1.0, 0.7, 0.7, 0.1])
    options = {"maxiter": 4000, "maxfev": 4000, "xatol": 1e-6, "fatol": 1e-10}
    found = minimize(negative, start, method="Nelder-Mead", options=options)
    assert best >= -found.fun - 1e-7
    assert best == pytest.approx(-found.fun, abs=1e-5)


def test_one_theta_has_an_isotropic_prior_of_mean_zero():
    log, X, y, users = grouped(G=1, n=40)
    prior = fastes.fit_prior(log)
    assert prior.prior_mean.tolist() == [0.0, 0.0, 0.0]

    def density(variance, noise):
        return reference.log_evidence(X, y, users, np.zeros(3), variance * np.eye(3), noise)

    best = density(prior.prior_cov, prior.noise)
    for factor in (0.99, 1.01):
        assert density(prior.prior_cov * factor, prior.noise) < best
        assert density(prior.prior_cov, prior.noise * factor) < best
    with pytest.raises(ValueError, match="needs a log with at least 4 groups, got 1: one theta"):
        fastes.fit_prior(log, "full")


@pytest.mark.parametrize("form", FORMS)
def test_the_truth_is_recovered_from_many_groups(form):
    # 400 groups of 100 rows; a right program fails with probability below 10^-4: each of at most
    # 9 estimates by more than 4.5 of its standard errors, which are known but for 10% or so.
    rng = np.random.default_rng(5)
    G, d, noise = 400, 3, 0.5
    cov = np.array([[0.5, 0.2, 0.0], [0.2, 0.3, -0.1], [0.0, -0.1, 0.4]])
    cov = {"isotropic": 0.4 * np.eye(d), "diagonal": np.diag([0.5, 0.1, 0.3])}.get(form, cov)
    mean = np.array([1.0, 0.0, -2.0])
    thetas = rng.multivariate_normal(mean, cov, size=G)
    users, arm = np.repeat(np.arange(G), 100), rng.integers(20, size=100 * G)
    arms = rng.normal(size=(20, d))
    reward = (arms[arm] * thetas[users]).sum(axis=1) + noise * rng.normal(size=100 * G)
    prior = fastes.fit_prior(fastes.Log(arms, arm, reward, group=users), form)
    assert (np.abs(prior.prior_mean - mean) < 5 * np.sqrt(np.diag(cov) / G)).all()
    found = np.eye(d) * prior.prior_cov if form != "full" else prior.prior_cov
    error = np.sqrt((cov**2 + np.outer(np.diag(cov), np.diag(cov))) / G)
    assert (np.abs(found - cov) < 5 * error).all()
    assert abs(prior.noise / noise - 1.0) < 5 / math.sqrt(2 * 99 * G)
    assert 0.97 * G * d < prior.determined <= G * d
    bandit = fastes.LinearBandit(arms, **prior)
    assert bandit.noise == prior.noise


def test_units_of_rewards_and_of_features_only_scale_the_prior():
    log, X, y, users = grouped(G=6, n=60, d=2)
    one = fastes.fit_prior(log, "diagonal")
    two = fastes.fit_prior(fastes.Log(None, 1e-6 * X, 1e9 * y, group=users), "diagonal")
    np.testing.assert_allclose(two.prior_mean, 1e15 * one.prior_mean, rtol=1e-5)
    np.testing.assert_allclose(two.prior_cov, 1e30 * one.prior_cov, rtol=1e-4)
    assert two.noise == pytest.approx(1e9 * one.noise, rel=1e-5)
    assert two.log_evidence == pytest.approx(one.log_evidence - 60 * math.log(1e9), rel=1e-9)


def test_the_order_of_rows_and_the_names_of_groups_do_not_matter():
    log, X, y, users = grouped(G=6, n=60, d=2)
    order = np.random.default_rng(0).permutation(60)
    names = [f"user {9 - g}" for g in np.array(users)[order]]
    other = fastes.fit_prior(fastes.Log(None, X[order], y[order], group=names))
    assert other.log_evidence == pytest.approx(fastes.fit_prior(log).log_evidence, rel=1e-9)


def test_rewards_without_signal_have_a_prior_that_is_not_determined():
    rng = np.random.default_rng(3)
    rows = np.tile(np.eye(2), (500, 1))
    noise = rng.normal(size=1000)
    noise -= rows @ (rows.T @ noise) / 500  # nothing that an arm could explain
    prior = fastes.fit_prior(fastes.Log(None, rows, noise))
    assert prior.prior_cov < 1e-4
    assert "not determined" in repr(prior)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (fastes.Log(2, [0], [1.0]), "needs at least 2 rows"),
        (fastes.Log(2, [0, 1], [0.0, 0.0]), "arms and rewards that are not all zero"),
        (fastes.Log(np.zeros((2, 2)), [0, 1], [1.0, 0.5]), "arms and rewards that are not all"),
        (fastes.Log(2, [0, 1, 0], [1.0, 0.5, 1.0]), "the arms explain all rewards exactly"),
    ],
)
def test_a_log_that_has_no_prior_in_it_is_refused(log, message):
    with pytest.raises(ValueError, match=message):
        fastes.fit_prior(log)


def test_what_is_given_to_fit_prior_is_checked():
    with pytest.raises(TypeError, match="log must be a Log"):
        fastes.fit_prior([1.0])
    with pytest.raises(ValueError, match="form must be one of isotropic, diagonal, full"):
        fastes.fit_prior(grouped()[0], "round")
