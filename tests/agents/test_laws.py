"""Laws, tested statistically. Each test states its level; seeds are fixed."""

import numpy as np
import pytest
from engine import all_models, lift, observe, prepare, start
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.beliefs.interface import covariance_of, model_from_xi
from fastes.kernels.ensembles.eager import read_model
from fastes.kernels.loop.environment import draw_reward
from fastes.kernels.loop.step import observe_reward
from fastes.kernels.search.scan import choose
from fastes.kernels.streams.layout import THETA
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source
from numba import njit
from scipy import stats

import fastes
from fastes.actions import Redrawn


def play_fixed(bandit, agent, arms, rewards, seed):
    """Show an agent a fixed sequence of arms and rewards."""
    run = start(bandit, agent, len(arms), seed)
    for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        observe(run.state, bandit.canonical.arms, run.source, t, arm, reward / bandit.noise)
    return run


@pytest.mark.parametrize("prior_cov", [2.0, [[2.0, 0.6, 0.0], [0.6, 1.0, 0.3], [0.0, 0.3, 0.5]]])
def test_for_fixed_actions_the_ensemble_is_distributed_as_the_posterior(prior_cov):
    # M = 40,000 models are iid N(mu_t, Sigma_t): a chi-squared test of each squared Mahalanobis
    # distance's law (KS), and z tests of mean and covariance; level 1e-4 each.
    M = 40_000
    rng = np.random.default_rng(1)
    bandit = fastes.LinearBandit(rng.normal(size=(6, 3)), [0.5, -1.0, 0.2], prior_cov, noise=0.7)
    arms = [0, 1, 1, 4, 0, 2, 1, 5, 5, 1, 3, 0]
    run = play_fixed(
        bandit, fastes.EnsembleSampling(M, engine="eager"), arms, rng.normal(size=12), seed=4
    )
    posterior, U = run.state.belief, lift(bandit)
    models = (
        bandit.prior_mean
        + (posterior.mu + all_models(run.state, run.source, 0) @ posterior.S) @ U.T
    )
    mean = bandit.prior_mean + U @ posterior.mu
    covariance = U @ posterior.S @ U.T
    centred = models - mean
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), centred.T).T
    assert stats.kstest((whitened**2).sum(axis=1), "chi2", args=(3,)).pvalue > 1e-4
    assert (np.abs(whitened.mean(axis=0)) < 3.9 / np.sqrt(M)).all()
    second = whitened.T @ whitened / M
    spread = np.sqrt((1 + np.eye(3)) / M)
    assert (np.abs(second - np.eye(3)) < 3.9 * spread).all()
    assert stats.kstest(whitened[:, 0], "norm").pvalue > 1e-4


def test_posterior_samples_are_distributed_as_the_posterior():
    # As above for 20,000 draws of Thompson sampling; level 1e-4 each.
    n = 20_000
    rng = np.random.default_rng(2)
    bandit = fastes.LinearBandit(rng.normal(size=(6, 3)), prior_cov=3.0)
    run = play_fixed(bandit, fastes.ThompsonSampling(), [0, 1, 2, 1], rng.normal(size=4), seed=4)
    drawn = np.empty((n, 3))
    for t in range(n):
        prepare(run.state, source(9), t)
        drawn[t] = run.state.z
    posterior = run.state.belief
    root = np.linalg.cholesky(covariance_of(posterior))
    whitened = np.linalg.solve(root, (drawn - posterior.mu).T).T
    assert stats.kstest((whitened**2).sum(axis=1), "chi2", args=(3,)).pvalue > 1e-4
    assert (np.abs(whitened.mean(axis=0)) < 3.9 / np.sqrt(n)).all()
    assert (np.abs(whitened.T @ whitened / n - np.eye(3)) < 3.9 * np.sqrt(2 / n)).all()


def regret_with_a_fresh_model_every_step(bandit, T, runs, seed):
    """Ensemble sampling with M = T that reads model t at step t instead of a random one."""
    final = np.zeros(runs)
    for i in range(runs):
        run = start(bandit, fastes.EnsembleSampling(T, engine="eager"), T, seed, i)
        actions = FixedActions(bandit.canonical.arms)
        lost = regret_of_fresh_models(run.state, actions, run.environment, run.source, run.work, T)
        final[i] = bandit.noise * lost
    return final


@njit
def regret_of_fresh_models(agent, actions, environment, source, work, T):
    regret = 0.0
    for t in range(T):
        read_model(agent.models, source, t, agent.scratch.xi)
        model_from_xi(agent.belief, agent.scratch.xi, agent.z)
        arm = choose(work, agent, actions.arms, source, t)
        reward = draw_reward(environment, source, t, arm)
        observe_reward(agent, actions, arm, reward, source, t, environment.row)
        regret += environment.best - environment.means[arm]
    return regret


def test_with_a_fresh_model_every_step_ensemble_sampling_is_thompson_sampling():
    # Final regret of 1,000 runs each, on different seeds: two-sample KS test and z test of the
    # mean, level 1e-4 each.
    bandit = fastes.LinearBandit.random(K=20, d=3, prior_cov=4.0)
    es = regret_with_a_fresh_model_every_step(bandit, T=40, runs=1_000, seed=1)
    ts = fastes.simulate(bandit, fastes.ThompsonSampling(), T=40, runs=4_000, seed=2).regret
    assert stats.ks_2samp(es, ts.final).pvalue > 1e-4
    error = np.hypot(es.std(ddof=1) / np.sqrt(len(es)), ts.se[-1])
    assert abs(es.mean() - ts.mean[-1]) < 3.9 * error


# Mean final regret computed in plain NumPy by 2,000 runs: d=5, K=30, arms uniform on
# [-1/sqrt 5, 1/sqrt 5]^5 redrawn each run, theta ~ N(0, 10 I), noise 1, T=250.
ANCHORS = {
    fastes.ThompsonSampling(): 38.0,
    fastes.Greedy(): 274.0,
    fastes.EnsembleSampling(1): 180.0,
    fastes.EnsembleSampling(2): 95.0,
    fastes.EnsembleSampling(4): 54.0,
    fastes.EnsembleSampling(8): 38.5,
    fastes.EnsembleSampling(16): 34.8,
    fastes.EnsembleSampling(32): 35.2,
    fastes.EnsembleSampling(64): 36.2,
}


def within_error(final, anchor, anchor_runs=2_000):
    """Tell whether both means agree, the anchor having as much spread a run as ours."""
    error = final.std(ddof=1) * np.sqrt(1 / len(final) + 1 / anchor_runs)
    # Half a unit of its last place: the anchor is a rounded figure.
    return abs(final.mean() - anchor) < 3.9 * error + 0.005 * anchor


@pytest.mark.parametrize("agent", ANCHORS, ids=str)
def test_regret_meets_the_figures_of_plain_numpy(agent):
    # z test over 2,000 runs, level 1e-4 each.
    bandit = fastes.LinearBandit(Redrawn(30, 5, "uniform"), prior_cov=10.0)
    final = fastes.simulate(bandit, agent, T=250, runs=2_000).regret.final
    assert within_error(final, ANCHORS[agent])


def test_arms_and_agent_draw_different_numbers_from_one_seed():
    # Correlation of a Gaussian problem's arms with theta of the same seed: level 1e-4.
    bandit = fastes.LinearBandit.random(K=2_000, d=10, arms="gaussian", seed=5)
    z = np.empty(10)
    fill_normals(source(5), THETA, 0, z)
    rows = bandit.actions * np.sqrt(10)
    assert np.abs(rows - z).min() > 0
    assert abs((rows @ z).mean()) < 3.9 * np.linalg.norm(z) / np.sqrt(2_000)
