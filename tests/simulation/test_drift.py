"""Worlds whose theta changes: the thetas, what arms pay, the same bits however runs are done."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import reference
from checkpoints import assert_same, recorded, resumed, some
from fastes.kernels.loop.drift import write_path
from fastes.kernels.loop.late import late_rewards
from fastes.kernels.states.stack import Shared, set_state, stack_states, state_at
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source
from played import RUN, SEED, compare, greedy_scores, offered, thetas

import fastes
from fastes import Truth
from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.drift import Abrupt, AutoRegressive, Piecewise, Rotating
from fastes.problem.moving import moving_theta, place_of
from fastes.simulation.saved_environment import environment_arrays, fill_environment
from fastes.theory.inequalities import inequalities, theorem2_measured

RNG = np.random.default_rng(7)
T = 25
POOL = RNG.normal(size=(70, 3))  # more than a tile
SETS = {
    "fixed": POOL,
    "one arm": POOL[:1],
    "fresh": Fresh(6, 3),
    "redrawn": Redrawn(5, 3, "gaussian"),
    "subset": Subset(POOL, 4),
    "given": Given(RNG.normal(size=(7, 4, 3))),
}
DRIFTS = {
    "abrupt": Abrupt([1, 7, 8, 20, 900]),
    "ar": AutoRegressive(0.9),
    "rotating": Rotating(0.3),
    "piecewise": Piecewise([1, 9, 10], RNG.normal(size=(3, 3))),
}
ON_ALL = [
    *(("fixed", name) for name in DRIFTS),
    *((name, "ar") for name in SETS if name not in ("fixed", "one arm")),
    *(("fresh", "rotating"), ("given", "piecewise"), ("subset", "abrupt"), ("one arm", "abrupt")),
]
BELIEF = {"prior_cov": [1.0, 4.0, 0.25], "prior_mean": [0.3, -1.0, 2.0], "noise": 0.5}
ROOT = np.diag([1.0, 2.0, 0.5])
MEAN = np.array(BELIEF["prior_mean"])
BANDIT = fastes.LinearBandit(POOL, **BELIEF)
KEEP = ["actions", "rewards"]


def roots(bandit, truth):
    """Return the mean and a root of the covariance of the truth's prior."""
    mean, root = truth.prior(bandit)
    if np.ndim(root) < 2:
        root = np.diag(np.broadcast_to(root, bandit.d))
        root = root[:, root.any(axis=0)] if root.any() else root[:, :1]
    return mean, np.asarray(root)


# The thetas.


@pytest.mark.parametrize("name", DRIFTS)
@pytest.mark.parametrize("truth", [{}, {"prior_mean": [1.0, 0.0, -2.0], "prior_cov": 3.0}], ids=str)
def test_theta_of_every_step_is_that_of_the_reference(name, truth):
    truth = Truth(**truth, drift=DRIFTS[name])
    expected = thetas(*roots(BANDIT, truth), truth.drift, T, seed=5, run=2)
    found = truth.path(BANDIT, T, seed=5, run=2)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert (found[0] == truth.theta(BANDIT, 5, 2)).all()
    given = truth.path(BANDIT, T, seed=5, run=2, theta=[9.0, 8.0, 7.0])
    assert given[0].tolist() == [9.0, 8.0, 7.0]
    expected = thetas(*roots(BANDIT, truth), truth.drift, T, 5, 2, np.array([9.0, 8.0, 7.0]))
    np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-12)


def test_a_longer_path_begins_as_a_shorter_one_and_breaks_are_of_their_step():
    both = [Truth(drift=Abrupt(steps)).path(BANDIT, 30, seed=3) for steps in ([5, 20], [20])]
    assert (both[0][20:] == both[1][20:]).all()  # whatever breaks came before
    for drift in DRIFTS.values():
        truth = Truth(drift=drift)
        assert (truth.path(BANDIT, 9) == truth.path(BANDIT, 30)[:9]).all()


FULL = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
PRIORS = {
    "isotropic": (2.0, {}),
    "diagonal": ([1.0, 4.0, 0.25], {}),
    "full": (FULL, {}),
    "other mean": ([1.0, 4.0, 0.25], {"prior_mean": 1.0}),
    "full, other": (FULL, {"prior_cov": [0.5, 1.0, 2.0]}),
    "other, full": ([1.0, 4.0, 0.25], {"prior_cov": FULL}),
    "all other": (FULL, {"prior_mean": [1.0, 2.0, 3.0], "prior_cov": 2 * FULL + np.eye(3)}),
    "singular": ([1.0, 4.0, 0.0], {}),
    "singular truth": (FULL, {"prior_cov": [1.0, 0.0, 3.0]}),
    "both singular": ([1.0, 4.0, 0.0], {"prior_cov": [0.0, 2.0, 0.0], "prior_mean": [7, 8, 0.3]}),
}


@pytest.mark.parametrize("name", ["abrupt", "ar", "rotating"])
@pytest.mark.parametrize("prior", PRIORS)
def test_canonical_coordinates_have_the_same_law_and_the_same_paths(prior, name):
    cov, other = PRIORS[prior]
    bandit = fastes.LinearBandit(Fresh(4, 3), prior_mean=0.3, prior_cov=cov, noise=0.5)
    truth = Truth(**other, drift=DRIFTS[name])
    truth.check(bandit)
    place, first = place_of(bandit, truth, canonical=True), truth.theta(bandit, SEED, RUN)
    known = bandit.canonical.whitening()
    U = np.zeros((3, bandit.rank))
    if len(known.matrix):
        U = 0.5 * known.matrix
    else:
        U[known.kept, np.arange(bandit.rank)] = 0.5 * known.scale
    z = np.empty((T, bandit.rank))
    write_path(moving_theta(bandit, truth, place, first), source(SEED, RUN), z)
    expected = truth.path(bandit, T, SEED, RUN)
    np.testing.assert_allclose(0.3 + z @ U.T, expected, atol=1e-10)


def many_paths(truth, steps, n):
    """Return theta of some steps in n runs."""
    place, out = place_of(BANDIT, truth, canonical=False), np.empty((n, max(steps) + 1, 3))
    for run in range(n):
        start = moving_theta(BANDIT, truth, place, truth.theta(BANDIT, 1, run))
        write_path(start, source(1, run), out[run])
    return out[:, steps]


def test_law_of_autoregressive_theta():
    """Mean and all covariances of theta at steps 0, 1 and 6 of 4,000 runs.

    54 numbers, each within 5 standard errors: a right program fails with probability 3e-5.
    """
    rho, n, cov = 0.8, 4000, ROOT @ ROOT.T
    truth = Truth(drift=AutoRegressive(rho))
    gaps = (many_paths(truth, [0, 1, 6], n) - MEAN).reshape(n, 9)
    lags = np.abs(np.subtract.outer([0, 1, 6], [0, 1, 6]))
    expected = np.kron(rho**lags, cov)
    variances = np.diag(expected)
    assert (np.abs(gaps.mean(axis=0)) <= 5 * np.sqrt(variances / n)).all()
    errors = np.sqrt((np.outer(variances, variances) + expected**2) / n)
    assert (np.abs(gaps.T @ gaps / n - expected) <= 5 * errors).all()


def test_law_of_abrupt_theta():
    """The same at steps 0, 2 and 3, of three different thetas."""
    n, cov = 4000, ROOT @ ROOT.T
    truth = Truth(drift=Abrupt([2, 3]))
    paths = many_paths(truth, [0, 1, 2, 3, 4], n)
    assert (paths[:, 0] == paths[:, 1]).all()
    assert (paths[:, 3] == paths[:, 4]).all()
    gaps = (paths[:, [0, 2, 3]] - MEAN).reshape(n, 9)
    expected = np.kron(np.eye(3), cov)
    variances = np.diag(expected)
    assert (np.abs(gaps.mean(axis=0)) <= 5 * np.sqrt(variances / n)).all()
    errors = np.sqrt((np.outer(variances, variances) + expected**2) / n)
    assert (np.abs(gaps.T @ gaps / n - expected) <= 5 * errors).all()


def test_a_rotation_keeps_the_distance_and_returns():
    truth = Truth(drift=Rotating(np.pi / 50))
    path = truth.path(BANDIT, 101, seed=2)
    gaps = path - MEAN
    distances = np.hypot(gaps[:, 0], gaps[:, 1])
    np.testing.assert_allclose(distances, distances[0], rtol=1e-13)
    assert (path[:, 2] == path[0, 2]).all()
    np.testing.assert_allclose(path[100], path[0], atol=1e-13)
    np.testing.assert_allclose(path[50, :2], (2 * MEAN - path[0])[:2], atol=1e-13)


@pytest.mark.parametrize("rho", [0.0, 1.0, -1.0, 0.999999])
def test_the_ends_of_rho(rho):
    path = Truth(drift=AutoRegressive(rho)).path(BANDIT, 200, seed=2)
    normals = [reference.normal_vector(2, 0, int(layout.THETA), t, 3) for t in range(200)]
    if rho == 0.0:
        np.testing.assert_allclose(path, MEAN + normals @ ROOT.T, atol=1e-12)
    elif rho == 1.0:
        np.testing.assert_allclose(path, np.tile(path[0], (200, 1)), atol=1e-13)
    elif rho == -1.0:
        np.testing.assert_allclose(path[2::2], np.tile(path[0], (99, 1)), atol=1e-12)
        np.testing.assert_allclose(path[1], 2 * MEAN - path[0], atol=1e-13)
    else:
        steps = np.diff(path, axis=0) @ np.linalg.inv(ROOT)
        assert 0.9 < np.std(steps) / np.sqrt(2 * (1 - rho)) < 1.1


# What arms pay and cost.


@pytest.mark.parametrize(("name", "drift"), ON_ALL)
def test_rewards_and_regret_are_of_theta_of_their_step(name, drift):
    """Against the reference's thetas, and the best arm of each step by brute force."""
    actions, drift = SETS[name], DRIFTS[drift]
    bandit = fastes.LinearBandit(actions, **BELIEF)
    result = fastes.simulate(
        *(bandit, fastes.UniformRandom(), T, RUN + 1, SEED),
        **{"truth": Truth(drift=drift), "keep": KEEP, "points": T, "delay": 2},
    )
    path = thetas(MEAN, ROOT, drift, T)
    total = 0.0
    for t in range(T):
        rows, arm = offered(actions, t), int(result.actions[RUN, t])
        values = rows @ path[t]
        value = actions.pool[arm] @ path[t] if name == "subset" else values[arm]
        noise = 0.5 * reference.noise(SEED, RUN, int(layout.NOISE), t, "normal")
        assert result.rewards[RUN, t] == pytest.approx(value + noise, abs=1e-10)
        total += values.max() - value
        assert result.regret.per_run[RUN, t] == pytest.approx(total, abs=1e-9)
    assert (np.diff(result.regret.per_run, axis=1) >= 0).all()


@pytest.mark.parametrize("drift", ["ar", "rotating"])
def test_the_ball(drift):
    """Greedy that learns nothing plays the prior mean's direction."""
    bandit, drift = fastes.LinearBandit(Ball(3, 2.0), **BELIEF), DRIFTS[drift]
    result = fastes.simulate(
        *(bandit, fastes.Greedy(), T, RUN + 1, SEED),
        **{"truth": Truth(drift=drift), "keep": "rewards", "points": T, "delay": T},
    )
    path, arm = thetas(MEAN, ROOT, drift, T), 2.0 * MEAN / np.linalg.norm(MEAN)
    noise = [0.5 * reference.noise(SEED, RUN, int(layout.NOISE), t, "normal") for t in range(T)]
    np.testing.assert_allclose(result.rewards[RUN], path @ arm + noise, atol=1e-10)
    lost = 2.0 * np.linalg.norm(path, axis=1) - path @ arm
    np.testing.assert_allclose(result.regret.per_run[RUN], np.cumsum(lost), atol=1e-9)


@pytest.mark.parametrize("delay", [0, 3])
def test_a_late_reward_is_of_theta_at_its_own_step(delay):
    """Greedy learns what the reference's does."""
    truth = Truth(drift=DRIFTS["ar"])
    compare(BANDIT, fastes.Greedy(), T, greedy_scores, truth=truth, delay=delay)


@pytest.mark.parametrize("kind", [fastes.LogisticBandit, fastes.PoissonBandit])
def test_clicks_and_counts_follow_theta(kind):
    bandit, drift = kind(0.3 * POOL, prior_cov=0.5), Rotating(0.3)
    result = fastes.simulate(
        *(bandit, fastes.UniformRandom(), T, 2, SEED),
        **{"truth": Truth(drift=drift), "keep": KEEP, "points": T},
    )
    mean_of = {"bernoulli": lambda x: 1 / (1 + np.exp(-x)), "poisson": np.exp}[bandit.rewards.name]
    path = thetas(np.zeros(3), np.sqrt(0.5) * np.eye(3), drift, T, run=1)
    means = mean_of(path @ bandit.actions.T)
    lost = means.max(axis=1) - means[np.arange(T), result.actions[1]]
    np.testing.assert_allclose(result.regret.per_run[1], np.cumsum(lost), rtol=1e-10)


def test_mean_clicks_follow_theta():
    """Mean rewards of one arm in 4,000 runs, by step: 25 numbers within 5 standard errors."""
    bandit = fastes.LogisticBandit([[2.0, 0.0]])
    truth = Truth(drift=Rotating(0.25))
    options = {"theta": [1.0, 0.0], "truth": truth, "keep": "rewards"}
    result = fastes.simulate(bandit, fastes.UniformRandom(), T, 4000, **options)
    p = 1 / (1 + np.exp(-2.0 * np.cos(0.25 * np.arange(T))))
    errors = np.sqrt(p * (1 - p) / 4000)
    assert (np.abs(result.rewards.mean(axis=0) - p) <= 5 * errors).all()


def test_fewer_arms_than_dimensions_and_a_theta_outside_the_belief():
    bandit = fastes.LinearBandit(POOL[:2], prior_cov=[1.0, 0.0, 2.0])
    for drift in (DRIFTS["abrupt"], DRIFTS["rotating"]):
        truth, theta = Truth(drift=drift), [1.0, 5.0, -1.0]
        result = fastes.simulate(
            bandit, fastes.UniformRandom(), T, theta=theta, truth=truth, keep=KEEP, points=T
        )
        path = truth.path(bandit, T, theta=theta)
        values = path @ bandit.actions.T
        lost = values.max(axis=1) - values[np.arange(T), result.actions[0]]
        np.testing.assert_allclose(result.regret.per_run[0], np.cumsum(lost), atol=1e-10)


def test_before_the_first_break_the_world_is_as_at_rest():
    options = {"T": 20, "runs": 3, "points": 20, "keep": KEEP, "theta": [0.1, 0.2, 0.3]}
    for actions in (POOL, Fresh(6, 3)):
        bandit = fastes.LinearBandit(actions, **BELIEF)
        still = fastes.simulate(bandit, fastes.Greedy(), **options)
        moved = fastes.simulate(
            bandit, fastes.Greedy(), **options, truth=Truth(drift=DRIFTS["abrupt"])
        )
        later = fastes.simulate(bandit, fastes.Greedy(), **options, truth=Truth(drift=Abrupt([20])))
        assert (still.regret.per_run == later.regret.per_run).all()
        assert (still.rewards == later.rewards).all()
        assert (still.rewards[:, 0] == moved.rewards[:, 0]).all()


# The same bits, however runs are done.


@pytest.mark.parametrize("drift", ["ar", "abrupt"])
def test_runs_in_sequence_and_alone_have_the_same_bits(drift):
    truth, agent = Truth(drift=DRIFTS[drift]), fastes.Greedy()
    many = fastes.simulate(BANDIT, agent, T, 300, truth=truth, threads=1, delay=2)
    few = fastes.simulate(BANDIT, agent, T, 3, truth=truth, threads=2, delay=2)
    assert (many.regret.per_run[:3] == few.regret.per_run).all()


def test_runs_in_lockstep_and_alone_have_the_same_bits():
    bandit = fastes.LinearBandit.random(4096, 8)
    truth, agent = Truth(drift=AutoRegressive(0.9)), fastes.Greedy()
    many = fastes.simulate(bandit, agent, T, 9, truth=truth, threads=1)
    alone = fastes.simulate(bandit, agent, T, 1, truth=truth)
    assert (many.regret.per_run[:1] == alone.regret.per_run).all()


@pytest.mark.parametrize(("name", "drift"), [("fixed", "ar"), ("subset", "ar"), ("fresh", "ar")])
def test_any_checkpoint_goes_on_to_the_same_bits(name, drift, tmp_path):
    bandit = fastes.LinearBandit(SETS[name], **BELIEF)
    agent = fastes.UniformRandom()
    arguments = {"T": 900, "runs": 3, "seed": 5, "truth": Truth(drift=DRIFTS[drift]), "delay": 40}
    whole = fastes.simulate(bandit, agent, **arguments)
    watched, copies = recorded(tmp_path, fastes.simulate, bandit, agent, **arguments, threads=2)
    assert_same(watched, whole)
    longer = fastes.simulate(bandit, agent, **{**arguments, "T": 1100})
    for copy in some(copies):
        assert_same(resumed(copy, threads=2), whole)
        assert_same(resumed(copy, T=1100), longer)


@pytest.mark.parametrize("drift", [name for name in DRIFTS if name != "ar"])
def test_a_checkpoint_between_changes_goes_on_to_the_same_bits(drift, tmp_path):
    truth, agent = Truth(drift=DRIFTS[drift]), fastes.UniformRandom()
    for stop in (1, 7, 8, 15):
        short = tmp_path / f"{stop}.ckpt"
        fastes.simulate(BANDIT, agent, stop, 3, truth=truth, checkpoint=short)
        assert_same(fastes.resume(short, T=T), fastes.simulate(BANDIT, agent, T, 3, truth=truth))


def test_a_batch_goes_on_to_the_same_bits(tmp_path):
    truth, agent, file = Truth(drift=DRIFTS["ar"]), fastes.Greedy(), tmp_path / "a.ckpt"
    fastes.simulate(BANDIT, agent, 10, 300, truth=truth, threads=1, checkpoint=file)
    again = fastes.resume(file, T=T, threads=1)
    assert_same(again, fastes.simulate(BANDIT, agent, T, 300, truth=truth, threads=1))


class Random:
    """Plays random vectors of norm 1, and keeps them."""

    def __init__(self, d):
        self.d = d

    def start(self, bandit, seed):
        self.rng, self.played = np.random.default_rng(seed), []
        return self

    def act(self):
        vector = self.rng.normal(size=self.d)
        self.played.append(vector / np.linalg.norm(vector))
        return self.played[-1]

    def observe(self, arm, reward):
        pass


class Replay(Random):
    """Plays given arms."""

    def __init__(self, arms):
        self.arms = arms

    def start(self, bandit, seed):
        self.at = -1
        return self

    def act(self, actions=None):
        self.at += 1
        return int(self.arms[self.at])


@pytest.mark.parametrize("name", ["fixed", "fresh", "redrawn", "given"])
def test_a_custom_agent_faces_the_same_world_to_the_bit(name):
    bandit = fastes.LinearBandit(SETS[name], **BELIEF)
    options = {"T": T, "seed": 5, "keep": KEEP, "points": T, "truth": Truth(drift=DRIFTS["ar"])}
    compiled = fastes.simulate(bandit, fastes.UniformRandom(), **options)
    own = fastes.simulate(bandit, Replay(compiled.actions[0]), **options, delay=2)
    assert (own.rewards == compiled.rewards).all()
    assert (own.regret.per_run == compiled.regret.per_run).all()


def test_a_custom_agent_on_a_ball_pays_for_the_best_of_each_step():
    bandit, truth, agent = (
        fastes.LinearBandit(Ball(3), **BELIEF),
        Truth(drift=DRIFTS["ar"]),
        Random(3),
    )
    result = fastes.simulate(bandit, agent, T, seed=5, truth=truth, points=T)
    path = truth.path(bandit, T, seed=5)
    lost = np.linalg.norm(path, axis=1) - np.einsum("ij,ij->i", path, agent.played)
    np.testing.assert_allclose(result.regret.per_run[0], np.cumsum(lost), atol=1e-9)


# Results, files, diagnostics.


@pytest.mark.parametrize("drift", DRIFTS)
def test_a_drift_is_kept_by_files_and_done_again(drift, tmp_path):
    truth = Truth(prior_mean=0.5, noise=0.7, drift=DRIFTS[drift])
    result = fastes.simulate(BANDIT, fastes.UniformRandom(), T, 2, truth=truth)
    result.save(tmp_path / "a.npz")
    loaded = fastes.load(tmp_path / "a.npz")
    assert loaded.truth == truth
    assert loaded.truth.drift == truth.drift
    assert loaded.configuration.truth == f"prior mean 0.5, noise 0.7, drift {truth.drift.label}"
    assert_same(fastes.rerun(loaded), result)


def test_a_drift_is_no_belief_and_bounds_do_not_apply():
    truth = Truth(drift=DRIFTS["ar"])
    assert not truth.is_belief(BANDIT)
    agent = fastes.EnsembleSampling(5)
    result = fastes.simulate(BANDIT, agent, 12, 4, truth=truth, diagnostics=[0, 11])
    table = inequalities(result)
    assert table["bounds"] is None
    with pytest.raises(ValueError, match="the bounds do not apply to ES, M=5"):
        theorem2_measured(result)


class Known(Random):
    """Plays arm 0, and says so."""

    def start(self, bandit, seed):
        self.K = bandit.K
        return self

    def act(self):
        return 0

    def action_law(self):
        return np.eye(self.K)[0]


def test_a_probe_measures_regret_under_theta_of_its_step_and_changes_nothing():
    truth, moments = Truth(drift=DRIFTS["ar"]), [0, 1, 9, 24]
    options = {"T": T, "runs": 2, "seed": 5, "truth": truth, "points": T}
    agent = fastes.Greedy()
    plain = fastes.simulate(BANDIT, agent, **options)
    probed = fastes.simulate(BANDIT, agent, **options, diagnostics=moments, samples=64)
    assert (plain.regret.per_run == probed.regret.per_run).all()
    # Greedy plays one arm: what it is to lose at a step is what it then loses.
    lost = np.diff(probed.regret.per_run, axis=1, prepend=0.0)[:, moments]
    np.testing.assert_allclose(probed.diagnostics.per_run.regret, lost, atol=1e-10)
    own = fastes.simulate(BANDIT, Known(3), **options, diagnostics=moments, samples=64)
    lost = np.diff(own.regret.per_run, axis=1, prepend=0.0)[:, moments]
    np.testing.assert_allclose(own.diagnostics.per_run.regret, lost, atol=1e-10)


# What is refused.


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Abrupt([]), r"drift's steps must be a list of steps such as \[150, 300\], got"),
        (lambda: Abrupt(5), "drift's steps must be a list of steps"),
        (lambda: Abrupt("150,300"), "drift's steps must be a list of steps"),
        (lambda: Abrupt([0, 5]), "a step of drift must be an integer from 1 to .*, got 0"),
        (lambda: Abrupt([5.5]), "a step of drift must be an integer"),
        (lambda: Abrupt([-3]), "a step of drift must be an integer"),
        (lambda: Abrupt([9, 5]), "drift's steps must increase, got 5 after 9"),
        (lambda: Abrupt([5, 5]), "drift's steps must increase, got 5 after 5"),
        (lambda: AutoRegressive(1.01), "rho must be a number from -1 to 1, got 1.01"),
        (lambda: AutoRegressive(np.nan), "rho must be a number from -1 to 1, got nan"),
        (lambda: AutoRegressive("0.9"), "rho must be a number from -1 to 1"),
        (lambda: Rotating(np.nan), "angle must be a number from -3.14.* to 3.14.*, got nan"),
        (lambda: Rotating(np.inf), "angle must be a number"),
        (lambda: Piecewise([1, 2], [[1.0]]), r"drift's thetas must have a row for each of 2 steps"),
        (lambda: Piecewise([1], [[np.nan]]), "drift's thetas must be finite"),
        (lambda: Piecewise([0], [[1.0]]), "a step of drift must be an integer from 1"),
        (lambda: Truth(drift="ar:0.9"), "drift must be one of fastes.drift, such as"),
        (lambda: Truth(drift=0.9), "drift must be one of fastes.drift, such as"),
    ],
)
def test_what_is_no_drift_is_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


SINGULAR = {"prior_cov": [1.0, 0.0, 2.0]}


@pytest.mark.parametrize(
    ("actions", "belief", "truth", "words"),
    [
        (np.eye(1), {}, Truth(drift=Rotating(0.1)), "rotating:0.1 needs d of at least 2, got d=1"),
        (np.eye(2), {}, Truth(drift=DRIFTS["piecewise"]), r"drift's thetas must fit .* d=2"),
        (Fresh(4, 3), SINGULAR, Truth(drift=Rotating(0.1)), "so must theta that drifts"),
        (Fresh(4, 3), SINGULAR, Truth(drift=DRIFTS["piecewise"]), "so must theta that drifts"),
        (Fresh(4, 3), SINGULAR, Truth(prior_cov=1.0, drift=AutoRegressive(0.5)), "support"),
        (np.eye(3), {}, Truth(drift=Piecewise([3], np.full((1, 3), 1e10))), "within 1e.09 noise"),
        (np.eye(3), {}, Truth(prior_cov=1e18, drift=AutoRegressive(0.5)), "within 1e.09 noise"),
        (Ball(3), {}, Truth(prior_mean=1e308, drift=AutoRegressive(0.5)), "within 1e.09 noise"),
    ],
)
def test_a_drift_that_does_not_fit_is_refused(actions, belief, truth, words):
    bandit = fastes.LinearBandit(actions, **belief)
    with pytest.raises(ValueError, match=words):
        fastes.simulate(bandit, fastes.UniformRandom(), 5, truth=truth)


def test_on_a_singular_belief_theta_stays_where_it_can_be():
    bandit = fastes.LinearBandit(Fresh(4, 3), **SINGULAR)
    result = fastes.simulate(
        bandit, fastes.UniformRandom(), T, 3, truth=Truth(drift=DRIFTS["ar"]), points=T
    )
    assert (np.diff(result.regret.per_run, axis=1) >= 0).all()


def test_theta_may_be_given_beside_a_prior_of_later_ones():
    given = {"theta": [0.1, 0.2, 0.3]}
    for drift, allowed in ((DRIFTS["abrupt"], True), (DRIFTS["piecewise"], False)):
        truth = Truth(prior_mean=2.0, drift=drift)
        if allowed:
            fastes.simulate(BANDIT, fastes.UniformRandom(), 5, **given, truth=truth)
            continue
        with pytest.raises(ValueError, match="theta is fixed, so truth must not set its prior"):
            fastes.simulate(BANDIT, fastes.UniformRandom(), 5, **given, truth=truth)


def test_labels_of_drifts_are_short_and_differ():
    drifts = [
        *DRIFTS.values(),
        *(Abrupt(steps) for steps in ([1], [1, 7], range(1, 20), range(1, 21))),
        *(AutoRegressive(rho) for rho in (0.0, 0.5, 0.5 + 1e-16 * 2)),
        *(Piecewise(range(1, 20), np.full((19, 3), x)) for x in (0.0, 1.0)),
    ]
    assert len({Truth(drift=each).text for each in drifts}) == len(drifts)
    assert all(len(each.label) < 80 for each in drifts)


def test_the_smallest_worlds():
    one = fastes.LinearBandit([[2.0]], prior_mean=1.0)
    for drift in (Abrupt([1]), AutoRegressive(0.5), Piecewise([1], [[3.0]])):
        result = fastes.simulate(one, fastes.UniformRandom(), 1, truth=Truth(drift=drift))
        assert result.regret.final.tolist() == [0.0]


def test_theta_of_a_checkpoint_is_checked():
    truth = Truth(drift=DRIFTS["ar"])
    place, first = place_of(BANDIT, truth, canonical=False), truth.theta(BANDIT, 0, 0)

    def environment():
        return SimpleNamespace(
            late=late_rewards(0, 3), moving=moving_theta(BANDIT, truth, place, first)
        )

    saved = {"drift_theta": np.array([1.0, 2.0, 3.0]), "drift_step": np.array([8])}
    restored = environment()
    fill_environment(restored, saved, 9)
    assert (restored.moving.theta.tolist(), restored.moving.step.tolist()) == ([1, 2, 3], [8])
    assert {*environment_arrays(restored)} == {*saved}
    for name, part in (
        ("drift_theta", np.array([1.0, 2.0])),
        ("drift_theta", np.array([1.0, np.nan, 3.0])),
        ("drift_step", np.array([2])),
        ("drift_step", np.array([10])),
        ("drift_step", np.array([8, 8])),
    ):
        with pytest.raises(ValueError, match="theta of a run"):
            fill_environment(environment(), {**saved, name: part}, 9)
    with pytest.raises(KeyError):
        fill_environment(environment(), {}, 9)


class Pair(NamedTuple):
    own: np.ndarray
    common: Shared


def test_what_states_share_is_not_stacked():
    state = Pair(np.zeros(2), Shared(np.arange(6.0)))
    stack = stack_states(state, 5)
    set_state(stack, 3, state._replace(own=np.ones(2)))
    assert stack.own.shape == (5, 2)
    assert stack.common is state.common
    assert state_at(stack, 3).own.tolist() == [1.0, 1.0]
    assert state_at(stack, 3).common is state.common
