"""The baselines are right: given what they played, what they know is what tests/reference.py says.

Played arms and rewards go through the reference's update of the posterior, which a baseline's mean
and covariance must equal. Models are draws from that posterior, given the history; regret has the
law of fastes' own.
"""

import sys

import numpy as np
import pytest
import reference
from scipy import stats

import fastes
from bench.baselines import (
    MissingBaselineError,
    c_yardstick,
    jax_es,
    jax_glm,
    numpy_batch,
    numpy_es,
    numpy_family,
    numpy_glm,
    numpy_ids,
    numpy_index,
    numpy_ts,
)

SHAPES = [(1, 1, 1, 1), (2, 1, 1, 5), (1, 3, 2, 4), (30, 5, 7, 33), (100, 10, 40, 70)]
ONE_RUN = {
    "ES in place": numpy_es.in_place,
    "ES in blocks": numpy_es.in_blocks,
    "TS": lambda actions, M, T, seed: numpy_ts.in_place(actions, T, seed),
    "ES in C": c_yardstick.ensemble_sampling,
    "TS in C": lambda actions, M, T, seed: c_yardstick.thompson_sampling(actions, T, seed),
    "ES in JAX": jax_es.ensemble_sampling,
    "IDS": lambda actions, M, T, seed: numpy_ids.in_place(actions, 50, T, seed),
}
MANY_RUNS = {
    "ES": numpy_batch.ensemble_sampling,
    "TS": lambda actions, M, T, runs, seed: numpy_batch.thompson_sampling(actions, T, runs, seed),
}


def arms(K, d):
    return fastes.LinearBandit.random(K, d, seed=3).actions


def problem_of(actions):
    return reference.Problem.of(actions, 0.0, 1.0, 1.0)


def posteriors(played, actions):
    """Yield the posterior before each step of what was played, and after the last."""
    mean, covariance = np.zeros(actions.shape[1]), np.eye(actions.shape[1])
    yield mean, covariance
    for arm, reward in zip(played.arms, played.rewards, strict=True):
        mean, covariance = reference.posterior_update(
            problem_of(actions), mean, covariance, actions[arm], reward
        )
        yield mean, covariance


def is_posterior_of_its_history(played, actions):
    *_, (mean, covariance) = posteriors(played, actions)
    np.testing.assert_allclose(played.mean, mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(played.covariance, covariance, rtol=1e-9, atol=1e-11)


def are_draws_of_the_posterior(models, mean, covariance):
    # Mean and second moments of n whitened models in d dimensions: 4.5 standard errors for
    # d + d(d + 1)/2 numbers, level 1e-3 at d = 10; seeds are fixed.
    n, d = models.shape
    white = np.linalg.solve(np.linalg.cholesky(covariance), (models - mean).T).T
    assert (np.abs(white.mean(axis=0)) < 4.5 / np.sqrt(n)).all()
    assert (np.abs(white.T @ white / n - np.eye(d)) < 4.5 * np.sqrt(2 / n)).all()


@pytest.mark.parametrize("name", ONE_RUN)
@pytest.mark.parametrize(("K", "d", "M", "T"), SHAPES)
def test_one_run_knows_the_posterior(available, name, K, d, M, T):
    actions = arms(K, d)
    played = available(lambda: ONE_RUN[name](actions, M, T, 4))
    is_posterior_of_its_history(played, actions)
    assert played.models.shape == ((M if "ES" in name else 1), d)
    assert played.regret >= 0


@pytest.mark.parametrize("name", MANY_RUNS)
@pytest.mark.parametrize(("K", "d", "M", "T"), SHAPES)
@pytest.mark.parametrize("runs", [1, 3])
def test_many_runs_know_their_posteriors(name, K, d, M, T, runs):
    actions = arms(K, d)
    played = MANY_RUNS[name](actions, M, T, runs, 4)
    assert len(played) == runs
    for each in played:
        is_posterior_of_its_history(each, actions)


@pytest.mark.parametrize("T", [1, 31, 32, 33, 100])
@pytest.mark.parametrize(
    "name", ["ES in place", "ES in blocks", "ES in C", "ES in JAX", "many runs"]
)
def test_models_are_draws_of_the_posterior(available, name, T):
    actions = arms(30, 10)
    if name == "many runs":
        played = numpy_batch.ensemble_sampling(actions, 20_000, T, 2, 5)[1]
    else:
        played = available(lambda: ONE_RUN[name](actions, 20_000, T, 5))
    are_draws_of_the_posterior(played.models, played.mean, played.covariance)


def test_every_model_is_equation_2_s():
    # The generator gives the same numbers here: theta, models, which is read, noise, perturbations.
    actions, M, T = arms(30, 5), 7, 40
    played = numpy_es.in_place(actions, M, T, 6)
    rng = np.random.default_rng(6)
    rng.standard_normal(5)
    models = list(rng.standard_normal((M, 5)))
    chosen = rng.integers(M, size=T)
    rng.standard_normal(T)
    for t, (_, covariance) in zip(range(T), posteriors(played, actions), strict=False):
        assert np.argmax(actions @ models[chosen[t]]) == played.arms[t]
        step = covariance, actions[played.arms[t]], played.rewards[t]
        w = rng.standard_normal(M)
        models = [
            reference.model_update(problem_of(actions), z, *step, each)
            for z, each in zip(models, w, strict=True)
        ]
    np.testing.assert_allclose(played.models, models, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("block", [1, 3, 32, 64])
def test_blocks_of_one_model_are_its_updates_in_place(block):
    # With one model, both draw the same numbers: what is read within a block is what it adds up to.
    actions = arms(50, 6)
    expected = numpy_es.in_place(actions, 1, 100, 6)
    played = numpy_es.in_blocks(actions, 1, 100, 6, block)
    assert played.arms.tolist() == expected.arms.tolist()
    np.testing.assert_allclose(played.models, expected.models, rtol=1e-8, atol=1e-9)


def test_blocks_of_many_runs_do_not_depend_on_their_length():
    actions = arms(50, 6)
    (expected,) = numpy_batch.ensemble_sampling(actions, 1, 100, 1, 6, block=1)
    (played,) = numpy_batch.ensemble_sampling(actions, 1, 100, 1, 6)
    assert played.arms.tolist() == expected.arms.tolist()
    np.testing.assert_allclose(played.models, expected.models, rtol=1e-8, atol=1e-9)


def whitened(played):
    return np.linalg.solve(np.linalg.cholesky(played.covariance), played.models[0] - played.mean)


@pytest.mark.parametrize("name", ["many runs", "C"])
def test_draws_of_thompson_sampling_are_the_posterior_s(available, name):
    actions = arms(30, 4)
    if name == "C":
        call = c_yardstick.thompson_sampling
        played = available(lambda: [call(actions, 2, seed) for seed in range(20_000)])
    else:
        played = numpy_batch.thompson_sampling(actions, 1, 20_000, 5)
    are_draws_of_the_posterior(np.array([*map(whitened, played)]), np.zeros(4), np.eye(4))


def regrets(name, runs):
    actions = arms(20, 3)
    if name in MANY_RUNS:
        return np.array([p.regret for p in MANY_RUNS[name](actions, 10, 60, runs, 1)])
    play = {
        **ONE_RUN,
        "greedy": lambda a, M, T, seed: numpy_index.greedy_or_linucb(a, 0.0, T, seed),
    }
    play["LinUCB"] = lambda a, M, T, seed: numpy_index.greedy_or_linucb(a, 1.0, T, seed)
    play["ES++"] = numpy_family.ensemble_plus_plus
    play["PHE"] = lambda a, M, T, seed: numpy_family.perturbed_history(a, T, seed)
    return np.array([play[name](actions, 10, 60, seed).regret for seed in range(runs)])


@pytest.mark.parametrize("name", [*ONE_RUN, *MANY_RUNS, "greedy", "LinUCB", "ES++", "PHE"])
def test_regret_has_the_law_of_fastes(available, name):
    # Two samples of 400 regrets, Kolmogorov and Smirnov at level 1e-4, seeds fixed.
    agents = {
        "TS": fastes.ThompsonSampling(),
        "greedy": fastes.Greedy(),
        "LinUCB": fastes.LinUCB(),
        "ES++": fastes.EnsemblePlusPlus(10),
        "PHE": fastes.PerturbedHistory(),
        "IDS": fastes.InformationDirectedSampling(50),
    }
    agent = agents.get(name.partition(" ")[0], fastes.EnsembleSampling(10))
    bandit = fastes.LinearBandit(arms(20, 3))
    ours = fastes.simulate(bandit, agent, T=60, runs=400, seed=2).regret.final
    assert stats.ks_2samp(available(lambda: regrets(name, 400)), ours).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [0.0, 1.3])
def test_an_index_policy_knows_the_posterior_and_plays_its_index(alpha):
    actions = arms(30, 5)
    played = numpy_index.greedy_or_linucb(actions, alpha, 50, 7)
    is_posterior_of_its_history(played, actions)
    for arm, (mean, covariance) in zip(played.arms, posteriors(played, actions), strict=False):
        spreads = np.sqrt(np.einsum("ij,jk,ik->i", actions, covariance, actions))
        index = actions @ mean + alpha * spreads
        assert index[arm] == pytest.approx(index.max())


def test_information_directed_sampling_knows_its_arms():
    # Means over 200,000 draws beside the reference's over others: a standard error is below 0.5%.
    actions, n = arms(8, 3), 200_000
    room, root = numpy_ids.Room(actions, n), np.diag([1.0, 0.5, 2.0])
    mean, rng = np.array([0.3, -0.2, 0.1]), np.random.default_rng(8)
    models = mean + np.random.default_rng(9).standard_normal((n, 3)) @ root.T
    found = room.regret_and_information(mean, root, rng)
    expected = reference.regret_and_information(actions, models)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.03)
    assert room.best_pair(*expected) in reference.pairs_of_least_ratio(*expected, close=1e-9)


@pytest.mark.parametrize("M", [1, 20])
def test_perturbed_modes_know_the_mode_of_what_they_played(M):
    actions = arms(12, 3)
    played = numpy_glm.perturbed_modes(actions, M, 80, 5)
    n, y = (np.bincount(played.arms, weights, 12) for weights in (None, played.rewards))
    data = reference.Plays("bernoulli", actions, np.zeros(12), n, y)
    assert data.distance(played.mean) < 1e-8
    np.testing.assert_allclose(played.covariance @ data.hessian(played.mean), np.eye(3), atol=1e-7)
    assert set(played.rewards) == {0.0, 1.0}


def test_perturbed_modes_in_jax_lose_as_many_clicks(available):
    # Mean regret of 200 runs each, z test, level 1e-4.
    actions = arms(12, 3)
    theirs = available(lambda: jax_glm.perturbed_modes(actions, 20, 60, 200, 5))
    ours = [numpy_glm.perturbed_modes(actions, 20, 60, seed).regret for seed in range(200)]
    error = np.hypot(np.std(ours), theirs.std()) / np.sqrt(200)
    assert abs(np.mean(ours) - theirs.mean()) < 3.9 * error


def test_normals_in_c_are_normal(available):
    # Noise is what rewards have above mean rewards; no figure of 10^6 is off by 4.5 errors.
    played = available(lambda: c_yardstick.thompson_sampling(np.zeros((1, 1)), 1_000_000, 3))
    x = played.rewards
    assert abs(x.mean()) < 4.5e-3
    assert abs(x.var() - 1) < 4.5e-3 * np.sqrt(2)
    assert stats.kstest(x, "norm").pvalue > 1e-4
    tail = 2 * stats.norm.sf(3.6541528853610088)  # beyond the last layer of the ziggurat
    seen = (np.abs(x) > 3.6541528853610088).mean()
    assert abs(seen - tail) < 4.5 * np.sqrt(tail / len(x))


def test_without_a_compiler_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(c_yardstick.shutil, "which", lambda name: None)
    with pytest.raises(MissingBaselineError, match="there is no C compiler"):
        c_yardstick.library.__wrapped__()


def test_without_jax_a_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingBaselineError, match="jax is not installed"):
        jax_es.ensemble_sampling(arms(2, 2), 1, 1, 0)
