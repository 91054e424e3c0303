import numpy as np
import pytest
from fastes.kernels import posterior as kernels
from fastes.kernels.posterior import prior, refactor, sample, update, update_with_root
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

SIZES = [1, 2, 3, 4, 7, 8, 9, 50]


def observe(posterior, kernel, arms, rewards):
    for b, y in zip(arms, rewards, strict=True):
        posterior.b[:] = b
        kernel(posterior, y)


def precision(posterior):
    """Return P whole; only its upper triangle is kept."""
    return np.triu(posterior.P) + np.triu(posterior.P, 1).T


def explicit(arms, rewards):
    """Equation (1) all at once, with inverses."""
    r = arms.shape[1]
    P = np.eye(r) + arms.T @ arms
    S = np.linalg.inv(P)
    return P, S, S @ (arms.T @ rewards)


@pytest.mark.parametrize("kernel", [update, update_with_root])
@pytest.mark.parametrize("r", SIZES)
@pytest.mark.parametrize("n", [1, 2, 20])
def test_update_is_equation_1(kernel, r, n):
    rng = np.random.default_rng([r, n])
    arms, rewards = rng.normal(size=(n, r)), rng.normal(size=n)
    posterior = prior(r)
    observe(posterior, kernel, arms, rewards)
    P, S, mu = explicit(arms, rewards)
    np.testing.assert_allclose(precision(posterior), P, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(posterior.S, S, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(posterior.mu, mu, rtol=1e-10, atol=1e-12)
    if kernel is update_with_root:
        np.testing.assert_allclose(posterior.root @ posterior.root.T, S, rtol=1e-10, atol=1e-12)


@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.floats(1e-6, 1e3),
    st.integers(0, 2**32 - 1),
)
def test_invariants_hold_for_any_arms(r, n, scale, seed):
    rng = np.random.default_rng(seed)
    arms, rewards = scale * rng.normal(size=(n, r)), rng.normal(size=n)
    posterior = prior(r)
    observe(posterior, update_with_root, arms, rewards)
    S, P = posterior.S, precision(posterior)
    assert (S == S.T).all()
    assert (np.diag(S) > 0).all()
    assert (np.diag(S) <= 1 + 1e-12).all()
    shrinkage = np.linalg.norm(P, 2)  # of the variance in the best known direction
    assert np.abs(S @ P - np.eye(r)).max() <= 1e-15 * shrinkage * (n + 10)
    assert np.abs(posterior.root @ posterior.root.T - S).max() <= 1e-13 * (n + 10)


def test_a_zero_arm_teaches_nothing():
    posterior = prior(3)
    posterior.b[:] = 0.0
    update_with_root(posterior, 5.0)
    assert (posterior.S == np.eye(3)).all()
    assert (posterior.root == np.eye(3)).all()
    assert (posterior.mu == 0).all()


@pytest.mark.parametrize("r", SIZES)
def test_refactor_computes_the_inverse_and_its_root(r):
    rng = np.random.default_rng(r)
    posterior = prior(r)
    arms = rng.normal(size=(3 * r, r))
    posterior.P[:] = np.triu(np.eye(r) + arms.T @ arms)
    posterior.age[0] = 7
    refactor(posterior)
    P = precision(posterior)
    S = np.linalg.inv(P)
    np.testing.assert_allclose(np.triu(posterior.factor).T @ np.triu(posterior.factor), P)
    np.testing.assert_allclose(posterior.S, S, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(posterior.root @ posterior.root.T, S, rtol=1e-9, atol=1e-13)
    assert (posterior.S == posterior.S.T).all()
    assert posterior.age[0] == 0


@pytest.mark.parametrize("kernel", [update, update_with_root])
def test_refactoring_happens_at_its_cadence_and_holds_drift(kernel):
    r, steps = 20, 100_000
    rng = np.random.default_rng(1)
    # Ill-conditioned arms: two decades of length, one of them played nine times in ten.
    arms = rng.normal(size=(50, r)) * 10.0 ** rng.uniform(-1, 1, size=(50, 1))
    posterior = prior(r)

    @njit
    def many(posterior, arms, steps):
        for t in range(steps):
            for j in range(r):
                posterior.b[j] = arms[t // 10 % 50 if t % 10 == 0 else 7, j]
            kernel(posterior, 0.0)

    many(posterior, arms, steps)
    assert posterior.age[0] == steps % 256
    assert np.abs(posterior.S @ precision(posterior) - np.eye(r)).max() <= 1e-8
    if kernel is update_with_root:
        root = posterior.root
        assert np.abs(root @ root.T @ precision(posterior) - np.eye(r)).max() <= 1e-8


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6])
def test_a_reward_that_tells_much_leaves_the_covariance_exact(scale):
    posterior = prior(1)
    observe(posterior, update_with_root, np.full((5, 1), scale), np.ones(5))
    assert posterior.S[0, 0] == pytest.approx(1 / (1 + 5 * scale**2), rel=1e-12)
    assert posterior.root[0, 0] ** 2 == pytest.approx(1 / (1 + 5 * scale**2), rel=1e-12)


def test_refactoring_lets_nan_be_seen():
    posterior = prior(3)
    posterior.P[1, 1] = -1.0
    refactor(posterior)
    assert np.isnan(posterior.S).any()


@pytest.mark.parametrize("r", SIZES)
def test_sample_is_the_mean_plus_root_times_normals(r):
    rng = np.random.default_rng(r)
    posterior = prior(r)
    observe(posterior, update_with_root, rng.normal(size=(5, r)), rng.normal(size=5))
    normals, out = rng.normal(size=r), np.empty(r)
    sample(posterior, normals, out)
    np.testing.assert_allclose(out, posterior.mu + posterior.root @ normals, rtol=1e-12)


@pytest.mark.parametrize("r", SIZES)
def test_multiply_transposed_is_the_product(r):
    rng = np.random.default_rng(r)
    matrix, x, out = rng.normal(size=(r, r)), rng.normal(size=r), np.empty(r)
    kernels.multiply_transposed(matrix, x, out)
    np.testing.assert_allclose(out, matrix.T @ x, rtol=1e-11)
