"""The belief in a generalised linear model: its mode, Laplace's approximation, perturbed modes."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.beliefs import interface
from fastes.kernels.beliefs.families import Bernoulli, Gaussian, Poisson
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.beliefs.glm.state import glm
from fastes.kernels.beliefs.glm.update import fit
from fastes.kernels.beliefs.memory import with_discount
from fastes.kernels.beliefs.student import draw_weighted
from fastes.kernels.streams.philox import source
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

update = from_python(interface.update)
model_from_xi = from_python(interface.model_from_xi)
sample = from_python(interface.sample)
update_with_drift = from_python(interface.update_with_drift)
log_density = from_python(interface.log_density)
squared_distance = from_python(interface.squared_distance)

FAMILIES = {"bernoulli": Bernoulli(0.0), "poisson": Poisson(0.0), "gaussian": Gaussian(0.0)}


def fitted(family, rows, n, y, offsets=0.0):
    """Return a belief that has seen so many plays of each arm, and what the reference makes of it.

    The data are set, not played: there may be 10^8 of them.
    """
    K, r = rows.shape
    belief = glm(FAMILIES[family], K, r)
    belief.columns[:, :K] = rows.T
    belief.slot_of_arm[:] = np.arange(K)
    belief.size[:] = K, n.sum()
    data = reference.Plays(family, rows, np.zeros(K) + offsets, n.astype(float), y.astype(float))
    belief.offsets[:K], belief.plays[:K], belief.pay[:K] = data.offsets, data.n, data.y
    fit(belief)
    return belief, data


def model(belief, xi):
    z = np.empty(len(xi))
    model_from_xi(belief, xi, z)
    return z


def perturbation(data, z, rng):
    return np.linalg.cholesky(data.hessian(z)) @ rng.normal(size=len(z))


def simulated(family, K, r, n, scale, seed):
    """Return arms of a length and what they paid, by a theta of the prior."""
    rng = np.random.default_rng(seed)
    rows = scale * rng.normal(size=(K, r)) / np.sqrt(r)
    plays = rng.integers(1, n + 1, size=K)
    values = rows @ rng.normal(size=r)
    if family == "bernoulli":
        return rows, plays, rng.binomial(plays, special.expit(values))
    if family == "poisson":
        return rows, plays, rng.poisson(plays * np.exp(np.minimum(values, 5)))
    return rows, plays, plays * values


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("K", "r"), [(1, 1), (3, 1), (1, 4), (9, 3), (40, 7), (70, 20)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0])
def test_modes_are_those_of_the_reference(family, K, r, scale):
    belief, data = fitted(family, *simulated(family, K, r, 50, scale, [K, r]))
    assert data.distance(belief.mu) <= 2e-9
    H = data.hessian(belief.mu)
    np.testing.assert_allclose(belief.S @ H, np.eye(r), atol=1e-11 * np.linalg.norm(H, 2))
    np.testing.assert_allclose(belief.root.T @ belief.root, belief.S, rtol=1e-9, atol=1e-15)
    assert (np.triu(belief.root, 1) == 0).all()
    rng = np.random.default_rng(1)
    for size in (0.0, 1.0, 10.0):
        xi = size * perturbation(data, belief.mu, rng)
        assert data.distance(model(belief, xi), xi) <= 2e-9


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_modes_are_scipy_s(family):
    rows, n, y = simulated(family, 12, 4, 30, 1.0, 3)
    belief, data = fitted(family, rows, n, y, 0.3)
    xi = perturbation(data, belief.mu, np.random.default_rng(2))
    for shift, z in ((0 * xi, belief.mu), (xi, model(belief, xi))):

        def loss(z, shift=shift):
            value = 0.3 + rows @ z
            psi = np.logaddexp(0, value) if family == "bernoulli" else np.exp(value)
            return z @ z / 2 + n @ psi - y @ value - shift @ z

        def slope(z, shift=shift):
            return data.gradient(z, shift)

        found = optimize.minimize(
            loss, np.zeros(4), jac=slope, hess=data.hessian, method="trust-exact", tol=1e-12
        )
        np.testing.assert_allclose(z, found.x, atol=1e-8)


SHARES = {"none paid": 0.0, "all paid": 1.0, "half paid": 0.5, "one in 10^6 paid": 1e-6}


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("plays", [1, 1000, 10**8])
@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("shape", [(1, 1), (6, 1), (1, 3), (12, 3)])
def test_hostile_clicks(share, plays, scale, shape):
    rng = np.random.default_rng(5)
    rows = scale * rng.normal(size=shape)
    n = np.full(shape[0], plays)
    y = np.round(n * SHARES[share])
    check_hostile("bernoulli", rows, n, y, rng)


@pytest.mark.parametrize("plays", [1, 10**8])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_clicks_that_a_plane_separates(plays, scale):
    rng = np.random.default_rng(6)
    rows = scale * rng.normal(size=(20, 3))
    n = np.full(20, plays)
    check_hostile("bernoulli", rows, n, n * (rows[:, 0] > 0), rng)


@pytest.mark.parametrize("reward", [0, 1, 1000, 10**9])
@pytest.mark.parametrize("plays", [1, 1000, 10**7])
@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e2])
@pytest.mark.parametrize("shape", [(1, 1), (5, 2)])
def test_hostile_counts(reward, plays, scale, shape):
    rng = np.random.default_rng(7)
    rows = scale * rng.normal(size=shape)
    n = np.full(shape[0], plays)
    y = n * reward * (np.arange(shape[0]) % 2 == 0)
    check_hostile("poisson", rows, n, y, rng)


def check_hostile(family, rows, n, y, rng):
    """The mode, and models whose perturbed rewards may be beyond what rewards can be.

    Rounding of values, relative to the largest, leaves sqrt(n psi'') times it.
    """
    belief, data = fitted(family, rows, n, y)
    for size in (0.0, 1.0, 100.0):
        xi = size * perturbation(data, belief.mu, rng)
        z = model(belief, xi)
        _, variance = reference.mean_and_variance(family, rows @ z)
        rounding = 1e-15 * np.sqrt((n * variance).max()) * np.abs(rows * z).sum(axis=1).max()
        rounding += 1e-15 * np.sqrt(len(n)) * np.abs(xi).max()
        assert data.distance(z, xi) <= 2e-9 + 20 * float(rounding)
        if size == 0.0:
            assert data.distance(belief.mu) <= 2e-9 + 20 * float(rounding)


@pytest.mark.parametrize("family", FAMILIES)
@given(
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(1, 40),
    st.sampled_from([1e-3, 1.0, 10.0]),
    st.integers(0, 2**32 - 1),
)
def test_updates_one_by_one_lead_to_the_same_belief(family, r, K, T, scale, seed):
    rng = np.random.default_rng(seed)
    rows = scale * rng.normal(size=(K, r)) / np.sqrt(r)
    offsets = rng.normal(size=K)
    belief = glm(FAMILIES[family], K, r)
    n, y = np.zeros(K), np.zeros(K)
    V = np.zeros(K)
    for _ in range(T):
        a = int(rng.integers(K))
        reward = float(rng.integers(0, 2 if family == "bernoulli" else 9))
        update(belief, rows[a], offsets[a], a, reward)
        n[a], y[a] = n[a] + 1, y[a] + reward
        data = reference.Plays(family, rows, offsets, n, y)
        value = offsets[a] + rows[a] @ belief.mu
        v = float(reference.mean_and_variance(family, value)[1])
        V[a] += v
        assert interface.perturbation_root(belief) == pytest.approx(np.sqrt(v), rel=1e-7)
    assert data.distance(belief.mu) <= 2e-9
    np.testing.assert_allclose(belief.S @ data.hessian(belief.mu), np.eye(r), atol=1e-6)
    order = [int(np.flatnonzero(belief.slot_of_arm == s)[0]) for s in range(belief.size[0])]
    np.testing.assert_allclose(belief.variances[: len(order)], V[order], rtol=1e-7)
    assert interface.is_whole(belief)


@pytest.mark.parametrize("discount", [1e-9, 1e-3, 0.9, 1 - 1e-12])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
@pytest.mark.parametrize(("K", "r", "scale"), [(1, 1, 1.0), (6, 3, 1.0), (6, 3, 30.0)])
def test_the_mode_moves_as_data_are_forgotten(discount, family, K, r, scale):
    # Also by rewards that were expected, and of a zero arm, of which there is nothing to learn.
    rng = np.random.default_rng([K, r])
    rows = np.vstack([scale * rng.normal(size=(K, r)) / np.sqrt(r), np.zeros(r)])
    belief = glm(FAMILIES[family], K + 1, r, memory=with_discount(discount, period=1))
    n, y = np.zeros(K + 1), np.zeros(K + 1)
    for t in range(60):
        a = K if t % 20 > 10 else int(rng.integers(K))
        mean, _ = reference.mean_and_variance(family, rows[a] @ belief.mu)
        reward = float(round(float(mean))) if t % 3 else float(rng.integers(2))
        update(belief, rows[a], 0.0, a, reward)
        n, y = discount * n, discount * y
        n[a], y[a] = n[a] + 1, y[a] + reward
        data = reference.Plays(family, rows, np.zeros(K + 1), n, y)
        assert data.distance(belief.mu) <= 4e-9


@pytest.mark.parametrize("constant", [0.25, 4.0])
def test_the_variance_of_perturbations_may_be_a_constant(constant):
    belief = glm(Bernoulli(constant), 2, 2)
    for _ in range(3):
        update(belief, np.array([1.0, 0.5]), 0.0, 1, 1.0)
    assert belief.variances[0] == 3 * constant
    assert interface.perturbation_root(belief) == np.sqrt(constant)


def test_a_zero_arm_and_a_reward_that_was_expected_teach_nothing():
    belief = glm(Gaussian(0.0), 3, 2)
    update(belief, np.zeros(2), 0.0, 0, 7.0)
    np.testing.assert_allclose(belief.S, np.eye(2), atol=1e-15)
    assert (belief.mu == 0).all()
    update(belief, np.array([1.0, 0.0]), 0.5, 2, 0.5)
    np.testing.assert_allclose(belief.S, np.diag([0.5, 1.0]), atol=1e-15)
    assert (belief.mu == 0).all()


def test_with_normal_rewards_it_is_the_normal_belief():
    rng = np.random.default_rng(8)
    rows, offsets = rng.normal(size=(9, 4)), rng.normal(size=9)
    ours, linear = glm(Gaussian(0.0), 9, 4), gaussian(4, rooted=True)
    for _ in range(300):
        a, reward = int(rng.integers(9)), rng.normal()
        update(ours, rows[a], offsets[a], a, reward)
        update(linear, rows[a], offsets[a], a, reward)
        np.testing.assert_allclose(ours.mu, linear.mu, atol=1e-8)
    np.testing.assert_allclose(ours.root, linear.root, atol=1e-8)
    xi, normals, z = rng.normal(size=4), rng.normal(size=4), np.empty(4)
    np.testing.assert_allclose(model(ours, xi), linear.mu + ours.S @ xi, atol=1e-8)
    sample(linear, normals, z)
    expected = z.copy()
    sample(ours, normals, z)
    np.testing.assert_allclose(z, expected, atol=1e-8)


def test_one_newton_step_from_the_mode_is_laplace_s_model():
    # With many plays models are mu + S xi, up to terms of the order of their squared deviations.
    rng = np.random.default_rng(9)
    belief, data = fitted("bernoulli", *simulated("bernoulli", 10, 3, 10**8, 1.0, 9))
    xi = perturbation(data, belief.mu, rng)
    step = belief.S @ xi
    gap = np.abs(model(belief, xi) - belief.mu - step).max()
    assert gap <= 10 * np.abs(step).max() ** 2


def test_drift_bounds_how_far_variances_rise():
    rng = np.random.default_rng(10)
    rows = rng.normal(size=(6, 3))
    belief, before, drift = glm(Bernoulli(0.0), 6, 3), np.empty((3, 3)), np.zeros(1)
    least = np.einsum("ij,jk,ik->i", rows, belief.S, rows)
    for t in range(200):
        a = int(rng.integers(6))
        update_with_drift(belief, rows[a], 0.0, a, float(t < 30), before, drift)
        variances = np.einsum("ij,jk,ik->i", rows, belief.S, rows)
        assert (variances <= least + (drift[0] + 1e-12) * (rows**2).sum(axis=1)).all()


def test_what_cannot_be_found_is_not_a_number():
    belief = glm(Bernoulli(0.0), 1, 2)
    update(belief, np.array([np.nan, 1.0]), 0.0, 0, 1.0)
    assert np.isnan(belief.mu).all()
    assert np.isnan(model(belief, np.ones(2))).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("K", "r"), [(1, 1), (3, 1), (1, 4), (9, 3), (40, 7)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0])
def test_densities_are_those_of_the_reference(family, K, r, scale):
    belief, data = fitted(family, *simulated(family, K, r, 50, scale, [K, r]), 0.3)
    rng = np.random.default_rng(3)
    H = data.hessian(belief.mu)
    for size in (0.0, 0.1, 1.0, 5.0):
        z = belief.mu + size * rng.normal(size=r) / np.sqrt(np.diag(H))
        gap, exact = z - belief.mu, data.log_density(z)
        assert log_density(belief, z) == pytest.approx(exact, rel=1e-12, abs=1e-9)
        assert squared_distance(belief, z) == pytest.approx(gap @ H @ gap, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_densities_of_many_plays_that_nearly_all_paid_do_not_cancel(scale):
    n, y = np.full(3, 10**8), np.array([10**8, 10**8 - 1, 0])
    belief, data = fitted("bernoulli", scale * np.eye(3), n, y)
    for z in (belief.mu, belief.mu + 1e-3, np.array([1.0, 0.5, -2.0])):
        assert log_density(belief, z) == pytest.approx(data.log_density(z), rel=1e-13)


def test_counts_of_any_mean_have_a_density():
    belief, _ = fitted("poisson", np.array([[1e3]]), np.array([5]), np.array([2]))
    found = [log_density(belief, np.array([z])) for z in (-1.0, 0.0, 0.01, 0.1, 10.0)]
    assert np.isfinite(found).all()
    assert found[4] <= found[3] < found[2] < found[1]


@pytest.mark.parametrize("r", [1, 2, 5])
def test_weighted_draws_give_the_moments_of_a_normal_posterior(r):
    """With normal rewards both moments are known: 100,000 draws, at 4.5 standard errors."""
    belief, data = fitted("gaussian", *simulated("gaussian", 4, r, 3, 1.0, 11))
    z, logs = np.empty((100_000, r)), np.empty(100_000)
    draw_weighted(belief, source(5), 3, np.empty(r), z, logs)
    weights = np.exp(logs - logs.max())
    x = (z - belief.mu) @ np.linalg.cholesky(data.hessian(belief.mu))
    for values, mean in ((x[:, 0], 0.0), (x[:, -1] ** 2, 1.0), (x[:, 0] ** 4, 3.0)):
        found = weights @ values / weights.sum()
        error = np.sqrt((weights**2) @ (values - found) ** 2) / weights.sum()
        assert abs(found - mean) < 4.5 * error
    assert weights.sum() ** 2 / (weights @ weights) > 0.7 * len(z)
