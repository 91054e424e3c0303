"""The best arms of many models, and what a reward tells of the best arm, against references."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import all_models, offsets, rows, start
from fastes.kernels.beliefs.interface import normal_law
from fastes.kernels.diagnostics.mutual_information import bins_of, information
from fastes.kernels.streams.philox import source

import fastes
from fastes.agents.best_arms import BestArmCounts, draws_of, read_models


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("n", [1, 4, 7, 130])
def test_best_arms_are_those_of_the_reference(name, n):
    bandit = BANDITS[name]
    z = np.random.default_rng(5).normal(size=(n, bandit.rank))
    z[0] = 0.0  # where all offsets are equal, all arms tie
    tally = BestArmCounts(bandit.canonical.arms)
    arms = np.concatenate([tally.add(z[:3]), tally.add(z[3:])]) if n > 3 else tally.add(z)
    scores = (offsets(bandit) + z @ rows(bandit).T) / bandit.noise
    votes, values = reference.best_arms_shared(scores)
    assert tally.counts == pytest.approx(votes)
    assert tally.values == pytest.approx(values)
    assert scores[np.arange(n), arms] == pytest.approx(scores.max(axis=1))


def test_duplicate_arms_share_to_the_bit():
    bandit = BANDITS["duplicate arms"]
    tally = BestArmCounts(bandit.canonical.arms)
    tally.add(np.random.default_rng(2).normal(size=(500, bandit.rank)))
    assert tally.counts.sum() == pytest.approx(500)
    first, again, thrice = tally.counts[:7], tally.counts[7:14][::-1], tally.counts[14:]
    assert (first == again).all()
    assert (first[:3] == thrice).all()


def test_a_model_that_is_no_number_is_refused():
    tally = BestArmCounts(BANDITS["isotropic"].canonical.arms)
    with pytest.raises(FloatingPointError, match="all of its scores are nan"):
        tally.add(np.full((2, 5), np.nan))


@pytest.mark.parametrize("engine", ["deferred", "eager"])
@pytest.mark.parametrize("M", [1, 5, 1500])
def test_phat_is_what_the_models_would_play(engine, M):
    bandit = BANDITS["full"]
    agent = fastes.EnsembleSampling(M, engine)
    run = start(bandit, agent, 30, seed=4)
    run.advance(0, 30)
    law = agent.action_law(run.state, bandit.canonical.arms, run.source, 30)
    posterior = run.state.belief
    z = posterior.mu + all_models(run.state, run.source, 30) @ posterior.S
    votes, _ = reference.best_arms_shared((offsets(bandit) + z @ rows(bandit).T) / bandit.noise)
    assert law.probabilities == pytest.approx(votes / M)
    whitened = np.linalg.solve(np.linalg.cholesky(posterior.S), (z - posterior.mu).T).T
    second, r = whitened.T @ whitened / M, bandit.rank
    assert law.moments.variance == pytest.approx(np.trace(second) / r)
    length = np.linalg.norm(whitened.mean(axis=0)) * np.sqrt(M / r)
    assert law.moments.mean_error == pytest.approx(length)
    gap = np.linalg.norm(second - np.eye(r)) * np.sqrt(M / (r * (r + 1)))
    assert law.moments.cov_error == pytest.approx(gap)


@pytest.mark.parametrize("agent", [fastes.Greedy(), fastes.LinUCB(1.3)])
@pytest.mark.parametrize("name", ["full", "more than a tile", "smallest"])
def test_an_index_policy_plays_its_law(agent, name):
    bandit = BANDITS[name]
    run = start(bandit, agent, 40, seed=1)
    for t in range(40):
        law = agent.action_law(run.state, bandit.canonical.arms, run.source, t).probabilities
        assert law.sum() == pytest.approx(1)
        assert law[run.step(t)] > 0
    assert law.max() == 1


def test_ties_of_an_index_policy_are_shared():
    bandit = BANDITS["only zero arms"]
    run = start(bandit, fastes.Greedy(), 1)
    law = fastes.Greedy().action_law(run.state, bandit.canonical.arms, run.source, 0)
    assert law.probabilities.tolist() == [1 / 3] * 3


def test_draws_have_the_posterior_s_law():
    # Mean and covariance of 40,000 draws: 4.5 standard errors for 54 figures, level 4e-4.
    run = start(BANDITS["full"], fastes.EnsembleSampling(10), 300, seed=2)
    run.advance(0, 300)
    posterior = normal_law(run.state.belief)
    assert posterior.root.T @ posterior.root == pytest.approx(run.state.belief.S, abs=1e-12)
    z = draws_of(posterior, source(3), 7, 40_000)
    white = np.linalg.solve(posterior.root.T, (z - posterior.mean).T).T
    assert (np.abs(white.mean(axis=0)) < 4.5 / 200).all()
    assert (np.abs(white.T @ white / 40_000 - np.eye(6)) < 4.5 * np.sqrt(2) / 200).all()
    assert (z == draws_of(posterior, source(3), 7, 40_000)).all()
    assert (z[:10] != draws_of(posterior, source(3), 8, 10)).any()


def test_models_are_read_as_the_agent_reads_them():
    run = start(BANDITS["full"], fastes.EnsembleSampling(10), 20, seed=2)
    run.advance(0, 20)
    posterior, xi = run.state.belief, all_models(run.state, run.source, 1)
    assert read_models(posterior, xi) == pytest.approx(posterior.mu + xi @ posterior.S)


def informed(values, labels):
    labels = np.unique(labels, return_inverse=True)[1]
    values = values - values.min()
    (bins, width), J = bins_of(values.max()), labels.max() + 1
    return information(values, labels, np.empty((2, bins, J)), width, np.empty((2, J)))


@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("J", [1, 2, 5])
def test_information_is_that_of_the_mixture(spread, J):
    rng = np.random.default_rng(8)
    values = spread * rng.normal(size=600)
    labels = np.minimum(
        J - 1, (rng.normal(size=600) + values / spread > 0) + rng.integers(0, J, 600)
    )
    whole, *halves = (
        reference.information_of_reward(values[part], labels[part])
        for part in (slice(None), slice(0, None, 2), slice(1, None, 2))
    )
    expected = 2 * whole - np.mean(halves)
    # Binning widens the noise. If that were not taken off, some of these would be 0.0035 too small.
    assert informed(values, labels) == pytest.approx(expected, rel=0.001, abs=1e-10)


def test_information_about_a_sign_by_hand():
    # v ~ N(0, 1), A* = [v > 0], y = v + N(0, 1): P(A* | y) = Phi(y / sqrt(2)), which is uniform
    # since y / sqrt(2) is N(0, 1). I = log 2 - E[h(U)] = log 2 - 1/2, in nats.
    v = np.random.default_rng(1).normal(size=200_000)
    assert informed(v, v > 0) == pytest.approx(np.log(2) - 0.5, abs=0.002)


def test_information_from_the_fewest_draws():
    assert informed(np.array([1.0, 1.0]), np.array([0, 0])) == pytest.approx(0, abs=1e-12)
