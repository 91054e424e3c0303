"""Late rewards and other truths: the same actions and beliefs as a slow loop, on every set."""

import numpy as np
import pytest
import reference
from fastes.kernels.ensembles.row_log import block_length
from fastes.kernels.streams import layout
from played import RUN, SEED, TOLERANCE, Played, compare, noise_of, offered, true_theta

import fastes
from fastes import Truth
from fastes.actions import Ball, Fresh, Given, Redrawn, Subset

RNG = np.random.default_rng(6)
T = 30
SETS = {
    "fixed": RNG.normal(size=(7, 3)),
    "fresh": Fresh(6, 3),
    "redrawn": Redrawn(5, 3, "gaussian"),
    "subset": Subset(RNG.normal(size=(20, 3)), 4),
    "given": Given(RNG.normal(size=(7, 4, 3))),
}
BELIEF = {"prior_cov": [1.0, 4.0, 0.25], "prior_mean": [0.3, -1.0, 2.0], "noise": 0.5}
TRUTHS = {
    "belief": None,
    "mean": Truth(prior_mean=[1.0, 0.0, -2.0]),
    "variance": Truth(prior_cov=3.0, noise=2.0),
    "both": Truth(0.5, [2.0, 0.0, 1.0], noise_law="laplace"),
    "signs": Truth(noise_law="signs"),
    "no noise": Truth(noise=0.0, noise_law="uniform"),
}


@pytest.fixture(params=SETS)
def bandit(request):
    return fastes.LinearBandit(SETS[request.param], **BELIEF)


def greedy(played, rows, t, mean, covariance, models):
    return rows @ mean


@pytest.mark.parametrize("delay", [0, 1, 3, T, T + 5])
def test_greedy_with_late_rewards(bandit, delay):
    compare(bandit, fastes.Greedy(), T, greedy, delay=delay)


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("delay", [0, 2])
def test_greedy_in_another_world(bandit, truth, delay):
    compare(bandit, fastes.Greedy(), T, greedy, truth=TRUTHS[truth], delay=delay)


def test_late_plays_of_one_arm_are_known_as_such():
    """So many steps that the posterior is computed afresh from how often each arm was played."""
    bandit = fastes.LinearBandit(SETS["fixed"], **BELIEF)

    def scores_of(played, rows, t, mean, covariance, models):
        normals = reference.normal_vector(SEED, RUN, int(layout.POSTERIOR_SAMPLE), t, bandit.rank)
        return rows @ (mean + played.lift @ (played.state.belief.root.T @ normals))

    played = compare(bandit, fastes.ThompsonSampling(), 1500, scores_of, delay=3)
    assert played.state.belief.since_refactor[0] < 1497


def test_linucb_with_late_rewards(bandit):
    def scores_of(played, rows, t, mean, covariance, models):
        spread = np.sqrt(np.maximum(0, np.einsum("ij,jk,ik->i", rows, covariance, rows)))
        return rows @ mean + 1.5 * spread

    compare(bandit, fastes.LinUCB(1.5), T, scores_of, delay=2)


@pytest.mark.parametrize("delay", [1, 4, T])
def test_thompson_sampling_with_late_rewards(bandit, delay):
    def scores_of(played, rows, t, mean, covariance, models):
        normals = reference.normal_vector(SEED, RUN, int(layout.POSTERIOR_SAMPLE), t, bandit.rank)
        return rows @ (mean + played.lift @ (played.state.belief.root.T @ normals))

    compare(bandit, fastes.ThompsonSampling(), T, scores_of, delay=delay)


@pytest.mark.parametrize("delay", [1, 3, 20])
@pytest.mark.parametrize("M", [1, 5])
def test_eager_ensemble_sampling_with_late_rewards(bandit, M, delay):
    def scores_of(played, rows, t, mean, covariance, models):
        return rows @ models[reference.integer(SEED, RUN, int(layout.MODEL_INDEX), t, M)]

    agent = fastes.EnsembleSampling(M, engine="eager")
    compare(bandit, agent, T, scores_of, model_count=M, delay=delay)


@pytest.mark.parametrize("delay", [1, 7])
def test_a_deferred_model_misses_what_was_observed_since_its_read(delay):
    bandit, M, steps = fastes.LinearBandit(SETS["fresh"], **BELIEF), 3, 90
    r, block = bandit.rank, block_length(bandit.rank)
    rows, read = [], {}  # all that were played; xi of each model, and rewards seen at its read
    played = Played(bandit, fastes.EnsembleSampling(M), steps, delay=delay)
    for t in range(steps):
        m, seen = reference.integer(SEED, RUN, int(layout.MODEL_INDEX), t, M), max(0, t - delay)
        known = read.get(m)
        arm = played.step(t)
        models = played.state.models
        slot = int(np.flatnonzero(models.model[: models.used[0]] == m)[0])
        xi = models.xi[slot].copy()
        if known is not None:
            normals = reference.normal_vector(
                SEED, RUN, int(layout.PERTURBATION), t, 2 * block + 20 * r
            )
            missed = reference.missed(np.array(rows)[:seen], known[1], seen, normals, block)
            np.testing.assert_allclose(
                xi, known[0] + missed, atol=TOLERANCE * max(1, np.abs(xi).max())
            )
        assert models.read_at[slot] == seen
        read[m] = xi, seen
        rows.append(offered(bandit.actions, t)[arm] @ played.lift / bandit.noise)


@pytest.mark.parametrize("delay", [0, 1, 3, T + 1])
@pytest.mark.parametrize("truth", TRUTHS)
def test_the_ball(truth, delay):
    """Greedy, whose arm is the mean's direction: what it pays, costs and teaches."""
    bandit, truth = fastes.LinearBandit(Ball(3, 2.0), **BELIEF), TRUTHS[truth]
    played = Played(bandit, fastes.Greedy(), T, truth=truth, delay=delay)
    problem = reference.Problem.of(np.eye(3), bandit.prior_mean, bandit.prior_cov, bandit.noise)
    theta, (law, spread) = true_theta(problem, played.lift, truth), noise_of(truth, bandit.noise)
    mean, covariance, history, total = problem.mean, problem.covariance, [], 0.0
    for t in range(T):
        np.testing.assert_allclose(
            bandit.prior_mean + played.lift @ played.state.belief.mu, mean, atol=1e-8
        )
        played.step(t)
        arm = 2.0 * mean / np.linalg.norm(mean)
        noise = spread * reference.noise(SEED, RUN, int(layout.NOISE), t, law)
        history.append((arm, arm @ theta + noise))
        total += 2.0 * np.linalg.norm(theta) - arm @ theta
        assert bandit.noise * played.record.regret[t] == pytest.approx(total, rel=1e-8)
        if t >= delay:
            mean, covariance = reference.posterior_update(
                problem, mean, covariance, *history[t - delay]
            )
