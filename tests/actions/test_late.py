"""Late rewards and other truths: the same actions and beliefs as a slow loop, on every set."""

import numpy as np
import pytest
import reference
from fastes.kernels.streams import layout
from played import (
    RUN,
    SEED,
    Played,
    agents_on,
    compare,
    greedy_scores,
    noise_of,
    thompson_scores,
    true_theta,
)

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


@pytest.mark.parametrize("delay", [0, 1, 3, T, T + 5])
@pytest.mark.parametrize(("name", "agent", "scores_of"), agents_on(SETS))
def test_rewards_are_late(name, agent, scores_of, delay):
    compare(fastes.LinearBandit(SETS[name], **BELIEF), agent, T, scores_of, delay=delay)


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("delay", [0, 2])
def test_greedy_in_another_world(bandit, truth, delay):
    compare(bandit, fastes.Greedy(), T, greedy_scores, truth=TRUTHS[truth], delay=delay)


def test_late_plays_of_one_arm_are_known_as_such():
    """So many steps that the posterior is computed afresh from how often each arm was played."""
    bandit = fastes.LinearBandit(SETS["fixed"], **BELIEF)
    played, _ = compare(bandit, fastes.ThompsonSampling(), 1500, thompson_scores, delay=3)
    assert played.state.belief.since_refactor[0] < 1497


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
