"""pbar_t without sampling: by hand, against rejection, and every inequality on a small grid."""

from math import comb

import numpy as np
import pytest
import reference
from pbar.exact import laws, partitions
from pbar.exact_grid import largest

import fastes

BANDIT = fastes.LinearBandit([[1.0, 0.0], [0.6, 0.8], [-0.5, 0.9]], 0.1, [1.0, 2.0], 0.7)


def test_partitions_are_counted_by_stirling_s_numbers():
    for n, most, count in ((1, 1, 1), (3, 3, 5), (4, 2, 8), (7, 3, 365)):
        found = list(partitions(n, most))
        assert len(found) == len(set(found)) == count
        assert all(sorted(sum(blocks, ())) == list(range(n)) for blocks in found)
    assert sum(1 for _ in partitions(5, 2)) == 1 + sum(comb(5, i) for i in (1, 2))


@pytest.mark.parametrize("M", [1, 3])
@pytest.mark.parametrize(("arms", "rewards"), [([0], [0.4]), ([1, 1], [1.5, -0.2])])
def test_pbar_against_rejection(M, arms, rewards):
    # Level: 4.5 standard errors, 12 comparisons.
    problem = reference.Problem.of(BANDIT.actions, 0.1, [1.0, 2.0], 0.7)
    law, kept = reference.pbar_by_rejection(problem, M, arms, rewards, 1200, seed=M)
    found = laws(BANDIT, M, np.array(arms), np.array(rewards))[-1]
    error = np.sqrt(law * (1 - law) / kept) + 1e-3
    assert (np.abs(found - law) < 4.5 * error).all()


def test_one_model_without_noise_to_learn_from_repeats_itself():
    # Rewards that tell nothing leave the one model as it was.
    bandit = fastes.LinearBandit(np.eye(2), noise=1e9)
    found = laws(bandit, 1, np.array([1, 1]), np.zeros(2))
    np.testing.assert_allclose(found, [[0.5, 0.5], [0, 1], [0, 1]], atol=1e-4)
    # Two models: the next read is of the same one with probability 1/2.
    np.testing.assert_allclose(
        laws(bandit, 2, np.array([1]), np.zeros(1))[1], [0.25, 0.75], atol=1e-4
    )


@pytest.mark.parametrize("noise", [0.5, pytest.param(20.0, marks=pytest.mark.slow)])
def test_no_inequality_is_violated(noise):
    # By four standard errors: some 15 inequalities at up to five steps.
    found = largest(6, 200, problems=((2, 4),), noises=(noise,), sizes=(2,))
    assert len(found) >= 10
    assert max(excess for _, _, excess in found.values()) < 4
