"""The arm and the reward of every step, kept on request."""

import numpy as np
import pytest

import fastes

BANDIT = fastes.LinearBandit.random(20, 3, prior_mean=0.2, noise=0.7)
KEEP = ("actions", "rewards")


def modes():
    """Return experiments that are executed alone, in sequence and in lockstep."""
    large = fastes.LinearBandit.random(900, 60)
    return {"alone": (BANDIT, 30, 3), "sequence": (BANDIT, 40, 600), "lockstep": (large, 12, 20)}


@pytest.mark.parametrize("mode", modes())
def test_what_is_kept_is_what_was_played(mode):
    bandit, T, runs = modes()[mode]
    agents = [fastes.EnsembleSampling(7), fastes.ThompsonSampling()]
    both = fastes.compare(bandit, agents, T, runs, seed=3, keep=KEEP, threads=1)
    plain = fastes.compare(bandit, agents, T, runs, seed=3, threads=2)
    noises = []
    for kept, bare in zip(both, plain, strict=True):
        assert np.array_equal(kept.regret.per_run, bare.regret.per_run)
        assert (bare.actions, bare.rewards) == (None, None)
        counts = np.bincount(kept.actions.ravel(), minlength=bandit.K)
        assert (counts == kept.counts).all()
        noises.append(kept.rewards)
    # The rewards of the same arm at the same step are the same for both agents.
    same = both[0].actions == both[1].actions
    assert same.any()
    assert (noises[0][same] == noises[1][same]).all()


def test_rewards_are_means_and_noise_in_the_units_of_the_problem():
    theta = np.array([0.3, -0.2, 0.9])
    result = fastes.simulate(BANDIT, fastes.UniformRandom(), 200, 50, theta=theta, keep=KEEP)
    noise = result.rewards - (BANDIT.actions @ theta)[result.actions]
    # A mean of 10,000 draws: 5 standard errors are passed once in two million.
    assert abs(noise.mean()) < 5 * 0.7 / 100
    assert abs(noise.std() / 0.7 - 1) < 5 / np.sqrt(2 * 10_000)
    regret = (BANDIT.actions @ theta).max() - (BANDIT.actions @ theta)[result.actions]
    np.testing.assert_allclose(regret.sum(axis=1), result.regret.final, rtol=1e-10)


@pytest.mark.parametrize(("K", "kind"), [(1, "uint8"), (256, "uint8"), (257, "uint16")])
def test_actions_are_compact(K, kind):
    bandit = fastes.LinearBandit.random(K, 2)
    assert fastes.simulate(bandit, fastes.UniformRandom(), 5, keep="actions").actions.dtype == kind


def test_only_what_is_asked_for_is_kept():
    result = fastes.simulate(BANDIT, fastes.Greedy(), 5, keep="rewards")
    assert result.actions is None
    assert result.rewards.shape == (1, 5)


def test_a_checkpoint_keeps_them_and_a_longer_horizon_goes_on(tmp_path):
    file, agent = tmp_path / "run.ckpt", fastes.EnsembleSampling(4)
    fastes.simulate(BANDIT, agent, 30, 3, keep=KEEP, checkpoint=file)
    longer = fastes.resume(file, T=70)
    whole = fastes.simulate(BANDIT, agent, 70, 3, keep=KEEP)
    assert np.array_equal(longer.actions, whole.actions)
    assert np.array_equal(longer.rewards, whole.rewards)


@pytest.mark.parametrize("keep", ["thoughts", ["actions", "x"], 3, {"rewards": 1, "no": 2}])
def test_what_cannot_be_kept_is_refused(keep):
    with pytest.raises(ValueError, match="keep must be a list of actions, rewards, got"):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, keep=keep)


def test_what_does_not_fit_says_how_much_it_needs():
    message = "keeping actions and rewards of 1,000 runs of 1,000,000,000 steps needs"
    with pytest.raises(MemoryError, match=message):
        fastes.simulate(BANDIT, fastes.Greedy(), 10**9, 1_000, keep=KEEP)
