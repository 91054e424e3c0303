import copy
import pickle

import numpy as np
import pytest
from bandits import BANDITS
from engine import as_reference, lift, offsets, rows
from hypothesis import given
from hypothesis import strategies as st

import fastes
from fastes.actions.families import RandomArms
from fastes.checks import memory
from fastes.problem.random_problem import RandomProblem
from fastes.problem.whitening import to_user_coordinates

LinearBandit = fastes.LinearBandit


@pytest.mark.parametrize("name", BANDITS)
def test_the_canonical_form_is_the_same_problem(name):
    bandit = BANDITS[name]
    problem, b, o = as_reference(bandit), rows(bandit), offsets(bandit)
    scale = np.abs(problem.actions).max() or 1.0
    covariance = problem.actions @ problem.covariance @ problem.actions.T / scale**2
    np.testing.assert_allclose(b @ b.T / scale**2, covariance, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(o, problem.actions @ problem.mean, rtol=1e-12, atol=1e-12 * scale)
    assert bandit.rank == b.shape[1] <= min(bandit.d, max(bandit.K, 1))


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("louder", [1.0, 0.1, 30.0])
def test_user_coordinates_are_the_covariance_of_theta_with_z(name, louder):
    # Cov(theta, a'theta) is Sigma_0 a, and a'theta is sigma b'z plus a constant.
    given = BANDITS[name]
    noise = louder * given.noise
    bandit = LinearBandit(given.actions, given.prior_mean, given.prior_cov, noise)
    problem = as_reference(bandit)
    U = to_user_coordinates(bandit.canonical, bandit.actions, bandit.prior_cov, noise)
    scale = np.abs(problem.actions).max() or 1.0
    expected = problem.covariance @ problem.actions.T / scale
    np.testing.assert_allclose(U @ rows(bandit).T / scale, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(U, lift(bandit), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "rank"),
    [("singular", 3), ("diagonal with zeros", 2), ("fewer arms than dimensions", 5), ("full", 6)],
)
def test_the_rank_is_that_of_what_can_be_learned(name, rank):
    assert BANDITS[name].rank == rank


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_any_covariance_is_factored(K, d, rank, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, min(rank, d)))
    bandit = LinearBandit(rng.normal(size=(K, d)), rng.normal(size=d), root @ root.T, 0.5)
    expected = bandit.actions @ root @ root.T @ bandit.actions.T
    np.testing.assert_allclose(rows(bandit) @ rows(bandit).T, expected, atol=1e-8)
    assert bandit.rank <= max(1, min(rank, d, K))
    if bandit.canonical.factor is not None:
        np.testing.assert_allclose(lift(bandit) @ lift(bandit).T, root @ root.T, atol=1e-8)


@pytest.mark.parametrize("prior_cov", [2.0, [1.0, 2.0, 3.0], np.eye(3) + 0.5])
@pytest.mark.parametrize("K", [2, 3, 70])
def test_duplicate_arms_stay_equal_to_the_bit(prior_cov, K):
    distinct = np.random.default_rng(K).normal(size=(K, 3))
    which = np.random.default_rng(1).integers(0, K, size=3 * K)
    bandit = LinearBandit(distinct[which], [0.1, 0.2, 0.3], prior_cov, noise=0.3)
    b, o = rows(bandit), offsets(bandit)
    for arm in range(3 * K):
        first = np.flatnonzero(which == which[arm])[0]
        assert (b[arm] == b[first]).all()
        assert o[arm] == o[first]


def test_equal_inputs_of_a_gaussian_process_stay_equal_to_the_bit():
    x = np.array([0.0, 0.3, 0.3, 1.0, 0.0])
    bandit = LinearBandit.gaussian_process(2.0 * np.exp(-((x[:, None] - x) ** 2)))
    b = rows(bandit)
    assert bandit.rank == 3
    assert (b[1] == b[2]).all()
    assert (b[0] == b[4]).all()


def test_arms_are_duplicates_only_if_their_offsets_are_equal_too():
    bandit = LinearBandit([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]], [0.0, 1.0], [1.0, 0.0])
    assert (rows(bandit) == 1.0).all()
    assert bandit.duplicate_counts.tolist() == [2, 1, 2]


def test_both_zeros_are_one():
    bandit = LinearBandit([[0.0, 1.0], [-0.0, 1.0], [1.0, 1.0]])
    assert bandit.duplicate_counts.tolist() == [2, 2, 1]
    assert LinearBandit([[0.0, 1.0, 2.0, 3.0], [-0.0, 1.0, 2.0, 3.0]]).rank == 1


@pytest.mark.parametrize("excess", [1e-8, 1e-4])
def test_a_prior_that_is_slightly_indefinite_is_refused(excess):
    prior_cov = np.array([[4.0, 4.0], [4.0, 4.0]]) + 4 * excess * (1 - np.eye(2))
    with pytest.raises(ValueError, match="positive semidefinite, but its smallest eigenvalue is -"):
        LinearBandit(np.eye(2), prior_cov=prior_cov)


def test_a_slight_asymmetry_is_refused_and_rounding_is_not():
    with pytest.raises(ValueError, match="symmetric"):
        LinearBandit(np.eye(2), prior_cov=[[1.0, 0.5], [0.5 + 1e-7, 1.0]])
    rounded = LinearBandit(np.eye(2), prior_cov=[[1.0, 0.5], [0.5 + 1e-13, 1.0]])
    assert (rounded.prior_cov == rounded.prior_cov.T).all()


def test_a_large_dimension_needs_no_large_matrix():
    # 200,000^2 numbers would be 298 GiB.
    bandit = LinearBandit.random(K=5, d=200_000, prior_cov=np.ones(200_000))
    assert bandit.rank == 5
    assert fastes.simulate(bandit, fastes.ThompsonSampling(), T=10).regret.final.shape == (1,)


@pytest.mark.parametrize("arms", ["sphere", "gaussian", "uniform"])
def test_random_arms_have_their_law(arms):
    # Mean and spread by z tests, level 1e-4 each, seed fixed.
    K, d = 4_000, 6
    rows_ = LinearBandit.random(K, d, arms, seed=2).actions
    assert rows_.shape == (K, d)
    assert (np.abs(rows_.mean(axis=0)) < 3.9 / np.sqrt(K * d)).all()
    variance = {"sphere": 1 / d, "gaussian": 1 / d, "uniform": 1 / (3 * d)}[arms]
    assert np.mean(rows_**2) == pytest.approx(variance, rel=0.05)
    if arms == "sphere":
        np.testing.assert_allclose(np.linalg.norm(rows_, axis=1), 1.0, rtol=1e-12)
    if arms == "uniform":
        assert 0.999 < np.abs(rows_).max() * np.sqrt(d) <= 1


def test_no_arm_is_drawn_before_it_is_needed(monkeypatch):
    monkeypatch.setattr(RandomArms, "draw", None)
    usual = {"arms": "sphere", "redraw": "never", "prior_mean": 0.0, "prior_cov": 1.0, "noise": 1.0}
    for available in (0, 3):
        problem = RandomProblem(**usual, available=available, K=50, d=4)
        assert (problem.sizes.K, problem.sizes.rank) == (available or 50, 4)
        assert problem.bytes > 8 * 50 * 4
        if not available:
            assert "actions" not in problem.arrays(seed=1)
        with pytest.raises(TypeError, match="not callable"):
            problem.bandit(seed=1)


def test_random_arms_depend_on_the_seed_alone():
    first = LinearBandit.random(10, 3, seed=1).actions
    assert (first == LinearBandit.random(10, 3, seed=1).actions).all()
    assert (first != LinearBandit.random(10, 3, seed=2).actions).all()
    # More arms are the same arms and others.
    assert (first == LinearBandit.random(20, 3, seed=1).actions[:10]).all()


def test_basis_arms_are_the_unit_vectors():
    assert (LinearBandit.random(4, 4, "basis").actions == np.eye(4)).all()


def test_a_bandit_cannot_be_changed():
    rows_ = np.ones((2, 2))
    bandit = LinearBandit(rows_, prior_cov=[1.0, 2.0])
    rows_[0] = 5.0
    assert (bandit.actions == 1.0).all()
    for array in (bandit.actions, bandit.prior_mean, bandit.prior_cov):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(AttributeError):
        bandit.noise = 2.0


@pytest.mark.parametrize("name", BANDITS)
def test_a_saved_bandit_comes_back(name, tmp_path):
    bandit = BANDITS[name]
    bandit.save(tmp_path / "problem.npz")
    again = LinearBandit.load(tmp_path / "problem.npz")
    assert again.fingerprint == bandit.fingerprint
    assert np.ndim(again.prior_cov) == np.ndim(bandit.prior_cov)


def test_the_fingerprint_tells_problems_apart():
    rows_ = [[1.0, 2.0], [3.0, 4.0]]
    bandits = [
        LinearBandit(rows_),
        LinearBandit(rows_, 1.0),
        LinearBandit(rows_, prior_cov=2.0),
        LinearBandit(rows_, prior_cov=[1.0, 1.0]),
        LinearBandit(rows_, noise=2.0),
        LinearBandit(rows_[:1]),
        LinearBandit([[1.0], [2.0], [3.0]], 4.0),  # the same numbers in the same order
        LinearBandit([[1.0, 2.0]], [3.0, 4.0]),
    ]
    assert len({bandit.fingerprint for bandit in bandits}) == len(bandits)


BAD = [
    ({"actions": [1.0, 2.0]}, "actions must have two dimensions.*shape \\(2,\\)"),
    ({"actions": np.zeros((0, 3))}, "actions must have two dimensions.*at least 1 by 1"),
    ({"actions": np.zeros((3, 0))}, "actions must have two dimensions.*at least 1 by 1"),
    ({"actions": [[1.0, np.nan]]}, "actions must be finite, got nan at \\[0, 1\\]"),
    ({"actions": [[1.0], [np.inf]]}, "actions must be finite, got inf at \\[1, 0\\]"),
    ({"actions": [["a"]]}, "actions must be an array of real numbers"),
    ({"actions": [[1.0, 2.0], [3.0]]}, "actions must be an array of real numbers"),
    ({"actions": [[1j]]}, "actions must be an array of real numbers"),
    ({"prior_mean": [1.0]}, "prior_mean must be a number or have shape \\(2,\\).*\\(1,\\)"),
    ({"prior_mean": np.nan}, "prior_mean must be finite, got nan"),
    ({"prior_cov": -1.0}, "prior_cov must be a finite number of at least 0, got -1"),
    ({"prior_cov": np.inf}, "prior_cov must be finite, got inf"),
    ({"prior_cov": [1.0, -2.0]}, "positive semidefinite, got the variance -2 at \\[1\\]"),
    ({"prior_cov": np.ones(3)}, "prior_cov must be a number or have shape \\(2,\\) or \\(2, 2\\)"),
    ({"prior_cov": [[1, 0.5], [0, 1]]}, "symmetric, got 0.5 at \\[0, 1\\] and 0 at \\[1, 0\\]"),
    ({"prior_cov": [[1, 2], [2, 1]]}, "positive semidefinite.*smallest eigenvalue is -1"),
    ({"prior_cov": [[0, 1], [1, 0]]}, "positive semidefinite.*smallest eigenvalue is -1"),
    ({"noise": 0.0}, "noise must be a finite number above 0, got 0"),
    ({"noise": -1.0}, "noise must be a finite number above 0, got -1"),
    ({"noise": np.nan}, "noise must be a finite number above 0, got nan"),
    ({"noise": "loud"}, "noise must be a finite number above 0, got 'loud'"),
    ({"noise": 10**400}, "noise must be a finite number above 0, got 1000"),
    ({"noise": np.True_}, "noise must be a finite number above 0"),
    ({"actions": [[10**400]]}, "actions must be an array of real numbers"),
    ({"actions": [["1", "2"]]}, "actions must be an array of real numbers"),
    ({"actions": np.array([["a"], ["b"]])}, "actions must be an array of real numbers"),
    ({"actions": np.ma.masked_array(np.eye(2), np.eye(2))}, "actions must be an array of real"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused_in_one_sentence(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        LinearBandit(**{"actions": np.eye(2), **wrong})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("prior_cov", "message"),
    [
        ([[1e12, 0, 0], [0, 1, 2], [0, 2, 1]], "positive semidefinite"),
        ([[1e12, 0, 0], [0, 1, 0.5], [0, 0, 1]], "symmetric"),
    ],
)
def test_small_variances_are_judged_in_their_own_units(prior_cov, message):
    with pytest.raises(ValueError, match=message):
        LinearBandit(1e-6 * np.eye(3), prior_cov=prior_cov)


def test_a_small_variance_beside_a_large_one_counts():
    bandit = LinearBandit(np.diag([1e-9, 1.0]), prior_cov=np.diag([1e17, 1.0]))
    assert bandit.rank == 2
    np.testing.assert_allclose(np.linalg.norm(rows(bandit), axis=1), [1e-9 * 1e17**0.5, 1.0])


def test_nearly_parallel_arms_stay_apart():
    u, w = np.array([1.0, 2.0, 3.0]), np.array([0.3, -1.0, 0.5])
    few = LinearBandit([u, u + 1e-6 * w], noise=1e-5)
    gap = rows(few)[1] - rows(few)[0]
    assert np.linalg.norm(gap) == pytest.approx(1e-6 * np.linalg.norm(w), rel=1e-6)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_a_copy_is_as_immutable_as_the_original(again):
    bandit = again(LinearBandit(np.eye(2), prior_cov=[1.0, 2.0]))
    with pytest.raises(ValueError, match="read-only"):
        bandit.actions[0, 0] = 5.0


def test_an_indefinite_prior_is_refused_even_where_the_arms_do_not_show_it():
    with pytest.raises(ValueError, match="smallest eigenvalue is -1"):
        LinearBandit([[1.0, 0.0]], prior_cov=[[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"K": 0, "d": 1}, "K must be an integer from 1 to 4294967295, got 0"),
        ({"K": 1, "d": 0}, "d must be an integer from 1"),
        ({"K": 2.5, "d": 1}, "K must be an integer .* got 2.5"),
        ({"K": True, "d": 1}, "K must be an integer .* got True"),
        ({"K": 2, "d": 2, "arms": "cube"}, "arms must be one of sphere, gaussian, uniform, basis"),
        ({"K": 2, "d": 3, "arms": "basis"}, "K must equal d, got 2 and 3"),
        ({"K": 2, "d": 3, "seed": -1}, "seed must be an integer from 0"),
        ({"K": 2, "d": 3, "seed": 2**64}, "seed must be an integer from 0"),
    ],
)
def test_bad_random_problems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        LinearBandit.random(**arguments)


def test_bad_kernel_matrices_are_refused_by_their_name():
    with pytest.raises(ValueError, match="prior_cov must be positive semidefinite"):
        LinearBandit.gaussian_process([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"kernel_matrix must be square, got shape \(2, 3\)"):
        LinearBandit.gaussian_process(np.ones((2, 3)))
    with pytest.raises(ValueError, match="mean must be a number or have shape"):
        LinearBandit.gaussian_process(np.eye(3), mean=[1.0])


@pytest.mark.parametrize("scale", [1e7, 1e200, 1e308])
@pytest.mark.parametrize("d", [1, 3])
def test_noise_that_is_too_small_for_the_arms_is_refused(scale, d):
    with pytest.raises(ValueError, match=r"within 1e\+06 noise standard deviations, got"):
        LinearBandit(scale * np.ones((2, d)), noise=1.0 if scale < 1e8 else 1e-200)
    with pytest.raises(ValueError, match=r"mean rewards must be within 1e\+09 noise"):
        LinearBandit(np.ones((2, d)), prior_mean=max(1e10, scale))


def test_a_problem_that_does_not_fit_says_how_much_it_needs(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    with pytest.raises(
        MemoryError, match=r"K=1,000,000 and d=1,000 needs [0-9.]+ GiB, .* 1.00 GiB"
    ):
        LinearBandit.random(K=1_000_000, d=1_000)


@pytest.mark.parametrize(("K", "d"), [(400, 300), (2, 2_000)])
def test_the_limit_is_on_the_norm_of_an_arm_and_not_on_its_entries(K, d):
    signs = np.random.default_rng(3).choice([-1.0, 1.0], size=(K, d))
    message = r"must be within 1e\+06 noise standard deviations, got 1\.7|4\.4"
    with pytest.raises(ValueError, match=message):
        fastes.LinearBandit(1e6 * signs)
    with pytest.raises(ValueError, match="must be within"):
        fastes.LinearBandit(1e6 * signs, prior_cov=np.eye(d))
    with pytest.raises(ValueError, match="must be within"):
        fastes.LinearBandit.gaussian_process(1e12 * (signs @ signs.T))
    fastes.LinearBandit(0.999e6 / np.sqrt(d) * signs)


@pytest.mark.parametrize(("K", "d"), [(2, 2_000), (60, 30)])
def test_within_the_limit_a_posterior_is_right(K, d):
    signs = np.random.default_rng(3).choice([-1.0, 1.0], size=(K, d))
    bandit = fastes.LinearBandit(0.999e6 / np.sqrt(d) * signs)
    live = fastes.Greedy().start(bandit)
    for _ in range(3):
        live.observe(np.arange(K), np.zeros(K))
    b, S = bandit.canonical.rows_and_offsets()[0], live._state.belief.S
    eigenvalues, vectors = np.linalg.eigh(bandit.actions @ bandit.actions.T)
    exact = np.square(vectors) @ (eigenvalues / (1 + 3 * eigenvalues))
    # A covariance of 10^12 times what is to be told apart has four digits left.
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", b, S, b), exact, rtol=5e-3)
