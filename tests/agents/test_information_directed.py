"""V-IDS: every action is that of its definition, on every action set, and the published regret."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import as_reference, lift, start
from fastes.kernels.search.information_ratio import law_at_probe, ratio_search
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source
from scipy import stats

import fastes
from fastes.actions import Ball, Fresh, Given, Offered, Redrawn, Subset

SEED, RUN = 2022, 3
AGENT = fastes.InformationDirectedSampling(70)
RNG = np.random.default_rng(6)
SETS = {
    "redrawn": Redrawn(12, 4, "gaussian"),
    "fresh": Fresh(70, 4, "uniform"),
    "subset": Subset(RNG.normal(size=(300, 4)), 9),
    "given": Given(RNG.normal(size=(7, 5, 4))),
}


def is_of_least_ratio(arm, D, v, u, size):
    """Check that an arm is one that the law of the least ratio plays for the uniform u."""
    if D.min() <= 1e-9 * size or v.max() <= 1e-16 * size**2:
        return D[arm] <= D.min() + 1e-9 * size
    for i, j, q in reference.pairs_of_least_ratio(D, v, close=1e-7):
        low, high, share = (i, j, q) if v[i] <= v[j] else (j, i, 1 - q)
        if arm == high and u < share + 1e-6:
            return True
        if arm == low and u > share - 1e-6:
            return True
    return False


@pytest.mark.parametrize(("samples", "T"), [(1, 1), (2, 20), (70, 12)])
@pytest.mark.parametrize("name", BANDITS)
def test_every_action_is_of_the_least_ratio(name, samples, T):
    bandit = BANDITS[name]
    problem, U, sigma, r = as_reference(bandit), lift(bandit), bandit.noise, bandit.rank
    run = start(bandit, fastes.InformationDirectedSampling(samples), T, SEED, RUN)
    drawn = reference.normal_vector(SEED, RUN, layout.THETA, 0, r)
    theta = problem.mean + U @ drawn
    mean, covariance = problem.mean, problem.covariance
    for t in range(T):
        normals = reference.normals_of_models(SEED, RUN, layout.INFORMATION_MODELS, t, samples, r)
        models = mean + normals @ run.state.belief.root @ U.T
        D, v = reference.regret_and_information(problem.actions / sigma, models)
        size = np.abs(models @ problem.actions.T).max() / sigma
        u = reference.uniform(SEED, RUN, layout.INFORMATION_CHOICE, t)
        arm = run.step(t)
        assert is_of_least_ratio(arm, D, v, u, size)
        a = problem.actions[arm]
        reward = a @ theta + sigma * reference.normal(SEED, RUN, layout.NOISE, 0, t)
        mean, covariance = reference.posterior_update(problem, mean, covariance, a, reward)


def test_the_two_arms_are_played_as_often_as_the_law_says():
    # Arm 0 tells next to nothing and arm 1 costs more: about 0.4 of the choices are arm 1. Given
    # the models of each of 2,000 seeds, it is chosen with probability q: a z test, level 1e-4.
    bandit = fastes.LinearBandit(np.eye(2), prior_mean=[0.5, 0.0], prior_cov=[1e-4, 1.0])
    seen, expected, variance = 0, 0.0, 0.0
    for seed in range(2000):
        live = fastes.InformationDirectedSampling(40).start(bandit, seed=seed)
        arm, work = live.act(), live._all.work
        pairs = reference.pairs_of_least_ratio(work.regret[:2], work.variance[:2], close=1e-12)
        _, j, q = pairs[0]
        share = q if j == 1 else 1 - q
        seen, expected = seen + arm, expected + share
        variance += share * (1 - share)
    assert variance > 300
    assert abs(seen - expected) < 3.9 * np.sqrt(variance)


def test_models_and_choices_have_the_law_of_the_posterior():
    # 64,000 normals of 1,000 steps: Kolmogorov and Smirnov, level 1e-4, and a step has its own.
    bandit = fastes.LinearBandit.random(5, 2)
    state = fastes.InformationDirectedSampling(64).initial_state(5, 2, source(0))
    arms, found = bandit.canonical.arms, []
    for t in range(500):
        law_at_probe(ratio_search(arms), state, arms, source(3), t)
        found.append(state.scratch.models[:, 1:].copy())
    normals = np.array(found)
    assert stats.kstest(normals.ravel(), "norm").pvalue > 1e-4
    assert len(np.unique(normals)) == normals.size
    halves = normals.reshape(500, 2, 2, 32)
    pairs = (halves[:, 0, 0] * halves[:, 1, 0], halves[:, :, 0] * halves[:, :, 1])
    for products in pairs:
        assert abs(products.mean()) < 3.9 / np.sqrt(products.size)


@pytest.mark.parametrize("name", SETS)
def test_runs_on_sets_are_the_same_on_any_threads_and_from_a_checkpoint(name, tmp_path):
    bandit = fastes.LinearBandit(SETS[name], prior_cov=[2.0, 1.0, 3.0, 1.0], noise=0.5)
    many = fastes.simulate(bandit, AGENT, T=60, runs=6, seed=4, threads=3)
    few = fastes.simulate(bandit, AGENT, T=60, runs=2, seed=4, threads=1)
    np.testing.assert_array_equal(many.regret.per_run[:2], few.regret.per_run)
    fastes.simulate(bandit, AGENT, T=25, runs=6, seed=4, checkpoint=tmp_path / "a.ckpt")
    resumed = fastes.resume(tmp_path / "a.ckpt", T=60)
    np.testing.assert_array_equal(many.regret.final, resumed.regret.final)
    few.save(tmp_path / "r.npz")
    again = fastes.rerun(fastes.load(tmp_path / "r.npz"))
    np.testing.assert_array_equal(again.regret.per_run, few.regret.per_run)


@pytest.mark.parametrize(
    "actions",
    [
        Redrawn(1, 1),
        Fresh(1, 1, "gaussian"),
        Subset([[0.5]], 1),
        Given(np.zeros((1, 1, 1))),
        Given([[[1e-300], [0.0]], [[5.0], [-5.0]]]),
        Subset(np.zeros((4, 2)), 3),
        [[1.0]],
        [[0.0], [0.0]],
    ],
    ids=str,
)
@pytest.mark.parametrize("samples", [1, 3])
def test_the_smallest_sets(actions, samples):
    agent, bandit = fastes.InformationDirectedSampling(samples), fastes.LinearBandit(actions)
    assert np.isfinite(fastes.simulate(bandit, agent, T=5, runs=2).regret.per_run).all()
    assert fastes.simulate(bandit, agent, T=1).regret.per_run.shape == (1, 1)


def test_it_chooses_live_from_what_is_offered_as_simulated(tmp_path):
    offers = RNG.normal(size=(40, 7, 3))
    bandit = fastes.LinearBandit(Given(offers), prior_cov=2.0, noise=0.5)
    simulated = fastes.simulate(bandit, AGENT, T=40, seed=5, keep=["actions", "rewards"])
    live = AGENT.start(fastes.LinearBandit(Offered(3), prior_cov=2.0, noise=0.5), seed=5)
    for t, (rows, arm) in enumerate(zip(offers, simulated.actions[0], strict=True)):
        if t == 20:
            live.save(tmp_path / "a.npz")
            live = fastes.LiveAgent.load(tmp_path / "a.npz")
        assert live.act(rows) == arm
        live.observe(rows[arm], float(simulated.rewards[0, t]))
    assert 0 <= live.act(RNG.normal(size=(1000, 3))) < 1000
    assert live.act(offers[0][:1]) == 0


def test_it_chooses_live_from_some_or_all_of_a_pool():
    bandit = fastes.LinearBandit.random(K=90, d=4, seed=2)
    live, other = AGENT.start(bandit, seed=7), AGENT.start(bandit, seed=7)
    for t in range(30):
        arm = live.act(available=range(90))
        assert arm == other.act()
        for each in (live, other):
            each.observe(arm, 0.1 * t)
            assert each.act(available=[3, 50, 7]) in (3, 50, 7)


@pytest.mark.parametrize("pool", [[[1.0, 0.0]] * 3, [[0.6, 0.8]] * 2 + [[0.6, 0.8]]])
def test_equal_arms_of_a_pool_are_played_equally_often(pool):
    # 6,000 first choices among two of three equal arms: 2,000 each, 4.5 standard errors for 3
    # counts, wrong for 1 seed in 40,000; and this one is fixed.
    bandit = fastes.LinearBandit(fastes.actions.Subset(pool, 2))
    agent = fastes.InformationDirectedSampling(8)
    counts = fastes.simulate(bandit, agent, T=1, runs=6000, seed=3).counts
    assert (np.abs(counts - 2000) < 4.5 * np.sqrt(6000 * 2 / 9)).all()


def test_a_ball_is_refused_in_a_sentence():
    bandit = fastes.LinearBandit(Ball(3))
    words = "V-IDS, samples=70 cannot play on Ball.*optimal with probability zero"
    with pytest.raises(ValueError, match=words):
        fastes.simulate(bandit, AGENT, T=5)
    with pytest.raises(ValueError, match=words):
        AGENT.start(bandit)


@pytest.mark.parametrize("samples", [0, -1, 65_537, 2.5, True])
def test_samples_that_are_none_are_refused(samples):
    with pytest.raises(ValueError, match="samples must be an integer from 1 to 65536, got"):
        fastes.InformationDirectedSampling(samples)


def test_the_law_of_a_probe_is_one_of_two_arms_and_changes_nothing():
    bandit = fastes.LinearBandit(np.eye(2), prior_mean=[0.5, 0.0], prior_cov=[1e-4, 1.0])
    live = fastes.InformationDirectedSampling(200).start(bandit, seed=1)
    live.observe([0, 1], [0.6, -0.1])
    before = live.posterior()
    laws = [
        live.agent.action_law(live._state, bandit.canonical.arms, source(1), t).probabilities
        for t in (0, 0, 1)
    ]
    for law in laws:
        assert law.sum() == pytest.approx(1)
        assert (law > 0).sum() == 2
    np.testing.assert_array_equal(laws[0], laws[1])
    assert (laws[0] != laws[2]).any()
    np.testing.assert_array_equal(before.mean, live.posterior().mean)


def test_a_million_arms_are_a_choice():
    bandit = fastes.LinearBandit.random(1_000_000, 2)
    live = fastes.InformationDirectedSampling(10).start(bandit, seed=1)
    assert 0 <= live.act() < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bandit", "T", "runs", "published"),
    [
        (fastes.LinearBandit(np.eye(10)), 1000, 3000, 58.4),
        (fastes.LinearBandit(Redrawn(30, 5, "uniform"), prior_cov=10.0), 250, 8000, 29.2),
    ],
    ids=["independent arms", "linear"],
)
def test_published_regret(bandit, T, runs, published):
    # Russo and Van Roy (2018), whose own error is not known here: within a tenth. Thompson
    # sampling has a fifth more.
    found = fastes.simulate(bandit, fastes.InformationDirectedSampling(), T=T, runs=runs, seed=1)
    assert found.regret.final.mean() == pytest.approx(published, rel=0.1)
