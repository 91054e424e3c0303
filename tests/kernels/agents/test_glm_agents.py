"""Every rule on generalised linear rewards: that it runs, and what it chooses by."""

import engine
import glm_runs
import numpy as np
import pytest
import reference
from engine import all_models, learn
from fastes.kernels.beliefs.families import Bernoulli, Gaussian, Poisson
from fastes.kernels.streams import layout
from scipy import special

import fastes

T = 120


def problem(K=25, r=3, seed=0, scale=1.5):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(K, r)) / np.sqrt(r), rng.normal(size=r)


def data_of(run, family="bernoulli"):
    b = run.state.belief
    return reference.Plays(family, b.columns.T, b.offsets, b.plays.copy(), b.pay.copy())


def steps(name, family=Bernoulli(0.0), seed=0, T=T):  # noqa: B008
    """Yield a run before and after each step: what was known, and the arm that was played."""
    rows, z = problem()
    run = glm_runs.start(rows, z, glm_runs.AGENTS[name], T, seed, 1, family)
    for t in range(T):
        data, mu, S = data_of(run), run.state.belief.mu.copy(), run.state.belief.S.copy()
        assert run.advance(t, t + 1) == t + 1
        yield run, t, data, mu, S, rows


@pytest.mark.parametrize("name", glm_runs.AGENTS)
def test_every_agent_learns_what_pays(name):
    rows, z = problem(25, 3, 4, 3.0)
    run = glm_runs.start(rows, z, glm_runs.AGENTS[name], 1_500)
    assert run.advance(0, 1_500) == 1_500
    values = special.expit(rows @ z)
    share = 0.6 if name in ("greedy", "linucb") else 0.4
    assert run.record.total[0] < share * 1_500 * (values.max() - values.mean())
    assert data_of(run).distance(run.state.belief.mu) <= 2e-9


def test_greedy_play_is_of_the_mode():
    for run, t, _, mu, _, rows in steps("greedy"):
        scores = rows @ mu
        assert scores[run.record.arms[t]] == pytest.approx(scores.max(), abs=1e-9)


def test_thompson_sampling_draws_from_laplace_s_approximation():
    for run, t, _, mu, S, rows in steps("ts"):
        normals = reference.normal_vector(0, 1, layout.POSTERIOR_SAMPLE, t, 3)
        U = np.linalg.cholesky(np.linalg.inv(S)).T
        model = mu + np.linalg.inv(U) @ normals
        np.testing.assert_allclose(run.state.z, model, atol=1e-7)
        assert run.record.arms[t] == np.argmax(rows @ model)


def test_linucb_adds_standard_deviations_of_the_arm_s_value():
    for run, t, data, mu, _, rows in steps("linucb"):
        S = np.linalg.inv(data.hessian(mu))
        index = rows @ mu + np.sqrt(np.einsum("ij,jk,ik->i", rows, S, rows))
        assert index[run.record.arms[t]] == pytest.approx(index.max(), abs=1e-8)


def test_perturbed_history_solves_for_fresh_perturbations():
    for run, t, data, _, _, _ in steps("phe", T=60):
        V = variances_before(run, t)
        normals = reference.normal_vector(0, 1, layout.PERTURBATION, t, len(V))
        xi = data.rows[: len(V)].T @ (0.7 * np.sqrt(V) * normals)
        assert data.distance(run.state.z, xi) <= 1e-7


def variances_before(run, t):
    """V before step t: that of now less the perturbation of the step."""
    b = run.state.belief
    V, slot = b.variances.copy(), b.slot_of_arm[run.record.arms[t]]
    V[slot] -= b.last[0] ** 2
    taken = b.size[0] - (b.plays[slot] == 1)
    return np.maximum(V[:taken], 0)


@pytest.mark.parametrize("name", ["es++", "eager"])
def test_kept_models_take_in_perturbations_of_the_reward_s_variance(name):
    # Each model's xi has taken in sums of W sqrt(v) b: with a constant v four times as large, xi
    # less what it began with is twice as large, as long as the same arms are played.
    rows, z = problem()
    xi = {}
    for v in (0.2, 0.8):
        run = glm_runs.start(rows, z, glm_runs.AGENTS[name], 40, 5, 0, Bernoulli(v))
        learned = [models_of(run)]
        for t in range(30):
            arm = t % 7
            row = rows[arm].copy()
            learn(run.state, row, 0.0, arm, float(t % 2), run.source, t)
        learned.append(models_of(run))
        xi[v] = learned[1] - learned[0]
    np.testing.assert_allclose(xi[0.8], 2 * xi[0.2], rtol=1e-9, atol=1e-12)


def models_of(run):
    if hasattr(run.state, "xi"):
        return run.state.xi.copy()
    return all_models(run.state, run.source, 0)


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_counts(constant):
    rows, z = problem(25, 3, 2)
    make = glm_runs.AGENTS["es"]
    run = glm_runs.start(rows, z, make, 800, 0, 0, Poisson(constant))
    assert run.advance(0, 800) == 800
    assert data_of(run, "poisson").distance(run.state.belief.mu) <= 2e-9
    means = np.exp(rows @ z)
    assert run.record.total[0] < 0.3 * 800 * (means.max() - means.mean())
    assert (run.record.rewards == np.round(run.record.rewards)).all()


def test_with_normal_rewards_thompson_sampling_is_that_of_the_linear_bandit():
    bandit = fastes.LinearBandit(problem()[0])
    theirs = engine.start(bandit, fastes.ThompsonSampling(), 300, 3)
    theta = reference.normal_vector(3, 0, layout.THETA, 0, 3)
    ours = glm_runs.start(
        engine.rows(bandit), theta, glm_runs.AGENTS["ts"], 300, 3, 0, Gaussian(0.0)
    )
    theirs.advance(0, 300)
    assert ours.advance(0, 300) == 300
    assert (ours.record.counts == theirs.record.counts).all()
    np.testing.assert_allclose(ours.state.belief.mu, theirs.state.belief.mu, atol=1e-8)


def test_the_same_seed_gives_the_same_rewards_to_all_agents():
    # An arm that two agents play at the same step pays both the same.
    rows, z = problem()
    runs = [
        glm_runs.start(rows, z, glm_runs.AGENTS[name], T, 9, 2, Poisson(0.0))
        for name in ("es", "metropolis")
    ]
    for run in runs:
        assert run.advance(0, T) == T
    first, second = (run.record for run in runs)
    same = first.arms == second.arms
    assert same.sum() > 5
    assert (first.rewards[same] == second.rewards[same]).all()
