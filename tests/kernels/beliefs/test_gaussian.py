from fractions import Fraction

import numpy as np
import pytest
from engine import from_python
from fastes.kernels.arithmetic import vectors
from fastes.kernels.beliefs.gaussian import refactor as refactoring
from fastes.kernels.beliefs.gaussian.state import FEWEST_UPDATES, MOST_UPDATES, gaussian
from fastes.kernels.beliefs.gaussian.update import update_covariance, update_root
from fastes.kernels.beliefs.interface import covariance_of, sample
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

CALL = {kernel: from_python(kernel) for kernel in (update_covariance, update_root)}
refactor = from_python(refactoring.refactor)
draw = from_python(sample)
multiply_transposed = from_python(vectors.multiply_transposed)

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 50]


def observe(posterior, kernel, arms, rewards):
    for i, (b, y) in enumerate(zip(arms, rewards, strict=True)):
        CALL[kernel](posterior, b, i, y)


def precision(posterior):
    """Return P: what the factor holds and the arms since."""
    distinct = posterior.since_refactor[1]
    U, recent = np.triu(posterior.factor), posterior.recent[:distinct]
    return U.T @ U + recent.T @ (posterior.recent_plays[:distinct, None] * recent)


def explicit(arms, rewards):
    """Equation (1) all at once, with inverses."""
    r = arms.shape[1]
    P = np.eye(r) + arms.T @ arms
    S = np.linalg.inv(P)
    return P, S, S @ (arms.T @ rewards)


@pytest.mark.parametrize("kernel", [update_covariance, update_root])
@pytest.mark.parametrize("r", SIZES)
@pytest.mark.parametrize("n", [1, 2, 20])
def test_update_is_equation_1(kernel, r, n):
    rng = np.random.default_rng([r, n])
    arms, rewards = rng.normal(size=(n, r)), rng.normal(size=n)
    posterior = gaussian(r, rooted=kernel is update_root)
    observe(posterior, kernel, arms, rewards)
    P, S, mu = explicit(arms, rewards)
    np.testing.assert_allclose(precision(posterior), P, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(covariance_of(posterior), S, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(posterior.mu, mu, rtol=1e-10, atol=1e-12)
    assert (np.triu(posterior.root, 1) == 0).all()


@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.floats(1e-6, 1e3),
    st.integers(0, 2**32 - 1),
)
def test_invariants_hold_for_any_arms(r, n, scale, seed):
    rng = np.random.default_rng(seed)
    arms, rewards = scale * rng.normal(size=(n, r)), rng.normal(size=n)
    posterior, rooted = gaussian(r), gaussian(r, rooted=True)
    observe(posterior, update_covariance, arms, rewards)
    observe(rooted, update_root, arms, rewards)
    S, P = posterior.S, precision(posterior)
    assert (S == S.T).all()
    assert (np.diag(S) > 0).all()
    assert (np.diag(S) <= 1 + 1e-12).all()
    shrinkage = np.linalg.norm(P, 2)  # of the variance in the best known direction
    assert np.abs(S @ P - np.eye(r)).max() <= 1e-15 * shrinkage * (n + 10)
    difference = np.abs(covariance_of(rooted) - S).max()
    assert difference <= (1e-13 + 1e-15 * np.sqrt(shrinkage)) * (n + 10)
    assert np.abs(covariance_of(rooted) @ P - np.eye(r)).max() <= 1e-15 * shrinkage * (n + 10)


@pytest.mark.parametrize("kernel", [update_covariance, update_root])
def test_a_zero_arm_teaches_nothing(kernel):
    posterior = gaussian(3, rooted=kernel is update_root)
    CALL[kernel](posterior, np.zeros(3), 0, 5.0)
    assert (covariance_of(posterior) == np.eye(3)).all()
    assert (posterior.root == np.eye(3)).all()
    assert (posterior.mu == 0).all()


@pytest.mark.parametrize("r", SIZES)
@pytest.mark.parametrize("n", [0, 1, 2, 200])
def test_refactor_computes_the_inverse_and_its_root(r, n):
    rng = np.random.default_rng(r)
    posterior = gaussian(r)
    arms = rng.normal(size=(n, r))
    for _ in range(2):  # once into the prior, once into what that left
        posterior.recent[:n] = arms
        posterior.recent_plays[:n] = 1
        posterior.since_refactor[:2] = n
        refactor(posterior)
    P = np.eye(r) + 2 * arms.T @ arms
    S = np.linalg.inv(P)
    U = np.triu(posterior.factor)
    np.testing.assert_allclose(U.T @ U, P, rtol=1e-11, atol=1e-11)
    assert (np.diag(U) > 0).all()
    np.testing.assert_allclose(posterior.S, S, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(posterior.root.T @ posterior.root, S, rtol=1e-9, atol=1e-13)
    assert (posterior.S == posterior.S.T).all()
    assert posterior.since_refactor.tolist() == [0, 0, MOST_UPDATES]
    rooted = gaussian(r, rooted=True)
    for name in ("factor", "eta", "mu"):
        getattr(rooted, name)[:] = getattr(posterior, name)
    refactor(rooted)
    assert rooted.S.shape == (0, 0)
    assert (rooted.root == posterior.root).all()


@pytest.mark.parametrize("kernel", [update_covariance, update_root])
@pytest.mark.parametrize(
    ("r", "steps", "decades"),
    [(20, 100_000, 4), pytest.param(50, 10_000_000, 2, marks=pytest.mark.slow)],
)
def test_refactoring_happens_at_its_cadence_and_holds_drift(kernel, r, steps, decades):
    rng = np.random.default_rng(1)
    # Arms of lengths over some decades, one of them played nine times in ten.
    lengths = 10.0 ** rng.uniform(-decades / 2, decades / 2, size=(50, 1))
    arms = rng.normal(size=(50, r)) * lengths
    posterior = gaussian(r, rooted=kernel is update_root)

    @njit
    def many(posterior, arms, steps):
        for t in range(steps):
            arm = t // 10 % 50 if t % 10 == 0 else 7
            kernel(posterior, arms[arm], arm, 0.0)

    many(posterior, arms, steps)
    assert posterior.since_refactor[0] < posterior.since_refactor[2]
    assert np.abs(covariance_of(posterior) @ precision(posterior) - np.eye(r)).max() <= 1e-8


@pytest.mark.parametrize("kernel", [update_covariance, update_root])
def test_the_posterior_is_computed_afresh_when_it_is_due(kernel):
    posterior = gaussian(2, rooted=kernel is update_root)
    refactored = []
    for t in range(FEWEST_UPDATES + 2 * MOST_UPDATES):  # at first soon, then seldom
        CALL[kernel](posterior, np.array([0.1, 0.2]), 3, 1.0)
        refactored += [t + 1] if posterior.since_refactor[0] == 0 else []
    assert refactored == [FEWEST_UPDATES + i * MOST_UPDATES for i in range(3)]
    for t in range(256):  # as many distinct arms as are remembered
        CALL[kernel](posterior, np.array([0.1, 0.2]), t, 1.0)
        refactored += [t + 1] if posterior.since_refactor[0] == 0 else []
    assert refactored[3:] == [256]
    for _ in range(10):
        CALL[kernel](posterior, np.array([0.1, 0.2]), 3, 1.0)
    CALL[kernel](posterior, np.array([1e6, 0.0]), 4, 1.0)  # a reward that tells much
    assert posterior.since_refactor.tolist() == [11, 2, 11 + FEWEST_UPDATES]
    for _ in range(FEWEST_UPDATES):
        CALL[kernel](posterior, np.array([0.1, 0.2]), 3, 1.0)
    assert posterior.since_refactor.tolist() == [0, 0, FEWEST_UPDATES]  # and badly conditioned


def test_an_arm_is_remembered_whatever_the_number_of_arms():
    # Keys that share their low bits, in turn: each arm is one row.
    posterior, rng = gaussian(2), np.random.default_rng(8)
    keys, rows = np.array([1, 257, 513, 2, 258]), rng.normal(size=(5, 2))
    for t in range(40):
        CALL[update_covariance](posterior, rows[t % 5], keys[t % 5], 0.5)
    assert posterior.recent_key[:5].tolist() == keys.tolist()
    assert posterior.since_refactor[:2].tolist() == [40, 5]
    assert (posterior.recent_plays[:5] == 8).all()
    assert (posterior.recent[:5] == rows).all()
    assert (posterior.recent_pay[:5] == 4.0).all()


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("kernel", [update_covariance, update_root])
def test_rewards_that_tell_much_leave_the_covariance_as_exact_as_it_can_be(kernel, scale):
    # Some directions known to one part in `scale`, others not at all: exact rationals judge. As
    # long as a variance is 1, no dense matrix is better than to 1e-16; afresh, it is better.
    arms = [[3, 1, 2], [1, 1, 1], [3, 1, 2], [0, 1, 5], [2, 2, 2], [1, 1, 1]]
    posterior = gaussian(3, rooted=kernel is update_root)
    P = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    for n, b in enumerate(arms):
        CALL[kernel](posterior, scale * np.array(b, float), n, 0.0)
        for i in range(3):
            for j in range(3):
                P[i][j] += Fraction(scale) ** 2 * b[i] * b[j]
        exact = np.array(inverse(P), float)
        assert np.abs(covariance_of(posterior) - exact).max() <= 1e-14, n
    refactor(posterior)
    assert np.abs(covariance_of(posterior) - exact).max() <= 1e-13 * scale * np.abs(exact).max()


def inverse(P):
    """Invert a matrix of rationals by Gauss and Jordan."""
    n = len(P)
    rows = [list(row) + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(P)]
    for k in range(n):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


@pytest.mark.parametrize("r", SIZES)
def test_the_mean_is_computed_afresh_too(r):
    rng = np.random.default_rng(r)
    arms = rng.normal(size=(7, r))
    which, rewards = rng.integers(0, 7, size=60), rng.normal(size=60)
    posterior = gaussian(r)
    for arm, y in zip(which, rewards, strict=True):
        CALL[update_covariance](posterior, arms[arm], arm, y)
    _, _, mu = explicit(arms[which], rewards)
    posterior.mu[:] = 99.0  # whatever was there
    refactor(posterior)
    np.testing.assert_allclose(posterior.mu, mu, rtol=1e-9, atol=1e-11)


def test_plays_of_one_arm_are_remembered_as_one_row():
    posterior = gaussian(2)
    rows = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    for arm, row in zip([4, 9, 4], rows, strict=True):
        CALL[update_covariance](posterior, row, arm, 0.0)
    assert posterior.since_refactor[:2].tolist() == [3, 2]
    assert posterior.recent_plays[:2].tolist() == [2, 1]
    np.testing.assert_allclose(precision(posterior), np.eye(2) + rows.T @ rows)


def test_refactoring_lets_nan_be_seen():
    posterior = gaussian(3)
    posterior.recent[0, 1] = np.nan
    posterior.recent_plays[0] = 1
    posterior.since_refactor[:2] = 1
    refactor(posterior)
    assert np.isnan(posterior.S).any()


@pytest.mark.parametrize("r", SIZES)
def test_sample_is_the_mean_plus_root_times_normals(r):
    rng = np.random.default_rng(r)
    posterior = gaussian(r, rooted=True)
    observe(posterior, update_root, rng.normal(size=(5, r)), rng.normal(size=5))
    normals, out = rng.normal(size=r), np.empty(r)
    draw(posterior, normals, out)
    np.testing.assert_allclose(out, posterior.mu + posterior.root.T @ normals, rtol=1e-12)


@pytest.mark.parametrize("r", SIZES)
def test_multiply_transposed_is_the_product(r):
    rng = np.random.default_rng(r)
    matrix, x, out = rng.normal(size=(r, r)), rng.normal(size=r), np.empty(r)
    multiply_transposed(matrix, x, out)
    np.testing.assert_allclose(out, matrix.T @ x, rtol=1e-11)
